/*
 * group_delivery.h: groups that a thread has completed, on their way out: to the result of the run, which has room
 * for all of them, or, some at a time, to what takes them instead (struct group_sink).
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_DELIVERY_H
#define TESSERA_ENGINE_CPU_GROUP_DELIVERY_H

#include "engine/cpu/group_table.h"

/* Copies entries to a result, whose groups they are from `first` on. */
void group_export(const struct plan *plan, const struct group_layout *layout, const uint64_t *entries,
                  uint64_t count, struct partial *groups, uint64_t first);

/* A thread's own. Valid if zero-initialised but for the first three. */
struct group_delivery {
    const struct plan *plan;
    struct group_sink *sink;
    unsigned thread;
    uint32_t count;        /* groups that wait */
    struct partial groups; /* with room for VECTOR_ROWS */
};
void group_delivery_free(struct group_delivery *delivery);

/* Gives groups to the sink, which may come to it later. */
NODISCARD enum status group_delivery_add(struct group_delivery *delivery, const struct group_layout *layout,
                                         const uint64_t *entries, uint64_t count, struct error *error);
/* Gives it those that wait. */
NODISCARD enum status group_delivery_flush(struct group_delivery *delivery, struct error *error);

#endif
