/* elc_typed.h - registration of scalars and arrays of scalars whose type the compiler finds. Part of
 * elc.h, which includes it; C11 (_Generic) or C++11, and older C where GCC or clang compiles it. With another
 * compiler for C99 ELC_PTR alone is there: use ELC_Register.
 *
 *     ELC_VAR(x)           a scalar, or an array of scalars of up to four dimensions
 *     ELC_ARRAY(p, n)      the n scalars that pointer p points to, under the name of p
 *     ELC_ALLOCATED(p, n)  the same from malloc, with p and n, both of which may change until the next line
 *     ELC_ARRAY2(p, m, n)  m rows of n, one behind the other: (m * n) scalars that p points to
 *     ELC_ARRAY3(p, l, m, n)
 *     ELC_STATIC(x);       the same of a static variable of a function, where it is: right behind its definition
 *     ELC_FIELD(S, f)      an initialiser of ELC_Field: a field of scalars, or an array of them
 *     ELC_TYPE_OF(lvalue)  the type of a scalar, or of the scalars of an array
 *     ELC_ND(x)            ELC_Nondeterministic for a scalar or an array of scalars
 *     ELC_PTR(p)           a pointer, or an array of pointers. A block from ELC_malloc of which nothing
 *                          better is known holds what the pointers to it say (but not characters)
 *
 * intN_t, size_t and the like are names of standard integer types and have their numbers; an enum is
 * the integer type that the compiler has chosen for it. Anything else - a pointer, a struct, a const
 * variable - is an error at compile time whose text names ELC_PTR and ELC_STRUCT. */
#ifndef ELC_TYPED_H
#define ELC_TYPED_H

/* _Generic is of C11; compilers with __extension__ know it in older C as well, and do not warn behind that. */
#ifndef __cplusplus
#if defined __STDC_VERSION__ && __STDC_VERSION__ >= 201112L
#define ELC_GENERIC_ _Generic
#elif defined __GNUC__ && !defined __EDG__ && !defined __INTEL_COMPILER && !defined ELC_ISO_ONLY && \
    (defined __clang__ || __GNUC__ > 4 || (__GNUC__ == 4 && __GNUC_MINOR__ >= 9))
#define ELC_GENERIC_ __extension__ _Generic
#endif
#endif

/* Functions that the library defines, too; where it does, this is set before. */
#ifndef ELC_INLINE_
#if defined __GNUC__ && !defined ELC_ISO_ONLY && !defined __cplusplus
#define ELC_INLINE_ extern __inline __attribute__((__gnu_inline__))
#elif defined __cplusplus || (defined __STDC_VERSION__ && __STDC_VERSION__ >= 199901L)
#define ELC_INLINE_ inline
#else
#define ELC_INLINE_ static
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* What the macros do for a variable: outside of frames ELC_Register, ELC_Register_pointer or ELC_Register_shape; in a frame a few
 * stores, which most calls of a function never need. The variable is registered when a line or a restart asks for it, and an
 * error is told then; no line is taken from then on. The name stays where it is. */
typedef struct ELC_Local {
  const char *name;
  uintptr_t address; /* no pointer, of which compilers think that it may lead to ELC_Next_local */
  size_t count;
  ELC_Type type, target;
  int dimensions;          /* 0: an array of `count`; else two to four, and */
  size_t row, part, last;  /* bytes of what has one index, two, three */
} ELC_Local;
extern ELC_Local *ELC_Next_local, *ELC_End_of_locals;
int ELC_Register_local(const char *name, void *address, ELC_Type type, size_t count, ELC_Type target);
int ELC_Register_rows(const char *name, void *address, ELC_Type type, size_t count, int dimensions, size_t row, size_t part,
                      size_t last);
