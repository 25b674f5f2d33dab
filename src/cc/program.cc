#include "cc/program.h"

#include <algorithm>

#include "cc/addresses.h"
#include "cc/numbers.h"
#include "elc_program.h"

namespace elc::cc {

using namespace clang;

namespace {

bool makes_error_handler(const std::string& name) {
  return name == "MPI_Errhandler_create" || name == "MPI_Comm_create_errhandler" || name == "MPI_Win_create_errhandler" || name == "MPI_File_create_errhandler";
}

}  // namespace

std::string spelling(const RecordDecl* record) {
  if (const TypedefNameDecl* name = record->getTypedefNameForAnonDecl()) return name->getName().str();
  if (record->getName().empty()) return "";
  return record->getKindName().str() + " " + record->getName().str();
}

std::string Program::signature_of(QualType function) {
  const FunctionType* type = function.isNull() ? nullptr : function->getAs<FunctionType>();
  if (type == nullptr) return "?";
  const auto* prototype = dyn_cast<FunctionProtoType>(type);
  std::string text = type->getReturnType().getCanonicalType().getUnqualifiedType().getAsString();
  if (prototype == nullptr) return text + " ()";
  text += " (";
  if (prototype->getNumParams() == 0 && !prototype->isVariadic()) text += "void";
  for (const QualType parameter : prototype->param_types()) text += parameter.getCanonicalType().getUnqualifiedType().getAsString() + ",";
  return text + (prototype->isVariadic() ? "...)" : ")");
}

std::string Program::key_of(const Unit& unit, const FunctionDecl* function) {
  const std::string name = function->getName().str();
  const FunctionDecl* definition = function->getDefinition();
  const bool own = definition != nullptr && !definition->isExternallyVisible();
  return own ? name + "@" + std::to_string(unit.number()) : name;
}

void Program::add(const Unit& unit) {
  File& file = files_[unit.number()];
  file.path = unit.record().path, file.flags = unit.record().flags, file.number = unit.number();
  for (const Decl* d : unit.context().getTranslationUnitDecl()->decls()) {
    const auto* const function = dyn_cast<FunctionDecl>(d);
    const auto* const variable = dyn_cast<VarDecl>(d);
    const bool is_defined = function != nullptr ? function->isThisDeclarationADefinition() : variable != nullptr && variable->isThisDeclarationADefinition() != VarDecl::DeclarationOnly;
    if (is_defined && cast<NamedDecl>(d)->isExternallyVisible()) file.defined.insert(cast<NamedDecl>(d)->getName().str());
  }
  collect(unit);
  characters_.add(unit);
  add_sizes(unit);
  add_addresses(unit);
  UnionUses unions = uses_of_unions(unit);
  unseen_unions_.merge(unions.unseen);
  alike_unions_.insert(alike_unions_.end(), unions.alike.begin(), unions.alike.end());
  HandleFacts handles = handle_facts(unit);
  for (const auto& [place, to] : handles.given) handles_.given[place].insert(to.begin(), to.end());
  handles_.used.merge(handles.used);
  handles_.structs.merge(handles.structs);
  for (const auto& [name, parts] : handles.declared) declared_[name].insert(parts);
  if (!options_.has_common_ranks) return;
  const RankFacts ranks = ranks_in(unit);
  ranks_.lost.insert(ranks.lost.begin(), ranks.lost.end());
  ranks_.called.insert(ranks.called.begin(), ranks.called.end());
}

void Program::add_addresses(const Unit& unit) {
  const auto places = [&](const NumbersOfAddresses& numbers, std::set<std::string>* to) {
    for (const Expr* made : numbers.made) to->insert(unit.place(made->getBeginLoc()));
  };
  const auto keys = [&](const std::set<Parameter>& given, std::set<ParameterKey>* to) {
    for (const auto& [function, number] : given) to->insert({key_of(unit, function), number});
  };
  const AddressesOfUnit all = numbers_of_addresses(unit, [](const Parameter&) { return false; });
  for (const auto& [function, numbers] : all.functions) {
    FunctionFacts& facts = functions_[key_of(unit, function)];
    places(numbers, &facts.computes_with_addresses);
    facts.rounds_addresses.add(numbers.rounded_to);
  }
  keys(all.given, &given_addresses_);
  for (const FunctionDecl* function : all.may_be_given)
    for (const auto& [number, found] : if_given_addresses(unit, function)) {
      IfGivenAddress& facts = functions_[key_of(unit, function)].if_given_address[number];
      places(found.made, &facts.computes);
      facts.rounds = found.made.rounded_to;
      keys(found.given, &facts.gives);
    }
}

// What is given goes on from function to function.
void Program::follow_given_addresses() {
  std::vector<ParameterKey> left(given_addresses_.begin(), given_addresses_.end());
  while (!left.empty()) {
    const auto [key, number] = left.back();
    left.pop_back();
    const auto function = functions_.find(key);
    if (function == functions_.end()) continue;
    FunctionFacts& facts = function->second;
    const auto given = facts.if_given_address.find(number);
    if (given == facts.if_given_address.end()) continue;
    facts.computes_with_addresses.insert(given->second.computes.begin(), given->second.computes.end());
    facts.rounds_addresses.add(given->second.rounds);
    for (const ParameterKey& next : given->second.gives)
      if (given_addresses_.insert(next).second) left.push_back(next);
  }
}

void Program::check_pragmas(const Unit& unit, const std::set<const Pragma*>& seen) {
  for (const Pragma& pragma : unit.pragmas()) {
    if (pragma.kind == Pragma::Kind::kStateless) options_.stateless.insert(pragma.words.begin(), pragma.words.end());
    else if (seen.contains(&pragma)) continue;
    else if (pragma.kind == Pragma::Kind::kTransient) misplaced_.push_back(pragma.place + ": '#pragma elc transient' stands in front of a variable of a file, or a static one of a function");
    else if (pragma.kind == Pragma::Kind::kType) misplaced_.push_back(pragma.place + ": '#pragma elc type' stands in front of a statement with a call that returns a void * or char *");
    else misplaced_.push_back(pragma.place + ": '#pragma elc union' stands in front of a union in a struct");
  }
}

void Program::add_sizes(const Unit& unit) {
  const std::string file = unit.record().source;
  values_of_numbers_.emplace(kAnySize, any_size(unit));
  size_of_long_double_ = std::max(size_of_long_double_, size_of_long_double(unit));
  const auto holder = [&unit](const Holder& h) { return key_of(unit, h.function) + " " + h.what; };
  for (const auto& [function, sizes] : sizes_in(unit)) {
    FunctionFacts& facts = function == nullptr ? at_file_scope_ : functions_[key_of(unit, function)];
    for (const Size& size : sizes.kept) facts.numbers.emplace(add_size(size, file), size.place);
    for (const auto& [size, to] : sizes.given) given_sizes_.push_back({add_size(size, file), size.place, holder(to), function == nullptr ? "" : key_of(unit, function)});
    for (const Holder& h : sizes.keeps) keeps_.insert(holder(h));
    for (const auto& [from, to] : sizes.gives) given_by_[holder(to)].insert(holder(from));
  }
}

// Its name among the numbers; types of several files may have one name.
std::string Program::add_size(const Size& size, const std::string& file) {
  std::string name = size.name;
  for (const std::string& more : {" of " + file, " at " + size.place}) {
    if (values_of_numbers_.emplace(name, size.value).first->second == size.value) break;
    name = size.name + more;
  }
  values_of_numbers_.emplace(name, size.value);
  return name;
}

// A pointer to a function goes where casts let it go. Without a prototype it may be called as any function that returns the same.
void Program::find_calls_by_pointers() {
  const auto returned = [](const std::string& signature) { return signature.substr(0, signature.find(" (")); };
  std::set<std::string> called;
  for (const auto& [key, f] : functions_) called.insert(f.calls_by.begin(), f.calls_by.end());
  for (const auto& [key, f] : functions_) {
    if (!f.is_address_taken) continue;
    std::set<std::string>& as = called_as_[key];
    std::vector<std::string> next(f.taken_as.begin(), f.taken_as.end());
    next.push_back(f.signature);
    while (!next.empty()) {
      const std::string signature = next.back();
      next.pop_back();
      const auto more = becomes_.find(signature);
      if (as.insert(signature).second && more != becomes_.end()) next.insert(next.end(), more->second.begin(), more->second.end());
    }
    for (const std::string& s : called)
      if ((s.ends_with(" ()") || f.signature.ends_with(" ()")) && returned(s) == returned(f.signature)) as.insert(s);
  }
}

bool Program::may_be_called(const std::string& key, const std::string& as) const {
  const auto known = called_as_.find(key);
  return known != called_as_.end() && known->second.contains(as);
}

void Program::conclude(std::vector<std::string>* errors) {
  follow_given_addresses();
  characters_.conclude();
  if (size_of_long_double_ != 0) values_of_numbers_[kAnySize] = values_of_numbers_[kAnySize] * 47 + size_of_long_double_;
  errors->insert(errors->end(), misplaced_.begin(), misplaced_.end());
  // Facts of functions that are not defined say no more than that their address is taken.
  for (auto f = functions_.begin(); f != functions_.end();) f = f->second.name.empty() ? functions_.erase(f) : std::next(f);
  find_calls_by_pointers();
  find_reachable();
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [key, f] : functions_) {
      if (instrumented_.contains(key) || !reachable_.contains(key)) continue;
      bool reaches = f.calls_site || (key == "main" && has_sites_) || options_.everywhere;
      for (const std::string& callee : f.calls) reaches |= instrumented_.contains(callee);
      for (const std::string& signature : f.calls_by) reaches |= targets_.contains(signature);
      if (!reaches) continue;
      instrumented_.insert(key);
      if (f.is_address_taken) targets_.insert(called_as_.at(key).begin(), called_as_.at(key).end());
      grows = true;
    }
  }
  for (const Callback& c : callbacks_) {
    if (c.makes == 0 || !reachable_.contains(c.by)) continue;
    if (!c.key.empty()) given_[c.key] |= c.makes;
    else
      for (const auto& [key, f] : functions_)
        if (may_be_called(key, c.signature)) given_[key] |= c.makes;
  }
  for (const Callback& c : callbacks_) {
    if (external_.contains(c.receiver) || !reachable_.contains(c.by) || known(c.receiver).kind == Known::Kind::kUnknown) continue;
    const bool reaches = c.key.empty() ? targets_.contains(c.signature) : instrumented_.contains(c.key);
    if (!reaches) continue;
    if ((makes_error_handler(c.receiver) || c.receiver == "atexit") && !c.key.empty()) {
      if (handlers_.insert(c.key).second)
        warnings_.push_back(c.place + ": " + functions_.at(c.key).name + "() can reach MPI, and " + (c.receiver == "atexit" ? "exit()" : "MPI") + " may call it: when it has been called no line is taken");
      continue;
    }
    const std::string what = c.key.empty() ? "a function that can reach MPI" : functions_.at(c.key).name + "(), which can reach MPI,";
    errors->push_back(c.place + ": " + what + " may be given to " + c.receiver +
                      "(), which is not the program's: a restart could not come back through it");
  }
  for (const auto& [name, place] : profiled_)
    if (external_.contains(name)) errors->push_back(place + ": P" + name + "() in a program that defines " + name + "(), in whose place the library is");
  for (const auto& [name, place] : pointed_sites_)
    if (!external_.contains(name)) warnings_.push_back(place + ": there is a pointer to " + name + "(): no line is taken in calls by it");
  check_threads(errors);
  find_kept_sizes();
  find_numbers();
  find_mixed_handles();
  std::set<std::string> told;
  const auto see = [&](const FunctionFacts& f) {
    for (const auto& [name, place] : f.uses) {
      const Known k = external_.contains(name) ? Known() : known(name);
      draws_numbers_ |= k.draws_numbers;
      uses_library_ |= k.keeps;
      rounds_ |= k.rounds;
      sets_control_ |= k.sets_control;
      reads_input_ |= k.reads_input;
      reads_clocks_ |= k.reads_clock;
      aligns_ = std::max(aligns_, k.aligns ? 1 : 0);
      gets_attributes_ |= k.gets_attributes;
      makes_keyvals_ |= k.makes_keyvals;
      probes_ |= k.probes;
      allocates_windows_ |= k.allocates_windows;
      attaches_ |= k.attaches;
    }
    reads_input_ |= f.uses_variables.contains("stdin");
    check_foreign(f, &told, errors);
  };
  see(at_file_scope_);
  for (const std::string& key : reachable_) {
    const FunctionFacts& f = functions_.at(key);
    see(f);
    aligns_ = std::max({aligns_, f.rounds_addresses.of_all, f.rounds_addresses.of_large > 0 ? 1 : 0});
    aligns_large_ = std::max(aligns_large_, f.rounds_addresses.of_large);
    if (!options_.may_compute_with_addresses)
      for (const std::string& place : f.computes_with_addresses)
        warnings_.push_back(place + ": " + f.name + "(): " + kComputesWithAddress + ": when it has done so no line is taken (-felc-address-numbers)");
  }
  find_ranks(errors);
  find_unseen_unions();
}

