/* A decoding step's attention: softmax(carry(q k^T / sqrt(D))) v of every query of a sentence, over the positions that
   it has written itself, or over a source. */

#include "arguments.h"
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

static Array array(const Tensor *t) { return (Array){t->at, t->stride[0], t->stride[1], t->stride[2]}; }

/* A row of numbers is read as one. */
static void check_array(Arguments *a, const Tensor *t, int64_t sentences, int64_t heads, int64_t places, int64_t width) {
    CHECK_SIZES(a, t, sentences, heads, places, width);
    check(a, !t->there || t->stride[3] == 1 || width == 1, "the numbers of a head must be side by side");
}

/* What is written to lies nowhere twice. */
static void check_room(Arguments *a, const Tensor *t) {
    for (int at = 0; at < 3; at++)
        check(a, t->size[at] < 2 || t->stride[at], "keys and values that are written to must not be expanded");
}

bool attend(Arguments *a) {
    const Tensor query = read_tensor(a, "query", FLOAT32, 4); /* sentences x heads x queries x width */
    const Tensor key = read_tensor(a, "key", FLOAT32, 4);     /* sentences x heads x positions * beams x width */
    const Tensor value = read_tensor(a, "value", FLOAT32, 4);
    const Tensor own_key = read_optional(a, "own_key", FLOAT32, 4);
    const Tensor own_value = read_optional(a, "own_value", FLOAT32, 4);
    const Tensor origin = read_optional(a, "origin", INT64, 3); /* sentences x beams x positions: there, queries are beams */
    const Tensor hidden = read_optional(a, "hidden", BOOL, 4);
    const Tensor before = read_optional(a, "before", FLOAT32, 4);
    const int64_t divisor = read_number(a, "divisor", 1, INT32_MAX);
    const bool carries = read_number(a, "carries", false, true); /* whether the totals go on */
    const int threads = read_threads(a);

    const int64_t sentences = query.size[0], heads = query.size[1], queries = query.size[2], width = query.size[3];
    check(a, heads > 0 && queries > 0 && width > 0, "query must have heads, queries and numbers");
    const int64_t beams = origin.there && queries > 0 ? queries : 1, positions = key.size[2] / beams;
    check(a, positions > 0, "key must have a position for each beam");
    check_array(a, &query, sentences, heads, queries, width);
    check_array(a, &key, sentences, heads, times(positions, beams), width);
    check_array(a, &value, sentences, heads, times(positions, beams), width);
    check(a, own_key.there == own_value.there, "own_key and own_value must be given together");
    check_array(a, &own_key, sentences, heads, beams, width);
    check_array(a, &own_value, sentences, heads, beams, width);
    check(a, !own_key.there || queries == beams, "several queries with keys of their own need an origin");
    if (own_key.there) check_room(a, &key), check_room(a, &value);
    CHECK_SIZES(a, &origin, sentences, queries, positions);
    CHECK_SIZES(a, &hidden, sentences, 1, 1, positions);
    CHECK_SIZES(a, &before, sentences, heads, queries, positions);
    check_contiguous(a, &hidden), check_contiguous(a, &before);
    check_below(a, &origin, beams);
    float *out = MAKE_RESULT(a, &query, sentences, queries, times(heads, width));
    float *total = carries ? MAKE_RESULT(a, &query, sentences, heads, queries, positions) : NULL;
    if (!checked(a)) return false;

    Step step = {
        .origin = origin.at,
        .hidden = hidden.at,
        .before = before.at,
        .total = total,
        .out = out,
        .divisor = divisor,
        .beams = beams,
        .heads = heads,
        .queries = queries,
        .positions = positions,
        .width = width,
        .query = array(&query),
        .key = array(&key),
        .value = array(&value),
        .own_key = array(&own_key),
        .own_value = array(&own_value),
    };
    const double work = 32.0 * sentences * heads * queries * positions * width;
    side_by_side(attend_head, &step, sentences * heads, threads, work);
    return !step.failed;
}
