#include "reach.h"

#if ELC_HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "debug_information.h"

namespace elc::tool {

// A variable to begin with.
struct Root {
  Dwarf_Die die;
  uint64_t address = 0;
  std::string key, file;   // of a static variable
  std::string function;
};

namespace {

constexpr unsigned kStackPointer = 7, kProgramCounter = 16;  // of x86-64, by their numbers in debug information
constexpr size_t kMostBlocks = 1 << 17;      // that are gone through
constexpr uint64_t kMostElements = 1 << 14;  // of an array of structs
constexpr int kMostSteps = 6;                // in a name
constexpr size_t kLongestWay = 480;          // the library reads no longer one
constexpr size_t kWord = sizeof(uint64_t);   // the size in front of each block of the GNU C library's malloc, too

// Without names for types, const and the like; false: void.
bool plain_type(Dwarf_Die* die, Dwarf_Die* type) { return follow(die, DW_AT_type, type) && dwarf_peel_type(type, type) == 0; }

uint64_t size_of(Dwarf_Die* type) {
  Dwarf_Word size = 0;
  return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

bool is_struct(Dwarf_Die* type) { return dwarf_tag(type) == DW_TAG_structure_type || dwarf_tag(type) == DW_TAG_class_type; }
// A name that only the C++ library may give.
bool is_reserved(const std::string& name) { return name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z'; }
bool is_plain(Dwarf_Die* type) {
  const int tag = dwarf_tag(type);
  return tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_union_type;
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
bool of_the_library(Dwarf_Die* die) {
  const std::string name = linked_name(die);
  for (const char* begin : {"ELC_", "MPI_", "PMPI_", "mpi_", "_ZN3elc", "_ZNK3elc", "_ZN3ELC", "_ZZN3elc", "_ZZNK3elc"})
    if (name.rfind(begin, 0) == 0) return true;
  return dwarf_tag(die) == DW_TAG_namespace && name == "elc";
}

struct Frame {
  uint64_t pc = 0;
  uint64_t registers[kProgramCounter] = {};
};

// Of a local variable that lies in memory.
bool find_local(Dwarf_Die* die, Dwarf_Die* function, const Frame& frame, const Frame& caller, Dwarf_Addr bias, uint64_t* address) {
  const auto one_operation = [&](Dwarf_Die* of, unsigned attribute, Dwarf_Op* out) {
    Dwarf_Attribute location;
    Dwarf_Op* operations;
    size_t count = 0;
    if (dwarf_attr_integrate(of, attribute, &location) == nullptr) return false;
    if (dwarf_getlocation_addr(&location, frame.pc - bias, &operations, &count, 1) != 1 || count != 1) return false;
    *out = operations[0];
    return true;
  };
  Dwarf_Op at, base;
  if (!one_operation(die, DW_AT_location, &at) || at.atom != DW_OP_fbreg || !one_operation(function, DW_AT_frame_base, &base)) return false;
  if (base.atom == DW_OP_call_frame_cfa) *address = caller.registers[kStackPointer] + at.number;
  else if (base.atom >= DW_OP_reg0 && base.atom < DW_OP_reg0 + kProgramCounter) *address = frame.registers[base.atom - DW_OP_reg0] + at.number;
  else return false;
  return true;
}

}  // namespace

struct Programs::Inside {
  Dwfl_Callbacks callbacks = {};
  Dwfl* dwfl = nullptr;
  bool attached = false;
  const MemoryFile* memory = nullptr;        // that is looked at
  std::map<std::string, uint64_t> bases;
  std::set<std::string> own;                 // files of the program, and not of the system
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
    own.clear();
    attached = false;
    bases = of.files;
    callbacks.find_elf = [](Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; };
    callbacks.find_debuginfo = dwfl_standard_find_debuginfo;
    dwfl = dwfl_begin(&callbacks);
    if (dwfl == nullptr) return false;
    dwfl_report_begin(dwfl);
    for (const auto& [path, base] : bases) dwfl_report_elf(dwfl, path.c_str(), path.c_str(), -1, base, false);
    dwfl_report_end(dwfl, nullptr, nullptr);
    for (const MemoryFile::Region& region : memory->regions) own.insert(region.path);
    dwfl_getdwarf(dwfl, [](Dwfl_Module* module, void**, const char* name, Dwarf_Addr, Dwarf*, Dwarf_Addr, void* inside) -> int {
      static_cast<Inside*>(inside)->add_statics(module, name);
      return DWARF_CB_OK;
    }, this, 0);
    return true;
  }

  void add_statics(Dwfl_Module* module, const std::string& file) {
    Dwarf_Addr bias = 0;
    if (own.count(file) == 0) return;
    for (Dwarf_Die* unit = nullptr; (unit = dwfl_module_nextcu(module, unit, &bias)) != nullptr;)
      each_static(unit, "", [](Dwarf_Die* die) { return !of_the_library(die); }, [&](Dwarf_Die* die, const std::string& function, uint64_t address) {
        if (!of_the_library(die)) statics.push_back({*die, address + bias, "static " + function, file, function});
      });
  }

  // ---- Frames ----

  static const MemoryFile& memory_of(void* inside) { return *static_cast<const Inside*>(inside)->memory; }
  static pid_t next_thread(Dwfl*, void* inside, void** argument) {
    if (*argument != nullptr) return 0;
    *argument = inside;
    return 1;
  }
  static bool read_word(Dwfl*, Dwarf_Addr address, Dwarf_Word* word, void* inside) {
    const char* const at = memory_of(inside).at(address, sizeof *word);
    if (at != nullptr) memcpy(word, at, sizeof *word);
    return at != nullptr;
  }
  static bool set_registers(Dwfl_Thread* thread, void* inside) {
    const std::vector<uint64_t>& values = memory_of(inside).registers;
    dwfl_thread_state_register_pc(thread, values[kProgramCounter]);
    return dwfl_thread_state_registers(thread, 0, kProgramCounter, values.data());
  }
  static int add_frame(Dwfl_Frame* state, void* frames) {
    Frame frame;
    bool exact = false;
    if (!dwfl_frame_pc(state, &frame.pc, &exact)) return DWARF_CB_ABORT;
    if (!exact) frame.pc -= 1;  // of the call
    for (unsigned i = 0; i < kProgramCounter; ++i) dwfl_frame_reg(state, i, &frame.registers[i]);
    static_cast<std::vector<Frame>*>(frames)->push_back(frame);
    return DWARF_CB_OK;
  }
  // From the innermost on.
  std::vector<Frame> frames() {
    static const Dwfl_Thread_Callbacks calls = {next_thread, nullptr, read_word, set_registers, nullptr, nullptr};
    std::vector<Frame> found;
    if (memory->registers.size() != kProgramCounter + 1) return found;
    if (!attached) attached = dwfl_attach_state(dwfl, nullptr, 1, &calls, this);
    if (attached) dwfl_getthread_frames(dwfl, 1, add_frame, &found);
    return found;
  }

  // Of a function of the program: the innermost scope first, and itself at last.
  std::vector<Dwarf_Die> scopes_at(uint64_t pc, Dwarf_Addr* bias) const {
    std::vector<Dwarf_Die> scopes;
    Dwfl_Module* const module = dwfl_addrmodule(dwfl, pc);
    const char* const path = module == nullptr ? nullptr : dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    Dwarf_Die* const unit = path == nullptr || own.count(path) == 0 ? nullptr : dwfl_addrdie(dwfl, pc, bias);
    Dwarf_Die* found = nullptr;
    const int count = unit == nullptr ? 0 : dwarf_getscopes(unit, pc - *bias, &found);
    for (int i = 0; i < count && (scopes.empty() || dwarf_tag(&scopes.back()) != DW_TAG_subprogram); ++i) scopes.push_back(found[i]);
    free(found);
    return scopes;
  }

  std::vector<Root> locals() {
    const std::vector<Frame> all = frames();
    std::vector<Root> roots;
    for (size_t i = 0; i + 1 < all.size(); ++i) {
      Dwarf_Addr bias = 0;
      std::vector<Dwarf_Die> scopes = scopes_at(all[i].pc, &bias);
      if (scopes.empty()) continue;
      if (of_the_library(&scopes.back())) {  // what was called to be here
        roots.clear();
        continue;
      }
      const std::string function = string_of(&scopes.back()), key = "local " + std::to_string(all.size() - i) + " " + function;
      for (Dwarf_Die& scope : scopes) {
        Dwarf_Die child;
        if (dwarf_child(&scope, &child) != 0) continue;
        do {
          const int tag = dwarf_tag(&child);
          uint64_t address = 0;
          if ((tag == DW_TAG_variable || tag == DW_TAG_formal_parameter) && find_local(&child, &scopes.back(), all[i], all[i + 1], bias, &address))
            roots.push_back({child, address, key, "", function});
        } while (dwarf_siblingof(&child, &child) == 0);
      }
    }
    return roots;
  }
};

// ---- What variables lead to ----

namespace {

class Walk {
 public:
  explicit Walk(const MemoryFile& memory) : memory_(memory) { find_blocks(); }

  void begin(Root root) {
    Thing thing;
    if (!plain_type(&root.die, &thing.type)) return;
    thing.begin = root.address, thing.size = size_of(&thing.type);
    thing.name = string_of(&root.die), thing.key = root.key + " " + thing.name + " " + place_of(&root.die);
    thing.function = root.function.empty() ? "" : "in " + root.function + "(), ";
    thing.declared = root.die;
    thing.kept = root.file.empty();
    if (!root.file.empty()) thing.file = root.file, thing.offset = static_cast<int64_t>(root.address - memory_.files.at(root.file));
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
    Dwarf_Die type, declared;  // of an element; the variable or member that it is of
    uint64_t begin = 0, size = 0;
    std::string name, key, function;
    std::string structure;     // that it is a member of
    bool kept = false;         // it is told, and not only led on from: static variables are found by the table of symbols, too
    std::string way;           // Place's, up to the last step
    int64_t offset = 0;        // that step
    std::string file;
  };

  // The blocks of malloc in the heap, by their beginnings.
  void find_blocks() {
    for (const MemoryFile::Region& heap : memory_.others) {
      if (heap.path != "[heap]") continue;
      for (uint64_t at = heap.begin; at + 2 * kWord < heap.end;) {
        uint64_t size = 0;
        memcpy(&size, memory_.at(at + kWord, kWord), kWord);
        size &= ~uint64_t{7};  // these are flags
        if (size < 4 * kWord || size > heap.end - at) break;
        blocks_[at + 2 * kWord] = size - kWord;
        at += size;
      }
    }
  }

  void visit(const Thing& thing) {
    Thing at = thing;
    if (is_plain(&at.type)) keep(at.size, false, at);
    else if (is_struct(&at.type)) visit_members(at);
    else if (dwarf_tag(&at.type) == DW_TAG_pointer_type || dwarf_tag(&at.type) == DW_TAG_reference_type) visit_pointer(at);
    else if (dwarf_tag(&at.type) == DW_TAG_array_type && plain_type(&at.type, &at.type)) each_element(at);
  }

  // Of an array or a block.
  void each_element(const Thing& all) {
    Thing element = all;
    element.size = size_of(&element.type);
    const uint64_t count = element.size == 0 ? 0 : all.size / element.size;
    if (is_plain(&element.type)) return keep(count * element.size, false, all);
    for (uint64_t i = 0; i < count && i < kMostElements; ++i) {
      visit(element);
      element.begin += element.size, element.offset += static_cast<int64_t>(element.size);
    }
  }

  void visit_members(const Thing& whole) {
    Thing of = whole;
    Dwarf_Die member;
    const std::string structure = string_of(&of.type);
    if (structure == "_IO_FILE" || dwarf_child(&of.type, &member) != 0) return;  // a stream is the C library's
    do {
      const int tag = dwarf_tag(&member);
      Dwarf_Attribute at;
      Dwarf_Word offset = 0;
      Thing part = of;
      if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
      if (dwarf_attr(&member, DW_AT_data_member_location, &at) == nullptr || dwarf_formudata(&at, &offset) != 0) continue;
      if (!plain_type(&member, &part.type)) continue;
      part.begin += offset, part.offset += static_cast<int64_t>(offset), part.size = size_of(&part.type);
      part.structure = structure;
      const std::string name = string_of(&member);
      if (!name.empty()) part.key += "." + name;
      if (!name.empty() && !is_reserved(name)) {  // else the container is told: "x[]", and not "x._M_impl._M_start[]"
        const bool pointed = whole.name.size() > 2 && whole.name.compare(whole.name.size() - 2, 2, "->") == 0;
        part.name += (pointed ? "" : ".") + name, part.declared = member;
      }
      visit(part);
    } while (dwarf_siblingof(&member, &member) == 0);
  }

  void visit_pointer(const Thing& pointer) {
    keep(kWord, true, pointer);
    Thing block = pointer;
    const char* const value = memory_.at(pointer.begin, kWord);
    if (value == nullptr || !plain_type(&block.type, &block.type)) return;
    uint64_t to = 0;
    memcpy(&to, value, sizeof to);
    auto behind = blocks_.upper_bound(to);
    if (behind == blocks_.begin()) return;
    std::tie(block.begin, block.size) = *--behind;
    const uint64_t element = size_of(&block.type);
    if (to >= block.begin + block.size || element == 0 || !visited_.insert(block.begin).second) return;
    // A block of ELC_malloc has more than what the program has got.
    for (const MemoryFile::Range& range : memory_.variables)
      if (range.holds(to) && range.end - range.begin >= element) block.begin = range.begin, block.size = range.end - range.begin;
    const uint64_t before = (to - block.begin) % element;
    block.begin += before, block.size -= before;
    if (is_struct(&block.type) && string_of(&block.type) == pointer.structure) {  // a list: "first->next" is all of its nodes behind the first
      leave_out_repeated(&block.name, "->");
      leave_out_repeated(&block.key, ">.");
    }
    if (std::count(block.key.begin(), block.key.end(), '>') < kMostSteps)
      block.name += is_struct(&block.type) && block.size / element == 1 ? "->" : "[]", block.key += ">";
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
    if (reached.places.empty()) {
      Dwarf_Die declared = thing.declared;
      const std::string place = place_of(&declared);
      reached.name = thing.name, reached.about = thing.function + type_of(&declared) + (place.empty() ? "" : ", " + place);
    }
    const std::string way = thing.way + hex(thing.offset);
    reached.places.push_back({thing.begin, size, pointer, way.size() <= kLongestWay ? way : "", thing.file});
  }

  const MemoryFile& memory_;
  std::map<uint64_t, uint64_t> blocks_;
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