// From main, and from what initialisers of variables hold.
void Program::find_reachable() {
  std::vector<std::string> next = {"main"};
  next.insert(next.end(), at_file_scope_.refers.begin(), at_file_scope_.refers.end());
  while (!next.empty()) {
    const std::string key = next.back();
    next.pop_back();
    const auto f = functions_.find(key);
    if (f == functions_.end() || !reachable_.insert(key).second) continue;
    next.insert(next.end(), f->second.refers.begin(), f->second.refers.end());
  }
}

// What goes to memory is kept. Frames are in lines, and with them all variables of their functions, while those are on the stack.
void Program::find_kept_sizes() {
  const std::string memory;  // among the names of functions
  std::map<std::string, std::set<std::string>> kept;  // of each holder: where what it has is kept
  std::vector<std::pair<std::string, std::string>> next;
  const auto keep = [&](const std::string& holder, const std::string& where) {
    if (kept[holder].insert(where).second) next.emplace_back(holder, where);
  };
  const auto keep_in_frame = [&](const std::string& holder) {
    const std::string function = holder.substr(0, holder.rfind(' '));
    if (!holder.ends_with("=") && instrumented_.contains(function)) keep(holder, functions_.at(function).name);
  };
  for (const std::string& holder : keeps_) keep(holder, memory);
  for (const GivenSize& given : given_sizes_) keep_in_frame(given.to);
  for (const auto& [to, from] : given_by_) {
    keep_in_frame(to);
    for (const std::string& holder : from) keep_in_frame(holder);
  }
  while (!next.empty()) {
    const auto [to, where] = next.back();
    next.pop_back();
    const auto from = given_by_.find(to);
    if (from == given_by_.end()) continue;
    for (const std::string& holder : from->second) keep(holder, where);
  }
  for (const GivenSize& given : given_sizes_) {
    const auto where = kept.find(given.to);
    if (where == kept.end()) continue;
    FunctionFacts& facts = given.by.empty() ? at_file_scope_ : functions_.at(given.by);
    if (where->second.contains(memory)) {
      facts.numbers.emplace(given.name, given.place);
    } else {
      Number& number = facts.numbers_in_frames.try_emplace(given.name, Number{0, given.place, true, {}}).first->second;
      number.functions.insert(where->second.begin(), where->second.end());
    }
  }
}

