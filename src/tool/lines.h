// Lines in a directory, as the commands of `elc` need them.
#ifndef ELC_TOOL_LINES_H
#define ELC_TOOL_LINES_H

#include <stdint.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "store/store.h"

namespace elc::tool {

// Exit codes besides those of the program that is run (sysexits.h).
constexpr int kUsage = 64;    // wrong arguments
constexpr int kDamaged = 65;  // a line is not whole
constexpr int kCannot = 74;   // an I/O error
constexpr int kStopped = 75;  // ended on SIGTERM with a line to go on from

// Ends the command with a message and an exit code.
struct Refusal : std::runtime_error {
  Refusal(int exit_code, const std::string& message) : std::runtime_error(message), code(exit_code) {}
  int code;
};

// The path without "." and without slashes at its end. ".." stays: where it leads is a matter of symbolic links.
std::string tidy(const std::filesystem::path& path);

// What the system fails to read is tried again for a moment. Throws Refusal.
store::Survey survey(const std::string& dir);

// Where a line is that is given by its number, or by its own directory. Throws Refusal.
struct LinePlace {
  std::string dir;
  uint64_t line;
};
LinePlace line_place(const std::string& what, const std::string& dir);
// Whether this is the file of a rank, or the name that it would have where several have written to one together.
bool names_file(const std::string& what);

// Throws Refusal if there is nothing of the line in the directory.
void require_line(const std::string& dir, uint64_t line);

// Why the line cannot be restarted from: one for each file that is missing or damaged, or that the system fails to read
// though it is tried again for a moment; at most `most`. Empty if it is whole. Reads every byte of it, unless `enough`,
// which is asked before each file, says that nobody wants to know any more.
struct Fault {
  std::string why;
  bool unread;  // the file may be whole
};
std::vector<Fault> faults(const std::string& dir, const store::Commit& commit, size_t most,
                          bool (*enough)() = [] { return false; });

// Bytes of the files in the line's directory; nothing where that cannot be told.
std::optional<uint64_t> line_size(const std::string& dir, uint64_t line);
// For people and for JSON.
std::string size_text(std::optional<uint64_t> size);
nlohmann::json size_fact(std::optional<uint64_t> size);

// On standard output. Names of a file need not be UTF-8, as JSON has to be.
void print(const nlohmann::json& facts);

// The directory to use if none was given: ELC_DIR, or elc-lines.
std::string default_dir();

// The commands; each returns an exit code.
int list(const std::string& dir, bool json);
int verify(const std::string& what, const std::string& dir, bool json);
int remove(std::vector<uint64_t> lines, const std::string& dir, bool force);
struct ShowOptions {
  std::string what;  // a file, the directory of a line, or a number
  std::string dir;
  int64_t rank = -1;  // -1: the first, and figures of all
  uint64_t values = 0;  // how many of each variable, block, message ...
  bool json = false;
};
int show(const ShowOptions& options);

}  // namespace elc::tool

#endif
