/* y = x W^T + b in fp32 by AMX, which multiplies numbers in bf16 alone.

   A number in fp32 is the sum of three in bf16, x = x1 + x2 + x3, each the rounded rest of those before it. Of the nine
   products six are taken: x1 w1 + x1 w2 + x2 w1 + x1 w3 + x2 w2 + x3 w1. What is left out is below what fp32 rounds.
   Sums are in fp32. Few rows are multiplied as they are: to read W takes longest there.

   W comes in panels of 32 outputs, within a panel in pairs of inputs. A row with a NaN or an infinite number is NaN. */

#include "tiles.h"

#ifdef TILED

/* Inputs of one register, of what stays in the first cache and in the second; rows of which that is so, and of which a
   chunk's turn fetches where the sums will go */
enum { STEP = 32, CHUNK = 2 * STEP, SLICE = 8 * CHUNK, BLOCK = 256, SHARE = TALL * CHUNK / SLICE };
enum { SPLIT = 3, HALF = PANEL / 2, FEW = 24 };

enum { BESIDE = 16 * STEP, BOTH = 2 * BESIDE }; /* numbers of one register, and of the two beside each other */

typedef struct {
    const float *x, *weight, *start;
    float *y;
    uint16_t *split; /* of a slice of inputs: chunks x rows / TALL x steps x SPLIT x TALL x STEP */
    int64_t rows, inputs, outputs, padded, blocks, from, to; /* padded: inputs; blocks: of rows; from, to: a slice */
} Exact;

/* 32 numbers, the first 16 of them `low`. */
TILED INLINE void split(__m512 low, __m512 high, uint16_t *to) {
    const __m512i half = _mm512_set1_epi32(0x8000), kept = _mm512_set1_epi32((int)0xffff0000);
#pragma GCC unroll 3
    for (int each = 0; each < SPLIT; each++, to += BOTH) {
        const __m512 l = _mm512_castsi512_ps(_mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(low), half), kept));
        const __m512 h = _mm512_castsi512_ps(_mm512_and_si512(_mm512_add_epi32(_mm512_castps_si512(high), half), kept));
        _mm512_store_si512(to, (__m512i)_mm512_cvtne2ps_pbh(h, l));
        low = _mm512_sub_ps(low, l), high = _mm512_sub_ps(high, h);
    }
}

TILED INLINE __m512 load_any(const float *from, int64_t left) { return load(from, left > 0 ? left : 0); }

TILED static void split_rows(void *given, int64_t block) {
    const Exact *p = given;
    for (int64_t row = block * TALL; row < p->rows && row < (block + 1) * TALL; row++)
        for (int64_t at = p->from; at < p->to; at += STEP) {
            const float *x = p->x + row * p->inputs + at;
            const int64_t chunk = (at - p->from) / CHUNK, step = at % CHUNK / STEP;
            const int64_t tile = (chunk * p->blocks + block) * (CHUNK / STEP) + step;
            uint16_t *to = p->split + tile * SPLIT * BOTH + row % TALL * STEP;
            split(load_any(x, p->inputs - at), load_any(x + 16, p->inputs - at - 16), to);
        }
}

TILED static void split_weights(const float *from, int steps, uint16_t *to) {
    for (int step = 0; step < steps; step++, to += SPLIT * BOTH)
        for (int pair = 0; pair < 16; pair++, from += 2 * HALF)
            for (int part = 0; part < 2; part++) {
                const float *outputs = from + 32 * part;
                split(_mm512_loadu_ps(outputs), _mm512_loadu_ps(outputs + 16), to + BESIDE * part + 32 * pair);
            }
}

#define ROWS(part)                         \
    _tile_loadd(4, x + BOTH * (part), 64); \
    _tile_loadd(5, x + BOTH * (part) + BESIDE, 64)
#define WEIGHTS(part)                      \
    _tile_loadd(6, w + BOTH * (part), 64); \
    _tile_loadd(7, w + BOTH * (part) + BESIDE, 64)
#define ADD_PRODUCTS()       \
    _tile_dpbf16ps(0, 4, 6); \
    _tile_dpbf16ps(1, 4, 7); \
    _tile_dpbf16ps(2, 5, 6); \
    _tile_dpbf16ps(3, 5, 7)

#define CLEAR(sum, at) _tile_zero(sum)
#define LOAD(sum, at) _tile_loadd(sum, at, 64)
#define STORE(sum, at) _tile_stored(sum, at, 64)
#define SUMS(DO)        \
    DO(0, first);       \
    DO(1, second);      \
    DO(2, first + 256); \
    DO(3, second + 256)

