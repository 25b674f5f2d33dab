// The file of `elc run --output`: what the ranks have written to their standard output, as if there had been one attempt. The ranks
// of each attempt write to files of their own in the directory of lines, output-ATTEMPT.RANK (ELC_OUTPUT), and a line tells how much
// of them belongs to it. No restart changes those of another attempt: each line that is there can be gone back to. The file consists
// of pieces of them, in the order in which they came, which output-ATTEMPT.order has.
#ifndef ELC_TOOL_OUTPUT_H
#define ELC_TOOL_OUTPUT_H

#include <stdint.h>

#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace elc::tool {

class Output {
 public:
  // `file` empty: there is none, and the rest does nothing. What cannot be opened is a Refusal.
  void open(const std::string& file, const std::string& dir);
  bool is_open() const { return file_.open(); }

  // Before an attempt of so many ranks from this line, 0: from the start. The file is as it was when the line was taken. Returns the
  // value of ELC_OUTPUT for the attempt; `lacks`: the line was taken without, and the file begins with it. Throws Refusal.
  std::string begin(uint64_t line, unsigned ranks, bool* lacks);
  // Passes on what the ranks have written since, by lines; `all`: they have ended, and may have left the last one open. What the
  // system does not take now it is given again the next time; returns why, once, and at the end again, or nothing.
  std::string pass_on(bool all);

 private:
  struct Piece {
    unsigned attempt, rank;
    uint64_t bytes;
    bool operator==(const Piece&) const = default;
  };
  using Pieces = std::vector<Piece>;
  struct Source {  // of a rank of this attempt
    Descriptor file;
    uint64_t passed_on = 0;
  };

  std::string name(unsigned attempt, const std::string& end) const { return dir_ + "/output-" + std::to_string(attempt) + end; }
  std::optional<unsigned> attempt_of(uint64_t line, unsigned rank, uint64_t* length) const;
  Pieces of_line(uint64_t line, unsigned ranks, bool* lacks) const;
  Pieces of_attempt(unsigned attempt) const;
  unsigned remove_unneeded(const Pieces& wanted) const;
  void bring_back(const Pieces& wanted);
  static void add(Pieces* pieces, const Piece& piece);
  void check(const Pieces& wanted) const;
  int note(const Pieces& pieces) const;
  bool copy(const Descriptor& from, uint64_t begin, uint64_t bytes, uint64_t* done);

  std::string path_, dir_;
  Descriptor file_;
  Pieces there_;               // what the file consists of
  unsigned attempt_ = 0;
  std::vector<Source> ranks_;
  Descriptor order_;
  bool told_ = false;
};

}  // namespace elc::tool

#endif
