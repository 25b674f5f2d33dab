// elc-cc: a C compiler whose MPI programs can be checkpointed and restarted, unchanged. The compile step keeps the preprocessed
// text beside the object; the link step, which sees the whole program, makes the objects anew from it. elc-cc(1) has the rest.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "cc/arguments.h"
#include "cc/module.h"
#include "cc/objects.h"
#include "cc/program.h"

namespace elc::cc {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

class Driver {
 public:
  explicit Driver(Arguments arguments) : arguments_(std::move(arguments)) {
    const char* const own = getenv("ELC_CC");
    compiler_ = own != nullptr && *own != '\0' ? own : "cc";
    if (arguments_.keeps) scratch_.keep();
  }

  int run_all() {
    if (!arguments_.unknown.empty()) return fail(arguments_.unknown + " is no option of elc-cc");
    if (arguments_.passes || arguments_.is_off) return run(std::vector{compiler_} + arguments_.all());
    if (arguments_.compiles_only) return compile();
    return link();
  }

 private:
  static int fail(const std::string& what) {
    fprintf(stderr, "elc-cc: %s\n", what.c_str());
    return 1;
  }

  // The text of a source, beside its object.
  bool record(const std::string& source, const std::string& object) {
    const std::string text = scratch_.file("text.i");
    const auto command = std::vector{compiler_} + preprocessing(arguments_) + std::vector<std::string>{"-x", "c", "-E", source, "-o", text};
    if (run(command) != 0) return false;
    return add_record(object, {source, output_of({compiler_, "-dumpmachine"}, scratch_), compiling(arguments_), read_file(text)}, scratch_);
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

  // The archive that -lNAME means, if there is no shared library before it.
  std::string find_library(const Word& word) const {
    const std::string name = word.text.size() > 1 ? word.text[1] : word.text[0].substr(2);
    for (const std::string& directory : arguments_.directories) {
      if (name.starts_with(":")) {
        if (fs::exists(directory + "/" + name.substr(1))) return directory + "/" + name.substr(1);
        continue;
      }
      if (!arguments_.is_static && fs::exists(directory + "/lib" + name + ".so")) return "";
      if (fs::exists(directory + "/lib" + name + ".a")) return directory + "/lib" + name + ".a";
    }
    return "";
  }

  struct Input {
    size_t word;
    bool is_archive;
    std::vector<Member> members;
  };

  int link() {
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
        path = find_library(word);
      } else if (word.kind == Word::Kind::kOption) {
        continue;
      }
      std::vector<Member> members = path.empty() ? std::vector<Member>() : members_of(path, scratch_);
      bool has_records = false;
      for (const Member& member : members) has_records |= !member.records.empty();
      if (word.kind == Word::Kind::kInput) last_ = i;
      if (!has_records) continue;
      last_ = i;
      const bool is_archive = members[0].path != path;  // of an archive they are copies
      inputs_.push_back({i, is_archive, std::move(members)});
    }
    if (!inputs_.empty() && !arguments_.is_shared) {
      bool needed = false;
      if (!transform(&needed)) return 1;
      if (needed) return link_with_library();
    }
    return run(std::vector{compiler_} + arguments_.all());
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
    Program program({arguments_.stateless, arguments_.everywhere});
    for (const Input& input : inputs_)
      for (const Member& member : input.members)
        for (const Record& r : member.records) units_.push_back(std::make_unique<Unit>(r, units_.size()));
    for (const auto& unit : units_) {
      if (!unit->parse()) errors.push_back(unit->record().source + ": clang does not read what the compiler has preprocessed");
      else program.add(*unit);
      unit->forget();
    }
    if (!errors.empty()) return report(errors);
    if (!program.has_sites()) return true;
    if (!program.has_main()) return report({"main() is in none of the files that elc-cc has compiled"});
    program.conclude(&errors);
    size_t number = 0;
    std::vector<std::string> texts, notes;
    for (const auto& unit : units_) {
      if (!unit->parse()) return report({unit->record().source + ": cannot be read again"});
      Module module(program, *unit, &errors);
      texts.push_back(module.transform(units_.size()));
      notes.insert(notes.end(), module.types().notes().begin(), module.types().notes().end());
      unit->forget();
    }
    if (!errors.empty()) return report(errors);
    if (arguments_.reports) tell(program, notes);
    for (Input& input : inputs_) {
      std::vector<std::string> objects;
      for (const Member& member : input.members) {
        if (member.records.empty()) objects.push_back(member.path);
        for (const Record& r : member.records) {
          const std::string name = fs::path(r.source).filename().replace_extension("").string();
          const std::string text = scratch_.file(name + ".i"), object = scratch_.file(name + ".o");
          if (!write_file(text, texts[number++])) return false;
          if (run(std::vector{compiler_} + r.flags + std::vector<std::string>{"-w", "-x", "cpp-output", "-c", text, "-o", object}) != 0) {
            scratch_.keep();
            return report({r.source + ": what elc-cc has made of it does not compile: " + text});
          }
          objects.push_back(object);
        }
      }
      if (!replace(input, objects)) return false;
    }
    return *needed = true;
  }

