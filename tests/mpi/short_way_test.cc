// The short way (mpi/runtime/short_way.h): that it is open, left at once where it has to be, and leaves behind what the long one
// does. One MPI process, C++ like the library; it looks inside, where the archive lets nobody. ELC_SEED replays the random one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <elc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

#include <algorithm>
#include <random>
#include <vector>

#include "mpi/runtime/short_way.h"

using namespace elc;
using namespace elc::mpi;

namespace {

constexpr int kTag = 5;

// Whatever was kept of messages before: all of these three go the short way.
void exchange(MPI_Comm comm, int tag, MPI_Request* requests, int* in) {
  static const int out = 17;
  *in = 0;
  MPI_Irecv(in, 1, MPI_INT, 0, tag, comm, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, 0, tag, comm, &requests[1]);
}
void end_exchange(MPI_Request* requests, const int* in) {
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  REQUIRE(*in == 17);
  REQUIRE(requests[0] == MPI_REQUEST_NULL);
  REQUIRE(requests[1] == MPI_REQUEST_NULL);
}

bool nothing_under_way() { return runtime.requests->empty() && runtime.coordinator->none_posted() && runtime.coordinator->account() == 0; }

size_t followed_requests() {
  size_t n = 0;
  runtime.requests->each([&](MPI_Request, Request& r) { n += r.uses; });
  return n;
}

}  // namespace

TEST_CASE("messages that are completed in the order in which they were begun are counted and no more") {
  MPI_Request requests[2];
  int in;
  for (int i = 0; i < 200; ++i) {
    const bool looks = short_calls < 2;  // in between
    exchange(MPI_COMM_WORLD, kTag, requests, &in);
    if (!looks) REQUIRE(begun.place() - begun.first() == 2);
    end_exchange(requests, &in);
    REQUIRE(begun.none());
    REQUIRE(begun.none_receives());
  }
  CHECK(nothing_under_way());
}

TEST_CASE("whoever asks has been told") {
  MPI_Request requests[2];
  int in;
  exchange(MPI_COMM_WORLD, kTag, requests, &in);
  CHECK(runtime.coordinator->account() != 0);
  CHECK(begun.none());
  CHECK(followed_requests() == 2);
  CHECK(!runtime.coordinator->none_posted());
  end_exchange(requests, &in);
  CHECK(nothing_under_way());
}

TEST_CASE("a receive that was posted earlier keeps the others from being counted alone") {
  MPI_Request requests[2], earlier;
  int in, in_earlier = 0;
  MPI_Irecv(&in_earlier, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &earlier);
  CHECK(followed_requests() == 1);
  exchange(MPI_COMM_WORLD, kTag + 1, requests, &in);
  end_exchange(requests, &in);
  CHECK(!runtime.coordinator->none_posted());
  // This message is the earlier one's.
  exchange(MPI_COMM_WORLD, kTag, requests, &in);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Wait(&earlier, MPI_STATUS_IGNORE);
  CHECK(in_earlier == 17);
  MPI_Request last;
  MPI_Isend(&in_earlier, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &last);
  MPI_Wait(&last, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  CHECK(in == 17);
  CHECK(nothing_under_way());
}

TEST_CASE("some of those begun are over before those that were begun earlier") {
  constexpr int kMany = 5;
  MPI_Request receives[kMany], sends[kMany];
  int in[kMany], out[kMany];
  for (int round = 0; round < 24; ++round) {
    const bool looks = short_calls < 6 * kMany;  // anywhere
    for (int i = 0; i < kMany; ++i) {
      out[i] = round + i;
      MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &receives[i]);
      MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &sends[i]);
    }
    MPI_Waitall(kMany, round % 2 == 0 ? sends : receives, MPI_STATUSES_IGNORE);
    if (!looks) CHECK(!begun.none());
    if (round / 2 % 3 == 1) CHECK(followed_requests() == kMany);
    if (round / 2 % 3 == 2) {  // others come behind those that are left
      MPI_Request requests[2];
      int another;
      exchange(MPI_COMM_WORLD, kTag, requests, &another);
      end_exchange(requests, &another);
    }
    MPI_Waitall(kMany, round % 2 == 0 ? receives : sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < kMany; ++i) REQUIRE(in[i] == out[i]);
    CHECK(begun.none());
    CHECK(begun.none_receives());
    CHECK(nothing_under_way());
  }
}

