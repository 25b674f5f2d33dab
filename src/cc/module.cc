#include "cc/module.h"

#include <bit>

#include "cc/addresses.h"
#include "cc/file_visitor.h"
#include "cc/function.h"
#include "cc/moves.h"
#include "cc/orders.h"
#include "cc/ranks.h"
#include "cc/visitor.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/TargetInfo.h"
#include "elc_program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace elc::cc {

using namespace clang;

namespace {

const VarDecl* definition_of(const VarDecl* variable) {
  if (const VarDecl* definition = variable->getDefinition()) return definition;
  const VarDecl* acting = variable->getActingDefinition();
  return acting != nullptr ? acting : variable;
}

}  // namespace

// The type without names of typedefs, but for those that have attributes which it has not without.
static QualType with_attributes(ASTContext& context, QualType type) {
  const Qualifiers qualifiers = type.getCanonicalType().getLocalQualifiers();
  for (QualType sugar = type; sugar.getTypePtr() != sugar.getSingleStepDesugaredType(context).getTypePtr(); sugar = sugar.getSingleStepDesugaredType(context)) {
    const auto* const named = dyn_cast<TypedefType>(sugar.getTypePtr());
    const bool matters = named != nullptr && (named->getDecl()->hasAttr<AlignedAttr>() || named->getDecl()->hasAttr<MayAliasAttr>());
    if (matters && named->getDecl()->getDeclContext()->isTranslationUnit()) return context.getQualifiedType(context.getTypedefType(named->getDecl()), qualifiers);
  }
  const QualType canonical = type.getCanonicalType();
  if (const auto* pointer = type->getAs<PointerType>(); pointer != nullptr && !pointer->getPointeeType()->isFunctionType()) {
    const QualType pointee = with_attributes(context, pointer->getPointeeType());
    return pointee.isCanonical() ? canonical : context.getQualifiedType(context.getPointerType(pointee), qualifiers);
  }
  if (const auto* array = context.getAsConstantArrayType(type)) {
    const QualType element = with_attributes(context, array->getElementType());
    return element.isCanonical() ? canonical : context.getConstantArrayType(element, array->getSize(), nullptr, ArrayType::Normal, 0);
  }
  return canonical;
}

std::string Module::declaration(QualType type, const std::string& name, SourceLocation at) {
  PrintingPolicy policy(unit_.context().getLangOpts());
  policy.SuppressTagKeyword = false;
  policy.Bool = false;
  std::string out;
  llvm::raw_string_ostream stream(out);
  // Without the names that typedefs have: a variable of the function may hide one.
  with_attributes(unit_.context(), type).print(stream, policy, name);
  stream.flush();
  if (out.find("(unnamed") == std::string::npos && out.find("(anonymous") == std::string::npos) return out;
  if (const auto* numbers = type.getCanonicalType()->getAs<EnumType>(); numbers != nullptr && !numbers->getDecl()->getIntegerType().isNull())
    return declaration(unit_.context().getQualifiedType(numbers->getDecl()->getIntegerType(), type.getCanonicalType().getLocalQualifiers()), name, at);
  error(at, "the type of '" + name + "' has no name: give the struct, union or enum one");
  return "int " + name;
}

std::string Module::alignment(const VarDecl* variable) const {
  const ASTContext& context = unit_.context();
  const QualType type = variable->getType().getCanonicalType();
  int64_t by = context.getDeclAlign(variable, true).getQuantity();
  const int64_t natural = context.getTypeAlignInChars(type).getQuantity();
  // Where the program finds places by rounding addresses, a restart has the same in what may hold one, be it of another executable.
  if (const int most = std::max(program_.aligns(), program_.aligns_large()); most > 1 && (type->isConstantArrayType() || type->isRecordType())) {
    const auto size = static_cast<uint64_t>(context.getTypeSizeInChars(type).getQuantity());
    by = std::max(by, std::min(int64_t{most}, static_cast<int64_t>(std::bit_floor(size))));
  }
  if (!variable->hasAttr<AlignedAttr>() && by <= natural) return "";
  return " __attribute__((aligned(" + std::to_string(by) + ")))";
}

void Module::align_in_place(const VarDecl* variable) {
  if (std::max(program_.aligns(), program_.aligns_large()) <= 1 || variable->getTLSKind() != VarDecl::TLS_None || variable->hasAttr<AsmLabelAttr>()) return;
  if (variable->getTypeSourceInfo() == nullptr || !aligned_.insert(variable).second) return;
  const size_t behind = std::max(unit_.end_of(variable->getLocation()), unit_.end_of(variable->getTypeSourceInfo()->getTypeLoc().getEndLoc()));
  if (const std::string text = alignment(variable); !text.empty()) edits_.replace(behind, behind, text);
}

void Module::add_function(const std::string& symbol, const std::string& name, int given_to) {
  if (!function_names_.insert(name).second) return;
  functions_ += "{\"" + name + "\", (void (*)(void))" + symbol + ", " + std::to_string(given_to) + "}, ";
  ++function_count_;
}

