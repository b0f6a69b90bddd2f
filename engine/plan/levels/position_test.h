/*
 * position_test.h: a dimension predicate as tests of leading bits of a position (storage/column/levels.h).
 *
 * The positions of rows that pass are made the union of a few cubes (storage/codec/position_cube.h), so that a foreign
 * key is filtered by reading some planes of it instead of by probing a bitmap. Gaps may be in the union or not: no row
 * has them. So region = one of five codes in 3 bits often needs 2 planes only.
 *
 * Made once for each join when a statement is planned, from the number of passing rows of each leaf: in microseconds
 * for the 250 leaves of a customer table, in at most some milliseconds for 2^16. The search visits prefixes, in 0.3 to 2 ns
 * each, at most as often in each of its steps as the caller allows: a better test saves part of a nanosecond for each row
 * that is scanned.
 */
#ifndef TESSERA_ENGINE_PLAN_LEVELS_POSITION_TEST_H
#define TESSERA_ENGINE_PLAN_LEVELS_POSITION_TEST_H

#include "storage/base/status.h"
#include "storage/codec/position_cube.h"
#include "storage/column/levels.h"

struct position_test {
    bool used; /* the key's codec can test it, and it pays; set by the planner */
    bool
        exact; /* no row that fails has a position in a cube. Otherwise survivors are probed in the bitmap, too */
    uint32_t care;       /* the bits that the cubes name: each is a plane to read */
    uint32_t cube_count; /* 1 .. POSITION_CUBES_MAX; 0: there is no test, or no row passes */
    struct position_cube cubes[POSITION_CUBES_MAX]; /* each row that passes has its position in one of them */
    double share;                                   /* of the table's rows: those with a position in a cube */
};

/* Finds the test for a predicate that passing[l] rows of leaf l fulfil. It names as few bits as possible, and then has
 * few cubes; the last level that it names is the first that decides the predicate. If the cubes would be too many, or
 * no level decides the predicate, it is a weaker test of which `exact` is false, or none. */
#define POSITION_TEST_WORK_MOST UINT64_C(2000000)
NODISCARD enum status position_test_find(const struct table_levels *levels, const uint64_t *passing,
                                         uint64_t work_most, struct position_test *test, struct error *error);

static inline bool position_test_passes(const struct position_test *test, uint32_t position)
{
    bool passes = false;
    for (uint32_t c = 0; c < test->cube_count; c++)
        passes |= (position & test->cubes[c].care) == test->cubes[c].value_bits;
    return passes;
}

#endif
