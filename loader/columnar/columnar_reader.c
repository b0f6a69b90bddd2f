/* columnar_reader.c: the files of a table, their columns, and the memory for them (columnar_reader.h). */
#define _GNU_SOURCE
#include "loader/columnar/columnar_reader.h"

#include "loader/columnar/columnar_convert.h"
#include "storage/base/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files and their columns ---- */

/* Writes the names of the file's columns, as many as fit. */
static void list_columns(const struct columnar_file *file, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c < file->column_count; c++) {
        const int length = snprintf(text + at, bytes - at, "%s%.64s", c ? ", " : "", file->columns[c].name);
        if (at + (size_t)length + 8 > bytes) {
            snprintf(text + at, bytes - at, ", ...");
            return;
        }
        at += (size_t)length;
    }
}

/* Finds a column of the table in the file. */
static enum status find_column(const struct columnar_reader *reader, struct columnar_source *source,
                               uint32_t c, struct error *error)
{
    const struct columnar_file *const file = source->file;
    const struct schema_table *const table = reader->parse->parsed->table;
    const struct table_keys *const keys = reader->parse->keys[c];
    const struct column_schema *const want = keys ? &keys->key : &table->columns[c];
    const char *const name = table->columns[c].name;
    const uint32_t number = columnar_column_find(file, name);
    const struct columnar_column *const found = &file->columns[number];
    char text[64], names[400];
    if (number == file->column_count) {
        list_columns(file, names, sizeof names);
        return error_set(error, STATUS_BAD_INPUT, "%s: has no column %s of table %s; its columns are %s",
                         file->path, name, table->name, names);
    }
    source->columns[c] = number;
    if (columnar_type_fits(&found->type, want->type, reader->parse->options->text.reading.round))
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "%s: column %s has the type %s, which cannot be stored as %s%s",
                     file->path, name, found->type.name, column_type_text(want, text),
                     found->type.kind == COLUMNAR_FLOATING
                         ? ": floating-point numbers need a column of type DOUBLE (--round rounds them)"
                         : "; write it as another type");
}

static enum status open_source(struct columnar_reader *reader, const char *path,
                               struct columnar_source *source, struct error *error)
{
    RETURN_IF_ERROR(columnar_file_open(reader->format, path, &source->file, error));
    RETURN_IF_ERROR(
        memory_zeros(&source->columns, reader->columns * sizeof *source->columns, "columns", error));
    if (source->file->encrypted)
        return error_set(error, STATUS_BAD_INPUT, "%s: it has encrypted columns; write it without encryption",
                         path);
    for (uint32_t c = 0; c < reader->columns; c++)
        RETURN_IF_ERROR(find_column(reader, source, c, error));
    reader->part_count += source->file->part_count;
    return STATUS_OK;
}

/* Lists the parts that are wanted. */
static void list_parts(struct columnar_reader *reader)
{
    const uint64_t *const wanted = reader->parse->options->parts;
    uint64_t number = 0;
    reader->part_count = reader->rows = 0;
    for (uint32_t f = 0; f < reader->source_count; f++)
        for (uint32_t s = 0; s < reader->sources[f].file->part_count; s++, number++) {
            if (wanted && !(wanted[number / 64] >> number % 64 & 1))
                continue;
            reader->parts[reader->part_count] = (struct columnar_part_load){.source = &reader->sources[f],
                                                                            .part = s,
                                                                            .number = reader->part_count,
                                                                            .opened.descriptor = -1};
            reader->rows += columnar_part_info(&reader->parts[reader->part_count++])->rows;
        }
}

static enum status open_sources(struct columnar_reader *reader, const struct load_input *input,
                                struct error *error)
{
    RETURN_IF_ERROR(
        memory_zeros(&reader->sources, input->path_count * sizeof *reader->sources, "files", error));
    for (uint32_t p = 0; p < input->path_count; p++) {
        const struct columnar_format *format;
        RETURN_IF_ERROR(columnar_format_find(input->paths[p], &format, error));
        if (format != reader->format)
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s: is no %s file, but others of table %s are; the files of one table must be of one kind",
                input->paths[p], reader->format->name, reader->parse->parsed->table->name);
        reader->source_count++;
        RETURN_IF_ERROR(open_source(reader, input->paths[p], &reader->sources[p], error));
    }
    RETURN_IF_ERROR(
        memory_zeros(&reader->parts, (reader->part_count + 1) * sizeof *reader->parts, "parts", error));
    list_parts(reader);
    return STATUS_OK;
}

/* Leaves out the parts after the first rows that are wanted. */
static void keep_first_parts(struct columnar_reader *reader)
{
    const uint64_t wanted = reader->parse->options->first_rows;
    uint64_t rows = 0, kept = 0;
    if (!wanted)
        return;
    while (kept < reader->part_count && rows < wanted)
        rows += columnar_part_info(&reader->parts[kept++])->rows;
    reader->part_count = kept;
    reader->rows = rows;
}

/* ---- Memory ---- */