void Module::add_variable(const VarDecl* variable, const std::string& symbol, const std::string& name) {
  if (variable->hasAttr<AliasAttr>() || variable->hasAttr<WeakRefAttr>()) return;  // another name of one that lines have
  if (!registered_.insert(variable->getCanonicalDecl()).second) return;
  const std::string shown = variable->getName().str();
  bool is_transient = false;
  for (const VarDecl* declared : variable->redecls()) is_transient |= unit_.pragma_of(declared, Pragma::Kind::kTransient) != nullptr;
  if ((variable->getTLSKind() != VarDecl::TLS_None && (program_.has_threads() || program_.makes_threads())) || variable->hasAttr<OMPThreadPrivateDeclAttr>()) return error(variable->getLocation(), "'" + shown + "' is of each thread, which lines cannot have");
  Described described;
  std::string why;
  const QualType element = unit_.context().getBaseElementType(variable->getType());
  // What is in a buffer for jumps goes with the function that has set it; nobody waits for a lock where there is one thread.
  if (is_transient || Types::is_jump_buffer(element) || (Types::is_lock(element) && !Types::is_attribute(element))) {
    described = this->described(unit_.context().UnsignedCharTy);
    described.count = static_cast<uint64_t>(unit_.context().getTypeSizeInChars(variable->getType()).getQuantity());
    return add_entry(unique_name(name), symbol, described, true);
  }
  Types::More more;
  if (!types_.describe_variable(variable, variable->getType(), &described, &more, &why)) return error(variable->getLocation(), "'" + shown + "' cannot be part of lines: " + why);
  const bool is_constant = variable->getType().isConstant(unit_.context());
  if (described.count > 0) add_entry(unique_name(name), symbol, described, is_constant);
  if (const auto* section = variable->getAttr<SectionAttr>(); section != nullptr && program_.uses_variable("__start_" + section->getName().str()))
    in_sections_ += "ELC_Program_in_section(" + in_quotes(section->getName().str()) + ", " + in_quotes(name) + ", (const void *)&" + symbol + "); ";
  if (!more.member.empty()) add_entry(unique_name(name + "." + more.member), symbol + "." + more.member, more.described, is_constant);
}

std::string Module::unique_name(const std::string& name) {
  std::string unique = name;
  for (int n = 2; !names_.insert(unique).second; ++n) unique = name + " " + std::to_string(n);
  return unique;
}

Described Module::described(QualType scalar) {
  Described one;
  std::string why;
  types_.describe(scalar, &one, &why);  // lines have all scalars
  return one;
}

void Module::add_entry(const std::string& name, const std::string& symbol, const Described& described, bool is_constant) {
  variables_ += "{\"" + name + "\", (void *)&" + symbol + ", &" + described.type + ", " +
                (described.target.empty() ? "0" : "&" + described.target) + ", " + std::to_string(described.count) + ", " +
                (is_constant ? "1" : "0") + "}, ";
  ++variable_count_;
}

namespace {

// The functions that are defined here, and where text of the file's scope can be put before each.
std::vector<Definition> definitions(const Unit& unit) {
  std::vector<Definition> all;
  size_t last = 0;
  for (const Decl* d : unit.context().getTranslationUnitDecl()->decls()) {
    if (d->isImplicit() || d->getEndLoc().isInvalid()) continue;
    const auto* function = dyn_cast<FunctionDecl>(d);
    const bool body = function != nullptr && function->doesThisDeclarationHaveABody();
    if (body && !unit.in_system_header(d->getLocation())) all.push_back({function, last});
    size_t end = unit.end_of(d->getEndLoc());
    if (isa<TagDecl>(d)) {
      end = unit.text().find_first_not_of(" \t\n", end_of_type(unit, d));
      if (end == std::string::npos || unit.text()[end] != ';') continue;  // the type of what comes next
    } else if (!body) {
      end = unit.text().find(';', end - 1);
    }
    if (end != std::string::npos) last = std::max(last, body ? end : end + 1);
  }
  return all;
}

}  // namespace

// An attribute or a pragma, which clang does not know.
void Module::refuse_orders() {
  const size_t at = unit_.text().find("scalar_storage_order");
  if (at == std::string::npos) return;
  const SourceManager& sources = unit_.sources();
  error(sources.getLocForStartOfFile(sources.getMainFileID()).getLocWithOffset(static_cast<int>(at)),
        "scalar_storage_order: elc-cc does not know how numbers lie in memory then");
}

// Lines have that for each place, whose number is the same wherever the program is compiled; some places may share one.
std::string Module::source_of_numbers(const Expr* source) const {
  const std::string place = unit_.place(source->getBeginLoc());
  return "ELC_Program_sources[" + std::to_string(llvm::xxHash64(place.substr(place.rfind('/') + 1)) % ELC_PROGRAM_SOURCES) + "]";
}

