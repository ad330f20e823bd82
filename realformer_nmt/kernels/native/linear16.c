/* y = x W^T + b, the factors rounded to bf16 and their products summed in fp32, one pass over the rows and one over W.

   W comes in panels of 64 outputs, within a panel in pairs of inputs, so that one vdpbf16ps sums two products of each of
   16 outputs. A row's sum is taken in the same order whatever rows are beside it. */

#include "tiles.h"

WIDE16 INLINE void put(const Product *p, int64_t row, int64_t output, __m512 sum) {
    if (output < p->outputs) _mm512_mask_storeu_ps(p->y + row * p->outputs + output, mask_of(p->outputs - output), sum);
}

WIDE16 INLINE void multiply_rows(const Product *p, int64_t row, int64_t panel, int rows) {
    const uint8_t *weight = (const uint8_t *)p->weight + panel * p->groups * 4 * PANEL;
    const uint8_t *rounded = p->rounded + row * p->stride;
    const int64_t first = panel * PANEL;
    __m512 sum[TILE][4];
#pragma GCC unroll 8
    for (int each = 0; each < rows; each++)
#pragma GCC unroll 8
        for (int part = 0; part < 4; part++) sum[each][part] = _mm512_loadu_ps((const float *)p->start + first + 16 * part);
    for (int64_t group = 0; group < p->groups; group++, weight += 4 * PANEL) {
        __m512bh some[4];
#pragma GCC unroll 8
        for (int part = 0; part < 4; part++) some[part] = (__m512bh)_mm512_loadu_si512(weight + 64 * part);
#pragma GCC unroll 8
        for (int each = 0; each < rows; each++) {
            int32_t two;
            memcpy(&two, rounded + each * p->stride + 4 * group, 4);
            const __m512bh every = (__m512bh)_mm512_set1_epi32(two);
#pragma GCC unroll 8
            for (int part = 0; part < 4; part++) sum[each][part] = _mm512_dpbf16_ps(sum[each][part], every, some[part]);
        }
    }
#pragma GCC unroll 8
    for (int part = 0; part < 4; part++)
#pragma GCC unroll 8
        for (int each = 0; each < rows; each++) put(p, row + each, first + 16 * part, sum[each][part]);
}

WIDE16 static void round_tile(void *given, int64_t tile) {
    const Product *p = given;
    for (int64_t row = tile * TILE; row < p->rows && row < (tile + 1) * TILE; row++) {
        memset(p->rounded + (row + 1) * p->stride - 64, 0, 64); /* behind the last input */
        for (int64_t at = 0; at < p->inputs; at += 16) {
            const __m256bh half = _mm512_cvtneps_pbh(load(p->x + row * p->inputs + at, p->inputs - at));
            _mm256_store_si256((__m256i *)(p->rounded + row * p->stride + 2 * at), (__m256i)half);
        }
    }
}

WIDE16 static void multiply_panel(void *given, int64_t panel) {
    const Product *p = given;
    MULTIPLY_ROWS(multiply_rows, p, panel)
}

#ifdef TILED
TILED static void multiply_by_tiles(void *given, int64_t panel) {
    const Product *p = given;
    _Alignas(64) int32_t sums[TALL * PANEL];
    shape_tiles();
    for (int64_t row = 0; row < p->rows; row += TALL) {
        sum_by_tiles(p, row, panel, false, sums);
        for (int64_t each = 0; each < TALL && row + each < p->rows; each++)
            for (int part = 0; part < PANEL; part += 16)
                put(p, row + each, panel * PANEL + part, _mm512_loadu_ps(sums + each * PANEL + part));
    }
    _tile_release();
}
#else
#define multiply_by_tiles multiply_panel
#endif

bool pack16(Arguments *a) {
    const Tensor weight = read_tensor(a, "weight", BFLOAT16, 5); /* panels x groups x parts x outputs x inputs */
    const Tensor start = read_tensor(a, "start", FLOAT32, 1);
    const int64_t inputs = read_number(a, "inputs", 1, INT32_MAX), outputs = read_number(a, "outputs", 1, INT32_MAX);
    CHECK_SIZES(a, &weight, panels_of(outputs), (inputs + 31) / 32 * 16, 4, 16, 2);
    CHECK_SIZES(a, &start, panels_of(outputs) * PANEL);
    check_contiguous(a, &weight), check_contiguous(a, &start);
    check(a, processor.halves, "the processor must have avx512_bf16");
    const Layer layer = {weight.at, start.at, NULL, NULL, inputs, outputs};
    return make_packed(a, "pack16", &layer, sizeof layer);
}

bool linear16(Arguments *a) {
    Product p;
    const int64_t rows = read_product(a, "pack16", 32, &p);
    const bool by_tiles = read_number(a, "tiles", false, processor.tiles);
    const int threads = read_threads(a);
    if (!checked(a)) return false;

    const int64_t block = block_of(p.stride);
    const Task multiply = by_tiles ? multiply_by_tiles : multiply_panel;
    p.rounded = aligned_alloc(64, room_of(rows < block ? rows : block) * p.stride);
    if (!p.rounded) return false;
    for (int64_t row = 0; row < rows; row += block, p.x += block * p.inputs, p.y += block * p.outputs) {
        p.rows = rows - row < block ? rows - row : block;
        side_by_side(round_tile, &p, tiles(p.rows), threads, 8.0 * p.rows * p.inputs);
        side_by_side(multiply, &p, panels_of(p.outputs), threads, (double)p.rows * p.inputs * p.outputs);
    }
    free(p.rounded);
    return true;
}
