/* Of each row of logits the largest and the sum of their exponentials, gathered piece by piece of the vocabulary. */

#include "arguments.h"
#include "exponential.h"

enum { BLOCK = 64 };

typedef struct {
    const float *logits;
    float *values, *most, *total; /* rows x number, in order; of each row the largest logit, and the sum of exp(x - it) */
    int64_t *found;               /* whose the values are */
    int64_t words, start, first, number; /* of this piece; its first word; words in front that are in the sum alone */
} Search;

static void insert(const Search *s, int64_t row, float value, int64_t word) {
    float *values = s->values + row * s->number;
    int64_t *found = s->found + row * s->number, at = s->number - 1;
    for (; at > 0 && values[at - 1] < value; at--) values[at] = values[at - 1], found[at] = found[at - 1];
    values[at] = value, found[at] = word;
}

WIDE static void search_row(void *given, int64_t row) {
    const Search *s = given;
    const float *logits = s->logits + row * s->words, *least = s->values + (row + 1) * s->number - 1;
    const __m512 low = _mm512_set1_ps(-INFINITY);
    __m512 most = low;
    for (int64_t block = 0; block < s->words; block += BLOCK) {
        __m512 largest = low;
        for (int64_t at = block; at < s->words && at < block + BLOCK; at += 16) /* of a NaN the second */
            largest = _mm512_max_ps(_mm512_mask_loadu_ps(low, mask_of(s->words - at), logits + at), largest);
        most = _mm512_max_ps(most, largest);
        if (_mm512_cmp_ps_mask(largest, _mm512_set1_ps(*least), _CMP_GT_OQ))
            for (int64_t at = block; at < s->words && at < block + BLOCK; at++)
                if (logits[at] > *least && s->start + at >= s->first) insert(s, row, logits[at], s->start + at);
    }
    const float before = s->most[row], own = _mm512_reduce_max_ps(most), largest = own > before ? own : before;
    const __m512 every = _mm512_set1_ps(largest == -INFINITY ? 0 : largest); /* no word so far: no sum either */
    __m512 sum[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
    for (int64_t at = 0; at < s->words; at += BLOCK)
        for (int part = 0; part < 4 && at + 16 * part < s->words; part++) {
            const __mmask16 there = mask_of(s->words - at - 16 * part);
            const __m512 x = _mm512_sub_ps(_mm512_maskz_loadu_ps(there, logits + at + 16 * part), every);
            sum[part] = _mm512_mask_add_ps(sum[part], there, sum[part], exponential(x));
        }
    const __m512 all = _mm512_add_ps(_mm512_add_ps(sum[0], sum[1]), _mm512_add_ps(sum[2], sum[3]));
    const float rescaled = before == largest ? s->total[row] : s->total[row] * expf(before - largest);
    s->total[row] = rescaled + _mm512_reduce_add_ps(all);
    s->most[row] = largest;
}

bool best(Arguments *a) {
    const Tensor logits = read_tensor(a, "logits", FLOAT32, 2);
    const Tensor values = read_tensor(a, "values", FLOAT32, 2), words = read_tensor(a, "words", INT64, 2);
    const Tensor most = read_tensor(a, "most", FLOAT32, 2), total = read_tensor(a, "total", FLOAT32, 2);
    const int64_t seen = read_number(a, "seen", 0, INT32_MAX), first = read_number(a, "first", 0, INT32_MAX);
    const int threads = read_threads(a);

    const int64_t rows = logits.size[0], number = values.size[1];
    check(a, number > 0, "values must have room for a word");
    CHECK_SIZES(a, &values, rows, number);
    CHECK_SIZES(a, &words, rows, number);
    CHECK_SIZES(a, &most, rows, 1);
    CHECK_SIZES(a, &total, rows, 1);
    check_contiguous(a, &logits), check_contiguous(a, &values), check_contiguous(a, &words);
    check_contiguous(a, &most), check_contiguous(a, &total);
    if (!checked(a)) return false;

    Search search = {logits.at, values.at, most.at, total.at, words.at, logits.size[1], seen, first, number};
    side_by_side(search_row, &search, rows, threads, 64.0 * rows * search.words);
    return true;
}
