// Parts of src/line that talk to each other, one for each process of a job, without programs.
#ifndef ELC_TESTS_SIM_CHANNEL_H
#define ELC_TESTS_SIM_CHANNEL_H

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "line/coordinator.h"

namespace sim {

// One part for each process of a job, and what these have sent on the control channels. Their MPI shows what `there`
// says, and completes what `complete` says; what they save is saved.
template <class Part>
struct Channel {
  template <class... More>
  explicit Channel(elc::line::Rank processes, More... more) {
    for (elc::line::Rank r = 0; r < processes; ++r) ends.push_back(std::make_unique<End>(this, r, processes, more...));
  }
  Part& operator[](elc::line::Rank rank) { return ends[static_cast<size_t>(rank)]->part; }

  struct Message {
    elc::line::Rank from, to;
    std::string bytes;
  };
  std::vector<Message> sent;
  std::set<elc::line::Rank> for_release;  // who has voted
  std::vector<elc::line::Rank> told_of_removal;
  elc::line::Rank fails = -1;  // cannot save its state
  bool stable = true;          // what has been saved is
  bool recorded = true;        // the commit record is there
  bool records = true;         // there can be one
  bool memory = true;          // there is some for a message
  struct Ended {
    elc::line::Rank rank;
    elc::line::LineNumber line;
    bool committed;
    std::string reason;
  };
  std::vector<Ended> ended;
  int forgotten = 0;                         // told so often that communicators were forgotten
  std::vector<elc::line::Posting*> started;  // receives that were held
  std::vector<std::pair<elc::line::Rank, elc::line::Tag>> there;  // messages for all, in their order
  std::map<const elc::line::Posting*, std::pair<elc::line::Rank, elc::line::Tag>> complete;
  std::vector<uint64_t> held;   // the orders of the messages that have been saved
  std::vector<uint64_t> bound;  // the numbers of the receives whose messages have been saved
  std::map<elc::line::Rank, elc::Bytes> files;      // what each has saved last
  std::map<elc::line::Rank, std::vector<elc::line::ToldAddress>> told;  // what addresses each has in its file
  std::map<elc::line::Rank, uint64_t> own;                              // and one that is its own
  std::map<const elc::line::Posting*, int> copied;  // how often the data of a receive were copied

  std::function<bool(elc::line::Rank)> settled;                           // whether it can be saved here; empty: it can
  std::function<void(elc::line::Rank, elc::line::LineNumber)> saves;      // its state is saved for this line
  int strayed = 0;  // how often somebody was said to
  // Everything arrives, in the order in which it was sent, and all go on as far as they can.
  void settle() {
    do {
      while (!sent.empty()) deliver();
      for (auto& end : ends) end->part.poll();
    } while (!sent.empty());
  }
  // The first message arrives.
  void deliver() {
    const Message m = sent.front();
    sent.erase(sent.begin());
    (*this)[m.to].on_control(m.from, reinterpret_cast<const uint8_t*>(m.bytes.data()), m.bytes.size());
  }