  static void tell(const Program& program, const std::vector<std::string>& notes) {
    fprintf(stderr, "elc-cc: %zu of %zu functions can be on the stack when a line is taken:\n", program.instrumented(), program.functions());
    for (const std::string& name : program.names_of_instrumented()) fprintf(stderr, "elc-cc:   %s\n", name.c_str());
    if (!program.characters_are_text())
      fprintf(stderr, "elc-cc: %s: memory of characters is used as something else: arrays of characters are saved as bytes\n", program.text_ends_at().c_str());
    for (const std::string& note : notes) fprintf(stderr, "elc-cc: %s\n", note.c_str());
  }

  bool replace(const Input& input, const std::vector<std::string>& objects) {
    if (!input.is_archive) {
      arguments_.words[input.word] = {Word::Kind::kInput, objects};
      return true;
    }
    const std::string archive = scratch_.file("lib.a");
    arguments_.words[input.word] = {Word::Kind::kInput, {archive}};
    return run(std::vector<std::string>{"ar", "qcs", archive} + objects) == 0;
  }

  int link_with_library() {
    const std::string library = find_archive();
    if (library.empty()) return fail("libelc.a is not found: -felc-library=PATH says where it is");
    // All of it: a call of MPI that is not the library's would not be counted.
    const std::vector<std::string> own = {"-Wl,--whole-archive", library, "-Wl,--no-whole-archive", "-lz", "-lm"};
    std::vector<std::string> command = {compiler_};
    for (size_t i = 0; i < arguments_.words.size(); ++i) {
      command = command + arguments_.words[i].text;
      if (i == last_) command = command + own;
    }
    return run(command);
  }

  std::string find_archive() const {
    if (!arguments_.library.empty()) return arguments_.library;
    std::error_code error;
    const fs::path here = fs::read_symlink("/proc/self/exe", error).parent_path();
    for (const fs::path& candidate : {here / "../mpi/libelc.a", here / ".." / ELC_CC_LIBRARY_DIRECTORY / "libelc.a"})
      if (fs::exists(candidate, error)) return candidate.lexically_normal();
    return "";
  }

  static bool report(const std::vector<std::string>& errors) {
    for (const std::string& e : errors) fail(e);
    return false;
  }

  Arguments arguments_;
  std::string compiler_;
  Scratch scratch_;
  std::vector<Input> inputs_;
  std::vector<std::unique_ptr<Unit>> units_;
  size_t last_ = 0;  // of the words that are inputs
};

}  // namespace
}  // namespace elc::cc

int main(int argc, char** argv) {
  return elc::cc::Driver(elc::cc::read_arguments({argv + 1, argv + argc})).run_all();
}
