// elc-cc: a C compiler whose MPI programs can be checkpointed and restarted, unchanged. The compile step keeps the preprocessed
// text beside the object; the link step, which sees the whole program, makes the objects anew from it. elc-cc(1) has the rest.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>
#include <thread>

#include "cc/apart.h"
#include "cc/arguments.h"
#include "cc/module.h"
#include "cc/numbers.h"
#include "cc/objects.h"
#include "cc/program.h"

namespace elc::cc {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// So much preprocessed text is kept as clang has read it, until it is transformed; what is more is read twice.
constexpr size_t kMostKept = 16 << 20;

// What GCC defines in objects that have its own code alone.
constexpr const char* kToBeLinked = "__gnu_lto_slim";

// A source file on its way to its new object.
struct Job {
  Unit* unit;
  std::string text, object;     // files
  std::string errors, notes;    // files, a message in each line
  std::string compiled;         // what the compile step has made of it; empty: that will not do
  enum End { kLost, kRight, kUnchanged, kRefused, kNotCompiled } end = kLost;
};

class Driver {
 public:
  explicit Driver(Arguments arguments) : arguments_(std::move(arguments)) {
    const char* const own = getenv("ELC_CC");
    compiler_ = own != nullptr && *own != '\0' ? own : "cc";
    if (arguments_.keeps) scratch_.keep();
  }

  int run_all() {
    if (!arguments_.refused.empty()) return fail(arguments_.refused);
    if (arguments_.passes || arguments_.is_off) return run(std::vector{compiler_} + arguments_.all());
    if (arguments_.compiles_only) return compile();
    return link();
  }

 private:
  static size_t processors() { return std::max(1U, std::thread::hardware_concurrency()); }

  static int fail(const std::string& what) {
    fprintf(stderr, "elc-cc: %s\n", what.c_str());
    return 1;
  }

  // The text of a source, beside its object.
  bool record(const std::string& source, const std::string& object) {
    std::string text, macros;
    if (!preprocess(source, &text, &macros)) return false;
    text = with_values_of_macros(with_letters(text), macros);
    return add_records(object, {{source, fs::absolute(source).lexically_normal().string(), output_of({compiler_, "-dumpmachine"}, scratch_), compiling(arguments_), text, {}, {}}}, tool("objcopy"), scratch_);
  }

  // Where it calls MPI, with names for MPI's numbers.
  bool preprocess(const std::string& source, std::string* text, std::string* defined) {
    const auto preprocessor = [&](const std::vector<std::string>& with, const std::string& to) {
      return std::vector{compiler_} + with + preprocessing(arguments_) + std::vector<std::string>{"-x", "c", "-E", source, "-o", to};
    };
    const std::string macros = scratch_.file("macros"), named = scratch_.file("named.i"), plain = scratch_.file("plain.i"), mpi = scratch_.file("mpi.h");
    if (run(preprocessor({"-dM"}, macros)) != 0) return false;
    *defined = read_file(macros);
    const std::string header = header_of_numbers(*defined);
    std::string with_names;
    if (!header.empty()) {
      if (!write_file(mpi, header)) return false;
      if (run_quietly(preprocessor({"-I" + fs::path(mpi).parent_path().string()}, named)) == 0) {
        with_names = read_file(named);
        if (!are_in_strings(with_names)) return *text = std::move(with_names), true;
      }
    }
    if (run(preprocessor({}, plain)) != 0) return false;
    *text = read_file(plain);
    if (header.empty()) return true;
    if (!with_names.empty()) with_names = with_strings_of(*text, with_names);
    if (with_names.empty()) *text += any_of_numbers(header);
    else *text = std::move(with_names);
    return true;
  }

  // One of the compiler's own: those of this machine know nothing of another one's objects.
  std::string tool(const std::string& name) {
    const std::string found = output_of({compiler_, "-print-prog-name=" + name}, scratch_);
    return found.empty() ? name : found;
  }