// No line is taken when a function has made a number of an address.
void Module::watch_addresses() {
  const auto is_given = [this](const Parameter& p) { return program_.is_given_address(unit_, p.first, p.second); };
  std::set<const Expr*> watched;
  std::set<const Expr*> sources;
  const auto told = [this](const FunctionDecl* function, const Expr* where, const std::string& why) {
    return in_quotes(function->getName().str() + "() (" + unit_.place(where->getBeginLoc()) + "): " + why);
  };
  const std::string computes = std::string(kComputesWithAddress) + " (-felc-address-numbers, if it has not)";
  for (const auto& [function, numbers] : numbers_of_addresses(unit_, is_given).functions) {
    for (const Expr* half : numbers.looked_at)
      edits_.wrap(unit_.begin_of(half->getBeginLoc()), unit_.end_of(half->getEndLoc()), "(*({ __auto_type elc_h = &(", "); elc_half_at(elc_h, " + told(function, half, computes) + "); elc_h; }))");
    for (const Expr* made : numbers.made) {
      const std::string why = told(function, made, computes);
      const auto wholes = numbers.wholes.find(made);
      if (wholes == numbers.wholes.end()) {
        std::string are_addresses;
        if (const auto from = numbers.sources.find(made); from != numbers.sources.end())
          for (const Expr* source : from->second) sources.insert(source), are_addresses += (are_addresses.empty() ? "" : " | ") + source_of_numbers(source);
        const std::string tell = "ELC_Program_unfit(" + why + ")", promoted = made->getType()->isIntegerType() ? "+" : "";  // a bit-field has no type to name
        if (are_addresses.empty()) edits_.wrap(unit_.begin_of(made->getBeginLoc()), unit_.end_of(made->getEndLoc()), "(" + tell + ", ", ")");
        else edits_.wrap(unit_.begin_of(made->getBeginLoc()), unit_.end_of(made->getEndLoc()), "({ __auto_type elc_n = " + promoted + "(", "); if (__builtin_expect(" + are_addresses + ", 0)) " + tell + "; elc_n; })");
        continue;
      }
      for (const Expr* whole : wholes->second) {
        if (!watched.insert(whole).second) continue;
        std::string before = "ELC_Program_number_of((const volatile void *)(", behind = "), " + why + ")";
        if (whole->getType()->isIntegerType()) {
          before = "((" + whole->getType().getCanonicalType().getUnqualifiedType().getAsString() + ")(unsigned long)ELC_Program_number_of((const volatile void *)(unsigned long)(";
          behind += ")";
        }
        edits_.wrap(unit_.begin_of(whole->getBeginLoc()), unit_.end_of(whole->getEndLoc()), before, behind);
      }
    }
  }
  for (const Expr* source : sources) {
    const Expr* const pointer = cast<CastExpr>(source)->getSubExpr();
    edits_.wrap(unit_.begin_of(pointer->getBeginLoc()), unit_.end_of(pointer->getEndLoc()), "elc_source((const volatile void *)(", "), &" + source_of_numbers(source) + ")");
    notes_sources_ = true;
  }
  for (const auto& [function, both] : orders_of_addresses(unit_)) {
    const std::string why = told(function, both, "it asks which of two addresses comes first, and a restart has others (-felc-address-numbers, if that is of no account)");
    const size_t begin = unit_.begin_of(both->getBeginLoc()), end = unit_.end_of(both->getEndLoc()), at = unit_.begin_of(both->getOperatorLoc());
    const std::string how = both->getOpcodeStr().str();
    const std::string given = "(const volatile void *)(";
    std::string before = "(", then = how + " 0";
    if (both->getOpcode() == BO_Sub) {
      const QualType to = both->getLHS()->getType()->getPointeeType();
      before += "(" + both->getType().getCanonicalType().getAsString() + ")";
      then = "/ " + std::to_string(to.isNull() ? 1 : std::max<int64_t>(1, unit_.context().getTypeSizeInChars(to).getQuantity()));
    }
    edits_.wrap(begin, end, before + "(ELC_Program_order(", ", " + why + ") " + then + "))");
    edits_.wrap(begin, unit_.end_of(both->getLHS()->getEndLoc()), given, ")");
    edits_.replace(at, at + how.size(), ",");
    edits_.wrap(unit_.begin_of(both->getRHS()->getBeginLoc()), end, given, ")");
  }
}

