// What functions declare that is the file's: static locals, and the types that they, and the descriptions of frames, need.
#include "cc/module.h"
#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

// Structs, unions and enums that only what is declared with them can speak of get names, so that the variables can move; as do those that a
// typedef names which a parameter hides.
void Module::name_tags() {
  struct Finder : Visitor {
    std::vector<TagDecl*> found;
    std::set<std::string> parameters;
    bool VisitTagDecl(TagDecl* tag) override {
      if (tag->getName().empty() && tag->isThisDeclarationADefinition()) found.push_back(tag);
      return true;
    }
    bool TraverseFunctionDecl(FunctionDecl* function) override {  // of this file: what MPI's header calls its own is not the program's
      if (function->doesThisDeclarationHaveABody() && !unit.in_system_header(function->getLocation()))
        for (const ParmVarDecl* parameter : function->parameters()) parameters.insert(parameter->getName().str());
      return Visitor::TraverseFunctionDecl(function);
    }
    const Unit& unit;
    explicit Finder(const Unit& of) : unit(of) {}
  } finder(unit_);
  finder.TraverseDecl(unit_.context().getTranslationUnitDecl());
  int n = 0;
  for (TagDecl* tag : finder.found) {
    const auto* record = dyn_cast<RecordDecl>(tag);
    const TypedefNameDecl* const named = tag->getTypedefNameForAnonDecl();
    if (named != nullptr && !finder.parameters.contains(named->getName().str())) continue;
    if (unit_.in_system_header(tag->getLocation()) || (record != nullptr && record->isAnonymousStructOrUnion())) continue;
    const std::string name = std::string(kUnnamed) + std::to_string(unit_.line(tag->getLocation())) + "_" + std::to_string(++n);
    const size_t behind = unit_.begin_of(tag->getBraceRange().getBegin());
    edits_.replace(behind, behind, " " + name + " ");
    tag->setDeclName(&unit_.context().Idents.get(name));
    if (named != nullptr) tag->setTypedefNameForAnonDecl(nullptr);
  }
}

// What a declaration of types needs to be elsewhere: other types of the function, too, and no variables of it.
class TypeLifter : public Visitor {
 public:
  TypeLifter(Module& module, const FunctionDecl* function) : m_(module), function_(function) {}

  bool VisitTagTypeLoc(TagTypeLoc at) override { return need(at.getDecl()); }
  bool VisitTypedefTypeLoc(TypedefTypeLoc at) override { return need(at.getTypedefNameDecl()); }
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    if (isa<EnumConstantDecl>(e->getDecl())) return need(e->getDecl());
    const auto* variable = dyn_cast<VarDecl>(e->getDecl());
    const bool is_local = variable != nullptr && variable->hasLocalStorage();
    depends_ |= is_local;
    if (!is_local) m_.note_inside(e->getDecl(), function_);
    return true;
  }
  // Of a variable of the function, it is a number where that is not.
  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr* e) override {
    const bool before = depends_;
    const bool all = Visitor::TraverseUnaryExprOrTypeTraitExpr(e);
    Expr::EvalResult value;
    if (depends_ && !before && e->EvaluateAsInt(value, m_.unit_.context())) {
      const std::string number = "((" + e->getType().getCanonicalType().getAsString() + ")" + std::to_string(value.Val.getInt().getZExtValue()) + ")";
      m_.edits_.replace(m_.unit_.begin_of(e->getBeginLoc()), m_.unit_.end_of(e->getEndLoc()), number);
      depends_ = before;
    }
    return all;
  }
  bool VisitTypedefNameDecl(TypedefNameDecl* declared) override { return m_.rename(declared, function_), true; }
  bool VisitTagDecl(TagDecl* declared) override { return m_.rename(declared, function_), true; }
  bool VisitEnumConstantDecl(EnumConstantDecl* declared) override { return m_.rename(declared, function_), true; }

  bool depends() const { return depends_; }

 private:
  bool need(const Decl* declared) {
    const auto found = m_.local_types_.find(declared->getCanonicalDecl());
    if (found == m_.local_types_.end()) return true;
    for (const DeclStmt* statement : found->second) m_.lift(statement);
    return true;
  }

  Module& m_;
  const FunctionDecl* function_;
  bool depends_ = false;
};

