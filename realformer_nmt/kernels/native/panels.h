/* Products with a matrix in panels of 64 outputs, a few rows at a time. */
#pragma once

#include "native.h"

/* Outputs; rows at a time, and by AMX; bytes of rounded rows that stay in the cache */
enum { PANEL = 64, TILE = 6, TALL = 32, CACHED = 1 << 19 };

typedef struct {
    const float *x;
    const void *weight, *start; /* start: what each output begins with */
    const float *scale, *bias;
    float *y, *row_scale;
    uint8_t *rounded;
    int64_t rows, inputs, outputs, stride, groups; /* stride: bytes of a rounded row; groups: of inputs, summed at once */
} Product;

static inline int64_t tiles(int64_t rows) { return (rows + TILE - 1) / TILE; }

/* Rows with room for those that are multiplied beside them. */
static inline int64_t room_of(int64_t rows) { return (rows + TALL - 1) / TALL * TALL; }

/* How many rows are rounded before they are multiplied. */
static inline int64_t block_of(int64_t stride) {
    const int64_t fit = CACHED / stride / TILE * TILE;
    return fit > TILE ? fit : TILE;
}

/* Of all rows, in tiles of almost the same size: a small one would wait for the weights. Each size has its own loop. */
#define MULTIPLY_ROWS(multiply, p, panel)                                               \
    for (int64_t row = 0, rows, left = tiles(p->rows); left > 0; left--, row += rows) { \
        rows = (p->rows - row + left - 1) / left;                                       \
        switch (rows) {                                                                 \
            case 1: multiply(p, row, panel, 1); break;                                  \
            case 2: multiply(p, row, panel, 2); break;                                  \
            case 3: multiply(p, row, panel, 3); break;                                  \
            case 4: multiply(p, row, panel, 4); break;                                  \
            case 5: multiply(p, row, panel, 5); break;                                  \
            default: multiply(p, row, panel, TILE);                                     \
        }                                                                               \
    }
