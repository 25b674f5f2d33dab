#include "reach.h"

#if ELC_HAVE_LIBDW

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <deque>
#include <set>

namespace elc::tool {
namespace {

constexpr unsigned kStackPointer = 7, kProgramCounter = 16;  // of x86-64, by their numbers in debug information
constexpr size_t kMostBlocks = 1 << 17;    // that are gone through
constexpr uint64_t kMostElements = 1 << 14;  // of an array of structs
constexpr int kMostSteps = 6;              // in a name: lists are as long as they like
constexpr size_t kHead = sizeof(uint64_t); // the size in front of each block of the GNU C library's malloc

std::string string_of(Dwarf_Die* die) {
  const char* const name = dwarf_diename(die);
  return name != nullptr ? name : "";
}

bool follow(Dwarf_Die* die, unsigned attribute, Dwarf_Die* to) {
  Dwarf_Attribute found;
  return dwarf_attr_integrate(die, attribute, &found) != nullptr && dwarf_formref_die(&found, to) != nullptr;
}

// Without names for types, const and the like; false: void.
bool plain_type(Dwarf_Die* die, Dwarf_Die* type) {
  return follow(die, DW_AT_type, type) && dwarf_peel_type(type, type) == 0;
}

uint64_t size_of(Dwarf_Die* type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

std::string name_of_type(Dwarf_Die* of, int depth = 0) {
  Dwarf_Die type;
  if (depth > 8 || !follow(of, DW_AT_type, &type)) return "void";
  switch (dwarf_tag(&type)) {
    case DW_TAG_pointer_type: return name_of_type(&type, depth + 1) + " *";
    case DW_TAG_const_type:
    case DW_TAG_volatile_type: return name_of_type(&type, depth + 1);
    case DW_TAG_array_type: return name_of_type(&type, depth + 1) + "[]";
    case DW_TAG_structure_type: return "struct " + string_of(&type);
    case DW_TAG_union_type: return "union " + string_of(&type);
    default: return string_of(&type);
  }
}

std::string place_of(Dwarf_Die* die) {
  const char* file = dwarf_decl_file(die);
  int line = 0;
  if (file == nullptr || dwarf_decl_line(die, &line) != 0) return "";
  if (const char* const slash = strrchr(file, '/')) file = slash + 1;
  return std::string(", ") + file + ":" + std::to_string(line);
}

std::string hex(int64_t n) {
  char text[32];
  snprintf(text, sizeof text, "%s%llx", n < 0 ? "-" : "", static_cast<unsigned long long>(n < 0 ? -n : n));
  return text;
}

std::string linked_name(Dwarf_Die* die) {
  Dwarf_Attribute linkage;
  const char* const name = dwarf_attr_integrate(die, DW_AT_linkage_name, &linkage) != nullptr ? dwarf_formstring(&linkage) : nullptr;
  return name != nullptr ? name : string_of(die);
}
bool of_the_library(const std::string& name) {
  for (const char* begin : {"ELC_", "MPI_", "PMPI_", "mpi_", "_ZN3elc", "_ZNK3elc", "_ZN3ELC", "_ZZN3elc", "_ZZNK3elc"})
    if (name.rfind(begin, 0) == 0) return true;
  return false;
}

// A variable to begin with.
struct Root {
  std::string key, name, about;
  Dwarf_Die die;
  uint64_t address = 0;
  std::string file;  // of a static variable
};

struct Frame {
  uint64_t pc = 0;
  uint64_t registers[kProgramCounter] = {};
};

// The blocks of malloc in the heap, by their beginnings.
std::map<uint64_t, uint64_t> blocks_of(const MemoryFile& memory) {
  std::map<uint64_t, uint64_t> blocks;
  for (const MemoryFile::Region& heap : memory.others) {
    if (heap.path != "[heap]") continue;
    for (uint64_t at = heap.begin; at + 2 * kHead < heap.end;) {
      uint64_t size = 0;
      memcpy(&size, memory.at(at + kHead, kHead), kHead);
      size &= ~uint64_t{7};
      if (size < 4 * kHead || size > heap.end - at) break;
      blocks[at + 2 * kHead] = size - kHead;
      at += size;
    }
  }
  return blocks;
}

}  // namespace

struct Programs::Inside {
  Dwfl_Callbacks callbacks = {};
  Dwfl* dwfl = nullptr;
  bool attached = false;
  const MemoryFile* memory = nullptr;  // that is looked at
  std::map<std::string, uint64_t> bases;
  std::set<std::string> own;           // files of the program, and not of the system
  std::vector<Root> statics;

