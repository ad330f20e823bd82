/* Label-smoothed loss of rows of logits; the logits become its gradient. The formula is SmoothedNLL's (fused_loss.py). */

#include "arguments.h"
#include "exponential.h"

typedef struct {
    void *logits;
    const int64_t *target;
    float *loss, *nll;
    int64_t words, padding;
    float peak, uniform;
} Loss;

#define EACH for (int64_t at = 0; at < p->words; at += 16)

#define REPLACE(LOAD, STORE, VALUE)                                                                \
    const Loss *p = given;                                                                         \
    const __m512 low = _mm512_set1_ps(-INFINITY);                                                  \
    __m512 most = low, total = _mm512_setzero_ps(), sum = _mm512_setzero_ps();                     \
    EACH {                                                                                         \
        const __mmask16 there = mask_of(p->words - at);                                            \
        const __m512 x = LOAD;                                                                     \
        most = _mm512_mask_max_ps(most, there, x, most); /* of a NaN the second: the sum has it */ \
        sum = _mm512_mask_add_ps(sum, there, sum, x);                                              \
    }                                                                                              \
    const float largest = _mm512_reduce_max_ps(most);                                              \
    EACH {                                                                                         \
        const __mmask16 there = mask_of(p->words - at);                                            \
        const __m512 x = _mm512_sub_ps(LOAD, _mm512_set1_ps(largest));                             \
        total = _mm512_mask_add_ps(total, there, total, exponential(x));                           \
    }                                                                                              \
    const float log_of_sum = largest + logf(_mm512_reduce_add_ps(total));                          \
    const int64_t word = p->target[row];                                                           \
    const bool counts = word != p->padding;                                                        \
    const float nll = log_of_sum - VALUE, all = _mm512_reduce_add_ps(sum) - p->words * log_of_sum; \
    p->nll[row] = counts ? nll : 0;                                                                \
    p->loss[row] = counts ? p->peak * nll - p->uniform * all : 0;                                  \
    const __m512 uniform = _mm512_set1_ps(p->uniform), peak = _mm512_set1_ps(p->peak);             \
    EACH {                                                                                         \
        const __mmask16 there = mask_of(p->words - at);                                            \
        const __m512 q = exponential(_mm512_sub_ps(LOAD, _mm512_set1_ps(log_of_sum)));             \
        const __mmask16 it = word >= at && word < at + 16 ? (__mmask16)(1u << (word - at)) : 0;    \
        __m512 y = _mm512_sub_ps(q, uniform);                                                      \
        y = _mm512_maskz_mov_ps(counts ? 0xffff : 0, _mm512_mask_sub_ps(y, it, y, peak));          \
        STORE;                                                                                     \
    }

WIDE static void replace32(void *given, int64_t row) {
    float *logits = (float *)((const Loss *)given)->logits + row * ((const Loss *)given)->words;
    REPLACE(load(logits + at, p->words - at), _mm512_mask_storeu_ps(logits + at, there, y), logits[word])
}

WIDE16 static void replace16(void *given, int64_t row) {
    uint16_t *logits = (uint16_t *)((const Loss *)given)->logits + row * ((const Loss *)given)->words;
    REPLACE(load16(logits + at, there), store16(logits + at, there, y), wide_of(logits[word]))
}

bool smoothed_loss(Arguments *a) {
    const Tensor logits = read_tensor(a, "logits", FLOAT32 | BFLOAT16, 2), target = read_tensor(a, "target", INT64, 1);
    const Tensor losses = read_tensor(a, "losses", FLOAT32, 2); /* loss and nll x rows */
    const int64_t padding = read_number(a, "padding", INT64_MIN, INT64_MAX);
    const float peak = read_real(a, "peak"), uniform = read_real(a, "uniform");
    const int threads = read_threads(a);

    const int64_t rows = logits.size[0], words = logits.size[1];
    CHECK_SIZES(a, &target, rows);
    CHECK_SIZES(a, &losses, 2, rows);
    check_contiguous(a, &logits), check_contiguous(a, &losses);
    check(a, logits.type != BFLOAT16 || processor.halves, "bfloat16 needs a processor with avx512_bf16");
    check_below(a, &target, words);
    if (!checked(a)) return false;

    float *loss = losses.at;
    Loss p = {logits.at, target.at, loss, loss + rows, words, padding, peak, uniform};
    side_by_side(logits.type == BFLOAT16 ? replace16 : replace32, &p, rows, threads, 32.0 * rows * words);
    return true;
}
