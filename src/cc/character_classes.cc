// What comes of all that the program does with pointers to characters: classes of memory, and which of them is text.
#include "cc/characters.h"

#include <algorithm>

namespace elc::cc {

int Characters::node(const std::string& name) {
  const auto [at, is_new] = nodes_.emplace(name, 0);
  if (is_new) at->second = fresh();
  return at->second;
}

int Characters::fresh() {
  above_.push_back(above_.size());
  classes_.emplace_back();
  return static_cast<int>(above_.size()) - 1;
}

int Characters::find(int node) const {
  size_t at = static_cast<size_t>(node);
  while (above_[at] != at) at = above_[at] = above_[above_[at]];
  return static_cast<int>(at);
}

void Characters::unite(int a, int b) {
  if (a < 0 || b < 0) return;
  a = find(a), b = find(b);
  if (a == b) return;
  Class &to = class_of(a), &from = class_of(b);
  above_[static_cast<size_t>(b)] = static_cast<size_t>(a);
  if (to.other.empty()) to.other = from.other;
  to.is_copied |= from.is_copied;
  to.is_of_table |= from.is_of_table;
  to.of_variables.merge(from.of_variables);
  to.put.merge(from.put);
  to.used.merge(from.used);
}

// As by a function that does nothing else than call the other with what it is given, and return what that returns.
void Characters::lead(const std::string& from, const std::string& to, unsigned parameters, Gives gives) {
  if (from == to || !led_.emplace(from, to).second) return;
  defined_.insert(from);
  Call call{node(from + "="), to, {}, gives == Gives::kCharacters};
  for (unsigned i = 0; i < parameters; ++i) {
    const std::string given = from + "#" + std::to_string(i), parameter = to + "#" + std::to_string(i);
    passed_.emplace_back(parameter, node(given));
    let_go_[given].insert(parameter);
    call.given.push_back(node(given));
  }
  for (const char* more : {"...", "...[]"}) unite(node(from + more), node(to + more));
  sources_[from + "="].insert(to + "=");
  if (gives == Gives::kOther) unite(call.node, node(to + "="));
  else returned_.push_back(std::move(call));
}

void Characters::see_other(int node, const std::string& place) {
  if (node < 0) return;
  std::string& other = class_of(node).other;
  if (other.empty()) other = place;
}

// Whether a function does nothing with what it is given there but free or compare it, or return it, or what realloc makes of it.
bool Characters::is_let_go(const std::string& parameter, bool may_return, std::set<std::string>* seen) const {
  if (!seen->insert(parameter + (may_return ? "+" : "-")).second) return true;
  const auto to = let_go_.find(parameter);
  if (to == let_go_.end()) return defined_.contains(parameter.substr(0, parameter.rfind('#')));
  return std::all_of(to->second.begin(), to->second.end(), [&](const std::string& other) {
    if (other == kOthers) return false;
    if (!other.ends_with('=')) return is_let_go(other, false, seen);
    std::set<std::string> sources;
    return may_return && is_source(other, parameter, &sources) && is_given_memory(other, seen);
  });
}

bool Characters::is_source(const std::string& of, const std::string& parameter, std::set<std::string>* seen) const {
  const auto sources = sources_.find(of);
  if (!seen->insert(of).second || sources == sources_.end()) return false;
  return std::any_of(sources->second.begin(), sources->second.end(), [&](const std::string& from) { return from == parameter || is_source(from, parameter, seen); });
}

// Whether all that a function returns is memory that nobody has used yet, or what it was given, which it has not used.
bool Characters::is_given_memory(const std::string& function, std::set<std::string>* seen) const {
  if (!seen->insert(function).second) return true;
  const bool is_parameter = function.find('#') != std::string::npos;
  if (is_parameter && !is_let_go(function, true, seen)) return false;
  const auto sources = sources_.find(function);
  if (sources == sources_.end()) return is_parameter;
  return std::all_of(sources->second.begin(), sources->second.end(), [&](const std::string& from) { return from != kOthers && is_given_memory(from, seen); });
}

// What is known of the memory that such functions give or are given is known of all their calls.
void Characters::tell_calls_apart() {
  std::vector<std::pair<int, int>> let_go;
  for (const auto& [parameter, given] : passed_) {
    std::set<std::string> seen;
    if (is_let_go(parameter, true, &seen)) let_go.emplace_back(node(parameter), given);
    else unite(node(parameter), given);
  }
  std::vector<Call> apart;
  for (const Call& call : returned_) {
    std::set<std::string> seen;
    if (defined_.contains(call.function) && is_given_memory(call.function + "=", &seen)) apart.push_back(call);
    else unite(call.node, node(call.function + "="));
  }
  const auto is_known = [this](int node) {
    const Class& one = class_of(node);
    return !one.used.empty() || !one.put.empty() || !one.other.empty() || one.is_copied;
  };
  for (bool grows = true; grows;) {
    grows = false;
    const auto join = [&](int a, int b) {
      if (a < 0 || b < 0 || find(a) == find(b)) return;
      unite(a, b);
      grows = true;
    };
    for (const auto& [parameter, given] : let_go)
      if (is_known(parameter)) join(parameter, given);
    for (const Call& call : apart) {
      const int result = node(call.function + "=");
      if (is_known(result)) join(call.node, result);
      // It may return what it is given.
      for (size_t i = 0; i < call.given.size(); ++i)
        if (find(node(call.function + "#" + std::to_string(i))) == find(result)) join(call.node, call.given[i]);
    }
  }
  for (const Call& call : apart) {
    if (!call.as_characters || is_known(node(call.function + "="))) continue;
    giving_.insert(call.function);
    giving_classes_.insert(find(node(call.function + "=")));
  }
}

// What a pointer to a struct leads to that is defined nowhere is all that becomes such a pointer.
void Characters::see_through_opaque() {
  for (const std::string& name : opaque_) {
    if (members_.contains(name)) continue;
    const int all = node("opaque " + name);
    for (size_t i = 0; i < classes_.size(); ++i)
      if (const Class& one = classes_[i]; find(static_cast<int>(i)) == static_cast<int>(i) && (one.put.contains(name) || one.used.contains(name))) unite(all, static_cast<int>(i));
    class_of(all).put.erase(name);
    class_of(all).used.erase(name);
  }
}

// What goes as characters, or as bytes, comes as that, of whatever datatypes that are made of these.
void Characters::see_messages() {
  for (const Message& message : messages_) {
    std::set<std::string> bases;
    bool are_known = !message.datatypes.empty(), are_own = are_known;
    for (const std::string& datatype : message.datatypes) {
      const std::set<std::string> all = datatypes_.bases_of(datatype);
      are_known &= !all.empty();
      are_own &= all.contains(datatype);
      bases.insert(all.begin(), all.end());
    }
    const bool are_characters = are_known && std::all_of(bases.begin(), bases.end(), Datatypes::has_characters);
    if (!are_characters && message.node >= 0) see_other(message.node, message.place);
    else if (!are_characters && are_own && message.of_struct >= 0) see_other(message.of_struct, message.place);
    if (!are_characters) continue;
    for (const std::string& base : bases) {
      if (message.node >= 0) unite(message.node, node("messages of " + base));
      else see_other(node("messages of " + base), message.place);
    }
  }
}

void Characters::conclude() {
  see_messages();
  // Without a prototype a function may be called as any that returns the same.
  const auto returned = [](const std::string& signature) { return signature.substr(0, signature.find(" (")); };
  for (const auto& [key, signature, parameters, gives] : taken_)
    for (const std::string& called : called_)
      if ((called.ends_with(" ()") || signature.ends_with(" ()")) && returned(called) == returned(signature)) lead(called, key, parameters, gives);
  for (const auto& [node, call] : given_anything_)
    if (!defined_.contains(call.first)) see_other(node, call.second);
  see_through_opaque();
  tell_calls_apart();
  for (const auto& [name, members] : members_) {
    const auto seen = nodes_.find("struct " + name);
    if (seen == nodes_.end()) continue;
    for (const int member : members) see_other(member, class_of(seen->second).other);
  }
  // A pointer to anything that becomes one to a struct of another type than any that it has come from, or by which some are copied.
  std::vector<std::pair<int, std::string>> found;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const Class& one = classes_[i];
    if (find(static_cast<int>(i)) != static_cast<int>(i) || one.put.empty()) continue;
    const auto unexplained = std::find_if(one.used.begin(), one.used.end(), [&](const auto& used) { return !one.put.contains(used.first); });
    const bool is_mixed = one.put.size() > 1 && (one.is_copied || !one.other.empty());
    if (unexplained == one.used.end() && !is_mixed) continue;
    const std::string where = is_mixed ? one.put.begin()->second : unexplained->second;
    for (const auto* types : {&one.put, &one.used})
      for (const auto& [name, place] : *types)
        if (const auto members = members_.find(name); members != members_.end())
          for (const int member : members->second) found.emplace_back(member, where);
  }
  for (const auto& [member, where] : found) see_other(member, where);
}

bool Characters::is_text(int node) const {
  const Class& one = class_of(node);
  if (!one.other.empty() || giving_classes_.contains(find(node))) return false;
  if (one.put.empty() && one.used.empty()) return true;
  // A table of pointers to variables of several types, of which the program knows by other means what they are: text is one of them.
  const bool is_of_any = std::any_of(one.used.begin(), one.used.end(), [&](const auto& used) { return one.of_variables.contains(used.first); });
  return is_of_any && one.is_of_table && !one.is_copied && texts_.contains(node);
}

std::vector<std::string> Characters::notes() const {
  std::vector<std::string> all;
  for (const auto& [node, array] : arrays_) {
    if (is_text(node)) continue;
    const Class& one = class_of(node);
    all.push_back(array + " is saved as bytes: its characters may be something else (" +
                  (!one.other.empty() ? one.other : !one.used.empty() ? one.used.begin()->second : one.put.begin()->second) + ")");
  }
  return all;
}

}  // namespace elc::cc
