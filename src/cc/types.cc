#include "cc/types.h"

#include <set>

#include "clang/AST/Decl.h"
#include "clang/AST/RecordLayout.h"
#include "elc.h"
#include "elc_program.h"

namespace elc::cc {

using namespace clang;

namespace {

int number_of_typedef(const std::string& name) {
  static const std::map<std::string, int> all = {
      {"MPI_Comm", ELC_MPI_COMM},       {"MPI_Datatype", ELC_MPI_DATATYPE}, {"MPI_Request", ELC_MPI_REQUEST},
      {"MPI_Status", ELC_MPI_STATUS},   {"MPI_File", ELC_MPI_FILE},         {"MPI_Win", ELC_MPI_WIN},
      {"MPI_Group", ELC_MPI_GROUP},     {"MPI_Info", ELC_MPI_INFO},         {"MPI_Op", ELC_MPI_OP},
      {"MPI_Errhandler", ELC_MPI_ERRHANDLER}, {"MPI_Aint", ELC_MPI_AINT},   {"size_t", ELC_SIZE},         {"ptrdiff_t", ELC_PTRDIFF},
      {"wchar_t", ELC_WCHAR},           {"int8_t", ELC_INT8},               {"uint8_t", ELC_UINT8},
      {"int16_t", ELC_INT16},           {"uint16_t", ELC_UINT16},           {"int32_t", ELC_INT32},
      {"uint32_t", ELC_UINT32},         {"int64_t", ELC_INT64},             {"uint64_t", ELC_UINT64},
  };
  const auto found = all.find(name);
  return found == all.end() ? 0 : found->second;
}

// Of all names by which a type is called on the way to what it is.
int number_by_name(QualType type) {
  for (const auto* named = type->getAs<TypedefType>(); named != nullptr; named = named->desugar()->getAs<TypedefType>())
    if (const int number = number_of_typedef(named->getDecl()->getName().str())) return number;
  return 0;
}

bool is_stream(QualType type) {
  const std::string name = type.getUnqualifiedType().getCanonicalType().getAsString();
  return name == "struct _IO_FILE" || name == "struct __sFILE" || name == "FILE";
}

int number_of_builtin(QualType type) {
  const auto* builtin = type.getCanonicalType()->getAs<BuiltinType>();
  if (builtin == nullptr) return 0;
  switch (builtin->getKind()) {
    case BuiltinType::Bool: return ELC_BOOL;
    case BuiltinType::Char_S:
    case BuiltinType::Char_U: return ELC_CHAR;
    case BuiltinType::SChar: return ELC_SCHAR;
    case BuiltinType::UChar: return ELC_UCHAR;
    case BuiltinType::Short: return ELC_SHORT;
    case BuiltinType::UShort: return ELC_USHORT;
    case BuiltinType::Int: return ELC_INT;
    case BuiltinType::UInt: return ELC_UINT;
    case BuiltinType::Long: return ELC_LONG;
    case BuiltinType::ULong: return ELC_ULONG;
    case BuiltinType::LongLong: return ELC_LLONG;
    case BuiltinType::ULongLong: return ELC_ULLONG;
    case BuiltinType::Float: return ELC_FLOAT;
    case BuiltinType::Double: return ELC_DOUBLE;
    case BuiltinType::LongDouble: return ELC_LDOUBLE;
    default: return 0;
  }
}

int number_of_complex(QualType type) {
  const auto* complex = type.getCanonicalType()->getAs<ComplexType>();
  if (complex == nullptr) return 0;
  switch (number_of_builtin(complex->getElementType())) {
    case ELC_FLOAT: return ELC_FLOAT_COMPLEX;
    case ELC_DOUBLE: return ELC_DOUBLE_COMPLEX;
    case ELC_LDOUBLE: return ELC_LDOUBLE_COMPLEX;
    default: return 0;
  }
}

int number_of_scalar(QualType type) {
  if (const int number = number_by_name(type)) return number;
  if (const int number = number_of_builtin(type)) return number;
  if (const auto* enumeration = type->getAs<EnumType>())
    return enumeration->getDecl()->getIntegerType().isNull() ? 0 : number_of_builtin(enumeration->getDecl()->getIntegerType());
  return number_of_complex(type);
}

bool is_character_number(int number) {
  return number == ELC_CHAR || number == ELC_SCHAR || number == ELC_UCHAR || number == ELC_INT8 || number == ELC_UINT8;
}

bool is_handle(int number) { return number >= ELC_POINTER; }

// That ends a function which tells what of a union is in use: nothing, or what is not known.
std::string nothing_else_than_zeros(uint64_t size) {
  return "for (; i < " + std::to_string(size) + "; i++) if (((const char *)elc_union)[i] != 0) return -2; return -1";
}

// Structs of the system whose content is all there is to them while lines are taken: none is when a lock was initialised (known.cc).
bool is_plain_struct_of_system(const std::string& name) {
  static const std::set<std::string> all = {"timeval", "timespec", "tm", "div_t", "ldiv_t", "lldiv_t", "stat", "rusage", "utsname", "tms",
                                            "option", "timezone", "passwd", "group", "cpu_set_t", "__sigset_t", "sigaction", "rlimit", "itimerval",
                                            "sysinfo", "statvfs", "random_data", "drand48_data", "imaxdiv_t", "omp_lock_t", "omp_nest_lock_t",
                                            "_G_fpos_t", "_G_fpos64_t", "__mbstate_t", "fd_set", "termios", "sockaddr", "sockaddr_in", "in_addr", "statfs", "iovec",
                                            "pollfd", "utimbuf", "flock", "timex", "mallinfo", "mallinfo2", "winsize", "sched_param", "sembuf", "dirent",
                                            "__fsid_t", "atomic_flag", "regmatch_t"};
  return all.contains(name);
}

// Another one for each name.
std::string as_identifier(const std::string& name) {
  std::string out;
  for (const char c : name)
    if (isalnum(static_cast<unsigned char>(c)) != 0) out += c;
    else out += "_" + std::to_string(static_cast<unsigned char>(c)) + "_";
  return out;
}

// Whether its own last member is an array of no number of elements.
bool has_open_array(const RecordDecl* record) {
  return !record->isUnion() && std::any_of(record->field_begin(), record->field_end(), [](const FieldDecl* field) { return field->getType()->isIncompleteArrayType(); });
}

// The last member of a struct that has more elements than it says: an array of none or one, or of no number.
bool ends_openly(const RecordDecl* record) {
  const FieldDecl* last = nullptr;
  for (const FieldDecl* field : record->fields()) last = field;
  if (last == nullptr || record->isUnion()) return false;
  if (last->getType()->isIncompleteArrayType()) return true;
  const auto* array = dyn_cast_or_null<ConstantArrayType>(last->getType()->getAsArrayTypeUnsafe());
  return array != nullptr && array->getSize().getZExtValue() <= 1;
}

// What comes behind it where it ends so, if that begins where it ends.
QualType tail_of(const ASTContext& context, const RecordDecl* record) {
  if (!ends_openly(record)) return QualType();
  const FieldDecl* last = nullptr;
  for (const FieldDecl* field : record->fields()) last = field;
  const ASTRecordLayout& layout = context.getASTRecordLayout(record);
  const uint64_t begin = layout.getFieldOffset(last->getFieldIndex()) / 8, size = last->getType()->isIncompleteArrayType() ? 0 : static_cast<uint64_t>(context.getTypeSizeInChars(last->getType()).getQuantity());
  return begin + size == static_cast<uint64_t>(layout.getSize().getQuantity()) ? context.getAsArrayType(last->getType())->getElementType() : QualType();
}

// Of a union whose members are all pointers to data, or all to functions: it does not matter which of them is in use.
int number_of_pointers(const RecordDecl* record) {
  int number = 0;
  for (const FieldDecl* field : record->fields()) {
    const QualType type = field->getType();
    if (!type->isPointerType() || number_by_name(type) != 0 || is_stream(type->getPointeeType())) return 0;
    const int own = type->isFunctionPointerType() ? ELC_FUNCTION : ELC_POINTER;
    if (number != 0 && number != own) return 0;
    number = own;
  }
  return number;
}

// Whether it, an element of it, or a member at any depth is what is looked for.
template <class F>
bool has_part(QualType type, F is_wanted) {
  while (const ArrayType* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
  if (is_wanted(type)) return true;
  const auto* record = type->getAs<RecordType>();
  return record != nullptr && std::any_of(record->getDecl()->field_begin(), record->getDecl()->field_end(),
                                          [&](const FieldDecl* field) { return has_part(field->getType(), is_wanted); });
}

}  // namespace

bool is_handle_of_mpi(QualType type) {
  const int number = number_by_name(type);
  return is_handle(number) && number != ELC_MPI_AINT;
}

bool lie_alike(QualType a, QualType b) {
  a = a.getCanonicalType().getUnqualifiedType(), b = b.getCanonicalType().getUnqualifiedType();
  const auto leads_to_object = [](QualType type) { return type->isPointerType() && !type->getPointeeType()->isFunctionType() && !is_handle_of_mpi(type); };
  return a == b || (leads_to_object(a) && leads_to_object(b));
}

bool is_integer_handle(QualType type) { return type->isIntegerType() && is_handle_of_mpi(type); }

QualType only_number(QualType type, QualType known) {
  for (; number_by_name(type) == 0 && type->isConstantArrayType(); type = type->getAsArrayTypeUnsafe()->getElementType()) {}
  const RecordDecl* const record = number_by_name(type) == 0 ? type->getAsRecordDecl() : nullptr;
  if (record == nullptr) {
    const QualType number = type.getCanonicalType().getUnqualifiedType();
    const bool is_one = number_by_name(type) == 0 && number->isBuiltinType() && number->isArithmeticType() && !number->isBooleanType() && !number->isAnyCharacterType() &&
                        !number->isSpecificBuiltinType(BuiltinType::LongDouble) && (known.isNull() || known == number);
    return is_one ? number : QualType();
  }
  for (const FieldDecl* field : record->fields()) {
    known = field->isBitField() || record->hasAttr<PackedAttr>() ? QualType() : only_number(field->getType(), known);
    if (known.isNull()) break;
  }
  return known;
}

std::string Types::scalar(int number) {
  std::string& name = scalars_[number];
  if (!name.empty()) return name;
  name = "elc_t" + std::to_string(next_++);
  variables_ += "static const int " + name + " = " + std::to_string(number) + "; ";
  return name;
}

void Types::note(const std::string& what) {
  if (std::find(notes_.begin(), notes_.end(), what) == notes_.end()) notes_.push_back(what);
}

bool Types::describe(QualType type, Described* to, std::string* why, bool are_text) {
  bool is_array = false;
  to->count = 1;
  while (number_by_name(type) == 0) {
    const ArrayType* array = type->getAsArrayTypeUnsafe();
    if (array == nullptr) break;
    const auto* constant = dyn_cast<ConstantArrayType>(array);
    if (constant == nullptr) {
      *why = "it is an array whose size is not constant";
      return false;
    }
    to->count *= constant->getSize().getZExtValue();
    type = array->getElementType();
    is_array = true;
  }
  if (const auto* vector = type->getAs<VectorType>()) {
    to->count *= vector->getNumElements();
    type = vector->getElementType();
    is_array = true;
  }
  if (const auto* atomic = type->getAs<AtomicType>(); atomic != nullptr && unit_.context().getTypeSize(atomic->getValueType()) == unit_.context().getTypeSize(type))
    type = atomic->getValueType();
  if (const auto* number = type->getAs<BuiltinType>(); number != nullptr && unit_.context().getTypeSize(type) == 128 && number_of_scalar(type) == 0) {
    note(unit_.record().source + ": " + type.getAsString() + " is saved as bytes: lines have no numbers of that type");
    to->type = scalar(ELC_BYTE);
    to->count *= 16;
    return true;
  }
  if (const int number = number_of_scalar(type)) {
    to->type = scalar(is_array && !are_text && is_character_number(number) ? ELC_BYTE : number);
    return true;
  }
  if (type->isFunctionPointerType()) {
    to->type = scalar(ELC_FUNCTION);
    return true;
  }
  if (type->isPointerType()) {
    const QualType pointee = type->getPointeeType();
    to->type = scalar(is_stream(pointee) ? ELC_FILE : ELC_POINTER);
    const int target = pointee->isVoidType() ? 0 : number_of_scalar(pointee);
    if (target != 0 && !is_handle(target) && !is_character_number(target)) to->target = scalar(target);
    return true;
  }
  if (const auto* record = type->getAs<RecordType>()) {
    Described one;
    if (!describe_record(record->getDecl(), &one, why)) return false;
    to->type = one.type;
    to->count *= one.count;
    return true;
  }
  *why = "lines have no values of the type " + type.getAsString();
  return false;
}

bool Types::describe_variable(const VarDecl* variable, QualType type, Described* to, More* more, std::string* why) {
  if (describe(type, to, why, program_.characters().are_text(unit_, variable))) return true;
  const RecordDecl* const record = type->isRecordType() ? type->getAsRecordDecl()->getDefinition() : nullptr;
  if (record == nullptr || !records_[record].has_open_array) return false;
  const FieldDecl* last = nullptr;
  for (const FieldDecl* field : record->fields()) last = field;
  const auto* const list = dyn_cast_or_null<InitListExpr>(variable->getAnyInitializer());
  if (list != nullptr && list->getNumInits() > last->getFieldIndex() && list->getInit(last->getFieldIndex())->getType()->isConstantArrayType()) {
    const ASTRecordLayout& layout = unit_.context().getASTRecordLayout(record);
    if (layout.getFieldOffset(last->getFieldIndex()) / 8 < static_cast<uint64_t>(layout.getSize().getQuantity())) {
      *why += ", and begins in the padding of the struct";
      return false;
    }
    why->clear();
    if (!describe(list->getInit(last->getFieldIndex())->getType(), &more->described, why, program_.characters().are_text(unit_, last))) return false;
    more->member = last->getName().str();
  }
  *to = records_[record].described;
  why->clear();
  return true;
}

bool Types::holds_addresses(QualType type) const {
  return has_part(type, [](QualType part) { return part->isPointerType() || is_handle(number_by_name(part)); });
}

bool Types::may_hide_address(QualType type) const {
  const RecordDecl* record = unit_.context().getBaseElementType(type)->getAsRecordDecl();
  if (record == nullptr) return false;
  if (record->isUnion()) return holds_addresses(QualType(record->getTypeForDecl(), 0)) && number_of_pointers(record) == 0;
  for (const FieldDecl* field : record->fields())
    if (unit_.pragma_of(field, Pragma::Kind::kUnion) == nullptr && may_hide_address(field->getType())) return true;
  return false;
}

bool Types::holds_handles(QualType type) const {
  return has_part(type, [](QualType part) { return is_handle(number_by_name(part)); });
}

std::string Types::unique_name(const RecordDecl* record) const {
  const std::string name = spelling(record).empty() ? "a struct without a name" : spelling(record);
  const bool is_of_file = !unit_.file(record->getLocation()).ends_with(".h") || program_.is_ambiguous(name);
  std::string unique = is_of_file ? program_.file_name(unit_) + ":" + name : name;
  if (const auto* function = dyn_cast<FunctionDecl>(record->getDeclContext())) unique += " of " + function->getName().str() + "()";
  if (spelling(record).empty()) unique += " " + std::to_string(unit_.line(record->getLocation()));
  return unique;
}

static bool is_named(const RecordDecl* record, const std::set<std::string>& names) {
  return record != nullptr && names.contains(record->getTypedefNameForAnonDecl() != nullptr ? record->getTypedefNameForAnonDecl()->getName().str() : record->getName().str());
}

bool Types::is_lock(QualType type) {
  static const std::set<std::string> all = {"pthread_mutex_t", "pthread_cond_t", "pthread_rwlock_t", "pthread_barrier_t", "sem_t"};
  return is_named(type->getAsRecordDecl(), all) || is_attribute(type);
}

bool Types::is_attribute(QualType type) {
  static const std::set<std::string> all = {"pthread_mutexattr_t", "pthread_condattr_t", "pthread_rwlockattr_t", "pthread_attr_t"};
  return is_named(type->getAsRecordDecl(), all);
}

bool Types::is_made_elsewhere(const RecordDecl* record) {
  static const std::set<std::string> all = {"re_pattern_buffer", "glob_t", "glob64_t", "wordexp_t"};
  return is_named(record, all);
}

bool Types::is_jump_buffer(QualType type) {
  const RecordDecl* const record = type->getAsRecordDecl();
  return record != nullptr && record->getName() == "__jmp_buf_tag";
}

bool Types::describe_record(const RecordDecl* declared, Described* to, std::string* why) {
  const RecordDecl* record = declared->getDefinition();
  if (record == nullptr) {
    *why = "its type is not complete";
    return false;
  }
  if (const auto known = records_.find(record); known != records_.end()) {
    *to = known->second.described;
    *why = known->second.why;
    return why->empty();
  }
  Made& made = records_[record];
  const uint64_t size = unit_.context().getASTRecordLayout(record).getSize().getQuantity();
  const std::string spelled = spelling(record);
  const std::string name = spelled.empty() || spelled.find(kUnnamed) != std::string::npos ? "a " + record->getKindName().str() + " without a name" : spelled;
  std::string fields;
  if (const int pointer = record->isUnion() ? number_of_pointers(record) : 0; pointer != 0) {
    made.described.type = scalar(pointer);
  } else if (const QualType number = record->isUnion() ? only_number(QualType(record->getTypeForDecl(), 0)) : QualType(); !number.isNull()) {
    made.described.type = scalar(number_of_scalar(number));
    made.described.count = size / static_cast<uint64_t>(unit_.context().getTypeSizeInChars(number).getQuantity());
  } else if (const auto* named = record->getTypedefNameForAnonDecl(); is_lock(QualType(record->getTypeForDecl(), 0)) || (named != nullptr && named->getName() == "max_align_t")) {
    made.described.type = scalar(ELC_BYTE);  // the latter is for whatever has to be aligned
    made.described.count = size;
  } else if (unit_.in_system_header(record->getLocation()) && is_made_elsewhere(record)) {
    made.described.type = scalar(ELC_CHAR);  // none of them: bytes go to no other machine
    made.described.count = 0;
  } else if (unit_.in_system_header(record->getLocation()) && !plain_.contains(record) && !is_plain_struct_of_system(record->getName().str()) &&
      !(record->getTypedefNameForAnonDecl() != nullptr && is_plain_struct_of_system(record->getTypedefNameForAnonDecl()->getName().str()))) {
    made.why = name + " is of a system header, and may be more than its content";
  } else if (record->hasFlexibleArrayMember() && !has_open_array(record)) {
    made.why = name + " ends with a struct that ends with an array whose size its type does not say";
  } else if (record->isUnion()) {
    const QualType type(record->getTypeForDecl(), 0);
    const std::string unknown = ": nothing says which of its members is in use", how = " (#pragma elc union)";
    if (holds_handles(type)) {
      notes_.push_back(unit_.place(record->getLocation()) + ": " + name + " may hold an object of MPI; while it holds anything no line is taken" + unknown + how);
      made.described.type = make_unknown_union(record, size);
    } else if (const std::vector<uint64_t> words = words_of(unit_, record); !words.empty() && program_.tells_numbers_of(key_of_union(unit_, record))) {
      notes_.push_back(unit_.place(record->getLocation()) + ": " + name + " is saved as bytes and addresses" + unknown + "; what is there tells" + how);
      made.described.type = make_union_of_words(record, size, words);
    } else {
      const std::string unseen = program_.where_unseen(key_of_union(unit_, record)), also = unseen.empty() ? "" : ", and numbers may come there unseen (" + unseen + ")";
      notes_.push_back(unit_.place(record->getLocation()) + ": " + name + " is saved as bytes" + unknown + also +
                       (holds_addresses(type) ? "; while it holds an address no line is taken" : "") + how);
      made.described.type = scalar(ELC_BYTE);
      made.described.count = size;
    }
  } else if (size == 0) {
    made.described.type = scalar(ELC_CHAR);  // none of them: bytes go to no other machine
    made.described.count = 0;
  } else if (add_fields(record, record, 0, "", &fields, &made.why)) {
    made.described.type = "elc_t" + std::to_string(next_++);
    variables_ += "static int " + made.described.type + "; ";
    makers_ += "{ const struct ELC_Field elc_f[] = {" + fields + "}; " + made.described.type + " = ELC_Struct(\"" + unique_name(record) + "\", " +
               std::to_string(size) + ", (int)(sizeof elc_f / sizeof elc_f[0]), elc_f); } ";
    const QualType tail = tail_of(unit_.context(), record);
    Described behind;
    std::string ignored;
    if (!tail.isNull() && describe(tail, &behind, &ignored, false) && behind.count > 0) makers_ += "ELC_Program_tail(" + made.described.type + ", " + behind.type + "); ";
    // Memory may hold what comes behind such a struct, which is bytes there but for pointers; a variable that is initialised may have more than it says.
    if (has_open_array(record)) made.why = name + " ends with an array whose size its type does not say", made.has_open_array = true;
  }
  *to = made.described;
  *why = made.why;
  return why->empty();
}

// A union of which a line can have only that nothing is in it: handles are numbers under some MPIs, which nobody can tell from others.
std::string Types::make_unknown_union(const RecordDecl* record, uint64_t size) {
  const std::string name = unique_name(record), active = "elc_nothing_in_" + as_identifier(name), type = "elc_t" + std::to_string(next_++);
  functions_ += "__attribute__((__weak__)) int " + active + "(const void *elc_union, const void *of) { unsigned long i = 0; (void)of; " +
                nothing_else_than_zeros(size) + "; } ";
  variables_ += "static int " + type + "; ";
  makers_ += "{ const struct ELC_Field elc_f[] = {{\"bytes\", 0, " + scalar(ELC_BYTE) + ", " + std::to_string(size) + "}}; " + type +
             " = ELC_Union(\"" + name + "\", " + std::to_string(size) + ", 1, elc_f, " + active + "); } ";
  return type;
}

// All that is put there as a number is noted (unions.h): so an address is told when a line is taken.
std::string Types::make_union_of_words(const RecordDecl* record, uint64_t size, const std::vector<uint64_t>& words) {
  const std::string type = "elc_t" + std::to_string(next_++);
  std::string fields;
  uint64_t end = 0;
  const auto add = [&](uint64_t begin, const std::string& of, uint64_t count) {
    if (count > 0) fields += "{\"at_" + std::to_string(begin) + "\", " + std::to_string(begin) + ", " + of + ", " + std::to_string(count) + "}, ";
  };
  for (const uint64_t word : words) {
    add(end, scalar(ELC_BYTE), word - end);
    add(word, "ELC_Program_word()", 1);
    end = word + 8;
  }
  add(end, scalar(ELC_BYTE), size - end);
  variables_ += "static int " + type + "; ";
  makers_ += "{ const struct ELC_Field elc_f[] = {" + fields + "}; " + type + " = ELC_Struct(\"" + unique_name(record) + "\", " + std::to_string(size) +
             ", (int)(sizeof elc_f / sizeof elc_f[0]), elc_f); } ";
  return type;
}

bool Types::add_fields(const RecordDecl* record, const RecordDecl* of, uint64_t offset, const std::string& path, std::string* fields, std::string* why) {
  const ASTRecordLayout& layout = unit_.context().getASTRecordLayout(record);
  for (const FieldDecl* field : record->fields()) {
    if (field->getType()->isIncompleteArrayType() || is_jump_buffer(unit_.context().getBaseElementType(field->getType()))) continue;
    const uint64_t at = offset + layout.getFieldOffset(field->getFieldIndex()) / 8;
    if (field->isBitField()) {
      if (field->getName().empty()) continue;
      if (!add_bit_field(field, of, path, fields, why)) return false;
      continue;
    }
    const auto* inner = field->getType()->getAs<RecordType>();
    if (inner != nullptr && spelling(inner->getDecl()).empty() && unit_.in_system_header(record->getLocation())) plain_.insert(inner->getDecl()->getDefinition());
    if (field->isAnonymousStructOrUnion() && inner != nullptr && inner->getDecl()->isStruct()) {
      if (!add_fields(inner->getDecl(), of, at, path + "anonymous_", fields, why)) return false;
      continue;
    }
    Described described;
    const Pragma* const cases = unit_.pragma_of(field, Pragma::Kind::kUnion);
    if (cases != nullptr ? !describe_union(field, *cases, of, at, &described, why) : !describe(field->getType(), &described, why, program_.characters().are_text(unit_, field))) {
      *why = "its member '" + field->getName().str() + "': " + *why;
      return false;
    }
    if (described.count == 0) continue;
    const std::string name = field->getName().empty() ? "at_" + std::to_string(at) : field->getName().str();
    *fields += "{\"" + path + name + "\", " + std::to_string(at) + ", " + described.type + ", " + std::to_string(described.count) + "}, ";
  }
  return true;
}

// A union at `at` of `of`, of which a member before it tells what is in use.
bool Types::describe_union(const FieldDecl* field, const Pragma& cases, const RecordDecl* of, uint64_t at, Described* to, std::string* why) {
  const std::string& tag = cases.words[0];
  const std::string first = tag.substr(0, tag.find('.')), type = spelling(of);
  const auto refuse = [&](const std::string& what) {
    *why = "#pragma elc union (" + cases.place + "): " + what;
    return false;
  };
  const FieldDecl* teller = nullptr;
  for (const FieldDecl* other : of->fields())
    if (other->getName() == first) teller = other;
  if (teller == nullptr || unit_.context().getASTRecordLayout(of).getFieldOffset(teller->getFieldIndex()) / 8 >= at)
    return refuse("the struct has no member '" + first + "' before the union");
  if (type.empty()) return refuse("the struct around the union has no name");
  const RecordDecl* record = unit_.context().getBaseElementType(field->getType())->getAsRecordDecl();
  const uint64_t size = unit_.context().getASTRecordLayout(record).getSize().getQuantity();
  // What has not been written yet is in no use, though its struct may not say so yet.
  std::string members, ways, fallback = nothing_else_than_zeros(size);
  std::map<std::string, int> numbers = {{"-", -1}};
  for (const FieldDecl* member : record->fields()) {
    Described one;
    const std::string name = member->getName().str();
    if (member->isBitField() || name.empty()) return refuse("a bit-field, or a member without a name, of the union");
    if (!describe(member->getType(), &one, why, program_.characters().are_text(unit_, member))) {
      *why = "'" + name + "': " + *why;
      return false;
    }
    const int number = static_cast<int>(numbers.size()) - 1;
    numbers[name] = number;
    members += "{\"" + name + "\", 0, " + one.type + ", " + std::to_string(one.count) + "}, ";
  }
  std::set<int64_t> values;
  for (size_t i = 1; i < cases.words.size(); i += 2) {
    const auto number = numbers.find(cases.words[i + 1]);
    if (number == numbers.end()) return refuse("the union has no member '" + cases.words[i + 1] + "'");
    if (cases.words[i] == "default") {
      fallback = "return " + std::to_string(number->second);
      continue;
    }
    const auto* value = dyn_cast_or_null<EnumConstantDecl>(unit_.declared(cases.name + "_" + std::to_string(i / 2)));
    if (value == nullptr || !values.insert(value->getInitVal().getExtValue()).second) return refuse("the value " + cases.words[i] + " is there twice");
    ways += "case " + std::to_string(value->getInitVal().getExtValue()) + ": return " + std::to_string(number->second) + "; ";
  }
  // All files that have the struct say the same of it, and one function does it: that is how the library knows it for one type.
  const std::string name = unique_name(of) + "." + field->getName().str(), active = "elc_union_of_" + as_identifier(name);
  functions_ += "__attribute__((__weak__)) int " + active + "(const void *elc_union, const void *of) { unsigned long i = 0; switch ((long long)((const " + type + " *)of)->" + tag + ") { " + ways +
                "default: " + fallback + "; } } ";
  to->type = "elc_t" + std::to_string(next_++);
  to->count = 1;
  for (const ArrayType* array = field->getType()->getAsArrayTypeUnsafe(); array != nullptr; array = array->getElementType()->getAsArrayTypeUnsafe())
    to->count *= cast<ConstantArrayType>(array)->getSize().getZExtValue();
  variables_ += "static int " + to->type + "; ";
  makers_ += "{ const struct ELC_Field elc_f[] = {" + members + "}; " + to->type + " = ELC_Union(\"" + name + "\", " +
             std::to_string(size) + ", (int)(sizeof elc_f / sizeof elc_f[0]), elc_f, " + active + "); } ";
  return true;
}

// By its name in `of`, which has one.
bool Types::add_bit_field(const FieldDecl* field, const RecordDecl* of, const std::string& path, std::string* fields, std::string* why) {
  const int number = number_of_scalar(field->getType());
  const std::string type = spelling(of), name = field->getName().str();
  if (number == 0 || type.empty()) {
    *why = number == 0 ? "it has a bit-field of the type " + field->getType().getAsString() : "it has a bit-field in a struct without a name";
    return false;
  }
  // One for all files that have the struct: that is how the library knows it for one type.
  const std::string accessor = "elc_bits_of_" + as_identifier(unique_name(of) + "." + path + name);
  functions_ += "__attribute__((__weak__)) long long " + accessor + "_get(const void *of) { return (long long)((const " + type + " *)of)->" + name + "; } " +
                "__attribute__((__weak__)) void " + accessor + "_set(void *of, long long value) { ";
  if (!field->getType().isConstQualified()) {
    functions_ += "((" + type + " *)of)->" + name + " = value; } ";
  } else {
    // C sets what is constant in initialisers alone: the bits that such a one sets are replaced.
    functions_ += "static const " + type + " all = {." + name + " = -1}; const " + type + " one = {." + name + " = value}; " +
                  "unsigned char *to = of; const unsigned char *bits = (const void *)&all, *from = (const void *)&one; "
                  "for (unsigned i = 0; i < sizeof one; i++) to[i] = (to[i] & ~bits[i]) | (from[i] & bits[i]); } ";
  }
  *fields += "{\"" + path + name + "\", 0, ELC_Accessor(" + std::to_string(number) + ", " + accessor + "_get, " + accessor + "_set), 1}, ";
  return true;
}

std::string Types::of_elements(QualType type, bool are_text) {
  if (type->isVariableArrayType()) type = unit_.context().getBaseElementType(type);
  if (type->isVoidType() || type->isFunctionType() || type->isIncompleteType() || is_stream(type)) return "";
  Described described;
  std::string why;
  const auto* record = type->getAs<RecordType>();
  if (!describe(type, &described, &why, are_text)) {
    if (record == nullptr) return "";
    const RecordDecl* const definition = record->getDecl()->getDefinition();
    if (!records_[definition].has_open_array) {
      note(unit_.place(definition->getLocation()) + ": memory of " + spelling(definition) + " is saved as bytes: " + why);
      return "";
    }
    described = records_[definition].described;
  }
  const int number = number_of_scalar(type);
  if (described.count == 0 || (is_character_number(number) && !are_text)) return "";
  return described.type;
}

std::string Types::of_memory(QualType type, bool are_text) {
  const std::string element = of_elements(type, are_text);
  const auto* record = type->getAs<RecordType>();
  if (element.empty() || record == nullptr || !ends_openly(record->getDecl()->getDefinition())) return element;
  return element + " + " + std::to_string(ELC_PROGRAM_OPEN);
}

}  // namespace elc::cc
