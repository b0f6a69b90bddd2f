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

#include "tests/support/faults.h"
#include "tests/support/gpu/on_a_gpu.h"

/* The emulated GPU has the general kernels alone; a GPU's own ones are in the cache after the first run. */
#define ASK  "$T sql --device cuda $KERNEL --threads 2 --db $D --format csv "
#define LOAD "$T load --db $D --schema star.sql shops=shops.csv sales=sales.csv >/dev/null && "

static const struct named_operation {
    const char *name;
    struct fault_operation operation;
} operations[] = {
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

static const struct named_fault {
    const char *name;
    const struct fault *fault;
} kinds[] = {
    {"gpu", &faults_of_gpu},
    {"gpu_forever", &faults_of_gpu_forever},
    {"gpu_memory", &faults_of_gpu_memory},
    {"gpu_memory_forever", &faults_of_gpu_memory_forever},
    {"threads", &faults_of_threads},
};

#define OPERATIONS (sizeof operations / sizeof *operations)
#define KINDS      (sizeof kinds / sizeof *kinds)

static FILE *file_begin(const char *name)
{
    char file_path[2 * PATH_BYTES];
    snprintf(file_path, sizeof file_path, "%.*s%s", (int)(strlen(path) - strlen("db")), path, name);
    FILE *const file = fopen(file_path, "w");
    assert_non_null(file);
    return file;
}

static int files_make(void **state)
{
    setup(state);
    FILE *const schema = file_begin("star.sql");
    fputs("CREATE TABLE shops (k INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20));\n"
          "CREATE TABLE sales (id BIGINT, shop INTEGER REFERENCES shops (k), paid DECIMAL(10,2), day DATE, "
          "note VARCHAR(20));\n",
          schema);
    fclose(schema);
    FILE *const shops = file_begin("shops.csv");
    for (unsigned r = 0; r < 20; r++)
        fprintf(shops, "%u,shop %u,city %u\n", 3 * r + 1, r, r % 5);
    fclose(shops);
    FILE *const sales = file_begin("sales.csv");
    for (unsigned r = 0; r < 2000; r++)
        fprintf(sales, "%u,%u,%u.%02u,2024-%02u-%02u,%s%u\n", r, r * 7 % 20 * 3 + 1, r * 2654435761u % 1000,
                r % 100, r % 9 + 1, r % 28 + 1, r % 7 ? "note " : "", r % 50);
    fclose(sales);
    return setenv("KERNEL", getenv("TESSERA_LIBCUDA") ? "--kernel general" : "--kernel specialised", 1);
}

struct campaign {
    char name[64];
    struct fault_operation operation;
    const struct fault *fault;
};

static const struct campaign *current;

static void campaign_on(const char *device)
{
    (void)device;
    printf("%s: ", current->name);
    fflush(stdout);
    faults_campaign(&current->operation, current->fault);
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
    for (size_t c = 0; c < OPERATIONS * KINDS; c++) {
        const struct named_operation *const operation = &operations[c / KINDS];
        campaigns[c] = (struct campaign){.operation = operation->operation, .fault = kinds[c % KINDS].fault};
        campaigns[c].operation.prepare = LOAD "true";
        snprintf(campaigns[c].name, sizeof campaigns[c].name, "%s_%s", operation->name,
                 kinds[c % KINDS].name);
        tests[c] =
            (struct CMUnitTest){.name = campaigns[c].name, .test_func = runs, .initial_state = &campaigns[c]};
    }
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return _cmocka_run_group_tests("faults of a GPU", tests, OPERATIONS * KINDS, files_make, teardown);
}
