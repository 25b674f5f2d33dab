// The program as a whole: which functions can be on the stack when a line is taken, and what stands in the way.
#ifndef ELC_CC_PROGRAM_H
#define ELC_CC_PROGRAM_H

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cc/addresses.h"
#include "cc/characters.h"
#include "cc/handles.h"
#include "cc/known.h"
#include "cc/ranks.h"
#include "cc/sizes.h"
#include "cc/unions.h"
#include "cc/unit.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

struct Options {
  std::set<std::string> stateless;  // functions of which the user says that they keep and call nothing; with a * at the end, all that begin so
  bool everywhere = false;          // for tests: all functions get frames, and a site at their beginning
  bool has_foreign_addresses = false;  // in pointers, of other processes, which the program does not follow
  bool may_compute_with_addresses = false;  // what comes of it is nothing that a restart needs
  bool has_common_ranks = false;       // ranks.h
};

// What comes of an address that a function is given as an integer (addresses.h).
struct IfGivenAddress {
  std::set<std::string> computes;  // where
  Rounding rounds;
  std::set<ParameterKey> gives;
};

// A constant of MPI, or a size, that the program may keep in variables.
struct Number {
  long long value = 0;
  std::string place;
  bool is_kept = false;  // false: only if a function that gives it does so
  std::set<std::string> functions;  // in the variables of these alone; none: anywhere
};

struct FunctionFacts {
  std::string name, place, signature;
  bool is_static = false;
  bool is_other_name = false;        // of a function, or of one that is chosen
  bool calls_site = false;
  bool is_address_taken = false;
  std::set<std::string> calls;       // keys of functions
  std::set<std::string> refers;      // keys of functions that it calls or takes the address of
  std::map<std::string, std::string> uses, uses_variables;  // names of what the file does not define, and where
  std::set<std::string> calls_by;    // signatures of pointers
  std::set<std::string> taken_as;    // signatures with which files declare it that take its address
  std::set<std::string> computes_with_addresses;  // where
  Rounding rounds_addresses;
  std::map<unsigned, IfGivenAddress> if_given_address;  // as this parameter
  std::map<std::string, std::string> numbers;  // constants of MPI, and sizes, that it may keep in variables, and where
  std::map<std::string, Number> numbers_in_frames;  // sizes, in variables of functions alone
  std::set<std::tuple<std::string, std::string, std::string>> given;  // those that a function of MPI is given: its name, theirs, where
};

// A size, by its name among the numbers, and the holder that it goes to.
struct GivenSize {
  std::string name, place, to;
  std::string by;  // the key of the function
};

// A function that is given to one which is not the program's, and may call it.
struct Callback {
  std::string place, receiver, key, signature;  // key: empty for one that a pointer holds
  std::string by;                               // the key of the function that gives it
  int makes = 0;                                // what MPI makes of it: ELC_Program_function's given_to
};

// A call in a directive of OpenMP, or by a thread of the program's own, which several threads may make at the same time.
struct ThreadedCall {
  std::string place, by, name, key, signature;  // key: empty for one by a pointer
  bool is_of_own = false;                       // place: where pthread_create() is called
};

// A function that sets something of the process, as the program's headers declare it.
struct Setting {
  std::string returns, takes;
};

class Program {
 public:
  explicit Program(Options options) : options_(std::move(options)) {}

  void add(const Unit& unit);  // parsed
  // When all have been added. Messages of what is refused go to `errors`.
  void conclude(std::vector<std::string>* errors);

  // Of functions after whose call there are no lines.
  const std::vector<std::string>& warnings() const { return warnings_; }

