/* group_blocks.c: see group_blocks.h. */
#include "engine/cpu/group_blocks.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <stdlib.h>

enum status group_blocks_add(struct group_blocks *blocks, uint64_t least, uint64_t most, struct error *error)
{
    const uint64_t twice = blocks->newest ? 2 * blocks->newest->bytes : least,
                   bytes = twice < most ? twice : most;
    struct group_block *block;
    RETURN_IF_ERROR(memory_charge_add(&blocks->charge, bytes, "a table of groups", error));
    RETURN_IF_ERROR(memory_take(&block, bytes, "groups", error));
    huge_pages_prefer(block, bytes);
    *block = (struct group_block){.older = blocks->newest, .bytes = bytes, .used = sizeof *block};
    blocks->newest = block;
    return STATUS_OK;
}

void group_blocks_free(struct group_blocks *blocks)
{
    while (blocks->newest) {
        struct group_block *const block = blocks->newest;
        blocks->newest = block->older;
        free(block);
    }
    memory_charge_drop(&blocks->charge);
}
