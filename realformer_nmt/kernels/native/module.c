/* The kernels as functions of Python. Tensors come as addresses; the package's Python has looked at them before. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "native.h"

typedef bool (*Kernel)(const int64_t *numbers);
enum { MOST = 33, VERSION = 4 }; /* of arguments; raised with what they mean, as in library.py */

/* All arguments are whole numbers, 0 in the place of what is not there. */
static PyObject *call(Kernel kernel, PyObject *const *given, Py_ssize_t count, Py_ssize_t wanted) {
    int64_t numbers[MOST];
    bool done;
    if (count != wanted) return PyErr_Format(PyExc_TypeError, "%zd arguments are needed, %zd were given", wanted, count);
    for (Py_ssize_t at = 0; at < count; at++) numbers[at] = PyLong_AsLongLong(given[at]);
    if (PyErr_Occurred()) return NULL;
    Py_BEGIN_ALLOW_THREADS;
    done = kernel(numbers);
    Py_END_ALLOW_THREADS;
    if (!done) return PyErr_NoMemory();
    Py_RETURN_NONE;
}

/* A kernel of so many arguments. */
#define WITH(name, wanted)                                                                             \
    static PyObject *py_##name(PyObject *module, PyObject *const *given, Py_ssize_t count) {           \
        return call(name, given, count, wanted);                                                       \
    }

WITH(linear8, 11)
WITH(linear16, 9)
WITH(linear32, 9)
WITH(dropout, 10)
WITH(smoothed_loss, 10)
WITH(best, 11)
WITH(attend, 33)
WITH(enlarge, 2)

#define FUNCTION(name) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL, NULL}
static PyMethodDef functions[] = {
    FUNCTION(linear8), FUNCTION(linear16), FUNCTION(linear32), FUNCTION(dropout), FUNCTION(smoothed_loss),
    FUNCTION(best),    FUNCTION(attend),   FUNCTION(enlarge), {NULL, NULL, 0, NULL}};

static int fill(PyObject *module) {
    const bool able = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vnni");
    if (PyModule_AddIntConstant(module, "tiles", able && ask_for_tiles())) return -1;
    return PyModule_AddIntConstant(module, "able", able) || PyModule_AddIntConstant(module, "version", VERSION) ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_kernels", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&definition); }