  int compile() {
    const int code = run(std::vector{compiler_} + arguments_.all());
    if (code != 0) return code;
    for (const Word& word : arguments_.words) {
      if (word.kind != Word::Kind::kSource) continue;
      const std::string object = arguments_.output.empty() ? fs::path(word.text[0]).filename().replace_extension(".o").string() : arguments_.output;
      if (!record(word.text[0], object)) return 1;
    }
    return 0;
  }

  // What -lNAME means, of the directories of -L.
  std::string find_library(const Word& word, bool is_static) const {
    const std::string name = word.text.size() > 1 ? word.text[1] : word.text[0].substr(2);
    for (const std::string& directory : arguments_.directories) {
      if (name.starts_with(":")) {
        if (fs::exists(directory + "/" + name.substr(1))) return directory + "/" + name.substr(1);
        continue;
      }
      if (!is_static && fs::exists(directory + "/lib" + name + ".so")) return directory + "/lib" + name + ".so";
      if (fs::exists(directory + "/lib" + name + ".a")) return directory + "/lib" + name + ".a";
    }
    return "";
  }

  struct Input {
    size_t word;
    bool is_archive;
    bool is_library;  // or an archive: the program has what it asks for
    std::vector<Member> members;
  };

  // A shared library that elc-cc has made is part of the program, as its objects are, so that all of that is seen. What it needs itself
  // comes behind it.
  void add_needed(size_t word, const Member& library) {
    std::vector<std::string> directories = {fs::path(library.path).parent_path().string()};
    directories = directories + library.directories + arguments_.directories + searched();
    std::vector<Word> needed;
    for (const std::string& name : library.needed) {
      std::error_code ignored;
      const auto found = std::find_if(directories.begin(), directories.end(), [&](const std::string& d) { return fs::exists(fs::path(d) / name, ignored); });
      if (found != directories.end()) needed.push_back({Word::Kind::kInput, {(fs::path(*found) / name).string()}, false});
      else if (!name.starts_with("ld-")) needed.push_back({Word::Kind::kLibrary, {"-l:" + name}, false});
    }
    arguments_.words.insert(arguments_.words.begin() + static_cast<std::ptrdiff_t>(word) + 1, needed.begin(), needed.end());
  }

  // Where the linker looks for what libraries need: of -rpath and -rpath-link.
  std::vector<std::string> searched() const {
    std::vector<std::string> found;
    bool is_next = false;
    for (const Word& word : arguments_.words) {
      const std::string& text = word.text.back();
      std::istringstream all(word.text[0].starts_with("-Wl,") ? text.substr(4) : word.text[0] == "-Xlinker" ? text : "");
      for (std::string one; std::getline(all, one, ',');) {
        const size_t end = one.find('=');
        if (is_next) found.push_back(one);
        else if (one.starts_with("-rpath") && end != std::string::npos) found.push_back(one.substr(end + 1));
        is_next = !is_next && (one == "-rpath" || one == "-rpath-link");
      }
    }
    return found;
  }

  // The linker has left out what the objects have kept.
  int link_shared() {
    if (const int code = run(std::vector{compiler_} + arguments_.all()); code != 0) return code;
    drop_unwanted();
    std::vector<Record> records;
    for (const Input& input : inputs_)
      for (const Member& member : input.members) {
        if (member.is_shared_library) continue;
        for (Record record : member.records) {
          if (!member.runs_by_itself) record.defined = member.defined;
          record.undefined = member.undefined;
          records.push_back(std::move(record));
        }
      }
    const std::string& output = arguments_.output;
    return records.empty() || add_records(output.empty() ? "a.out" : output, records, tool("objcopy"), scratch_) ? 0 : 1;
  }

