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

bool linear16(const int64_t *n) {
    Product p = {.x = AT(float, n[0]), .weight = AT(void, n[1]), .start = AT(void, n[2]), .y = AT(float, n[3])};
    p.inputs = n[5], p.outputs = n[6], p.stride = (p.inputs + 31) / 32 * 64, p.groups = p.stride / 4;
    const Task multiply = n[8] ? multiply_by_tiles : multiply_panel;
    const int64_t rows = n[4], block = block_of(p.stride);
    p.rounded = aligned_alloc(64, room_of(rows < block ? rows : block) * p.stride);
    if (!p.rounded) return false;
    for (int64_t row = 0; row < rows; row += block, p.x += block * p.inputs, p.y += block * p.outputs) {
        p.rows = rows - row < block ? rows - row : block;
        side_by_side(round_tile, &p, tiles(p.rows), (int)n[7], 8 * p.rows * p.inputs);
        side_by_side(multiply, &p, (p.outputs + PANEL - 1) / PANEL, (int)n[7], p.rows * p.inputs * p.outputs);
    }
    free(p.rounded);
    return true;
}
