/*
 * load.h: the benchmark's rows into a database, by the loader of loader/table/ with a schema that is built in.
 *
 * Dimensions first, whole in memory (SF 100: 5 million rows, less than 1 GB with their dictionaries); then lineorder. Rows
 * that are generated are made a segment at a time (2^24 rows, 1.1 GB), so that memory does not grow with the scale factor,
 * apart from the dimensions; .tbl files are read as `tessera load` reads them. Sorting lineorder (sort_by) is another
 * matter: table_writer_sort_by in storage/database/writer.h says what it takes.
 */
#ifndef TESSERA_SSB_DATA_LOAD_H
#define TESSERA_SSB_DATA_LOAD_H

#include "ssb/data/generator.h"
#include "storage/database/database.h"

struct ssb_load_options {
    struct ssb_options data; /* scale_factor 0 with `from`: not known */
    const char *directory;   /* of the database */
    const char *from;        /* the folder of .tbl files; NULL: generate */
    const char *codecs;      /* NULL, or as --codec: "auto", "gpu-star,lo_tax=plain" (codecs.h) */
    const char *sort_by;     /* a column of lineorder, or NULL: rows stay as they come */
    bool dangling_null;      /* store NULL for a key that finds no row; else it is an error */
    bool replace;            /* the tables of a database that exists */
    unsigned threads;        /* 0: all */
};

/* Either the whole database is there afterwards, ssb.json included, or everything is as it was. */
NODISCARD enum status ssb_load(const struct ssb_load_options *options, struct progress *progress,
                               struct error *error);

#endif
