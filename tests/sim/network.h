// The simulated MPI below the library: messages and collective operations of one incarnation of a
// job. It keeps MPI's order and nothing else: what is sent on one communicator from one process to
// another arrives in order and is matched in order; all else is decided by the schedule.
#ifndef ELC_TESTS_SIM_NETWORK_H
#define ELC_TESTS_SIM_NETWORK_H

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/wire.h"
#include "line/epochs.h"
#include "sim/program.h"

namespace sim {

using Payload = std::array<uint64_t, 3>;  // sender's number in its class, content, extra word

elc::Bytes pack(const Payload& payload);
Payload unpack(const elc::Bytes& bytes);

class Network {
 public:
  explicit Network(std::string* violation) : violation_(violation) {}

  struct Message {
    Rank source, dest;
    Tag tag;
    uint64_t context;
    Payload payload;
    bool large, ready;
    bool matched = false;
    bool here = false;  // matched, and all of its data
  };
  struct Receive {
    Rank dest;
    uint64_t context;
    Rank source;
    Tag tag;
    int message = -1;
  };

  int send(const Message& message);
  int receive(Rank dest, uint64_t context, Rank source, Tag tag);
  // A synchronous send ends when its receive has got all of it.
  bool received(int message) const { return messages_[static_cast<size_t>(message)].here; }
  // Takes back a receive that has no message; false: it has one.
  bool cancel(int receive);
  bool complete(int receive) const;
  // It has a message, whose data may be on their way.
  bool matched(int receive) const { return receives_[static_cast<size_t>(receive)].message >= 0; }
  const Message& message_of(int receive) const;
  // The first arrived message that no receive has matched.
  const Message* probe(Rank dest, uint64_t context, Rank source, Tag tag) const;

  // What the schedule chooses from: streams with a message on its way, matched messages whose data
  // are on their way.
  size_t streams() const { return active_.size(); }
  const Message& head(size_t stream) const;
  void deliver(size_t stream);
  size_t arriving() const { return arriving_.size(); }
  const Message& arriving_message(size_t i) const { return messages_[static_cast<size_t>(arriving_[i])]; }
  void arrive(size_t i);
  // Messages that nobody has received.
  size_t left_over() const;

 private:
  struct Stream {
    std::vector<int> queue;
    size_t first = 0;
  };
  struct Matching {
    std::vector<int> posted;
    std::vector<int> unexpected;
  };
  using Key = std::tuple<Rank, Rank, uint64_t>;

  Matching& matching(Rank dest, uint64_t context);
  void match(int message, int receive);

  std::string* violation_;
  std::vector<Message> messages_;
  std::vector<Receive> receives_;
  std::map<Key, int> stream_of_;
  std::vector<Stream> streams_;
  std::vector<int> active_;
  std::vector<int> arriving_;
  std::vector<std::unordered_map<uint64_t, Matching>> matching_;
};

// What a collective call brings, and what it gives back.
struct Contribution {
  Kind kind = Kind::kBarrier;
  int root = 0;         // index in the communicator
  uint64_t number = 0;  // the library's number of the operation
  uint64_t value = 0;
  int first = 0;  // members of the first group of an intercommunicator; 0: it is none
  std::array<unsigned, elc::line::Epochs::kWords> words = {};  // a fence
  bool joined = false;
};

struct CollectiveResult {
  uint64_t value = 0;
  uint64_t identity = 0;  // of the new communicator
  std::vector<Rank> members;
  int first = 0;  // of the new one
};

// The result of operation `kind` for member `me`, from what all members brought. `has_value` false:
// the call writes nothing there.
CollectiveResult result_of(const std::vector<Contribution>& all, const std::vector<Rank>& members, size_t me,
                           uint64_t context, bool* has_value);

class Collectives {
 public:
  explicit Collectives(std::string* violation) : violation_(violation) {}
  // Calls the next operation of this member on `context`; its handle.
  int join(uint64_t context, const std::vector<Rank>& members, Rank self, const Contribution& contribution);
  bool complete(int operation, Rank self) const;
  CollectiveResult result(int operation, Rank self, bool* has_value) const;
  // The largest value that this member hears of in a barrier; of several words the largest of each.
  uint64_t most(int operation, Rank self) const;
  std::array<unsigned, elc::line::Epochs::kWords> most_words(int operation) const;

 private:
  struct Operation {
    uint64_t context = 0;
    std::vector<Rank> members;
    std::vector<Contribution> contributions;
  };
  struct Context {
    std::vector<int> operations;
    std::map<Rank, size_t> next;
  };
  static size_t index(const Operation& o, Rank rank);

  std::string* violation_;
  std::vector<Operation> operations_;
  std::map<uint64_t, Context> contexts_;
};

inline uint64_t identity_of(uint64_t parent, uint64_t number, uint64_t colour) {
  return combine(combine(parent, number), colour);
}
constexpr uint64_t kWorldIdentity = 1;

}  // namespace sim

#endif
