/* elc_or_plain.h - each benchmark is built twice from one source: with libELC, and with ELC_PLAIN
 * defined without it. In the plain build every line of libELC vanishes, as if nobody had written it:
 * what is left is the program as it was before. */
#ifndef BENCH_ELC_OR_PLAIN_H
#define BENCH_ELC_OR_PLAIN_H

#ifndef ELC_PLAIN

#include <elc.h>

/* Elements of a type, each of so many bytes. */
#define ELC_NEW(type, width, count) ELC_new((type), (count))

#else

#include <stdlib.h>

typedef int ELC_Type;
typedef int ELC_Field;
#define ELC_DOUBLE 0
#define ELC_UINT64 0
#define ELC_FUNCTION 0
#define ELC_FIELD(S, f) 0
#define ELC_POINTER_FIELD(S, f) 0
#define ELC_TYPED_FIELD(S, f, type) 0
#define ELC_Struct(name, size, n, fields) ((void)(fields), 0)
#define ELC_NEW(type, width, count) ((void)(type), calloc((count) > 0 ? (size_t)(count) : 1, (width)))
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
