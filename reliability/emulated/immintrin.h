/* The instructions that the kernels use, in plain C, lane by lane, for the build with gcc's sanitisers.

   gcc's sanitisers do not see what a masked instruction reads and writes; here each number is an access of its own. And
   every processor runs it. The compiler finds this file in the place of its own <immintrin.h>. Results are those of the
   processor, except that AMX and vdpbf16ps may round sums differently. */
#pragma once

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* No instruction set is asked of the compiler, and all are said to be there. */
#define target(...)
#define __builtin_cpu_supports(name) 1

#define VECTOR(bytes) __attribute__((vector_size(bytes), may_alias))
typedef float __m512 VECTOR(64);
typedef float __m256 VECTOR(32);
typedef float __m128 VECTOR(16);
typedef double __m512d VECTOR(64);
typedef int32_t __m512i VECTOR(64);
typedef int16_t __m256i VECTOR(32);
typedef int8_t __m128i VECTOR(16);
typedef uint16_t __m512bh VECTOR(64);
typedef uint16_t __m256bh VECTOR(32);
typedef uint16_t __mmask16;

/* Compiled once each: within the kernels' unrolled loops they would take a minute. */
#define EMULATED static __attribute__((unused, noinline))
#define LANES(count) for (int i = 0; i < (count); i++)
#define EACH_OF(type, count, ...) \
    type r = {0};                   \
    LANES(count) r[i] = (__VA_ARGS__); \
    return r
#define FUNCTION_OF(type, count, name, parameters, ...) \
    EMULATED type name parameters { EACH_OF(type, count, __VA_ARGS__); }
#define BIT(mask) ((mask) >> i & 1)

enum { _CMP_GT_OQ, _MM_CMPINT_NLT, _MM_HINT_T0, _MM_HINT_T1 };
#define _mm_prefetch(address, hint) ((void)(address))

/* Memory. Aligned accesses are looked at by the sanitiser. */
FUNCTION_OF(__m512, 16, _mm512_loadu_ps, (const void *from), ((const float *)from)[i])
FUNCTION_OF(__m512, 16, _mm512_maskz_loadu_ps, (__mmask16 k, const float *from), BIT(k) ? from[i] : 0)
FUNCTION_OF(__m512, 16, _mm512_mask_loadu_ps, (__m512 s, __mmask16 k, const float *from), BIT(k) ? from[i] : s[i])
FUNCTION_OF(__m256i, 16, _mm256_maskz_loadu_epi16, (__mmask16 k, const void *from), BIT(k) ? ((const int16_t *)from)[i] : 0)
EMULATED __m512 _mm512_load_ps(const float *from) { return *(const __m512 *)from; }
EMULATED void _mm512_store_ps(float *to, __m512 a) { *(__m512 *)to = a; }
EMULATED void _mm512_store_si512(void *to, __m512i a) { *(__m512i *)to = a; }
EMULATED void _mm256_store_si256(__m256i *to, __m256i a) { *to = a; }
EMULATED void _mm_store_si128(__m128i *to, __m128i a) { *to = a; }
EMULATED void _mm_storeu_ps(float *to, __m128 a) { LANES(4) to[i] = a[i]; }
EMULATED void _mm512_mask_storeu_ps(float *to, __mmask16 k, __m512 a) { LANES(16) if (BIT(k)) to[i] = a[i]; }
EMULATED void _mm256_mask_storeu_epi16(void *to, __mmask16 k, __m256i a) { LANES(16) if (BIT(k)) ((int16_t *)to)[i] = a[i]; }
EMULATED __m512i _mm512_loadu_si512(const void *from) {
    __m512i r;
    memcpy(&r, from, sizeof r);
    return r;
}

/* Constants */
FUNCTION_OF(__m512, 16, _mm512_set1_ps, (float a), a)
FUNCTION_OF(__m512d, 8, _mm512_set1_pd, (double a), a)
FUNCTION_OF(__m512i, 16, _mm512_set1_epi32, (int32_t a), a)
FUNCTION_OF(__m256i, 16, _mm256_set1_epi16, (int16_t a), a)
FUNCTION_OF(__m128i, 16, _mm_set1_epi8, (int8_t a), a)
EMULATED __m512 _mm512_setzero_ps(void) { return (__m512){0}; }
EMULATED __m512i _mm512_setzero_si512(void) { return (__m512i){0}; }
#define _mm512_setr_epi32(...) ((__m512i){__VA_ARGS__})

/* Other names for the same bits */
#define _mm512_castps_si512(a) ((__m512i)(a))
#define _mm512_castsi512_ps(a) ((__m512)(a))
#define _mm512_castps_pd(a) ((__m512d)(a))
#define _mm512_castpd_ps(a) ((__m512)(a))
FUNCTION_OF(__m256, 8, _mm512_castps512_ps256, (__m512 a), a[i])
FUNCTION_OF(__m256, 8, _mm512_extractf32x8_ps, (__m512 a, int half), a[8 * half + i])
FUNCTION_OF(__m128, 4, _mm256_castps256_ps128, (__m256 a), a[i])
FUNCTION_OF(__m128, 4, _mm256_extractf128_ps, (__m256 a, int half), a[4 * half + i])

