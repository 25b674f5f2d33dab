#include "cc/objects.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

namespace elc::cc {

namespace fs = std::filesystem;

namespace {

constexpr const char* kSection = ".elc";
constexpr const char* kFirstLine = "elc-cc 3";

std::string packed(const Record& record) {
  std::ostringstream out;
  out << kFirstLine << '\n' << record.source << '\n' << record.path << '\n' << record.target << '\n';
  for (const std::vector<std::string>* list : {&record.flags, &record.defined, &record.undefined}) {
    out << list->size() << '\n';
    for (const std::string& word : *list) out << word << '\n';
  }
  out << record.text.size() << '\n' << record.text;
  return out.str();
}

// A linker that joins objects puts their sections one behind the other, with zeros between.
std::vector<Record> unpacked(const std::string& section) {
  std::vector<Record> all;
  size_t at = 0;
  const auto line = [&] {
    const size_t end = section.find('\n', at);
    std::string found = section.substr(at, end == std::string::npos ? end : end - at);
    at = end == std::string::npos ? section.size() : end + 1;
    return found;
  };
  while ((at = section.find(kFirstLine, at)) != std::string::npos) {
    line();
    Record record;
    record.source = line();
    record.path = line();
    record.target = line();
    for (std::vector<std::string>* list : {&record.flags, &record.defined, &record.undefined})
      for (size_t n = strtoul(line().c_str(), nullptr, 10); n > 0; --n) list->push_back(line());
    const size_t size = strtoul(line().c_str(), nullptr, 10);
    record.text = section.substr(at, size);
    at += record.text.size();
    all.push_back(std::move(record));
  }
  return all;
}

template <class ELFT>
void read_dynamic(const llvm::object::ELFObjectFile<ELFT>& object, Member* member) {
  auto entries = object.getELFFile().dynamicEntries();
  if (!entries) return llvm::consumeError(entries.takeError());
  const auto text = [&](uint64_t offset) -> std::string {
    for (const auto& entry : *entries) {
      if (entry.getTag() != llvm::ELF::DT_STRTAB) continue;
      auto at = object.getELFFile().toMappedAddr(entry.getPtr() + offset);
      if (at) return reinterpret_cast<const char*>(*at);
      llvm::consumeError(at.takeError());
    }
    return "";
  };
  for (const auto& entry : *entries) {
    if (entry.getTag() == llvm::ELF::DT_NEEDED) member->needed.push_back(text(entry.getVal()));
    if (entry.getTag() != llvm::ELF::DT_RPATH && entry.getTag() != llvm::ELF::DT_RUNPATH) continue;
    std::istringstream all(text(entry.getVal()));
    for (std::string one; std::getline(all, one, ':');) {
      const size_t origin = one.find("$ORIGIN");
      if (origin != std::string::npos) one.replace(origin, 7, fs::path(member->path).parent_path().string());
      member->directories.push_back(one);
    }
  }
}

void read_dynamic(const llvm::object::ObjectFile& object, Member* member) {
  using namespace llvm::object;
  const auto* const elf = llvm::dyn_cast<ELFObjectFileBase>(&object);
  member->is_shared_library = elf != nullptr && elf->getEType() == llvm::ELF::ET_DYN;
  if (!member->is_shared_library) return;
  for (const SymbolRef& symbol : elf->getDynamicSymbolIterators()) {
    const auto name = llvm::expectedToOptional(symbol.getName());
    const auto flags = llvm::expectedToOptional(symbol.getFlags());
    if (name && flags && (*flags & SymbolRef::SF_Undefined) != 0) member->undefined.push_back(name->str());
  }
  if (const auto* little = llvm::dyn_cast<ELF64LEObjectFile>(&object)) read_dynamic(*little, member);
  if (const auto* big = llvm::dyn_cast<ELF64BEObjectFile>(&object)) read_dynamic(*big, member);
  if (const auto* narrow = llvm::dyn_cast<ELF32LEObjectFile>(&object)) read_dynamic(*narrow, member);
}

Member member_of(const std::string& path, llvm::MemoryBufferRef buffer) {
  Member member;
  member.path = path;
  auto object = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!object) {
    llvm::consumeError(object.takeError());
    return member;
  }
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    const auto name = llvm::expectedToOptional(symbol.getName());
    const auto flags = llvm::expectedToOptional(symbol.getFlags());
    if (!name || !flags || (*flags & llvm::object::SymbolRef::SF_Global) == 0) continue;
    ((*flags & llvm::object::SymbolRef::SF_Undefined) != 0 ? member.undefined : member.defined).push_back(name->str());
  }
  for (const llvm::object::SectionRef& section : (*object)->sections()) {
    const auto name = llvm::expectedToOptional(section.getName());
    const auto content = llvm::expectedToOptional(section.getContents());
    if (name && content && *name == kSection) member.records = unpacked(content->str());
    for (const char* list : {".init_array", ".ctors", ".fini_array", ".dtors"}) member.runs_by_itself |= name && name->startswith(list);
  }
  read_dynamic(**object, &member);
  return member;
}

