/* What the kernels share: the instructions that they are written in, and threads. */

#include <float.h>
#include <immintrin.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define WIDE __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

typedef void (*Task)(void *given, int64_t number);

/* Every task below `count`, by torch's own threads if there are any. */
void side_by_side(Task task, void *given, int64_t count, int threads);

bool linear8(const float *x, const int8_t *weight, const int32_t *start, const float *scale, const float *bias, float *y,
             int64_t rows, int64_t inputs, int64_t outputs, int threads);

WIDE static inline __mmask16 mask_of(int64_t left) { return left >= 16 ? 0xffff : (__mmask16)((1u << left) - 1); }

WIDE static inline __m512 load(const float *from, int64_t left) { return _mm512_maskz_loadu_ps(mask_of(left), from); }