/* Arithmetic */
EMULATED float larger(float a, float b) { return a > b ? a : b; } /* of a NaN the second */
FUNCTION_OF(__m512, 16, _mm512_add_ps, (__m512 a, __m512 b), a[i] + b[i])
FUNCTION_OF(__m512, 16, _mm512_sub_ps, (__m512 a, __m512 b), a[i] - b[i])
FUNCTION_OF(__m512, 16, _mm512_mul_ps, (__m512 a, __m512 b), a[i] * b[i])
FUNCTION_OF(__m512, 16, _mm512_div_ps, (__m512 a, __m512 b), a[i] / b[i])
FUNCTION_OF(__m512, 16, _mm512_max_ps, (__m512 a, __m512 b), larger(a[i], b[i]))
FUNCTION_OF(__m256, 8, _mm256_add_ps, (__m256 a, __m256 b), a[i] + b[i])
FUNCTION_OF(__m128, 4, _mm_add_ps, (__m128 a, __m128 b), a[i] + b[i])
FUNCTION_OF(__m512, 16, _mm512_fmadd_ps, (__m512 a, __m512 b, __m512 c), fmaf(a[i], b[i], c[i]))
FUNCTION_OF(__m512, 16, _mm512_fnmadd_ps, (__m512 a, __m512 b, __m512 c), fmaf(-a[i], b[i], c[i]))
FUNCTION_OF(__m512, 16, _mm512_mask_add_ps, (__m512 s, __mmask16 k, __m512 a, __m512 b), BIT(k) ? a[i] + b[i] : s[i])
FUNCTION_OF(__m512, 16, _mm512_mask_sub_ps, (__m512 s, __mmask16 k, __m512 a, __m512 b), BIT(k) ? a[i] - b[i] : s[i])
FUNCTION_OF(__m512, 16, _mm512_mask_max_ps, (__m512 s, __mmask16 k, __m512 a, __m512 b), BIT(k) ? larger(a[i], b[i]) : s[i])
FUNCTION_OF(__m512, 16, _mm512_maskz_mov_ps, (__mmask16 k, __m512 a), BIT(k) ? a[i] : 0)
FUNCTION_OF(__m512, 16, _mm512_roundscale_ps, (__m512 a, int whole), (void)whole, rintf(a[i]))
EMULATED float scaled(float a, float power) { return isnan(power) ? power : ldexpf(a, (int)fmaxf(-999, fminf(999, floorf(power)))); }
FUNCTION_OF(__m512, 16, _mm512_scalef_ps, (__m512 a, __m512 b), scaled(a[i], b[i]))
FUNCTION_OF(__m512i, 16, _mm512_and_si512, (__m512i a, __m512i b), a[i] & b[i])
FUNCTION_OF(__m512i, 16, _mm512_add_epi32, (__m512i a, __m512i b), (int32_t)((uint32_t)a[i] + (uint32_t)b[i]))
FUNCTION_OF(__m512i, 16, _mm512_max_epu32, (__m512i a, __m512i b), (uint32_t)a[i] > (uint32_t)b[i] ? a[i] : b[i])
FUNCTION_OF(__m512i, 16, _mm512_slli_epi32, (__m512i a, int bits), (int32_t)((uint32_t)a[i] << bits))
FUNCTION_OF(__m128i, 16, _mm_xor_si128, (__m128i a, __m128i b), a[i] ^ b[i])

