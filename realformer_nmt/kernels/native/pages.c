/* Memory in pages of 2 MB, where the system leaves that to those who ask: fewer of them are made, and found. */

#include <sys/mman.h>

#include "native.h"

enum { PAGE = 4096 };

bool enlarge(const int64_t *n) {
#ifdef MADV_HUGEPAGE
    const int64_t start = (n[0] + PAGE - 1) / PAGE * PAGE, end = (n[0] + n[1]) / PAGE * PAGE;
    if (start < end) (void)madvise(AT(void, start), end - start, MADV_HUGEPAGE); /* advice, which may be left */
#endif
    return true;
}
