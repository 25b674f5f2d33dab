/* mix.h - a number that follows from two others and looks random (the finaliser of splitmix64). */
#ifndef TESTS_MIX_H
#define TESTS_MIX_H

#include <stdint.h>

static inline uint64_t mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

#endif
