/* Sums of products by AMX: of 16 rows x 16 outputs in one register, over 64 bytes of inputs at once. Rows and weights
   lie as the kernels without AMX have them. */
#pragma once

#include "panels.h"

#if __has_include(<amxbf16intrin.h>)

#define TILED \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,amx-tile,amx-int8,amx-bf16")))

/* What is in memory stays there: GCC does not know that registers of AMX read it. */
INLINE void settle(const void *memory) { __asm__ volatile("" ::"r"(memory) : "memory"); }

/* All of 16 rows x 64 bytes: fewer rows take as long. */
TILED INLINE void shape_tiles(void) {
    const struct {
        uint8_t palette, none[15];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shapes = {1, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};
    settle(&shapes);
    _tile_loadconfig(&shapes);
}

#define ADD(sum, row, weight)           \
    if (eight)                          \
        _tile_dpbusd(sum, row, weight); \
    else                                \
        _tile_dpbf16ps(sum, row, weight)

/* Of up to 16 rows and the 64 outputs of a panel: the weights, which come from afar, are read in their order. */
TILED INLINE void sum_few(const Product *p, const uint8_t *x, const uint8_t *weight, const int32_t *start,
                          int32_t *sums, bool eight) {
    _tile_loadd(0, start, 0);
    _tile_loadd(1, start + 16, 0);
    _tile_loadd(2, start + 32, 0);
    _tile_loadd(3, start + 48, 0);
    for (int64_t at = 0; at < p->stride; at += 64, weight += 64 * PANEL) {
        _tile_loadd(4, x + at, p->stride);
        _tile_loadd(6, weight, 4 * PANEL);
        _tile_loadd(7, weight + 64, 4 * PANEL);
        ADD(0, 4, 6);
        ADD(1, 4, 7);
        _tile_loadd(6, weight + 128, 4 * PANEL);
        _tile_loadd(7, weight + 192, 4 * PANEL);
        ADD(2, 4, 6);
        ADD(3, 4, 7);
    }
    _tile_stored(0, sums, 4 * PANEL);
    _tile_stored(1, sums + 16, 4 * PANEL);
    _tile_stored(2, sums + 32, 4 * PANEL);
    _tile_stored(3, sums + 48, 4 * PANEL);
}

/* Of 32 rows and 32 outputs. */
TILED INLINE void sum_many(const Product *p, const uint8_t *x, const uint8_t *weight, const int32_t *start,
                           int32_t *sums, bool eight) {
    _tile_loadd(0, start, 0);
    _tile_loadd(1, start + 16, 0);
    _tile_loadd(2, start, 0);
    _tile_loadd(3, start + 16, 0);
    for (int64_t at = 0; at < p->stride; at += 64, weight += 64 * PANEL) {
        _tile_loadd(4, x + at, p->stride);
        _tile_loadd(5, x + 16 * p->stride + at, p->stride);
        _tile_loadd(6, weight, 4 * PANEL);
        _tile_loadd(7, weight + 64, 4 * PANEL);
        ADD(0, 4, 6);
        ADD(1, 4, 7);
        ADD(2, 5, 6);
        ADD(3, 5, 7);
    }
    _tile_stored(0, sums, 4 * PANEL);
    _tile_stored(1, sums + 16, 4 * PANEL);
    _tile_stored(2, sums + 16 * PANEL, 4 * PANEL);
    _tile_stored(3, sums + 16 * PANEL + 16, 4 * PANEL);
}

/* TALL x PANEL, of the rows from `row` on. */
TILED INLINE void sum_by_tiles(const Product *p, int64_t row, int64_t panel, bool eight, int32_t *sums) {
    const uint8_t *x = p->rounded + row * p->stride, *weight = (const uint8_t *)p->weight + panel * PANEL * p->stride;
    const int32_t *start = (const int32_t *)p->start + panel * PANEL;
    settle(sums);
    if (p->rows - row <= 16)
        sum_few(p, x, weight, start, sums, eight);
    else
        for (int half = 0; half < PANEL; half += 32)
            sum_many(p, x, weight + 4 * half, start + half, sums + half, eight);
}

#endif
