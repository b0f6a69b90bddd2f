/* table_columns.c: makes columns from the rows of all blocks, segment by segment
 * (table_loader_internal.h). */
#include "loader/table/table_loader_internal.h"

#include "storage/base/huge_pages.h"
#include "storage/base/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Merging the threads' codes to one dictionary ---- */

void word_codes_free(struct word_codes *words)
{
    for (unsigned t = 0; words->codes && t < words->threads; t++)
        free(words->codes[t]);
    free(words->codes);
    if (!words->borrowed)
        dictionary_builder_destroy(words->all);
    *words = (struct word_codes){0};
}

static struct dictionary_builder *builder_of(const struct parsed_table *parsed, unsigned thread, uint32_t c)
{
    return parsed->words[thread * parsed->table->column_count + c];
}

uint64_t parsed_word_count(const struct parsed_table *parsed, uint32_t c)
{
    uint64_t count = 0;
    for (unsigned t = 0; t < parsed->threads && c < parsed->table->column_count && builder_of(parsed, t, c);
         t++)
        count += dictionary_builder_count(builder_of(parsed, t, c));
    return count;
}

/* Gives words->all: a new builder, or that of a thread, whose number is the result; else UINT_MAX. */
static enum status take_builder(const struct parsed_table *parsed, uint32_t c, bool last,
                                struct word_codes *words, unsigned *taken, struct error *error)
{
    *taken = UINT_MAX;
    if (!last)
        return dictionary_builder_create(&words->all, error);
    *taken = 0;
    for (unsigned t = 1; t < parsed->threads; t++)
        if (dictionary_builder_count(builder_of(parsed, t, c)) >
            dictionary_builder_count(builder_of(parsed, *taken, c)))
            *taken = t;
    words->all = builder_of(parsed, *taken, c);
    words->borrowed = true;
    return STATUS_OK;
}

enum status word_codes_make(const struct parsed_table *parsed, uint32_t c, const struct column *old,
                            bool last, struct word_codes *words, struct error *error)
{
    const int32_t *sorted;
    const struct dictionary *before = NULL;
    unsigned taken;
    int32_t code;
    words->threads = parsed->threads;
    if (old)
        RETURN_IF_ERROR(column_dictionary(old, 1, &before, error));
    RETURN_IF_ERROR(
        memory_zeros(&words->codes, parsed->threads * sizeof *words->codes, "dictionaries", error));
    RETURN_IF_ERROR(take_builder(parsed, c, last, words, &taken, error));
    const uint32_t taken_count = last ? dictionary_builder_count(words->all) : 0;
    for (uint32_t b = 0; before && b < before->count; b++) {
        uint32_t length;
        const char *text = dictionary_string(before, b, &length);
        RETURN_IF_ERROR(dictionary_builder_add(words->all, text, length, &code, error));
    }
    for (unsigned t = 0; t < parsed->threads; t++) {
        const struct dictionary_builder *own = builder_of(parsed, t, c);
        const uint64_t count = t == taken ? taken_count : dictionary_builder_count(own);
        RETURN_IF_ERROR(
            memory_take(&words->codes[t], (count + 1) * sizeof **words->codes, "dictionaries", error));
        if (t != taken)
            RETURN_IF_ERROR(dictionary_builder_merge(words->all, own, words->codes[t], error));
    }
    RETURN_IF_ERROR(dictionary_builder_sort(words->all, &words->dictionary, &sorted, error));
    for (unsigned t = 0; t < parsed->threads; t++) {
        const uint32_t count = t == taken ? taken_count : dictionary_builder_count(builder_of(parsed, t, c));
        for (uint32_t i = 0; i < count; i++)
            words->codes[t][i] = sorted[t == taken ? (int32_t)i : words->codes[t][i]];
    }
    return STATUS_OK;
}

