/* Sums of products by AMX: of 16 rows x 16 outputs in one register, over 64 bytes of inputs at once. Rows and weights lie
   as the kernels without AMX have them. */
#pragma once

#include "panels.h"

#if __has_include(<amxbf16intrin.h>)

#define TILED \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx512bf16,amx-tile,amx-int8,amx-bf16")))

enum { TALL = 32 }; /* rows whose sums are taken at once */

/* Of registers 0 to 3 for sums, 4 and 5 for rows, 6 and 7 for weights. */
TILED INLINE void shape_tiles(int64_t rows) {
    const uint8_t upper = rows < 16 ? rows : 16, lower = rows > 16 ? rows - 16 : upper;
    const struct {
        uint8_t palette, none[15];
        uint16_t bytes[16];
        uint8_t rows[16];
    } shapes = {1, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {upper, upper, lower, lower, upper, lower, 16, 16}};
    _tile_loadconfig(&shapes);
}

/* Of up to 16 rows and the 64 outputs of a panel: the weights, which come from afar, are read in the order they lie in. */
TILED INLINE void sum_few(const uint8_t *x, int64_t stride, const uint8_t *weight, const int32_t *start, int32_t *sums, bool eight) {
    _tile_loadd(0, start, 0);
    _tile_loadd(1, start + 16, 0);
    _tile_loadd(2, start + 32, 0);
    _tile_loadd(3, start + 48, 0);
    for (int64_t at = 0; at < stride; at += 64, weight += 64 * PANEL) {
        _tile_loadd(4, x + at, stride);
        _tile_loadd(6, weight, 4 * PANEL);
        _tile_loadd(7, weight + 64, 4 * PANEL);
        if (eight) {
            _tile_dpbusd(0, 4, 6);
            _tile_dpbusd(1, 4, 7);
        } else {
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
        }
        _tile_loadd(6, weight + 128, 4 * PANEL);
        _tile_loadd(7, weight + 192, 4 * PANEL);
        if (eight) {
            _tile_dpbusd(2, 4, 6);
            _tile_dpbusd(3, 4, 7);
        } else {
            _tile_dpbf16ps(2, 4, 6);
            _tile_dpbf16ps(3, 4, 7);
        }
    }
    _tile_stored(0, sums, 4 * PANEL);
    _tile_stored(1, sums + 16, 4 * PANEL);
    _tile_stored(2, sums + 32, 4 * PANEL);
    _tile_stored(3, sums + 48, 4 * PANEL);
}

/* Of 17 to 32 rows and 32 outputs. */
TILED INLINE void sum_many(const uint8_t *x, int64_t stride, const uint8_t *weight, const int32_t *start, int32_t *sums, bool eight) {
    _tile_loadd(0, start, 0);
    _tile_loadd(1, start + 16, 0);
    _tile_loadd(2, start, 0);
    _tile_loadd(3, start + 16, 0);
    for (int64_t at = 0; at < stride; at += 64, weight += 64 * PANEL) {
        _tile_loadd(4, x + at, stride);
        _tile_loadd(5, x + 16 * stride + at, stride);
        _tile_loadd(6, weight, 4 * PANEL);
        _tile_loadd(7, weight + 64, 4 * PANEL);
        if (eight) {
            _tile_dpbusd(0, 4, 6);
            _tile_dpbusd(1, 4, 7);
            _tile_dpbusd(2, 5, 6);
            _tile_dpbusd(3, 5, 7);
        } else {
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
    }
    _tile_stored(0, sums, 4 * PANEL);
    _tile_stored(1, sums + 16, 4 * PANEL);
    _tile_stored(2, sums + 16 * PANEL, 4 * PANEL);
    _tile_stored(3, sums + 16 * PANEL + 16, 4 * PANEL);
}

/* TALL x PANEL at most, for the rows from `row` on. */
TILED INLINE void sum_by_tiles(const Product *p, int64_t row, int64_t rows, int64_t panel, bool eight, int32_t *sums) {
    const uint8_t *x = p->rounded + row * p->stride, *weight = (const uint8_t *)p->weight + panel * PANEL * p->stride;
    const int32_t *start = (const int32_t *)p->start + panel * PANEL;
    shape_tiles(rows);
    if (rows <= 16)
        sum_few(x, p->stride, weight, start, sums, eight);
    else
        for (int half = 0; half < 2; half++)
            sum_many(x, p->stride, weight + 128 * half, start + 32 * half, sums + 32 * half, eight);
    _tile_release();
}

#endif
