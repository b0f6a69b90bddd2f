/* encode.c: adds a further encoding of an existing column, and appended segments to those that there are; see writer.h.
 *
 * Segments are decoded from the column's own encoding and encoded again, each on one thread. The thread has
 * the segment's values and its encoded bytes in memory: at most 256 MiB for 8-byte values. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/codec/chunk_reader.h"
#include "storage/column/column_data.h"
#include "storage/column/column_span.h"
#include "storage/column/encoding_writer.h"
#include "storage/database/database_files.h"
#include "storage/database/database_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 16 threads need at most 4 GiB and encode 2.4 billion values a second, more than most disks can write. */
#define ENCODE_THREADS_MAX 16u

struct encode_work {
    const struct column_data *source;
    struct encoding_writer writer;
};

static enum status encode_segment(void *context, uint64_t item, unsigned thread, struct error *error)
{
    (void)thread;
    struct encode_work *work = context;
    const struct chunk_view *chunk = &work->source->segments[item].chunk;
    size_t tile_bytes = (size_t)TILE_ROWS * chunk->value_bytes;
    RETURN_IF_ERROR(cancel_check(error));
    char *values = segment_buffer(chunk->tiles * tile_bytes, "a decoded segment", error);
    if (!values)
        return STATUS_MACHINE;
    enum status status = chunk_decode(chunk, 0, chunk->tiles, values, error);
    status =
        AND_THEN(status, encoding_writer_segment(&work->writer, (uint32_t)item, values, chunk->rows, error));
    free(values);
    return status;
}

/* Encodes all segments of an open column into a file of their own. */
static enum status encode_data(const char *directory, const struct column_data *source,
                               const struct codec_choice *choice, unsigned threads, uint64_t generation,
                               struct encoding_info *info, struct error *error)
{
    struct encode_work work = {.source = source};
    struct column_span whole = {.generation = generation, .count = source->segment_count};
    encoding_writer_open(&work.writer, directory, source->column, choice, &whole, NULL);
    if (threads == 0)
        threads = parallel_threads_available();
    threads = threads > ENCODE_THREADS_MAX ? ENCODE_THREADS_MAX : threads;
    enum status status = parallel_for(threads, source->segment_count, encode_segment, &work, error);
    status = AND_THEN(status, encoding_writer_finish(&work.writer, error));
    *info = (struct encoding_info){.codec = work.writer.identity.codec, .bytes = work.writer.bytes};
    whole.bytes = info->bytes;
    encoding_writer_close(&work.writer);
    return AND_THEN(status, spans_make(&whole, 1, &info->files, error));
}

static enum status encode_all(struct database *database, const struct column *column,
                              const struct codec_choice *choice, unsigned threads, uint64_t generation,
                              struct encoding_info *info, struct error *error)
{
    struct column_data *source = NULL;
    RETURN_IF_ERROR(column_data_open(database, column, column->own, threads, &source, error));
    return encode_data(database->path, source, choice, threads, generation, info, error);
}

/* The codec of the choice, if it is known without encoding. */
static enum codec_id known_codec(const struct column *column, const struct codec_choice *choice)
{
    if (choice->codec)
        return choice->codec->id;
    return column->chosen[choice->chooser];
}

static enum status add_encoding(struct column *column, const struct encoding_info *info, struct error *error)
{
    if (column_encoding(column, info->codec))
        return STATUS_OK;
    RETURN_IF_ERROR(
        memory_grow(&column->encodings, (column->encoding_count + 1) * sizeof *info, "an encoding", error));
    struct encoding_info *const added = (struct encoding_info *)&column->encodings[column->encoding_count];
    *added = *info;
    RETURN_IF_ERROR(spans_make(info->files.list, info->files.count, &added->files, error));
    column->encoding_count++;
    return STATUS_OK;
}

/* ---- Appended rows ---- */