void Module::find_types(const FunctionDecl* function) {
  struct Finder : Visitor {
    Module& m;
    const FunctionDecl* function;
    const DeclStmt* statement = nullptr;
    Finder(Module& module, const FunctionDecl* of) : m(module), function(of) {}
    bool note(const Decl* d) {
      if (statement != nullptr) m.local_types_[d->getCanonicalDecl()].insert(statement);
      return true;
    }
    bool VisitTypedefNameDecl(TypedefNameDecl* d) override { return note(d); }
    bool VisitTagDecl(TagDecl* d) override { return note(d); }
    bool VisitEnumConstantDecl(EnumConstantDecl* d) override { return note(d); }
    bool VisitDeclaratorDecl(DeclaratorDecl* d) override {
      if (!isa<FieldDecl>(d)) m.local_names_[function].insert(d->getName().str());
      return true;
    }
    bool TraverseDeclStmt(DeclStmt* s) override {
      const DeclStmt* const outer = statement;
      statement = s;
      m.owners_[s] = function;
      const bool all = Visitor::TraverseDeclStmt(s);
      statement = outer;
      return all;
    }
  };
  Finder(*this, function).TraverseDecl(const_cast<FunctionDecl*>(function));
}

void Module::lift(const DeclStmt* statement) {
  const auto owner = owners_.find(statement);
  if (owner == owners_.end() || !lifted_.insert(statement).second) return;
  for (Decl* d : statement->decls()) {
    auto* const type = dyn_cast<TypeDecl>(d);
    if (type == nullptr) continue;
    const auto* named = dyn_cast<TypedefNameDecl>(type);
    if (named != nullptr && named->getUnderlyingType()->isVariablyModifiedType())
      error(type->getLocation(), "'" + named->getName().str() + "' is a type of variable length");
    TypeLifter lifter(*this, owner->second);
    lifter.TraverseDecl(type);
    if (!lifter.depends()) continue;
    if (named != nullptr && statement->isSingleDecl()) plain_.insert(statement);
    else error(type->getLocation(), "the type '" + type->getName().str() + "' depends on a variable of the function");
  }
}

void Module::lift(QualType type) {
  const auto* tag = type->getBaseElementTypeUnsafe()->getAs<TagType>();
  if (tag == nullptr) return;
  const auto found = local_types_.find(tag->getDecl()->getCanonicalDecl());
  if (found == local_types_.end()) return;
  for (const DeclStmt* statement : found->second) lift(statement);
}

// Another name where the file has one, another function, or a variable of this one. Tags have a space of names of their own.
void Module::rename(NamedDecl* declared, const FunctionDecl* function) {
  ASTContext& context = unit_.context();
  const bool is_tag = isa<TagDecl>(declared);
  const std::string name = declared->getName().str();
  if (name.empty() || name.starts_with(kUnnamed) || renamed_.contains(declared->getCanonicalDecl())) return;
  const auto is_free = [&](const std::string& other) {
    if (lifted_names_.contains((is_tag ? "struct " : "") + other) || (!is_tag && local_names_[function].contains(other))) return false;
    for (const NamedDecl* outside : context.getTranslationUnitDecl()->lookup(DeclarationName(&context.Idents.get(other))))
      if (isa<TagDecl>(outside) == is_tag) return false;
    return true;
  };
  const std::string candidate = free_name(name, is_free);
  lifted_names_.insert((is_tag ? "struct " : "") + candidate);
  renamed_[declared->getCanonicalDecl()] = {name, candidate};
  for (Decl* other : declared->redecls()) cast<NamedDecl>(other)->setDeclName(&context.Idents.get(candidate));
}

bool Module::reserve(const FunctionDecl* function, const std::string& name) {
  if (lifted_names_.contains(name)) return false;
  local_names_[function].insert(name);
  return true;
}

namespace {

bool has_types_alone(const DeclStmt* statement) {
  return std::all_of(statement->decl_begin(), statement->decl_end(), [](const Decl* d) { return isa<TypeDecl>(d); });
}

}  // namespace

size_t end_of_type(const Unit& unit, const Decl* type) {
  const std::string& all = unit.text();
  size_t end = unit.end_of(type->getEndLoc());
  for (;;) {
    size_t at = all.find_first_not_of(" \t\n", end);
    if (at == std::string::npos || all.compare(at, 13, "__attribute__") != 0) return end;
    int depth = 0;
    do {
      at = all.find_first_of("()", at);
      if (at == std::string::npos) return end;
      depth += all[at++] == '(' ? 1 : -1;
    } while (depth > 0);
    end = at;
  }
}

