/* test_random.c: states, jumps and draws equal those of ssb-dbgen, on values that are published or computed
 * by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ssb/data/random.h"

static void states_are_the_minimal_standard_generators(void **state)
{
    (void)state;
    uint32_t number = 1;
    const uint32_t first[3] = {16807, 282475249, 1622650073};
    for (int i = 0; i < 10000; i++) {
        number = random_step(number);
        if (i < 3)
            assert_int_equal(number, first[i]);
    }
    assert_int_equal(number, 1043618065);
    for (uint64_t a = 1; a < RANDOM_MODULUS; a += 100003) /* modulus - 1 is -1, so a becomes -a */
        assert_int_equal(random_multiply((uint32_t)a, RANDOM_MODULUS - 1), RANDOM_MODULUS - a);
    assert_int_equal(random_multiply(RANDOM_MODULUS - 1, RANDOM_MODULUS - 1), 1);
}

static void a_jump_is_as_many_steps(void **state)
{
    (void)state;
    struct random_jumps jumps;
    random_jumps_init(&jumps);
    uint32_t number = 1066728069;
    for (uint64_t steps = 0; steps < 100000; steps++, number = random_step(number))
        if (steps < 600 || steps % 997 == 0)
            assert_int_equal(random_jump(&jumps, 1066728069, steps), number);
    assert_int_equal(random_jump(&jumps, 1495190827, 2000), 1905178516);
    assert_int_equal(random_jump(&jumps, 739610275, 1), 994543089);
    /* The period is 2^31-2; a longer jump goes round. */
    assert_int_equal(random_jump(&jumps, 12345, RANDOM_MODULUS - 1), 12345);
    assert_int_equal(random_jump(&jumps, 12345, 7ull * (RANDOM_MODULUS - 1) + 1), random_step(12345));
    uint32_t far = random_jump(&jumps, 12345, 1ull << 30);
    far = random_jump(&jumps, far, 1ull << 30);
    assert_int_equal(far, random_jump(&jumps, 12345, 1ull << 31));
}

static void draws_are_rounded_as_doubles(void **state)
{
    (void)state;
    assert_int_equal(random_draw(1305170527, 92001, 2406), 93463);
    assert_int_equal(random_draw(1666332895, 1, 200000), 155190);
    assert_int_equal(random_draw(1748407791, 6, 19), 21);
    assert_int_equal(random_draw(1, 0, 10), 0);
    assert_int_equal(random_draw(RANDOM_MODULUS - 1, 1, 7), 7);
    /* Exact arithmetic would give 2147483646 here. */
    assert_int_equal(random_draw(RANDOM_MODULUS - 1, 0, 2147483648), 2147483647);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_are_the_minimal_standard_generators),
        cmocka_unit_test(a_jump_is_as_many_steps),
        cmocka_unit_test(draws_are_rounded_as_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
