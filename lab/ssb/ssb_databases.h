/*
 * ssb_databases.h: databases of the Star Schema Benchmark for an experiment: the user's (--db), or two at scale factor 20 times --scale in a
 * new temporary folder, which is removed at the end, also after an error or Ctrl-C: one whose dimensions keep the order of their files, as
 * in the papers, and one with levels (docs/levels.md).
 *
 * At scale 1 each is loaded with 3.2 GB of columns; each further codec of the columns that the 13 queries read takes up to
 * 2.5 GB, plain values 4.3 GB. The user's database keeps the encodings that the queries add.
 */
#ifndef TESSERA_LAB_SSB_SSB_DATABASES_H
#define TESSERA_LAB_SSB_SSB_DATABASES_H

#include "lab/lab.h"
#include "storage/database/database.h"

enum ssb_order { SSB_FILE_ORDER, SSB_LEVELS, SSB_ORDERS };

struct ssb_databases {
    struct database *database[SSB_ORDERS]; /* of the user: the same twice, in the order that it has */
    char *folder;                          /* the temporary folder; NULL: the database is the user's */
};

/* Opens lab->ssb, unless it is open. Close it after the engine, also after an error. */
NODISCARD enum status ssb_databases_open(struct lab *lab, struct error *error);
void ssb_databases_close(struct lab *lab);

#endif
