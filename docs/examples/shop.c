/*
 * shop.c: a table from memory, a statement with a parameter asked twice, its answer read row by row. docs/library.md
 * says how to build it.
 *
 *     shop DIRECTORY
 */
#include "tessera.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static struct tessera_error error;

static void require(enum tessera_status status)
{
    if (status == TESSERA_OK)
        return;
    fprintf(stderr, "%s\n", error.text);
    exit((int)status);
}

static void load(const char *directory)
{
    static const char *const shops[] = {"north", "south", "north", "east"}, *const paid[] = {"2.50", "12",
                                                                                             NULL, "0.99"};
    static const int64_t pieces[] = {1, 4, 2, 1};
    const struct tessera_values columns[] = {{.name = "shop", .texts = shops},
                                             {.name = "paid", .texts = paid},
                                             {.name = "pieces", .numbers = pieces}};
    require(tessera_load_rows(directory, "CREATE TABLE sales (shop TEXT, paid DECIMAL(8,2), pieces INT)",
                              "sales", columns, 3, 4, TESSERA_LOAD_REPLACE, &error));
}

static void ask(struct tessera_statement *statement, int64_t least)
{
    struct tessera_result *result;
    require(tessera_bind_int64(statement, 0, least, &error));
    require(tessera_run(statement, &result, &error));
    printf("%" PRId64 " pieces or more:\n", least);
    for (uint64_t row = 0; row < tessera_rows(result); row++) {
        uint32_t length;
        const char *shop = tessera_text(result, 0, row, &length);
        printf("  %-6.*s", (int)length, shop);
        if (tessera_is_null(result, 1, row))
            puts("      -");
        else
            printf(" %6.2f\n", tessera_double(result, 1, row));
    }
    tessera_result_free(result);
}

int main(int argc, char **argv)
{
    struct tessera_database *database;
    struct tessera_statement *statement;
    if (argc != 2) {
        fputs("usage: shop DIRECTORY\n", stderr);
        return TESSERA_BAD_INPUT;
    }
    load(argv[1]);
    require(tessera_open(argv[1], NULL, 0, &database, &error));
    require(tessera_prepare(database,
                            "select shop, sum(paid) from sales where pieces >= ? group by shop order by shop",
                            &statement, &error));
    ask(statement, 1);
    ask(statement, 2);
    tessera_finalize(statement);
    tessera_close(database);
    return 0;
}
