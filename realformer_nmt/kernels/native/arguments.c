#include "arguments.h"

#include <limits.h>
#include <stdarg.h>

typedef struct {
    Type type;
    const char *name;
    PyObject *object; /* torch's */
} Known;

static Known types[] = {{FLOAT32, "float32", 0}, {BFLOAT16, "bfloat16", 0}, {INT8, "int8", 0}, {INT16, "int16", 0},
                        {INT32, "int32", 0},     {INT64, "int64", 0},       {BOOL, "bool", 0}};
enum { TYPES = sizeof types / sizeof *types };
static PyObject *tensor_class, *parameter_class;

/* What a tensor is asked. */
static PyObject *DTYPE, *IS_CPU, *IS_NEG, *SHAPE, *STRIDE, *DATA_PTR, *NEW_EMPTY;

bool find_torch(void) {
    struct {
        PyObject **to;
        const char *name;
    } asked[] = {{&DTYPE, "dtype"},   {&IS_CPU, "is_cpu"},     {&IS_NEG, "is_neg"},      {&SHAPE, "shape"},
                 {&STRIDE, "stride"}, {&DATA_PTR, "data_ptr"}, {&NEW_EMPTY, "new_empty"}};
    for (size_t at = 0; at < sizeof asked / sizeof *asked; at++)
        if (!(*asked[at].to = PyUnicode_InternFromString(asked[at].name))) return false;
    PyObject *torch = PyImport_ImportModule("torch"), *nn = torch ? PyObject_GetAttrString(torch, "nn") : NULL;
    bool found = nn != NULL;
    for (int at = 0; found && at < TYPES; at++)
        found = (types[at].object = PyObject_GetAttrString(torch, types[at].name)) != NULL;
    found = found && (tensor_class = PyObject_GetAttrString(torch, "Tensor")) &&
            (parameter_class = PyObject_GetAttrString(nn, "Parameter"));
    Py_XDECREF(torch);
    Py_XDECREF(nn);
    return found;
}

/* The first error counts. */
static void refuse(Arguments *a, PyObject *kind, const char *format, ...) {
    va_list details;
    if (a->failed) return;
    a->failed = true;
    va_start(details, format);
    PyErr_FormatV(kind, format, details);
    va_end(details);
}

/* The next value, NULL after an error. */
static PyObject *next(Arguments *a, const char *name) {
    if (a->failed) return NULL;
    const Py_ssize_t at = a->next++;
    if (at >= a->count || PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(a->names, at), name)) {
        refuse(a, PyExc_TypeError, "%s: argument %zd must be named %s", a->kernel, at + 1, name);
        return NULL;
    }
    return a->values[at];
}

static Type type_of(PyObject *object) {
    PyObject *dtype = PyObject_GetAttr(object, DTYPE);
    Type found = 0;
    for (int at = 0; dtype && at < TYPES; at++)
        if (types[at].object == dtype) found = types[at].type;
    Py_XDECREF(dtype);
    return found;
}

static void names_of(int allowed, char *text, size_t room) {
    size_t used = 0;
    for (int at = 0; at < TYPES; at++)
        if (allowed & types[at].type)
            used += snprintf(text + used, room - used, "%s%s", used ? " or " : "", types[at].name);
}

/* Why a tensor is none that a kernel reads: its type or its device. Called where the answer no longer has to be quick. */
static void refuse_kind(Arguments *a, const char *name, PyObject *value, int allowed) {
    char wanted[64];
    names_of(allowed, wanted, sizeof wanted);
    PyErr_Clear();
    if (Py_TYPE(value) != (PyTypeObject *)tensor_class && Py_TYPE(value) != (PyTypeObject *)parameter_class) {
        refuse(a, PyExc_TypeError, "%s: %s must be a tensor, not %.100s", a->kernel, name, Py_TYPE(value)->tp_name);
        return;
    }
    PyObject *dtype = PyObject_GetAttr(value, DTYPE), *device = PyObject_GetAttrString(value, "device");
    PyObject *layout = PyObject_GetAttrString(value, "layout");
    if (dtype && device && layout)
        refuse(a, PyExc_TypeError, "%s: %s must be a dense tensor of %s in the CPU's memory, not %S, %S on %S", a->kernel,
               name, wanted, layout, dtype, device);
    a->failed = true;
    Py_XDECREF(dtype);
    Py_XDECREF(device);
    Py_XDECREF(layout);
}

