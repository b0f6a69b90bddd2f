/* states.cpp: adds rows to states in shared memory (operators/group/states_cuda.h), as kernels do that are compiled at run time,
 * which this GPU does not have. It is compiled once for each number of copies, STATE_COPIES. */
#include "tests/emulator/states.h"
#include "tests/emulator/warp.h"

/* Functions of one name differ by the number of copies, so the linker must not see them. */
#undef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))

#define TILE_CUDA           1
#define TILE_TEST_FIRST     0
#define NAME_(what, copies) what##_##copies
#define NAME(what, copies)  NAME_(what, copies)
#define arguments           NAME(arguments_of_states, STATE_COPIES)
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "operators/dialect/tile.h"
#include "operators/dialect/query_cuda.h"

extern unsigned char tile_shared[232448];
extern "C" void emulator_run(void (*run)(void **), void **parameters, uint32_t blocks, uint32_t threads);

namespace
{

struct states {
    state_sum<STATE_SHARED, false, 0, 0> sum;
    state_sum<STATE_SHARED, true, 1, 2 * STATE_COPIES> wide;
    state_sum<STATE_SHARED, false, 2, 6 * STATE_COPIES> count;
    state_greatest<STATE_SHARED, 3, 8 * STATE_COPIES> greatest;
    state_present<STATE_SHARED, 8 * STATE_COPIES + 2> present;

    void bind()
    {
        states_clear<STATE_SHARED>(8 * STATE_COPIES + 3);
        sum.begin();
        wide.begin();
        count.begin();
        greatest.begin();
        present.begin();
    }
    void add(uint32_t slot, int64_t value)
    {
        present.add(slot);
        sum.add(slot, value);
        wide.add(slot, value);
        count.add(slot, 1);
        greatest.add(slot, greatest_of_max(value));
    }
    void finish()
    {
        states_complete<STATE_SHARED>();
        sum.finish();
        wide.finish();
        count.finish();
        greatest.finish();
        present.finish();
    }
};

void run(void **parameters)
{
    states_case &of = *static_cast<states_case *>(parameters[0]);
    const uint32_t warp = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32,
                   warps = gridDim.x * (blockDim.x / 32);
    const uint32_t lane = threadIdx.x % 32;
    states sums;
    sums.bind();
    __syncthreads();
    for (uint32_t index = warp; index < (of.rows + TILE_ROWS - 1) / TILE_ROWS; index += warps) {
        const uint32_t first = index * TILE_ROWS;
        const tile here = {0, index, min(of.rows - first, TILE_ROWS), lane, ~of.keep[index * 32 + lane]},
                   *t = &here;
        const tile_mask keep = tile_all(t);
        if (of.many) {
            tile_each_of(tile_walk_many, t, keep, row)
                sums.add(of.slot_of[first + row], of.values[first + row]);
        } else {
            tile_each_of(tile_walk, t, keep, row) sums.add(of.slot_of[first + row], of.values[first + row]);
        }
    }
    sums.finish();
    for (uint64_t byte = of.shared_bytes; threadIdx.x == 0 && byte < sizeof tile_shared; byte++)
        of.overrun |= tile_shared[byte] != 0xcd; /* which the driver writes before each block */
}

} // namespace

#define ENTRY NAME(emulator_states, STATE_COPIES)
extern "C" void ENTRY(states_case *of);
extern "C" void ENTRY(states_case *of)
{
    void *parameters[] = {of};
    uint64_t *const words[] = {of->sums, of->wide, of->counts, of->greatest};
    arguments.slots = of->slots;
    arguments.present = (uint64_t)of->present;
    for (uint32_t state = 0; state < 4; state++)
        arguments.states[state] = (uint64_t)words[state];
    emulator_run(run, parameters, 2, 64);
}
