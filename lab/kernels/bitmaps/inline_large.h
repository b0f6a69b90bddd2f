/*
 * inline_large.h: the larger pieces in which `inline` (inline_or_cuda.h) takes whole vectors, for the host and its kernel.
 */
#ifndef TESSERA_LAB_KERNELS_BITMAPS_INLINE_LARGE_H
#define TESSERA_LAB_KERNELS_BITMAPS_INLINE_LARGE_H

#define INDEX_LARGE_GROUPS 4096u

#endif
