/*
 * table_rows.c: reads the rows of one table from text to values, on all threads (table_loader_internal.h).
 * Each thread has its own dictionary for each string column, so no thread waits for another.
 */
#define _GNU_SOURCE
#include "loader/table/table_checks.h"

#include "loader/columnar/columnar_file.h"
#include "loader/text/reading_options.h"
#include "loader/text/text_rows.h"
#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const struct column_schema *column)
{
    return column->type == TYPE_STRING && !column->references_table[0];
}

static void block_free(struct parsed_block *block, const struct schema_table *table)
{
    const uint32_t columns = table ? table->column_count : 0, references = table ? table->reference_count : 0;
    for (uint32_t c = 0; block->values && c < columns; c++)
        free(block->values[c]);
    for (uint32_t c = 0; block->nulls && c < columns; c++)
        free(block->nulls[c]);
    free(block->values);
    free(block->nulls);
    free(block->kept);
    free(block->kept_nulls);
    free(block->lines);
    free(block->threads);
    for (uint32_t r = 0; block->found && r < references; r++)
        free(block->found[r]);
    free(block->found);
    *block = (struct parsed_block){0};
}

void row_block_free(const struct row_parse *parse, struct parsed_block *block)
{
    block_free(block, parse->parsed->table);
}

void table_rows_free(struct parsed_table *parsed)
{
    const uint32_t columns = parsed->table ? parsed->table->column_count : 0;
    for (uint64_t b = 0; b < parsed->block_count; b++)
        block_free(&parsed->blocks[b], parsed->table);
    free(parsed->blocks);
    for (uint32_t w = 0; parsed->words && w < parsed->threads * columns; w++)
        dictionary_builder_destroy(parsed->words[w]);
    free(parsed->words);
    columnar_rows_free(parsed->columnar);
    free(parsed->later);
    if (parsed->parse) {
        row_checks_free(parsed->parse->checks);
        pthread_mutex_destroy(&parsed->parse->lock);
    }
    free(parsed->parse);
    if (columns)
        spool_close(&parsed->spool);
    memory_charge_drop(&parsed->held);
    *parsed = (struct parsed_table){0};
}

/* ---- Blocks in memory and in the spool ---- */

static uint64_t block_bytes(const struct parsed_table *parsed, const struct parsed_block *block)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < parsed->table->column_count; c++)
        if (!parsed_later(parsed, c))
            bytes += (uint64_t)block->rows * column_schema_value_bytes(&parsed->table->columns[c]) +
                     (block->nulls[c] ? block->rows : 0);
    return bytes;
}

static enum status spill(struct parsed_table *parsed, struct parsed_block *block, struct error *error)
{
    const uint32_t columns = parsed->table->column_count;
    block->kept = calloc(columns, sizeof *block->kept);
    block->kept_nulls = calloc(columns, sizeof *block->kept_nulls);
    if (!block->kept || !block->kept_nulls)
        return error_out_of_memory(error, columns * sizeof *block->kept, "rows");
    for (uint32_t c = 0; c < columns; c++) {
        const uint64_t bytes = (uint64_t)block->rows * column_schema_value_bytes(&parsed->table->columns[c]);
        if (parsed_later(parsed, c))
            continue;
        RETURN_IF_ERROR(spool_append(&parsed->spool, block->values[c], bytes, &block->kept[c], error));
        block->kept_nulls[c] = KEPT_NOWHERE;
        if (block->nulls[c])
            RETURN_IF_ERROR(
                spool_append(&parsed->spool, block->nulls[c], block->rows, &block->kept_nulls[c], error));
        free(block->values[c]);
        free(block->nulls[c]);
        block->values[c] = NULL;
        block->nulls[c] = NULL;
    }
    return STATUS_OK;
}

enum status parsed_table_spill(struct parsed_table *parsed, struct error *error)
{
    if (parsed->spool.descriptor < 0)
        RETURN_IF_ERROR(spool_open(&parsed->spool, "a load with so little --memory", error));
    for (uint64_t b = 0; b < parsed->block_count; b++)
        if (parsed->blocks[b].rows && !parsed->blocks[b].kept)
            RETURN_IF_ERROR(spill(parsed, &parsed->blocks[b], error));
    memory_charge_drop(&parsed->held);
    return STATUS_OK;
}

