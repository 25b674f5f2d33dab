#include "launcher.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cctype>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "content.h"

extern char** environ;

namespace elc::tool {
namespace {

struct Mpi {
  const char* name;
  std::vector<const char*> libraries;  // parts of their names in a program that is linked to them
  std::vector<const char*> launchers;  // the first that is there; suffixed names as several may be installed
  const char* rank_variable;           // Command's
  const char* proxy;
};

const std::vector<Mpi>& known_mpis() {
  static const std::vector<Mpi> mpis = {
      {"openmpi",
       {"libmpi.so.40", "libmpi.so.20", "libmpi.so.12", "libopen-rte", "libopen-pal"},
       {"mpirun.openmpi", "mpiexec.openmpi", "mpirun", "mpiexec"},
       "OMPI_COMM_WORLD_RANK",
       ""},
      {"mpich",
       {"libmpich.so", "libmpich.a"},
       {"mpiexec.mpich", "mpiexec.hydra", "mpirun.mpich", "mpiexec", "mpirun"},
       "PMI_RANK",
       "hydra_pmi_proxy"},
      {"lam", {"liblam.so", "liblam.a"}, {"mpirun.lam", "mpirun"}, "LAMRANK", ""},
  };
  return mpis;
}

const Mpi* find_mpi(const std::string& name) {
  for (const Mpi& mpi : known_mpis())
    if (name == mpi.name) return &mpi;
  return nullptr;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string replace_all(std::string text, std::string_view from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string mpi_in(const std::string& content) {
  for (const Mpi& mpi : known_mpis())
    for (const char* library : mpi.libraries)
      if (content.find(library) != std::string::npos) return mpi.name;
  return "";
}

std::string default_launcher(const Mpi& mpi) {
  for (const char* name : mpi.launchers)
    if (!find_program(name).empty()) return name;
  throw std::runtime_error(std::string("no launcher of ") + mpi.name + " is in PATH (looked for " +
                           mpi.launchers.front() + " and others): install it, or give one with --launcher");
}

// Names of the variables that ranks on other nodes need too.
std::set<std::string> names_to_pass(const std::map<std::string, std::string>& environment) {
  std::set<std::string> names;
  for (const auto& [name, value] : environment) names.insert(name);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.substr(0, 4) == "ELC_") names.emplace(text.substr(0, text.find('=')));
  }
  return names;
}

void add_openmpi(Command* command, const LaunchRequest& request, bool own_launcher) {
  for (const std::string& name : names_to_pass(command->environment)) {
    command->words.push_back("-x");
    command->words.push_back(name);
  }
  if (geteuid() == 0) {
    command->environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
    command->environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  }
  // With a command of the user's own the nodes and their slots are his business.
  if (own_launcher || request.ranks <= processors()) return;
  command->words.push_back("--oversubscribe");
  if (getenv("OMPI_MCA_mpi_yield_when_idle") == nullptr)
    command->environment["OMPI_MCA_mpi_yield_when_idle"] = "1";
}

void add_lam(Command* command) {
  std::string list;
  for (const std::string& name : names_to_pass(command->environment))
    list += (list.empty() ? "" : ",") + name;
  command->words.push_back("-x");
  command->words.push_back(list);
  // Its daemons keep messages of ranks that were killed in MPI_Init, for which those of the next attempt wait for ever: one in
  // four. lamclean ends everything that runs there: not while there is another job.
  command->clean_up = "[ \"$(mpitask | wc -l)\" -ne 1 ] || lamclean";
}

// Batch systems whose own daemons start processes for an MPI's launcher (TM, LSF); others give it ssh or the like.
bool in_batch_with_daemons() {
  return getenv("PBS_JOBID") != nullptr || getenv("PBS_ENVIRONMENT") != nullptr || getenv("LSB_JOBID") != nullptr;
}

// Directories may be "executed", too.
bool can_be_executed(const std::string& file) {
  struct stat about;
  return stat(file.c_str(), &about) == 0 && S_ISREG(about.st_mode) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return can_be_executed(name) ? name : "";
  const char* path = getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (can_be_executed(file)) return file;
  }
  return "";
}

unsigned processors() {
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<unsigned>(online) : 1;
}

Command launch_command(const LaunchRequest& request, const std::map<std::string, std::string>& environment) {
  Command command;
  command.environment = environment;
  const std::string content = content_of(find_program(request.program.front()));
  std::string name = !request.mpi.empty() ? request.mpi : mpi_in(content);
  if (name.empty()) name = ELC_MPI_NAME;  // a script: that of this build
  const Mpi* mpi = find_mpi(name);
  if (mpi == nullptr) throw std::runtime_error("--mpi " + name + " is not known: openmpi, mpich or lam");

  command.marks_end = content.find("ELC_MAX_TRANSIT") != std::string::npos;  // which the library asks for
  command.rank_variable = mpi->rank_variable;
  command.proxy = mpi->proxy;

  const bool own = !request.launcher.empty();
  std::vector<std::string> words = own ? split_words(request.launcher) : std::vector{default_launcher(*mpi)};
  const std::string ranks = std::to_string(request.ranks);
  bool has_number = false;
  for (std::string& word : words) {
    has_number = has_number || word.find("{n}") != std::string::npos;
    command.words.push_back(replace_all(word, "{n}", ranks));
  }
  const std::string launcher = base_name(words.front());
  command.only_launches =
      launcher.rfind("mpirun", 0) == 0 || launcher.rfind("mpiexec", 0) == 0 || launcher == "orterun";
  command.only_below = command.only_launches && !own && name != "lam" && !in_batch_with_daemons();
  if (command.only_launches) {
    if (name == "openmpi") add_openmpi(&command, request, own);
    if (name == "lam") add_lam(&command);
  }
  if (!has_number) {
    command.words.push_back(name == "lam" ? "-np" : "-n");
    command.words.push_back(ranks);
  }
  command.words.insert(command.words.end(), request.program.begin(), request.program.end());
  return command;
}

std::vector<std::string> split_words(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && isspace(static_cast<unsigned char>(c))) {
      if (inside) words.push_back(word);
      word.clear();
      inside = false;
      continue;
    }
    inside = true;
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    } else if (quote != 0 && c == quote) {
      quote = 0;
    } else {
      word += c;
    }
  }
  if (quote != 0) throw std::runtime_error("a quote is not closed in: " + text);
  if (inside) words.push_back(word);
  return words;
}

}  // namespace elc::tool