// Numbers where a union may have a pointer are noted if they look like one.
void Module::watch_unions() {
  const UnionUses uses = uses_of_unions(unit_);
  const auto is_told = [this](const std::string& of) { return program_.tells_numbers_of(of); };
  size_t number = 0;
  for (const UnionUses::Store& store : uses.stores) {
    if (std::none_of(store.unions.begin(), store.unions.end(), is_told)) continue;
    const std::string place = "elc_u" + std::to_string(++number), result = "elc_n" + std::to_string(number);
    const int64_t size = unit_.context().getTypeSizeInChars(store.to->getType()).getQuantity();
    notes_numbers_ = true;
    if (store.is_word) {
      edits_.wrap(unit_.begin_of(store.whole->getBeginLoc()), unit_.end_of(store.whole->getEndLoc()), "({ __auto_type " + result + " = ", "; elc_note_word(&" + result + "); " + result + "; })");
      continue;
    }
    edits_.wrap(unit_.begin_of(store.whole->getBeginLoc()), unit_.end_of(store.whole->getEndLoc()), "({ void *" + place + "; __auto_type " + result + " = ",
                "; elc_note_number(" + place + ", " + std::to_string(size) + "); " + result + "; })");
    edits_.wrap(unit_.begin_of(store.to->getBeginLoc()), unit_.end_of(store.to->getEndLoc()), "(*({ __auto_type elc_p = &(", "); " + place + " = (void *)elc_p; elc_p; }))");
  }
  for (const UnionUses::Initial& initial : uses.initials) {
    if (!is_told(initial.of)) continue;
    const std::string result = "elc_n" + std::to_string(++number);
    edits_.wrap(unit_.begin_of(initial.value->getBeginLoc()), unit_.end_of(initial.value->getEndLoc()),
                "({ " + initial.type.getCanonicalType().getUnqualifiedType().getAsString() + " " + result + " = ", "; elc_note_word(&" + result + "); " + result + "; })");
    notes_numbers_ = true;
  }
}

std::string Module::transform(size_t units) {
  TranslationUnitDecl* const file = unit_.context().getTranslationUnitDecl();
  name_tags();
  const std::vector<Definition> all = definitions(unit_);
  for (const Definition& d : all) find_types(d.function);
  for (const Definition& d : all) add_statics(d.function);
  std::vector<std::unique_ptr<Function>> functions;
  for (const Definition& d : all)
    if (program_.reaches_site(unit_, d.function)) functions.push_back(std::make_unique<Function>(*this, d.function));
  for (const auto& function : functions)
    if (!function->enters_late()) early_.insert(function->function()->getCanonicalDecl());

  const std::unique_ptr<Visitor> visitor = visitor_of_file(*this);
  for (Decl* d : file->decls()) {
    const bool is_of_system = unit_.in_system_header(d->getLocation());
    if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && (!is_of_system || variable->isReferenced())) {
      const bool external = variable->isExternallyVisible();
      const std::string name = variable->getName().str();
      if (variable->isThisDeclarationADefinition() != VarDecl::DeclarationOnly) {
        add_variable(definition_of(variable), name,
                     external ? name : program_.file_name(unit_) + ":" + name);
        if (!is_of_system) align_in_place(definition_of(variable));
      }
    }
    if (!is_of_system || (isa<VarDecl>(d) && cast<VarDecl>(d)->isReferenced())) visitor->TraverseDecl(d);
  }
  const bool has_main = std::any_of(all.begin(), all.end(), [](const Definition& d) { return d.function->isMain(); });
  if (has_main) add_process();
  for (const Definition& d : all)
    if (program_.is_address_taken(unit_, d.function)) add_function(d.function->getName().str(), program_.name_of(unit_, d.function), program_.given_to(unit_, d.function));

  follow_moves(unit_, program_, &edits_);
  if (!program_.may_compute_with_addresses()) watch_addresses();
  watch_unions();
  if (program_.translates_ranks()) translate_ranks(unit_, &edits_);
  rename_uses();
  refuse_orders();

  // From here on the changes are complete, and texts can be taken.
  std::vector<std::pair<size_t, std::string>> statics;
  for (const Definition& d : all) {
    std::string out;
    std::map<size_t, std::string> moved;  // in the order of the source: the one may need the other
    for (const DeclStmt* statement : lifted_)
      if (owners_.at(statement) == d.function) moved[unit_.begin_of(statement->getBeginLoc())] = lifted_text(statement);
    for (const auto& [name, inside] : inside_[d.function])
      out += (inside->isExternallyVisible() ? "extern " : "static ") + declaration(inside->getType(), name, inside->getLocation()) + "; ";
    for (const VarDecl* variable : static_order_) {
      if (variable->getDeclContext() != d.function) continue;
      const std::string& symbol = statics_.at(variable);
      std::string text = "static " + declaration(variable->getType(), symbol, variable->getLocation()) + alignment(variable);
      if (const auto* section = variable->getAttr<SectionAttr>()) text += " __attribute__((section(" + in_quotes(section->getName().str()) + ")))";
      if (variable->hasAttr<UsedAttr>()) text += " __attribute__((used))";
      if (const Expr* init = variable->getInit())
        text += " = " + edits_.text(unit_.begin_of(init->getBeginLoc()), unit_.end_of(init->getEndLoc()));
      moved[unit_.begin_of(variable->getLocation())] = text + "; ";
    }
    for (const auto& [place, text] : moved) out += text;
    if (!out.empty()) statics.emplace_back(d.place, d.place == 0 ? out + "\n" : out);  // where the first line mark is
  }
  for (const DeclStmt* statement : lifted_) leave_lifted(statement);
  std::vector<Edits::Edit> bodies;
  for (const auto& function : functions) bodies.push_back(function->transform());
  for (const auto& [place, text] : statics) edits_.replace(place, place, " " + text);
  for (const auto& function : functions) {
    if (function->behind().empty()) continue;
    const auto of = std::find_if(all.begin(), all.end(), [&](const Definition& d) { return d.function == function->function(); });
    const size_t behind = unit_.end_of(of->function->getEndLoc());
    edits_.replace(of->place, of->place, " " + function->before() + (of->place == 0 ? "\n" : ""));
    edits_.replace(behind, behind, function->behind());
  }
  for (size_t i = literals_.size(); i-- > 0;) {  // those that are in others come behind them
    const auto& [literal, name, place] = literals_[i];
    const Expr* const values = literal->getInitializer();
    edits_.replace(place, place, "static " + declaration(literal->getType(), name, literal->getBeginLoc()) + " = " +
                                     edits_.text(unit_.begin_of(values->getBeginLoc()), unit_.end_of(values->getEndLoc())) + "; ");
  }
  for (const Edits::Edit& body : bodies) edits_.replace_all(body.begin, body.end, body.before);
  handles_leave_.join(where_handles_leave(unit_, program_, told_));
  if (has_main && !program_.mixed_up().empty()) handles_leave_.join({"declarations of " + program_.mixed_up(), true});
  const std::string text = edits_.text(0, unit_.text().size());
  const std::string calls = inlines(all);
  changes_ = text != unit_.text() || program_.everywhere() || variable_count_ > 0 || function_count_ > 0 || !handles_leave_.place.empty() ||
             !(replaced_.empty() && strings_.empty() && types_.variables().empty() && types_.makers().empty() && calls.empty());
  std::string out = prelude() + "\n" + text + "\n" + calls + module_text();
  return has_main ? out.insert(prelude().size(), program_text(units)) : out;
}