enum status parsed_block_read(const struct parsed_table *parsed, const struct parsed_block *block,
                              uint32_t column, uint32_t from, uint32_t count, unsigned thread, void *values,
                              uint8_t *nulls, bool *any_null, struct error *error)
{
    if (column >= parsed->table->column_count) {
        const int32_t *const found = block->found[column - parsed->table->column_count] + from;
        *any_null = false;
        for (uint32_t i = 0; i < count; i++) {
            ((int32_t *)values)[i] = found[i] < 0 ? 0 : found[i];
            nulls[i] = found[i] < 0;
            *any_null |= found[i] < 0;
        }
        return STATUS_OK;
    }
    const uint64_t bytes = column_schema_value_bytes(&parsed->table->columns[column]);
    if (parsed_later(parsed, column))
        return columnar_column_read(parsed->columnar, (uint64_t)(block - parsed->blocks), column,
                                    &(struct columnar_row_range){from, count}, thread, values, nulls,
                                    any_null, error);
    if (!block->kept) {
        *any_null = block->nulls[column] != NULL;
        memcpy(values, (const uint8_t *)block->values[column] + from * bytes, count * bytes);
        if (*any_null)
            memcpy(nulls, block->nulls[column] + from, count);
        return STATUS_OK;
    }
    *any_null = block->kept_nulls[column] != KEPT_NOWHERE;
    RETURN_IF_ERROR(
        spool_get(&parsed->spool, block->kept[column] + from * bytes, values, count * bytes, error));
    return *any_null ? spool_get(&parsed->spool, block->kept_nulls[column] + from, nulls, count, error)
                     : STATUS_OK;
}

enum status block_column_read(const struct parsed_table *parsed, const struct parsed_block *block,
                              uint32_t column, unsigned thread, struct block_column *read,
                              struct error *error)
{
    const uint32_t bytes = column_schema_value_bytes(&parsed->table->columns[column]);
    *read = (struct block_column){.value_bytes = bytes};
    if (block->rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&read->values, (uint64_t)block->rows * bytes, "rows", error));
    RETURN_IF_ERROR(memory_take(&read->nulls, block->rows, "rows", error));
    return parsed_block_read(parsed, block, column, 0, block->rows, thread, read->values, read->nulls,
                             &read->any_null, error);
}

void block_column_free(struct block_column *column)
{
    free(column->values);
    free(column->nulls);
    *column = (struct block_column){0};
}

enum status parsed_blocks_ahead(const struct parsed_table *parsed, uint64_t first, uint64_t count,
                                uint32_t column, unsigned thread, struct error *error)
{
    return parsed_later(parsed, column) && count
               ? columnar_column_ahead(parsed->columnar, first, count, column, thread, error)
               : STATUS_OK;
}

uint64_t parsed_read_bytes(const struct parsed_table *parsed)
{
    return parsed->columnar ? columnar_column_bytes(parsed->columnar) : 0;
}

void parsed_row_place(const struct parsed_table *parsed, uint64_t row, char text[KEY_PLACE_BYTES])
{
    uint64_t before = 0;
    for (uint64_t b = 0; b < parsed->block_count; before += parsed->blocks[b++].rows) {
        const struct parsed_block *block = &parsed->blocks[b];
        if (row < before + block->rows && block->path) {
            const uint64_t line = block->lines ? block->lines[row - before] : row - before;
            snprintf(text, KEY_PLACE_BYTES, block->counts_rows ? "%.500s, row %llu" : "%.500s:%llu",
                     block->path, (unsigned long long)(block->first_line + line));
            return;
        }
    }
    snprintf(text, KEY_PLACE_BYTES,
             parsed->parse->options->of_statement ? "inserted row %llu" : "row %llu of the stream",
             (unsigned long long)row + 1);
}

/* ---- Complaints ---- */

static const char key_missing[] = "is no key of the table that it references";

