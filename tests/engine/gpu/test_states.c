/*
 * test_states.c: states in shared memory, with copies of sums and without, get what a loop over the rows makes: sums that
 * leave 32 and 64 bits and are negative, counts, maxima and the marks of groups; for rows of one group, of a few and of many,
 * and whether a warp spreads a tile's rows over its lanes or each takes its own. On the emulated GPU of tests/emulator, which
 * TESSERA_LIBCUDA names, as ctest does; skipped without it.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/kernel_layout.h"
#include "tests/emulator/states.h"
#include "tests/fuzz/fuzz_random.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX     9000u
#define SLOTS_MAX    600u
#define SHARED_BYTES 232448u /* of a block; a plan has no more copies than fit */

struct answer {
    uint64_t sums[SLOTS_MAX], wide[2 * SLOTS_MAX], counts[SLOTS_MAX], greatest[SLOTS_MAX];
    uint32_t present[SLOTS_MAX];
};

static uint32_t keep[(ROWS_MAX / TILE_ROWS + 1) * 32], slot_of[ROWS_MAX];
static int64_t values[ROWS_MAX];

/* `groups` of the slots, `apart` from each other; `kept` of 16 rows are kept. */
static void make_rows(uint32_t rows, uint32_t groups, uint32_t apart, uint32_t kept)
{
    memset(keep, 0, sizeof keep);
    for (uint32_t row = 0; row < rows; row++) {
        slot_of[row] = below(groups) * apart;
        values[row] =
            (int64_t)(below(2) ? below(1u << 30) : ((uint64_t)below(1u << 31) << 32 | below(1u << 30)));
        values[row] = below(3) ? values[row] : -values[row];
        if (below(16) < kept)
            keep[row / TILE_ROWS * 32 + row % 32] |= 1u << row % TILE_ROWS / 32;
    }
}

static void add_rows(uint32_t rows, uint32_t slots, struct answer *answer)
{
    for (uint32_t row = 0; row < rows; row++) {
        const uint32_t slot = slot_of[row];
        const uint64_t greatest = (uint64_t)values[row] ^ UINT64_C(1) << 63;
        if (!(keep[row / TILE_ROWS * 32 + row % 32] >> row % TILE_ROWS / 32 & 1))
            continue;
        const unsigned __int128 wide =
            ((unsigned __int128)answer->wide[slots + slot] << 64 | answer->wide[slot]) +
            (unsigned __int128)values[row];
        answer->sums[slot] += (uint64_t)values[row];
        answer->wide[slot] = (uint64_t)wide;
        answer->wide[slots + slot] = (uint64_t)(wide >> 64);
        answer->counts[slot]++;
        answer->greatest[slot] = greatest > answer->greatest[slot] ? greatest : answer->greatest[slot];
        answer->present[slot] = 1;
    }
}

static void check(emulator_states *run, uint32_t copies, uint32_t rows, uint32_t slots, uint32_t many)
{
    static struct answer right, got;
    const struct kernel_shape shape = {
        .slots = slots, .sums_words = STATES_WORDS, .copied_words = STATES_SUMMED_WORDS};
    const uint64_t bytes = kernel_layout_bytes(kernel_sums_bytes(&shape, copies));
    if (bytes > SHARED_BYTES)
        return;
    memset(&right, 0, sizeof right);
    memset(&got, 0, sizeof got);
    add_rows(rows, slots, &right);
    struct states_case of = {.rows = rows,
                             .slots = slots,
                             .many = many,
                             .keep = keep,
                             .slot_of = slot_of,
                             .values = values,
                             .shared_bytes = bytes,
                             .sums = got.sums,
                             .wide = got.wide,
                             .counts = got.counts,
                             .greatest = got.greatest,
                             .present = got.present};
    run(&of);
    assert_int_equal(of.overrun, 0);
    if (memcmp(&right, &got, sizeof right) != 0)
        fail_msg("%u copies, %u rows, %u slots, many %u", copies, rows, slots, many);
}

static void states_are_what_rows_make(void **state)
{
    static const uint32_t rows[] = {0, 1, 31, 33, 1023, 1025, 3000, ROWS_MAX}, all_copies[] = {1, 4, 16};
    /* slots, groups, how far apart */
    static const uint32_t groups[][3] = {{1, 1, 1},    {5, 5, 1},    {7, 7, 1},    {64, 5, 8},
                                         {100, 25, 4}, {400, 7, 64}, {513, 8, 64}, {595, 595, 1}};
    (void)state;
    const char *const path = getenv("TESSERA_LIBCUDA");
    void *const library = path ? dlopen(path, RTLD_NOW) : NULL;
    if (!library)
        skip();
    random_state = 20261128;
    for (size_t c = 0; c < 3; c++) {
        char name[32];
        snprintf(name, sizeof name, "emulator_states_%u", all_copies[c]);
        emulator_states *const run = (emulator_states *)dlsym(library, name);
        if (!run)
            skip(); /* it is another library */
        for (size_t g = 0; g < sizeof groups / sizeof *groups; g++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                for (uint32_t kept = 1; kept <= 16; kept += 5) {
                    make_rows(rows[r], groups[g][1], groups[g][2], kept);
                    for (uint32_t many = 0; many < 2; many++)
                        check(run, all_copies[c], rows[r], groups[g][0], many);
                }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(states_are_what_rows_make)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
