// What the library asks of a compiler beyond ISO C++20, in this place alone. Nothing depends on it: without, format
// strings are not checked, and the archive is a little slower and shows more names. ELC_ISO_ONLY tries that.
#ifndef ELC_BASE_COMPILER_H
#define ELC_BASE_COMPILER_H

#if __has_cpp_attribute(gnu::visibility) && __has_cpp_attribute(gnu::format) && \
    __has_cpp_attribute(gnu::always_inline) && __has_cpp_attribute(gnu::noinline) && !defined ELC_ISO_ONLY
// What the archive gives to the program's linker; everything else in it is hidden (-fvisibility=hidden).
#define ELC_EXPORT [[gnu::visibility("default")]]
// Of what is declared here and defined in the archive: it is near.
#define ELC_HIDDEN [[gnu::visibility("hidden")]]
// Parameter FORMAT (from 1) is a format of printf, whose arguments begin with parameter FIRST.
#define ELC_PRINTF(FORMAT, FIRST) [[gnu::format(printf, FORMAT, FIRST)]]
// Inline even where the compiler thinks otherwise.
#define ELC_INLINE [[gnu::always_inline]] inline
// Never inline: what is seldom called takes no registers from what is called often.
#define ELC_NOINLINE [[gnu::noinline]]
// A symbol that the program need not have; its address is null then.
#define ELC_WEAK [[gnu::weak]]
#define ELC_HAVE_WEAK 1
#else
#define ELC_EXPORT
#define ELC_HIDDEN
#define ELC_PRINTF(FORMAT, FIRST)
#define ELC_INLINE inline
#define ELC_NOINLINE
#define ELC_HAVE_WEAK 0
#endif

// Where the function that this stands in was called from; nullptr where a compiler cannot tell.
#if defined __has_builtin && !defined ELC_ISO_ONLY
#if __has_builtin(__builtin_return_address)
#define ELC_CALLER() (static_cast<const void*>(__builtin_return_address(0)))
#endif
#endif
#ifndef ELC_CALLER
#define ELC_CALLER() (static_cast<const void*>(nullptr))
#endif

// Makes NAME an unsigned integer of 128 bits.
#if defined __SIZEOF_INT128__ && !defined ELC_ISO_ONLY
#define ELC_WIDE(NAME) __extension__ typedef unsigned __int128 NAME
#endif

// What lies there will be changed soon: its way from memory may begin.
#if defined __has_builtin && !defined ELC_ISO_ONLY
#if __has_builtin(__builtin_prefetch)
#define ELC_PREFETCH(ADDRESS) __builtin_prefetch((ADDRESS), 1)
#endif
#endif
#ifndef ELC_PREFETCH
#define ELC_PREFETCH(ADDRESS) (static_cast<void>(ADDRESS))
#endif

#endif
