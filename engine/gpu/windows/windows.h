/*
 * windows.h: window functions over rows in a GPU's memory (operators/window/window_cuda.h says how). Functions of the same order
 * that follow each other are computed with one order. An order takes 8 to 40 bytes a row while it is made and used (order.c), a
 * sum or extremum 8 to 16 more. Functions of whole partitions need none of these where rows stand in the order (runs.c).
 */
#ifndef TESSERA_ENGINE_GPU_WINDOWS_WINDOWS_H
#define TESSERA_ENGINE_GPU_WINDOWS_WINDOWS_H

#include "engine/plan/device/device_window.h"

/* As in struct device_operations. */
NODISCARD enum status cuda_windows(struct device_rows *rows, const struct device_window *windows,
                                   uint32_t count, const bool *kept, const char **why, struct error *error);

#endif