int ELC_Note_struct(const char *name, void *address, ELC_Type type, size_t size); /* the same for `size` bytes, which have to be elements of it */
ELC_INLINE_ int ELC_Note_local(const char *name, void *address, ELC_Type type, size_t count, ELC_Type target) {
  ELC_Local *const local = ELC_Next_local;
  if (local == ELC_End_of_locals) return ELC_Register_local(name, address, type, count, target);
  local->name = name;
#ifdef __cplusplus
  local->address = reinterpret_cast<uintptr_t>(address);
#else
  local->address = (uintptr_t)address;
#endif
  local->count = count;
  local->type = type;
  local->target = target;
  local->dimensions = 0;
  ELC_Next_local = local + 1;
  return ELC_OK;
}
ELC_INLINE_ int ELC_Note_rows(const char *name, void *address, ELC_Type type, size_t count, int dimensions, size_t row, size_t part,
                              size_t last) {
  ELC_Local *const local = ELC_Next_local;
  if (local == ELC_End_of_locals) return ELC_Register_rows(name, address, type, count, dimensions, row, part, last);
  local->row = row;
  local->part = part;
  local->last = last;
  ELC_Note_local(name, address, type, count, ELC_NO_TYPE);
  local->dimensions = dimensions;
  return ELC_OK;
}

#ifdef __cplusplus
}
#endif

#ifdef __cplusplus

#include <type_traits>