/* Encodes an open column into a file of these segments. */
static enum status encode_span(const char *directory, const struct column_data *data, enum codec_id id,
                               struct column_span *at, bool *possible, struct error *error)
{
    const struct codec *const codec = codec_by_id(id);
    const struct codec_choice choice = {.codec = codec, .name = codec->name};
    struct encoding_info info;
    struct error reason = {0};
    const enum status status = encode_data(directory, data, &choice, 0, at->generation, &info, &reason);
    *possible = status == STATUS_OK;
    if (status == STATUS_BAD_INPUT)
        return STATUS_OK;
    if (status != STATUS_OK && error)
        *error = reason;
    RETURN_IF_ERROR(status);
    at->bytes = info.bytes;
    at->count = data->segment_count;
    spans_free(&info.files);
    return STATUS_OK;
}

enum status column_encode_from(const char *directory, const struct column *column, uint32_t first,
                               enum codec_id codec, uint64_t generation, struct column_span *at,
                               bool *possible, struct error *error)
{
    struct column_view view = {0};
    struct column_data *data = NULL;
    *at = (struct column_span){.generation = generation, .first = first};
    enum status status = column_view_open(directory, column, first, &view, error);
    status = AND_THEN(status, column_data_read(directory, &view.column, view.column.own, 0, &data, error));
    status = AND_THEN(status, encode_span(directory, data, codec, at, possible, error));
    column_data_free(data);
    column_view_close(&view);
    return status;
}

/* Adds an encoding of the column before to the column, whose segments from `first` on are encoded. A codec that cannot hold
 * them is left out: who asks for it again is told so. */
static enum status continue_encoding(const char *directory, const struct encoding_info *before,
                                     uint32_t first, uint64_t generation, struct column *column,
                                     struct error *error)
{
    struct encoding_info all = {.codec = before->codec};
    struct column_span more;
    bool possible;
    RETURN_IF_ERROR(
        column_encode_from(directory, column, first, before->codec, generation, &more, &possible, error));
    if (!possible)
        return STATUS_OK;
    enum status status = spans_make(before->files.list, before->files.count, &all.files, error);
    status = AND_THEN(status, spans_add(&all.files, &more, error));
    all.bytes = spans_bytes(&all.files);
    status = AND_THEN(status, add_encoding(column, &all, error));
    spans_free(&all.files);
    return status;
}

enum status column_encodings_extend(const char *directory, struct column *column, const struct column *before,
                                    uint64_t generation, struct error *error)
{
    const uint32_t first = before->table->segment_count;
    enum status status = STATUS_OK;
    if (first == column->table->segment_count)
        return STATUS_OK;
    for (uint32_t e = 0; status == STATUS_OK && e < before->encoding_count; e++)
        if (before->encodings[e].codec != column->own)
            status = continue_encoding(directory, &before->encodings[e], first, generation, column, error);
    for (int c = CHOOSER_GPU_STAR; status == STATUS_OK && c <= CHOOSER_AUTO; c++)
        if (column->chosen[c] == CODEC_NONE && column_encoding(column, before->chosen[c]))
            column->chosen[c] = before->chosen[c];
    return status;
}

/* ---- Without a change of tables ---- */

/* Finds the column in the catalogue that is on disk now; another process may have changed it. */
static enum status find_current(struct catalogue *catalogue, const struct column *column,
                                struct column **current, const char *path, struct error *error)
{
    const struct table *table = catalogue_table(catalogue, column->table->name);
    const struct column *found = NULL;
    if (!table || table_column(table, column->schema.name, &found, NULL) != STATUS_OK ||
        !spans_equal(&found->sides, &column->sides))
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s of database %s was replaced since it was opened; start again",
                         column->table->name, path);
    *current = (struct column *)found;
    return STATUS_OK;
}

/* If the database's state was the current one, it continues with the new state, which has one more file. */
static void hold_new_state(struct database *database, uint64_t generation)
{
    struct catalogue catalogue;
    int held;
    if (database->catalogue.generation + 1 != generation ||
        catalogue_hold(database->path, &catalogue, &held, NULL) != STATUS_OK)
        return;
    catalogue_free(&catalogue);
    close(database->held);
    database->held = held;
    database->catalogue.generation = generation;
}

