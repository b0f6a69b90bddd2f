/* orc_reader.c: the files of a table, their columns, and the memory for them (orc_reader.h). */
#define _GNU_SOURCE
#include "loader/orc/orc_reader.h"

#include "loader/orc/orc_convert.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Files and their columns ---- */

/* Writes the names of the file's columns, as many as fit. */
static void list_columns(const struct orc_file *file, char *text, size_t bytes)
{
    size_t at = 0;
    text[0] = '\0';
    for (uint32_t c = 0; c < file->types[0].child_count; c++) {
        const char *const name = file->types[file->types[0].children[c]].name;
        const int length = snprintf(text + at, bytes - at, "%s%.64s", c ? ", " : "", name);
        if (at + (size_t)length + 8 > bytes) {
            snprintf(text + at, bytes - at, ", ...");
            return;
        }
        at += (size_t)length;
    }
}

/* Finds a column of the table in the file: by the same name, or else by one that differs in case only. */
static enum status find_column(const struct orc_reader *reader, struct orc_source *source, uint32_t c,
                               struct error *error)
{
    const struct orc_file *const file = &source->file;
    const struct schema_table *const table = reader->parse->parsed->table;
    const struct table_keys *const keys = reader->parse->keys[c];
    const struct column_schema *const want = keys ? &keys->key : &table->columns[c];
    const char *const name = table->columns[c].name;
    uint32_t found = 0;
    char text[64], names[400];
    for (uint32_t f = 0; f < file->types[0].child_count; f++) {
        const uint32_t type = file->types[0].children[f];
        if (strcmp(file->types[type].name, name) == 0)
            found = type;
        else if (!found && word_compare(file->types[type].name, name) == 0)
            found = type;
    }
    if (!found) {
        list_columns(file, names, sizeof names);
        return error_set(error, STATUS_BAD_INPUT, "%s: has no column %s of table %s; its columns are %s",
                         file->path, name, table->name, names);
    }
    source->types[c] = found;
    const struct orc_type *const type = &file->types[found];
    if (orc_type_fits(type, want->type, reader->parse->options->text.reading.round))
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "%s: column %s has the type %s, which cannot be stored as %s%s",
                     file->path, name, orc_kind_name(type->kind), column_type_text(want, text),
                     type->kind == ORC_FLOAT || type->kind == ORC_DOUBLE
                         ? ": floating-point numbers need a column of type DOUBLE (--round rounds them)"
                         : "; write it as another type");
}

static enum status open_source(struct orc_reader *reader, const char *path, struct orc_source *source,
                               struct error *error)
{
    RETURN_IF_ERROR(orc_file_read(path, &source->file, error));
    RETURN_IF_ERROR(memory_zeros(&source->types, reader->columns * sizeof *source->types, "columns", error));
    if (source->file.encrypted)
        return error_set(error, STATUS_BAD_INPUT, "%s: it has encrypted columns; write it without encryption",
                         path);
    for (uint32_t c = 0; c < reader->columns; c++)
        RETURN_IF_ERROR(find_column(reader, source, c, error));
    reader->stripe_count += source->file.stripe_count;
    reader->rows += source->file.rows;
    return STATUS_OK;
}

static enum status open_sources(struct orc_reader *reader, const struct load_input *input,
                                struct error *error)
{
    RETURN_IF_ERROR(
        memory_zeros(&reader->sources, input->path_count * sizeof *reader->sources, "files", error));
    for (uint32_t p = 0; p < input->path_count; p++) {
        bool is_orc;
        RETURN_IF_ERROR(orc_file_is(input->paths[p], &is_orc, error));
        if (!is_orc)
            return error_set(
                error, STATUS_BAD_INPUT,
                "%s: is no ORC file, but others of table %s are; the files of one table must be of one kind",
                input->paths[p], reader->parse->parsed->table->name);
        reader->source_count++;
        RETURN_IF_ERROR(open_source(reader, input->paths[p], &reader->sources[p], error));
    }
    RETURN_IF_ERROR(memory_zeros(&reader->stripes, (reader->stripe_count + 1) * sizeof *reader->stripes,
                                 "stripes", error));
    uint64_t number = 0;
    for (uint32_t p = 0; p < input->path_count; p++)
        for (uint32_t s = 0; s < reader->sources[p].file.stripe_count; s++, number++)
            reader->stripes[number] = (struct orc_stripe_load){
                .source = &reader->sources[p], .stripe = s, .number = number, .descriptor = -1};
    return STATUS_OK;
}

