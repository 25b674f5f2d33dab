#include "cc/apart.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "llvm/Object/ELFTypes.h"

namespace elc::cc {
namespace {

constexpr uint64_t kGap = 1;

// In the format of a class of machines.
template <class Format>
class Object {
 public:
  explicit Object(std::string* bytes) : bytes_(*bytes) {}

  void set_apart() {
    const auto* const header = at<typename Format::Ehdr>(0);
    if (header == nullptr) return;
    sections_ = header->e_shoff;
    names_ = header->e_shstrndx;
    count_ = header->e_shnum;
    std::vector<size_t> variables;
    for (size_t i = 0; i < count_; ++i)
      if (const auto* table = section(i); table != nullptr && table->sh_type == llvm::ELF::SHT_SYMTAB) find(*table, &variables);
    for (const size_t variable : variables) enlarge(variable);
  }

 private:
  template <class T>
  T* at(uint64_t offset) const {
    return offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset ? reinterpret_cast<T*>(bytes_.data() + offset) : nullptr;
  }
  typename Format::Shdr* section(size_t i) const { return i < count_ ? at<typename Format::Shdr>(sections_ + i * sizeof(typename Format::Shdr)) : nullptr; }
  std::string_view text(size_t table, uint64_t offset) const {
    const auto* const strings = section(table);
    const uint64_t begin = strings == nullptr ? bytes_.size() : strings->sh_offset + offset;
    return begin < bytes_.size() ? std::string_view(bytes_.data() + begin) : std::string_view();
  }

  // Sections that are one variable, by the symbols of a table; what several files have together is larger at once.
  void find(const typename Format::Shdr& table, std::vector<size_t>* variables) const {
    for (uint64_t i = 0; i < table.sh_size / sizeof(typename Format::Sym); ++i) {
      auto* const symbol = at<typename Format::Sym>(table.sh_offset + i * sizeof(typename Format::Sym));
      if (symbol == nullptr || symbol->getType() != llvm::ELF::STT_OBJECT) continue;
      if (symbol->st_shndx == llvm::ELF::SHN_COMMON) symbol->st_size = symbol->st_size + kGap;
      const auto* const place = symbol->st_shndx < llvm::ELF::SHN_LORESERVE ? section(symbol->st_shndx) : nullptr;
      constexpr uint64_t kOther = llvm::ELF::SHF_MERGE | llvm::ELF::SHF_TLS | llvm::ELF::SHF_EXECINSTR;
      if (place == nullptr || (place->sh_flags & llvm::ELF::SHF_ALLOC) == 0 || (place->sh_flags & kOther) != 0) continue;
      if (place->sh_type != llvm::ELF::SHT_PROGBITS && place->sh_type != llvm::ELF::SHT_NOBITS) continue;
      // That a program has named itself is perhaps one of several side by side, which it counts.
      const std::string own = "." + std::string(text(table.sh_link, symbol->st_name));
      if (symbol->st_value == 0 && symbol->st_size == place->sh_size && symbol->st_size > 0 && text(names_, place->sh_name).ends_with(own)) variables->push_back(symbol->st_shndx);
    }
  }

  void enlarge(size_t variable) {
    const auto* const before = section(variable);
    const uint64_t begin = before->sh_offset, size = before->sh_size, to = std::max<uint64_t>(before->sh_addralign, 1);
    uint64_t place = begin;
    if (before->sh_type != llvm::ELF::SHT_NOBITS) {
      if (begin > bytes_.size() || size > bytes_.size() - begin) return;
      place = (bytes_.size() + to - 1) / to * to;
      bytes_.resize(place);
      bytes_.append(bytes_.substr(begin, size)).append(kGap, '\0');
    }
    auto* const after = section(variable);
    after->sh_offset = place;
    after->sh_size = size + kGap;
  }

  std::string& bytes_;
  uint64_t sections_ = 0;
  size_t names_ = 0, count_ = 0;
};

}  // namespace

void set_apart(std::string* object) {
  using namespace llvm::object;
  if (object->size() < llvm::ELF::EI_NIDENT || !object->starts_with(llvm::ELF::ElfMagic)) return;
  const bool is_wide = (*object)[llvm::ELF::EI_CLASS] == llvm::ELF::ELFCLASS64, is_little = (*object)[llvm::ELF::EI_DATA] == llvm::ELF::ELFDATA2LSB;
  if (is_wide && is_little) Object<ELF64LE>(object).set_apart();
  else if (is_wide) Object<ELF64BE>(object).set_apart();
  else if (is_little) Object<ELF32LE>(object).set_apart();
  else Object<ELF32BE>(object).set_apart();
}

}  // namespace elc::cc
