/* elc_or_plain.h - each benchmark is built twice from one source: with libELC, and with ELC_PLAIN
 * defined without it. In the plain build every line of libELC vanishes, as if nobody had written it:
 * what is left is the program as it was before. */
#ifndef BENCH_ELC_OR_PLAIN_H
#define BENCH_ELC_OR_PLAIN_H

#ifndef ELC_PLAIN

#include <elc.h>

#else

#include <stdlib.h>

/* A type is nothing but its size here, so that ELC_new is calloc. */
typedef size_t ELC_Type;
typedef int ELC_Field;
#define ELC_INT sizeof(int)
#define ELC_DOUBLE sizeof(double)
#define ELC_UINT64 sizeof(uint64_t)
#define ELC_FUNCTION 0
#define ELC_FIELD(S, f) 0
#define ELC_POINTER_FIELD(S, f) 0
#define ELC_TYPED_FIELD(S, f, type) 0
#define ELC_Struct(name, size, n, fields) ((void)(fields), (size))
#define ELC_new(type, count) calloc((count) > 0 ? (size_t)(count) : 1, (type))
#define ELC_free(block) free(block)

#define ELC_FRESH 0
static inline int ELC_Restore(void) { return ELC_FRESH; }
static inline int ELC_Checkpoint(void) { return 0; }
static inline int ELC_Checkpoint_now(void) { return 0; }
#define ELC_Recovering() 0
#define ELC_Line() 0u

#define ELC_VAR(x) ((void)0)
#define ELC_ARRAY(p, n) ((void)0)
#define ELC_PTR(p) ((void)0)
#define ELC_STATUS(s) ((void)0)
#define ELC_REQUEST(r) ((void)0)
#define ELC_FUNC(f) ((void)0)

#define ELC_ENTER() ((void)0)
#define ELC_RESUME() {
#define ELC_AT(label) ((void)0)
#define ELC_END() }
#define ELC_Leave() ((void)0)

#endif
#endif