  ~Inside() {
    if (dwfl != nullptr) dwfl_end(dwfl);
  }

  // The files lie where they lay before, or everything begins anew.
  bool open(const MemoryFile& of) {
    memory = &of;
    if (dwfl != nullptr && bases == of.files) return true;
    if (dwfl != nullptr) dwfl_end(dwfl);
    statics.clear();
    attached = false;
    bases = of.files;
    callbacks.find_elf = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; };
    callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
    dwfl = dwfl_begin(&callbacks);
    if (dwfl == nullptr) return false;
    dwfl_report_begin(dwfl);
    for (const auto& [path, base] : bases) dwfl_report_elf(dwfl, path.c_str(), path.c_str(), -1, base, false);
    dwfl_report_end(dwfl, nullptr, nullptr);
    find_statics();
    return true;
  }

  void find_statics() {
    own.clear();
    for (const MemoryFile::Region& region : memory->regions) own.insert(region.path);
    dwfl_getdwarf(dwfl, [](Dwfl_Module* module, void**, const char* name, Dwarf_Addr, Dwarf*, Dwarf_Addr bias, void* argument) -> int {
      Inside& self = *static_cast<Inside*>(argument);
      if (self.own.count(name) == 0) return DWARF_CB_OK;
      for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;) self.add_statics(unit, name, "", bias);
      return DWARF_CB_OK;
    }, this, 0);
  }

  void add_statics(Dwarf_Die* die, const std::string& file, const std::string& function, Dwarf_Addr bias) {
    Dwarf_Die child;
    if (dwarf_child(die, &child) != 0) return;
    do {
      const int tag = dwarf_tag(&child);
      if (tag == DW_TAG_subprogram && of_the_library(linked_name(&child))) continue;
      if (tag == DW_TAG_subprogram) add_statics(&child, file, string_of(&child), bias);
      else if (tag == DW_TAG_lexical_block || (tag == DW_TAG_namespace && string_of(&child) != "elc")) add_statics(&child, file, function, bias);
      if (tag != DW_TAG_variable) continue;
      Dwarf_Attribute location;
      Dwarf_Op* operations;
      size_t count = 0;
      if (dwarf_attr(&child, DW_AT_location, &location) == nullptr || dwarf_getlocation(&location, &operations, &count) != 0) continue;
      if (count != 1 || operations[0].atom != DW_OP_addr) continue;
      if (of_the_library(linked_name(&child))) continue;
      Dwarf_Die declared = child;
      follow(&child, DW_AT_specification, &declared);
      Root root;
      root.name = string_of(&child), root.key = "static " + function + " " + root.name + place_of(&declared);
      root.about = (function.empty() ? "" : "in " + function + "(), ");
      root.die = child, root.address = operations[0].number + bias, root.file = file;
      statics.push_back(root);
    } while (dwarf_siblingof(&child, &child) == 0);
  }

  // ---- Frames ----

