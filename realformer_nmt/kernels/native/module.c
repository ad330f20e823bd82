/* The kernels as functions of Python: all arguments are given by name, in the order in which the kernel reads them. */

#include "arguments.h"

enum { VERSION = 5 }; /* raised with what the arguments mean, as in library.py */

Processor processor;

static PyObject *call(Kernel kernel, const char *name, PyObject *const *values, Py_ssize_t unnamed, PyObject *names) {
    Arguments a = {.kernel = name, .values = values, .names = names, .count = names ? PyTuple_GET_SIZE(names) : 0};
    if (!processor.wide) return PyErr_Format(PyExc_RuntimeError, "%s: this processor has no avx512_vnni", name);
    if (unnamed) return PyErr_Format(PyExc_TypeError, "%s: all arguments must be named", name);
    const bool done = kernel(&a);
    if (a.state) PyEval_RestoreThread(a.state);
    if (!done) Py_CLEAR(a.result);
    if (!done) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    return a.result ? a.result : Py_NewRef(Py_None);
}

#define KERNEL(name)                                                                                               \
    static PyObject *py_##name(PyObject *module, PyObject *const *values, Py_ssize_t unnamed, PyObject *names) {   \
        return call(name, #name, values, unnamed, names);                                                          \
    }

KERNEL(pack8)
KERNEL(pack16)
KERNEL(pack32)
KERNEL(linear8)
KERNEL(linear16)
KERNEL(linear32)
KERNEL(dropout)
KERNEL(smoothed_loss)
KERNEL(best)
KERNEL(attend)
KERNEL(enlarge)

#define FUNCTION(name) {#name, (PyCFunction)(void (*)(void))py_##name, METH_FASTCALL | METH_KEYWORDS, NULL}
static PyMethodDef functions[] = {
    FUNCTION(pack8),    FUNCTION(pack16),  FUNCTION(pack32),        FUNCTION(linear8), FUNCTION(linear16),
    FUNCTION(linear32), FUNCTION(dropout), FUNCTION(smoothed_loss), FUNCTION(best),    FUNCTION(attend),
    FUNCTION(enlarge),  {NULL, NULL, 0, NULL}};

static int fill(PyObject *module) {
    processor.wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                     __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                     __builtin_cpu_supports("avx512vnni");
    processor.halves = processor.wide && __builtin_cpu_supports("avx512bf16");
    processor.tiles = processor.wide && ask_for_tiles();
    if (!find_torch() || PyModule_AddIntConstant(module, "tiles", processor.tiles)) return -1;
    if (PyModule_AddIntConstant(module, "able", processor.wide)) return -1;
    return PyModule_AddIntConstant(module, "version", VERSION);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_kernels", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&definition); }