void Program::find_ranks(std::vector<std::string>* errors) {
  bool are_other = false;
  std::map<std::string, int> own;
  for (const auto& [name, common] : common_ranks()) {
    const auto value = values_of_numbers_.find(name);
    if (value == values_of_numbers_.end()) return;
    own[name] = static_cast<int>(value->second);
    are_other |= value->second != common;
  }
  if (!are_other || !options_.has_common_ranks) return;
  std::set<std::string> lost = ranks_.lost;
  for (const auto& [key, place] : ranks_.called)
    if (instrumented_.contains(key)) lost.insert(place + ": a rank comes from a call that can reach MPI");
  const std::string others = !stateless_.empty() ? stateless_ : foreign_.empty() ? "" : *foreign_.begin();
  if (!others.empty()) lost.insert("no file that elc-cc has compiled has " + others + ", which may call MPI, too");
  for (const std::string& why : lost) errors->push_back(why + " (-felc-common-ranks)");
  own_ranks_ = own;
  for (const auto& [name, common] : common_ranks())
    if (const auto number = numbers_.find(name); number != numbers_.end()) number->second.value = common;
}

void Program::find_numbers() {
  const auto add = [&](const std::string& name, const std::string& place, bool is_kept, const std::set<std::string>& functions) {
    for (const auto& [constant, value] : values_of_numbers_) {
      if (constant != name && !(name.ends_with("_") && constant.starts_with(name)) && !(name == any_number() && constant.starts_with("MPI"))) continue;
      Number& number = numbers_[constant];
      if (number.place.empty() || (is_kept && !number.is_kept)) number = {value, place, is_kept, functions};
      else if (is_kept && (functions.empty() || number.functions.empty())) number.functions.clear();
      else if (is_kept) number.functions.insert(functions.begin(), functions.end());
    }
  };
  const auto add_all = [&](const FunctionFacts& f) {
    for (const auto& [name, place] : f.numbers) add(name, place, true, {});
    for (const auto& [name, number] : f.numbers_in_frames) add(name, number.place, true, number.functions);
    for (const auto& [to, name, place] : f.given)
      if (names_.contains(to)) add(name, place, true, {});
    for (const auto& [function, place] : f.uses) {
      const Given& given = given_by(function);
      for (const std::string& name : given.names) add(name, place, !given.is_seen, {});
    }
  };
  add_all(at_file_scope_);
  for (const std::string& key : reachable_) add_all(functions_.at(key));
  numbers_.erase(any_number());
}

