/* test_row_loops.c: the loops of functions of a row give on each instruction set, bit by bit, what their bodies give for single
 * rows: of any doubles, whole numbers and NULLs, of numbers of rows that fill no vector. The seed is fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/plan/functions/row_call.h"
#include "storage/base/double_key.h"
#include "storage/base/isa.h"

#include <math.h>
#include <string.h>

static row_call_loops *const loops[ISA_LEVELS] = {
    row_call_loop_baseline,
#if defined(__x86_64__)
    row_call_loop_avx2,
    row_call_loop_avx512,
#endif
};

static uint64_t state_of_random = 20261128;

static uint64_t random_bits(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    return state_of_random ^= state_of_random << 17;
}

static double random_real(void)
{
    static const double special[] = {0.0,    -0.0,  1.0,    -1.0,     2.0,       0.6875, 1.375,
                                     5e-324, 1e308, -1e308, INFINITY, -INFINITY, NAN};
    const uint64_t kind = random_bits() % 8;
    const double unit = (double)(random_bits() >> 11) * 0x1p-53;
    double any;
    switch (kind) {
    case 0:
        return special[random_bits() % (sizeof special / sizeof *special)];
    case 1: { /* any bits: subnormal numbers, too */
        const uint64_t bits = random_bits() & (random_bits() % 4 ? UINT64_MAX : UINT64_C(0x800fffffffffffff));
        memcpy(&any, &bits, sizeof any);
        return any;
    }
    case 2:
        return 1.0 + (unit - 0.5) / 1000; /* beside 1, where a logarithm is small */
    case 3:
        return (double)(int64_t)(random_bits() % 20000001) - 10000000;
    default:
        return ldexp(unit, (int)(random_bits() % 60) - 30);
    }
}

struct rows {
    int64_t values[3][VECTOR_ROWS];
    uint8_t nulls[3][VECTOR_ROWS];
    int64_t results[VECTOR_ROWS];
    uint8_t missing[VECTOR_ROWS];
};

static void fill(const char *takes, struct rows *rows)
{
    for (uint32_t argument = 0; argument < 3; argument++)
        for (uint32_t row = 0; row < VECTOR_ROWS; row++) {
            const bool real = takes[0] == 'd';
            rows->values[argument][row] =
                real ? double_key_of(random_real()) : (int64_t)(random_bits() >> random_bits() % 64);
            rows->nulls[argument][row] = random_bits() % 5 == 0;
        }
}

static void loop_is_body(row_call_loops *loop, const struct function *function, uint32_t count, bool nullable)
{
    static struct rows rows;
    const struct row_description *const of = row_function(function->row);
    const struct expression call = {.operation = EXPRESSION_CALL,
                                    .field = (uint8_t)function->row,
                                    .children = (uint8_t)strlen(function->takes)};
    struct vector children[3];
    fill(function->takes, &rows);
    for (uint32_t c = 0; c < 3; c++)
        children[c] = (struct vector){rows.values[c], nullable ? rows.nulls[c] : NULL};
    loop(&call, count, children, (struct vector){rows.results, of->misses || nullable ? rows.missing : NULL});
    for (uint32_t row = 0; row < count; row++) {
        int64_t of_row[3];
        bool missing = false, null = false;
        for (uint32_t c = 0; c < 3; c++) {
            const uint32_t from = c < call.children ? c : 0;
            of_row[c] = rows.values[from][row];
            null |= nullable && rows.nulls[from][row];
        }
        const int64_t alone = null ? 0 : of->body(of_row[0], of_row[1], of_row[2], 0, &missing);
        if (of->misses || nullable)
            assert_int_equal(rows.missing[row], missing || null);
        if (!missing && !null)
            assert_int_equal(rows.results[row], alone);
    }
}

static void loops_give_what_bodies_give(void **state)
{
    static const uint32_t counts[] = {1, 7, 31, 1023, VECTOR_ROWS};
    (void)state;
    for (size_t place = 0; function_name(place); place++) {
        const struct function *const function = function_find(function_name(place), &(size_t){0});
        if (!function || function->form != FUNCTION_ROW)
            continue;
        for (int level = 0; level <= (int)isa_level(); level++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                for (int nullable = 0; nullable < 2; nullable++)
                    for (int again = 0; again < 10; again++)
                        loop_is_body(loops[level], function, counts[c], nullable);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loops_give_what_bodies_give)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
