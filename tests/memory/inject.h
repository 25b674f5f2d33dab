/* Takes memory away from the library in a test program. The program is linked with --wrap=realloc and --wrap=free: all that
 * the archive allocates for itself goes by realloc (src/base/memory.cc), so that its k-th allocation can be told here to
 * fail, and no other memory of the program is concerned. ELC_TEST_MEMORY says what is to happen in one rank:
 *
 *     once:RANK:STEP:K      the K-th allocation in this step fails, and no other
 *     full:RANK:STEP:K:N    from there on memory is full: only what has been freed since can be had; until the program has
 *                           called memory_step N times more (0: no number of times), or memory_back
 *
 *     count                 nothing; how many there are in each step is said
 *
 * What is done is said on standard error: "memory: ...". */
#ifndef ELC_TESTS_MEMORY_INJECT_H
#define ELC_TESTS_MEMORY_INJECT_H

/* A step of the program begins. The program's start is step -1. */
void memory_step(int step);
/* The program has let go of what it had too much: there is memory again, and it stays. */
void memory_back(void);

#endif
