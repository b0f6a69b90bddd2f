/* states.cpp: adds the rows of a scan's tiles to states in shared memory (operators/group/states_cuda.h), as kernels do that are
 * compiled at run time, which this GPU does not have. It is compiled twice: STATES_MANY is 1 for kernels that have TILE_MANY. */
#include "tests/emulator/states.h"
#include "tests/emulator/warp.h"

/* Functions of one name differ between the two, so the linker must not see them. */
#undef __forceinline__
#define __forceinline__ inline __attribute__((always_inline))

#define TILE_CUDA       1
#define TILE_TEST_FIRST 0
#if STATES_MANY
#define TILE_MANY 1
#define ENTRY     emulator_states_many
#define arguments arguments_of_states_many
#else
#define ENTRY     emulator_states_few
#define arguments arguments_of_states_few
#endif
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "operators/dialect/tile.h"
#include "operators/dialect/course_cuda.h"
#include "operators/dialect/query_cuda.h"

extern unsigned char tile_shared[232448];
extern "C" void emulator_run(void (*run)(void **), void **parameters, uint32_t blocks, uint32_t threads);

namespace
{

struct states {
    state_sum<STATE_SHARED, false, 0, 0> sum;
    state_sum<STATE_SHARED, true, 1, 2> wide;
    state_sum<STATE_SHARED, false, 2, 6> count;
    state_greatest<STATE_SHARED, 3, 8> greatest;
    state_bits<STATE_SHARED, true, 4, 10> bits;
    state_present<STATE_SHARED, 12> present;

    void bind()
    {
        states_clear<STATE_SHARED>(STATES_WORDS);
        sum.begin();
        wide.begin();
        count.begin();
        greatest.begin();
        bits.begin();
        present.begin();
    }
    void add(uint32_t slot, int64_t value)
    {
        present.add(slot);
        sum.add(slot, value);
        wide.add(slot, value);
        count.add(slot, 1);
        greatest.add(slot, greatest_of_max(value));
        bits.add(slot, (uint64_t)value);
    }
    void finish()
    {
        states_complete<STATE_SHARED>();
        sum.finish();
        wide.finish();
        count.finish();
        greatest.finish();
        bits.finish();
        present.finish();
    }
};

/* A block is one group of WORK_TILES warps. */
void run(void **parameters)
{
    states_case &of = *static_cast<states_case *>(parameters[0]);
    states sums;
    sums.bind();
    __syncthreads();
    tile_course course = {static_cast<const uint4 *>(of.work),
                          of.items << of.split,
                          blockIdx.x,
                          gridDim.x,
                          threadIdx.x / 32,
                          threadIdx.x % 32,
                          blockIdx.x};
#if STATES_MANY
    course.split = of.split;
#endif
    while (course.item < course.count) {
        tile here = course.next();
        const tile *const t = &here;
        if (here.rows == 0)
            continue;
        here.dropped |= ~of.keep[here.index * TILE_LANES + here.lane];
        const tile_mask keep = tile_all(t);
        const uint32_t first = here.index * TILE_ROWS;
        tile_each (t, keep, row)
            sums.add(of.groups[first + row], of.values[first + row]);
    }
    sums.finish();
    for (uint64_t byte = of.shared_bytes; threadIdx.x == 0 && byte < sizeof tile_shared; byte++)
        of.overrun |= tile_shared[byte] != 0xcd; /* which the driver writes before each block */
}

} // namespace

extern "C" void ENTRY(states_case *of);
extern "C" void ENTRY(states_case *of)
{
    void *parameters[] = {of};
    uint64_t *const words[] = {of->sums, of->wide, of->counts, of->greatest, of->bits};
    arguments.slots = of->slots;
    arguments.present = (uint64_t)of->present;
    for (uint32_t state = 0; state < 5; state++)
        arguments.states[state] = (uint64_t)words[state];
    emulator_run(run, parameters, 2, WORK_TILES * 32);
}
