/*
 * load.h: loads the benchmark's rows into a database, by the loader of loader/table/ with a built-in schema.
 *
 * Dimensions are loaded first, whole in memory (SF 100: 5 million rows, less than 1 GB with their
 * dictionaries), then lineorder. Generated rows are made a segment at a time (2^24 rows, 1.1 GB), so memory
 * does not grow with the scale factor, except for the dimensions. .tbl files are read as by `tessera load`.
 * For sorting lineorder (sort_by), table_writer_sort_by in storage/database/writer.h says what memory and
 * disk it needs.
 */
#ifndef TESSERA_SSB_DATA_LOAD_H
#define TESSERA_SSB_DATA_LOAD_H

#include "loader/table/table_loader.h"
#include "ssb/data/generator.h"
#include "storage/database/database.h"

struct ssb_load_options {
    struct ssb_options data; /* scale_factor 0 with `from`: not known */
    const char *directory;   /* of the database */
    const char *from;        /* the folder of .tbl files; NULL: generate */
    const char *codecs;      /* NULL, or as --codec: "auto", "gpu-star,lo_tax=plain" (codecs.h) */
    const char *sort_by;     /* a column of lineorder, or NULL: rows keep their order */
    const char *cluster_by;  /* NULL, or as --cluster-by of `tessera load` */
    const char *workload;    /* NULL, or as --workload of it */
    const char *indexes;     /* NULL, or the columns that get a bitmap index: "lo_discount,lo_quantity" */
    enum dimension_order dimension_order;
    const char *levels[SSB_TABLES]; /* as --levels of `tessera load` */
    uint32_t level_count;
    bool dangling_null; /* store NULL for a key without a matching row; else it is an error */
    uint32_t part,
        parts;         /* parts not 0: only part 1 .. parts of lineorder's orders, and the dimensions whole */
    bool replace;      /* replace the tables of an existing database */
    unsigned threads;  /* 0: all */
    const char *spill; /* as in struct load_options */
};

/* Loads the database. Afterwards either the whole database is there, with ssb.json, or nothing has
 * changed. */
NODISCARD enum status ssb_load(const struct ssb_load_options *options, struct progress *progress,
                               struct error *error);

#endif
