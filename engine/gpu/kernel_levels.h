/*
 * kernel_levels.h: the parts of a kernel that use levels of dimensions (operators/dialect/tile_levels_cuda.h): which joins
 * are tests of a key's planes, the words of these tests, and the types of such keys and dimensions.
 */
#ifndef TESSERA_ENGINE_GPU_KERNEL_LEVELS_H
#define TESSERA_ENGINE_GPU_KERNEL_LEVELS_H

#include "engine/gpu/kernel.h"

/* The planes of a fact column, as the kernel reads it; 0 if single bits of it cannot be read. */
uint32_t kernel_level_planes(const struct plan_column *column, bool staged);

/* Sets how the keys of join `k` of the kernel are tested: by planes of its column, by a bitmap, or both. `looked_up`: the
 * bitmap also tells rows without a match from others. Adds the words of the test to the kernel. */
void kernel_level_join(const struct plan *plan, bool looked_up, uint32_t k, struct kernel *kernel);

/* Sets how a hand-written kernel gets the codes of dimension `place`, which is join `k`. */
void kernel_level_codes(const struct plan_kernel *hand, uint32_t place, struct kernel_join *join);

/* Writes "tile_level_column<..., FETCHED" for a column that has planes. */
void kernel_level_column_write(FILE *out, const struct kernel_shape *shape,
                               const struct kernel_layout *layout, uint32_t c);

/* Write what is around "tile_dimension<...>" of a join that uses levels; else nothing. */
void kernel_level_join_begin(FILE *out, const struct kernel_shape *shape, uint32_t j);
void kernel_level_join_end(FILE *out, const struct kernel_shape *shape, uint32_t j);

#endif