/* Up to DIMENSIONS numbers of a tuple, which is released; -1: no tuple or no number. */
static Py_ssize_t unpack(PyObject *tuple, int64_t *to) {
    Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_GET_SIZE(tuple) : -1;
    for (Py_ssize_t at = 0; at < count && at < DIMENSIONS; at++) to[at] = PyLong_AsLongLong(PyTuple_GET_ITEM(tuple, at));
    Py_XDECREF(tuple);
    return PyErr_Occurred() ? -1 : count;
}

static bool is(PyObject *object, bool wanted) {
    Py_XDECREF(object); /* True and False stay */
    return object == (wanted ? Py_True : Py_False);
}

static bool find_numbers(Tensor *t) {
    PyObject *address = PyObject_CallMethodNoArgs(t->object, DATA_PTR);
    t->at = address ? PyLong_AsVoidPtr(address) : NULL;
    Py_XDECREF(address);
    return !PyErr_Occurred() && (t->at || !t->count);
}

/* Whether this is a tensor of one of the types whose numbers are in memory as they are. */
static bool describe(Tensor *t, PyObject *value, int allowed) {
    if (Py_TYPE(value) != (PyTypeObject *)tensor_class && Py_TYPE(value) != (PyTypeObject *)parameter_class) return false;
    t->object = value, t->type = type_of(value);
    return (t->type & allowed) && is(PyObject_GetAttr(value, IS_CPU), true) &&
           is(PyObject_CallMethodNoArgs(value, IS_NEG), false);
}

/* Sizes beside a 0 may be of any size. */
static int64_t count_of(const int64_t *sizes, Py_ssize_t dimensions) {
    int64_t count = 1;
    for (Py_ssize_t at = 0; at < dimensions; at++)
        if (!sizes[at]) return 0;
    for (Py_ssize_t at = 0; at < dimensions; at++) count = times(count, sizes[at]);
    return count;
}

static Tensor read_given(Arguments *a, const char *name, PyObject *value, int allowed, int dimensions) {
    Tensor t = {.name = name};
    if (!describe(&t, value, allowed)) {
        refuse_kind(a, name, value, allowed);
        return (Tensor){.name = name};
    }
    PyObject *shape = PyObject_GetAttr(value, SHAPE);
    const Py_ssize_t found = unpack(shape, t.size);
    if (found >= 0 && found != dimensions)
        refuse(a, PyExc_ValueError, "%s: %s must have %d dimensions, not %zd", a->kernel, name, dimensions, found);
    t.dimensions = dimensions, t.there = true, t.count = a->failed ? 0 : count_of(t.size, dimensions);
    if (!a->failed && (unpack(PyObject_CallMethodNoArgs(value, STRIDE), t.stride) < 0 || !find_numbers(&t)))
        refuse_kind(a, name, value, allowed);
    return a->failed ? (Tensor){.name = name} : t;
}

Tensor read_tensor(Arguments *a, const char *name, int allowed, int dimensions) {
    PyObject *value = next(a, name);
    return value ? read_given(a, name, value, allowed, dimensions) : (Tensor){.name = name};
}

Tensor read_optional(Arguments *a, const char *name, int allowed, int dimensions) {
    PyObject *value = next(a, name);
    return value && value != Py_None ? read_given(a, name, value, allowed, dimensions) : (Tensor){.name = name};
}