  int link() {
    bool is_static = arguments_.is_static;
    for (size_t i = 0; i < arguments_.words.size(); ++i) {
      Word& word = arguments_.words[i];
      std::string path = word.text[0];
      if (word.kind == Word::Kind::kSource) {
        const std::string object = scratch_.file(fs::path(path).filename().replace_extension(".o"));
        const int code = run(std::vector{compiler_} + compile_options() + std::vector<std::string>{"-x", "c", "-c", path, "-o", object});
        if (code != 0 || !record(path, object)) return code != 0 ? code : 1;
        word = {Word::Kind::kInput, {object}};
        path = object;
      } else if (word.kind == Word::Kind::kLibrary) {
        path = find_library(word, is_static);
      } else if (word.kind == Word::Kind::kOption) {
        if (path == "-Wl,-Bstatic" || path == "-Wl,-Bdynamic") is_static = path == "-Wl,-Bstatic";
        continue;
      }
      std::vector<Member> members = path.empty() ? std::vector<Member>() : members_of(path, scratch_);
      bool has_records = false;
      for (const Member& member : members) has_records |= !member.records.empty();
      if (word.kind == Word::Kind::kInput) last_ = i;
      const bool is_archive = !members.empty() && members[0].path != path;  // of an archive they are copies
      const bool is_library = has_records && members[0].is_shared_library;
      for (const Member& member : members)
        if ((!is_archive && !is_library) || !has_records) {
          wanted_.insert(member.undefined.begin(), member.undefined.end());
          if (!is_archive && !member.is_shared_library)
            for (const std::string& symbol : member.defined) owners_.emplace(symbol, nullptr);
        }
      if (!has_records) continue;
      last_ = i;
      if (is_library && !arguments_.is_shared) {
        std::error_code ignored;
        if (shared_.insert(fs::canonical(path, ignored).string()).second) add_needed(i, members[0]);
        else members.clear();
      }
      inputs_.push_back({i, is_archive, is_archive || is_library, std::move(members)});
    }
    if (arguments_.is_shared && !arguments_.is_joined) return link_shared();
    if (!inputs_.empty() && !arguments_.is_joined) {
      bool needed = false;
      if (!transform(&needed)) return 1;
      if (needed) return link_with_library();
      std::erase_if(arguments_.words, [](const Word& word) { return !word.is_given; });
    }
    return run(std::vector{compiler_} + arguments_.all());
  }

  // Takes out of libraries what the program does not ask for: that costs nothing then. What is not there is asked for by
  // nobody, or the linker says so.
  void drop_unwanted() {
    for (const Word& word : arguments_.words)
      for (const std::string& text : word.text)
        if (text.find("-whole-archive") != std::string::npos || text.find("--undefined") != std::string::npos || text == "-u" || text.starts_with("-Wl,-u")) return;
    const auto is_wanted = [this](const Member& member) {
      bool wanted = member.defined.empty();
      for (const std::string& name : member.defined) {
        // Of shared libraries the first that defines a symbol has it, behind the program's objects.
        const auto owner = member.is_shared_library ? owners_.find(name) : owners_.end();
        wanted |= (wanted_.contains(name) && (owner == owners_.end() || owner->second == &member)) || name == "main" || name == kToBeLinked;
      }
      return wanted;
    };
    for (bool grows = true; grows;) {
      const size_t before = wanted_.size();
      for (Input& input : inputs_)
        for (Member& member : input.members) {
          if (!input.is_library || member.is_wanted || !is_wanted(member)) continue;
          member.is_wanted = true;
          wanted_.insert(member.undefined.begin(), member.undefined.end());
          for (const std::string& name : member.defined) owners_.emplace(name, &member);
        }
      grows = wanted_.size() > before;
    }
    for (Input& input : inputs_)
      if (input.is_library) std::erase_if(input.members, [](const Member& member) { return !member.is_wanted; });
  }

  // The options of a compilation that is part of a link.
  std::vector<std::string> compile_options() const {
    std::vector<std::string> out;
    for (const Word& word : arguments_.words) {
      const std::string& first = word.text[0];
      if (word.kind != Word::Kind::kOption || first.starts_with("-o") || first.starts_with("-L") || first.starts_with("-Wl,") ||
          first == "-Xlinker" || first == "-x" || first == "-static" || first == "-shared")
        continue;
      out.insert(out.end(), word.text.begin(), word.text.end());
    }
    return out;
  }