TEST_CASE("a communicator that gets the handle of one that was freed is another one") {
  for (int i = 0; i < 20; ++i) {
    MPI_Comm comm;
    if (i % 2 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
    MPI_Request requests[2];
    int in;
    for (int k = 0; k < 3; ++k) {
      exchange(comm, kTag, requests, &in);
      if (k > 0 && !begun.none()) CHECK(begun.first()->followed == runtime.comms.find(comm));
      end_exchange(requests, &in);
    }
    MPI_Comm_free(&comm);
    for (int k = 0; k < 2; ++k) CHECK((begun.place()[k].comm == MPI_Comm{} || begun.place()[k].comm == MPI_COMM_WORLD));
  }
  CHECK(nothing_under_way());
}

TEST_CASE("the way is closed as long as there is something to attend to, however many calls there are") {
  for (const uint32_t bit : {kThreads, kErrors, kFromFortran}) {
    MPI_Request requests[2];
    int in;
    exchange(MPI_COMM_WORLD, kTag, requests, &in);
    attend(bit, true);
    end_exchange(requests, &in);
    CHECK(begun.none());
    short_calls = INT32_MIN + 2;
    CHECK(!open_short_way("MPI_Test"));
    CHECK(short_calls == kNoShortCalls);
    for (int i = 0; i < 10; ++i) {
      exchange(MPI_COMM_WORLD, kTag, requests, &in);
      REQUIRE(begun.none());
      REQUIRE(followed_requests() == 2);
      end_exchange(requests, &in);
      REQUIRE(short_calls < 0);
    }
    attend(bit, false);
    exchange(MPI_COMM_WORLD, kTag, requests, &in);
    end_exchange(requests, &in);
    CHECK(short_calls > 0);
  }
  CHECK(nothing_under_way());
}

// Receives and sends to oneself, completed one by one, together, in any order; what is followed is what the program has.
TEST_CASE("random programs") {
  const char* const given = getenv("ELC_SEED");
  const auto seed = given != nullptr ? static_cast<unsigned>(atoi(given)) : std::random_device()() % 100000;
  INFO("ELC_SEED=", seed);
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random()) % n; };
  MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_NULL};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  for (int round = 0; round < 300; ++round) {
    struct Message {
      int in[2] = {0, 0}, out[2] = {1, 2};
      bool receives = false, wildcard = false;
    };
    std::vector<Message> messages(1 + below(round % 10 == 0 ? 80 : 8));
    std::vector<MPI_Request> requests;
    // For each message a send, for each send a receive of its tag: in an order of its own.
    std::vector<std::pair<bool, size_t>> calls;
    for (size_t i = 0; i < messages.size(); ++i) {
      calls.emplace_back(false, i);
      calls.emplace_back(true, i);
    }
    if (below(2) == 0) std::shuffle(calls.begin(), calls.end(), random);
    else if (below(2) == 0) std::stable_partition(calls.begin(), calls.end(), [](const auto& c) { return c.first; });
    const bool wildcards = below(4) == 0, derived = below(4) == 0;
    // Tags are the message's own, so that each receive can say which one it gets; a wildcard is one in its source.
    for (const auto& [receives, i] : calls) {
      Message& m = messages[i];
      const int tag = static_cast<int>(i % 20);
      const MPI_Comm comm = comms[i / 20 % 2];
      MPI_Request request;
      MPI_Datatype type = derived && i % 3 == 0 ? pair : MPI_INT;
      const int count = type == MPI_INT ? 2 : 1;
      if (receives) MPI_Irecv(m.in, count, type, wildcards && i % 2 == 0 ? MPI_ANY_SOURCE : 0, tag, comm, &request);
      else MPI_Isend(m.out, count, type, 0, tag, comm, &request);
      requests.push_back(request);
      if (below(20) == 0) REQUIRE(followed_requests() == requests.size());
      if (below(40) == 0) {
        int flag;
        MPI_Status status;
        MPI_Iprobe(0, 900, comm, &flag, &status);
        REQUIRE(flag == 0);
      }
    }
    if (below(3) == 0) std::shuffle(requests.begin(), requests.end(), random);
    size_t next = 0;
    const unsigned way = below(6);
    if (way == 4) {
      std::vector<int> indices(requests.size());
      for (size_t left = requests.size(); left > 0;) {
        int n;
        MPI_Waitsome(static_cast<int>(requests.size()), requests.data(), &n, indices.data(), MPI_STATUSES_IGNORE);
        left -= static_cast<size_t>(n);
      }
      next = requests.size();
    }
    while (next < requests.size()) {
      size_t n = way == 0 ? requests.size() : 1 + below(4);
      if (n > requests.size() - next) n = requests.size() - next;
      const int few = static_cast<int>(n);
      MPI_Status status;
      int flag = 0;
      if (way == 1) {
        n = 1;
        MPI_Wait(&requests[next], below(2) == 0 ? MPI_STATUS_IGNORE : &status);
      } else if (way == 2) {
        n = 1;
        while (flag == 0) MPI_Test(&requests[next], &flag, &status);
      } else if (way == 5 && below(2) == 0) {
        while (flag == 0) MPI_Testall(few, &requests[next], &flag, MPI_STATUSES_IGNORE);
      } else {
        if (below(3) == 0) {  // null ones among them
          std::vector<MPI_Request> some;
          for (size_t k = 0; k < n; ++k) {
            if (below(2) == 0) some.push_back(MPI_REQUEST_NULL);
            some.push_back(requests[next + k]);
          }
          MPI_Waitall(static_cast<int>(some.size()), some.data(), MPI_STATUSES_IGNORE);
        } else {
          MPI_Waitall(few, &requests[next], MPI_STATUSES_IGNORE);
        }
      }
      next += n;
      if (below(10) == 0) REQUIRE(followed_requests() == requests.size() - next);
    }
    for (const Message& m : messages) REQUIRE((m.in[0] == 1 && m.in[1] == 2));
    REQUIRE(nothing_under_way());
  }
  MPI_Type_free(&pair);
  MPI_Comm_free(&comms[1]);
}

