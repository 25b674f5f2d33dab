// A job of the coordinator alone: processes that say to each other what they have to, without programs, and what most
// test cases do with them.
#ifndef ELC_TESTS_SIM_JOB_H
#define ELC_TESTS_SIM_JOB_H

#include <doctest/doctest.h>

#include <algorithm>

#include "line/control.h"
#include "line/event_logging.h"
#include "sim/channel.h"

namespace sim {

namespace line = elc::line;
using line::Comm;
using line::Rank;
using Job = Channel<line::EventLogging>;

inline line::Options options(size_t most_freed = 5) {
  line::Options o;
  o.most_freed = most_freed;
  return o;
}

// What has been said and has not arrived.
inline bool says(const Job& job, Rank from, line::Control::Word word) {
  return std::any_of(job.sent.begin(), job.sent.end(), [&](const Job::Message& m) {
    return m.from == from &&
           elc::Decoder(reinterpret_cast<const uint8_t*>(m.bytes.data()), m.bytes.size()).u32() == static_cast<uint32_t>(word);
  });
}

// Communicator 1, of all.
inline Comm add_comm(Job& job, Rank processes) {
  Comm comm = 0;
  for (Rank r = 0; r < processes; ++r) comm = job[r].add_comm(1, static_cast<uint32_t>(processes));
  return comm;
}

// All have their local checkpoint, and nothing has been said of it yet.
inline void open_line(Job& job, Rank processes) {
  job[0].request();
  job.settle();
  for (Rank r = 0; r < processes; ++r) CHECK(job[r].site());
}

inline void take_line(Job& job, Rank processes) {
  open_line(job, processes);
  job.settle();
}

inline elc::Bytes byte(uint8_t value) {
  elc::Bytes bytes;
  bytes.push_back(value);
  return bytes;
}

// What this process has saved last.
inline line::Saved file_of(const Job& job, Rank rank) {
  line::Saved saved;
  elc::Decoder in(job.files.at(rank));
  REQUIRE(line::Saved::decode(in, &saved).ok());
  return saved;
}

// A restart in which each process has to repeat an operation, so that nobody is released.
inline void restart(Job& job, Rank processes, line::Saved (*saved)(Rank)) {
  for (Rank r = 0; r < processes; ++r) REQUIRE(job[r].load(saved(r)).ok());
  for (Rank r = 0; r < processes; ++r) job[r].start_recovery();
  job.settle();
  for (Rank r = 0; r < processes; ++r) REQUIRE(job[r].running());
}

// On communicator 1.
inline line::SavedMessage in_transit(Rank source = 0, line::Tag tag = 0) {
  line::SavedMessage m;
  m.comm = 1;
  m.message = elc::make<line::Message>();
  m.message->source = source, m.message->tag = tag;
  m.message->arrived = true;
  return m;
}

inline line::Saved repeats_operation(Rank) {
  line::Saved s;
  s.replay = true;
  s.comms.push_back({1, 4, 3, false});
  s.crossing.push_back({1, 5, byte(5)});
  return s;
}

}  // namespace sim

#endif
