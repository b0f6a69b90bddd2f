/*
 * position_test.c: see position_test.h.
 *
 * Two steps, for the prefixes of one depth of the hierarchy. Each prefix passes (a row of it does) or fails:
 *
 *     1. the fewest bits on which no passing prefix agrees with a failing one. A pair that agrees on the bits chosen so
 *        far needs one of the bits in which it differs: a search over these, from the fewest bits up.
 *     2. cubes over these bits that have every passing prefix and no failing one: a prefix is made a cube by dropping bits
 *        as long as no failing prefix gets into it, as in two-level minimisation of logic. The prefix that is
 *        taken first matters, so several are tried.
 *
 * Both visit prefixes at most as often as the caller allows, then they settle for what they have.
 */
#include "engine/plan/levels/position_test.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define PREFIXES_MAX (1u << 16)
#define BITS_MAX     20u /* of a prefix: `marks` has a byte for each prefix that these allow */
#define STARTS_MAX   8u

/* The prefixes of one depth, each once: `passing` of them first. */
struct prefixes {
    uint32_t *values;
    uint32_t passing, count, bits;
    uint8_t *marks;           /* all 0 between calls */
    uint64_t work, work_most; /* prefixes that a step has visited, and may visit */
};

/* ---- The fewest bits ---- */

/* Finds a passing and a failing prefix that agree on `chosen`; of the passing ones the nearest to the failing. */
static bool agreeing_pair(struct prefixes *of, uint32_t chosen, uint32_t *difference)
{
    uint32_t failing = of->passing;
    of->work += 2 * of->passing + of->count;
    for (uint32_t p = 0; p < of->passing; p++)
        of->marks[of->values[p] & chosen] = 1;
    while (failing < of->count && !of->marks[of->values[failing] & chosen])
        failing++;
    for (uint32_t p = 0; p < of->passing; p++)
        of->marks[of->values[p] & chosen] = 0;
    if (failing == of->count)
        return false;
    *difference = UINT32_MAX;
    for (uint32_t p = 0; p < of->passing; p++) {
        const uint32_t differs = of->values[p] ^ of->values[failing];
        if (!(differs & chosen) && __builtin_popcount(differs) < __builtin_popcount(*difference))
            *difference = differs;
    }
    return true;
}

/* Adds at most `more` bits to *chosen, none of `refused`, so that no pair agrees. */
static bool add_bits(struct prefixes *of, uint32_t *chosen, uint32_t refused, uint32_t more)
{
    uint32_t difference;
    if (of->work > of->work_most)
        return false;
    if (!agreeing_pair(of, *chosen, &difference))
        return true;
    for (uint32_t rest = difference & ~refused; more && rest;) {
        const uint32_t bit = 1u << (31 - __builtin_clz(rest));
        uint32_t with = *chosen | bit;
        if (add_bits(of, &with, refused, more - 1)) {
            *chosen = with;
            return true;
        }
        refused |= bit;
        rest &= ~bit;
    }
    return false;
}

/* The bits in which a passing prefix differs from a failing one and which are the only such bit of that pair. */
static uint32_t needed_bits(struct prefixes *of)
{
    uint32_t needed = 0;
    for (uint32_t f = of->passing; f < of->count; f++)
        of->marks[of->values[f]] = 1;
    for (uint32_t p = 0; p < of->passing; p++)
        for (uint32_t bit = 0; bit < of->bits; bit++)
            needed |= (uint32_t)of->marks[of->values[p] ^ 1u << bit] << bit;
    for (uint32_t f = of->passing; f < of->count; f++)
        of->marks[of->values[f]] = 0;
    return needed;
}

static uint32_t fewest_bits(struct prefixes *of)
{
    uint32_t difference, enough = (1u << of->bits) - 1;
    const uint32_t needed = needed_bits(of);
    of->work = 0;
    for (uint32_t bit = 0; bit < of->bits; bit++)
        if (!(needed >> bit & 1) && !agreeing_pair(of, enough & ~(1u << bit), &difference))
            enough &= ~(1u << bit);
    const uint32_t least = (uint32_t)__builtin_popcount(needed), most = (uint32_t)__builtin_popcount(enough);
    for (uint32_t count = least; count < most; count++) {
        uint32_t chosen = needed;
        if (add_bits(of, &chosen, 0, count - least))
            return chosen;
    }
    return enough;
}

/* ---- Cubes ---- */

#define SEEN_AT_ONCE 64u /* by vector instructions */

static bool has_failing(struct prefixes *of, struct position_cube cube)
{
    bool any = false;
    uint32_t f = of->passing;
    while (f < of->count && !any) {
        const uint32_t left = of->count - f, end = f + (left < SEEN_AT_ONCE ? left : SEEN_AT_ONCE);
        of->work += end - f;
        for (; f < end; f++)
            any |= (of->values[f] & cube.care) == cube.value_bits;
    }
    return any;
}