void row_key_complaint(char text[ERROR_TEXT_BYTES], const char *place, const struct column_schema *column,
                       const char *shown, const struct load_options *options)
{
    snprintf(text, ERROR_TEXT_BYTES, "%.600s: column %s: no row of table %s has %s '%s'%s", place,
             column->name, column->references_table, column->references_column, shown,
             options->dangling_null  ? ", and the column is NOT NULL"
             : options->of_statement ? ""
                                     : " (--dangling null stores NULL for such keys)");
}

void row_complaint(char text[ERROR_TEXT_BYTES], const char *place, const struct row_parse *parse, uint32_t c,
                   const char *shown, const char *complaint)
{
    const struct column_schema *const column = &parse->parsed->table->columns[c];
    char range[TEXT_RANGE_BYTES] = "";
    if (complaint == key_missing) {
        row_key_complaint(text, place, column, shown, parse->options);
        return;
    }
    if (complaint == text_out_of_range)
        text_value_range(parse->keys[c] ? &parse->keys[c]->key : column, range);
    snprintf(text, ERROR_TEXT_BYTES, "%.600s: column %s: '%s' %s%s%s%s", place, column->name, shown,
             complaint, parse->options->of_statement ? "" : text_value_advice(complaint),
             range[0] ? ": the column holds " : "", range);
}

static void place_of(const struct text_block *block, uint32_t row, char place[KEY_PLACE_BYTES])
{
    snprintf(place, KEY_PLACE_BYTES, "%s:%llu", block->path, (unsigned long long)block->row_line[row]);
}

static void put_quoted(FILE *out, const char *text, size_t bytes)
{
    putc('"', out);
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '"')
            putc('"', out);
        putc(text[i], out);
    }
    putc('"', out);
}

/* Writes the row as CSV: file,line,reason,row. The reason is what the sentence says after the place. */
static void put_rejected(struct rejects *rejects, const struct bad_row *row, const char *text)
{
    FILE *const out = rejects->file;
    const char *const file = row->file ? row->file : "";
    const bool begins = strncmp(text, file, strlen(file)) == 0;
    const char *const colon = strstr(begins ? text + strlen(file) : text, ": "), *const reason =
                                                                                     colon ? colon + 2 : text;
    size_t bytes = row->bytes;
    bytes -= bytes && row->text[bytes - 1] == '\n';
    bytes -= bytes && row->text[bytes - 1] == '\r';
    if (rejects->count == 1)
        fputs("file,line,reason,row\n", out);
    put_quoted(out, file, strlen(file));
    fprintf(out, ",%llu,", (unsigned long long)row->line);
    put_quoted(out, reason, strlen(reason));
    putc(',', out);
    if (row->text)
        put_quoted(out, row->text, bytes);
    putc('\n', out);
    if (ferror(out) && !rejects->failed)
        rejects->failed = errno;
}

enum status row_reject(struct row_parse *parse, uint64_t block, const struct bad_row *row, const char *text)
{
    struct rejects *rejects = parse->rejects;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&parse->lock);
    if (rejects->count < rejects->most) {
        if (rejects->count++ == 0 ||
            (rejects->first_table == parse->parsed->table && block < rejects->first_block)) {
            error_text_escape(rejects->first, sizeof rejects->first, text);
            rejects->first_table = parse->parsed->table;
            rejects->first_block = block;
        }
        if (rejects->file)
            put_rejected(rejects, row, text);
    } else {
        status = STATUS_BAD_INPUT;
        parse->stop = true;
        if (block < parse->error_block) {
            parse->error_block = block;
            error_set(&parse->error, STATUS_BAD_INPUT, "%.900s; %s", text,
                      parse->options->advice         ? parse->options->advice
                      : parse->options->of_statement ? "nothing was changed"
                      : rejects->most                ? "more rows are bad than --max-errors allows"
                                      : "nothing was loaded (--max-errors N leaves bad rows out)");
        }
    }
    pthread_mutex_unlock(&parse->lock);
    return status;
}

static enum status reject(struct row_parse *parse, const struct text_block *block, uint32_t row,
                          const char *text)
{
    const struct bad_row bad = {block->path, block->row_line[row], block->row_text[row],
                                (size_t)(block->row_text[row + 1] - block->row_text[row])};
    return row_reject(parse, block->number, &bad, text);
}

