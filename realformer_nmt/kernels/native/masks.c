/* y = scale x where a random number says so, else 0; or of the ReLU of x. Which ones is kept, a bit each. */

#include "arguments.h"

enum { CHUNK = 1 << 14 }; /* numbers in a task */

typedef struct {
    const int16_t *random; /* 0 where the bits are there already */
    const void *x;
    void *y;
    uint16_t *kept; /* 16 numbers each */
    int64_t count;
    int16_t least; /* of the random numbers that keep theirs */
    bool relu;
    float scale;
} Dropout;

#define DROP(LOAD, STORE)                                                                                             \
    const Dropout *p = given;                                                                                         \
    const int64_t end = (chunk + 1) * CHUNK < p->count ? (chunk + 1) * CHUNK : p->count;                              \
    const __m512 zero = _mm512_setzero_ps();                                                                          \
    for (int64_t at = chunk * CHUNK; at < end; at += 16) {                                                            \
        const __mmask16 there = mask_of(end - at);                                                                    \
        if (p->random)                                                                                                \
            p->kept[at / 16] = _mm256_mask_cmp_epi16_mask(there, _mm256_maskz_loadu_epi16(there, p->random + at),     \
                                                          _mm256_set1_epi16(p->least), _MM_CMPINT_NLT);               \
        __m512 x = LOAD;                                                                                              \
        if (p->relu) x = _mm512_max_ps(zero, x); /* of a NaN the second */                                            \
        const __m512 scale = _mm512_maskz_mov_ps(p->kept[at / 16], _mm512_set1_ps(p->scale));                         \
        const __m512 y = _mm512_fmadd_ps(x, scale, zero); /* as torch: what is no number stays none, 0 has no sign */ \
        STORE;                                                                                                        \
    }

WIDE static void drop32(void *given, int64_t chunk) {
    DROP(load((const float *)p->x + at, end - at), _mm512_mask_storeu_ps((float *)p->y + at, there, y))
}

WIDE16 static void drop16(void *given, int64_t chunk) {
    DROP(load16((const uint16_t *)p->x + at, there), store16((uint16_t *)p->y + at, there, y))
}

bool dropout(Arguments *a) {
    const Tensor random = read_optional(a, "random", INT16, 1);
    const Tensor x = read_rows(a, "x", FLOAT32 | BFLOAT16), kept = read_tensor(a, "kept", INT16, 1);
    const int64_t least = read_number(a, "least", INT16_MIN, INT16_MAX), relu = read_number(a, "relu", false, true);
    const float scale = read_real(a, "scale");
    const int threads = read_threads(a);

    CHECK_SIZES(a, &random, x.count);
    CHECK_SIZES(a, &kept, x.count / 16 + (x.count % 16 > 0));
    check_contiguous(a, &random), check_contiguous(a, &kept);
    check(a, x.type != BFLOAT16 || processor.halves, "bfloat16 needs a processor with avx512_bf16");
    void *y = make_alike(a, &x);
    if (!checked(a)) return false;

    Dropout p = {random.at, x.at, y, kept.at, x.count, (int16_t)least, relu, scale};
    side_by_side(x.type == BFLOAT16 ? drop16 : drop32, &p, (p.count + CHUNK - 1) / CHUNK, threads, p.count);
    return true;
}
