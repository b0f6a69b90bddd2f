/* test_statement_memory.c: each kind of statement with every budget of memory, from none to enough: it answers the same or
 * fails with a sentence, and gives back all that it had. Over the small star of sql_star.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/run/engine_internal.h"
#include "tests/support/sql/sql_star.h"

static const char *const statements[] = {
    "select 1, 'a'",
    "select shop, pieces, note from sales",
    "select shop, pieces, note from sales order by pieces desc, note limit 3",
    "select count(*), sum(pieces), min(paid) from sales",
    "select shop, count(*), avg(paid) from sales group by shop order by 2, 1",
    "select big - pieces, count(*), sum(paid) from sales group by big - pieces order by 1",
    "select note, big, day, at, count(distinct pieces), median(paid) from sales group by note, big, day, at "
    "order by 1, 2",
    "select shop, online, count(*), sum(paid) from sales group by rollup (shop, online) order by 1, 2",
    "select big - pieces, note, count(*) from sales group by grouping sets ((big - pieces), (note), ()) "
    "order by 1, 2",
    "select upper(note) || shop from sales order by 1",
    "select note || ' with a number of ' || paid, big::text from sales order by pieces",
    "select note || paid, count(*) from sales group by note || paid order by 1",
    "select shop, string_agg(note, ',') || count(*) from sales where length(note || paid) > 3 group by shop "
    "order by 2",
    "select string_agg(note, ', '), median(paid), quantile_disc(pieces, 0.9), count(distinct note) from "
    "sales",
    "with s as (select shop, count(*) n from sales group by shop) select a.shop, b.shop from s a join s b on "
    "a.n = b.n "
    "order by 1, 2",
    "select s.pieces, v.people from (select shop, pieces from sales) s full join (select shop, people from "
    "visits) v on "
    "s.shop = v.shop and v.people > s.pieces order by 1, 2",
    "select a.pieces from (select pieces from sales) a, (select people from visits) b order by 1",
    "select shop from sales union select shop from visits order by 1",
    "select shop from sales union all select shop from visits order by 1",
    "select shop from sales except select shop from visits order by 1",
    "select shop from sales except all select shop from visits order by 1",
    "select shop from sales intersect all select shop from visits order by 1",
    "select shop, sum(pieces) over (partition by shop order by day rows between 1 preceding and current "
    "row), "
    "max(paid) over (order by day), lag(note) over (order by day) from sales order by 1, 2",
    "select shop from sales where pieces > (select avg(people) / 100 from visits) or shop in (select shop "
    "from visits "
    "where people > 100) order by 1",
};
#define STATEMENTS (sizeof statements / sizeof *statements)

/* Its answer with `limit` bytes, or NULL if they do not suffice. *most is what it had. */
static char *answer_within(const char *text, uint64_t limit, uint64_t *most)
{
    struct rowset rows;
    struct run_timing timing = {0};
    struct error why = {0};
    char *csv = NULL;
    star_engine->memory.limit = limit;
    struct sql_statement *const prepared = prepare_query(text);
    const enum status status = sql_run(prepared, &rows, &timing, &why);
    if (status == STATUS_OK)
        csv = rowset_csv(&rows);
    else if (status != STATUS_MACHINE ||
             !strstr(why.text, "that are allowed are in use; allow more (--memory)"))
        fail_msg("%s\nwith %llu bytes: %s", text, (unsigned long long)limit, why.text);
    *most = timing.memory_bytes;
    sql_statement_free(prepared);
    if (star_engine->memory.used != 0)
        fail_msg("%s\nwith %llu bytes: %llu were not given back", text, (unsigned long long)limit,
                 (unsigned long long)star_engine->memory.used);
    rowset_free(&rows); /* what was handed over is no matter of the account */
    assert_int_equal(star_engine->memory.used, 0);
    return csv;
}

static void all_memory_is_given_back_by(const char *device)
{
    enum { BUDGETS = 40 };
    engine_close(star_engine);
    must(engine_open(&(struct engine_options){.device = device, .threads = 2}, &star_engine, error));
    for (size_t s = 0; s < STATEMENTS; s++) {
        uint64_t most, least = 0;
        char *const answer = answer_within(statements[s], UINT64_MAX / 2, &most);
        assert_non_null(answer);
        assert_true(most > 0);
        for (uint64_t b = 0; b <= BUDGETS; b++) {
            uint64_t had;
            const uint64_t limit = b * most / BUDGETS;
            char *const again = answer_within(statements[s], limit, &had);
            assert_true(!again || had <= limit);
            least = again && !least ? limit : least;
            if (again)
                assert_string_equal(again, answer);
            free(again);
        }
        assert_true(least > 0); /* it is refused with nothing, and answered in the end */
        free(answer);
    }
}

static void all_memory_is_given_back(void **state)
{
    (void)state;
    all_memory_is_given_back_by(test_device());
}

/* Which merge on the host. */
static void several_devices_give_all_memory_back(void **state)
{
    (void)state;
    all_memory_is_given_back_by("cpu,cpu");
}

/* A statement keeps what it may use again; other statements of the engine have the rest. */
static void a_statement_runs_again_after_it_was_refused(void **state)
{
    struct rowset rows;
    uint64_t most;
    (void)state;
    free(answer_within(statements[5], UINT64_MAX / 2, &most));
    struct sql_statement *const prepared = prepare_query(statements[5]);
    for (unsigned i = 0; i < 3; i++) {
        star_engine->memory.limit = 16; /* less than one group */
        assert_int_equal(sql_run(prepared, &rows, NULL, NULL), STATUS_MACHINE);
        rowset_free(&rows);
        star_engine->memory.limit = most;
        must(sql_run(prepared, &rows, NULL, error));
        rowset_free(&rows);
    }
    sql_statement_free(prepared);
    assert_int_equal(star_engine->memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_memory_is_given_back),
        cmocka_unit_test(several_devices_give_all_memory_back),
        cmocka_unit_test(a_statement_runs_again_after_it_was_refused),
    };
    return cmocka_run_group_tests(tests, star_open, star_close);
}
