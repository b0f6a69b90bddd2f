/* huge_pages.h: large arrays in large pages. */
#ifndef TESSERA_STORAGE_BASE_HUGE_PAGES_H
#define TESSERA_STORAGE_BASE_HUGE_PAGES_H

#include <stdint.h>
#include <sys/mman.h>

/* Arrays of at least this size use huge pages. Pages of 4 KB cost a page fault each, and a TLB miss for
 * nearly every random access. */
#define HUGE_PAGES_FROM (4u << 20)

/* Call it before the memory is first touched; NULL is legal. */
static inline void huge_pages_prefer(void *memory, uint64_t bytes)
{
#ifdef MADV_HUGEPAGE
    const uintptr_t begin = ((uintptr_t)memory + 4095) & ~(uintptr_t)4095, end = (uintptr_t)memory + bytes;
    if (memory && bytes >= HUGE_PAGES_FROM)
        (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* the system may ignore it */
#else
    (void)memory;
    (void)bytes;
#endif
}

#endif
