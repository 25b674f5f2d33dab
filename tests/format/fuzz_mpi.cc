// Section "mpi" for the reader's fuzzer, with an MPI that makes datatypes of any arguments and does nothing
// else: what an MPI library makes of hostile arguments is not the subject here.
#include "tests/format/fuzz_mpi.h"

#include <map>

#include "line/saved.h"
#include "mpi/datatype/datatype_table.h"
#include "mpi/runtime/saved_mpi.h"
#include "tests/format/examine.h"
#include "tests/format/support.h"

namespace {

struct Made {
  MPI_Aint lower = 0, extent = 0;
};
std::map<MPI_Datatype, Made>& made_types() {
  static std::map<MPI_Datatype, Made> types;
  return types;
}

const std::map<MPI_Datatype, int>& sizes() {
  static const std::map<MPI_Datatype, int> sizes = {{MPI_CHAR, 1},
                                                    {MPI_SIGNED_CHAR, 1},
                                                    {MPI_UNSIGNED_CHAR, 1},
                                                    {MPI_BYTE, 1},
                                                    {MPI_WCHAR, 4},
                                                    {MPI_SHORT, 2},
                                                    {MPI_INT, 4},
                                                    {MPI_UNSIGNED, 4},
                                                    {MPI_LONG, 8},
                                                    {MPI_LONG_LONG, 8},
                                                    {MPI_FLOAT, 4},
                                                    {MPI_DOUBLE, 8},
                                                    {MPI_LONG_DOUBLE, 16},
                                                    {MPI_C_BOOL, 1},
                                                    {MPI_INT16_T, 2},
                                                    {MPI_UINT64_T, 8},
                                                    {MPI_DOUBLE_COMPLEX, 16},
                                                    {MPI_AINT, 8},
                                                    {MPI_DOUBLE_INT, 12},
                                                    {MPI_2INT, 8},
                                                    {MPI_C_DOUBLE_COMPLEX, 16},
                                                    {MPI_LONG_DOUBLE_INT, 20},
                                                    {MPI_SHORT_INT, 6},
                                                    {MPI_INTEGER, 4}};
  return sizes;
}

MPI_Aint extent_of(MPI_Datatype type) {
  const auto made = made_types().find(type);
  if (made != made_types().end()) return made->second.extent;
  if (type == MPI_DOUBLE_INT) return 16;
  if (type == MPI_LONG_DOUBLE_INT) return 32;
  if (type == MPI_SHORT_INT) return 8;
  const auto known = sizes().find(type);
  return known == sizes().end() ? 0 : known->second;
}

int make(MPI_Datatype old, uint64_t times, MPI_Datatype* type) {
  *type = static_cast<MPI_Datatype>(malloc(1));
  made_types()[*type] = {0, static_cast<MPI_Aint>(static_cast<uint64_t>(extent_of(old)) * times)};
  return MPI_SUCCESS;
}

uint64_t sum_of(int n, const int* values) {
  uint64_t sum = 0;
  for (int i = 0; i < n; ++i) sum += static_cast<uint64_t>(values[i]);
  return sum;
}

}  // namespace

extern "C" {
int PMPI_Type_size(MPI_Datatype type, int* size) {
  const auto known = sizes().find(type);
  if (known == sizes().end()) return MPI_ERR_TYPE;
  *size = known->second;
  return MPI_SUCCESS;
}
int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint* lower, MPI_Aint* extent) {
  const auto made = made_types().find(type);
  *lower = made == made_types().end() ? 0 : made->second.lower;
  *extent = extent_of(type);
  return MPI_SUCCESS;
}
int PMPI_Type_commit(MPI_Datatype*) { return MPI_SUCCESS; }
int PMPI_Type_free(MPI_Datatype* type) {
  if (made_types().erase(*type) != 1) abort();
  free(*type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}
int PMPI_Type_dup(MPI_Datatype old, MPI_Datatype* type) { return make(old, 1, type); }
int PMPI_Type_contiguous(int count, MPI_Datatype old, MPI_Datatype* type) {
  return make(old, static_cast<uint64_t>(count), type);
}
int PMPI_Type_vector(int count, int length, int, MPI_Datatype old, MPI_Datatype* type) {
  return make(old, static_cast<uint64_t>(count) * static_cast<uint64_t>(length), type);
}
int PMPI_Type_create_hvector(int count, int length, MPI_Aint, MPI_Datatype old, MPI_Datatype* type) {
  return make(old, static_cast<uint64_t>(count) * static_cast<uint64_t>(length), type);
}
int PMPI_Type_indexed(int count, const int lengths[], const int[], MPI_Datatype old, MPI_Datatype* type) {
  return make(old, sum_of(count, lengths), type);
}
int PMPI_Type_create_hindexed(int count, const int lengths[], const MPI_Aint[], MPI_Datatype old,
                              MPI_Datatype* type) {
  return make(old, sum_of(count, lengths), type);
}
int PMPI_Type_create_struct(int count, const int lengths[], const MPI_Aint[], const MPI_Datatype olds[],
                            MPI_Datatype* type) {
  return make(count > 0 ? olds[0] : MPI_CHAR, sum_of(count, lengths), type);
}
int PMPI_Type_create_subarray(int n, const int shape[], const int[], const int[], int, MPI_Datatype old,
                              MPI_Datatype* type) {
  return make(old, sum_of(n, shape), type);
}
int PMPI_Type_create_darray(int size, int, int, const int[], const int[], const int[], const int[], int,
                            MPI_Datatype old, MPI_Datatype* type) {
  return make(old, static_cast<uint64_t>(size), type);
}
int PMPI_Type_create_resized(MPI_Datatype old, MPI_Aint lower, MPI_Aint extent, MPI_Datatype* type) {
  make(old, 1, type);
  made_types()[*type] = {lower, extent};
  return MPI_SUCCESS;
}
int PMPI_Comm_get_errhandler(MPI_Comm, MPI_Errhandler* handler) {
  *handler = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
int PMPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler) { return MPI_SUCCESS; }
}

