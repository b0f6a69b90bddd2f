/* load_tables.h: the two halves of a load (load.c): a dimension, and lineorder. */
#ifndef TESSERA_SSB_DATA_LOAD_TABLES_H
#define TESSERA_SSB_DATA_LOAD_TABLES_H

#include "loader/table/key_index.h"
#include "ssb/data/codecs.h"
#include "ssb/data/source.h"
#include "storage/database/writer.h"

/* What every table is loaded with. */
struct ssb_load {
    const struct ssb_source *source;
    struct database_writer *writer;
    struct ssb_codecs codecs;
    const uint32_t *sort_by; /* a column of lineorder, or NULL */
    bool dangling_null;
    unsigned threads;
    struct progress *progress;
    struct key_index *indices[SSB_TABLES]; /* of the dimensions loaded so far; owned by load.c */
};

/* Adds the table to the writer, each column with its codec. */
NODISCARD enum status ssb_load_table_begin(const struct ssb_load *load, enum ssb_table table,
                                           struct table_writer **writer, struct error *error);

/* Opens a cursor for each thread; on failure none is left. Close with ssb_load_cursors_close. */
NODISCARD enum status ssb_load_cursors_open(const struct ssb_load *load, enum ssb_table table,
                                            struct ssb_cursor ***cursors, struct error *error);
void ssb_load_cursors_close(const struct ssb_load *load, struct ssb_cursor **cursors);

/* Loads a dimension and enters its keys into load->indices. */
NODISCARD enum status ssb_load_dimension(struct ssb_load *load, enum ssb_table table, struct error *error);

/* Loads lineorder; all dimensions are there. */
NODISCARD enum status ssb_load_lineorder(struct ssb_load *load, struct error *error);

#endif