  bool has_sites() const { return has_sites_ || options_.everywhere; }
  bool begins_mpi() const;  // it calls MPI_Init
  bool everywhere() const { return options_.everywhere; }
  bool has_long_doubles() const { return size_of_long_double_ != 0; }
  bool has_foreign_addresses() const { return options_.has_foreign_addresses; }
  bool makes_pointers() const { return makes_pointers_; }  // of numbers
  bool is_given_address(const Unit& unit, const clang::FunctionDecl* function, unsigned parameter) const {
    return given_addresses_.contains({key_of(unit, function), parameter});
  }
  bool may_compute_with_addresses() const { return options_.may_compute_with_addresses; }
  bool has_main() const { return functions_.contains("main"); }
  bool reaches_site(const Unit& unit, const clang::FunctionDecl* function) const;
  bool may_reach_site(const clang::CallExpr* by_pointer) const;
  bool reaches_mpi(const Unit& unit, const clang::Stmt* statement) const;  // by a call in it
  // Whether files have different structs or unions of this name.
  bool is_ambiguous(const std::string& struct_name) const { return ambiguous_.contains(struct_name); }
  // Whether all that puts numbers into such a union is seen (unions.h).
  bool tells_numbers_of(const std::string& union_key) const { return !unseen_unions_.contains(union_key); }
  std::string where_unseen(const std::string& union_key) const;  // where else they may be put; empty: that is not known
  // So much of the path of a source as no other one has.
  std::string file_name(const Unit& unit) const;
  // The name of a function in frames: its own, or with its file where there are several.
  std::string name_of(const Unit& unit, const clang::FunctionDecl* function) const;
  bool defines(const Unit& unit, const clang::FunctionDecl* function) const;
  Known known(const std::string& name) const;
  // Why no line is taken when this function, or variable, of a library has been used; empty: one is.
  std::string why_foreign(const std::string& name) const;
  const Characters& characters() const { return characters_; }
  std::vector<std::string> names_of_instrumented() const;
  bool uses_variable(const std::string& name) const { return used_variables_.contains(name); }
  int thread_level() const { return thread_level_; }
  // Handles of MPI (handles.h): structs that mention some; whether a parameter is only freed; what files declare as of others; empty: nothing.
  const std::set<std::string>& structs_of_handles() const { return handles_.structs; }
  bool only_frees(const std::string& function, unsigned parameter) const { return handles_.given.contains({function, parameter}) && !handles_.used.contains({function, parameter}); }
  const std::string& mixed_up() const { return mixed_up_; }
  bool draws_numbers() const { return draws_numbers_; }
  bool has_threads() const { return has_threads_; }  // of OpenMP
  bool has_constructors() const { return has_constructors_; }
  bool makes_threads() const { return makes_threads_; }
  const std::map<std::string, Setting>& settings() const { return settings_; }  // by name: those that it calls
  const std::map<std::string, Number>& numbers() const { return numbers_; }     // by name
  // Whether ranks are not those of its MPI (ranks.h), whose numbers these are, by name.
  bool translates_ranks() const { return !own_ranks_.empty(); }
  const std::map<std::string, int>& own_ranks() const { return own_ranks_; }
  bool uses_library() const { return uses_library_; }
  bool rounds() const { return rounds_; }
  bool sets_control() const { return sets_control_; }
  bool reads_input() const { return reads_input_; }
  bool reads_clocks() const { return reads_clocks_; }
  bool gets_attributes() const { return gets_attributes_; }
  bool makes_keyvals() const { return makes_keyvals_; }
  bool probes() const { return probes_; }
  bool allocates_windows() const { return allocates_windows_; }
  bool attaches() const { return attaches_; }
  int aligns() const { return aligns_; }  // as ELC_Program has it (elc_program.h)
  int aligns_large() const { return aligns_large_; }
  int apart() const { return apart_; }    // the same
  size_t functions() const { return functions_.size(); }
  size_t instrumented() const { return instrumented_.size(); }

  // As ELC_Program_function has it (elc_program.h).
  // What MPI may make of it: of one that a pointer leads to, what it makes of any that the pointer may lead to.
  int given_to(const Unit& unit, const clang::FunctionDecl* function) const;
  // MPI may call it in the middle of a call, and it calls MPI.
  bool is_handler(const Unit& unit, const clang::FunctionDecl* function) const { return handlers_.contains(key_of(unit, function)); }
  bool is_address_taken(const Unit& unit, const clang::FunctionDecl* function) const;
  bool is_other_name(const Unit& unit, const clang::FunctionDecl* function) const;

  static std::string signature_of(clang::QualType function);
  static std::string key_of(const Unit& unit, const clang::FunctionDecl* function);

 private:
  friend class Collector;
  void collect(const Unit& unit);  // collector.cc
  void find_calls_by_pointers();
  // Whether the function's address is taken, and it may be called by a pointer of this signature.
  bool may_be_called(const std::string& key, const std::string& as) const;
  void find_reachable();
  void add_addresses(const Unit& unit);
  void follow_given_addresses();
  void add_sizes(const Unit& unit);
  std::string add_size(const Size& size, const std::string& file);
  void find_kept_sizes();
  void find_numbers();
  void find_ranks(std::vector<std::string>* errors);
  void find_unseen_unions();
  void find_mixed_handles();
  void check_pragmas(const Unit& unit, const std::set<const Pragma*>& seen);
  bool is_stateless(const std::string& name) const;
  void check_threads(std::vector<std::string>* errors) const;
  void check_foreign(const FunctionFacts& of, std::set<std::string>* told, std::vector<std::string>* errors);