/* Encodes the column and commits the encoding; *codec gets its codec. */
static enum status commit_encoding(struct database *database, struct catalogue *catalogue,
                                   const struct column *column, struct column *current,
                                   const struct codec_choice *choice, unsigned threads, enum codec_id *codec,
                                   struct error *error)
{
    /* A chooser's earlier choice is used again: the codec is known. */
    const struct codec_choice exact = {.codec = codec_by_id(*codec), .name = choice->name};
    struct encoding_info info = {0};
    bool visible = false;
    char *tables = NULL;
    RETURN_IF_ERROR(tables_check(database->path, column->table->name, error));
    database_clean(database->path, catalogue);
    catalogue->generation++;
    enum status status = encode_all(database, column, exact.codec ? &exact : choice, threads,
                                    catalogue->generation, &info, error);
    status = AND_THEN(
        status, add_encoding(current, &info, error)); /* if a chooser took one, only the choice is new */
    spans_free(&info.files);
    RETURN_IF_ERROR(status);
    *codec = info.codec;
    current->chosen[choice->chooser] = choice->codec ? CODEC_NONE : info.codec;
    RETURN_IF_ERROR(table_path(database->path, column->table->name, &tables, error));
    status = directory_sync(tables, error);
    free(tables);
    RETURN_IF_ERROR(status);
    status = catalogue_write(database->path, catalogue, &visible, error);
    if (!visible) /* else a power cut may lose the encoding, which is then made again */
        return status;
    hold_new_state(database, catalogue->generation);
    return STATUS_OK;
}

/* Encodes the column if necessary and commits the encoding; the open column gets it, too. The caller holds
 * the writers' lock. */
static enum status encode_and_commit(struct database *database, struct catalogue *catalogue,
                                     struct column *column, const struct codec_choice *choice,
                                     unsigned threads, struct error *error)
{
    struct column *current = NULL;
    RETURN_IF_ERROR(find_current(catalogue, column, &current, database->path, error));
    enum codec_id codec = known_codec(current, choice);
    if (codec == CODEC_NONE ||
        !column_encoding(current, codec)) /* else another process has encoded it meanwhile */
        RETURN_IF_ERROR(
            commit_encoding(database, catalogue, column, current, choice, threads, &codec, error));
    RETURN_IF_ERROR(add_encoding(column, column_encoding(current, codec), error));
    if (!choice->codec)
        column->chosen[choice->chooser] = codec;
    return STATUS_OK;
}

/* Adds the encoding to the open column if another process has committed it since the database was opened. */
static enum status take_committed(struct database *database, struct column *column,
                                  const struct codec_choice *choice, bool *taken, struct error *error)
{
    struct catalogue catalogue;
    struct column *current = NULL;
    *taken = false;
    RETURN_IF_ERROR(catalogue_read(database->path, &catalogue, error));
    enum status status = find_current(&catalogue, column, &current, database->path, error);
    const enum codec_id codec = status == STATUS_OK ? known_codec(current, choice) : CODEC_NONE;
    const struct encoding_info *there = codec == CODEC_NONE ? NULL : column_encoding(current, codec);
    if (there) {
        status = add_encoding(column, there, error);
        if (status == STATUS_OK && !choice->codec)
            column->chosen[choice->chooser] = codec;
        *taken = status == STATUS_OK;
    }
    catalogue_free(&catalogue);
    return status;
}

enum status database_encode(struct database *database, const struct column *column,
                            const struct codec_choice *choice, unsigned threads, enum codec_id *codec,
                            struct error *error)
{
    *codec = known_codec(column, choice);
    if (*codec != CODEC_NONE && column_encoding(column, *codec))
        return STATUS_OK;
    int lock = -1;
    struct catalogue catalogue;
    bool taken;
    RETURN_IF_ERROR(take_committed(database, (struct column *)column, choice, &taken, error));
    if (taken) {
        *codec = known_codec(column, choice);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(database_lock(database->path, LOCK_WAIT_MS, &lock, error));
    enum status status = catalogue_read(database->path, &catalogue, error);
    if (status == STATUS_OK) {
        status = encode_and_commit(database, &catalogue, (struct column *)column, choice, threads, error);
        /* Remove the files of a failure, and of an encoding that a chooser wrote although it existed. */
        struct catalogue committed;
        if (catalogue_read(database->path, &committed, NULL) == STATUS_OK) {
            database_clean(database->path, &committed);
            catalogue_free(&committed);
        }
    }
    catalogue_free(&catalogue);
    database_unlock(lock);
    if (status == STATUS_OK)
        *codec = known_codec(column, choice);
    return status;
}
