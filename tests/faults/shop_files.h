/* shop_files.h: the files and the database that test_library_faults.c and test_adbc_faults.c ask: a star of shops and 2,000
 * sales with every type and with NULLs, visits, quotes, 6,000 pairs with many different keys, a view, and files beside the
 * database, which is the current folder. */
#ifndef TESSERA_TESTS_FAULTS_SHOP_FILES_H
#define TESSERA_TESTS_FAULTS_SHOP_FILES_H

#include "tests/support/faults.h"

#include <dirent.h>

static inline FILE *shop_file(const char *name)
{
    FILE *const file = fopen(name, "w");
    assert_non_null(file);
    return file;
}

static inline void shop_write_script(void)
{
    FILE *const file = shop_file("shop.sql");
    fputs(
        "CREATE TABLE shops (k INTEGER PRIMARY KEY, name VARCHAR(20), city VARCHAR(20), opened DATE, area "
        "DECIMAL(8,1), boss INTEGER REFERENCES shops (k));\n"
        "CREATE TABLE sales (id BIGINT, shop INTEGER REFERENCES shops (k), paid DECIMAL(10,2), day DATE, at "
        "TIMESTAMP, note VARCHAR(20), weight DOUBLE, online BOOLEAN, doc TEXT, seen TIMESTAMPTZ, big "
        "BIGINT);\n"
        "CREATE TABLE visits (shop INTEGER REFERENCES shops (k), people INTEGER, since DATE);\n"
        "CREATE TABLE quotes (name TEXT, at TIMESTAMP, price DECIMAL(8,2));\n"
        "CREATE TABLE pairs (a BIGINT, b BIGINT, t TEXT);\n",
        file);
    fclose(file);
}

static inline void shop_write_sales(const char *name, unsigned first, unsigned rows)
{
    FILE *const file = shop_file(name);
    for (unsigned r = first; r < first + rows; r++) {
        const unsigned mixed = r * 2654435761u;
        fprintf(file, "%u,%u,%u.%02u,2024-%02u-%02u,2024-%02u-%02u %02u:%02u:%02u,", r, r * 7 % 20 * 3 + 1,
                mixed % 1000, r % 100, r % 9 + 1, r % 28 + 1, r % 12 + 1, r % 27 + 1, r % 24, r % 60,
                mixed % 60);
        if (r % 11)
            fprintf(file, "%s%u", r % 7 ? "note " : "", r % 50);
        if (r % 13)
            fprintf(file, ",%u.%u", mixed % 5, r % 8 * 125);
        else
            fputs(",", file);
        fprintf(file, ",%s,\"{\"\"a\"\": %u, \"\"b\"\": \"\"w%u_%u\"\", \"\"c\"\": [%u, true]}\",",
                r % 3 ? "true" : "false", r % 17, r % 5, mixed % 90, r % 6);
        fprintf(file, "2024-%02u-%02u 12:00:00+0%u,%llu\n", r % 12 + 1, r % 28 + 1, r % 3,
                (unsigned long long)(r % 700) * 1000003 + (r % 700) * 7);
    }
    fclose(file);
}

static inline void shop_write_others(void)
{
    FILE *file = shop_file("shops.csv");
    for (unsigned r = 0; r < 20; r++)
        fprintf(file, "%u,shop %u,city %u,%u-05-%02u,%u.%u,%u\n", 3 * r + 1, r, r % 5, 1995 + r % 12, r + 1,
                40 + r * 3, r % 10, r % 4 * 3 + 1);
    fclose(file);
    file = shop_file("visits.csv");
    for (unsigned r = 0; r < 60; r++)
        fprintf(file, "%u,%u,2024-%02u-01\n", r % 17 * 3 + 1, r * 31 % 67, r % 8 + 1);
    fclose(file);
    file = shop_file("quotes.csv");
    for (unsigned r = 0; r < 200; r++)
        fprintf(file, "note %u,2024-%02u-%02u %02u:00:00,%u.%02u\n", r % 60, r % 12 + 1, r % 28 + 1, r % 24,
                r * 37 % 400, r % 100);
    fclose(file);
    file = shop_file("pairs.csv");
    for (unsigned r = 0; r < 6000; r++)
        fprintf(file, "%llu,%u,%s %u\n", (unsigned long long)(r * 7919 % 4001) * 1000003,
                r * 2654435761u % 5000, r % 2 ? "pair" : "note", r % 300);
    fclose(file);
    file = shop_file("items.json");
    for (unsigned r = 0; r < 50; r++)
        fprintf(file, "{\"k\": %u, \"v\": \"item %u\", \"n\": %s}\n", r, r % 9, r % 4 ? "1.5" : "null");
    fclose(file);
}

#define SHOP_LOAD                                                                                            \
    "$T load --db $D --schema shop.sql shops=shops.csv sales=sales.csv visits=visits.csv quotes=quotes.csv " \
    "pairs=pairs.csv"

static inline void shop_shell(const char *command)
{
    faults_shell(command, &faults_seen);
    if (faults_seen.exit_code != 0) {
        fprintf(stderr, "%s: %s", command, faults_seen.errors);
        exit(1);
    }
}

/* Makes the database at `path` and all files. */
static inline int shop_make(void **state)
{
    char folder[PATH_BYTES];
    setup(state);
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(path) - strlen("/db")), path);
    assert_int_equal(chdir(folder), 0);
    shop_write_script();
    shop_write_sales("sales.csv", 0, 2000);
    shop_write_sales("more.csv", 2000, 500);
    shop_write_others();
    shop_shell("gzip -c sales.csv >packed.csv.gz && cp " TESSERA_SOURCE
               "/tests/data/parquet/pyarrow-rows-zstd.parquet rows.parquet && cp " TESSERA_SOURCE
               "/tests/data/orc/pyarrow-rows-0.12-zlib.orc rows.orc");
    shop_shell(
        SHOP_LOAD
        " && $T index create --db $D sales.shop && $T sql --device cpu --db $D 'CREATE VIEW expensive AS "
        "SELECT id, shop, paid FROM sales WHERE paid > 800'");
    return 0;
}

/* ---- A copy of the database ---- of hard links, because no file is ever changed in its place */

#define COPY_PATH "copy.db"

static inline int shop_link_one(const char *file, const struct stat *facts, int type, struct FTW *walk)
{
    char to[2 * PATH_BYTES];
    (void)facts, (void)walk;
    snprintf(to, sizeof to, COPY_PATH "%s", file + strlen(path));
    return type == FTW_D ? mkdir(to, 0755) : link(file, to);
}

static inline void copy_make(void)
{
    if (nftw(path, shop_link_one, 16, FTW_PHYS) != 0)
        abort();
}

/* Removes the copy, and files that COPY wrote. */
static inline void copy_forget(void)
{
    DIR *const folder = opendir(".");
    const struct dirent *entry;
    while ((entry = readdir(folder)))
        if (strncmp(entry->d_name, COPY_PATH, strlen(COPY_PATH)) == 0 ||
            strncmp(entry->d_name, "out.", 4) == 0)
            nftw(entry->d_name, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    closedir(folder);
}

#endif
