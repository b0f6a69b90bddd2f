/* group_blocks.h: memory for groups in blocks that grow: twice the one before, up to a limit. They are freed together. */
#ifndef TESSERA_ENGINE_CPU_GROUP_BLOCKS_H
#define TESSERA_ENGINE_CPU_GROUP_BLOCKS_H

#include "storage/base/execution/memory_account.h"

struct group_block {
    struct group_block *older;
    uint64_t bytes, used; /* with this header */
    uint64_t words[];
};

/* Valid if zero-initialised. */
struct group_blocks {
    struct group_block *newest;
    struct memory_charge charge;
};

/* Adds a block, of `least` to `most` bytes; both are powers of two. STATUS_MACHINE if the statement may not have them. */
NODISCARD enum status group_blocks_add(struct group_blocks *blocks, uint64_t least, uint64_t most,
                                       struct error *error);
void group_blocks_free(struct group_blocks *blocks);

#endif