/* ---- One row ---- */

const char *row_key_missing(const struct row_parse *parse, const struct column_schema *column, bool *null)
{
    *null = parse->options->dangling_null && column->nullable;
    return *null ? NULL : key_missing;
}

/* Gives the stored value of a field, or sets *null if it has none. Returns the complaint about a wrong field,
 * or NULL. */
static const char *field_value(const struct row_parse *parse, const struct column_schema *column, uint32_t c,
                               const struct text_field *field, int64_t *value, bool *null)
{
    const struct table_keys *const keys = parse->keys[c];
    const struct text_reading *const reading = &parse->readings[c];
    const char *complaint;
    *null = field->length == TEXT_NULL;
    *value = 0;
    if (*null)
        return column->nullable ? NULL : "is NULL, but the column is NOT NULL";
    if (!keys)
        return text_value(reading, column, field->text, field->length, value);
    *value = table_keys_find(keys, reading, field->text, field->length, &complaint);
    if (complaint || *value >= 0)
        return complaint;
    *value = 0;
    return row_key_missing(parse, column, null);
}

enum status row_put(const struct row_parse *parse, struct parsed_block *block, uint32_t column, uint32_t rows,
                    int64_t value, bool null, struct error *error)
{
    const uint32_t row = block->rows;
    if (parse->value_bytes[column] == 4)
        ((int32_t *)block->values[column])[row] = (int32_t)value;
    else
        ((int64_t *)block->values[column])[row] = value;
    if (null && !block->nulls[column] && !(block->nulls[column] = calloc(rows, 1)))
        return error_out_of_memory(error, rows, "NULLs");
    if (block->nulls[column])
        block->nulls[column][row] = null;
    return STATUS_OK;
}

/* Whether a first line that was read as a row contains a column's name. */
static bool looks_like_header(const struct row_parse *parse, const struct text_block *block, uint32_t row)
{
    const struct schema_table *table = parse->parsed->table;
    const struct text_field *fields = &block->fields[(size_t)row * table->column_count];
    if (block->row_line[row] != 1 || parse->options->text.header != TEXT_HEADER_AUTO)
        return false;
    for (uint32_t f = 0; f < table->column_count; f++)
        for (uint32_t c = 0; c < table->column_count; c++)
            if (fields[f].length == strlen(table->columns[c].name) &&
                word_compare_bytes(fields[f].text, table->columns[c].name, fields[f].length) == 0)
                return true;
    return false;
}

/* A block of text whose rows fail conditions. */
struct failing {
    struct row_parse *parse;
    const struct text_block *block;
};

static enum status reject_failed(void *context, uint32_t row, const char *says)
{
    const struct failing *const failing = context;
    char text[ERROR_TEXT_BYTES], place[KEY_PLACE_BYTES];
    place_of(failing->block, row, place);
    snprintf(text, sizeof text, "%.600s: the row %s", place, says);
    return reject(failing->parse, failing->block, row, text);
}

/* Tests the rows so far by the conditions of CHECK, so that bad rows are told in their order. */
static enum status test_rows(struct row_parse *parse, const struct text_block *block, unsigned thread,
                             struct parsed_block *to, struct error *error)
{
    struct failing failing = {parse, block};
    return parse->checks ? row_checks_test(parse, thread, to, reject_failed, &failing, error) : STATUS_OK;
}

