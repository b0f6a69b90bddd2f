/*
 * device.h: window functions over rows that are on the GPU (engine/relational/device/taken.h), computed there.
 *
 * A GPU computes row_number, the ranks and ntile; lag and lead by a number that is written, without another value;
 * first_value and last_value; and count, sum, avg, min and max of frames that ROWS bounds with written numbers, or that are bounded
 * by the partition and the row's peers. Numbers whose sums may exceed 64 bits, or 53 of an average, doubles that are ordered or aggregated, and
 * what the GPU has no memory for are the host's.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_WINDOW_DEVICE_H
#define TESSERA_ENGINE_RELATIONAL_WINDOW_DEVICE_H

#include "engine/relational/device/taken.h"

/* Whether a GPU may compute all functions of the node. */
bool window_device_can(const struct logical_node *node);

/* Adds the functions' columns to the rows, which keep those of the others that are needed, in any order. *why says why the GPU
 * cannot, and then the rows are as before; NULL: it has. */
NODISCARD enum status window_device_add(struct relational *run, const struct logical_node *node,
                                        const struct logical_set *needed, struct taken *taken,
                                        const char **why);

#endif
