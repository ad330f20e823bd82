/* What the kernels share: the instructions that they are written in, and threads. */
#pragma once

#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

#define WIDE16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16")))

#define INLINE static inline __attribute__((always_inline))

typedef void (*Task)(void *given, int64_t number);

/* Every task below `count`, by torch's own threads if there are any and what is to be done, in multiplications or the
   like, is worth waking them. */
void side_by_side(Task task, void *given, int64_t count, int threads, double work);

/* Whether this process may use AMX: Linux wants to be asked. */
bool ask_for_tiles(void);

/* What this process may use, found as the module is imported. */
typedef struct {
    bool wide, halves, tiles; /* what WIDE and WIDE16 name, and AMX */
} Processor;
extern Processor processor;

WIDE static inline __mmask16 mask_of(int64_t left) { return left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1); }

WIDE static inline __m512 load(const float *from, int64_t left) { return _mm512_maskz_loadu_ps(mask_of(left), from); }

/* Numbers in bf16. */
WIDE static inline __m512 load16(const uint16_t *from, __mmask16 there) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from)), 16));
}

WIDE16 static inline void store16(uint16_t *to, __mmask16 there, __m512 numbers) {
    _mm256_mask_storeu_epi16(to, there, (__m256i)_mm512_cvtneps_pbh(numbers));
}

static inline float wide_of(uint16_t half) {
    const uint32_t bits = (uint32_t)half << 16;
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
