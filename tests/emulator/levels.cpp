/* levels.cpp: reads a tile with the decoder of lane-levels (operators/decode/lane_levels_cuda.h), as kernels do that are compiled
 * at run time, which this GPU does not have. Lanes need nothing of each other, so they come one after the other. */
#include "tests/emulator/levels.h"
#include "tests/emulator/warp.h"

#define TILE_CUDA 1
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "operators/decode/lane_levels_cuda.h"

namespace
{

levels_case *now;

/* As struct tile_test, which has its cubes among a kernel's arguments. */
struct cubes {
    static constexpr uint32_t CUBES = 2;
    static uint32_t matches(uint32_t word, uint32_t cube, uint32_t bit)
    {
        const uint32_t opposite = now->value_bits[cube] >> bit & 1 ? 0 : UINT32_MAX;
        return (word ^ opposite) | (now->care[cube] >> bit & 1 ? 0 : UINT32_MAX);
    }
};

template <uint32_t BITS, uint32_t PLANES, uint32_t APART>
void read_lane(const bound_chunk &chunk, uint32_t lane)
{
    constexpr uint32_t TESTED = ((1u << LEVELS_TESTED) - 1) << (BITS - LEVELS_TESTED),
                       NEEDED = LEVELS_NEEDED(BITS);
    typedef decode_lane_levels<int32_t, BITS, PLANES, APART> decoder;
    decoder test, whole, own;
    test.seek(chunk, now->tile, lane);
    test.template load_planes<TESTED>();
    now->in_cubes[lane] = test.template in_cubes<TESTED, cubes>();
    whole.seek(chunk, now->tile, lane);
    whole.preload();
    whole.template items<true>(nullptr,
                               [&](uint32_t j, int32_t value) { now->items[32 * j + lane] = value; });
    if constexpr (decoder::RANGES) {
        decoder range;
        range.seek(chunk, now->tile, lane);
        now->in_range[lane] = range.template in_range<false>(now->low, now->high);
    }
    own.seek(chunk, now->tile, lane);
    own.template load_planes<NEEDED>();
    own.template complete<NEEDED>();
    for (uint32_t row = lane; row < TILE_ROWS; row += 32) {
        now->own_bits[row] = (int32_t)own.template own_bits<NEEDED>(row);
        now->item_bits[row] = (int32_t)own.template item_bits<NEEDED>((row + 7) % TILE_ROWS);
        now->item[row] = own.item(nullptr, row);
    }
}

} // namespace

extern "C" void emulator_levels(levels_case *of);
extern "C" void emulator_levels(levels_case *of)
{
    const bound_chunk chunk = {(uint64_t)of->directory, (uint64_t)of->data, (uint64_t)of->auxiliary, 0,
                               of->detail};
    now = of;
    for (uint32_t lane = 0; lane < 32; lane++) {
#define READ_LANE(BITS, PLANES, APART)                                  \
    if (of->bits == BITS && of->planes == PLANES && of->apart == APART) \
        read_lane<BITS, PLANES, APART>(chunk, lane);
        LEVELS_SHAPES(READ_LANE)
    }
}
