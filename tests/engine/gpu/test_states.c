/*
 * test_states.c: states in shared memory get what a loop over the rows makes: sums that leave 32 and 64 bits and are negative,
 * counts, maxima, bits and the marks of groups; for rows of one group, of a few and of many, of which few, a tenth and all are
 * kept; whether a warp spreads a tile's rows over its lanes or each takes its own, and tiles are divided among warps. On the
 * emulated GPU of tests/emulator, which TESSERA_LIBCUDA names, as ctest does; skipped without it.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/kernel_layout.h"
#include "operators/dialect/bound.h"
#include "operators/group/state.h"
#include "tests/emulator/states.h"
#include "tests/fuzz/fuzz_random.h"
#include "tests/support/not_run.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX  20000u
#define SLOTS_MAX 2100u
#define TILES_MAX (ROWS_MAX / TILE_ROWS + 1)

struct answer {
    uint64_t sums[SLOTS_MAX], wide[2 * SLOTS_MAX], counts[SLOTS_MAX], greatest[SLOTS_MAX], bits[SLOTS_MAX];
    uint32_t present[SLOTS_MAX];
};

static uint32_t keep[TILES_MAX * TILE_LANES], group_of[ROWS_MAX];
static int64_t values[ROWS_MAX];

/* `groups` of the slots, `apart` from each other; `percent` of the rows are kept. */
static void make_rows(uint32_t rows, uint32_t groups, uint32_t apart, uint32_t percent)
{
    memset(keep, 0, sizeof keep);
    for (uint32_t row = 0; row < rows; row++) {
        group_of[row] = below(groups) * apart;
        values[row] =
            (int64_t)(below(2) ? below(1u << 30) : ((uint64_t)below(1u << 31) << 32 | below(1u << 30)));
        values[row] = below(3) ? values[row] : -values[row];
        if (below(100) < percent)
            keep[row / TILE_ROWS * TILE_LANES + row % 32] |= 1u << row % TILE_ROWS / 32;
    }
}

static void add_rows(uint32_t rows, uint32_t slots, struct answer *answer)
{
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t slot = group_of[row];
        const uint64_t greatest = (uint64_t)values[row] ^ UINT64_C(1) << 63;
        if (!(keep[row / TILE_ROWS * TILE_LANES + row % 32] >> row % TILE_ROWS / 32 & 1))
            continue;
        const unsigned __int128 wide =
            ((unsigned __int128)answer->wide[slots + slot] << 64 | answer->wide[slot]) +
            (unsigned __int128)values[row];
        answer->sums[slot] += (uint64_t)values[row];
        answer->wide[slot] = (uint64_t)wide;
        answer->wide[slots + slot] = (uint64_t)(wide >> 64);
        answer->counts[slot]++;
        answer->greatest[slot] = greatest > answer->greatest[slot] ? greatest : answer->greatest[slot];
        answer->bits[slot] ^= (uint64_t)values[row];
        answer->present[slot] = 1;
    }
}

static void check(emulator_states *run, uint32_t rows, uint32_t slots, uint32_t split)
{
    static struct answer right, got;
    struct bound_work work[TILES_MAX / WORK_TILES + 1];
    uint32_t items = 0;
    for (uint32_t first = 0; first < rows; first += WORK_TILES * TILE_ROWS, items++)
        work[items] = (struct bound_work){
            .first_tile = first / TILE_ROWS,
            .rows = rows - first < WORK_TILES * TILE_ROWS ? rows - first : WORK_TILES * TILE_ROWS};
    memset(&right, 0, sizeof right);
    memset(&got, 0, sizeof got);
    add_rows(rows, slots, &right);
    struct states_case of = {.work = work,
                             .items = items,
                             .slots = slots,
                             .split = split,
                             .keep = keep,
                             .groups = group_of,
                             .values = values,
                             .shared_bytes =
                                 kernel_layout_bytes((slots + STATE_BANKS - 1) / STATE_BANKS * STATE_BANKS *
                                                     STATES_WORDS * (uint64_t)sizeof(uint32_t)),
                             .sums = got.sums,
                             .wide = got.wide,
                             .counts = got.counts,
                             .greatest = got.greatest,
                             .bits = got.bits,
                             .present = got.present};
    run(&of);
    assert_int_equal(of.overrun, 0);
    if (memcmp(&right, &got, sizeof right) != 0)
        fail_msg("%u rows, %u slots, tiles in %u parts", rows, slots, 1u << split);
}

static void states_are_what_rows_make(void **state)
{
    static const uint32_t rows[] = {0, 1, 31, 33, 1023, 1025, 3000, ROWS_MAX},
                          percents[] = {1, 10, 11, 60, 100};
    /* slots, groups, how far apart */
    static const uint32_t groups[][3] = {{1, 1, 1},  {5, 5, 1},    {7, 7, 1},      {33, 33, 1},
                                         {64, 5, 8}, {400, 7, 64}, {1025, 33, 32}, {2100, 2100, 1}};
    (void)state;
    const char *const path = getenv("TESSERA_LIBCUDA");
    void *const library = path ? dlopen(path, RTLD_NOW) : NULL;
    emulator_states *const few = library ? (emulator_states *)dlsym(library, "emulator_states_few") : NULL,
                           *const many =
                               library ? (emulator_states *)dlsym(library, "emulator_states_many") : NULL;
    if (!few || !many)
        not_run("kernels' states are tested with the emulated GPU alone");
    random_state = 20261128;
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (size_t p = 0; p < sizeof percents / sizeof *percents; p++) {
                make_rows(rows[r], groups[g][1], groups[g][2], percents[p]);
                check(few, rows[r], groups[g][0], 0);
                for (uint32_t split = 0; split <= WORK_SPLIT_MAX; split++)
                    check(many, rows[r], groups[g][0], split);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(states_are_what_rows_make)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
