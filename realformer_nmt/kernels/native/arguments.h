/* The arguments of a kernel, read by their names and checked before the kernel begins.

   A kernel reads each argument by one call, in the order in which Python names them, and says there what it allows. The
   first argument that does not fit raises TypeError or ValueError; what is read after it is empty. `checked` ends the
   reading: where it answers false, the kernel returns at once. */
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native.h"

enum { DIMENSIONS = 5 };

typedef enum { FLOAT32 = 1, BFLOAT16 = 2, INT8 = 4, INT16 = 8, INT32 = 16, INT64 = 32, BOOL = 64 } Type;

typedef struct {
    const char *name;
    void *at; /* NULL where there is none, or no number in it */
    bool there;
    Type type;
    int64_t size[DIMENSIONS], stride[DIMENSIONS], count; /* strides and count in numbers */
    int dimensions;
    PyObject *object;
} Tensor;

typedef struct {
    const char *kernel;
    PyObject *const *values;
    PyObject *names;      /* a tuple, or NULL */
    Py_ssize_t count, next;
    bool failed;          /* Python's error is set */
    PyThreadState *state; /* while other threads of Python run */
    PyObject *result;     /* NULL: None */
} Arguments;

/* Returns whether it is done; if not, and no error is set, memory was missing. */
typedef bool (*Kernel)(Arguments *a);
bool pack8(Arguments *a);
bool pack16(Arguments *a);
bool pack32(Arguments *a);
bool linear8(Arguments *a);
bool linear16(Arguments *a);
bool linear32(Arguments *a);
bool dropout(Arguments *a);
bool smoothed_loss(Arguments *a);
bool best(Arguments *a);
bool attend(Arguments *a);
bool enlarge(Arguments *a);

/* Of two sizes, INT64_MAX where that is too small. */
static inline int64_t times(int64_t one, int64_t other) {
    int64_t product;
    return __builtin_mul_overflow(one, other, &product) ? INT64_MAX : product;
}

/* Once, as the module is imported: false where an error is set. */
bool find_torch(void);

/* A tensor on the CPU of one of the types and of so many dimensions. */
Tensor read_tensor(Arguments *a, const char *name, int types, int dimensions);

/* The same, or None. */
Tensor read_optional(Arguments *a, const char *name, int types, int dimensions);

/* A contiguous tensor of any shape: rows x the size of its last dimension. */
Tensor read_rows(Arguments *a, const char *name, int types);

int64_t read_number(Arguments *a, const char *name, int64_t least, int64_t most);
float read_real(Arguments *a, const char *name);
int read_threads(Arguments *a);

/* Further demands. They hold where a tensor was not given. */
void check_contiguous(Arguments *a, const Tensor *tensor);
void check_sizes(Arguments *a, const Tensor *tensor, const int64_t *sizes, int dimensions);
void check_below(Arguments *a, const Tensor *tensor, int64_t limit); /* all numbers, int64: 0 to limit - 1 */
void check(Arguments *a, bool holds, const char *message);
#define CHECK_SIZES(a, tensor, ...) \
    check_sizes(a, tensor, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Room for numbers such as those of `like`, which Python gets as a result; of several results a tuple. */
void *make_result(Arguments *a, const Tensor *like, const int64_t *sizes, int dimensions);
#define MAKE_RESULT(a, like, ...) \
    make_result(a, like, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void *make_rows(Arguments *a, const Tensor *like, int64_t width); /* of its shape, with another last size */
void *make_alike(Arguments *a, const Tensor *like);

/* What was checked once and is given again and again: a copy of `content`, which keeps the tensors of this call alive. */
bool make_packed(Arguments *a, const char *kind, const void *content, size_t size);
const void *read_packed(Arguments *a, const char *name, const char *kind);

/* Whether all arguments were read and fit. From then on other threads of Python run. */
bool checked(Arguments *a);