  static const Inside& of(void* argument) { return *static_cast<const Inside*>(argument); }
  static pid_t next_thread(Dwfl*, void* inside, void** argument) {
    if (*argument != nullptr) return 0;
    *argument = inside;
    return 1;
  }
  static bool read_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* inside) {
    const char* const at = of(inside).memory->at(address, sizeof *word);
    if (at != nullptr) memcpy(word, at, sizeof *word);
    return at != nullptr;
  }
  static bool set_registers(Dwfl_Thread* thread, void* inside) {
    const std::vector<uint64_t>& values = of(inside).memory->registers;
    dwfl_thread_state_register_pc(thread, values[kProgramCounter]);
    return dwfl_thread_state_registers(thread, 0, kProgramCounter, values.data());
  }

  // From the innermost on.
  std::vector<Frame> frames() {
    static const Dwfl_Thread_Callbacks calls = {next_thread, nullptr, read_word, set_registers, nullptr, nullptr};
    std::vector<Frame> frames;
    if (memory->registers.size() != kProgramCounter + 1) return frames;
    if (!attached) attached = dwfl_attach_state(dwfl, nullptr, 1, &calls, this);
    if (!attached) return frames;
    const auto add = [](Dwfl_Frame* state, void* argument) -> int {
      Frame frame;
      Dwarf_Addr pc = 0;
      bool exact = false;
      if (!dwfl_frame_pc(state, &pc, &exact)) return DWARF_CB_ABORT;
      frame.pc = exact ? pc : pc - 1;
      for (unsigned i = 0; i < kProgramCounter; ++i) {
        Dwarf_Word value = 0;
        if (dwfl_frame_reg(state, i, &value) == 0) frame.registers[i] = value;
      }
      static_cast<std::vector<Frame>*>(argument)->push_back(frame);
      return DWARF_CB_OK;
    };
    dwfl_getthreads(dwfl, [](Dwfl_Thread* thread, void* argument) -> int {
      auto& [all, one] = *static_cast<std::pair<std::vector<Frame>*, int (*)(Dwfl_Frame*, void*)>*>(argument);
      dwfl_thread_getframes(thread, one, all);
      return DWARF_CB_OK;
    }, std::make_unique<std::pair<std::vector<Frame>*, int (*)(Dwfl_Frame*, void*)>>(&frames, add).get());
    return frames;
  }

  // The innermost scope first, up to the function; its name.
  std::string scopes_at(uint64_t pc, Dwarf_Addr* bias, std::vector<Dwarf_Die>* scopes) const {
    Dwfl_Module* const module = dwfl_addrmodule(dwfl, pc);
    const char* const path = module == nullptr ? nullptr : dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    if (path == nullptr || own.count(path) == 0) return "";
    Dwarf_Die* const unit = dwfl_addrdie(dwfl, pc, bias);
    Dwarf_Die* found = nullptr;
    const int count = unit == nullptr ? 0 : dwarf_getscopes(unit, pc - *bias, &found);
    std::string name;
    for (int i = 0; i < count; ++i) {
      scopes->push_back(found[i]);
      if (dwarf_tag(&found[i]) != DW_TAG_subprogram) continue;
      name = linked_name(&found[i]);
      break;
    }
    free(found);
    return name;
  }
  std::vector<Root> locals() {
    const std::vector<Frame> all = frames();
    std::vector<Root> roots;
    size_t first = 0;  // the innermost frame of the program
    for (size_t i = 0; i < all.size(); ++i) {
      Dwarf_Addr bias = 0;
      std::vector<Dwarf_Die> scopes;
      if (of_the_library(scopes_at(all[i].pc, &bias, &scopes))) first = i + 1;
    }
    for (size_t i = first; i + 1 < all.size(); ++i) {
      Dwarf_Addr bias = 0;
      std::vector<Dwarf_Die> scopes;
      if (scopes_at(all[i].pc, &bias, &scopes).empty()) continue;
      const std::string function = string_of(&scopes.back());
      const std::string depth = std::to_string(all.size() - i);
      for (Dwarf_Die& scope : scopes) {
        Dwarf_Die child;
        if (dwarf_child(&scope, &child) != 0) continue;
        do {
          const int tag = dwarf_tag(&child);
          Root root;
          if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) continue;
          if (!address_of(&child, &scopes.back(), all[i], all[i + 1], bias, &root.address)) continue;
          root.die = child, root.name = string_of(&child), root.about = "in " + function + "(), ";
          root.key = "local " + depth + " " + function + " " + root.name + place_of(&child);
          roots.push_back(root);
        } while (dwarf_siblingof(&child, &child) == 0);
      }
    }
    return roots;
  }

  // Of a local variable that lies in memory.
  static bool address_of(Dwarf_Die* die, Dwarf_Die* function, const Frame& frame, const Frame& caller, Dwarf_Addr bias, uint64_t* address) {
    Dwarf_Attribute location, base;
    Dwarf_Op *operations, *of_base;
    size_t count = 0, of_base_count = 0;
    if (dwarf_attr_integrate(die, DW_AT_location, &location) == nullptr ||
        dwarf_getlocation_addr(&location, frame.pc - bias, &operations, &count, 1) != 1 || count != 1)
      return false;
    const Dwarf_Op& one = operations[0];
    if (one.atom >= DW_OP_breg0 && one.atom < DW_OP_breg0 + kProgramCounter) {
      *address = frame.registers[one.atom - DW_OP_breg0] + one.number;
      return true;
    }
    if (one.atom != DW_OP_fbreg) return false;
    if (dwarf_attr_integrate(function, DW_AT_frame_base, &base) == nullptr ||
        dwarf_getlocation_addr(&base, frame.pc - bias, &of_base, &of_base_count, 1) != 1 || of_base_count != 1)
      return false;
    if (of_base[0].atom == DW_OP_call_frame_cfa) *address = caller.registers[kStackPointer] + one.number;
    else if (of_base[0].atom >= DW_OP_reg0 && of_base[0].atom < DW_OP_reg0 + kProgramCounter)
      *address = frame.registers[of_base[0].atom - DW_OP_reg0] + one.number;
    else return false;
    return true;
  }
};

