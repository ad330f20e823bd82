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

#define INLINE static inline __attribute__((always_inline))

typedef void (*Task)(void *given, int64_t number);

/* Every task below `count`, by torch's own threads if there are any and what is to be done, in multiplications or the
   like, is worth waking them. */
void side_by_side(Task task, void *given, int64_t count, int threads, int64_t work);

/* The kernels, of numbers in the order in which the Python beside them gives these; false where memory is missing. */
bool linear8(const int64_t *numbers);
bool linear16(const int64_t *numbers);
bool best(const int64_t *numbers);
bool attend(const int64_t *numbers);
bool enlarge(const int64_t *numbers);

#define AT(type, number) ((type *)(intptr_t)(number))

WIDE static inline __mmask16 mask_of(int64_t left) { return left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1); }

WIDE static inline __m512 load(const float *from, int64_t left) { return _mm512_maskz_loadu_ps(mask_of(left), from); }
