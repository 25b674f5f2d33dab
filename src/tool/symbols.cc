#include "symbols.h"

#include <cxxabi.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <vector>

#include "content.h"

#if ELC_HAVE_LIBDW
#include <fcntl.h>
#include <unistd.h>

#include "debug_information.h"
#endif

namespace elc::tool {
namespace {

// A structure in the file, or nothing where it ends before.
template <class T>
bool read_at(const std::string& content, uint64_t offset, T* out) {
  if (offset > content.size() || sizeof(T) > content.size() - offset) return false;
  memcpy(out, content.data() + offset, sizeof(T));
  return true;
}

std::string text_at(const std::string& content, uint64_t offset) {
  return offset < content.size() ? std::string(content.c_str() + offset) : "";
}

// Without what a compiler adds to the names of static variables of functions ("calls.0"), and as C++ has it.
std::string name_for_people(const std::string& linked) {
  int status = 0;
  char* const plain = abi::__cxa_demangle(linked.c_str(), nullptr, nullptr, &status);
  std::string name = plain != nullptr && status == 0 ? plain : linked;
  free(plain);
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0 && name.find_first_not_of("0123456789", dot + 1) == std::string::npos) name.resize(dot);
  return name;
}

struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Section = Elf32_Shdr;
  using Entry = Elf32_Sym;
};
struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Section = Elf64_Shdr;
  using Entry = Elf64_Sym;
};

constexpr uint64_t kPage = 4096;

template <class Elf>
void read_elf(const std::string& content, uint64_t* base, std::vector<Symbol>* symbols) {
  typename Elf::Header header;
  if (!read_at(content, 0, &header)) return;
  bool first = true;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    typename Elf::Segment segment;
    if (!read_at(content, header.e_phoff + i * sizeof segment, &segment) || segment.p_type != PT_LOAD || !first) continue;
    *base = segment.p_vaddr & ~(kPage - 1);
    first = false;
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    typename Elf::Section section, names;
    if (!read_at(content, header.e_shoff + i * sizeof section, &section)) return;
    if (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM) continue;
    if (!read_at(content, header.e_shoff + section.sh_link * sizeof names, &names)) return;
    for (uint64_t at = 0; at < section.sh_size; at += sizeof(typename Elf::Entry)) {
      typename Elf::Entry entry;
      if (!read_at(content, section.sh_offset + at, &entry)) return;
      if ((entry.st_info & 15) != STT_OBJECT || entry.st_size == 0 || entry.st_shndx == SHN_UNDEF) continue;
      Symbol symbol;
      symbol.begin = entry.st_value, symbol.size = entry.st_size;
      symbol.linked = text_at(content, names.sh_offset + entry.st_name);
      symbol.name = name_for_people(symbol.linked);
      symbols->push_back(symbol);
    }
  }
}

}  // namespace

Symbols::Symbols(const std::string& path) {
  read_table(path);
  read_debug_information(path);
}

void Symbols::read_table(const std::string& path) {
  const std::string content = content_of(path);
  if (content.size() < EI_NIDENT || content.compare(0, SELFMAG, ELFMAG) != 0) return;
  std::vector<Symbol> symbols;
  if (content[EI_CLASS] == ELFCLASS64) read_elf<Elf64>(content, &base_, &symbols);
  else read_elf<Elf32>(content, &base_, &symbols);
  for (Symbol& symbol : symbols) {
    symbol.begin -= base_;
    all_.try_emplace(symbol.begin, symbol);
  }
}

#if ELC_HAVE_LIBDW
void Symbols::read_debug_information(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  Dwarf* const dwarf = dwarf_begin(fd, DWARF_C_READ);
  Dwarf_Off at = 0, next = 0;
  size_t header = 0;
  for (; dwarf != nullptr && dwarf_nextcu(dwarf, at, &next, &header, nullptr, nullptr, nullptr) == 0; at = next) {
    Dwarf_Die unit;
    if (dwarf_offdie(dwarf, at + header, &unit) == nullptr) continue;
    each_static(&unit, "", [](Dwarf_Die*) { return true; }, [this](Dwarf_Die* die, const std::string& function, uint64_t address) {
      const auto found = all_.find(address - base_);
      if (found == all_.end()) return;
      Symbol& symbol = found->second;
      symbol.type = type_of(die);
      symbol.function = function;
      symbol.place = place_of(die);
    });
  }
  if (dwarf != nullptr) dwarf_end(dwarf);
  close(fd);
}
#else
void Symbols::read_debug_information(const std::string&) {}
#endif

const Symbol* Symbols::at(uint64_t offset) const {
  auto behind = all_.upper_bound(offset);
  if (behind == all_.begin()) return nullptr;
  const Symbol& symbol = (--behind)->second;
  return offset - symbol.begin < symbol.size ? &symbol : nullptr;
}

}  // namespace elc::tool
