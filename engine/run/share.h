/*
 * share.h: divides the segments of a fact table over members: devices of one process, or of several processes.
 */
#ifndef TESSERA_ENGINE_RUN_SHARE_H
#define TESSERA_ENGINE_RUN_SHARE_H

#include "storage/column/column.h"

/* Gives the segments of one member among `members` (at least 1), ascending; the caller frees them. Each segment, in
 * order, goes to the member with the fewest rows so far, so that the members have nearly the same number of rows of
 * every stretch of a sorted table. The shares depend on the rows of the table's segments alone: all members find the
 * same ones, and segments that are appended later leave the others where they are. The catalogue does not know the
 * bytes of single segments; their rows stand for them. */
NODISCARD enum status share_divide(const struct table *fact, uint32_t members, uint32_t member,
                                   uint32_t **segments, uint32_t *count, struct error *error);

#endif