int Program::given_to(const Unit& unit, const clang::FunctionDecl* function) const {
  const auto found = given_.find(key_of(unit, function));
  return found == given_.end() ? 0 : found->second;
}

// One thread calls MPI and has frames; what other functions of the library keep is for one thread, too, but memory.
void Program::check_threads(std::vector<std::string>* errors) const {
  for (const std::string& place : devices_) errors->push_back(place + ": a directive of OpenMP after which something may be under way or elsewhere, which lines do not have");
  for (const std::string& place : pointed_threads_) errors->push_back(place + ": a pointer to pthread_create(): nothing says what the threads call that are made by it; call it by its name");
  std::set<std::string> seen, told;
  std::vector<ThreadedCall> next;
  for (const ThreadedCall& call : threaded_)
    if (reachable_.contains(call.by)) next.push_back(call);
  const auto report = [&](const ThreadedCall& call, const std::string& what, const std::string& place) {
    if (told.insert(what + place).second)
      errors->push_back(place + ": " + what + (call.is_of_own ? " may be called by a thread that is made at " + call.place + ": let the thread call it that calls MPI"
                                                              : " may be called by threads of OpenMP, in the directive around " + call.place + ": call it outside of directives"));
  };
  while (!next.empty()) {
    const ThreadedCall call = next.back();
    next.pop_back();
    const auto check = [&](const std::string& name, const std::string& place) {
      const Known k = known(name);
      // How numbers are rounded is a thread's own, and those of OpenMP live on.
      if (call.is_of_own && (k.rounds || k.sets_control)) return;
      if (!k.is_for_threads && (is_mpi(name) || k.keeps || k.kind == Known::Kind::kReplaced)) report(call, name + "()", place);
    };
    if (call.key.empty()) {
      for (const auto& [key, f] : functions_)
        if (may_be_called(key, call.signature)) next.push_back({call.place, call.by, f.name, key, "", call.is_of_own});
      continue;
    }
    const auto f = functions_.find(call.key);
    if (f == functions_.end()) {
      check(call.name, call.place);
      continue;
    }
    if (!seen.insert(call.key).second) continue;
    if (instrumented_.contains(call.key)) report(call, f->second.name + "(), which can reach MPI,", call.place);
    for (const auto& [name, place] : f->second.uses)
      if (!external_.contains(name)) check(name, place);
    for (const std::string& key : f->second.calls)
      if (functions_.contains(key)) next.push_back({call.place, call.by, functions_.at(key).name, key, "", call.is_of_own});
    for (const std::string& signature : f->second.calls_by) next.push_back({call.place, call.by, "", "", signature, call.is_of_own});
  }
}

