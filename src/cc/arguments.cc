#include "cc/arguments.h"

#include <filesystem>
#include <fstream>

#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"

namespace elc::cc {
namespace {

bool takes_argument(const std::string& option) {
  static const std::set<std::string> all = {"-o",  "-I", "-L", "-D", "-U", "-x", "-T", "-u", "-z", "-l", "-e", "-B", "-A", "-G", "-include",
                                            "-imacros", "-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix", "-isysroot",
                                            "-MF", "-MT", "-MQ", "-Xlinker", "-Xpreprocessor", "-Xassembler", "-Xclang", "--param",
                                            "-aux-info", "-arch", "-target", "-rpath", "-h", "-soname"};
  return all.contains(option);
}

bool ends(const std::string& text, const char* with) { return text.ends_with(with); }

std::vector<std::string> expanded(const std::vector<std::string>& words) {
  std::vector<std::string> all;
  for (const std::string& word : words) {
    std::ifstream file(word.starts_with("@") ? word.substr(1) : "");
    if (!word.starts_with("@") || !file) {
      all.push_back(word);
      continue;
    }
    const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    llvm::BumpPtrAllocator memory;
    llvm::StringSaver saver(memory);
    llvm::SmallVector<const char*, 16> tokens;
    llvm::cl::TokenizeGNUCommandLine(content, saver, tokens);
    for (const std::string& more : expanded({tokens.begin(), tokens.end()})) all.push_back(more);
  }
  return all;
}

void read_own(const std::string& word, Arguments* a) {
  const auto value = [&](const char* name) { return word.substr(std::string(name).size()); };
  if (word == "-felc-off") a->is_off = true;
  else if (word == "-felc-everywhere") a->everywhere = true;
  else if (word == "-felc-foreign-addresses") a->has_foreign_addresses = true;
  else if (word == "-felc-address-numbers") a->may_compute_with_addresses = true;
  else if (word == "-felc-common-ranks") a->has_common_ranks = true;
  else if (word == "-felc-keep") a->keeps = true;
  else if (word == "-felc-report") a->reports = true;
  else if (word.starts_with("-felc-library=")) a->library = value("-felc-library=");
  else if (word.starts_with("-felc-stateless=")) {
    std::string name;  // or how names begin, with a *
    for (const char c : value("-felc-stateless=") + ",") {
      if (c != ',') name += c;
      else if (!name.empty()) a->stateless.insert(std::exchange(name, ""));
    }
  } else a->refused = word + " is no option of elc-cc";
}

bool is_dependency(const std::string& word) {
  return word == "-MD" || word == "-MMD" || word == "-MP" || word == "-MG" || word == "-MF" || word == "-MT" || word == "-MQ" ||
         word.starts_with("-MF") || word.starts_with("-MT") || word.starts_with("-MQ") || word.starts_with("-Wp,-M");
}

}  // namespace

Arguments read_arguments(const std::vector<std::string>& given) {
  Arguments a;
  const std::vector<std::string> words = expanded(given);
  std::string language;
  bool has_input = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.starts_with("-felc-")) {
      read_own(word, &a);
      continue;
    }
    if (!word.starts_with("-") || word == "-") {
      const bool is_c = language == "c" || (language.empty() && ends(word, ".c"));
      has_input = true;
      a.passes |= word == "-";
      a.words.push_back({is_c ? Word::Kind::kSource : Word::Kind::kInput, {word}});
      continue;
    }
    Word w = {word.starts_with("-l") ? Word::Kind::kLibrary : Word::Kind::kOption, {word}};
    if (takes_argument(word) && i + 1 < words.size()) w.text.push_back(words[++i]);
    if (word == "-o") a.output = w.text.back();
    else if (word.starts_with("-o")) a.output = word.substr(2);
    if (word == "-x") language = w.text.back() == "none" ? "" : w.text.back();
    if (word == "-L") a.directories.push_back(w.text.back());
    else if (word.starts_with("-L")) a.directories.push_back(word.substr(2));
    if (word.starts_with("-fpack-struct"))
      a.refused = word + " changes the structs of MPI and of the C library, too: pack those that shall be packed (__attribute__((packed)))";
    if (word == "-mms-bitfields" || word.starts_with("-mlong-double-") || word == "-malign-double" || word == "-fshort-wchar" ||
        word.starts_with("-fsso-struct"))
      a.refused = word + ": elc-cc does not know how structs and numbers lie in memory then";
    const size_t charset = word.find("exec-charset=");
    if (charset != std::string::npos && word.starts_with("-f") && word.substr(charset + 13) != "UTF-8" && word.substr(charset + 13) != "utf-8")
      a.refused = word + ": strings that become variables of lines would have other characters";
    a.compiles_only |= word == "-c";
    a.is_static |= word == "-static";
    a.is_shared |= word == "-shared" || word == "--shared";
    a.is_joined |= word == "-r" || word == "-Wl,-r";
    a.passes |= word == "-E" || word == "-S" || word == "-M" || word == "-MM" || word == "-fsyntax-only" || word == "-###";
    a.words.push_back(std::move(w));
  }
  a.passes |= !has_input;
  return a;
}

std::vector<std::string> Arguments::all() const {
  std::vector<std::string> out;
  for (const Word& word : words) out.insert(out.end(), word.text.begin(), word.text.end());
  return out;
}

std::vector<std::string> preprocessing(const Arguments& arguments) {
  std::vector<std::string> out;
  for (const Word& word : arguments.words) {
    const std::string& first = word.text[0];
    if (word.kind != Word::Kind::kOption || first == "-c" || first.starts_with("-o") || first == "-x" || is_dependency(first)) continue;
    if (first.starts_with("-Wl,") || first.starts_with("-L") || first == "-Xlinker") continue;
    out.insert(out.end(), word.text.begin(), word.text.end());
  }
  // What these add is of no use to a program that is read, and clang does not read all of it.
  out.insert(out.end(), {"-U_FORTIFY_SOURCE", "-w"});
  return out;
}

std::vector<std::string> compiling(const Arguments& arguments) {
  std::vector<std::string> out;
  for (const Word& word : arguments.words) {
    const std::string& first = word.text[0];
    if (word.kind != Word::Kind::kOption) continue;
    if (first.starts_with("-finput-charset=")) continue;  // it is UTF-8 now
    const bool wanted = first.starts_with("-O") || first.starts_with("-f") || first.starts_with("-m") || first.starts_with("-g") ||
                        first.starts_with("-std=") || first == "-ansi" || first == "-pthread" || first == "--param";
    // The compiler does not read these again: they say whose headers are the program's. Those of a C library are not.
    if (first.starts_with(kSystemHeaders)) {
      std::string directory = word.text.size() > 1 ? word.text[1] : first.substr(std::string(kSystemHeaders).size());
      if (directory.size() > 1 && ends(directory, "/")) directory.pop_back();
      std::error_code ignored;
      if (!std::filesystem::exists(directory + "/stdio.h", ignored)) out.push_back(kSystemHeaders + directory);
    }
    if (wanted) out.insert(out.end(), word.text.begin(), word.text.end());
  }
  return out;
}

}  // namespace elc::cc
