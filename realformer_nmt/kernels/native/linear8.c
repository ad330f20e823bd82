/* y = s t (round(x / s) round(W / t)^T) + b in eight bits, one pass over the rows and one over W.

   W comes in panels of 64 outputs, within a panel in fours of inputs, so that one vpdpbusd sums four products of each of
   16 outputs. That multiplies numbers without a sign with numbers with one: the rows get 128 added, and `start`, what
   each output begins with, is -128 times the sum of its weights. Sums are exact, so no row depends on another. */

#include "tiles.h"

/* A row's scale: its largest number / 127, NaN if that is none. */
WIDE static float round_row(const float *x, int64_t count, uint8_t *rounded) {
    const __m512i no_sign = _mm512_set1_epi32(0x7fffffff);
    __m512i most = _mm512_setzero_si512(); /* as whole numbers: NaN is above infinity, and infinity above all others */
    for (int64_t at = 0; at < count; at += 16)
        most = _mm512_max_epu32(most, _mm512_and_si512(_mm512_castps_si512(load(x + at, count - at)), no_sign));
    const uint32_t bits = _mm512_reduce_max_epu32(most);
    float largest;
    memcpy(&largest, &bits, sizeof largest);
    const float scale = largest / 127, inverse = largest > 0 ? 127 / largest : 0;
    const __m512 factor = _mm512_set1_ps(inverse < FLT_MAX ? inverse : FLT_MAX);
    for (int64_t at = 0; at < count; at += 16) {
        const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(load(x + at, count - at), factor));
        const __m128i eight = _mm_xor_si128(_mm512_cvtsepi32_epi8(whole), _mm_set1_epi8(-128));
        _mm_store_si128((__m128i *)(rounded + at), eight);
    }
    return largest <= FLT_MAX ? scale : NAN;
}

WIDE INLINE void put(const Product *p, int64_t row, int64_t output, __m512i sum) {
    if (output >= p->outputs) return;
    const __mmask16 there = mask_of(p->outputs - output);
    const __m512 whole = _mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_maskz_loadu_ps(there, p->scale + output));
    const __m512 bias = p->bias ? _mm512_maskz_loadu_ps(there, p->bias + output) : _mm512_setzero_ps();
    const __m512 y = _mm512_fmadd_ps(whole, _mm512_set1_ps(p->row_scale[row]), bias);
    _mm512_mask_storeu_ps(p->y + row * p->outputs + output, there, y);
}

WIDE INLINE void multiply_rows(const Product *p, int64_t row, int64_t panel, int rows) {
    const int8_t *weight = (const int8_t *)p->weight + panel * p->groups * 4 * PANEL;
    const uint8_t *rounded = p->rounded + row * p->stride;
    const int64_t first = panel * PANEL;
    __m512i sum[TILE][4];
#pragma GCC unroll 8
    for (int each = 0; each < rows; each++)
#pragma GCC unroll 8
        for (int part = 0; part < 4; part++) sum[each][part] = _mm512_loadu_si512((const int32_t *)p->start + first + 16 * part);
    for (int64_t group = 0; group < p->groups; group++, weight += 4 * PANEL) {
        __m512i some[4];
#pragma GCC unroll 8
        for (int part = 0; part < 4; part++) some[part] = _mm512_loadu_si512(weight + 64 * part);
#pragma GCC unroll 8
        for (int each = 0; each < rows; each++) {
            int32_t four;
            memcpy(&four, rounded + each * p->stride + 4 * group, 4);
            const __m512i every = _mm512_set1_epi32(four);
#pragma GCC unroll 8
            for (int part = 0; part < 4; part++) sum[each][part] = _mm512_dpbusd_epi32(sum[each][part], every, some[part]);
        }
    }
#pragma GCC unroll 8
    for (int part = 0; part < 4; part++)
#pragma GCC unroll 8
        for (int each = 0; each < rows; each++) put(p, row + each, first + 16 * part, sum[each][part]);
}

static void round_tile(void *given, int64_t tile) {
    const Product *p = given;
    for (int64_t row = tile * TILE; row < p->rows && row < (tile + 1) * TILE; row++)
        p->row_scale[row] = round_row(p->x + row * p->inputs, p->inputs, p->rounded + row * p->stride);
}

WIDE static void multiply_panel(void *given, int64_t panel) {
    const Product *p = given;
    MULTIPLY_ROWS(multiply_rows, p, panel)
}

#ifdef TILED
TILED static void multiply_by_tiles(void *given, int64_t panel) {
    const Product *p = given;
    _Alignas(64) int32_t sums[TALL * PANEL];
    shape_tiles();
    for (int64_t row = 0; row < p->rows; row += TALL) {
        sum_by_tiles(p, row, panel, true, sums);
        for (int64_t each = 0; each < TALL && row + each < p->rows; each++)
            for (int part = 0; part < PANEL; part += 16)
                put(p, row + each, panel * PANEL + part, _mm512_loadu_si512(sums + each * PANEL + part));
    }
    _tile_release();
}
#else
#define multiply_by_tiles multiply_panel
#endif

bool pack8(Arguments *a) {
    const Tensor weight = read_tensor(a, "weight", INT8, 5); /* panels x groups x parts x outputs x inputs */
    const Tensor start = read_tensor(a, "start", INT32, 1), scale = read_tensor(a, "scale", FLOAT32, 1);
    const Tensor bias = read_optional(a, "bias", FLOAT32, 1);
    const int64_t inputs = read_number(a, "inputs", 1, INT32_MAX), outputs = read_number(a, "outputs", 1, INT32_MAX);
    CHECK_SIZES(a, &weight, panels_of(outputs), (inputs + 63) / 64 * 16, 4, 16, 4);
    CHECK_SIZES(a, &start, panels_of(outputs) * PANEL);
    CHECK_SIZES(a, &scale, outputs);
    CHECK_SIZES(a, &bias, outputs);
    check_contiguous(a, &weight), check_contiguous(a, &start), check_contiguous(a, &scale), check_contiguous(a, &bias);
    const Layer layer = {weight.at, start.at, scale.at, bias.at, inputs, outputs};
    return make_packed(a, "pack8", &layer, sizeof layer);
}

bool linear8(Arguments *a) {
    Product p;
    const int64_t rows = read_product(a, "pack8", 64, &p);
    const bool by_tiles = read_number(a, "tiles", false, processor.tiles);
    const int threads = read_threads(a);
    if (!checked(a)) return false;

    const int64_t block = block_of(p.stride), most = room_of(rows < block ? rows : block);
    const Task multiply = by_tiles && rows > TILE ? multiply_by_tiles : multiply_panel;
    p.rounded = aligned_alloc(64, most * p.stride + (most / 16 + 1) * 64);
    if (!p.rounded) return false;
    p.row_scale = (float *)(p.rounded + most * p.stride);
    for (int64_t row = 0; row < rows; row += block, p.x += block * p.inputs, p.y += block * p.outputs) {
        p.rows = rows - row < block ? rows - row : block;
        side_by_side(round_tile, &p, tiles(p.rows), threads, 16.0 * p.rows * p.inputs);
        side_by_side(multiply, &p, panels_of(p.outputs), threads, (double)p.rows * p.inputs * p.outputs);
    }
    free(p.rounded);
    return true;
}