  Options options_;
  std::map<std::string, FunctionFacts> functions_;         // by key
  struct File {
    std::string path;
    std::set<std::string> defined;   // by it, for others
    std::vector<std::string> flags;  // that it was compiled with
    size_t number = 0;
    auto operator<=>(const File&) const = default;
  };
  std::map<size_t, File> files_;                           // of all units, by their numbers
  std::map<std::string, std::string> structs_;             // by name: what they consist of
  std::set<std::string> ambiguous_;                        // names of several
  std::map<std::string, std::string> unseen_unions_;       // keys (unions.h), and where
  std::vector<std::pair<std::string, std::string>> alike_unions_;
  std::map<std::string, int> names_;                       // how many functions have it
  std::set<std::string> external_;                         // names of functions that all files can call
  std::set<std::string> returning_pointers_;               // names of functions that no file defines
  std::map<std::string, std::string> profiled_;            // functions of MPI that are called by PMPI_...; where
  std::map<std::string, std::string> pointed_sites_;       // functions of MPI at which lines are taken, to which there are pointers; where
  std::set<std::string> foreign_;                          // names that a run can come to, and of which nothing is known
  std::vector<std::string> warnings_;
  std::vector<std::string> misplaced_;                     // pragmas, and why
  std::vector<ThreadedCall> threaded_;
  std::vector<std::string> pointed_threads_;               // where a pointer to pthread_create() is made
  std::vector<std::string> devices_;                       // directives that leave something on other devices, and where
  std::set<std::string> plain_as_declared_;  // functions that are plain where they are declared so: of OpenMP's locks, and of zlib
  std::map<std::string, Setting> settings_;
  long long size_of_long_double_ = 0;
  std::map<std::string, long long> values_of_numbers_;     // of all that the program's MPI has
  std::map<std::string, Number> numbers_;
  RankFacts ranks_;
  std::map<std::string, int> own_ranks_;
  std::string stateless_;                                  // a function that the user says is
  std::vector<GivenSize> given_sizes_;
  std::set<std::string> keeps_;                            // holders of numbers (sizes.h), with the keys of their functions
  std::map<std::string, std::set<std::string>> given_by_;  // of each holder: those that what it has comes from
  FunctionFacts at_file_scope_;                            // of initialisers
  std::set<std::string> reachable_;                        // keys of functions that a run can come to
  std::set<std::string> variables_;                        // external ones that are defined
  std::set<std::string> used_variables_;                   // that the C library defines
  std::vector<Callback> callbacks_;
  std::map<std::string, std::set<std::string>> becomes_;   // by casts: signatures of pointers to functions
  std::map<std::string, std::set<std::string>> called_as_;  // functions whose addresses are taken: signatures
  std::map<std::string, int> given_;                       // by key: ELC_Program_function's given_to
  std::set<std::string> handlers_;                         // keys of functions that can reach MPI, and that MPI or exit() calls
  std::set<std::string> instrumented_, targets_;           // keys; signatures
  Characters characters_;
  HandleFacts handles_;  // of all files
  std::map<std::string, std::set<std::string>> declared_;  // names, and what files say of them (HandleFacts::declared)
  std::string mixed_up_;
  bool has_sites_ = false;
  bool draws_numbers_ = false;
  bool has_threads_ = false;
  bool has_constructors_ = false;
  bool makes_pointers_ = false;
  bool makes_threads_ = false;
  bool uses_library_ = false;
  std::set<ParameterKey> given_addresses_;  // by functions of other files
  bool rounds_ = false;
  bool sets_control_ = false;
  bool reads_input_ = false;
  bool reads_clocks_ = false;
  int aligns_ = 0, aligns_large_ = 0;
  int apart_ = 0;
  bool gets_attributes_ = false;
  bool makes_keyvals_ = false;
  bool probes_ = false;
  bool allocates_windows_ = false;
  bool attaches_ = false;
  int thread_level_ = -1;
};

// Why no line is taken when a function has made a number of an address (addresses.h).
inline constexpr const char* kComputesWithAddress = "it computes with an address as a number, or with a handle of MPI, and a restart has another one";

// The name by which C can speak of a struct or union; empty: there is none.
std::string spelling(const clang::RecordDecl* record);
inline constexpr const char* kUnnamed = "elc_unnamed_";  // what the name begins with that a module gives to a type without one

// The function that is called, where the call names it.
inline const clang::FunctionDecl* callee_of(const clang::CallExpr* call) { return call->getDirectCallee(); }

// Bytes by which a pointer to such an element goes on; those to void do so in GCC's C.
inline int64_t step_of(const clang::ASTContext& context, clang::QualType element) {
  return element->isVoidType() ? 1 : context.getTypeSizeInChars(element).getQuantity();
}

// Whether is(part) of one of the statements and expressions in this one; the body of a directive of OpenMP is among them, which clang has aside.
template <class F>
bool any_part(const clang::Stmt* s, F is) {
  const auto* const region = llvm::dyn_cast<clang::CapturedStmt>(s);
  if (region != nullptr && is(region->getCapturedStmt())) return true;
  return llvm::any_of(s->children(), [&](const clang::Stmt* child) { return child != nullptr && is(child); });
}

// Calls visit(expression) for each pthread_self that a call is given, which keeps nowhere what that is.
template <class F>
void each_passing_self(const clang::CallExpr* call, F visit) {
  const clang::FunctionDecl* const callee = callee_of(call);
  if (callee == nullptr || !callee->getName().startswith("pthread_") || !callee->getName().endswith("_np")) return;
  for (const clang::Expr* argument : call->arguments()) {
    const auto* own = llvm::dyn_cast<clang::CallExpr>(argument->IgnoreParenImpCasts());
    if (own != nullptr && callee_of(own) != nullptr && callee_of(own)->getName() == "pthread_self") visit(own->getCallee()->IgnoreParenImpCasts());
  }
}

}  // namespace elc::cc

#endif