static uint32_t count_passing(struct prefixes *of, struct position_cube cube)
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < of->passing; p++)
        count += !of->marks[of->values[p]] && (of->values[p] & cube.care) == cube.value_bits;
    of->work += of->passing;
    return count;
}

static struct position_cube without(struct position_cube cube, uint32_t bit)
{
    return (struct position_cube){cube.care & ~bit, cube.value_bits & ~bit};
}

/* Drops bits from one end to the other, as long as no failing prefix gets into the cube. */
static struct position_cube widen_in_order(struct prefixes *of, struct position_cube cube, bool upwards)
{
    for (uint32_t i = 0; i < of->bits; i++) {
        const uint32_t bit = 1u << (upwards ? i : of->bits - 1 - i);
        if ((cube.care & bit) && !has_failing(of, without(cube, bit)))
            cube = without(cube, bit);
    }
    return cube;
}

/* Drops the bit that adds the most prefixes, and so on. */
static struct position_cube widen_by_gain(struct prefixes *of, struct position_cube cube)
{
    for (uint32_t best = 1; best && of->work < of->work_most;) {
        uint32_t most = 0;
        best = 0;
        for (uint32_t rest = cube.care; rest; rest &= rest - 1) {
            const uint32_t bit = rest & -rest;
            if (has_failing(of, without(cube, bit)))
                continue;
            const uint32_t count = count_passing(of, without(cube, bit));
            if (!best || count > most) {
                best = bit;
                most = count;
            }
        }
        cube = best ? without(cube, best) : cube;
    }
    return cube;
}

/* The cube with this prefix that has the most passing ones that no other cube has. */
static struct position_cube widen(struct prefixes *of, uint32_t bits, uint32_t value)
{
    const struct position_cube cube = {bits, value & bits};
    struct position_cube best = widen_in_order(of, cube, true);
    uint32_t most = count_passing(of, best);
    for (uint32_t way = 0; way < 2 && of->work < of->work_most; way++) {
        const struct position_cube other = way ? widen_by_gain(of, cube) : widen_in_order(of, cube, false);
        const uint32_t count = count_passing(of, other);
        if (count > most ||
            (count == most && __builtin_popcount(other.care) < __builtin_popcount(best.care))) {
            best = other;
            most = count;
        }
    }
    return best;
}

static void mark(const struct prefixes *of, struct position_cube cube)
{
    for (uint32_t p = 0; p < of->passing; p++)
        if ((of->values[p] & cube.care) == cube.value_bits)
            of->marks[of->values[p]] = 1;
}

static void mark_none(const struct prefixes *of)
{
    for (uint32_t p = 0; p < of->passing; p++)
        of->marks[of->values[p]] = 0;
}

/* Removes cubes whose passing prefixes others have. */
static void remove_spare(struct prefixes *of, struct position_cube *cubes, uint32_t *count)
{
    for (uint32_t c = *count; c-- > 0;) {
        for (uint32_t other = 0; other < *count; other++)
            if (other != c)
                mark(of, cubes[other]);
        if (count_passing(of, cubes[c]) == 0)
            cubes[c] = cubes[--*count];
        mark_none(of);
    }
}

/* Covers the passing prefixes by cubes over `bits`, beginning with prefix `start`; 0 if that takes too many. */
static uint32_t cover_from(struct prefixes *of, uint32_t bits, uint32_t start,
                           struct position_cube cubes[POSITION_CUBES_MAX])
{
    uint32_t count = 0, p = 0;
    for (; p < of->passing; p++) {
        const uint32_t value = of->values[(start + p) % of->passing];
        if (of->marks[value])
            continue;
        if (count == POSITION_CUBES_MAX)
            break;
        cubes[count] = widen(of, bits, value);
        mark(of, cubes[count++]);
    }
    mark_none(of);
    if (p < of->passing)
        return 0;
    remove_spare(of, cubes, &count);
    return count;
}

static uint32_t literals(const struct position_cube *cubes, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t c = 0; c < count; c++)
        sum += (uint32_t)__builtin_popcount(cubes[c].care);
    return sum;
}

static bool cover(struct prefixes *of, uint32_t bits, struct position_test *test)
{
    struct position_cube cubes[POSITION_CUBES_MAX];
    test->cube_count = 0;
    of->work = 0;
    const uint32_t starts = of->passing < STARTS_MAX ? of->passing : STARTS_MAX;
    for (uint32_t s = 0; s < starts && of->work < of->work_most; s++) {
        const uint32_t start = (uint32_t)((uint64_t)of->passing * s / starts);
        const uint32_t count = cover_from(of, bits, start, cubes);
        if (count == 0 || (test->cube_count && count > test->cube_count) ||
            (count == test->cube_count && literals(cubes, count) >= literals(test->cubes, count)))
            continue;
        memcpy(test->cubes, cubes, count * sizeof *cubes);
        test->cube_count = count;
    }
    return test->cube_count > 0;
}

