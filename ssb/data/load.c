/* load.c: see load.h. */
#define _GNU_SOURCE
#include "ssb/data/load.h"

#include "ssb/data/load_tables.h"
#include "ssb/data/origin.h"
#include "ssb/data/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- What both halves use ---- */

enum status ssb_load_table_begin(const struct ssb_load *load, enum ssb_table table,
                                 struct table_writer **writer, struct error *error)
{
    struct ssb_schema schema;
    ssb_schema_make(table, load->source->largest_orderkey, load->dangling_null, &schema);
    RETURN_IF_ERROR(database_writer_table(load->writer, ssb_table_info(table)->name, schema.columns,
                                          schema.column_count, load->source->rows[table], writer, error));
    for (uint32_t c = 0; c < schema.column_count; c++)
        RETURN_IF_ERROR(table_writer_codec(*writer, c, load->codecs.choice[table][c], error));
    return STATUS_OK;
}

enum status ssb_load_cursors_open(const struct ssb_load *load, enum ssb_table table, struct ssb_cursor ***out,
                                  struct error *error)
{
    *out = NULL;
    struct ssb_cursor **cursors = calloc(load->threads, sizeof(struct ssb_cursor *));
    if (!cursors)
        return error_out_of_memory(error, load->threads * sizeof(struct ssb_cursor *), "reading rows");
    enum status status = STATUS_OK;
    for (unsigned t = 0; t < load->threads && status == STATUS_OK; t++)
        status = load->source->methods->cursor_open(load->source, table, &cursors[t], error);
    if (status != STATUS_OK) {
        ssb_load_cursors_close(load, cursors);
        return status;
    }
    *out = cursors;
    return STATUS_OK;
}

void ssb_load_cursors_close(const struct ssb_load *load, struct ssb_cursor **cursors)
{
    if (!cursors)
        return;
    for (unsigned t = 0; t < load->threads; t++)
        load->source->methods->cursor_close(cursors[t]);
    free(cursors);
}

/* ---- The database ---- */

static enum status load_tables(struct ssb_load *load, struct error *error)
{
    enum status status = STATUS_OK;
    for (enum ssb_table table = 0; table < SSB_LINEORDER && status == STATUS_OK; table++)
        status = ssb_load_dimension(load, table, error);
    if (status == STATUS_OK)
        status = ssb_load_lineorder(load, error);
    for (enum ssb_table table = 0; table < SSB_TABLES; table++)
        key_index_destroy(load->indices[table]);
    return status;
}

/* Ends the change. Everything that can fail comes before the commit, but for a rename. */
static enum status commit(const struct ssb_load_options *options, const struct ssb_origin *origin,
                          struct database_writer *writer, struct error *error)
{
    enum status status = cancel_check(error);
    if (status == STATUS_OK)
        status = ssb_origin_prepare(options->directory, origin, error);
    if (status != STATUS_OK) {
        database_writer_abort(writer);
        return status;
    }
    status = database_writer_commit(writer, error);
    if (status == STATUS_OK)
        return ssb_origin_publish(options->directory, error);
    ssb_origin_discard(options->directory);
    return status;
}

static enum status load_from(const struct ssb_load_options *options, const struct ssb_origin *origin,
                             const struct ssb_codecs *codecs, const uint32_t *sort_by,
                             const struct ssb_source *source, struct progress *progress, struct error *error)
{
    struct ssb_load load = {
        .source = source,
        .codecs = *codecs,
        .sort_by = sort_by,
        .dangling_null = options->dangling_null,
        .threads = options->threads ? options->threads : parallel_threads_available(),
        .progress = progress,
    };
    /* The writer removes a directory that it made, but not one with a prepared ssb.json in it. */
    const bool made = access(options->directory, F_OK) != 0;
    RETURN_IF_ERROR(database_writer_open(options->directory, &load.writer, error));
    enum status status = load_tables(&load, error);
    if (status != STATUS_OK) {
        database_writer_abort(load.writer);
        return status;
    }
    status = commit(options, origin, load.writer, error);
    if (status != STATUS_OK && made)
        rmdir(options->directory);
    return status;
}

static enum status refuse_existing(const char *directory, struct error *error)
{
    struct database *database;
    if (database_open(directory, &database, NULL) != STATUS_OK)
        return STATUS_OK; /* whether it can become one is for the writer to say */
    database_close(database);
    return error_set(
        error, STATUS_BAD_INPUT,
        "%s is a database already; name another directory, or give --force to replace its SSB tables",
        directory);
}

enum status ssb_load(const struct ssb_load_options *options, struct progress *progress, struct error *error)
{
    struct ssb_codecs codecs;
    RETURN_IF_ERROR(ssb_codecs_parse(options->codecs, &codecs, error));
    uint32_t sort_by;
    if (options->sort_by)
        RETURN_IF_ERROR(ssb_lineorder_column_find(options->sort_by, &sort_by, error));
    if (!options->replace)
        RETURN_IF_ERROR(refuse_existing(options->directory, error));
    struct ssb_origin origin = {.options = options->data, .dangling_null = options->dangling_null};
    if (options->from && !(origin.from = realpath(options->from, NULL)))
        return error_set_errno(error, errno, "cannot open the folder %s", options->from);
    struct ssb_source *source;
    enum status status = options->from
                             ? ssb_source_read(options->from, options->threads, progress, &source, error)
                             : ssb_source_generate(&options->data, options->threads, &source, error);
    if (status == STATUS_OK) {
        status =
            load_from(options, &origin, &codecs, options->sort_by ? &sort_by : NULL, source, progress, error);
        ssb_source_close(source);
    }
    ssb_origin_free(&origin);
    return status;
}
