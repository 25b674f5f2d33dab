// Memory of characters: which of it is text. A program may have there the bytes of something else, too, as in the buffers of its messages;
// a machine of another representation has those otherwise, so that a line has bytes.
//
// Pointers that are given to each other lead to memory of one class, over the whole program and all members of a struct's type (Steensgaard,
// Points-to Analysis in Almost Linear Time, POPL 1996). Of such a class it is known what else the program has it as.
#ifndef ELC_CC_CHARACTERS_H
#define ELC_CC_CHARACTERS_H

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "cc/datatypes.h"
#include "cc/unit.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

class Characters {
 public:
  void add(const Unit& unit);  // parsed
  // When all have been added.
  void conclude();

  // Whether an array of a variable or member, an array without a name, or the memory that a call gives to a pointer to characters is text.
  bool are_text(const Unit& unit, const clang::ValueDecl* array) const;
  bool are_text(const Unit& unit, const clang::Expr* made) const;
  // Whether a function that returns a pointer to characters gives memory for anything: each of its calls says what that holds.
  bool gives_memory(const Unit& unit, const clang::CallExpr* call) const;

  // What is not, and why.
  std::vector<std::string> notes() const;

 private:
  friend class CharacterVisitor;

  // What is in memory, beside characters, by the names of its types, and where: `put` by the address of such; `used` by a pointer to such
  // that has been one to anything.
  struct Class {
    std::string other;  // where it is something else for certain; empty: nowhere
    bool is_copied = false;  // by functions that do not know what it is
    bool is_of_table = false;  // or of members of structs that are pointers to anything
    std::map<std::string, std::string> put, used;
    std::set<std::string> of_variables;  // of what is put
  };

  static constexpr const char* kOthers = "";  // among the sources of a pointer, or what a parameter is given to: what is not followed

  int node(const std::string& name);
  int fresh();
  int find(int node) const;
  Class& class_of(int node) { return classes_[static_cast<size_t>(find(node))]; }
  const Class& class_of(int node) const { return classes_[static_cast<size_t>(find(node))]; }
  void unite(int a, int b);  // negative: none
  enum class Gives { kOther, kAnything, kCharacters };  // what a function's result leads to, if it is a pointer
  // A call of the one, a signature, may be one of the other.
  void lead(const std::string& from, const std::string& to, unsigned parameters, Gives gives);
  void see_other(int node, const std::string& place);
  bool is_given_memory(const std::string& function, std::set<std::string>* seen) const;
  void tell_calls_apart();
  void see_through_opaque();
  void see_messages();
  bool is_let_go(const std::string& parameter, bool may_return, std::set<std::string>* seen) const;
  bool is_source(const std::string& of, const std::string& parameter, std::set<std::string>* seen) const;
  bool is_text(int node) const;

  std::map<std::string, int> nodes_;
  mutable std::vector<size_t> above_;  // those that they are of one class with; roots: themselves
  std::vector<Class> classes_;          // those of roots count
  std::set<int> texts_;         // arrays that the program has as text
  std::map<int, std::string> arrays_;  // variables and members, and where they are
  std::map<std::string, std::set<int>> members_;         // of structs: arrays of characters
  std::set<std::string> opaque_;                         // structs that are not defined in some file
  std::set<std::string> defined_;                        // functions, and signatures by which some are called
  // Functions to which there are pointers, their signatures, how many parameters they have, and what they give.
  std::set<std::tuple<std::string, std::string, unsigned, Gives>> taken_;
  std::set<std::pair<std::string, std::string>> led_;
  std::set<std::string> called_;                         // signatures of pointers
  std::map<int, std::pair<std::string, std::string>> given_anything_;  // parameters that are pointers to anything: their function, where it is called
  std::vector<std::pair<std::string, int>> passed_;      // to parameters
  std::map<std::string, std::set<std::string>> let_go_;  // of parameters: those that they are given to, what their function returns, and others
  std::map<std::string, std::set<std::string>> sources_; // of what functions return, and what their variables have: functions that are called, variables, and others
  // A call of a function that may give memory of its own to each, or what it was given itself.
  struct Call {
    int node;
    std::string function;
    std::vector<int> given;
    bool as_characters;
  };
  std::vector<Call> returned_;
  // What is given to a call of MPI, with the datatypes of that.
  struct Message {
    int node;        // of characters; or negative
    int of_struct;   // of a struct of this type; or negative
    std::string place;
    std::vector<std::string> datatypes;
  };
  std::vector<Message> messages_;
  Datatypes datatypes_;
  std::set<std::string> giving_;  // functions that return pointers to characters, and give memory for anything
  std::set<int> giving_classes_;  // of that memory, before it is given
};

// The same in each file that has it.
std::string name_in_program(const Unit& unit, const clang::ValueDecl* declared);

}  // namespace elc::cc

#endif