/* ---- Depths ---- */

/* The rows of one prefix at some depth, and those that pass. */
struct part {
    uint32_t prefix;
    uint64_t rows, passing;
};

/* Sums the leaves up by the prefixes of a depth; returns the number of these. */
static uint32_t parts_of(const struct table_levels *levels, const uint64_t *passing, uint32_t depth,
                         struct part *parts)
{
    const uint32_t below = levels_shift(levels, depth) - levels->rest_bits;
    uint32_t count = 0;
    for (uint32_t l = 0; l < levels->leaf_count; l++) {
        const uint32_t prefix = levels->leaves[l].prefix >> below;
        if (count == 0 || parts[count - 1].prefix != prefix)
            parts[count++] = (struct part){.prefix = prefix};
        parts[count - 1].rows += levels->leaves[l].rows;
        parts[count - 1].passing += passing[l];
    }
    return count;
}

static void sort_parts(const struct part *parts, uint32_t count, struct prefixes *prefixes)
{
    prefixes->count = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < count; i++)
            if ((parts[i].passing == 0) == (pass == 1))
                prefixes->values[prefixes->count++] = parts[i].prefix;
        prefixes->passing = pass == 0 ? prefixes->count : prefixes->passing;
    }
}

/* Finds the test that the first `depth` levels allow; cube_count 0 if there is none. */
static void find_at_depth(const struct table_levels *levels, uint32_t depth, const struct part *parts,
                          uint32_t count, struct prefixes *prefixes, struct position_test *test)
{
    const uint32_t shift = levels_shift(levels, depth);
    uint64_t rows = 0, inside = 0;
    *test = (struct position_test){.exact = true};
    prefixes->bits = levels->prefix_bits + levels->rest_bits - shift;
    sort_parts(parts, count, prefixes);
    if (prefixes->passing == 0)
        return;
    const uint32_t bits = fewest_bits(prefixes);
    if (!cover(prefixes, bits, test) && !cover(prefixes, (1u << prefixes->bits) - 1, test))
        return;
    for (uint32_t c = 0; c < test->cube_count; c++) {
        test->cubes[c].care <<= shift;
        test->cubes[c].value_bits <<= shift;
        test->care |= test->cubes[c].care;
    }
    for (uint32_t i = 0; i < count; i++) {
        rows += parts[i].rows;
        inside += parts[i].passing ? parts[i].rows : 0;
        test->exact &= parts[i].passing == 0 || parts[i].passing == parts[i].rows;
    }
    test->share = (double)inside / (double)rows;
}

/* A probe of a survivor costs as much as this number of planes for every row. Chooses among tests that are not exact. */
#define PROBE_PLANES 40.0

static bool is_better(const struct position_test *test, const struct position_test *than)
{
    const double cost = __builtin_popcount(test->care) + PROBE_PLANES * test->share;
    if (test->cube_count == 0 || (!test->exact && test->care == 0))
        return false;
    return than->cube_count == 0 || test->exact ||
           cost < __builtin_popcount(than->care) + PROBE_PLANES * than->share;
}

static bool decides(const struct part *parts, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && (parts[i].passing == 0 || parts[i].passing == parts[i].rows))
        i++;
    return i == count;
}

static void find(const struct table_levels *levels, const uint64_t *passing, struct part *parts,
                 struct prefixes *prefixes, struct position_test *test)
{
    for (uint32_t depth = 1; depth <= levels->count; depth++) {
        const uint32_t bits = levels->prefix_bits + levels->rest_bits - levels_shift(levels, depth);
        const uint32_t count = parts_of(levels, passing, depth, parts);
        struct position_test found;
        if (bits > BITS_MAX || count > PREFIXES_MAX)
            return;
        find_at_depth(levels, depth, parts, count, prefixes, &found);
        if (is_better(&found, test))
            *test = found;
        if (decides(parts, count))
            return;
    }
}

enum status position_test_find(const struct table_levels *levels, const uint64_t *passing, uint64_t work_most,
                               struct position_test *test, struct error *error)
{
    const uint32_t bits = levels->prefix_bits < BITS_MAX ? levels->prefix_bits : BITS_MAX;
    struct prefixes prefixes = {.work_most = work_most};
    struct part *parts = NULL;
    *test = (struct position_test){0};
    enum status status =
        memory_take(&parts, (levels->leaf_count + 1) * sizeof *parts, "a dimension's levels", error);
    if (status == STATUS_OK)
        status = memory_take(&prefixes.values, (levels->leaf_count + 1) * sizeof *prefixes.values,
                             "a dimension's levels", error);
    if (status == STATUS_OK)
        status = memory_zeros(&prefixes.marks, (size_t)1 << bits, "a dimension's levels", error);
    if (status == STATUS_OK)
        find(levels, passing, parts, &prefixes, test);
    free(prefixes.marks);
    free(prefixes.values);
    free(parts);
    return status;
}
