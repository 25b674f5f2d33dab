// The receives that the application has posted and not observed, in posting order for each communicator. What takes
// place for every message takes the same time however many there are.
#ifndef ELC_LINE_POSTINGS_H
#define ELC_LINE_POSTINGS_H

#include "base/hash_map.h"
#include "line/types.h"

namespace elc::line {

class Postings {
 public:
  // Links a posting behind all others of its communicator, open; the caller keeps it where it is. Numbers ascend.
  void add(Posting& posting) {
    if (posting.pattern.comm >= lists_.size()) lists_.resize(posting.pattern.comm + 1);
    List& list = lists_[posting.pattern.comm];
    posting.before = list.last;
    posting.after = nullptr;
    (list.last == nullptr ? list.first : list.last->after) = &posting;
    list.last = &posting;
    posting.open = true;
    ++size_;
    if (++list.size > kFew || list.indexed) [[unlikely]] index(list, posting);
  }
  // The same as `remove` for the first of its communicator, which is open.
  void remove_first(Posting& posting) {
    List& list = lists_[posting.pattern.comm];
    posting.open = false;
    if (list.indexed) [[unlikely]] remove_from_class(list, posting);
    Posting* const second = posting.after;
    list.first = second;
    (second == nullptr ? list.last : second->before) = nullptr;
    --size_;
    if (--list.size == 0 && list.indexed) [[unlikely]] drop_index(list);
  }
  void remove(Posting& posting) {
    if (posting.open) close(posting);
    List& list = lists_[posting.pattern.comm];
    (posting.before == nullptr ? list.first : posting.before->after) = posting.after;
    (posting.after == nullptr ? list.last : posting.after->before) = posting.before;
    --size_;
    if (--list.size == 0 && list.indexed) [[unlikely]] drop_index(list);
  }
  // Nothing is to be implied for it any more.
  void close(Posting& posting) {
    posting.open = false;
    List& list = lists_[posting.pattern.comm];
    if (list.indexed) [[unlikely]] remove_from_class(list, posting);
  }
  // Forgets all.
  void clear() {
    lists_.clear();
    size_ = 0;
  }
  bool empty() const { return size_ == 0; }

  // The first of a communicator, nullptr for none; the next is posting->after.
  Posting* first(Comm comm) const { return comm < lists_.size() ? lists_[comm].first : nullptr; }

  // Calls visit(posting) for all, one communicator after the other, in posting order. Nothing may be added or removed
  // meanwhile.
  template <class F>
  void each(F visit) const {
    for (const List& list : lists_)
      for (Posting* p = list.first; p != nullptr; p = p->after) visit(*p);
  }

  // Calls visit(posting) for the open ones before `end` (nullptr: all) that could match a message of this envelope, in
  // posting order, until it returns false. It may close the one it is called for, and earlier ones.
  template <class F>
  void each_open(const Posting* end, Comm comm, Rank source, Tag tag, F visit) const {
    if (comm >= lists_.size()) return;
    const List& list = lists_[comm];
    if (!list.indexed) [[likely]] {
      for (Posting* p = list.first; p != end; p = p->after)
        if (p->open && p->pattern.matches(source, tag) && !visit(*p)) return;
      return;
    }
    Posting* next[] = {first_of(list, source, tag), first_of(list, source, kAnyTag), first_of(list, kAnySource, tag),
                       first_of(list, kAnySource, kAnyTag)};
    for (;;) {
      Posting** least = nullptr;
      for (Posting*& p : next)
        if (p != nullptr && (least == nullptr || p->number < (*least)->number)) least = &p;
      if (least == nullptr || (end != nullptr && (*least)->number >= end->number)) return;
      Posting& found = **least;
      *least = found.class_after;
      if (!visit(found)) return;
    }
  }

 private:
  struct Class {  // open postings of one pattern
    Posting* first = nullptr;
    Posting* last = nullptr;
  };
  struct List {
    Posting* first = nullptr;
    Posting* last = nullptr;
    size_t size = 0;
    bool indexed = false;
    HashMap<Class> classes;  // by class_key; where there have been more than a few postings, until there is none
  };
  static constexpr size_t kFew = 8;

  static Posting* first_of(const List& list, Rank source, Tag tag) {
    const Class* c = list.classes.find(class_key(source, tag));
    return c == nullptr ? nullptr : c->first;
  }
  static void index(List& list, Posting& added);
  static void drop_index(List& list);
  static void add_to_class(List& list, Posting& posting);
  static void remove_from_class(List& list, Posting& posting);

  Vector<List> lists_;  // by communicator
  size_t size_ = 0;     // of all
};

}  // namespace elc::line

#endif
