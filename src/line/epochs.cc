#include "line/epochs.h"

#include "line/rules.h"

namespace elc::line {
namespace {

enum { kLast, kNotLast, kNewest, kOpen };

constexpr const char* kApart =
    "other ranks of a window have taken their checkpoints between two fences where this one has not: all "
    "ranks of a window have to come to a site there, before their first operation";

}  // namespace

void Epochs::say(const Coordinator& process, unsigned (&words)[kWords]) const {
  words[kLast] = process.last_line();
  words[kNotLast] = ~process.last_line();
  words[kNewest] = process.newest_line();
  words[kOpen] = process.line_open() ? 1 : 0;
}

void Epochs::begin(Coordinator& process, const unsigned (&greatest)[kWords]) {
  fenced_ = true;
  touched_ = false;
  line_ = 0;
  const LineNumber last = greatest[kLast];
  if (last != ~greatest[kNotLast]) return process.decline(last, kApart);
  if (greatest[kOpen] != 0 || greatest[kNewest] == last) return;
  line_ = last + 1;
  process.request_line(line_);
}

bool Epochs::put_off(const Coordinator& process) {
  touched_ = true;
  return agreed() && process.last_line() >= line_ && applies(Rule::kPutOff);
}

bool Epochs::ready_for(LineNumber line) const {
  if (!fenced_) return true;
  return (line_ == line || !applies(Rule::kAgreeOnEpoch)) && (!touched_ || !applies(Rule::kUntouched));
}

}  // namespace elc::line
