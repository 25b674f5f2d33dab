// What `elc run` says while the program runs: lines, and on a terminal one line that stays at the bottom.
#ifndef ELC_TOOL_TERMINAL_H
#define ELC_TOOL_TERMINAL_H

#include <nlohmann/json.hpp>
#include <string>

namespace elc::tool {

class Terminal {
 public:
  Terminal(bool json, bool quiet);
  ~Terminal();
  Terminal(const Terminal&) = delete;

  // An event: a line for people, or an object with the same facts. `always`: also when quiet.
  void say(const char* event, const std::string& text, nlohmann::json facts = nlohmann::json::object(),
           bool always = true);
  // Whether there is a line at the bottom.
  bool live() const { return live_; }
  void status(const std::string& text);

  // Descriptors for the output of a job: those of this process, or, where the line at the bottom would mix
  // with what the program writes, pipes through this object. To be closed by close_outputs() once given away.
  int out() const { return channels_[0].give; }
  int err() const { return channels_[1].give; }
  void open_outputs();
  void close_outputs();
  // The ends to read from, -1 for none, and what to do when there is something: false at its end.
  int from(int channel) const { return channels_[channel].from; }
  bool pass_on(int channel);
  // What is left in the pipes of a job that has ended.
  void drain();

 private:
  struct Channel {
    int to;         // stdout, stderr
    int give;       // the job's end
    int from = -1;  // this end
  };
  void clear();
  void draw();

  Channel channels_[2] = {{1, 1}, {2, 2}};
  bool json_, quiet_, live_;
  bool at_line_start_ = true;
  std::string status_;
};

}  // namespace elc::tool

#endif