namespace elc_typed {

/* A pointer to handles is not what is meant. */
template <class T, class V> struct Handles {
  static_assert(!std::is_same<typename std::remove_cv<typename std::remove_reference<V>::type>::type, T*>::value,
                "this is a pointer to handles: register what it leads to");
  static const size_t none = 0;
};

template <class T> struct Scalar { static const ELC_Type type = ELC_NO_TYPE; };
#define ELC_SCALAR_(T, N) template <> struct Scalar<T> { static const ELC_Type type = N; };
ELC_SCALAR_(bool, ELC_BOOL)
ELC_SCALAR_(char, ELC_CHAR)
ELC_SCALAR_(signed char, ELC_SCHAR)
ELC_SCALAR_(unsigned char, ELC_UCHAR)
ELC_SCALAR_(short, ELC_SHORT)
ELC_SCALAR_(unsigned short, ELC_USHORT)
ELC_SCALAR_(int, ELC_INT)
ELC_SCALAR_(unsigned, ELC_UINT)
ELC_SCALAR_(long, ELC_LONG)
ELC_SCALAR_(unsigned long, ELC_ULONG)
ELC_SCALAR_(long long, ELC_LLONG)
ELC_SCALAR_(unsigned long long, ELC_ULLONG)
ELC_SCALAR_(float, ELC_FLOAT)
ELC_SCALAR_(double, ELC_DOUBLE)
ELC_SCALAR_(long double, ELC_LDOUBLE)
ELC_SCALAR_(wchar_t, ELC_WCHAR)
#if defined __GNUC__ && !defined ELC_ISO_ONLY /* ISO C++ has no complex types of C */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wc99-extensions"
#endif
ELC_SCALAR_(__complex__ float, ELC_FLOAT_COMPLEX)
ELC_SCALAR_(__complex__ double, ELC_DOUBLE_COMPLEX)
ELC_SCALAR_(__complex__ long double, ELC_LDOUBLE_COMPLEX)
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#endif
#undef ELC_SCALAR_

/* The integer type of an enum. */
template <class T, bool is_enum = std::is_enum<T>::value> struct Integer { typedef T type; };
template <class T> struct Integer<T, true> { typedef typename std::underlying_type<T>::type type; };

/* What lies below all dimensions of an array. */
template <class T> struct Base { typedef T type; };
template <class T, size_t N> struct Base<T[N]> { typedef typename Base<T>::type type; };

template <class T> struct Type {
  typedef typename Base<T>::type Element;
  static const ELC_Type type = Scalar<typename Integer<Element>::type>::type;
  static_assert(type != ELC_NO_TYPE, "no scalar type: use ELC_PTR for a pointer, ELC_STRUCT for a struct or union");
  static const size_t count = sizeof(T) / sizeof(Element);
};

/* The extents of an array, written to `to`. */
template <class T> struct Shape {
  static const int dimensions = 0;
  static void write(size_t *) {}
};
template <class T, size_t N> struct Shape<T[N]> {
  static const int dimensions = 1 + Shape<T>::dimensions;
  static void write(size_t *to) {
    *to = N;
    Shape<T>::write(to + 1);
  }
};

template <class T> inline int variable(const char *name, T &x) {
  if (Shape<T>::dimensions < 2) return ELC_Note_local(name, &x, Type<T>::type, Type<T>::count, ELC_NO_TYPE);
  size_t extents[Shape<T>::dimensions + 4] = {};
  Shape<T>::write(extents);
  if (Shape<T>::dimensions > 4) return ELC_Register_shape(name, &x, Type<T>::type, Shape<T>::dimensions, extents);
  const size_t row = sizeof x / extents[0], part = row / extents[1], last = Shape<T>::dimensions > 2 ? part / extents[2] : part;
  return ELC_Note_rows(name, &x, Type<T>::type, Type<T>::count, Shape<T>::dimensions, row, part, last);
}
template <class T> inline int shaped(const char *name, T *p, int outer, size_t first, size_t second, size_t third) {
  size_t extents[3 + Shape<T>::dimensions] = {first, second, third};
  Shape<T>::write(extents + outer);
  return ELC_Register_shape(name, p, Type<T>::type, outer + Shape<T>::dimensions, extents);
}
template <class T> inline int array(const char *name, T *p, size_t n) {
  if (Shape<T>::dimensions == 0) return ELC_Note_local(name, p, Type<T>::type, n, ELC_NO_TYPE);
  return shaped(name, p, 1, n, 0, 0);
}
template <class T, class N> inline int allocated(const char *name, T *&p, N &n) {
  static_assert(Shape<T>::dimensions == 0 && Shape<N>::dimensions == 0, "a pointer to scalars and their number are needed");
  return ELC_Register_allocated(name, &p, Type<T>::type, &n, Type<N>::type);
}
template <class T> inline void of_function(const char *function, const char *name, T &x) {
  size_t extents[Shape<T>::dimensions + 1] = {};
  Shape<T>::write(extents);
  ELC_Register_static(function, name, &x, Type<T>::type, Shape<T>::dimensions, extents);
}
template <class T> inline int nondeterministic(T &x) {
  return ELC_Nondeterministic(&x, Type<T>::type, Type<T>::count);
}
template <class T> inline ELC_Field field(const char *name, size_t offset) {
  return ELC_Field{name, offset, Type<T>::type, Type<T>::count};
}
template <class T> inline ELC_Type type_of(const T &) { return Type<T>::type; }

template <class T> struct Target {
  static const ELC_Type scalar = Scalar<T>::type;
  static const bool is_character = scalar == ELC_CHAR || scalar == ELC_SCHAR || scalar == ELC_UCHAR;
  static const ELC_Type type = is_character ? ELC_NO_TYPE : scalar;
};
template <class T> struct Pointers; /* undefined for what is no pointer */
template <class T> struct Pointers<T *> : Target<T> {};
/* As to the rows of a matrix. */
template <class T> struct Pointers<T **> {
  static const ELC_Type type = Target<T>::type == ELC_NO_TYPE ? ELC_NO_TYPE : ELC_POINTER;
};
template <class T, size_t N> struct Pointers<T[N]> : Pointers<T> {};
template <class T> inline int pointers(const char *name, T &p) {
  return ELC_Note_local(name, &p, ELC_POINTER, sizeof(T) / sizeof(void *), Pointers<T>::type);
}

}  /* namespace elc_typed */