/* To the sums of 32 rows and 16 outputs each. What is ahead, `lines` a step, is fetched meanwhile. */
TILED INLINE void add_chunk(const uint16_t *x, const uint16_t *w, int steps, float *first, float *second,
                            bool fresh, const float *ahead, int lines) {
    settle(w), settle(first);
    if (fresh) {
        SUMS(CLEAR);
    } else {
        SUMS(LOAD);
    }
    for (int step = 0; step < steps; step++, x += SPLIT * BOTH, w += SPLIT * BOTH) {
        ROWS(2);
        WEIGHTS(0);
        ADD_PRODUCTS();
        ROWS(1);
        ADD_PRODUCTS();
        WEIGHTS(1);
        ADD_PRODUCTS();
        ROWS(0);
        ADD_PRODUCTS();
        WEIGHTS(2);
        ADD_PRODUCTS();
        WEIGHTS(0);
        ADD_PRODUCTS();
        for (int line = 0; line < lines; line++, ahead += 16) _mm_prefetch((const char *)ahead, _MM_HINT_T1);
    }
    SUMS(STORE);
}

TILED static void multiply_many(void *given, int64_t number) {
    const Exact *p = given;
    const int64_t output = number * HALF, left = p->outputs - output;
    const __mmask16 low = mask_of(left), high = left > 16 ? mask_of(left - 16) : 0;
    _Alignas(64) uint16_t weights[CHUNK / STEP * SPLIT * BOTH];
    _Alignas(64) float first[BLOCK * 16], second[BLOCK * 16];
    for (int64_t row = 0; row < p->rows && p->from; row++) {
        const float *y = p->y + row * p->outputs + output;
        _mm512_store_ps(first + 16 * row, _mm512_maskz_loadu_ps(low, y));
        _mm512_store_ps(second + 16 * row, _mm512_maskz_loadu_ps(high, y + 16));
    }
    shape_tiles();
    const uint16_t *x = p->split;
    for (int64_t at = p->from; at < p->to; at += CHUNK) {
        const int steps = (p->to - at < CHUNK ? p->to - at : CHUNK) / STEP;
        const float *from = p->weight + output * p->padded + at * HALF, *ahead = from + steps * STEP * HALF;
        split_weights(from, steps, weights);
        const int lines = (STEP * HALF / 16 + p->blocks - 1) / p->blocks;
        for (int64_t block = 0; block < p->blocks; block++) {
            const int64_t row = TALL * block, share = row + (at - p->from) / CHUNK * SHARE;
            const float *y = p->y + share * p->outputs + output;
            for (int each = 0; each < SHARE; each++, y += p->outputs)
                __builtin_prefetch(y, 1), __builtin_prefetch(y + 16, 1);
            add_chunk(x, weights, steps, first + 16 * row, second + 16 * row, !at, ahead, lines);
            ahead += 16 * lines * steps, x += CHUNK / STEP * SPLIT * BOTH;
        }
    }
    _tile_release();
    const bool last = p->to == p->padded; /* a bias before would cost small sums their digits */
    const __m512 start = _mm512_maskz_loadu_ps(last ? low : 0, p->start + output);
    const __m512 other = _mm512_maskz_loadu_ps(last ? high : 0, p->start + output + 16);
    for (int64_t row = 0; row < p->rows; row++) {
        float *y = p->y + row * p->outputs + output;
        _mm512_mask_storeu_ps(y, low, _mm512_add_ps(_mm512_load_ps(first + 16 * row), start));
        _mm512_mask_storeu_ps(y + 16, high, _mm512_add_ps(_mm512_load_ps(second + 16 * row), other));
    }
}