/* ---- Memory ---- */

uint64_t orc_reader_block_bytes(const struct orc_reader *reader, uint64_t rows)
{
    uint64_t bytes = 0;
    for (uint32_t s = 0; s < reader->soon_count; s++)
        bytes += reader->parse->value_bytes[reader->soon[s]] +
                 reader->parse->parsed->table->columns[reader->soon[s]].nullable;
    return bytes * rows;
}

/* Finds the number of threads for which the largest stripes fit the budget. */
static enum status choose_threads(struct orc_reader *reader, struct error *error)
{
    const uint64_t budget = execution_memory()->limit;
    const struct orc_stripe_load *largest = NULL;
    for (uint64_t s = 0; s < reader->stripe_count; s++)
        if (!largest || orc_stripe_info(&reader->stripes[s])->rows > orc_stripe_info(largest)->rows)
            largest = &reader->stripes[s];
    reader->most = budget / 2;
    if (!largest)
        return STATUS_OK;
    reader->stripe_rows = orc_stripe_info(largest)->rows;
    const uint64_t rows = orc_stripe_info(largest)->rows, block = orc_reader_block_bytes(reader, rows),
                   scratch = rows * ORC_SCRATCH_ROW_BYTES;
    for (;; reader->threads--) {
        const uint64_t stripes =
            reader->threads > 1 ? (reader->threads - 1) / (reader->soon_count + !reader->soon_count) + 2 : 1;
        const uint64_t bytes = 2 * (stripes * block + reader->threads * scratch);
        if (bytes <= budget)
            return STATUS_OK;
        if (reader->threads == 1)
            return error_set(
                error, STATUS_MACHINE,
                "%s: reading its stripe %u of %" PRIu64 " rows takes %" PRIu64
                " MB of memory and --memory allows %" PRIu64 "; give more, or write smaller stripes",
                largest->source->file.path, largest->stripe + 1, rows, (bytes >> 20) + 1, budget >> 20);
    }
}

/* ---- Which columns are read when ---- */

/* Decides which columns are read into blocks. With --max-errors any value may mean that its row is left out. */
static enum status choose_columns(struct orc_reader *reader, struct error *error)
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

static void choose_decoder(struct orc_reader *reader)
{
    const struct byte_decoder *const asked = reader->parse->options->decoder;
    reader->decoder = asked ? asked : &byte_decoder_host;
    for (uint32_t s = 0; s < reader->source_count; s++)
        if (!(reader->decoder->schemes >> orc_file_scheme(&reader->sources[s].file) & 1))
            reader->decoder = &byte_decoder_host;
}

enum status orc_reader_open(struct orc_reader *reader, const struct load_input *input, struct error *error)
{
    RETURN_IF_ERROR(open_sources(reader, input, error));
    choose_decoder(reader);
    RETURN_IF_ERROR(choose_columns(reader, error));
    RETURN_IF_ERROR(choose_threads(reader, error));
    return memory_zeros(&reader->scratch, reader->parse->options->threads * sizeof *reader->scratch,
                        "threads", error);
}

void orc_reader_free(struct orc_reader *reader)
{
    for (uint64_t s = 0; reader->stripes && s < reader->stripe_count; s++) {
        row_block_free(reader->parse, &reader->stripes[s].block);
        orc_stripe_close(reader, &reader->stripes[s]);
    }
    for (unsigned t = 0; reader->scratch && t < reader->parse->options->threads; t++) {
        orc_streams_free(&reader->scratch[t].streams);
        orc_ahead_free(&reader->scratch[t].ahead);
        orc_kept_free(&reader->scratch[t].kept);
        orc_values_free(&reader->scratch[t].values);
        orc_store_scratch_free(&reader->scratch[t].store);
    }
    for (uint32_t s = 0; s < reader->source_count; s++) {
        free(reader->sources[s].types);
        orc_file_free(&reader->sources[s].file);
    }
    free(reader->scratch);
    free(reader->stripes);
    free(reader->sources);
    free(reader->soon);
    pthread_mutex_destroy(&reader->decode_lock);
    pthread_mutex_destroy(&reader->lock);
}
