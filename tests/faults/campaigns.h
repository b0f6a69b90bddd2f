/*
 * campaigns.h: operations and faults with names, of which each pair is a test of cmocka; and the files that most operations need:
 * a star schema of 20 shops and of sales, beside $D, small enough that a run of the program takes some 10 ms. Behind cmocka.h.
 */
#ifndef TESSERA_TESTS_FAULTS_CAMPAIGNS_H
#define TESSERA_TESTS_FAULTS_CAMPAIGNS_H

#include "tests/support/faults.h"

struct named_operation {
    const char *name;
    struct fault_operation operation;
};

struct named_fault {
    const char *name;
    const struct fault *fault;
};

struct campaign {
    char name[64];
    const struct fault_operation *operation;
    const struct fault *fault;
};

static inline void campaign_run(const struct campaign *campaign)
{
    printf("%s: ", campaign->name);
    fflush(stdout);
    faults_campaign(campaign->operation, campaign->fault);
}

/* Fills the campaign, which `run` gets as its state. */
static inline struct CMUnitTest campaign_test(struct campaign *campaign,
                                              const struct named_operation *operation,
                                              const struct named_fault *fault, CMUnitTestFunction run)
{
    *campaign = (struct campaign){.operation = &operation->operation, .fault = fault->fault};
    snprintf(campaign->name, sizeof campaign->name, "%s_%s", operation->name, fault->name);
    return (struct CMUnitTest){.name = campaign->name, .test_func = run, .initial_state = campaign};
}

/* ---- Files ---- */

/* star.sql and shops.csv. */
static inline void star_write_shops(void)
{
    FILE *const schema = file_beside("star.sql");
    fputs("CREATE TABLE shops (k INTEGER PRIMARY KEY, name VARCHAR(20) CHECK (name || city <> ''), city "
          "VARCHAR(20));\n"
          "CREATE TABLE sales (id BIGINT, shop INTEGER REFERENCES shops (k), paid DECIMAL(10,2), day DATE, "
          "note VARCHAR(20));\n",
          schema);
    fclose(schema);
    FILE *const shops = file_beside("shops.csv");
    for (unsigned r = 0; r < 20; r++)
        fprintf(shops, "%u,shop %u,city %u\n", 3 * r + 1, r, r % 5);
    fclose(shops);
}

static inline void star_write_sales(const char *name, unsigned first, unsigned rows)
{
    FILE *const file = file_beside(name);
    for (unsigned r = first; r < first + rows; r++)
        fprintf(file, "%u,%u,%u.%02u,2024-%02u-%02u,%s%u\n", r, r * 7 % 20 * 3 + 1, r * 2654435761u % 1000,
                r % 100, r % 9 + 1, r % 28 + 1, r % 7 ? "note " : "", r % 50);
    fclose(file);
}

#endif
