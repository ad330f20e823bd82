/* Tasks side by side on the threads of torch's libgomp, found where torch has loaded it: another pool of threads would
   wait in turns with torch's. */

#define _GNU_SOURCE
#include <dlfcn.h>

#include "native.h"

typedef void (*Parallel)(void (*work)(void *), void *given, unsigned threads, unsigned flags);

typedef struct {
    Task task;
    void *given;
    int64_t next, count;
} Queue;

enum { WORTH = 1 << 20 }; /* some 5 microseconds */

static void take(void *given) {
    Queue *queue = given;
    for (;;) {
        const int64_t number = __atomic_fetch_add(&queue->next, 1, __ATOMIC_RELAXED);
        if (number >= queue->count) return;
        queue->task(queue->given, number);
    }
}

void side_by_side(Task task, void *given, int64_t count, int threads, double work) {
    Queue queue = {task, given, 0, count};
    const Parallel parallel = threads > 1 && work >= WORTH ? (Parallel)dlsym(RTLD_DEFAULT, "GOMP_parallel") : NULL;
    if (parallel && count > 1)
        parallel(take, &queue, count < threads ? count : threads, 0);
    else
        take(&queue);
}
