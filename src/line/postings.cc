#include "line/postings.h"

namespace elc::line {

void Postings::index(List& list, Posting& added) {
  if (list.indexed) return add_to_class(list, added);
  list.indexed = true;
  for (Posting* p = list.first; p != nullptr; p = p->after)
    if (p->open) add_to_class(list, *p);
}

void Postings::drop_index(List& list) {
  list.indexed = false;
  list.classes.clear();
}

void Postings::add_to_class(List& list, Posting& posting) {
  Class& c = list.classes.at(class_key(posting.pattern.source, posting.pattern.tag));
  posting.class_before = c.last;
  posting.class_after = nullptr;
  (c.last == nullptr ? c.first : c.last->class_after) = &posting;
  c.last = &posting;
}

void Postings::remove_from_class(List& list, Posting& posting) {
  Posting* const before = posting.class_before;
  Posting* const after = posting.class_after;
  if (before != nullptr) before->class_after = after;
  if (after != nullptr) after->class_before = before;
  if (before != nullptr && after != nullptr) return;
  const uint64_t key = class_key(posting.pattern.source, posting.pattern.tag);
  if (before == nullptr && after == nullptr) return list.classes.remove(key);
  Class& c = list.classes.at(key);
  if (before == nullptr) c.first = after;
  if (after == nullptr) c.last = before;
}

}  // namespace elc::line
