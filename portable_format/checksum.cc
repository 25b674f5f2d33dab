// By zlib, or, where an x86 processor multiplies without carries, more than twice as fast: the checksum is the remainder
// of a polynomial over GF(2), and a block of 128 bits may be moved n bits further by two such products with known powers
// of x (V. Gopal et al.: Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction, Intel 2009: folding,
// of data whose bits are reflected). The last block goes to zlib, which takes its remainder. Processors that make four
// such pairs of products at once do it as fast as memory can be read.
#include "portable_format/checksum.h"

#include <zlib.h>

#if (defined __x86_64__ || defined __i386__) && __has_cpp_attribute(gnu::target) && __has_include(<cpuid.h>) && \
    __has_include(<immintrin.h>) && !defined ELC_ISO_ONLY
#include <cpuid.h>
#include <immintrin.h>
#define ELC_CARRYLESS [[gnu::target("sse2,pclmul")]]
#define ELC_CARRYLESS_WIDE [[gnu::target("avx512f,vpclmulqdq")]]
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

constexpr size_t kWideBlock = sizeof(__m512i), kWideStep = 4 * kWideBlock;

ELC_CARRYLESS_WIDE inline __m512i fold_wide(__m512i block, __m512i by, const uint8_t* there) {
  const __m512i first = _mm512_clmulepi64_epi128(block, by, 0x00), second = _mm512_clmulepi64_epi128(block, by, 0x11);
  return _mm512_xor_si512(_mm512_xor_si512(first, second), _mm512_loadu_si512(there));
}

// The same, of kWideStep bytes or more. Each of the four blocks in one register is moved by as much.
ELC_CARRYLESS_WIDE uint32_t by_wide_products(const uint8_t* at, size_t size, uint32_t before) {
  constexpr int kNear = 8 * kWideBlock, kFar = 8 * kWideStep;
  constexpr long long kPowers[] = {power(kNear - 32), power(kNear + 32), power(kFar - 32), power(kFar + 32)};
  const __m512i near = _mm512_set4_epi64(kPowers[0], kPowers[1], kPowers[0], kPowers[1]);
  const __m512i far = _mm512_set4_epi64(kPowers[2], kPowers[3], kPowers[2], kPowers[3]);
  __m512i blocks[4];
  for (size_t i = 0; i < 4; ++i) blocks[i] = _mm512_loadu_si512(at + i * kWideBlock);
  blocks[0] = _mm512_xor_si512(blocks[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int>(~before))));
  for (at += kWideStep, size -= kWideStep; size >= kWideStep; at += kWideStep, size -= kWideStep)
    for (size_t i = 0; i < 4; ++i) blocks[i] = fold_wide(blocks[i], far, at + i * kWideBlock);
  uint8_t last[kWideBlock];
  for (size_t i = 0; i < 3; ++i) {
    _mm512_storeu_si512(last, blocks[i + 1]);
    blocks[i + 1] = fold_wide(blocks[i], near, last);
  }
  _mm512_storeu_si512(last, blocks[3]);
  before = by_products(last, kWideBlock, ~uint32_t{0});
  return size < kStep ? by_zlib(at, size, before) : by_products(at, size, before);
}

enum class Products { kUnknown, kNone, kOne, kFour };  // pairs of them that the processor makes at once

Products find_products() {
  unsigned a, b = 0, c = 0, d = 0;
  const bool one = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 1 & 1) != 0 && (d >> 26 & 1) != 0;  // PCLMULQDQ, SSE2
  if (!one || (c >> 27 & 1) == 0) return one ? Products::kOne : Products::kNone;
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  const bool kept = (low & 0xe6) == 0xe6;  // the system keeps such registers where processes change
  const bool four = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 16 & 1) != 0 && (c >> 10 & 1) != 0;  // AVX-512F, VPCLMULQDQ
  return kept && four ? Products::kFour : Products::kOne;
}

// In a virtual machine it is slow to ask. Threads that ask at a time find the same.
volatile Products known = Products::kUnknown;

#endif

}  // namespace

uint32_t crc32_of(const void* data, size_t size, uint32_t before) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
#ifdef ELC_CARRYLESS
  if (known == Products::kUnknown) known = find_products();
  const Products products = known;
  if (products == Products::kFour && size >= kWideStep) return by_wide_products(at, size, before);
  if (products != Products::kNone && size >= kStep) return by_products(at, size, before);
#endif
  return by_zlib(at, size, before);
}

}  // namespace elc::format