// ---- What variables lead to ----

namespace {

class Walk {
 public:
  explicit Walk(const MemoryFile& memory) : memory_(memory), blocks_(blocks_of(memory)) {}

  void begin(Root root) {
    Dwarf_Die type;
    if (!plain_type(&root.die, &type)) return;
    const std::string kind = root.about + name_of_type(&root.die) + place_of(&root.die);
    Thing thing = {type, root.address, size_of(&type), root.name, root.key, kind, "", root.file.empty(), "", 0, root.file};
    if (!root.file.empty()) thing.offset = static_cast<int64_t>(root.address - memory_.files.at(root.file));
    for (const MemoryFile::Region& region : memory_.others)
      if (root.file.empty() && region.holds(root.address)) thing.file = region.path, thing.offset = static_cast<int64_t>(root.address - region.begin);
    visit(thing);
  }
  std::map<std::string, Reached> all() {
    for (size_t i = 0; i < kMostBlocks && !next_.empty(); ++i) {
      const Thing thing = next_.front();
      next_.pop_front();
      each_element(thing);
    }
    return std::move(found_);
  }

 private:
  struct Thing {
    Dwarf_Die type;          // of an element
    uint64_t begin, size;
    std::string name, key, about;
    std::string structure;   // that it is a member of
    bool kept;               // it is told, and not only led on from
    std::string way;         // Place's, up to the last step
    int64_t offset;          // that step
    std::string file;
  };

  void each_element(const Thing& block) {
    Thing element = block;
    element.size = size_of(&element.type);
    const uint64_t count = element.size == 0 ? 0 : block.size / element.size;
    if (count == 0) return;
    if (is_plain(&element.type)) return keep(count * element.size, false, block);
    for (uint64_t i = 0; i < count && i < kMostElements; ++i) {
      visit(element);
      element.begin += element.size, element.offset += static_cast<int64_t>(element.size);
    }
  }

  static bool is_plain(Dwarf_Die* type) {
    const int tag = dwarf_tag(type);
    return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_union_type;
  }

  void visit(const Thing& thing) {
    Thing at = thing;
    switch (dwarf_tag(&at.type)) {
      case DW_TAG_pointer_type:
      case DW_TAG_reference_type: return visit_pointer(at);
      case DW_TAG_array_type: {
        Dwarf_Die element = at.type;
        if (!plain_type(&at.type, &element) || at.size == 0) return;
        at.type = element;
        const uint64_t size = size_of(&element);
        if (size == 0) return;
        if (is_plain(&element)) return keep(at.size, false, at);
        return each_element(at);
      }
      case DW_TAG_structure_type:
      case DW_TAG_class_type: return visit_members(at);
      case DW_TAG_base_type:
      case DW_TAG_enumeration_type:
      case DW_TAG_union_type: return keep(at.size, false, at);
      default: return;
    }
  }

  void visit_members(const Thing& whole) {
    Thing of = whole;
    Dwarf_Die member;
    const std::string structure = string_of(&of.type);
    if (structure == "_IO_FILE" || dwarf_child(&of.type, &member) != 0) return;
    do {
      const int tag = dwarf_tag(&member);
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
      Dwarf_Attribute at;
      Dwarf_Word offset = 0;
      if (dwarf_attr(&member, DW_AT_data_member_location, &at) == nullptr || dwarf_formudata(&at, &offset) != 0) continue;
      Thing part = of;
      if (!plain_type(&member, &part.type)) continue;
      part.begin += offset, part.offset += static_cast<int64_t>(offset), part.size = size_of(&part.type), part.structure = structure;
      if (const std::string name = string_of(&member); !name.empty()) {
        const bool pointed = whole.name.size() > 2 && whole.name.compare(whole.name.size() - 2, 2, "->") == 0;
        part.name += (pointed || whole.name.empty() ? "" : ".") + name, part.key += "." + name;
      }
      part.about = whole.about.substr(0, whole.about.find("(), ") == std::string::npos ? 0 : whole.about.find("(), ") + 4) +
                   name_of_type(&member) + place_of(&member);
      visit(part);
    } while (dwarf_siblingof(&member, &member) == 0);
  }