// Functions that are inline, and that no file defines otherwise: the compiler has put them where they are called, all of them, and may
// not do so now in functions that are changed, nor where these are called. What is declared once without `inline` can be called; several
// files have it.
std::string Module::inlines(const std::vector<Definition>& all) const {
  struct Named : Visitor {
    std::set<const FunctionDecl*> functions;
    bool VisitDeclRefExpr(DeclRefExpr* e) override {
      if (const auto* function = dyn_cast<FunctionDecl>(e->getDecl())) functions.insert(function->getCanonicalDecl());
      return true;
    }
  } named;
  const auto is_inline = [](const FunctionDecl* f) {
    return f->isInlineSpecified() && f->isExternallyVisible() && !f->isInlineDefinitionExternallyVisible() && f->getStorageClass() != SC_Extern;
  };
  std::set<const FunctionDecl*> seen;
  for (size_t before = ~size_t{0}; before != seen.size();) {
    before = seen.size();
    for (const Definition& d : all) {
      const bool is_changed = program_.reaches_site(unit_, d.function);
      if ((is_changed || (is_inline(d.function) && named.functions.contains(d.function->getCanonicalDecl()))) && seen.insert(d.function).second)
        named.TraverseStmt(d.function->getBody());
    }
  }
  std::string out;
  for (const Definition& d : all) {
    if (!seen.contains(d.function) || !is_inline(d.function)) continue;
    const std::string name = d.function->getName().str();
    out += "extern __typeof__(" + name + ") " + name + " __attribute__((__weak__)); ";
  }
  return out;
}

// What the process has beside the program's variables: the state of getopt() and the like, as far as the C library shows it, and settings.
void Module::add_process() {
  const ASTContext& context = unit_.context();
  for (const std::string name : {"optind", "opterr", "optopt", "optarg", "signgam", "timezone", "daylight"}) {
    if (!program_.uses_variable(name)) continue;
    const QualType type = name == "optarg" ? context.getPointerType(context.CharTy) : name == "timezone" ? QualType(context.LongTy) : QualType(context.IntTy);
    strings_ += "extern " + type.getAsString() + " " + name + "; ";
    add_entry(name, name, described(type), false);
  }
  for (const auto& [name, setting] : program_.settings()) {
    Described numbers = described(context.IntTy);
    numbers.count = 2;
    const std::string last = "elc_last_" + name;
    // By names of their own: the program's may be declared in another way here, or not at all.
    const std::string of = "elc_real_" + name, own = "elc_own_" + name, takes = "(" + setting.takes + ") __asm__(\"";
    strings_ += "extern " + setting.returns + " " + of + takes + name + "\"), " + own + takes + "elc_set_" + name + "\"); static int " + last + "[2]; " + setting.returns +
                " " + own + "(" + setting.takes + " to) { " + last + "[0] = 1; " + last + "[1] = (int)to; return " + of + "(to); } ";
    add_entry(name + "() was called with", last, numbers, false);
  }
  if (program_.gets_attributes()) {
    Described numbers = described(context.IntTy);
    numbers.count = ELC_PROGRAM_ATTRIBUTES;
    strings_ += "extern int ELC_Program_attributes[" + std::to_string(ELC_PROGRAM_ATTRIBUTES) + "]; ";
    add_entry("attributes of MPI", "ELC_Program_attributes", numbers, true);
  }
  if (program_.makes_keyvals()) {
    const std::string most = std::to_string(ELC_PROGRAM_KEYVALS);
    strings_ += "extern void *ELC_Program_keyval_pointers[" + most + "][3]; extern int ELC_Program_keyval_numbers[" + most + "][3]; ";
    Described pointers = described(context.VoidPtrTy), numbers = described(context.IntTy);
    pointers.count = numbers.count = 3 * ELC_PROGRAM_KEYVALS;
    add_entry("functions of keys of attributes", "ELC_Program_keyval_pointers", pointers, false);
    add_entry("keys of attributes", "ELC_Program_keyval_numbers", numbers, false);
  }
  strings_ += "extern int ELC_Program_mixed_handles; ";
  add_entry("handles of MPI may be among other data", "ELC_Program_mixed_handles", described(context.IntTy), false);
  if (program_.allocates_windows()) {
    strings_ += "extern void *ELC_Program_windows; ";
    add_entry("memory of windows", "ELC_Program_windows", described(context.VoidPtrTy), false);
  }
  if (program_.attaches()) {
    strings_ += "extern void *ELC_Program_buffer; extern int ELC_Program_buffer_size; ";
    add_entry("the buffer for sends", "ELC_Program_buffer", described(context.VoidPtrTy), false);
    add_entry("the size of the buffer for sends", "ELC_Program_buffer_size", described(context.IntTy), false);
  }
  if (!program_.has_threads()) return;
  // Programs have memory for as many threads as they have begun with.
  strings_ += "extern int omp_get_max_threads(void); extern void omp_set_num_threads(int); static int elc_threads; ";
  add_entry("omp_get_max_threads() at the beginning", "elc_threads", described(context.IntTy), false);
}

