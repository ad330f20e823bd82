/* A decoding step's attention: softmax(carry(q k^T / sqrt(D))) v of every query of a sentence, over the positions that
   it has written itself, or over a source. */

#include "exponential.h"

typedef struct {
    float *at;
    int64_t sentence, head, place; /* numbers from one to the next */
} Array;

typedef struct {
    Array query, key, value;
    Array own_key, own_value; /* of each query's own position, to be written as the last, or none */
    const int64_t *origin;    /* sentences x queries x positions: which beam wrote a position that a query sees, or none */
    const bool *hidden;       /* sentences x positions that are not looked at, or none */
    const float *before;      /* sentences x heads x queries x positions: what the layers below give, or none */
    float *total, *out;       /* what goes to the layer above, or none; sentences x queries x heads x width */
    int64_t heads, queries, positions, width, beams;
    float divisor; /* of the totals */
    bool failed;
} Step;

enum { AHEAD = 8 }; /* positions whose keys are fetched before they are needed: they stand apart in memory */

static inline float *find(const Array *array, int64_t sentence, int64_t head, int64_t place) {
    return array->at + sentence * array->sentence + head * array->head + place * array->place;
}

WIDE INLINE void fetch(const float *row, int64_t width) {
    for (int64_t at = 0; at < width; at += 16) _mm_prefetch((const char *)(row + at), _MM_HINT_T0);
}

WIDE INLINE __m512 products(const float *one, const float *other, int64_t width) {
    __m512 sum = _mm512_setzero_ps();
    for (int64_t at = 0; at < width; at += 16)
        sum = _mm512_fmadd_ps(load(one + at, width - at), load(other + at, width - at), sum);
    return sum;
}

