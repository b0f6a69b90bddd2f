/*
 * test_faults.c: the operations that users run, with every call of a kind failing in turn (tests/support/faults.h).
 *
 * Without an argument a sample of the calls of each campaign is tried. For all of one operation's:
 *
 *     TESSERA_FAULTS=all test_faults 'append*'
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/faults.h"

/* ---- The operations: a star schema of two tables, small enough that a run takes some 10 ms ---- */

#define LOAD  "$T load --db $D --schema star.sql "
#define FIRST LOAD "shops=shops.csv sales=sales.csv"
#define ASK   "$T sql --device cpu --db $D --format csv "
#define STATE                                                                                             \
    "$T check --db $D > checked 2>&1 && " ASK "'SELECT count(*), sum(paid), count(note), count(DISTINCT " \
    "city) FROM sales JOIN shops ON shop = shops.k'"

static const struct named_operation {
    const char *name;
    struct fault_operation operation;
} operations[] = {
    {"load", {.prepare = "", .run = FIRST, .observe = STATE, .output_may_vary = true}},
};

#define OPERATIONS (sizeof operations / sizeof *operations)

static const struct named_fault {
    const char *name;
    const struct fault *fault;
} kinds[] = {
    {"memory", &faults_of_memory},
    {"memory_forever", &faults_of_memory_forever},
    {"threads", &faults_of_threads},
    {"calls", &faults_of_calls},
    {"calls_forever", &faults_of_calls_forever},
    {"space", &faults_of_space},
    {"short", &faults_of_short_moves},
    {"kill", &faults_that_kill},
};

#define KINDS (sizeof kinds / sizeof *kinds)

/* ---- Their files ---- */

static FILE *file_begin(const char *name)
{
    char file_path[2 * PATH_BYTES];
    snprintf(file_path, sizeof file_path, "%.*s%s", (int)(strlen(path) - strlen("db")), path, name);
    FILE *const file = fopen(file_path, "w");
    assert_non_null(file);
    return file;
}

static void write_sales(const char *name, unsigned first, unsigned rows)
{
    FILE *const file = file_begin(name);
    for (unsigned r = first; r < first + rows; r++)
        fprintf(file, "%u,%u,%u.%02u,2024-%02u-%02u,%s%u\n", r, r * 7 % 20 * 3 + 1, r * 2654435761u % 1000,
                r % 100, r % 9 + 1, r % 28 + 1, r % 7 ? "note " : "", r % 50);
    fclose(file);
}

static int begin(void **state)
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
    write_sales("sales.csv", 0, 2000);
    write_sales("more.csv", 2000, 1500);
    return 0;
}

/* ---- Every operation with every fault ---- */

struct campaign {
    char name[64];
    const struct fault_operation *operation;
    const struct fault *fault;
};

static void runs(void **state)
{
    const struct campaign *const campaign = *state;
    printf("%s: ", campaign->name);
    fflush(stdout);
    begin(state);
    faults_campaign(campaign->operation, campaign->fault);
}

int main(int count, char **arguments)
{
    static struct campaign campaigns[OPERATIONS * KINDS];
    static struct CMUnitTest tests[OPERATIONS * KINDS];
    for (size_t c = 0; c < OPERATIONS * KINDS; c++) {
        const struct named_operation *const operation = &operations[c / KINDS];
        campaigns[c] = (struct campaign){.operation = &operation->operation, .fault = kinds[c % KINDS].fault};
        snprintf(campaigns[c].name, sizeof campaigns[c].name, "%s_%s", operation->name,
                 kinds[c % KINDS].name);
        tests[c] = (struct CMUnitTest){.name = campaigns[c].name,
                                       .test_func = runs,
                                       .teardown_func = teardown,
                                       .initial_state = &campaigns[c]};
    }
    if (count > 1)
        cmocka_set_test_filter(arguments[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
