/* The kernels as functions of Python. Tensors come as addresses; the package's Python has looked at them before. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native.h"

enum { MOST = 16 };

/* All arguments are whole numbers. */
static bool numbers_of(PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted, int64_t *numbers) {
    if (count != wanted) {
        PyErr_Format(PyExc_TypeError, "%zd arguments are needed, %zd were given", wanted, count);
        return false;
    }
    for (Py_ssize_t at = 0; at < count; at++) numbers[at] = PyLong_AsLongLong(given[at]);
    return !PyErr_Occurred();
}

#define AT(type, number) ((type *)(intptr_t)(number))

static PyObject *py_linear8(PyObject *module, PyObject *const *given, Py_ssize_t count) {
    int64_t n[MOST];
    bool done;
    if (!numbers_of(given, count, 10, n)) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    done = linear8(AT(float, n[0]), AT(int8_t, n[1]), AT(int32_t, n[2]), AT(float, n[3]), AT(float, n[4]), AT(float, n[5]),
                   n[6], n[7], n[8], (int)n[9]);
    Py_END_ALLOW_THREADS;
    if (!done) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"linear8", (PyCFunction)(void (*)(void))py_linear8, METH_FASTCALL, "x, weight, start, scale, bias or 0, y, rows, inputs, outputs, threads"},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    const bool able = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vnni");
    return PyModule_AddIntConstant(module, "able", able);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_kernels", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&definition); }