/* Other types */
FUNCTION_OF(__m512, 16, _mm512_cvtepi32_ps, (__m512i a), (float)a[i])
FUNCTION_OF(__m512i, 16, _mm512_cvtepu16_epi32, (__m256i a), (uint16_t)a[i])
EMULATED int32_t whole(float a) { return a >= -0x1p31f && a < 0x1p31f ? (int32_t)rintf(a) : INT32_MIN; }
FUNCTION_OF(__m512i, 16, _mm512_cvtps_epi32, (__m512 a), whole(a[i]))
FUNCTION_OF(__m128i, 16, _mm512_cvtsepi32_epi8, (__m512i a), a[i] < -128 ? -128 : a[i] > 127 ? 127 : a[i])
EMULATED uint16_t half(float a) {
    uint32_t bits;
    memcpy(&bits, &a, 4);
    if (isnan(a)) return bits >> 16 | 0x40;
    if (!(bits & 0x7f800000)) return bits >> 16 & 0x8000; /* what is below the smallest normal number is 0 */
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
EMULATED float wide(uint16_t a) {
    const uint32_t bits = (a & 0x7f80) ? (uint32_t)a << 16 : (uint32_t)(a & 0x8000) << 16;
    float number;
    memcpy(&number, &bits, 4);
    return number;
}
FUNCTION_OF(__m256bh, 16, _mm512_cvtneps_pbh, (__m512 a), half(a[i]))
FUNCTION_OF(__m512bh, 32, _mm512_cvtne2ps_pbh, (__m512 high, __m512 low), half(i < 16 ? low[i % 16] : high[i % 16]))

/* Lanes that change their places */
FUNCTION_OF(__m512, 16, _mm512_unpacklo_ps, (__m512 a, __m512 b), (i % 2 ? b : a)[i / 4 * 4 + i % 4 / 2])
FUNCTION_OF(__m512, 16, _mm512_unpackhi_ps, (__m512 a, __m512 b), (i % 2 ? b : a)[i / 4 * 4 + i % 4 / 2 + 2])
FUNCTION_OF(__m512d, 8, _mm512_unpacklo_pd, (__m512d a, __m512d b), (i % 2 ? b : a)[i / 2 * 2])
FUNCTION_OF(__m512d, 8, _mm512_unpackhi_pd, (__m512d a, __m512d b), (i % 2 ? b : a)[i / 2 * 2 + 1])
FUNCTION_OF(__m512, 16, _mm512_permutex2var_ps, (__m512 a, __m512i at, __m512 b), (at[i] & 16 ? b : a)[at[i] & 15])

/* Of a register one number or one mask */
#define REDUCED(type, combine)                                         \
    type all[16];                                                      \
    LANES(16) all[i] = a[i];                                           \
    for (int width = 8; width; width /= 2) LANES(width) all[i] = combine(all[i + width], all[i]); \
    return all[0]
#define PLUS(a, b) ((a) + (b))
#define MORE(a, b) ((a) > (b) ? (a) : (b))
EMULATED float _mm512_reduce_add_ps(__m512 a) { REDUCED(float, PLUS); }
EMULATED float _mm512_reduce_max_ps(__m512 a) { REDUCED(float, larger); }
EMULATED uint32_t _mm512_reduce_max_epu32(__m512i a) { REDUCED(uint32_t, MORE); }
EMULATED __mmask16 _mm512_cmp_ps_mask(__m512 a, __m512 b, int greater) {
    __mmask16 r = 0;
    (void)greater;
    LANES(16) r |= (a[i] > b[i]) << i;
    return r;
}
EMULATED __mmask16 _mm256_mask_cmp_epi16_mask(__mmask16 k, __m256i a, __m256i b, int not_less) {
    __mmask16 r = 0;
    (void)not_less;
    LANES(16) r |= (BIT(k) && a[i] >= b[i]) << i;
    return r;
}

/* Sums of products, of fours in eight bits and of pairs in bf16 */
EMULATED int32_t fours(int32_t sum, const uint8_t *a, const int8_t *b) {
    int32_t products = 0;
    LANES(4) products += a[i] * b[i];
    return (int32_t)((uint32_t)sum + (uint32_t)products);
}
EMULATED float pairs(float sum, const uint16_t *a, const uint16_t *b) {
    return fmaf(wide(a[1]), wide(b[1]), fmaf(wide(a[0]), wide(b[0]), sum));
}
FUNCTION_OF(__m512i, 16, _mm512_dpbusd_epi32, (__m512i s, __m512i a, __m512i b),
            fours(s[i], (const uint8_t *)&a + 4 * i, (const int8_t *)&b + 4 * i))
FUNCTION_OF(__m512, 16, _mm512_dpbf16_ps, (__m512 s, __m512bh a, __m512bh b),
            pairs(s[i], (const uint16_t *)&a + 2 * i, (const uint16_t *)&b + 2 * i))

/* AMX's registers: all of 16 rows x 64 bytes, as `shape_tiles` sets them */
static __thread uint8_t tile[8][16][64] __attribute__((unused, aligned(64)));
#define _tile_loadconfig(shapes) ((void)(shapes))
#define _tile_release() ((void)0)
#define _tile_zero(t) memset(tile[t], 0, sizeof tile[t])
#define _tile_loadd(t, from, stride) LANES(16) memcpy(tile[t][i], (const char *)(from) + i * (int64_t)(stride), 64)
#define _tile_stored(t, to, stride) LANES(16) memcpy((char *)(to) + i * (int64_t)(stride), tile[t][i], 64)
#define SUM_OF_PRODUCTS(name, type, sum_of, left, right)                                                      \
    EMULATED void name(int to, int a, int b) {                                                                      \
        for (int row = 0; row < 16; row++)                                                                          \
            for (int column = 0; column < 16; column++) {                                                           \
                type *sum = (type *)tile[to][row] + column;                                                         \
                LANES(16) *sum = sum_of(*sum, (left *)(tile[a][row] + 4 * i), (right *)(tile[b][i] + 4 * column));  \
            }                                                                                                       \
    }
SUM_OF_PRODUCTS(_tile_dpbusd, int32_t, fours, uint8_t, int8_t)
SUM_OF_PRODUCTS(_tile_dpbf16ps, float, pairs, uint16_t, uint16_t)