#define ELC_VAR(x) ::elc_typed::variable(#x, (x))
#define ELC_ARRAY(p, n) ::elc_typed::array(#p, (p), (n))
#define ELC_ARRAY2(p, m, n) ::elc_typed::shaped(#p, (p), 2, (m), (n), 0)
#define ELC_ARRAY3(p, l, m, n) ::elc_typed::shaped(#p, (p), 3, (l), (m), (n))
#define ELC_ALLOCATED(p, n) ::elc_typed::allocated(#p, (p), (n))
#define ELC_ND(x) ::elc_typed::nondeterministic(x)
#define ELC_STATIC(x)                                       \
  do {                                                      \
    static bool elc_known = false;                          \
    static constexpr decltype(&(x)) elc_is_static = &(x);   \
    (void)elc_is_static;                                    \
    if (!elc_known) {                                       \
      elc_known = true;                                     \
      ::elc_typed::of_function(__func__, #x, (x));          \
    }                                                       \
  } while (false)
#define ELC_FIELD(S, f) ::elc_typed::field<decltype(static_cast<S *>(0)->f)>(#f, offsetof(S, f))
#define ELC_TYPE_OF(x) ::elc_typed::type_of(x)
#define ELC_PTR(p) ::elc_typed::pointers(#p, (p))
#define ELC_HOW_MANY_(T, v) (sizeof(v) / sizeof(T) + ::elc_typed::Handles<T, decltype((v))>::none)

#elif defined ELC_GENERIC_

#ifdef __STDC_NO_COMPLEX__
#define ELC_COMPLEX_SCALARS_(M)
#else
#define ELC_COMPLEX_SCALARS_(M) \
  M(float _Complex, ELC_FLOAT_COMPLEX) M(double _Complex, ELC_DOUBLE_COMPLEX) M(long double _Complex, ELC_LDOUBLE_COMPLEX)
#endif
#define ELC_CHARACTERS_(M) M(char, ELC_CHAR) M(signed char, ELC_SCHAR) M(unsigned char, ELC_UCHAR)
#define ELC_NUMBERS_(M)                                                                                \
  M(_Bool, ELC_BOOL) M(short, ELC_SHORT) M(unsigned short, ELC_USHORT) M(int, ELC_INT)                 \
  M(unsigned int, ELC_UINT) M(long, ELC_LONG) M(unsigned long, ELC_ULONG) M(long long, ELC_LLONG)      \
  M(unsigned long long, ELC_ULLONG) M(float, ELC_FLOAT) M(double, ELC_DOUBLE) M(long double, ELC_LDOUBLE) \
  ELC_COMPLEX_SCALARS_(M)
#define ELC_SCALARS_(M) ELC_CHARACTERS_(M) ELC_NUMBERS_(M)

/* The address of x tells a scalar (T *) and an array of one dimension (T (*)[], compatible with any
 * length) apart from everything else. For more dimensions, one is taken off at a time; a scalar gives a
 * character then, which is in no list, so that a pointer is not taken for what it points to. */
#define ELC_NUMBER_ANY_(T, N) T * : N, T(*)[] : N,
#define ELC_NUMBER_ARRAY_(T, N) T(*)[] : N,
#define ELC_SIZE_ANY_(T, N) T * : (sizeof(T)), T(*)[] : (sizeof(T)),
#define ELC_SIZE_ARRAY_(T, N) T(*)[] : (sizeof(T)),
#define ELC_CHARACTER_(T, N) T : (char *)0,
#define ELC_no_scalar__use_ELC_PTR_or_ELC_STRUCT(x) (*ELC_GENERIC_((x), ELC_SCALARS_(ELC_CHARACTER_) default : (x)))
#define ELC_OFF_(x) ELC_no_scalar__use_ELC_PTR_or_ELC_STRUCT(x)
#define ELC_IN_4_(x, ARRAY, NONE) ELC_GENERIC_(&(x), ELC_SCALARS_(ARRAY) default : NONE)
#define ELC_IN_3_(x, ARRAY, NONE) ELC_GENERIC_(&(x), ELC_SCALARS_(ARRAY) default : ELC_IN_4_(ELC_OFF_(x), ARRAY, NONE))
#define ELC_IN_2_(x, ARRAY, NONE) ELC_GENERIC_(&(x), ELC_SCALARS_(ARRAY) default : ELC_IN_3_(ELC_OFF_(x), ARRAY, NONE))
#define ELC_IN_(x, ANY, ARRAY, NONE) ELC_GENERIC_(&(x), ELC_SCALARS_(ANY) default : ELC_IN_2_(ELC_OFF_(x), ARRAY, NONE))

#define ELC_NUMBER_(x) ELC_IN_(x, ELC_NUMBER_ANY_, ELC_NUMBER_ARRAY_, ELC_NO_TYPE)
#define ELC_ELEMENT_(x) ELC_IN_(x, ELC_SIZE_ANY_, ELC_SIZE_ARRAY_, 1)
/* ELC_Register_shape behind the macros. The first extents are `outer` of the next three, the others those of an array of
 * `inner` dimensions, which has `whole` bytes, and of which the parts with one, two and three indices have `row`, `part` and
 * `last`. */
int ELC_Register_sizes(const char *name, void *address, ELC_Type type, int outer, size_t first, size_t second, size_t third,
                       int inner, size_t whole, size_t row, size_t part, size_t last);

/* The number of dimensions, and the sizes of an array with none to three of them taken off. */
#define ELC_ONE_(T, N) T * : 0, T(*)[] : 1,
#define ELC_TWO_(T, N) T(*)[] : 2,
#define ELC_THREE_(T, N) T(*)[] : 3,
#define ELC_MORE_3_(x) ELC_GENERIC_(&(x), ELC_SCALARS_(ELC_THREE_) default : 4)
#define ELC_MORE_2_(x) ELC_GENERIC_(&(x), ELC_SCALARS_(ELC_TWO_) default : ELC_MORE_3_(ELC_OFF_(x)))
#define ELC_DIMENSIONS_(x) ELC_GENERIC_(&(x), ELC_SCALARS_(ELC_ONE_) default : ELC_MORE_2_(ELC_OFF_(x)))
#define ELC_SIZES_(x) \
  ELC_DIMENSIONS_(x), sizeof(x), sizeof(ELC_OFF_(x)), sizeof(ELC_OFF_(ELC_OFF_(x))), sizeof(ELC_OFF_(ELC_OFF_(ELC_OFF_(x))))
/* A pointer to an array would pass for the array. */
#if defined __GNUC__ && !defined ELC_ISO_ONLY
#define ELC_NO_POINTER_(x)                                                           \
  (ELC_GENERIC_(&(x), ELC_SCALARS_(ELC_NUMBER_ANY_) default : ELC_NO_TYPE) != ELC_NO_TYPE || \
   __builtin_types_compatible_p(__typeof__(&(x)), __typeof__(ELC_OFF_(x))(*)[]))
#else
#define ELC_NO_POINTER_(x) (sizeof(x) % sizeof(ELC_OFF_(x)) == 0)
#endif
/* A bit-field of negative width is an error whose text shows the name. */
#define ELC_CHECK_(x)                                                                                             \
  sizeof(struct {                                                                                                 \
    unsigned no_scalar__use_ELC_PTR_or_ELC_STRUCT : ELC_NUMBER_(x) != ELC_NO_TYPE && ELC_NO_POINTER_(x) ? 1 : -1; \
  })

#define ELC_TYPE_OF(x) ((void)ELC_CHECK_(x), (ELC_Type)ELC_NUMBER_(x))
#define ELC_VAR(x)                                                                                        \
  ((void)ELC_CHECK_(x),                                                                                   \
   ELC_DIMENSIONS_(x) < 2 ? ELC_Note_local(#x, (void *)&(x), ELC_NUMBER_(x), sizeof(x) / (ELC_ELEMENT_(x)), ELC_NO_TYPE) \
                          : ELC_Note_rows(#x, (void *)&(x), ELC_NUMBER_(x), sizeof(x) / (ELC_ELEMENT_(x)), ELC_DIMENSIONS_(x), \
                                          sizeof(ELC_OFF_(x)), sizeof(ELC_OFF_(ELC_OFF_(x))), \
                                          sizeof(ELC_OFF_(ELC_OFF_(ELC_OFF_(x))))))
#define ELC_ND(x) \
  ((void)ELC_CHECK_(x), ELC_Nondeterministic((void *)&(x), ELC_NUMBER_(x), sizeof(x) / (ELC_ELEMENT_(x))))
#define ELC_SHAPED_(name, p, outer, l, m, n)                                                             \
  ((void)ELC_CHECK_(*(p)), ELC_Register_sizes(name, (void *)(p), ELC_NUMBER_(*(p)), (outer), (size_t)(l), \
                                              (size_t)(m), (size_t)(n), ELC_SIZES_(*(p))))
#define ELC_ARRAY(p, n)                                                                        \
  (ELC_DIMENSIONS_(*(p)) == 0                                                                  \
       ? ((void)ELC_CHECK_(*(p)), ELC_Note_local(#p, (void *)(p), ELC_NUMBER_(*(p)), (size_t)(n), ELC_NO_TYPE)) \
       : ELC_SHAPED_(#p, p, 1, n, 0, 0))
#define ELC_ARRAY2(p, m, n) ELC_SHAPED_(#p, p, 2, m, n, 0)
#define ELC_ARRAY3(p, l, m, n) ELC_SHAPED_(#p, p, 3, l, m, n)
#define ELC_ALLOCATED(p, n)                                                                          \
  ((void)ELC_CHECK_(*(p)), (void)ELC_CHECK_(n),                                                      \
   (void)sizeof(struct { unsigned no_pointer_to_scalars : ELC_DIMENSIONS_(*(p)) == 0 ? 1 : -1; }),   \
   ELC_Register_allocated(#p, (void *)&(p), ELC_NUMBER_(*(p)), (void *)&(n), ELC_NUMBER_(n)))
/* What is no static has no address that the compiler knows. */
#define ELC_STATIC(x)                                                                                             \
  do {                                                                                                            \
    static char elc_known;                                                                                        \
    static const volatile void *const elc_is_static = &(x);                                                       \
    (void)elc_is_static;                                                                                          \
    if (!elc_known) {                                                                                             \
      const size_t elc_sizes[] = {sizeof(x), sizeof(ELC_OFF_(x)), sizeof(ELC_OFF_(ELC_OFF_(x))),                  \
                                  sizeof(ELC_OFF_(ELC_OFF_(ELC_OFF_(x)))), ELC_ELEMENT_(x)};                      \
      size_t elc_extents[4];                                                                                      \
      int elc_i;                                                                                                  \
      for (elc_i = 0; elc_i < 4; elc_i++)                                                                         \
        elc_extents[elc_i] = elc_sizes[elc_i] / elc_sizes[elc_i + 1 < (ELC_DIMENSIONS_(x)) ? elc_i + 1 : 4];      \
      elc_known = 1;                                                                                              \
      (void)ELC_CHECK_(x);                                                                                        \
      ELC_Register_static(__func__, #x, (void *)&(x), ELC_NUMBER_(x), (ELC_DIMENSIONS_(x)), elc_extents);         \
    }                                                                                                             \
  } while (0)
#define ELC_FIELD(S, f)                                                 \
  {#f, offsetof(S, f) + 0 * ELC_CHECK_(((S *)0)->f), ELC_NUMBER_(((S *)0)->f), \
   sizeof(((S *)0)->f) / (ELC_ELEMENT_(((S *)0)->f))}

/* An array of pointers is a pointer to pointers there; one alone leads to such, as to the rows of a matrix. */
#define ELC_TARGET_(T, N) T * : N, T * * : N,
#define ELC_ROWS_(T, N) T * * : 1,
#define ELC_PTR(p)                                                                                       \
  ELC_Note_local(#p, (void *)&(p), ELC_POINTER, sizeof(p) / sizeof(1 ? (const volatile void *)0 : (p)), \
                 sizeof(p) == sizeof(void *) && ELC_GENERIC_((p), ELC_NUMBERS_(ELC_ROWS_) default : 0)   \
                     ? ELC_POINTER                                                                       \
                     : ELC_GENERIC_((p), ELC_NUMBERS_(ELC_TARGET_) default : ELC_NO_TYPE))
/* How many handles; a pointer to some is not what is meant. */
#define ELC_HOW_MANY_(T, v)        \
  (sizeof(v) / sizeof(T) + 0 * sizeof(struct { \
    unsigned pointer_to_handles__register_these : ELC_GENERIC_(&(v), T * * : 0, default : 1) ? 1 : -1; \
  }))

#else
#define ELC_HOW_MANY_(T, v) (sizeof(v) / sizeof(T))
#define ELC_PTR(p) ELC_Note_local(#p, (void *)&(p), ELC_POINTER, sizeof(p) / sizeof(void *), ELC_NO_TYPE)
#endif

#endif
