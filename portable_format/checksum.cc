// By zlib, or, where an x86 processor multiplies without carries, more than twice as fast: the checksum is the remainder
// of a polynomial over GF(2), and a block of 128 bits may be moved n bits further by two such products with known powers
// of x (V. Gopal et al.: Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009: folding,
// of data whose bits are reflected). The last block goes to zlib, which takes its remainder.
#include "portable_format/checksum.h"

#include <zlib.h>

#if (defined __x86_64__ || defined __i386__) && __has_cpp_attribute(gnu::target) && __has_include(<cpuid.h>) && \
    __has_include(<wmmintrin.h>) && !defined ELC_ISO_ONLY
#include <cpuid.h>
#include <wmmintrin.h>
#define ELC_CARRYLESS [[gnu::target("sse2,pclmul")]]
#endif

namespace elc::format {

namespace {

uint32_t by_zlib(const uint8_t* at, size_t size, uint32_t before) {
  uLong sum = before;
  while (size > 0) {  // zlib counts in uInt
    const size_t piece = size < (size_t{1} << 30) ? size : size_t{1} << 30;
    sum = crc32(sum, at, static_cast<uInt>(piece));
    at += piece;
    size -= piece;
  }
  return static_cast<uint32_t>(sum);
}

#ifdef ELC_CARRYLESS

constexpr size_t kBlock = sizeof(__m128i), kStep = 4 * kBlock;  // so many products are on their way at a time

// The remainder of x^n by the generator, the coefficient of x^31 in the lowest bit but one: a product of two numbers
// whose bits are reversed comes out one bit too low.
constexpr long long power(int n) {
  uint32_t remainder = uint32_t{1} << 31;
  for (; n > 0; --n) remainder = remainder >> 1 ^ ((remainder & 1) != 0 ? 0xedb88320 : 0);
  return static_cast<long long>(remainder) << 1;
}

ELC_CARRYLESS inline __m128i load(const uint8_t* at) {
  return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(at)));
}

// The block moved by the number n of bits for which `by` has x^(n+32) and x^(n-32), and what is there added.
ELC_CARRYLESS inline __m128i fold(__m128i block, __m128i by, __m128i there) {
  const __m128i first = _mm_clmulepi64_si128(block, by, 0x00), second = _mm_clmulepi64_si128(block, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(first, second), there);
}

// Of kStep bytes or more.
ELC_CARRYLESS uint32_t by_products(const uint8_t* at, size_t size, uint32_t before) {
  constexpr int kNear = 8 * kBlock, kFar = 8 * kStep;
  constexpr long long kPowers[] = {power(kNear - 32), power(kNear + 32), power(kFar - 32), power(kFar + 32)};
  const __m128i near = _mm_set_epi64x(kPowers[0], kPowers[1]), far = _mm_set_epi64x(kPowers[2], kPowers[3]);
  __m128i a = load(at), b = load(at + kBlock), c = load(at + 2 * kBlock), d = load(at + 3 * kBlock);
  a = _mm_xor_si128(a, _mm_cvtsi32_si128(static_cast<int>(~before)));
  for (at += kStep, size -= kStep; size >= kStep; at += kStep, size -= kStep) {
    a = fold(a, far, load(at));
    b = fold(b, far, load(at + kBlock));
    c = fold(c, far, load(at + 2 * kBlock));
    d = fold(d, far, load(at + 3 * kBlock));
  }
  d = fold(fold(fold(a, near, b), near, c), near, d);
  uint8_t last[kBlock];
  _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(last)), d);
  return by_zlib(at, size, by_zlib(last, kBlock, ~uint32_t{0}));  // zlib inverts what was before: it begins with zero
}

bool has_products() {
  unsigned a, b, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 1 & 1) != 0 && (d >> 26 & 1) != 0;  // PCLMULQDQ, SSE2
}

#endif

}  // namespace

uint32_t crc32_of(const void* data, size_t size, uint32_t before) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
#ifdef ELC_CARRYLESS
  static const bool products = has_products();  // in a virtual machine it is slow to ask
  if (products && size >= kStep) return by_products(at, size, before);
#endif
  return by_zlib(at, size, before);
}

}  // namespace elc::format