  // `needed`: whether the program calls MPI.
  bool transform(bool* needed) {
    std::vector<std::string> errors;
    Program program({arguments_.stateless, arguments_.everywhere, arguments_.has_foreign_addresses, arguments_.may_compute_with_addresses, arguments_.has_common_ranks});
    drop_unwanted();
    for (const Input& input : inputs_)
      for (const Member& member : input.members)
        for (const Record& r : member.records) units_.push_back(std::make_unique<Unit>(r, units_.size()));
    size_t kept = 0;
    for (size_t first = 0; first < units_.size(); first += processors()) {
      const size_t end = std::min(first + processors(), units_.size());
      std::vector<std::thread> readers;
      std::vector<char> are_read(end - first);
      for (size_t i = first; i < end; ++i) readers.emplace_back([this, &are_read, first, i] { are_read[i - first] = units_[i]->parse() ? 1 : 0; });
      for (std::thread& reader : readers) reader.join();
      for (size_t i = first; i < end; ++i) {
        Unit& unit = *units_[i];
        if (are_read[i - first] == 0) errors.push_back(unit.record().source + ": clang does not read what the compiler has preprocessed");
        else program.add(unit);
        kept += unit.text().size();
        if (kept > kMostKept) unit.forget();
      }
    }
    if (!errors.empty()) return report(errors);
    if (!program.has_sites()) {
      if (program.begins_mpi())
        fprintf(stderr, "elc-cc: warning: no file that elc-cc has compiled sends, receives or waits by MPI: the program is linked without libELC, and takes no lines\n");
      return true;
    }
    for (const Word& word : arguments_.words)
      for (const std::string& text : word.text)
        if (text.find("--wrap") != std::string::npos || text.find("--defsym") != std::string::npos)
          errors.push_back(text + ": functions would be called that the files do not name there, and elc-cc would not see that");
    if (!errors.empty()) return report(errors);
    if (!program.has_main()) return report({"main() is in none of the files that elc-cc has compiled"});
    if (const std::string why = find_library_of_mpi(); !why.empty()) return report({why});
    program.conclude(&errors);
    aligns_large_ = program.aligns_large();
    for (const std::string& warning : program.warnings()) fprintf(stderr, "elc-cc: warning: %s\n", warning.c_str());
    std::vector<Job> jobs;
    for (const Input& input : inputs_)
      for (const Member& member : input.members)
        for (const Record& r : member.records) {
          const std::string name = fs::path(r.source).filename().replace_extension("").string();
          jobs.push_back({units_[jobs.size()].get(), scratch_.file(name + ".i"), scratch_.file(name + ".o"), scratch_.file("errors"), scratch_.file("notes"),
                          compiled_object(member)});
        }
    run_jobs(program, compiler_, &jobs);
    std::vector<std::string> notes;
    for (const Job& job : jobs) {
      if (job.end == Job::kLost) errors.push_back(job.unit->record().source + ": the process that transforms it could not be made, or has died");
      for (const std::string& line : lines_of(job.errors)) errors.push_back(line);
      for (const std::string& line : lines_of(job.notes))
        if (std::find(notes.begin(), notes.end(), line) == notes.end()) notes.push_back(line);  // of a header, once
      if (job.end == Job::kNotCompiled) scratch_.keep();
    }
    if (!errors.empty()) return report(errors);
    for (const std::string& note : notes) fprintf(stderr, "elc-cc: warning: %s\n", note.c_str());
    if (arguments_.reports) tell(program);
    for (const Job& kept : jobs)
      if (arguments_.keeps && kept.end == Job::kRight) fprintf(stderr, "elc-cc: what is compiled of %s: %s\n", kept.unit->record().source.c_str(), kept.text.c_str());
    auto job = jobs.begin();
    for (Input& input : inputs_) {
      std::vector<std::string> objects;
      for (const Member& member : input.members) {
        if (member.records.empty()) objects.push_back(member.path);
        for (size_t i = 0; i < member.records.size(); ++i, ++job) objects.push_back(job->end == Job::kUnchanged ? job->compiled : job->object);
      }
      if (!replace(input, objects)) return false;
    }
    return *needed = true;
  }