// Called at the beginning of a run, and when a restart has the data of the line.
std::string Module::settings_text() const {
  std::string out = "static void elc_settings(int is_restart) { ";
  if (program_.has_threads()) out += "if (is_restart) omp_set_num_threads(elc_threads); else elc_threads = omp_get_max_threads(); ";
  for (const auto& [name, setting] : program_.settings())
    out += "if (is_restart && elc_last_" + name + "[0]) elc_real_" + name + "((" + setting.takes + ")elc_last_" + name + "[1]); ";
  return out + "} ";
}

std::string Module::prelude() const {
  std::string out =
      "struct ELC_Frame_variable { const char *name; const int *type, *target; unsigned long count, place; int is_elsewhere; }; "
      "struct ELC_Frame_function { const char *name; const struct ELC_Frame_variable *variables; const unsigned short *const *live; "
      "int labels; const char *const *callees; const int *numbers; }; "
      "struct ELC_Frame { struct ELC_Frame *caller; const struct ELC_Frame_function *function; int label, is_site; }; "
      "extern struct ELC_Frame *ELC_Innermost; extern int ELC_Reentering; extern int ELC_Reenter(struct ELC_Frame *); "
      "struct ELC_Field { const char *name; unsigned long offset; int type; unsigned long count; }; "
      "extern int ELC_Struct(const char *, unsigned long, int, const struct ELC_Field *); "
      "extern int ELC_Union(const char *, unsigned long, int, const struct ELC_Field *, int (*)(const void *, const void *)); "
      "extern int ELC_Accessor(int, long long (*)(const void *), void (*)(void *, long long)); "
      "extern void *ELC_Program_as(void *, int), *ELC_Program_as_rows(void *, int, int); extern void ELC_Program_tail(int, int); extern int ELC_Program_word(void); extern void *ELC_Program_array(void *, int, const unsigned long *, unsigned long, int); extern void (*ELC_Program_target(void))(void); "
      "extern void *ELC_Program_moved(void *, void *), *ELC_Program_moved_here(void *, void *, const struct ELC_Frame_function *), *ELC_Program_moved_on(void *, void *, const struct ELC_Frame_function *); extern int ELC_Program_moves; "
      "static __inline__ __attribute__((always_inline, unused)) void *elc_moved_up(void *from, void *to) { "
      "return __builtin_expect((char *)to < (char *)from || ELC_Program_moves, 0) ? ELC_Program_moved_on(from, to, 0) : to; } "
      "static __inline__ __attribute__((always_inline, unused)) void *elc_moved_up_here(void *from, void *to, const struct ELC_Frame_function *function) { "
      "return __builtin_expect((char *)to < (char *)from || ELC_Program_moves, 0) ? ELC_Program_moved_on(from, to, function) : to; } "
      "extern void *(*ELC_Program_alloca(void **))(unsigned long); extern void ELC_Program_leave(void **); "
      "struct ELC_Program_variable { const char *name; void *address; const int *type, *target; unsigned long count; int is_constant; }; "
      "struct ELC_Program_function { const char *name; void (*function)(void); int given_to; }; "
      "struct ELC_Program_module { void (*make_types)(void); const struct ELC_Program_variable *variables; unsigned long variable_count; "
      "const struct ELC_Program_function *functions; unsigned long function_count; }; "
      "struct ELC_Program_rounding { int (*get)(void), (*set)(int), (*test)(int), (*clear)(int), (*raise)(int), (*enabled)(void), (*enable)(int), "
      "(*disable)(int); unsigned (*control)(void); void (*set_control)(unsigned); }; "
      "struct ELC_Program_number { const char *name, *place; int value, is_kept; const char *functions; }; "
      "struct ELC_Program { const struct ELC_Program_module *const *modules; unsigned long module_count; int thread_level, draws_numbers, reads_input, reads_clocks, makes_keyvals, "
      "uses_library, aligns, aligns_large, apart; const struct ELC_Program_rounding *rounding; int (*in_parallel)(void); void (*settings)(int); const struct ELC_Program_number *numbers; unsigned long number_count; "
      "const char *executable, *executable_end; int has_foreign_addresses, has_long_doubles, makes_pointers, probes; }; "
      "extern void ELC_Program_unfit(const char *), ELC_Program_mixes_handles(const char *, int), ELC_Program_in_section(const char *, const char *, const void *); extern void *ELC_Program_number_of(const volatile void *, const char *); extern void ELC_Program_half_at(const volatile void *, const char *); extern unsigned long ELC_Program_lowest; "
      "static __inline__ __attribute__((always_inline, unused)) void elc_half_at(const volatile void *at, const char *what) { unsigned long w; "
      "__builtin_memcpy(&w, (const void *)((unsigned long)at & ~(sizeof w - 1)), sizeof w); if (__builtin_expect(w >= ELC_Program_lowest, 0)) ELC_Program_half_at(at, what); } "
      "extern long long ELC_Program_order(const volatile void *, const volatile void *, const char *); extern int ELC_Program_outside(int, void *, unsigned long); extern const char *ELC_Program_asks_of(const char *), *ELC_Program_opens(const char *); extern int ELC_Program_opened(int, const char *), ELC_Program_used(int, const char *), ELC_Program_made(int); extern void *ELC_Program_makes(void *, const char *), *ELC_Program_frees(void *); "
      "extern int ELC_Program_process(int), ELC_Program_keeps_number(int, void *, const char *); extern void *ELC_Program_opened_stream(void *, const char *), *ELC_Program_opened_directory(void *, const char *); "
      "extern char **ELC_Program_environment(void), *ELC_Program_text(const char *); extern char **ELC_Program_begin(const struct ELC_Program *, int, char **); ";
  if (program_.everywhere())
    out += "extern int ELC_Checkpoint(void); extern int MPI_Finalize(void); extern int atexit(void (*)(void)); "
           "static void elc_end(void) { MPI_Finalize(); } ";
  // size_t of a machine of 32 bits.
  const std::string size = QualType(unit_.context().getSizeType()).getAsString();
  for (size_t at = 0; (at = out.find("unsigned long", at)) != std::string::npos; at += size.size()) out.replace(at, 13, size);
  for (const auto& [symbol, text] : replaced_) out += text;
  if (notes_sources_)
    out += "extern unsigned char ELC_Program_sources[" + std::to_string(ELC_PROGRAM_SOURCES) + "]; "
           "static __inline__ __attribute__((always_inline, unused)) const volatile void *elc_source(const volatile void *p, unsigned char *is_address) { "
           "if (__builtin_expect((" + size + ")p >= ELC_Program_lowest && (" + size + ")p < -(" + size + ")4096, 0)) *is_address = 1; return p; } ";
  if (notes_numbers_)
    // Of what was stored as less than a word the half that is not, as a rule, is read first: the processor has it sooner.
    out += "extern void ELC_Program_number_in_union(const void *, unsigned long); extern unsigned long ELC_Program_noted[" + std::to_string(ELC_PROGRAM_NOTED) + "]; "
           "static __inline__ __attribute__((always_inline, unused)) void elc_note_word(const void *at) { unsigned long w; __builtin_memcpy(&w, at, 8); "
           "if (__builtin_expect(w >> 32 != 0 && w >> 48 == 0, 0) && ELC_Program_noted[w * 0x9e3779b97f4a7c15ul >> 54] != w) ELC_Program_number_in_union(at, 8); } "
           "static __inline__ __attribute__((always_inline, unused)) void elc_note_number(const void *at, unsigned long n) { "
           "const char *const b = (const char *)((unsigned long)at & ~7ul); unsigned high; if (((unsigned long)at & 7) + n > 8) { ELC_Program_number_in_union(at, n); return; } "
           "__builtin_memcpy(&high, b + " + std::string(unit_.context().getTargetInfo().isBigEndian() ? "0" : "4") + ", 4); if (__builtin_expect(high != 0 && high >> 16 == 0, 0)) elc_note_word(b); } ";
  if (program_.translates_ranks()) out += rank_functions(program_.own_ranks());
  return out + types_.variables() + strings_;
}