 private:
  struct End {
    template <class... More>
    End(Channel* c, elc::line::Rank r, elc::line::Rank processes, More... more)
        : channel(c), rank(r), host(sender()), part(host, r, processes, more...) {}
    elc::line::Host sender() {
      elc::line::Host h;
      h.context = this;
      h.strayed = [](void* context) { ++static_cast<End*>(context)->channel->strayed; };
      h.send_control = [](void* context, elc::line::Rank to, const uint8_t* data, size_t size) {
        const End& from = *static_cast<End*>(context);
        from.channel->sent.push_back({from.rank, to, std::string(reinterpret_cast<const char*>(data), size)});
      };
      h.vote_for_release = [](void* context) {
        const End& e = *static_cast<End*>(context);
        e.channel->for_release.insert(e.rank);
      };
      h.all_voted_for_release = [](void* context) {
        const Channel& channel = *static_cast<End*>(context)->channel;
        return channel.for_release.size() == channel.ends.size();
      };
      h.removed = [](void* context) {
        const End& e = *static_cast<End*>(context);
        e.channel->told_of_removal.push_back(e.rank);
      };
      h.settled = [](void* context, bool) {
        const End& e = *static_cast<End*>(context);
        return !e.channel->settled || e.channel->settled(e.rank);
      };
      h.save_state = [](void* context, elc::line::LineNumber line) {
        const End& e = *static_cast<End*>(context);
        if (e.channel->saves) e.channel->saves(e.rank, line);
        return e.channel->fails == e.rank ? elc::Result::error("no space") : elc::Result();
      };
      h.save_line = [](void* context, elc::line::LineNumber, const elc::line::Saved& saved) {
        Channel& channel = *static_cast<End*>(context)->channel;
        elc::Bytes& file = channel.files[static_cast<End*>(context)->rank];
        file.clear();
        elc::Encoder out(&file);
        saved.encode(out);
        for (const elc::line::SavedMessage& m : saved.messages) channel.held.push_back(m.message->order);
        for (const elc::line::BoundReceive& b : saved.bound) channel.bound.push_back(b.number);
        return elc::Result();
      };
      h.told_addresses = [](void* context, elc::Vector<elc::line::ToldAddress>* out) {
        const End& e = *static_cast<End*>(context);
        for (const elc::line::ToldAddress& told : e.channel->told[e.rank]) out->push_back(told);
      };
      h.check_told = [](void* context, const elc::Vector<elc::line::ToldAddress>& all) {
        const End& e = *static_cast<End*>(context);
        for (const elc::line::ToldAddress& told : all)
          if (told.address == e.channel->own[e.rank]) return elc::Result::error("rank %d has its address", told.holder);
        return elc::Result();
      };
      h.line_stable = [](void* context, elc::line::LineNumber, bool* stable) {
        return *stable = static_cast<End*>(context)->channel->stable, elc::Result();
      };
      h.commit = [](void* context, elc::line::LineNumber, uint64_t, uint64_t, bool* done) {
        const Channel& channel = *static_cast<End*>(context)->channel;
        *done = channel.recorded;
        return channel.records ? elc::Result() : elc::Result::error("no record");
      };
      h.ended = [](void* context, elc::line::LineNumber line, bool committed, const elc::line::Refusal& refusal) {
        const End& e = *static_cast<End*>(context);
        e.channel->ended.push_back({e.rank, line, committed, committed ? "" : refusal.text});
      };
      h.forgotten = [](void* context) { ++static_cast<End*>(context)->channel->forgotten; };
      h.posting_complete = [](void* context, const elc::line::Posting& p, elc::line::Rank* source, elc::line::Tag* tag) {
        const auto& complete = static_cast<End*>(context)->channel->complete;
        const auto found = complete.find(&p);
        if (found == complete.end()) return false;
        return *source = found->second.first, *tag = found->second.second, true;
      };
      h.copy_data = [](void* context, const elc::line::Posting& p, elc::line::Message*) {
        ++static_cast<End*>(context)->channel->copied[&p];
      };
      h.start_receive = [](void* context, elc::line::Posting& posting) {
        static_cast<End*>(context)->channel->started.push_back(&posting);
      };
      h.take = [](void* context, elc::line::Message* m) {
        Channel& channel = *static_cast<End*>(context)->channel;
        if (!channel.memory) return false;
        m->arrived = true;
        const auto taken = std::find(channel.there.begin(), channel.there.end(), std::pair{m->source, m->tag});
        return channel.there.erase(taken), true;
      };
      h.probe = [](void* context, const elc::line::Pattern& p, elc::line::Rank* source, elc::line::Tag* tag) {
        for (const auto& [from, with] : static_cast<End*>(context)->channel->there)
          if (p.matches(from, with)) return *source = from, *tag = with, true;
        return false;
      };
      return h;
    }
    Channel* channel;
    elc::line::Rank rank;
    elc::line::Host host;
    Part part;
  };
  std::vector<std::unique_ptr<End>> ends;
};

}  // namespace sim

#endif