/* Parses one row; a bad one is skipped. An error status means that it ends the load. */
static enum status parse_row(struct row_parse *parse, const struct text_block *block, uint32_t row,
                             unsigned thread, struct parsed_block *to, struct error *error)
{
    const struct schema_table *table = parse->parsed->table;
    const struct text_field *const fields = &block->fields[(size_t)row * table->column_count];
    for (uint32_t c = 0; c < table->column_count; c++) {
        const struct column_schema *column = &table->columns[c];
        const struct text_field *field = &fields[c];
        struct dictionary_builder *const words = parse->parsed->words[thread * table->column_count + c];
        int64_t value = 0;
        bool null = field->length == TEXT_NULL;
        const char *complaint = NULL;
        if (words && !null) {
            int32_t code;
            RETURN_IF_ERROR(dictionary_builder_add(words, field->text, field->length, &code, error));
            value = code;
        } else {
            complaint = field_value(parse, column, c, field, &value, &null);
        }
        if (complaint) {
            char text[ERROR_TEXT_BYTES], place[KEY_PLACE_BYTES], shown[TEXT_SHOWN_BYTES] = "";
            place_of(block, row, place);
            if (field->length != TEXT_NULL)
                text_printable(field->text, field->length, shown);
            row_complaint(text, place, parse, c, shown, complaint);
            if (looks_like_header(parse, block, row))
                strncat(text, "; if this line is a header, its names must be those of all columns",
                        ERROR_TEXT_BYTES - 1 - strlen(text));
            RETURN_IF_ERROR(test_rows(parse, block, thread, to, error));
            return reject(parse, block, row, text);
        }
        RETURN_IF_ERROR(row_put(parse, to, c, block->rows, value, null, error));
    }
    if (parse->checks)
        RETURN_IF_ERROR(row_checks_row(parse->checks, thread, to->rows, row, fields, error));
    if (to->lines)
        to->lines[to->rows] = (uint32_t)(block->row_line[row] - to->first_line);
    to->rows++;
    return STATUS_OK;
}

/* ---- Blocks ---- */

enum status row_block_begin(const struct row_parse *parse, uint32_t rows, unsigned thread,
                            struct parsed_block *to, struct error *error)
{
    const uint32_t columns = parse->parsed->table->column_count;
    *to = (struct parsed_block){.thread = thread,
                                .values = calloc(columns, sizeof *to->values),
                                .nulls = calloc(columns, sizeof *to->nulls)};
    bool fits = to->values && to->nulls;
    for (uint32_t c = 0; fits && c < columns; c++)
        if (!parsed_later(parse->parsed, c) &&
            (fits = (to->values[c] = malloc((size_t)rows * parse->value_bytes[c] + 1)) != NULL))
            huge_pages_prefer(to->values[c], (uint64_t)rows * parse->value_bytes[c]);
    return fits ? STATUS_OK : error_out_of_memory(error, (uint64_t)rows * columns * 4, "rows");
}

/* Keeps the block in memory within the budget, or moves it to the spool. */
static enum status block_hold(struct row_parse *parse, struct parsed_block *block, struct error *error)
{
    struct parsed_table *parsed = parse->parsed;
    const uint64_t bytes = block_bytes(parsed, block);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&parse->lock);
    const bool fits = parsed->held.bytes + bytes <= parsed->hold_most &&
                      memory_charge_add(&parsed->held, bytes, "a load", NULL) == STATUS_OK;
    if (!fits && parsed->spool.descriptor < 0)
        status = spool_open(&parsed->spool, "a load with so little --memory", error);
    pthread_mutex_unlock(&parse->lock);
    return status == STATUS_OK && !fits && block->rows ? spill(parsed, block, error) : status;
}

/* Puts the block in its place by its number. */
static enum status block_keep(struct row_parse *parse, uint64_t number, const struct parsed_block *block,
                              struct error *error)
{
    struct parsed_table *parsed = parse->parsed;
    enum status status = STATUS_OK;
    pthread_mutex_lock(&parse->lock);
    if (number >= parsed->block_room) {
        uint64_t room = parsed->block_room ? parsed->block_room : 64;
        while (room <= number)
            room *= 2;
        status = memory_grow(&parsed->blocks, room * sizeof *parsed->blocks, "rows", error);
        if (status == STATUS_OK) {
            memset(parsed->blocks + parsed->block_room, 0,
                   (room - parsed->block_room) * sizeof *parsed->blocks);
            parsed->block_room = room;
        }
    }
    if (status == STATUS_OK) {
        parsed->blocks[number] = *block;
        parsed->block_count = number + 1 > parsed->block_count ? number + 1 : parsed->block_count;
        parsed->rows += block->rows;
        if (parse->progress)
            atomic_store_explicit(&parse->progress->rows, parsed->rows, memory_order_relaxed);
    }
    pthread_mutex_unlock(&parse->lock);
    return status;
}