std::string Module::module_text() const {
  const std::string number = std::to_string(unit_.number());
  std::string out = "\n" + types_.functions() + "static void elc_make_types(void) { " + types_.makers() + in_sections_ + (handles_leave_.place.empty() ? "" : "ELC_Program_mixes_handles(" + in_quotes(handles_leave_.place) + (handles_leave_.anywhere ? ", 1); " : ", 0); ")) + "}\n";
  out += "static const struct ELC_Program_variable elc_variables[] = {" + variables_ + "{0, 0, 0, 0, 0, 0}};\n";
  out += "static const struct ELC_Program_function elc_functions[] = {" + functions_ + "{0, 0, 0}};\n";
  // Before constructors of the program give types to memory: earlier ones are the compiler's own.
  if (program_.has_constructors()) out += "extern void ELC_Program_types(void); __attribute__((constructor(101))) static void elc_make_early(void) { ELC_Program_types(); elc_make_types(); }\n";
  out += "extern const struct ELC_Program_module elc_module_" + number + ";\n";
  out += "const struct ELC_Program_module elc_module_" + number + " = {elc_make_types, elc_variables, " + std::to_string(variable_count_) +
         ", elc_functions, " + std::to_string(function_count_) + "};\n";
  return out;
}

std::string Module::program_text(size_t units) const {
  std::string out, list;
  for (size_t i = 0; i < units; ++i) {
    const std::string name = "elc_module_" + std::to_string(i);
    out += "extern const struct ELC_Program_module " + name + " __attribute__((weak)); ";
    list += "&" + name + ", ";
  }
  out += "static const struct ELC_Program_module *const elc_modules[] = {" + list + "}; ";
  const bool may_round = program_.rounds() || program_.sets_control();
  if (program_.rounds())
    out += "extern int fegetround(void), fesetround(int), fetestexcept(int), feclearexcept(int), feraiseexcept(int), fegetexcept(void), "
           "feenableexcept(int), fedisableexcept(int); ";
  if (program_.sets_control())
    out += "__attribute__((target(\"sse\"))) static unsigned elc_control(void) { return __builtin_ia32_stmxcsr(); } "
           "__attribute__((target(\"sse\"))) static void elc_set_control(unsigned to) { __builtin_ia32_ldmxcsr(to); } ";
  if (may_round) {
    const bool is_gnu = unit_.record().target.find("gnu") != std::string::npos;
    out += "static const struct ELC_Program_rounding elc_rounding = {" +
           std::string(program_.rounds() ? "fegetround, fesetround, fetestexcept, feclearexcept, feraiseexcept, " : "0, 0, 0, 0, 0, ") +
           (program_.rounds() && is_gnu ? "fegetexcept, feenableexcept, fedisableexcept, " : "0, 0, 0, ") + (program_.sets_control() ? "elc_control, elc_set_control}; " : "0, 0}; ");
  }
  out += "static const struct ELC_Program_number elc_numbers[] = {";
  for (const auto& [name, number] : program_.numbers())
    out += "{\"" + name + "\", " + in_quotes(number.place) + ", " + std::to_string(static_cast<int>(number.value)) + ", " + (number.is_kept ? "1, " : "0, ") + (number.functions.empty() ? "0" : in_quotes(llvm::join(number.functions, " "))) + "}, ";
  out += "{0, 0, 0, 0, 0}}; ";
  out += "extern void ELC_Program_stack(void); __attribute__((constructor)) static void elc_stack(void) { ELC_Program_stack(); } ";
  std::string in_parallel = program_.has_threads() ? "omp_get_level" : "0";
  if (program_.has_threads()) out += "extern int omp_get_level(void); ";
  if (program_.makes_threads()) {
    out += "extern int ELC_Program_in_thread(void); static int elc_in_thread(void) { return ELC_Program_in_thread()" + std::string(program_.has_threads() ? " || omp_get_level()" : "") + "; } ";
    in_parallel = "elc_in_thread";
  }
  // Hidden: in the executable that may lie anywhere the first is at 0, where the dynamic linker of some machines finds no symbol.
  out += "extern const char __executable_start[] __attribute__((weak, visibility(\"hidden\"))), _end[] __attribute__((weak, visibility(\"hidden\"))); ";
  return out + settings_text() + "static const struct ELC_Program elc_program = {elc_modules, " + std::to_string(units) + ", " +
         std::to_string(program_.thread_level()) + ", " + (program_.draws_numbers() ? "1, " : "0, ") +
         (program_.reads_input() ? "1, " : "0, ") + (program_.reads_clocks() ? "1, " : "0, ") + (program_.makes_keyvals() ? "1, " : "0, ") + (program_.uses_library() ? "1, " : "0, ") + std::to_string(program_.aligns()) + ", " + std::to_string(program_.aligns_large()) + ", " + std::to_string(program_.apart()) + ", " +
         (may_round ? "&elc_rounding, " : "0, ") + in_parallel + ", elc_settings, elc_numbers, " +
         std::to_string(program_.numbers().size()) + ", __executable_start, _end, " + (program_.has_foreign_addresses() ? "1, " : "0, ") + (program_.has_long_doubles() ? "1, " : "0, ") + (program_.makes_pointers() ? "1, " : "0, ") + (program_.probes() ? "1}; " : "0}; ");
}

}  // namespace elc::cc
