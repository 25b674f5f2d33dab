// The types of a source file as libELC has them, and the text that makes them when the program starts.
#ifndef ELC_CC_TYPES_H
#define ELC_CC_TYPES_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cc/program.h"
#include "clang/AST/Type.h"

namespace elc::cc {

// What a variable consists of.
struct Described {
  std::string type;    // the name of a variable of type ELC_Type
  std::string target;  // of pointers to scalars: that of what they point to; else empty
  uint64_t count = 1;
};

// A handle of MPI; and one where those are integers.
bool is_handle_of_mpi(clang::QualType type);
bool is_integer_handle(clang::QualType type);
// Members that are the same in memory: of one type, or pointers to objects, whatever they lead to.
bool lie_alike(clang::QualType a, clang::QualType b);

// The type of number of which it consists, at any depth, and of no other; null: there is none. In a union of such, as those of a vector
// by name and by index, it does not matter which of its members is in use. `known`: what was found before.
clang::QualType only_number(clang::QualType type, clang::QualType known = clang::QualType());

class Types {
 public:
  Types(const Program& program, const Unit& unit)
      : program_(program), unit_(unit) {}

  // False, with the reason, for what lines cannot have. An array of characters that are not known to be text is bytes.
  bool describe(clang::QualType type, Described* to, std::string* why, bool are_text = false);
  // A variable, which is one of `type`, and as `more` what its initialiser gives the array of no number of elements with which it ends.
  struct More {
    std::string member;  // empty: there is none
    Described described;
  };
  bool describe_variable(const clang::VarDecl* variable, clang::QualType type, Described* to, More* more, std::string* why);
  // The type that memory gets when a pointer to it becomes one to `type`; empty: none better than bytes.
  std::string of_memory(clang::QualType type, bool are_text = false);
  std::string of_elements(clang::QualType type, bool are_text = false);  // of an array: a struct that ends openly does not
  bool holds_addresses(clang::QualType type) const;
  // What threads wait for or are made by: bytes, which no function of one thread lacks after a restart.
  static bool is_lock(clang::QualType type);
  static bool is_attribute(clang::QualType type);  // of those, what the program sets
  // What leads to memory that functions of the C library have made: while there is any no line is taken (known.cc).
  static bool is_made_elsewhere(const clang::RecordDecl* record);
  static bool is_jump_buffer(clang::QualType type);  // which goes with the function that has set it
  // In a union that is bytes.
  bool may_hide_address(clang::QualType type) const;
  // MPI's objects, which a restart makes anew: that bytes hold one cannot be seen.
  bool holds_handles(clang::QualType type) const;

  const std::vector<std::string>& notes() const { return notes_; }  // what is saved as bytes
  const std::string& variables() const { return variables_; }  // text: their definitions
  const std::string& functions() const { return functions_; }  // of bit-fields
  const std::string& makers() const { return makers_; }        // statements, in order

 private:
  void note(const std::string& what);  // once
  std::string scalar(int number);
  bool describe_record(const clang::RecordDecl* record, Described* to, std::string* why);
  bool add_fields(const clang::RecordDecl* record, const clang::RecordDecl* of, uint64_t offset, const std::string& path, std::string* fields,
                  std::string* why);
  bool describe_union(const clang::FieldDecl* field, const Pragma& cases, const clang::RecordDecl* of, uint64_t at, Described* to, std::string* why);
  std::string make_unknown_union(const clang::RecordDecl* record, uint64_t size);
  std::string make_union_of_words(const clang::RecordDecl* record, uint64_t size, const std::vector<uint64_t>& words);
  std::string unique_name(const clang::RecordDecl* record) const;
  bool add_bit_field(const clang::FieldDecl* field, const clang::RecordDecl* of, const std::string& path, std::string* fields, std::string* why);

  const Program& program_;
  const Unit& unit_;
  std::map<int, std::string> scalars_;
  struct Made {
    Described described;
    std::string why;  // not empty: it cannot be described
    bool has_open_array = false;  // ... but as memory, without what comes behind it
  };
  std::map<const clang::RecordDecl*, Made> records_;
  std::set<const clang::RecordDecl*> plain_;  // without a name, in a struct of the system that is no more than its content
  std::vector<std::string> notes_;
  std::string variables_, functions_, makers_;
  int next_ = 1;
};

}  // namespace elc::cc

#endif
