/* more_plain.h - what elc_or_plain.h of the benchmarks does not need and the test programs do. */
#ifndef TESTS_MORE_PLAIN_H
#define TESTS_MORE_PLAIN_H

#include "../../bench/elc_or_plain.h"

#ifdef ELC_PLAIN
#define ELC_COMM(v) ((void)0)
#define ELC_DATATYPE(v) ((void)0)
#define ELC_MPIFILE(v) ((void)0)
#define ELC_MPIWIN(v) ((void)0)
#define ELC_GROUP(v) ((void)0)
#define ELC_INFO(v) ((void)0)
#define ELC_OP(v) ((void)0)
#define ELC_ERRHANDLER(v) ((void)0)
#define ELC_ND(value) ((void)0)
#define ELC_TYPE_OF(lvalue) 0
#define ELC_malloc(size) malloc(size)
#define ELC_fopen(path, mode) fopen(path, mode)
#define ELC_fclose(stream) fclose(stream)
#endif

#endif
