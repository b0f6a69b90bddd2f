/* test_join_order.c: the sides that are joined first are those of the cheapest order of all, as trying each of them finds it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/relational/sides.h"
#include "tests/support/codec/codec_cases.h"

#include <float.h>
#include <string.h>

static struct join_graph graph;

static uint64_t seed = 27;

static uint32_t random_below(uint32_t end)
{
    return (uint32_t)(random_next(&seed) % end);
}

static void connect(uint32_t a, uint32_t b, double share)
{
    graph.joins[a] |= side_bit(b);
    graph.joins[b] |= side_bit(a);
    graph.share[a][b] = graph.share[b][a] = share;
}

static void begin(uint32_t count)
{
    memset(&graph, 0, sizeof graph);
    graph.count = count;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < count; b++)
            graph.share[a][b] = 1;
}

/* Joins sides a and b of a graph; the last side takes b's place, as joins.c has it. */
static double join(struct join_graph *of, uint32_t a, uint32_t b)
{
    const uint32_t last = of->count - 1;
    of->rows[a] *= of->rows[b] * of->share[a][b];
    uint64_t joins = (of->joins[a] | of->joins[b]) & ~side_bit(a) & ~side_bit(b);
    for (uint32_t s = 0; s < of->count; s++)
        of->share[a][s] = of->share[s][a] = of->share[a][s] * of->share[b][s];
    of->rows[b] = of->rows[last];
    for (uint32_t s = 0; s < of->count; s++)
        of->share[b][s] = of->share[s][b] = of->share[last][s];
    of->joins[b] = of->joins[last];
    of->joins[a] = joins;
    of->count = last;
    for (uint32_t s = 0; s < last; s++) { /* each bit anew */
        uint64_t bits = 0;
        for (uint32_t t = 0; t < last; t++)
            bits |= s != t && of->share[s][t] < 1 ? side_bit(t) : 0;
        of->joins[s] = bits;
    }
    return of->rows[a];
}

/* The least sum of the rows of all joins. */
static double least_cost(const struct join_graph *of)
{
    double least = of->count == 1 ? 0 : DBL_MAX;
    for (uint32_t a = 0; a < of->count; a++)
        for (uint32_t b = a + 1; b < of->count; b++) {
            struct join_graph next = *of;
            if (!(of->joins[a] & side_bit(b)))
                continue;
            const double rows = join(&next, a, b), cost = rows + least_cost(&next);
            least = cost < least ? cost : least;
        }
    return least;
}

static double chosen_cost(void)
{
    struct join_graph now = graph;
    struct error error = {0};
    double cost = 0;
    while (now.count > 1) {
        uint32_t first, second;
        assert_int_equal(join_choose(&now, &first, &second, &error), STATUS_OK);
        assert_true(now.joins[first] & side_bit(second));
        cost += join(&now, first < second ? first : second, first < second ? second : first);
    }
    return cost;
}

/* The smallest join of all is the wrong beginning: it gives rows to a later one that has many. */
static void the_smallest_join_is_not_always_the_first(void **state)
{
    (void)state;
    begin(4);
    graph.rows[0] = 1000;
    graph.rows[1] = 100;
    graph.rows[2] = 1000;
    graph.rows[3] = 10;
    connect(0, 1, 0.001);  /* 100 rows */
    connect(1, 2, 0.5);    /* many */
    connect(2, 3, 0.0002); /* 2 rows */
    assert_true(chosen_cost() <= least_cost(&graph) * 1.0001);
}

static void it_is_the_cheapest_of_all_orders(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        begin(3 + random_below(3));
        for (uint32_t s = 0; s < graph.count; s++) {
            graph.rows[s] = 1 + random_below(100000);
            if (s)
                connect(s, random_below(s), 1.0 / (2 + random_below(50000)));
        }
        if (random_below(2))
            connect(0, graph.count - 1, 1.0 / (2 + random_below(50000)));
        const double least = least_cost(&graph), chosen = chosen_cost();
        if (chosen > least * 1.0001)
            fail_msg("round %d: %g rows, and not %g", round, chosen, least);
    }
}

/* Beyond the search, and where nothing joins two sides, the smallest come first. */
static void many_sides_and_products_are_ordered_too(void **state)
{
    uint32_t first, second;
    struct error error = {0};
    (void)state;
    begin(40);
    for (uint32_t s = 0; s < 40; s++) {
        graph.rows[s] = 100 + s;
        if (s)
            connect(s, s - 1, s == 30 ? 0.0001 : 0.01);
    }
    assert_int_equal(join_choose(&graph, &first, &second, &error), STATUS_OK);
    assert_int_equal(first + second, 29 + 30);
    begin(3);
    graph.rows[0] = 5;
    graph.rows[1] = 50;
    graph.rows[2] = 2;
    assert_int_equal(join_choose(&graph, &first, &second, &error), STATUS_OK);
    assert_int_equal(first, 0);
    assert_int_equal(second, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_smallest_join_is_not_always_the_first),
                                       cmocka_unit_test(it_is_the_cheapest_of_all_orders),
                                       cmocka_unit_test(many_sides_and_products_are_ordered_too)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
