/* Memory in pages of 2 MB, where the system leaves that to those who ask: fewer of them are made, and found. */

#include <sys/mman.h>

#include "arguments.h"

enum { PAGE = 4096 };

bool enlarge(Arguments *a) {
    const Tensor room = read_rows(a, "room", FLOAT32 | BFLOAT16);
    if (!checked(a)) return false;
#ifdef MADV_HUGEPAGE
    const uintptr_t at = (uintptr_t)room.at, bytes = (uintptr_t)room.count * (room.type == FLOAT32 ? 4 : 2);
    const uintptr_t start = (at + PAGE - 1) / PAGE * PAGE, end = (at + bytes) / PAGE * PAGE;
    if (start < end) (void)madvise((void *)start, end - start, MADV_HUGEPAGE); /* advice, which may be left */
#endif
    return true;
}
