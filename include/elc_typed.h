/* elc_typed.h - registration of scalars and arrays of scalars whose type the compiler finds. Part of
 * elc.h, which includes it; C11 (_Generic) or C++11, and older C where GCC or clang compiles it. With another
 * compiler for C99 ELC_PTR alone is there: use ELC_Register.
 *
 *     ELC_VAR(x)           a scalar, or an array of scalars of up to four dimensions
 *     ELC_ARRAY(p, n)      the n scalars that pointer p points to, under the name of p
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

#ifdef __cplusplus

#include <type_traits>

namespace elc_typed {

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

template <class T> inline int variable(const char *name, T &x) {
  return ELC_Register(name, &x, Type<T>::type, Type<T>::count);
}
template <class T> inline int array(const char *name, T *p, size_t n) {
  return ELC_Register(name, p, Type<T>::type, n * Type<T>::count);
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
template <class T, size_t N> struct Pointers<T[N]> : Pointers<T> {};
template <class T> inline int pointers(const char *name, T &p) {
  return ELC_Register_pointer(name, &p, sizeof(T) / sizeof(void *), Pointers<T>::type);
}

}  /* namespace elc_typed */

#define ELC_VAR(x) ::elc_typed::variable(#x, (x))
#define ELC_ARRAY(p, n) ::elc_typed::array(#p, (p), (n))
#define ELC_ND(x) ::elc_typed::nondeterministic(x)
#define ELC_FIELD(S, f) ::elc_typed::field<decltype(static_cast<S *>(0)->f)>(#f, offsetof(S, f))
#define ELC_TYPE_OF(x) ::elc_typed::type_of(x)
#define ELC_PTR(p) ::elc_typed::pointers(#p, (p))

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
#define ELC_VAR(x) ((void)ELC_CHECK_(x), ELC_Register(#x, (void *)&(x), ELC_NUMBER_(x), sizeof(x) / (ELC_ELEMENT_(x))))
#define ELC_ND(x) \
  ((void)ELC_CHECK_(x), ELC_Nondeterministic((void *)&(x), ELC_NUMBER_(x), sizeof(x) / (ELC_ELEMENT_(x))))
#define ELC_ARRAY(p, n)    \
  ((void)ELC_CHECK_(*(p)), \
   ELC_Register(#p, (void *)(p), ELC_NUMBER_(*(p)), (size_t)(n) * (sizeof(*(p)) / (ELC_ELEMENT_(*(p))))))
#define ELC_FIELD(S, f)                                                 \
  {#f, offsetof(S, f) + 0 * ELC_CHECK_(((S *)0)->f), ELC_NUMBER_(((S *)0)->f), \
   sizeof(((S *)0)->f) / (ELC_ELEMENT_(((S *)0)->f))}

#define ELC_TARGET_(T, N) T * : N, T * * : N,
#define ELC_PTR(p)                                                                                       \
  ELC_Register_pointer(#p, (void *)&(p), sizeof(p) / sizeof(1 ? (const volatile void *)0 : (p)), \
                       ELC_GENERIC_((p), ELC_NUMBERS_(ELC_TARGET_) default : ELC_NO_TYPE))

#else
#define ELC_PTR(p) ELC_Register_pointer(#p, (void *)&(p), sizeof(p) / sizeof(void *), ELC_NO_TYPE)
#endif

#endif
