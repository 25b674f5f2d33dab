// What the datatypes are made of that a program makes, as far as it can be seen: by the variables that it has them in.
#ifndef ELC_CC_DATATYPES_H
#define ELC_CC_DATATYPES_H

#include <map>
#include <set>
#include <string>

#include "cc/unit.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

class Datatypes {
 public:
  void add(const Unit& unit);

  // Whether it is a value of MPI_Datatype.
  static bool is_one(const clang::Expr* e);
  // What such a value is: one of MPI's own, or what a variable has. Empty: nobody knows.
  static std::string name_of(const Unit& unit, const clang::Expr* e);
  // MPI's own that all values of this name are made of. Empty: others, perhaps.
  std::set<std::string> bases_of(const std::string& name) const;
  // Whether one of MPI's own has characters, or bytes.
  static bool has_characters(const std::string& name);

 private:
  friend class DatatypeVisitor;
  bool find_bases(const std::string& name, std::set<std::string>* seen, std::set<std::string>* bases) const;

  std::map<std::string, std::set<std::string>> made_of_;  // by variables: names, as above
};

}  // namespace elc::cc

#endif