enum status row_block_end(struct row_parse *parse, uint64_t number, struct parsed_block *block,
                          enum status status, struct error *error)
{
    status = AND_THEN(status, block_hold(parse, block, error));
    status = AND_THEN(status, block_keep(parse, number, block, error));
    if (status != STATUS_OK)
        block_free(block, parse->parsed->table);
    return status;
}

/* Prefetches what the strings of the next rows are looked up in: a dictionary, or the keys that they reference. */
static void words_prefetch(const struct row_parse *parse, const struct text_block *block, uint32_t first,
                           unsigned thread)
{
    const uint32_t columns = parse->parsed->table->column_count, left = block->rows - first,
                   rows = left < DICTIONARY_PREFETCH ? left : DICTIONARY_PREFETCH;
    for (uint32_t c = 0; c < columns; c++) {
        const struct table_keys *const keys = parse->keys[c];
        const struct dictionary_builder *const words =
            keys ? keys->strings : parse->parsed->words[thread * columns + c];
        const char *strings[DICTIONARY_PREFETCH];
        uint32_t lengths[DICTIONARY_PREFETCH], count = 0;
        for (uint32_t row = first; words && row < first + rows; row++) {
            const struct text_field *const field = &block->fields[(size_t)row * columns + c];
            strings[count] = field->text;
            lengths[count] = field->length;
            count += field->length != TEXT_NULL;
        }
        if (count)
            dictionary_builder_prefetch(words, strings, lengths, count);
    }
}

static enum status parse_block(struct row_parse *parse, const struct text_block *block, unsigned thread,
                               struct error *error)
{
    struct parsed_block to;
    enum status status = row_block_begin(parse, block->rows, thread, &to, error);
    if (status == STATUS_OK && parse->keyed && block->rows) {
        to.path = block->path;
        to.first_line = block->row_line[0];
        to.lines = malloc(block->rows * sizeof *to.lines);
        if (!to.lines)
            status = error_out_of_memory(error, block->rows * sizeof *to.lines, "lines");
    }
    if (status == STATUS_OK && parse->checks)
        status = row_checks_begin(parse->checks, thread, block->rows, error);
    for (uint32_t row = 0, fault = 0; status == STATUS_OK && row < block->rows; row++) {
        if (row % DICTIONARY_PREFETCH == 0 && block->fault_count == 0) /* a fault's fields mean nothing */
            words_prefetch(parse, block, row, thread);
        if (fault < block->fault_count && block->faults[fault].row == row) {
            char text[ERROR_TEXT_BYTES], place[KEY_PLACE_BYTES];
            place_of(block, row, place);
            snprintf(text, sizeof text, "%s: the row %s", place, block->faults[fault++].complaint);
            status = test_rows(parse, block, thread, &to, error);
            status = AND_THEN(status, reject(parse, block, row, text));
            continue;
        }
        status = parse_row(parse, block, row, thread, &to, error);
    }
    status = AND_THEN(status, test_rows(parse, block, thread, &to, error));
    return row_block_end(parse, block->number, &to, status, error);
}

static void report_bytes(const struct row_parse *parse)
{
    char what[NAME_BYTES + 16];
    uint64_t done, all;
    snprintf(what, sizeof what, "reading %s", parse->parsed->table->name);
    text_source_progress(parse->source, &done, &all);
    progress_report(parse->progress, what, "bytes", done, all);
}

static enum status parse_blocks(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct row_parse *parse = context;
    struct text_block block = {0};
    enum status status = STATUS_OK;
    uint64_t read = 0;
    (void)item;
    for (bool stop = false; status == STATUS_OK && !stop;) {
        pthread_mutex_lock(&parse->lock);
        stop = parse->stop;
        pthread_mutex_unlock(&parse->lock);
        if (stop)
            break;
        status = text_source_next(parse->source, &block, error);
        if (status != STATUS_OK || block.rows == 0)
            break;
        status = parse_block(parse, &block, thread, error);
        report_bytes(parse);
        read += block.rows;
        stop = parse->options->first_rows && read >= parse->options->first_rows;
        status = AND_THEN(status, cancel_check(error));
    }
    text_block_free(&block);
    return status;
}