enum status column_gather(const struct parsed_table *parsed, uint32_t column, const struct word_codes *words,
                          int64_t *values, uint64_t *rows, uint64_t *count, struct error *error)
{
    uint64_t first = 0;
    *count = 0;
    for (uint64_t b = 0; b < parsed->block_count; first += parsed->blocks[b++].rows) {
        const struct parsed_block *const block = &parsed->blocks[b];
        const int32_t *const codes = words ? words->codes[parsed_block_thread(block, column)] : NULL;
        struct block_column read;
        const enum status status = block_column_read(parsed, block, column, 0, &read, error);
        for (uint32_t row = 0; status == STATUS_OK && row < block->rows; row++) {
            if (rows && block_column_null(&read, row))
                continue;
            const int64_t value = block_column_value(&read, row);
            if (rows)
                rows[*count] = first + row;
            values[(*count)++] = codes ? codes[value] : value;
        }
        block_column_free(&read);
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

/* ---- Segments ---- */

void column_progress_begin(struct column_progress *progress, const char *verb, const char *table)
{
    snprintf(progress->what, sizeof progress->what, "%s %s", verb, table);
    progress_report(progress->progress, progress->what, "rows", 0, progress->rows);
}

void column_progress_add(struct column_progress *progress, uint64_t values)
{
    const uint64_t done = atomic_fetch_add(&progress->done, values) + values;
    /* a table without rows has no values, and no share of them */
    const double share = progress->values ? (double)done / (double)progress->values : 1;
    progress_report(progress->progress, progress->what, "rows", (uint64_t)(share * (double)progress->rows),
                    progress->rows);
}

void progress_step(struct progress *progress, const char *verb, const char *name)
{
    char what[NAME_BYTES + 32];
    snprintf(what, sizeof what, "%s %s", verb, name);
    progress_report(progress, what, "", 0, 0);
}

/* The buffers for gathering a segment: a block's NULLs, and its values if they are narrowed. */
struct gathering {
    uint8_t *nulls;
    int64_t *wide;
    uint32_t room;
};

static enum status gathering_reserve(struct gathering *gathering, uint32_t count, bool wide,
                                     struct error *error)
{
    if (count <= gathering->room)
        return STATUS_OK;
    free(gathering->nulls);
    free(gathering->wide);
    *gathering = (struct gathering){
        .nulls = malloc(count), .wide = wide ? malloc(count * sizeof(int64_t)) : NULL, .room = count};
    return gathering->nulls && (!wide || gathering->wide) ? STATUS_OK
                                                          : error_out_of_memory(error, 9ull * count, "rows");
}

enum status column_narrow(const struct parsed_table *parsed, uint32_t column, bool *narrow,
                          struct error *error)
{
    enum status status = STATUS_OK;
    bool beyond = false;
    for (uint64_t b = 0; b < parsed->block_count && status == STATUS_OK; b++) {
        struct block_column read;
        status = block_column_read(parsed, &parsed->blocks[b], column, 0, &read, error);
        for (uint32_t i = 0; i < parsed->blocks[b].rows && status == STATUS_OK; i++) {
            const int64_t value = block_column_value(&read, i);
            beyond |= value != (int32_t)value;
        }
        block_column_free(&read);
    }
    *narrow = !beyond;
    return status;
}

/* Copies rows from .. from + count - 1 of a block into the segment, from place `to` on. */
static enum status gather_block(const struct column_write *write, const struct parsed_block *block,
                                uint32_t from, uint32_t count, void *values, uint32_t to, uint64_t *validity,
                                bool *any_null, struct gathering *gathering, struct error *error)
{
    int32_t *const codes = values;
    const int32_t *const words =
        write->words ? write->words->codes[parsed_block_thread(block, write->column)] : NULL;
    bool nulls;
    RETURN_IF_ERROR(gathering_reserve(gathering, count, write->narrow, error));
    RETURN_IF_ERROR(parsed_block_read(write->parsed, block, write->column, from, count, write->thread,
                                      write->narrow ? gathering->wide : values, gathering->nulls, &nulls,
                                      error));
    for (uint32_t i = 0; write->narrow && i < count; i++)
        codes[i] = (int32_t)gathering->wide[i];
    for (uint32_t i = 0; words && i < count; i++)
        codes[i] = nulls && gathering->nulls[i] ? 0 : words[codes[i]];
    for (uint32_t i = 0; nulls && i < count; i++)
        if (gathering->nulls[i]) {
            validity[(to + i) / 64] &= ~(1ull << (to + i) % 64);
            *any_null = true;
        }
    return STATUS_OK;
}

/* Copies rows [first, first + rows) from their blocks into the segment, from place `to` on. */
static enum status gather(const struct column_write *write, uint64_t first, uint32_t rows, uint32_t bytes,
                          uint8_t *values, uint32_t to, uint64_t *validity, bool *any_null,
                          struct gathering *gathering, struct error *error)
{
    uint64_t at = 0, begin = 0, end = 0;
    uint32_t filled = 0;
    for (; end < write->parsed->block_count && at < first + rows; at += write->parsed->blocks[end++].rows)
        begin = at <= first ? end : begin;
    RETURN_IF_ERROR(
        parsed_blocks_ahead(write->parsed, begin, end - begin, write->column, write->thread, error));
    at = 0;
    for (uint64_t b = 0; b < end && filled < rows; b++) {
        const struct parsed_block *block = &write->parsed->blocks[b];
        const uint64_t block_first = at;
        at += block->rows;
        if (at <= first + filled)
            continue;
        const uint32_t from = (uint32_t)(first + filled - block_first),
                       count = block->rows - from < rows - filled ? block->rows - from : rows - filled;
        RETURN_IF_ERROR(gather_block(write, block, from, count, values + (size_t)(to + filled) * bytes,
                                     to + filled, validity, any_null, gathering, error));
        filled += count;
    }
    return STATUS_OK;
}

/* Writes segment by segment; the first one may begin with old rows. */
static enum status write_segments(const struct column_write *write, uint32_t bytes, uint8_t *values,
                                  uint64_t *validity, struct gathering *gathering, struct error *error)
{
    struct old_rows old = {.segment = write->first_segment + (uint32_t)(write->first / SEGMENT_ROWS)};
    memset(validity, 0xff, (SEGMENT_ROWS / 64) * sizeof *validity);
    if (write->appends)
        RETURN_IF_ERROR(table_writer_old(write->writer, write->column, values, validity, &old, error));
    for (uint64_t first = write->first, here; first < write->end || old.rows; first += here) {
        const uint32_t room = SEGMENT_ROWS - old.rows;
        bool any_null = false;
        here = write->end - first < room ? write->end - first : room;
        RETURN_IF_ERROR(gather(write, first, (uint32_t)here, bytes, values, old.rows, validity, &any_null,
                               gathering, error));
        RETURN_IF_ERROR(table_writer_segment(write->writer, write->column, old.segment, values,
                                             any_null || old.nulls ? validity : NULL, error));
        column_progress_add(write->progress, old.rows + here);
        old = (struct old_rows){.segment = old.segment + 1};
        memset(validity, 0xff, (SEGMENT_ROWS / 64) * sizeof *validity);
        RETURN_IF_ERROR(cancel_check(error));
    }
    return STATUS_OK;
}

void column_buffers_free(struct column_buffers *buffers)
{
    free(buffers->values);
    free(buffers->validity);
    *buffers = (struct column_buffers){0};
}

static enum status column_buffers_reserve(struct column_buffers *buffers, uint64_t bytes, struct error *error)
{
    if (bytes > buffers->bytes) {
        column_buffers_free(buffers);
        RETURN_IF_ERROR(memory_take(&buffers->values, bytes, "a segment", error));
        huge_pages_prefer(buffers->values, bytes);
        buffers->bytes = bytes;
    }
    return buffers->validity ? STATUS_OK
                             : memory_take(&buffers->validity, SEGMENT_ROWS / 8, "a segment", error);
}

static uint32_t width_of(const struct column_write *write)
{
    return write->narrow ? 4 : column_schema_value_bytes(&write->parsed->table->columns[write->column]);
}

enum status column_read_segment(const struct column_write *write, bool *nulls, struct error *error)
{
    const uint32_t bytes = width_of(write), rows = (uint32_t)(write->end - write->first);
    struct gathering gathering = {0};
    *nulls = false;
    RETURN_IF_ERROR(column_buffers_reserve(write->buffers, (uint64_t)rows * bytes + 64, error));
    memset(write->buffers->validity, 0xff, SEGMENT_ROWS / 8);
    const enum status status = gather(write, write->first, rows, bytes, write->buffers->values, 0,
                                      write->buffers->validity, nulls, &gathering, error);
    free(gathering.nulls);
    free(gathering.wide);
    return status;
}

enum status column_write_segments(const struct column_write *write, struct error *error)
{
    const uint64_t rows = write->end - write->first + table_writer_old_most(write->writer);
    const uint32_t bytes = width_of(write);
    const uint32_t most = rows < SEGMENT_ROWS ? (uint32_t)rows : SEGMENT_ROWS;
    struct gathering gathering = {0};
    RETURN_IF_ERROR(column_buffers_reserve(write->buffers, (uint64_t)most * bytes + 64, error));
    const enum status status =
        write_segments(write, bytes, write->buffers->values, write->buffers->validity, &gathering, error);
    free(gathering.nulls);
    free(gathering.wide);
    return status;
}
