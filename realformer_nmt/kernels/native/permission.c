/* Leave to use the registers of AMX, which Linux gives to a process that asks for it. */

#define _GNU_SOURCE
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tiles.h"

enum { REQUEST = 0x1023, TILE_DATA = 18 };

bool ask_for_tiles(void) {
#ifdef TILED
    uint32_t most, b, c, d;
    if (!__get_cpuid_count(7, 0, &most, &b, &c, &d)) return false;
    const bool has = d >> 22 & d >> 24 & d >> 25 & 1; /* amx-bf16, amx-tile, amx-int8 */
    return has && syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
#else
    return false;
#endif
}