Tensor read_rows(Arguments *a, const char *name, int allowed) {
    Tensor t = {.name = name};
    PyObject *value = next(a, name);
    if (!value) return t;
    if (!describe(&t, value, allowed)) {
        refuse_kind(a, name, value, allowed);
        return (Tensor){.name = name};
    }
    PyObject *shape = PyObject_GetAttr(value, SHAPE), *contiguous = PyObject_CallMethod(value, "is_contiguous", NULL);
    const Py_ssize_t found = shape && PyTuple_Check(shape) ? PyTuple_GET_SIZE(shape) : -1;
    t.there = true, t.dimensions = 2, t.size[0] = t.size[1] = 1;
    bool empty = false;
    for (Py_ssize_t at = 0; at < found; at++) {
        const int64_t size = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, at));
        int64_t *whole = &t.size[at + 1 == found];
        empty = empty || !size, *whole = times(*whole, size);
    }
    t.count = empty ? 0 : times(t.size[0], t.size[1]), t.stride[0] = t.size[1], t.stride[1] = 1;
    if (empty && t.size[1]) t.size[0] = 0;
    Py_XDECREF(shape);
    if (!is(contiguous, true) && !PyErr_Occurred())
        refuse(a, PyExc_ValueError, "%s: %s must be contiguous", a->kernel, name);
    else if (found < 0 || !find_numbers(&t))
        refuse_kind(a, name, value, allowed);
    return a->failed ? (Tensor){.name = name} : t;
}

int64_t read_number(Arguments *a, const char *name, int64_t least, int64_t most) {
    PyObject *value = next(a, name);
    if (!value) return least;
    const long long number = PyLong_Check(value) ? PyLong_AsLongLong(value) : least - (least > INT64_MIN);
    if ((!PyLong_Check(value)) || PyErr_Occurred() || number < least || number > most) {
        PyErr_Clear();
        refuse(a, PyLong_Check(value) ? PyExc_ValueError : PyExc_TypeError,
               "%s: %s must be a whole number from %lld to %lld, not %R", a->kernel, name, (long long)least,
               (long long)most, value);
        return least;
    }
    return number;
}

float read_real(Arguments *a, const char *name) {
    PyObject *value = next(a, name);
    if (!value) return 0;
    const double number = PyFloat_AsDouble(value);
    if (PyErr_Occurred()) {
        PyErr_Clear();
        refuse(a, PyExc_TypeError, "%s: %s must be a number, not %R", a->kernel, name, value);
    }
    return (float)number;
}

int read_threads(Arguments *a) { return (int)read_number(a, "threads", 1, INT_MAX); }

void check_contiguous(Arguments *a, const Tensor *t) {
    int64_t step = 1;
    bool holds = true;
    if (a->failed || !t->there || !t->count) return;
    for (int at = t->dimensions; at-- > 0; step *= t->size[at]) holds = holds && (t->size[at] == 1 || t->stride[at] == step);
    if (!holds) refuse(a, PyExc_ValueError, "%s: %s must be contiguous", a->kernel, t->name);
}

static void show(const int64_t *sizes, int dimensions, char *text, size_t room) {
    size_t used = 0;
    *text = 0;
    for (int at = 0; at < dimensions; at++)
        used += snprintf(text + used, room - used, "%s%lld", at ? " x " : "", (long long)sizes[at]);
}

void check_sizes(Arguments *a, const Tensor *t, const int64_t *sizes, int dimensions) {
    char given[DIMENSIONS * 24], wanted[DIMENSIONS * 24];
    if (a->failed || !t->there || !memcmp(t->size, sizes, dimensions * sizeof *sizes)) return;
    show(t->size, dimensions, given, sizeof given);
    show(sizes, dimensions, wanted, sizeof wanted);
    refuse(a, PyExc_ValueError, "%s: %s must be %s, not %s", a->kernel, t->name, wanted, given);
}

WIDE static bool all_below(const int64_t *numbers, int64_t count, int64_t limit) {
    uint64_t beyond = 0; /* a negative number is above all others */
    for (int64_t at = 0; at < count; at++) beyond |= (uint64_t)numbers[at] >= (uint64_t)limit;
    return !beyond;
}

void check_below(Arguments *a, const Tensor *t, int64_t limit) {
    check_contiguous(a, t);
    if (a->failed || !t->there || all_below(t->at, t->count, limit)) return;
    refuse(a, PyExc_ValueError, "%s: %s must hold numbers from 0 to %lld alone", a->kernel, t->name, (long long)limit - 1);
}

void check(Arguments *a, bool holds, const char *message) {
    if (!holds) refuse(a, PyExc_ValueError, "%s: %s", a->kernel, message);
}

