/* ssb_database.h: for tests whose database is one of the Star Schema Benchmark, in a temporary directory, `path`. */
#ifndef TESSERA_TESTS_SUPPORT_SSB_SSB_DATABASE_H
#define TESSERA_TESTS_SUPPORT_SSB_SSB_DATABASE_H

#include "ssb/data/load.h"
#include "tests/support/database_cases.h"

static char path[PATH_BYTES];
static struct database *database;

/* Makes and opens it. `codecs` may be NULL; `threads` 0: all. */
static inline void ssb_database_make(double scale_factor, const char *codecs, unsigned threads)
{
    const struct ssb_load_options options = {
        .data = {.scale_factor = scale_factor}, .directory = path, .codecs = codecs, .threads = threads};
    directory_make(path);
    must(ssb_load(&options, NULL, error));
    must(database_open(path, &database, error));
}

static inline void ssb_database_remove(void)
{
    database_close(database);
    directory_remove(path);
}

#endif