// The interval behind it has begun with a message under way: from now on what was sent is not what was received.
TEST_CASE("a line that opens is told of what was begun, and closes the way") {
  static MPI_Request requests[2];
  static int in;
  ELC_Register("requests", requests, ELC_MPI_REQUEST, 2);
  ELC_Register("in", &in, ELC_INT, 1);
  for (int i = 0; i < 3; ++i) {
    exchange(MPI_COMM_WORLD, kTag, requests, &in);
    if (i < 2) end_exchange(requests, &in);
  }
  ELC_Checkpoint_now();
  CHECK(begun.none());
  CHECK(followed_requests() == 2);
  if ((attention & kProtocol) != 0) CHECK(short_calls < 0);
  end_exchange(requests, &in);
  while (ELC_Line() == 0) {
    exchange(MPI_COMM_WORLD, kTag, requests, &in);
    end_exchange(requests, &in);
  }
  CHECK(runtime.requests->empty());
}

// The last: that there was another error handler is never forgotten.
TEST_CASE("an error handler closes it") {
  MPI_Request requests[2];
  int in;
  exchange(MPI_COMM_WORLD, kTag, requests, &in);
#if MPI_VERSION >= 2
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#else
  MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
#endif
  CHECK(short_calls < 0);
  end_exchange(requests, &in);
  exchange(MPI_COMM_WORLD, kTag, requests, &in);
  CHECK(begun.none());
  end_exchange(requests, &in);
  CHECK(runtime.requests->empty());
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result != 0) MPI_Abort(MPI_COMM_WORLD, result);
  MPI_Finalize();
  return result;
}