std::string Module::lifted_text(const DeclStmt* statement) {
  if (plain_.contains(statement)) {
    const auto* named = cast<TypedefNameDecl>(statement->getSingleDecl());
    return "typedef " + declaration(named->getUnderlyingType(), named->getName().str(), named->getLocation()) + "; ";
  }
  if (has_types_alone(statement)) return edits_.text(unit_.begin_of(statement->getBeginLoc()), unit_.end_of(statement->getEndLoc()) - 1) + "; ";
  std::string out;
  for (const Decl* d : statement->decls())
    if (isa<TypeDecl>(d)) out += edits_.text(unit_.begin_of(d->getBeginLoc()), end_of_type(unit_, d)) + "; ";
  return out;
}

// What a function's text alone has declared when what moves to before it needs it: the function itself, and others that are declared inside.
void Module::note_inside(const ValueDecl* named, const FunctionDecl* function) {
  const auto* const variable = dyn_cast<VarDecl>(named);
  if (!isa<FunctionDecl>(named) && (variable == nullptr || variable->isStaticLocal())) return;
  if (named->getCanonicalDecl() == function->getCanonicalDecl() || named->getLexicalDeclContext()->isFunctionOrMethod())
    inside_[function][named->getName().str()] = named;
}

// What remains of it where it was.
void Module::leave_lifted(const DeclStmt* statement) {
  if (has_types_alone(statement)) return edits_.replace(unit_.begin_of(statement->getBeginLoc()), unit_.end_of(statement->getEndLoc()), ";");
  for (const Decl* d : statement->decls()) {
    const auto* tag = dyn_cast<TagDecl>(d);
    if (tag == nullptr || !tag->isThisDeclarationADefinition()) continue;
    const std::string name = tag->getName().str();
    edits_.replace(unit_.begin_of(tag->getBraceRange().getBegin()), end_of_type(unit_, tag), name.starts_with(kUnnamed) ? " " + name + " " : "");
  }
}

// Gives what has been renamed its name, wherever it is named.
class Renamer : public Visitor {
 public:
  explicit Renamer(Module& module) : m_(module) {}

  bool VisitTagTypeLoc(TagTypeLoc at) override { return rename(at.getDecl(), at.getNameLoc()); }
  bool VisitTypedefTypeLoc(TypedefTypeLoc at) override { return rename(at.getTypedefNameDecl(), at.getNameLoc()); }
  bool VisitDeclRefExpr(DeclRefExpr* e) override { return rename(e->getDecl(), e->getLocation()); }
  bool VisitTypedefNameDecl(TypedefNameDecl* declared) override { return rename(declared, declared->getLocation()); }
  bool VisitTagDecl(TagDecl* declared) override { return rename(declared, declared->getLocation()); }
  bool VisitEnumConstantDecl(EnumConstantDecl* declared) override { return rename(declared, declared->getLocation()); }

 private:
  bool rename(const Decl* declared, SourceLocation at) {
    const auto found = m_.renamed_.find(declared->getCanonicalDecl());
    if (found == m_.renamed_.end()) return true;
    // What clang makes for directives of OpenMP names what the program does not name there.
    const auto& [before, name] = found->second;
    const size_t begin = m_.unit_.begin_of(at), end = m_.unit_.end_of(at);
    if (m_.unit_.text().compare(begin, end - begin, before) == 0) m_.edits_.replace(begin, end, name);
    return true;
  }

  Module& m_;
};

void Module::rename_uses() { Renamer(*this).TraverseDecl(unit_.context().getTranslationUnitDecl()); }

