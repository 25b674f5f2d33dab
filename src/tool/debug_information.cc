#if ELC_HAVE_LIBDW

#include "debug_information.h"

#include <filesystem>

namespace elc::tool {

std::string string_of(Dwarf_Die* die) {
  const char* name = dwarf_diename(die);
  return name != nullptr ? name : "";
}

bool follow(Dwarf_Die* die, unsigned attribute, Dwarf_Die* to) {
  Dwarf_Attribute found;
  return dwarf_attr_integrate(die, attribute, &found) != nullptr && dwarf_formref_die(&found, to) != nullptr;
}

std::string type_of(Dwarf_Die* die, int depth) {
  Dwarf_Die type;
  if (depth > 16 || !follow(die, DW_AT_type, &type)) return "void";
  switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type: return type_of(&type, depth + 1) + " *";
    case DW_TAG_const_type: {
      const std::string of = type_of(&type, depth + 1);
      return of.back() == '*' ? of + " const" : "const " + of;
    }
    case DW_TAG_volatile_type: return "volatile " + type_of(&type, depth + 1);
    case DW_TAG_structure_type: return "struct " + string_of(&type);
    case DW_TAG_union_type: return "union " + string_of(&type);
    case DW_TAG_enumeration_type: return "enum " + string_of(&type);
    case DW_TAG_array_type: break;
    default: return string_of(&type);
  }
  std::string text = type_of(&type, depth + 1);
  Dwarf_Die part;
  if (dwarf_child(&type, &part) != 0) return text;
  do {
    Dwarf_Attribute bound;
    Dwarf_Word count = 0;
    if (dwarf_attr(&part, DW_AT_count, &bound) != nullptr && dwarf_formudata(&bound, &count) == 0) text += "[" + std::to_string(count) + "]";
    else if (dwarf_attr(&part, DW_AT_upper_bound, &bound) != nullptr && dwarf_formudata(&bound, &count) == 0)
      text += "[" + std::to_string(count + 1) + "]";
  } while (dwarf_siblingof(&part, &part) == 0);
  return text;
}

std::string place_of(Dwarf_Die* die) {
  Dwarf_Die declared = *die;
  int line = 0;
  follow(die, DW_AT_specification, &declared);
  const char* const file = dwarf_decl_file(&declared);
  if (file == nullptr || dwarf_decl_line(&declared, &line) != 0) return "";
  return std::filesystem::path(file).filename().string() + ":" + std::to_string(line);
}

bool address_of(Dwarf_Die* die, uint64_t* address) {
  Dwarf_Attribute location;
  Dwarf_Op* operations;
  size_t count = 0;
  if (dwarf_attr(die, DW_AT_location, &location) == nullptr || dwarf_getlocation(&location, &operations, &count) != 0) return false;
  if (count == 1 && (operations[0].atom == DW_OP_addr)) {
    *address = operations[0].number;
    return true;
  }
  return false;
}

}  // namespace elc::tool

#endif
