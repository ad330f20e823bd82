/* Products with a matrix in panels of 64 outputs, a few rows at a time. */
#pragma once

#include "arguments.h"

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

/* A layer's own arguments. */
typedef struct {
    const void *weight, *start; /* in panels; of each output of a panel */
    const float *scale, *bias;  /* of each output, or none */
    int64_t inputs, outputs;
} Layer;

static inline int64_t panels_of(int64_t outputs) { return (outputs + PANEL - 1) / PANEL; }

static inline int64_t tiles(int64_t rows) { return (rows + TILE - 1) / TILE; }

/* Of a kernel's first arguments a product, whose rounded rows have whole steps of so many inputs in 64 bytes, and its rows. */
static inline int64_t read_product(Arguments *a, const char *kind, int64_t step, Product *p) {
    const Layer *layer = read_packed(a, "packed", kind);
    const Tensor x = read_rows(a, "x", FLOAT32);
    if (a->failed) return 0;
    CHECK_SIZES(a, &x, x.size[0], layer->inputs);
    *p = (Product){x.at, layer->weight, layer->start, layer->scale, layer->bias, make_rows(a, &x, layer->outputs)};
    p->inputs = layer->inputs, p->outputs = layer->outputs;
    p->stride = (p->inputs + step - 1) / step * 64, p->groups = p->stride / 4;
    return x.size[0];
}

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
