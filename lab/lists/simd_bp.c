/*
 * simd_bp.c: SIMD-BP128: binary packing in blocks of 128 values, whose widths are stored 16 at a time (Lemire and Boytsov, 2015), for vectors
 * of 128 bits, which every x86-64 has. list_packing.h draws the bytes.
 */
#include "lab/lists/list_codec.h"

#define LANES 4u
#define GROUP 16u
typedef uint32_t packing_word __attribute__((vector_size(16), aligned(1), may_alias));

#include "lab/lists/list_packing.h"

size_t ISA(list_simd_bp_encode)(const uint32_t *values, uint32_t count, uint8_t *out)
{
    return packing_encode(values, count, out);
}

void ISA(list_simd_bp_decode)(const uint8_t *in, uint32_t count, uint32_t *out)
{
    packing_decode(in, count, out);
}