uint64_t columnar_reader_block_bytes(const struct columnar_reader *reader, uint64_t rows)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < reader->soon_count; s++)
        bytes += reader->parse->value_bytes[reader->soon[s]] +
                 reader->parse->parsed->table->columns[reader->soon[s]].nullable;
    return bytes * rows;
}

/* Finds the number of threads for which the largest parts fit the budget. */
static enum status choose_threads(struct columnar_reader *reader, struct error *error)
{
    const uint64_t budget = execution_memory()->limit;
    const struct columnar_part_load *largest = NULL;
    for (uint64_t s = 0; s < reader->part_count; s++)
        if (!largest || columnar_part_info(&reader->parts[s])->rows > columnar_part_info(largest)->rows)
            largest = &reader->parts[s];
    reader->most = budget / 2;
    if (!largest)
        return STATUS_OK;
    reader->part_rows = columnar_part_info(largest)->rows;
    const uint64_t rows = columnar_part_info(largest)->rows,
                   block = columnar_reader_block_bytes(reader, rows),
                   scratch = rows * COLUMNAR_SCRATCH_ROW_BYTES;
    for (;; reader->threads--) {
        const uint64_t parts =
            reader->threads > 1 ? (reader->threads - 1) / (reader->soon_count + !reader->soon_count) + 2 : 1;
        const uint64_t bytes = 2 * (parts * block + reader->threads * scratch);
        if (bytes <= budget)
            return STATUS_OK;
        if (reader->threads == 1)
            return error_set(error, STATUS_MACHINE,
                             "%s: reading its %s %u of %" PRIu64 " rows takes %" PRIu64
                             " MB of memory and --memory allows %" PRIu64 "; give more, or write smaller %ss",
                             largest->source->file->path, reader->format->part, largest->part + 1, rows,
                             (bytes >> 20) + 1, budget >> 20, reader->format->part);
    }
}

/* ---- Which columns are read when ---- */

/* Decides which columns are read into blocks. With --max-errors any value may mean that its row is left out. */
static enum status choose_columns(struct columnar_reader *reader, struct error *error)
{
    struct parsed_table *const parsed = reader->parse->parsed;
    const bool all = reader->parse->rejects->most > 0;
    RETURN_IF_ERROR(memory_zeros(&parsed->later, reader->columns * sizeof *parsed->later, "columns", error));
    RETURN_IF_ERROR(memory_zeros(&reader->soon, reader->columns * sizeof *reader->soon, "columns", error));
    for (uint32_t c = 0; c < reader->columns; c++) {
        parsed->later[c] = !all && !parsed->words[c] && !parsed->table->columns[c].primary_key;
        if (!parsed->later[c])
            reader->soon[reader->soon_count++] = c;
    }
    return STATUS_OK;
}

/* The schemes that a decoder must have: every one takes bytes as they are. */
static uint32_t schemes_of(const struct columnar_source *source)
{
    return source->file->schemes & ~(1u << BYTE_STORED);
}

static void choose_decoder(struct columnar_reader *reader)
{
    const struct byte_decoder *const asked = reader->parse->options->decoder;
    reader->decoder = asked ? asked : &byte_decoder_host;
    for (uint32_t s = 0; s < reader->source_count; s++)
        if (!schemes_of(&reader->sources[s]) || schemes_of(&reader->sources[s]) & ~reader->decoder->schemes)
            reader->decoder = &byte_decoder_host;
}

enum status columnar_reader_open(struct columnar_reader *reader, const struct load_input *input,
                                 struct error *error)
{
    RETURN_IF_ERROR(open_sources(reader, input, error));
    keep_first_parts(reader);
    choose_decoder(reader);
    RETURN_IF_ERROR(choose_columns(reader, error));
    RETURN_IF_ERROR(choose_threads(reader, error));
    return memory_zeros(&reader->scratch, reader->parse->options->threads * sizeof *reader->scratch,
                        "threads", error);
}

void columnar_reader_free(struct columnar_reader *reader)
{
    for (uint64_t s = 0; reader->parts && s < reader->part_count; s++) {
        row_block_free(reader->parse, &reader->parts[s].block);
        columnar_part_drop(reader, &reader->parts[s]);
    }
    for (unsigned t = 0; reader->scratch && t < reader->parse->options->threads; t++) {
        columnar_streams_free(&reader->scratch[t].streams);
        columnar_ahead_free(&reader->scratch[t].ahead);
        columnar_kept_free(&reader->scratch[t].kept);
        columnar_values_free(&reader->scratch[t].values);
        columnar_store_scratch_free(&reader->scratch[t].store);
    }
    for (uint32_t s = 0; s < reader->source_count; s++) {
        free(reader->sources[s].columns);
        columnar_file_close(reader->sources[s].file);
    }
    free(reader->scratch);
    free(reader->parts);
    free(reader->sources);
    free(reader->soon);
    pthread_mutex_destroy(&reader->decode_lock);
    pthread_mutex_destroy(&reader->lock);
}