/* Of four registers the sum of each. */
WIDE INLINE __m128 sums(__m512 a, __m512 b, __m512 c, __m512 d) {
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    const __m512d low = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    const __m512d high = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    const __m512 all = _mm512_add_ps(_mm512_castpd_ps(low), _mm512_castpd_ps(high));
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(all), _mm512_extractf32x8_ps(all, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* What is added to the numbers of softmax: the exponentials, and their sum. */
WIDE static float exponentials(float *logits, int64_t count) {
    const __m512 low = _mm512_set1_ps(-INFINITY);
    __m512 most = low, sum = _mm512_setzero_ps();
    for (int64_t at = 0; at < count; at += 16)
        most = _mm512_max_ps(_mm512_mask_loadu_ps(low, mask_of(count - at), logits + at), most);
    const __m512 largest = _mm512_set1_ps(_mm512_reduce_max_ps(most));
    for (int64_t at = 0; at < count; at += 16) {
        const __mmask16 there = mask_of(count - at);
        const __m512 share = exponential(_mm512_sub_ps(_mm512_maskz_loadu_ps(there, logits + at), largest));
        _mm512_mask_storeu_ps(logits + at, there, share);
        sum = _mm512_mask_add_ps(sum, there, sum, share);
    }
    return _mm512_reduce_add_ps(sum);
}

WIDE INLINE void attend_query(const Step *s, int64_t sentence, int64_t head, int64_t row, float *logits, int64_t width) {
    const float *query = find(&s->query, sentence, head, row);
    const int64_t *origin = s->origin ? s->origin + (sentence * s->queries + row) * s->positions : NULL;
    const int64_t start = ((sentence * s->heads + head) * s->queries + row) * s->positions;
    const float *keys = find(&s->key, sentence, head, 0), *values = find(&s->value, sentence, head, 0);
    const float scale = 1 / sqrtf(width);
#define PLACE(at) ((at) * s->beams + (origin ? origin[at] : 0))
#define KEY(at) (keys + PLACE((at) < s->positions ? (at) : s->positions - 1) * s->key.place)
    for (int64_t at = 0; at < s->positions; at += 4) {
        __m512 four[4];
#pragma GCC unroll 4
        for (int each = 0; each < 4; each++) {
            fetch(KEY(at + each + AHEAD), width);
            four[each] = products(query, KEY(at + each), width);
        }
        _mm_storeu_ps(logits + at, sums(four[0], four[1], four[2], four[3]));
    }
    for (int64_t at = 0; at < s->positions; at += 16) {
        const __mmask16 there = mask_of(s->positions - at);
        __m512 score = _mm512_mul_ps(_mm512_maskz_loadu_ps(there, logits + at), _mm512_set1_ps(scale));
        if (s->before) score = _mm512_add_ps(score, _mm512_maskz_loadu_ps(there, s->before + start + at));
        if (s->total) _mm512_mask_storeu_ps(s->total + start + at, there, score);
        _mm512_mask_storeu_ps(logits + at, there, _mm512_div_ps(score, _mm512_set1_ps(s->divisor)));
    }
    for (int64_t at = 0; at < s->positions; at++) {
        fetch(values + PLACE(at) * s->value.place, width);
        if (s->hidden && s->hidden[sentence * s->positions + at]) logits[at] = -INFINITY;
    }
    const float sum = exponentials(logits, s->positions);
    float *out = s->out + ((sentence * s->queries + row) * s->heads + head) * width;
    for (int64_t part = 0; part < width; part += 64) {
        __m512 mixed[4] = {_mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps(), _mm512_setzero_ps()};
        for (int64_t at = 0; at < s->positions; at++) {
            const float *value = values + PLACE(at) * s->value.place + part;
            const __m512 share = _mm512_set1_ps(logits[at]);
#pragma GCC unroll 4
            for (int each = 0; each < 4; each++)
                if (part + 16 * each < width)
                    mixed[each] = _mm512_fmadd_ps(share, load(value + 16 * each, width - part - 16 * each), mixed[each]);
        }
#pragma GCC unroll 4
        for (int each = 0; each < 4; each++)
            if (part + 16 * each < width)
                _mm512_mask_storeu_ps(out + part + 16 * each, mask_of(width - part - 16 * each),
                                      _mm512_div_ps(mixed[each], _mm512_set1_ps(sum)));
    }
}

WIDE static void attend_queries(const Step *s, int64_t sentence, int64_t head, float *logits) {
    for (int64_t row = 0; row < s->queries; row++)
        if (s->width == 64)
            attend_query(s, sentence, head, row, logits, 64);
        else
            attend_query(s, sentence, head, row, logits, s->width);
}

static void attend_head(void *given, int64_t number) {
    Step *s = given;
    const int64_t sentence = number / s->heads, head = number % s->heads, last = (s->positions - 1) * s->beams;
    float *logits = malloc((s->positions + 4) * sizeof(float));
    if (!logits) {
        s->failed = true;
        return;
    }
    for (int64_t row = 0; s->own_key.at && row < s->queries; row++) {
        memcpy(find(&s->key, sentence, head, last + row), find(&s->own_key, sentence, head, row), s->width * sizeof(float));
        memcpy(find(&s->value, sentence, head, last + row), find(&s->own_value, sentence, head, row), s->width * sizeof(float));
    }
    attend_queries(s, sentence, head, logits);
    free(logits);
}

static Array array(const int64_t *n) { return (Array){AT(float, n[0]), n[1], n[2], n[3]}; }

bool attend(const int64_t *n) {
    const int64_t *sizes = n + 5;
    Step step = {
        .origin = AT(const int64_t, n[0]),
        .hidden = AT(const bool, n[1]),
        .before = AT(const float, n[2]),
        .total = AT(float, n[3]),
        .out = AT(float, n[4]),
        .divisor = sizes[0],
        .beams = sizes[1],
        .heads = sizes[3],
        .queries = sizes[4],
        .positions = sizes[5],
        .width = sizes[6],
        .query = array(n + 13),
        .key = array(n + 17),
        .value = array(n + 21),
        .own_key = array(n + 25),
        .own_value = array(n + 29),
    };
    const int64_t heads = sizes[2] * step.heads, work = 32 * heads * step.queries * step.positions * step.width;
    side_by_side(attend_head, &step, heads, (int)sizes[7], work);
    return !step.failed;
}