static enum status words_create(struct parsed_table *parsed, struct error *error)
{
    const uint32_t columns = parsed->table->column_count;
    RETURN_IF_ERROR(memory_zeros(&parsed->words, (size_t)parsed->threads * columns * sizeof *parsed->words,
                                 "dictionaries", error));
    for (uint32_t i = 0; i < parsed->threads * columns; i++)
        if (is_word(&parsed->table->columns[i % columns]))
            RETURN_IF_ERROR(dictionary_builder_create(&parsed->words[i], error));
    return STATUS_OK;
}

/* The columnar format of the first file that has one; NULL: all are text. */
static enum status find_format(const struct load_input *input, const struct columnar_format **format,
                               struct error *error)
{
    *format = NULL;
    for (uint32_t p = 0; p < input->path_count && !*format; p++)
        RETURN_IF_ERROR(columnar_format_find(input->paths[p], format, error));
    return STATUS_OK;
}

static bool has_unique(const struct schema_table *table)
{
    for (uint32_t c = 0; table->unique && c < table->column_count; c++)
        if (table->unique[c])
            return true;
    return false;
}

enum status table_rows_parse(const struct schema_table *table, const struct load_input *input,
                             const struct load_options *options, const struct table_keys *const *keys,
                             struct rejects *rejects, struct parsed_table *parsed, struct progress *progress,
                             struct error *error)
{
    const char *names[SCHEMA_COLUMNS_MAX];
    struct text_options text = options->text;
    struct row_parse *parse;
    RETURN_IF_ERROR(memory_zeros(&parse, sizeof *parse, "a load", error));
    *parsed = (struct parsed_table){.table = table,
                                    .threads = options->threads,
                                    .hold_most = execution_memory()->limit / 2,
                                    .spool = {.descriptor = -1},
                                    .parse = parse};
    parse->options = options;
    text.columns = input->columns;
    text.encoding = input->encoding ? input->encoding : text.encoding;
    parse->keys = keys;
    parse->parsed = parsed;
    parse->rejects = rejects;
    parse->progress = progress;
    parse->error_block = UINT64_MAX;
    parse->keyed = schema_key(table) || has_unique(table) || table->tuple_count || table->reference_count;
    pthread_mutex_init(&parse->lock, NULL);
    for (uint32_t c = 0; c < table->column_count; c++) {
        names[c] = table->columns[c].name;
        parse->value_bytes[c] = column_schema_value_bytes(&table->columns[c]);
        parse->readings[c] = reading_of(&options->text, table->name, names[c]);
    }
    if (!input->maker)
        progress_step(progress, "reading", table->name);
    const struct columnar_format *format = NULL;
    enum status status = words_create(parsed, error);
    if (status == STATUS_OK && !input->stream && !input->maker)
        status = find_format(input, &format, error);
    status =
        AND_THEN(status, row_checks_create(table, parse->readings, options->threads, &parse->checks, error));
    if (status == STATUS_OK && input->stream)
        status = arrow_rows_read(parse, input->stream, error);
    else if (status == STATUS_OK && input->maker)
        status = made_rows_read(parse, input->maker, error);
    else if (status == STATUS_OK && format)
        status = columnar_rows_read(parse, format, input, error);
    else if (status == STATUS_OK)
        status = text_source_open(input->paths, input->path_count, names, table->column_count, &text,
                                  &parse->source, error);
    if (status == STATUS_OK && parse->source)
        status = parallel_for(options->threads, options->threads, parse_blocks, parse, error);
    if (status == STATUS_OK && parse->error.status == STATUS_OK)
        status = table_checks_test(parsed, !parse->source, error);
    if (parse->error.status != STATUS_OK && status != STATUS_INTERRUPTED) {
        status = parse->error.status;
        if (error)
            *error = parse->error;
    }
    if (progress)
        atomic_store_explicit(&progress->rows, 0, memory_order_relaxed);
    text_source_close(parse->source);
    parse->source = NULL;
    return status;
}
