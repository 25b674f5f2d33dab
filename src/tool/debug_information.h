// What libdw has of variables and types, for people. Where the command was built with libdw only.
#ifndef ELC_TOOL_DEBUG_INFORMATION_H
#define ELC_TOOL_DEBUG_INFORMATION_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdint.h>

#include <string>

namespace elc::tool {

// "" for none.
std::string string_of(Dwarf_Die* die);
// What the attribute of `die` refers to; false: it has none.
bool follow(Dwarf_Die* die, unsigned attribute, Dwarf_Die* to);
// Of a variable or a member: "double[8]".
std::string type_of(Dwarf_Die* die, int depth = 0);
// Where it is declared: "force.c:17"; "" for nowhere.
std::string place_of(Dwarf_Die* die);
// Whether the variable is static, and its address.
bool address_of(Dwarf_Die* die, uint64_t* address);

// Calls found(die, function, address) for the static variables below `die`, which lie in this function ("" for none), but does not go
// into functions and namespaces for which enters(die) is false.
template <class Enters, class Found>
void each_static(Dwarf_Die* die, const std::string& function, Enters enters, Found found) {
  Dwarf_Die child;
  if (dwarf_child(die, &child) != 0) return;
  do {
    const int tag = dwarf_tag(&child);
    uint64_t address = 0;
    if (tag == DW_TAG_variable && address_of(&child, &address)) found(&child, function, address);
    else if (tag == DW_TAG_subprogram && enters(&child)) each_static(&child, string_of(&child), enters, found);
    else if (tag == DW_TAG_lexical_block || ((tag == DW_TAG_namespace || tag == DW_TAG_module) && enters(&child)))
      each_static(&child, function, enters, found);
  } while (dwarf_siblingof(&child, &child) == 0);
}

}  // namespace elc::tool

#endif
