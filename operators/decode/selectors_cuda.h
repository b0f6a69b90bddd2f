/*
 * selectors_cuda.h: 2-bit selectors that say how many bytes each value of a stream takes: 1, 2, 3, 4, or 1, 2, 4, 8 for
 * values of 64 bits. A word has 16 of them, the first one lowest.
 */
#ifndef TESSERA_OPERATORS_DECODE_SELECTORS_CUDA_H
#define TESSERA_OPERATORS_DECODE_SELECTORS_CUDA_H

#include "operators/decode/decode_cuda.h"

#define SELECTOR_ROWS 16u         /* the selectors of a word */
#define EACH_SELECTOR 0x55555555u /* the low bit of each selector of a word */

/* The bytes of `count` values whose selectors are the low ones of a word; its other bits are 0. */
template <class VALUE> TILE_INLINE uint32_t selector_bytes(uint32_t selectors, uint32_t count)
{
    if constexpr (is_wide<VALUE>) { /* 1, 2, 4, 8 */
        const uint32_t low = selectors & EACH_SELECTOR, high = selectors >> 1 & EACH_SELECTOR;
        return count + __popc(low) + 3 * (__popc(high) + __popc(low & high));
    } else { /* 1, 2, 3, 4; the high bits count twice */
        return count + __popc(selectors) + __popc(selectors & ~EACH_SELECTOR);
    }
}

#endif
