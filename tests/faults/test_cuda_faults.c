/*
 * test_cuda_faults.c: statements on a GPU with every call of its driver failing in turn (tests/faults/gpu.c): the answer is
 * right, or there is none and a sentence says why. Threads fail, too; allocations do not, because drivers have their own.
 *
 * On a GPU, or on the emulated one of tests/emulator: TESSERA_LIBCUDA names it, as ctest does. Skipped without either, unless
 * TESSERA_REQUIRE_GPU is set. Without TESSERA_FAULTS a sample of the calls is tried (tests/support/faults.h):
 *
 *     TESSERA_FAULTS=all test_cuda_faults 'join_gpu*'
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/faults/campaigns.h"
#include "tests/support/gpu/on_a_gpu.h"

/* The emulated GPU has the general kernels alone; a GPU's own ones are in the cache after the first run. */
#define ASK  "$T sql --device cuda $KERNEL --threads 2 --db $D --format csv "
#define LOAD "$T load --db $D --schema star.sql shops=shops.csv sales=sales.csv >/dev/null"

static struct named_operation operations[] = {
    {"sum", {.run = ASK "'SELECT sum(paid), count(note), min(day) FROM sales WHERE id % 3 = 1'"}},
    {"group",
     {.run = ASK "'SELECT city, count(*), sum(paid) FROM sales JOIN shops ON shop = shops.k GROUP BY city "
                 "ORDER BY city'"}},
    {"many_groups",
     {.run = ASK
      "'SELECT id * 7919 % 100003, count(*), sum(paid) FROM sales GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 9'"}},
    {"rows", {.run = ASK "'SELECT id, paid, note FROM sales WHERE paid > 900 ORDER BY paid DESC, id'"}},
    {"join",
     {.run = ASK "'SELECT count(*), sum(a.paid) FROM sales a JOIN sales b ON a.shop = b.shop AND a.id < b.id "
                 "AND b.id < 200'"}},
    {"grouped_join",
     {.run = ASK "'SELECT a.shop, count(*), max(t.s) FROM sales a JOIN (SELECT shop, day, sum(paid) AS s "
                 "FROM sales GROUP BY "
                 "shop, day) t ON a.shop = t.shop AND a.day = t.day WHERE a.paid * 5 > t.s GROUP BY a.shop "
                 "ORDER BY a.shop'"}},
    {"windows",
     {.run = ASK "'SELECT sum(r), max(s) FROM (SELECT row_number() OVER (PARTITION BY shop ORDER BY day, id) "
                 "AS r, sum(paid) "
                 "OVER (PARTITION BY shop ORDER BY day, id) AS s FROM sales) t'"}},
    {"distinct", {.run = ASK "'SELECT count(DISTINCT note), count(DISTINCT day), median(paid) FROM sales'"}},
    {"sets",
     {.run = ASK "'SELECT count(*) FROM (SELECT shop, day FROM sales EXCEPT SELECT k, NULL FROM shops) t'"}},
    {"strings", {.run = ASK "'SELECT upper(note) AS u, count(*) FROM sales GROUP BY u ORDER BY u LIMIT 5'"}},
    {"cut",
     {.run = ASK "--gpu-memory 300K 'SELECT sum(paid), count(*) FROM sales WHERE id BETWEEN 300 AND 900'"}},
    {"several",
     {.run = ASK "'SELECT sum(paid) FROM sales; SELECT shop, max(id) FROM sales GROUP BY shop ORDER BY 1; "
                 "SELECT count(*) FROM shops'"}},
    {"delete",
     {.run = ASK "'DELETE FROM sales WHERE paid > 500'",
      .observe = "$T check --db $D >checked 2>&1 && $T sql --device cpu --db $D --format csv 'SELECT "
                 "count(*), sum(paid) FROM sales'",
      .output_may_vary = true}},
};

static const struct named_fault kinds[] = {
    {"gpu", &faults_of_gpu},
    {"gpu_forever", &faults_of_gpu_forever},
    {"gpu_memory", &faults_of_gpu_memory},
    {"gpu_memory_forever", &faults_of_gpu_memory_forever},
    {"threads", &faults_of_threads},
};

#define OPERATIONS (sizeof operations / sizeof *operations)
#define KINDS      (sizeof kinds / sizeof *kinds)

static int files_make(void **state)
{
    setup(state);
    star_write_shops();
    star_write_sales("sales.csv", 0, 2000);
    return setenv("KERNEL", getenv("TESSERA_LIBCUDA") ? "--kernel general" : "--kernel specialised", 1);
}

static const struct campaign *current;

static void campaign_on(const char *device)
{
    (void)device;
    campaign_run(current);
}

static void runs(void **state)
{
    current = *state;
    check_on_a_gpu(campaign_on);
}

int main(int count, char **arguments)
{
    static struct campaign campaigns[OPERATIONS * KINDS];
    static struct CMUnitTest tests[OPERATIONS * KINDS];
    for (size_t o = 0; o < OPERATIONS; o++)
        operations[o].operation.prepare = LOAD;
    for (size_t c = 0; c < OPERATIONS * KINDS; c++)
        tests[c] = campaign_test(&campaigns[c], &operations[c / KINDS], &kinds[c % KINDS], runs);
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return _cmocka_run_group_tests("faults of a GPU", tests, OPERATIONS * KINDS, files_make, teardown);
}
