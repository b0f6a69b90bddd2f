/*
 * ssb_database.h: a database of the Star Schema Benchmark for an experiment: the user's (--db), or one at scale factor 20
 * times --scale in a new temporary folder, which is removed at the end, also after an error or Ctrl-C.
 *
 * At scale 1 it is loaded with 3.2 GB of columns; each further codec of the columns that the 13 queries read takes up to
 * 2.5 GB, plain values 4.3 GB. The user's database keeps the encodings that the queries add.
 */
#ifndef TESSERA_LAB_BENCH_SSB_DATABASE_H
#define TESSERA_LAB_BENCH_SSB_DATABASE_H

#include "lab/lab.h"
#include "storage/database/database.h"

struct ssb_database {
    struct database *database;
    char *folder; /* the temporary folder; NULL: the database is the user's */
};

/* Opens lab->ssb, unless it is open. Close it after the engine, also after an error. */
NODISCARD enum status ssb_database_open(struct lab *lab, struct error *error);
void ssb_database_close(struct lab *lab);

#endif