void Program::check_foreign(const FunctionFacts& of, std::set<std::string>* told, std::vector<std::string>* errors) {
  for (const auto& [name, place] : of.uses) {
    if (external_.contains(name) || !told->insert(name).second) continue;
    const Known k = known(name);
    if (is_stateless(name)) stateless_ = name;
    if (k.kind == Known::Kind::kUnfit && k.file != Known::File::kUsed && k.frees < 0)
      warnings_.push_back(place + ": " + name + "(): " + k.text + (k.file == Known::File::kNone && k.makes < 0 ? ": when it has been called no line is taken" : ""));
    if (k.kind == Known::Kind::kRefused) errors->push_back(place + ": " + name + "(): " + k.text);
    if (k.kind == Known::Kind::kPlain && !k.returns_own && !is_mpi(name) && returning_pointers_.contains(name) && !is_stateless(name))
      errors->push_back(place + ": " + name + "(): what it returns a pointer to is not the program's, and not part of lines");
    if (k.kind != Known::Kind::kUnknown) continue;
    foreign_.insert(name);
    warnings_.push_back(place + ": " + name + "(): " + why_foreign(name) + ": when it has been called no line is taken");
  }
  for (const auto& [name, place] : of.uses_variables) {
    if (variables_.contains(name) || is_known_variable(name) || is_stateless(name) || !told->insert(name).second) continue;
    foreign_.insert(name);
    warnings_.push_back(place + ": the variable '" + name + "': " + why_foreign(name) + ": when it has been used no line is taken");
  }
}

