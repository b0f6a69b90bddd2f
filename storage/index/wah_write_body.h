/* wah_write_body.h: how a builder gets its words; a part of wah_body.h, which names what it needs. */
#include "storage/base/memory.h"
#include "storage/index/wah_put.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16u /* words of a builder's first array */

/* The most words that put_run() adds. */
static uint64_t run_bound(WORD bits, uint64_t groups)
{
    return is_uniform(bits) ? groups / LENGTH + 1 : groups;
}

static enum status need_room(struct WAH(builder) * builder, uint64_t more, struct error *error)
{
    if (builder->room - builder->count >= more)
        return STATUS_OK;
    uint64_t room = builder->room ? 2 * builder->room : ROOM_FIRST;
    if (room < builder->count + more)
        room = builder->count + more;
    RETURN_IF_ERROR(
        memory_grow(&builder->words, room * sizeof *builder->words, "a compressed vector", error));
    builder->room = room;
    return STATUS_OK;
}

static enum status push(struct WAH(builder) * builder, WORD bits, uint64_t groups, struct error *error)
{
    RETURN_IF_ERROR(need_room(builder, run_bound(bits, groups), error));
    builder->count = put_run(builder->words, builder->count, bits, groups);
    return STATUS_OK;
}

/* Completes the groups before `group`, which becomes the one that gets bits. */
static enum status move_to(struct WAH(builder) * builder, uint64_t group, struct error *error)
{
    if (builder->group == group)
        return STATUS_OK;
    RETURN_IF_ERROR(push(builder, builder->bits, 1, error));
    RETURN_IF_ERROR(push(builder, 0, group - builder->group - 1, error));
    builder->group = group;
    builder->bits = 0;
    return STATUS_OK;
}