  // Of one source and nothing else; by PMPI_Send a program means MPI_Send, and what is left to the linker says nothing of what it calls.
  static std::string compiled_object(const Member& member) {
    bool is = member.records.size() == 1 && !member.is_shared_library;
    for (const std::string& name : member.undefined) is &= !name.starts_with("PMPI_");
    for (const std::string& name : member.defined) is &= name != kToBeLinked;
    return is ? member.path : "";
  }

  // As many processes as there are processors, each of which takes the next file when it has done with one.
  static void run_jobs(const Program& program, const std::string& compiler, std::vector<Job>* jobs) {
    const size_t size = sizeof(std::atomic<size_t>) + jobs->size() * sizeof(Job::End);
    void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return perror("elc-cc: memory of several processes");
    auto* const next = new (memory) std::atomic<size_t>(0);
    auto* const ends = new (next + 1) Job::End[jobs->size()]();  // of each job: as if it were lost
    fflush(nullptr);
    for (size_t running = 0;;) {
      pid_t child = 1;
      while (child > 0 && running < processors() && *next < jobs->size()) {
        child = fork();
        if (child > 0) ++running;
        if (child != 0) continue;
        try {
          for (size_t i; (i = (*next)++) < jobs->size();) ends[i] = do_job(program, compiler, jobs->size(), (*jobs)[i]);
        } catch (const std::exception& e) {
          fprintf(stderr, "elc-cc: %s\n", e.what());
        }
        _exit(0);
      }
      if (running == 0 || wait(nullptr) < 0) break;  // else another one takes the place of one that has died
      --running;
    }
    for (size_t i = 0; i < jobs->size(); ++i) (*jobs)[i].end = ends[i];
    munmap(memory, size);
  }

  static Job::End do_job(const Program& program, const std::string& compiler, size_t units, const Job& job) {
    std::vector<std::string> errors;
    const bool is_read_again = !job.unit->parsed();
    if (is_read_again && !job.unit->parse()) errors.push_back(job.unit->record().source + ": cannot be read again");
    Job::End end = Job::kRight;
    if (errors.empty()) {
      Module module(program, *job.unit, &errors);
      const std::string text = module.transform(units);
      if (!job.compiled.empty() && !module.changes()) end = Job::kUnchanged;
      else if (!write_file(job.text, text)) return Job::kLost;
      if (!write_lines(job.notes, module.notes())) return Job::kLost;
    }
    if (is_read_again) job.unit->forget();
    const std::vector<std::string> files = {"-w", "-fdata-sections", "-x", "cpp-output", "-c", job.text, "-o", job.object};
    if (errors.empty() && end == Job::kRight && run(std::vector{compiler} + job.unit->record().flags + files) != 0) {
      errors.push_back(job.unit->record().source + ": what elc-cc has made of it does not compile: " + job.text);
      end = Job::kNotCompiled;
    } else if (!errors.empty()) {
      end = Job::kRefused;
    } else if (end == Job::kRight) {
      std::string object = read_file(job.object);
      set_apart(&object);
      if (!write_file(job.object, object)) return Job::kLost;
    }
    return write_lines(job.errors, errors) ? end : Job::kLost;
  }

  static void tell(const Program& program) {
    fprintf(stderr, "elc-cc: %zu of %zu functions can be on the stack when a line is taken:\n", program.instrumented(), program.functions());
    for (const std::string& name : program.names_of_instrumented()) fprintf(stderr, "elc-cc:   %s\n", name.c_str());
    for (const auto& [name, number] : program.numbers())
      if (number.is_kept)
        fprintf(stderr, "elc-cc: %s: %s may be in variables: a restart needs %s with the same number for it\n", number.place.c_str(), name.c_str(),
                name.starts_with("MPI") ? "an MPI" : "a machine");
    for (const std::string& note : program.characters().notes()) fprintf(stderr, "elc-cc: %s\n", note.c_str());
  }

