/*
 * ranks.c: row_number, rank and dense_rank, in one pass over what begins at each place; see window.h.
 *
 * A block of places may be inside a partition that began long before. So it is first found of each block where its last
 * partition and its last group begin, and how many groups it has of that partition; then, block after block, what is so
 * at its beginning.
 */
#include "engine/relational/window/window.h"

#include "storage/base/memory.h"

#include <stdlib.h>

#define NOWHERE UINT64_MAX

/* The partition and the group of a place: where they begin, and the number of the group in the partition, from 1. */
struct rank {
    uint64_t partition, group, number;
};

struct ranks {
    struct window_call *call;
    struct rank *
        blocks; /* of the last place of each block; what begins NOWHERE began before, and `number` is added */
};

static enum status find_last(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct ranks *const ranks = context;
    const uint8_t *const marks = ranks->call->order->marks;
    struct rank rank = {NOWHERE, NOWHERE, 0};
    for (uint64_t at = end; at-- > begin && rank.partition == NOWHERE;) {
        rank.number += (marks[at] & SORT_BEGINS) != 0;
        rank.group = rank.group == NOWHERE && marks[at] & SORT_BEGINS ? at : rank.group;
        rank.partition = marks[at] & SORT_BEGINS_PREFIX ? at : rank.partition;
    }
    ranks->blocks[begin / WINDOW_BLOCK] = rank;
    return cancel_check(error);
}

static void go_on(struct rank *blocks, uint64_t count)
{
    for (uint64_t b = 1; b < count; b++) {
        const struct rank *const before = &blocks[b - 1];
        blocks[b].number += blocks[b].partition == NOWHERE ? before->number : 0;
        blocks[b].partition = blocks[b].partition == NOWHERE ? before->partition : blocks[b].partition;
        blocks[b].group = blocks[b].group == NOWHERE ? before->group : blocks[b].group;
    }
}

static enum status give_block(void *context, uint64_t begin, uint64_t end, struct error *error)
{
    const struct ranks *const ranks = context;
    const uint8_t *const marks = ranks->call->order->marks;
    const enum window_function function = ranks->call->of->function;
    int64_t *const values = ranks->call->out.values;
    struct rank rank = {0};
    if (begin > 0)
        rank = ranks->blocks[begin / WINDOW_BLOCK - 1];
    for (uint64_t at = begin; at < end; at++) {
        rank.partition = marks[at] & SORT_BEGINS_PREFIX ? at : rank.partition;
        rank.group = marks[at] & SORT_BEGINS ? at : rank.group;
        rank.number = (marks[at] & SORT_BEGINS_PREFIX ? 0 : rank.number) + ((marks[at] & SORT_BEGINS) != 0);
        values[at] = (int64_t)(function == WINDOW_DENSE_RANK ? rank.number
                               : function == WINDOW_RANK     ? rank.group - rank.partition + 1
                                                             : at - rank.partition + 1);
    }
    return cancel_check(error);
}

bool window_is_rank(const struct window_call *call)
{
    return call->of->function == WINDOW_ROW_NUMBER || call->of->function == WINDOW_RANK ||
           call->of->function == WINDOW_DENSE_RANK;
}

enum status window_ranks(struct window_call *call)
{
    const uint64_t rows = call->order->rows, count = (rows + WINDOW_BLOCK - 1) / WINDOW_BLOCK;
    struct error *const error = call->run->error;
    struct ranks ranks = {.call = call};
    enum status status = memory_take(&ranks.blocks, (count + 1) * sizeof *ranks.blocks, "a window", error);
    status = AND_THEN(status, window_blocks(rows, call->threads, find_last, &ranks, error));
    if (status == STATUS_OK)
        go_on(ranks.blocks, count);
    status = AND_THEN(status, window_blocks(rows, call->threads, give_block, &ranks, error));
    free(ranks.blocks);
    return status;
}