namespace {

// A static variable of a function: its elements are const, or nothing is done to it but that they are read.
bool is_only_read(const VarDecl* variable, const FunctionDecl* function, const ASTContext& context) {
  struct Uses : Visitor {
    const VarDecl* variable;
    int all = 0, reads = 0;
    bool VisitDeclRefExpr(DeclRefExpr* e) override { return all += e->getDecl() == variable, true; }
    bool VisitImplicitCastExpr(ImplicitCastExpr* cast) override {
      if (cast->getCastKind() != CK_LValueToRValue) return true;
      const Expr* e = cast->getSubExpr()->IgnoreParens();
      while (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) e = element->getBase()->IgnoreParenImpCasts();
      const auto* const named = dyn_cast<DeclRefExpr>(e);
      return reads += named != nullptr && named->getDecl() == variable && variable->getType()->isArrayType(), true;
    }
  } uses;
  if (context.getBaseElementType(variable->getType()).isConstQualified()) return true;
  uses.variable = variable;
  uses.TraverseStmt(function->getBody());
  return uses.all == uses.reads;
}

}  // namespace

// Static locals become variables of the file, before their function.
void Module::add_statics(const FunctionDecl* function) {
  struct Finder : Visitor {
    std::vector<const DeclStmt*> found;
    bool VisitDeclStmt(DeclStmt* statement) override {
      for (const Decl* d : statement->decls())
        if (const auto* v = dyn_cast<VarDecl>(d); v != nullptr && v->isStaticLocal()) return found.push_back(statement), true;
      return true;
    }
  } finder;
  finder.TraverseStmt(function->getBody());
  struct LabelFinder : Visitor {
    bool has_labels = false;
    bool VisitAddrLabelExpr(AddrLabelExpr*) override { return has_labels = true, true; }
  };
  // __func__ is a string there (FileVisitor), but where it is asked for its size.
  struct NameFinder : Visitor {
    size_t names = 0, strings = 0;
    bool VisitPredefinedExpr(PredefinedExpr*) override { return ++names, true; }
    bool VisitCastExpr(CastExpr* cast) override {
      if (cast->getCastKind() == CK_ArrayToPointerDecay && isa<PredefinedExpr>(cast->getSubExpr()->IgnoreParens())) ++strings;
      return true;
    }
  };
  const std::string owner = program_.name_of(unit_, function);
  // Of several that have its name, one is known by its line: another compilation may have others in front of it.
  std::map<std::string, int> named;
  for (const DeclStmt* statement : finder.found)
    for (const Decl* d : statement->decls())
      if (const auto* v = dyn_cast<VarDecl>(d)) ++named[v->getName().str()];
  const auto name_of = [&](const VarDecl* v) {
    const std::string name = v->getName().str();
    return owner + "." + name + (named[name] < 2 ? "" : " +" + std::to_string(unit_.line(v->getLocation()) - unit_.line(function->getLocation())));
  };
  for (const DeclStmt* statement : finder.found) {
    // A table of labels, of an interpreter: it stays where the labels are, and no line needs it if it is always the same.
    if (const auto* v = dyn_cast<VarDecl>(*statement->decl_begin()); v != nullptr && v->isStaticLocal() && v->getInit() != nullptr) {
      LabelFinder labels;
      labels.TraverseStmt(const_cast<Expr*>(v->getInit()));
      if (labels.has_labels) {
        if (!statement->isSingleDecl() || !is_only_read(v, function, unit_.context())) error(v->getLocation(), "the static variable '" + v->getName().str() + "' has addresses of labels, and may be changed: make it a const one, alone");
        continue;
      }
    }
    lift(statement);
    for (const Decl* d : statement->decls()) {
      const auto* v = dyn_cast<VarDecl>(d);
      if (v == nullptr) continue;
      statics_[v->getCanonicalDecl()] = "elc_v" + std::to_string(statics_.size() + 1) + "_" + v->getName().str();
      static_order_.push_back(v->getCanonicalDecl());
      TypeLifter lifter(*this, function);
      lifter.TraverseDecl(const_cast<VarDecl*>(v));
      if (lifter.depends()) error(v->getLocation(), "the static variable '" + v->getName().str() + "' depends on another of the function");
      NameFinder finder;
      if (v->getInit() != nullptr) finder.TraverseStmt(const_cast<Expr*>(v->getInit()));
      if (finder.names > finder.strings) error(v->getLocation(), "the static variable '" + v->getName().str() + "' is initialised by the size of __func__: write the number");
      add_variable(v, statics_[v->getCanonicalDecl()], name_of(v));
    }
    edits_.replace(unit_.begin_of(statement->getBeginLoc()), unit_.end_of(statement->getEndLoc()), "");
  }
}

}  // namespace elc::cc
