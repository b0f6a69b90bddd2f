/*
 * group_stream.h: the groups of a thread whose rows follow each other, because a key of theirs ascends
 * (plan->in_order). A group is complete when a row with a greater key comes, and has then been found without a table.
 * Three groups are not known to be complete, and go to the thread's hash table, where they meet their other rows: the
 * first and the last one of the rows that the thread takes one after the other, and groups that have a key in common.
 */
#ifndef TESSERA_ENGINE_CPU_GROUP_STREAM_H
#define TESSERA_ENGINE_CPU_GROUP_STREAM_H

#include "engine/cpu/stream/group_delivery.h"
#include "engine/cpu/group_blocks.h"
#include "engine/cpu/group_hash.h"
#include "engine/cpu/row_vector.h"

/* The runs of rows of a vector that have the same group. */
struct group_runs {
    uint32_t count;
    uint16_t first[VECTOR_ROWS + 1]; /* the first row of each run */
    uint16_t run_of[VECTOR_ROWS];    /* the run of each row */
};

/* Finds the runs of `count` rows, at least 1. */
void group_runs_find(uint32_t count, const uint64_t (*numbers)[VECTOR_ROWS], uint32_t words,
                     struct group_runs *runs);

/* Complete groups that follow each other in memory, and in the rows. */
struct stream_stretch {
    const uint64_t *entries;
    uint64_t count;
};

struct group_stream {
    const struct group_layout *layout;
    uint64_t *entries; /* the open group, if there is one, and then those of a vector */
    bool open;         /* entries[0] is a group that may go on */
    bool alone;        /* no row before the open group can be of it, */
    int32_t key;       /* which has this key */
    uint32_t before;   /* 1: the first run of the vector is not of the open group; else 0 */

    struct group_delivery *delivery; /* where complete groups go; NULL: they are kept: */
    struct stream_stretch *stretches;
    uint64_t stretch_count, stretch_room;
    uint64_t ended;             /* groups of all stretches */
    bool cut;                   /* the next group begins a stretch */
    struct group_blocks blocks; /* the memory of them, */
    uint64_t *next, *end;       /* which is free here */
};

/* The layout must outlive the stream. Free it also after an error. */
NODISCARD enum status group_stream_open(struct group_stream *stream, const struct group_layout *layout,
                                        struct error *error);
void group_stream_free(struct group_stream *stream); /* legal if zero-initialised */
void group_stream_clear(struct group_stream *stream);

/* Adds the groups of rows, at most VECTOR_ROWS, in two calls. Between the two the caller adds the rows' values to the
 * states: row i's entry begins at stream->entries + index[i]. *taken is false, and nothing is done, if keys[0 ..
 * count - 1] do not ascend: the open group is ended, and the rows must go to the hash table. */
NODISCARD enum status group_stream_find(struct group_stream *stream, struct group_hash *hash, uint32_t count,
                                        const uint64_t (*numbers)[VECTOR_ROWS], const int32_t *keys,
                                        struct group_runs *runs, uint64_t *index, bool *taken,
                                        struct error *error);
NODISCARD enum status group_stream_added(struct group_stream *stream, struct group_hash *hash,
                                         const struct group_runs *runs, const int32_t *keys,
                                         struct error *error);

/* Ends the open group: the next rows do not follow these. */
NODISCARD enum status group_stream_end(struct group_stream *stream, struct group_hash *hash,
                                       struct error *error);

#endif