/* The sums of even inputs and those of odd ones lie side by side until the end. */
WIDE INLINE void multiply_rows(const Exact *p, int64_t row, int64_t number, int rows) {
    const int64_t first = number * HALF;
    const float *weight = p->weight + first * p->padded;
    __m512 sum[TILE][4];
#pragma GCC unroll 8
    for (int each = 0; each < rows; each++)
#pragma GCC unroll 8
        for (int part = 0; part < 4; part++) sum[each][part] = _mm512_setzero_ps();
    for (int64_t at = 0; at < p->inputs; at += 2, weight += 2 * HALF) {
        __m512 some[4];
#pragma GCC unroll 8
        for (int part = 0; part < 4; part++) some[part] = _mm512_loadu_ps(weight + 16 * part);
#pragma GCC unroll 8
        for (int each = 0; each < rows; each++) {
            double two = 0;
            memcpy(&two, p->x + (row + each) * p->inputs + at, at + 1 < p->inputs ? 8 : 4);
            const __m512 both = _mm512_castpd_ps(_mm512_set1_pd(two));
#pragma GCC unroll 8
            for (int part = 0; part < 4; part++) sum[each][part] = _mm512_fmadd_ps(both, some[part], sum[each][part]);
        }
    }
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
#pragma GCC unroll 8
    for (int each = 0; each < rows; each++)
#pragma GCC unroll 8
        for (int part = 0; part < 4; part += 2) {
            const int64_t output = first + 8 * part;
            if (output >= p->outputs) break;
            const __m512 low = _mm512_permutex2var_ps(sum[each][part], even, sum[each][part + 1]);
            const __m512 high = _mm512_permutex2var_ps(sum[each][part], odd, sum[each][part + 1]);
            const __m512 y = _mm512_add_ps(_mm512_add_ps(low, high), _mm512_loadu_ps(p->start + output));
            _mm512_mask_storeu_ps(p->y + (row + each) * p->outputs + output, mask_of(p->outputs - output), y);
        }
}

WIDE static void multiply_few(void *given, int64_t number) {
    const Exact *p = given;
    MULTIPLY_ROWS(multiply_rows, p, number)
}

bool pack32(Arguments *a) {
    const Tensor weight = read_tensor(a, "weight", FLOAT32, 5); /* panels x groups x parts x outputs x inputs */
    const Tensor start = read_tensor(a, "start", FLOAT32, 1);
    const int64_t inputs = read_number(a, "inputs", 1, INT32_MAX), outputs = read_number(a, "outputs", 1, INT32_MAX);
    CHECK_SIZES(a, &weight, (outputs + PANEL - 1) / PANEL * 2, (inputs + 31) / 32 * 16, 2, 16, 2);
    CHECK_SIZES(a, &start, panels_of(outputs) * PANEL);
    check_contiguous(a, &weight), check_contiguous(a, &start);
    check(a, processor.tiles, "the processor must have AMX");
    const Layer layer = {weight.at, start.at, NULL, NULL, inputs, outputs};
    return make_packed(a, "pack32", &layer, sizeof layer);
}

bool linear32(Arguments *a) {
    const Layer *layer = read_packed(a, "packed", "pack32");
    const Tensor x = read_rows(a, "x", FLOAT32);
    if (!a->failed) CHECK_SIZES(a, &x, x.size[0], layer->inputs);
    float *y = a->failed ? NULL : make_rows(a, &x, layer->outputs);
    (void)read_number(a, "tiles", true, true); /* as `pack32` has seen */
    const int threads = read_threads(a);
    if (!checked(a)) return false;

    Exact p = {x.at, layer->weight, layer->start, y, NULL};
    p.inputs = layer->inputs, p.outputs = layer->outputs, p.padded = (p.inputs + STEP - 1) / STEP * STEP;
    const int64_t rows = x.size[0], tasks = (p.outputs + HALF - 1) / HALF;
    if (rows <= FEW) {
        p.rows = rows;
        side_by_side(multiply_few, &p, tasks, threads, (double)rows * p.inputs * p.outputs);
        return true;
    }
    const int64_t most = ((rows < BLOCK ? rows : BLOCK) + TALL - 1) / TALL;
    p.split = aligned_alloc(64, most * (SLICE / STEP) * SPLIT * BOTH * sizeof(uint16_t));
    if (!p.split) return false;
    for (int64_t row = 0; row < rows; row += BLOCK, p.x += BLOCK * p.inputs, p.y += BLOCK * p.outputs) {
        p.rows = rows - row < BLOCK ? rows - row : BLOCK, p.blocks = (p.rows + TALL - 1) / TALL;
        for (p.from = 0; p.from < p.padded; p.from = p.to) {
            p.to = p.from + SLICE < p.padded ? p.from + SLICE : p.padded;
            side_by_side(split_rows, &p, p.blocks, threads, 16.0 * p.rows * p.inputs);
            side_by_side(multiply_many, &p, tasks, threads, (double)p.rows * p.inputs * p.outputs);
        }
    }
    free(p.split);
    return true;
}

#else

bool pack32(Arguments *a) {
    check(a, false, "the processor must have AMX");
    return false;
}

bool linear32(Arguments *a) { return pack32(a); }

#endif
