/* steps.c: see steps.h. */
#include "lab/published/steps.h"

#define BLOCKS_OF_TILE (TILE_ROWS / 128u)

#define STEP(NAME, CODEC, TYPE, DEPTH)                             \
    {                                                              \
        NAME, CODEC, "for_cuda.h", TYPE, 128, 128 * (DEPTH), false \
    }
#define NO_GAIN "no gain"

const struct published_step published_steps[PUBLISHED_STEPS] = {
    {.method = STEP("base algorithm", "gpu-for", "for_base", 1), .paper_ms = 18},
    {.method = STEP("+ shared memory", "gpu-for", "for_shared", 1), .paper_ms = 7},
    {STEP("+ D = 1 block", "gpu-for", "for_blocks<1>", 1), 1, "D blocks", .paper_ms = 0},
    {STEP("+ D = 2 blocks", "gpu-for", "for_blocks<2>", 2), 2, "D blocks", .paper_ms = 0},
    {STEP("+ D = 4 blocks", "gpu-for", "for_blocks<4>", 4), 4, "D blocks", .paper_ms = 2.39},
    {STEP("+ D = 8 blocks", "gpu-for", "for_blocks<8>", 8), 8, "D blocks", .paper_ms = 0},
    {STEP("+ D = 16 blocks", "gpu-for", "for_blocks<16>", 16), 16, "D blocks", .paper_ms = 0},
    {STEP("+ D = 32 blocks", "gpu-for", "for_blocks<32>", 32), 32, "D blocks", .paper_ms = 0},
    {STEP("+ offsets, D = 1", "gpu-for", "for_offsets<1>", 1), 1, "D blocks and offsets", .paper_ms = 0},
    {STEP("+ offsets, D = 2", "gpu-for", "for_offsets<2>", 2), 2, "D blocks and offsets", .paper_ms = 0},
    {STEP("+ offsets, D = 4", "gpu-for", "for_offsets<4>", 4), 4, "D blocks and offsets", .paper_ms = 2.1},
    {STEP("+ offsets, D = 8", "gpu-for", "for_offsets<8>", 8), 8, "D blocks and offsets", .paper_ms = 0},
    {STEP("+ offsets, D = 16", "gpu-for", "for_offsets<16>", 16), 16, "D blocks and offsets",
     .paper_ms = 1.55},
    {STEP("+ offsets, D = 32", "gpu-for", "for_offsets<32>", 32), 32, "D blocks and offsets", .paper_ms = 0},
    {.method = STEP("no miniblocks, D = 4", "gpu-for-block", "for_single<4, 2>", 4), .paper_ms = 2},
    {.method = STEP("no miniblocks, reference 0, D = 4", "gpu-bp128", "for_single<4, 0>", 4),
     .paper_why = NO_GAIN},
    {.method = STEP("one width for all, D = 4", "gpu-for-block", "for_uniform<4, 2>", 4),
     .paper_why = NO_GAIN,
     .one_width = true},
    {.method = STEP("one width, reference 0, D = 4", "gpu-bp128", "for_uniform<4, 0>", 4),
     .paper_why = NO_GAIN,
     .one_width = true},
    {.method = STEP("no miniblocks, D = 16", "gpu-for-block", "for_single<16, 2>", 16)},
    {.method = STEP("no miniblocks, reference 0, D = 16", "gpu-bp128", "for_single<16, 0>", 16)},
    {.method = STEP("one width, reference 0, D = 16", "gpu-bp128", "for_uniform<16, 0>", 16),
     .one_width = true},
    {.method = {"GPU-SIMDBP128", "gpu-simdbp128", "simdbp128_cuda.h", "simdbp128", 128, 4096, false},
     .paper_ms = 4.3},
};

/* Whether the chunk's first `blocks` blocks are as long as its first. */
static bool are_alike(const struct chunk_view *chunk, uint32_t blocks)
{
    const uint32_t *const starts = (const uint32_t *)chunk->directory;
    for (uint32_t block = 0; block < blocks; block++)
        if (starts[block + 1] - starts[block] != starts[1])
            return false;
    return true;
}

bool published_one_width(const struct encoded *encoded)
{
    for (uint32_t c = 0; c < encoded->chunk_count; c++) {
        const uint32_t tiles = encoded->chunks[c].tiles - (c + 1 == encoded->chunk_count);
        if (!are_alike(&encoded->chunks[c], tiles * BLOCKS_OF_TILE))
            return false;
    }
    return true;
}