namespace elc::format {
namespace {

using namespace elc::mpi;

std::string text_of(const Bytes& bytes) {
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// As when the program ends that was restored: every type goes.
void forget_types() {
  std::vector<Datatype*> all;
  datatypes().by_number.each([&](uint64_t number, Datatype* type) {
    if (number >= kFirstDerived) all.push_back(type);
  });
  std::vector<uint64_t> numbers;
  for (Datatype* type : all) numbers.push_back(type->number);
  for (const uint64_t number : numbers) {
    Datatype* type = datatypes().numbered(number);
    if (type == nullptr) continue;
    type->owned = 0;
    drop_if_unused(type);
  }
  if (!made_types().empty()) abort();
  datatypes().next = kFirstDerived;
}

void examine_datatypes(const Bytes& table) {
  Decoder in(table);
  if (restore_datatypes(in).ok()) {
    Bytes once, twice;
    Encoder first(&once), second(&twice);
    if (!save_datatypes(first).ok()) abort();
    datatypes().by_number.each([](uint64_t, Datatype* type) {
      (void)layout_of(type, false);
      (void)layout_of(type, true);
    });
    Decoder again(once);
    if (!restore_datatypes(again).ok()) abort();  // all are there already
    if (!save_datatypes(second).ok()) abort();
    if (text_of(once) != text_of(twice)) abort();
  } else if (!made_types().empty()) {
    abort();  // an error changes nothing
  }
  forget_types();
}

// Messages in transit say which machine they come from.
void examine_messages(const line::Saved& saved) {
  const MPI_Datatype types[] = {MPI_INT,         MPI_LONG,       MPI_WCHAR,           MPI_C_BOOL,
                                MPI_LONG_DOUBLE, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT, MPI_DOUBLE_COMPLEX};
  for (const line::SavedMessage& m : saved.messages)
    for (const MPI_Datatype type : types) {
      const line::Message& message = *m.message;
      const int count = static_cast<int>(m.message->content.size() % 50);
      std::vector<uint8_t> buffer(static_cast<size_t>(count) * static_cast<size_t>(::extent_of(type)));
      Unpacked result;
      (void)unpack(message.content.data(), message.content.size(), message.representation, buffer.data(),
                   count, type, &result);
    }
}

// What is sound is written as it was read.
template <class Saved, class... More>
bool examine_section(const Bytes& section, Saved* saved, More... more) {
  Decoder in(section);
  if (!Saved::decode(in, more..., saved).ok()) return false;
  Saved second;
  Bytes once, twice;
  Encoder first(&once), again(&twice);
  saved->encode(first);
  Decoder copy(once);
  if (!Saved::decode(copy, more..., &second).ok()) abort();
  second.encode(again);
  if (text_of(once) != text_of(twice)) abort();
  return true;
}

}  // namespace

void examine_mpi(const std::string& bytes) {
  MemoryFile file;
  file.bytes = bytes;
  Reader reader;
  Bytes section;
  if (!reader.open(file.source()).ok()) return;
  line::Saved line;
  if (reader.read_section("line", ~uint64_t{0}, &section).ok()) {
    Decoder in(section);
    if (line::Saved::decode(in, &line).ok()) examine_messages(line);
  }
  SavedSetUp set_up;
  if (reader.read_section("setup", ~uint64_t{0}, &section).ok()) examine_section(section, &set_up);
  if (!reader.read_section("mpi", ~uint64_t{0}, &section).ok()) return;
  SavedMpi saved;
  if (examine_section(section, &saved, 4u)) examine_datatypes(saved.datatypes);
}

}  // namespace elc::format