  bool replace(const Input& input, const std::vector<std::string>& objects) {
    if (!input.is_archive) {
      arguments_.words[input.word] = {Word::Kind::kInput, objects};
      return true;
    }
    const std::string archive = scratch_.file("lib.a");
    arguments_.words[input.word] = {Word::Kind::kInput, {archive}};
    return run(std::vector<std::string>{tool("ar"), "qcs", archive} + objects) == 0;
  }

  int link_with_library() {
    // All of it: a call of MPI that is not the library's would not be counted.
    std::vector<std::string> own = {"-Wl,--whole-archive", library_, "-Wl,--no-whole-archive", "-lz"};
    constexpr int kPage = 4096, kLeast = 1 << 16, kMost = 1 << 21;  // that is any system's, and that linkers take
    if (aligns_large_ > kPage)  // so that static variables lie as in each run of the program
      own.push_back("-Wl,-z,max-page-size=" + std::to_string(std::clamp(aligns_large_, kLeast, kMost)));
    std::vector<std::string> command = {compiler_};
    for (size_t i = 0; i < arguments_.words.size(); ++i) {
      command = command + arguments_.words[i].text;
      if (i == last_) command = command + own;
    }
    return run(command);
  }

  // Whose headers, or objects, these are, by names of theirs.
  static std::string mpi_of(const std::string& content, const std::string& otherwise) {
    for (const auto& [name, mpi] : {std::pair("ompi_mpi_comm_world", "Open MPI"), std::pair("lam_mpi_comm_world", "LAM/MPI"), std::pair("MPIX_Grequest_", "MPICH")})
      if (content.find(name) != std::string::npos) return mpi;
    return otherwise;
  }

  // Empty, or what is wrong with it.
  std::string find_library_of_mpi() {
    library_ = find_archive();
    std::error_code ignored;
    if (!fs::exists(library_, ignored)) return (library_.empty() ? "libelc.a" : library_) + " is not found: -felc-library=PATH says where the library is";
    const std::string for_mpi = mpi_of(read_file(library_), "MPICH");
    for (const auto& unit : units_) {
      const std::string mpi = mpi_of(unit->text(), "");
      if (!mpi.empty() && mpi != for_mpi) return library_ + " is for " + for_mpi + ", and " + unit->record().source + " for " + mpi + ": -felc-library=PATH names the one that was built for that";
    }
    return "";
  }

  std::string find_archive() const {
    if (!arguments_.library.empty()) return arguments_.library;
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& candidate : {here / "../mpi/libelc.a", here / ".." / ELC_CC_LIBRARY_DIRECTORY / "libelc.a"})
      if (fs::exists(candidate, error)) return candidate.lexically_normal();
    return "";
  }

  static bool write_lines(const std::string& path, const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return write_file(path, text);
  }

  static std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    const std::string text = read_file(path);
    for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) lines.push_back(text.substr(at, end - at));
    return lines;
  }

  static bool report(const std::vector<std::string>& errors) {
    for (const std::string& e : errors) fail(e);
    return false;
  }

  Arguments arguments_;
  std::string compiler_;
  Scratch scratch_;
  std::vector<Input> inputs_;
  std::set<std::string> wanted_;  // symbols that something asks for
  std::map<std::string, const Member*> owners_;  // of symbols; nullptr: an object
  std::set<std::string> shared_;  // libraries that are part of the program
  std::vector<std::unique_ptr<Unit>> units_;
  size_t last_ = 0;  // of the words that are inputs
  int aligns_large_ = 0;  // Program's
  std::string library_;  // libelc.a
};

}  // namespace
}  // namespace elc::cc

int main(int argc, char** argv) {
  try {
    return elc::cc::Driver(elc::cc::read_arguments({argv + 1, argv + argc})).run_all();
  } catch (const std::exception& e) {  // as where TMPDIR is full, or gone
    fprintf(stderr, "elc-cc: %s\n", e.what());
    return 1;
  }
}