  void visit_pointer(const Thing& pointer) {
    keep(sizeof(uint64_t), true, pointer);
    Thing block = pointer;
    const char* const value = memory_.at(pointer.begin, sizeof(uint64_t));
    if (value == nullptr || !plain_type(&block.type, &block.type)) return;
    uint64_t to = 0;
    memcpy(&to, value, sizeof to);
    auto behind = blocks_.upper_bound(to);
    if (behind == blocks_.begin()) return;
    const auto [begin, size] = *--behind;
    const uint64_t element = size_of(&block.type);
    if (to >= begin + size || element == 0 || !visited_.insert(begin).second) return;
    block.begin = begin, block.size = size;
    // A block of ELC_malloc has more than what the program has got.
    for (const MemoryFile::Range& range : memory_.variables)
      if (range.holds(to) && range.end - range.begin >= element) block.begin = range.begin, block.size = range.end - range.begin;
    const uint64_t before = (to - block.begin) % element;
    block.begin += before, block.size -= before;
    const bool one = block.size / element == 1;
    const bool is_struct = dwarf_tag(&block.type) == DW_TAG_structure_type || dwarf_tag(&block.type) == DW_TAG_class_type;
    if (is_struct && string_of(&block.type) == pointer.structure) {  // a list: "first->next" is all of its nodes behind the first
      leave_out_repeated(&block.name, "->");
      leave_out_repeated(&block.key, ">.");
    }
    if (std::count(block.key.begin(), block.key.end(), '>') < kMostSteps) block.name += one && is_struct ? "->" : "[]", block.key += ">";
    block.kept = true;
    block.way = pointer.way + hex(pointer.offset) + "*", block.offset = static_cast<int64_t>(block.begin - to);
    next_.push_back(block);
  }

  // "a->next->next": "a->next".
  static void leave_out_repeated(std::string* name, const std::string& separator) {
    const size_t last = name->rfind(separator);
    if (last == std::string::npos) return;
    const std::string step = name->substr(last);
    if (last >= step.size() && name->compare(last - step.size(), step.size(), step) == 0) name->resize(last);
  }

  void keep(uint64_t size, bool pointer, const Thing& thing) {
    if (!thing.kept || size == 0 || memory_.at(thing.begin, size) == nullptr) return;
    for (const MemoryFile::Region& region : memory_.regions)
      if (region.holds(thing.begin)) return;
    Reached& reached = found_[thing.key];
    reached.name = thing.name, reached.about = thing.about;
    reached.places.push_back({thing.begin, size, pointer, thing.way + hex(thing.offset), thing.file});
  }

  const MemoryFile& memory_;
  const std::map<uint64_t, uint64_t> blocks_;
  std::set<uint64_t> visited_;
  std::deque<Thing> next_;
  std::map<std::string, Reached> found_;
};

}  // namespace

Programs::Programs() : inside_(std::make_unique<Inside>()) {}
Programs::~Programs() = default;

std::map<std::string, Reached> Programs::reached(const MemoryFile& memory) {
  if (!inside_->open(memory)) return {};
  Walk walk(memory);
  for (const Root& root : inside_->locals()) walk.begin(root);
  for (const Root& root : inside_->statics) walk.begin(root);
  return walk.all();
}

std::string Programs::at(const MemoryFile& memory, uint64_t address) {
  for (const auto& [key, one] : reached(memory))
    for (const Place& place : one.places)
      if (address >= place.begin && address - place.begin < place.size) return one.name;
  Dwfl_Module* const module = inside_->dwfl == nullptr ? nullptr : dwfl_addrmodule(inside_->dwfl, address);
  const char* const name = module == nullptr ? nullptr : dwfl_module_addrname(module, address);
  return name != nullptr ? name : "";
}

}  // namespace elc::tool

#else

namespace elc::tool {
struct Programs::Inside {};
Programs::Programs() = default;
Programs::~Programs() = default;
std::map<std::string, Reached> Programs::reached(const MemoryFile&) { return {}; }
std::string Programs::at(const MemoryFile&, uint64_t) { return ""; }
}  // namespace elc::tool

#endif