std::string of_signals;  // the directory that goes when a signal ends the process

// In the middle of anything: fork() would wait for the lock of malloc, which this process may hold.
void end_by(int signal_number) {
  if (const pid_t child = vfork(); child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", of_signals.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  } else if (child > 0) {
    waitpid(child, nullptr, 0);
  }
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

Scratch::Scratch() {
  const char* const where = getenv("TMPDIR");
  std::string pattern = std::string(where != nullptr && *where != '\0' ? where : "/tmp") + "/elc-cc-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    perror(("elc-cc: " + pattern).c_str());
    exit(1);
  }
  path_ = of_signals = pattern;
  for (const int each : {SIGINT, SIGTERM, SIGHUP})
    if (signal(each, end_by) == SIG_IGN) signal(each, SIG_IGN);
}

void Scratch::keep() {
  keeps_ = true;
  of_signals.clear();
}

Scratch::~Scratch() {
  std::error_code ignored;
  if (!keeps_) fs::remove_all(path_, ignored);
}

std::string Scratch::file(const std::string& name) {
  const std::string directory = path_ + "/" + std::to_string(next_++);
  fs::create_directory(directory);
  return directory + "/" + name;
}

namespace {

int run_with(const std::vector<std::string>& command, llvm::ArrayRef<llvm::Optional<llvm::StringRef>> streams) {
  const auto program = llvm::sys::findProgramByName(command[0]);
  if (!program) {
    fprintf(stderr, "elc-cc: %s is not found\n", command[0].c_str());
    return 127;
  }
  const std::vector<llvm::StringRef> words(command.begin(), command.end());
  std::string why;
  const int code = llvm::sys::ExecuteAndWait(*program, words, llvm::None, streams, 0, 0, &why);
  if (code < 0) fprintf(stderr, "elc-cc: %s: %s\n", command[0].c_str(), why.c_str());
  return code < 0 ? 1 : code;
}

}  // namespace

int run(const std::vector<std::string>& command) { return run_with(command, {}); }

int run_quietly(const std::vector<std::string>& command) { return run_with(command, {llvm::StringRef(""), llvm::StringRef(""), llvm::StringRef("")}); }

std::string output_of(const std::vector<std::string>& command, Scratch& scratch) {
  const auto program = llvm::sys::findProgramByName(command[0]);
  if (!program) return "";
  const std::vector<llvm::StringRef> words(command.begin(), command.end());
  const std::string file = scratch.file("output");
  llvm::sys::ExecuteAndWait(*program, words, llvm::None, {llvm::StringRef(""), llvm::StringRef(file), llvm::None});
  std::string text = read_file(file);
  return text.substr(0, text.find('\n'));
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

bool write_file(const std::string& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary);
  out << content;
  out.close();
  if (out) return true;
  perror(("elc-cc: " + path).c_str());
  return false;
}

bool add_records(const std::string& object, const std::vector<Record>& records, const std::string& objcopy, Scratch& scratch) {
  const std::string file = scratch.file("records");
  std::string all;
  for (const Record& record : records) all += packed(record);
  return write_file(file, all) &&
         run({objcopy, "--add-section", std::string(kSection) + "=" + file, "--set-section-flags", std::string(kSection) + "=exclude", object}) == 0;
}

std::vector<Member> members_of(const std::string& path, Scratch& scratch) {
  std::vector<Member> all;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) return all;
  const llvm::StringRef content = (*buffer)->getBuffer();
  if (!content.startswith("!<arch>\n") && !content.startswith("!<thin>\n")) {
    Member whole = member_of(path, (*buffer)->getMemBufferRef());
    if (!whole.is_shared_library || whole.records.empty()) return {whole};
    const std::vector<Record> records = std::move(whole.records);
    for (const Record& record : records) {
      all.push_back(whole);
      all.back().records = {record};
      all.back().defined = record.defined;
      all.back().undefined = record.undefined;
    }
    return all;
  }
  auto archive = llvm::object::Archive::create((*buffer)->getMemBufferRef());
  if (!archive) {
    llvm::consumeError(archive.takeError());
    return all;
  }
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : (*archive)->children(error)) {
    auto member = child.getMemoryBufferRef();
    auto name = child.getName();
    if (!member || !name) {
      if (!member) llvm::consumeError(member.takeError());
      if (!name) llvm::consumeError(name.takeError());
      continue;
    }
    const std::string copy = scratch.file(fs::path(name->str()).filename());
    if (!write_file(copy, member->getBuffer().str())) continue;
    all.push_back(member_of(copy, *member));
  }
  llvm::consumeError(std::move(error));
  return all;
}

}  // namespace elc::cc