void Program::find_unseen_unions() {
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [a, b] : alike_unions_) {
      if (tells_numbers_of(a) == tells_numbers_of(b)) continue;
      unseen_unions_.insert(tells_numbers_of(a) ? std::pair(a, where_unseen(b)) : std::pair(b, where_unseen(a)));
      grows = true;
    }
  }
}

void Program::find_mixed_handles() {
  const auto is_used = [&](const ParameterKey& to) {
    return functions_.contains(to.first) ? !only_frees(to.first, to.second) : !only_frees_argument(to.first, to.second);
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [place, to] : handles_.given)
      if (std::any_of(to.begin(), to.end(), is_used)) grows |= handles_.used.insert(place).second;
  }
  for (const auto& [name, all] : declared_)
    if (all.size() > 1 && std::any_of(all.begin(), all.end(), [&](const std::string& parts) { return speaks_of_handles(parts, handles_.structs); })) mixed_up_ = name;
}

std::string Program::where_unseen(const std::string& union_key) const {
  const auto found = unseen_unions_.find(union_key);
  return found == unseen_unions_.end() ? "" : found->second;
}

Known Program::known(const std::string& name) const {
  Known k = options_.stateless.contains(name) ? Known() : known_function(name);
  if ((k.kind == Known::Kind::kUnknown && is_stateless(name)) || plain_as_declared_.contains(name)) k.kind = Known::Kind::kPlain;
  return k;
}