/* Of a shape, which is released. */
static void *add_result(Arguments *a, const Tensor *like, PyObject *shape, int64_t count) {
    PyObject *made = shape ? PyObject_CallMethodOneArg(like->object, NEW_EMPTY, shape) : NULL;
    Tensor t = {.object = made, .count = count};
    Py_XDECREF(shape);
    if (!made || Py_TYPE(made) != (PyTypeObject *)tensor_class || !find_numbers(&t)) {
        if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "%s: torch makes no tensors with numbers now", a->kernel);
        a->failed = true;
        Py_XDECREF(made);
        return NULL;
    }
    if (a->result) {
        PyObject *first = a->result;
        a->result = PyTuple_Pack(2, first, made);
        a->failed = !a->result;
        Py_DECREF(first);
        Py_DECREF(made);
    } else {
        a->result = made;
    }
    return t.at;
}

void *make_result(Arguments *a, const Tensor *like, const int64_t *sizes, int dimensions) {
    if (a->failed) return NULL;
    PyObject *shape = PyTuple_New(dimensions);
    for (int at = 0; shape && at < dimensions; at++) {
        PyObject *size = PyLong_FromLongLong(sizes[at]);
        if (!size) Py_CLEAR(shape);
        else PyTuple_SET_ITEM(shape, at, size);
    }
    return add_result(a, like, shape, count_of(sizes, dimensions));
}

void *make_alike(Arguments *a, const Tensor *like) {
    return a->failed ? NULL : add_result(a, like, PyObject_GetAttr(like->object, SHAPE), like->count);
}

void *make_rows(Arguments *a, const Tensor *like, int64_t width) {
    if (a->failed) return NULL;
    PyObject *shape = PyObject_GetAttr(like->object, SHAPE), *list = shape ? PySequence_List(shape) : NULL;
    const Py_ssize_t last = list ? PyList_GET_SIZE(list) - 1 : -1;
    PyObject *size = PyLong_FromLongLong(width);
    Py_XDECREF(shape);
    if (list && last < 0) refuse(a, PyExc_ValueError, "%s: %s must have a dimension", a->kernel, like->name);
    if (last < 0 || !size) {
        Py_XDECREF(size);
        Py_CLEAR(list);
    } else {
        (void)PyList_SetItem(list, last, size); /* it takes `size` over, and the place is there */
    }
    return add_result(a, like, list, times(like->size[0], width));
}

static void refuse_count(Arguments *a) {
    refuse(a, PyExc_TypeError, "%s: %zd arguments are needed, %zd were given", a->kernel, a->next, a->count);
}

static void forget(PyObject *capsule) {
    Py_XDECREF((PyObject *)PyCapsule_GetContext(capsule));
    free(PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
}

bool make_packed(Arguments *a, const char *kind, const void *content, size_t size) {
    if (!a->failed && a->next != a->count) refuse_count(a);
    if (a->failed) return false;
    PyObject *tensors = PyTuple_New(a->count);
    for (Py_ssize_t at = 0; tensors && at < a->count; at++) PyTuple_SET_ITEM(tensors, at, Py_NewRef(a->values[at]));
    void *copy = tensors ? malloc(size) : NULL;
    PyObject *capsule = copy ? PyCapsule_New(memcpy(copy, content, size), kind, forget) : NULL;
    if (!capsule) {
        free(copy);
        Py_XDECREF(tensors);
        return false;
    }
    (void)PyCapsule_SetContext(capsule, tensors); /* of a capsule it always succeeds */
    a->result = capsule;
    return true;
}

const void *read_packed(Arguments *a, const char *name, const char *kind) {
    PyObject *value = next(a, name);
    if (value && !PyCapsule_IsValid(value, kind))
        refuse(a, PyExc_TypeError, "%s: %s must be what %s returns", a->kernel, name, kind);
    return a->failed ? NULL : PyCapsule_GetPointer(value, kind);
}

bool checked(Arguments *a) {
    if (!a->failed && a->next != a->count) refuse_count(a);
    if (!a->failed) a->state = PyEval_SaveThread();
    return !a->failed;
}
