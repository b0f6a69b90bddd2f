/* window_partition.h: a partition of a window and the frames of its rows, for window.c, window_aggregate.c and window_measure.c. */
#ifndef TESSERA_ENGINE_ANSWER_RELATION_WINDOW_PARTITION_H
#define TESSERA_ENGINE_ANSWER_RELATION_WINDOW_PARTITION_H

#include "engine/answer/relation/relation.h"

/* Rows are numbered by their place in the order: those of the partition are first .. end - 1. */
struct window_partition {
    const struct rowset *rows;
    const struct window *window;
    const struct rowset_column *argument; /* or NULL */
    const uint64_t *places;               /* the row at each place */
    uint64_t first, end;
    const uint64_t *peers; /* for each place the end of the rows that are equal to its row */
    int64_t *low,
        *high;       /* for each place of the partition a state; low[0] is at `first` (window_aggregate.c) */
    int64_t *values; /* likewise the argument's value, and whether it is NULL */
    uint8_t *nulls;
    uint64_t *counts; /* one more: before each place, of the argument's values that are not NULL */
    struct rowset_column *out;
    struct error *error;
};

static inline uint64_t window_bounded(const struct window_partition *partition, uint64_t at, int64_t move)
{
    const __int128 place = (__int128)at + move;
    return place < (__int128)partition->first ? partition->first
           : place > (__int128)partition->end ? partition->end
                                              : (uint64_t)place;
}

/* The frame of the row at a place: places *begin .. *end - 1. */
static inline void window_frame(const struct window_partition *partition, uint64_t at, uint64_t *begin,
                                uint64_t *end)
{
    const struct window *const window = partition->window;
    *begin =
        window->begin == BOUND_FIRST ? partition->first : window_bounded(partition, at, window->begin_rows);
    *end = window->end == BOUND_PEERS  ? partition->peers[at]
           : window->end == BOUND_ROWS ? window_bounded(partition, at, window->end_rows + 1)
                                       : partition->end;
    *end = *end < *begin ? *begin : *end;
}

static inline void window_give(const struct window_partition *partition, uint64_t at, int64_t value)
{
    partition->out->values[partition->places[at]] = value;
}

static inline void window_give_null(const struct window_partition *partition, uint64_t at)
{
    partition->out->values[partition->places[at]] = 0;
    partition->out->nulls[partition->places[at]] = 1;
}

static inline bool window_is_null(const struct rowset_column *column, uint64_t row)
{
    return column->nulls && column->nulls[row];
}

/* Computes window->aggregate for each row of the partition (window_aggregate.c): some 10 ns a row. */
NODISCARD enum status window_aggregate(const struct window_partition *partition);

/* Computes window->measure for each row of the partition (window_measure.c). A row takes time in proportion to the cells of
 * its partition, unless its frame is that of the row before. */
NODISCARD enum status window_measure(const struct window_partition *partition);

#endif