bool Program::is_stateless(const std::string& name) const {
  return std::any_of(options_.stateless.begin(), options_.stateless.end(), [&](const std::string& said) {
    return said.ends_with("*") ? name.starts_with(said.substr(0, said.size() - 1)) : name == said;
  });
}

std::string Program::why_foreign(const std::string& name) const {
  if (!foreign_.contains(name)) return "";
  return "it is in none of the files that elc-cc has compiled; compile these with elc-cc, too, or say -felc-stateless=" + name +
         " if it keeps nothing from call to call, keeps no pointer that it is given, and calls no function of the program";
}

std::vector<std::string> Program::names_of_instrumented() const {
  std::vector<std::string> names;
  for (const std::string& key : instrumented_) names.push_back(functions_.at(key).place + ": " + functions_.at(key).name + "()");
  return names;
}

bool Program::reaches_site(const Unit& unit, const FunctionDecl* function) const {
  return instrumented_.contains(key_of(unit, function));
}

bool Program::may_reach_site(const CallExpr* by_pointer) const {
  const QualType type = by_pointer->getCallee()->getType();
  return targets_.contains(signature_of(type->isPointerType() ? type->getPointeeType() : type));
}

bool Program::reaches_mpi(const Unit& unit, const Stmt* s) const {
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = callee_of(call);
    if (callee == nullptr ? may_reach_site(call) : is_site(callee->getName().str()) || reaches_site(unit, callee)) return true;
  }
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return child != nullptr && reaches_mpi(unit, child); });
}

std::string Program::name_of(const Unit& unit, const FunctionDecl* function) const {
  const std::string name = function->getName().str();
  const auto count = names_.find(name);
  return count == names_.end() || count->second < 2 ? name : file_name(unit) + ":" + name;
}

// As much of its path as no other has. Of one that was compiled several times it is what these define that tells them apart: they may be linked
// in another order elsewhere.
std::string Program::file_name(const Unit& unit) const {
  const File& own = files_.at(unit.number());
  const auto count = [this](auto is_one) { return std::count_if(files_.begin(), files_.end(), [&](const auto& file) { return is_one(file.second); }); };
  for (size_t at = own.path.rfind('/');; at = own.path.rfind('/', at - 1)) {
    const std::string end = own.path.substr(at);
    if (count([&](const File& other) { return other.path.ends_with(end); }) == 1) return end.substr(1);
    if (at != 0) continue;
    return own.path.substr(own.path.rfind('/') + 1) + "#" + std::to_string(1 + count([&](const File& other) { return other.path == own.path && other < own; }));
  }
}

bool Program::begins_mpi() const {
  return std::any_of(functions_.begin(), functions_.end(), [](const auto& one) { return one.second.uses.contains("MPI_Init") || one.second.uses.contains("MPI_Init_thread"); });
}

bool Program::defines(const Unit& unit, const FunctionDecl* function) const {
  const auto f = functions_.find(key_of(unit, function));
  return f != functions_.end() && !f->second.name.empty();
}

bool Program::is_other_name(const Unit& unit, const FunctionDecl* function) const {
  const auto f = functions_.find(key_of(unit, function));
  return f != functions_.end() && f->second.is_other_name;
}

bool Program::is_address_taken(const Unit& unit, const FunctionDecl* function) const {
  const auto f = functions_.find(key_of(unit, function));
  return f != functions_.end() && f->second.is_address_taken;
}

}  // namespace elc::cc
