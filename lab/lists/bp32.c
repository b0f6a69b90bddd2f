/*
 * bp32.c: BP32: binary packing in blocks of 32 values, whose widths are stored four at a time in a word (Anh and Moffat, 2010, as Mallia
 * et al. use it). Serial; list_packing.h draws the bytes.
 */
#include "lab/lists/list_codec.h"

#define LANES 1u
#define GROUP 4u
typedef uint32_t packing_word __attribute__((aligned(1), may_alias));

#include "lab/lists/list_packing.h"

size_t list_bp32_encode(const uint32_t *values, uint32_t count, uint8_t *out)
{
    return packing_encode(values, count, out);
}

void list_bp32_decode(const uint8_t *in, uint32_t count, uint32_t *out)
{
    packing_decode(in, count, out);
}
