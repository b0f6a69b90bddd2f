/*
 * parquet_chunk_write.c: the chunk of one column in one row group (parquet_writing.h).
 *
 * Where each value comes three times or more, on an average, the chunk has a dictionary, in the order in which values come
 * first; it is given up as soon as it has too many. Numbers have one as strings do: what is compressed then is a few bits
 * a value instead of 8 bytes, which is smaller and takes less time. Strings of the answer's dictionaries are known by
 * their codes, views by their hashes.
 */
#include "engine/answer/parquet/parquet_writing.h"
#include "storage/base/double_key.h"
#include "storage/base/execution/execution.h"

#include <string.h>
#include <xxhash.h>

#define ENTRY_LEAST_USES 3u

/* Bytes of a page of strings, after the string that reaches them; of a dictionary's strings; and of what waits in
 * memory. */
#define PAGE_BYTES       (1u << 20)
#define DICTIONARY_BYTES (1u << 20)
#define WAITING_BYTES    (4u << 20)

/* A page's bytes are counted in 31 bits; half of them is room for whatever compresses badly. */
#define STRING_BYTES_MAX (1u << 30)

struct making {
    struct parquet_writing *writing;
    struct parquet_writer *own;
    const struct parquet_write_column *column;
    struct parquet_written_chunk *chunk;
    uint64_t number, first; /* of the chunk; of its rows */
    uint32_t rows;
    bool has_turn;
};

/* ---- The rows ---- */

static void find_present(struct making *making)
{
    const uint8_t *const nulls =
        making->column->from->nulls ? making->column->from->nulls + making->first : NULL;
    struct parquet_writer *const own = making->own;
    own->count = 0;
    for (uint32_t row = 0; row < making->rows; row++) {
        own->present[own->count] = row;
        own->count += !nulls || !nulls[row];
    }
    making->chunk->values = making->rows;
    making->chunk->nulls = making->rows - own->count;
}

static int compare_strings(struct string_value a, struct string_value b)
{
    const uint32_t both = a.length < b.length ? a.length : b.length;
    const int order = both ? memcmp(a.text, b.text, both) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static bool is_view(const struct rowset_column *from)
{
    return from->views != NULL;
}

/* Negative if row a's value is less than row b's, positive if it is greater. Codes have the order of their strings, and
 * keys that of their doubles. */
static int compare(const struct rowset_column *from, uint64_t a, uint64_t b)
{
    if (is_view(from))
        return compare_strings(rowset_string(from, a), rowset_string(from, b));
    return (from->values[a] > from->values[b]) - (from->values[a] < from->values[b]);
}

/* Finds the least and the greatest value of the rows, which have all that are there. NaN is no value in this order. */
static void find_range(struct making *making, const uint32_t *rows, uint32_t count)
{
    const struct rowset_column *const from = making->column->from;
    struct parquet_written_chunk *const chunk = making->chunk;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t row = making->first + rows[i];
        if (from->type.kind == VALUE_DOUBLE && from->values[row] == DOUBLE_KEY_NAN)
            continue;
        if (!chunk->has_range) {
            chunk->least = chunk->greatest = row;
            chunk->has_range = true;
        } else if (compare(from, row, chunk->least) < 0) {
            chunk->least = row;
        } else if (compare(from, row, chunk->greatest) > 0) {
            chunk->greatest = row;
        }
    }
}

/* ---- The dictionary ---- */

struct sought {
    const struct making *making;
    uint64_t row;
};

static bool same_number(const void *context, uint32_t entry)
{
    const struct sought *const sought = context;
    const int64_t *const values = sought->making->column->from->values;
    return values[sought->making->first + sought->making->own->entries[entry]] == values[sought->row];
}

static bool same_view(const void *context, uint32_t entry)
{
    const struct sought *const sought = context;
    const struct rowset_column *const from = sought->making->column->from;
    return compare(from, sought->making->first + sought->making->own->entries[entry], sought->row) == 0;
}

static uint32_t find_entry(const struct making *making, uint64_t row)
{
    const struct rowset_column *const from = making->column->from;
    struct parquet_writer *const own = making->own;
    const struct sought sought = {making, row};
    if (!is_view(from))
        return hash_table_put(&own->table, hash_mix((uint64_t)from->values[row]), own->entry_count,
                              same_number, &sought);
    const struct string_value string = rowset_string(from, row);
    return hash_table_put(&own->table, string.length ? XXH3_64bits(string.text, string.length) : 0,
                          own->entry_count, same_view, &sought);
}

/* Fills entries and codes. No entries: there are too many. */
static enum status make_dictionary(struct making *making, struct error *error)
{
    struct parquet_writer *const own = making->own;
    const struct rowset_column *const from = making->column->from;
    const uint32_t most = own->count / ENTRY_LEAST_USES;
    size_t bytes = 0;
    own->entry_count = 0;
    if (making->column->physical == PARQUET_BOOLEAN)
        return STATUS_OK;
    hash_table_clear(&own->table);
    RETURN_IF_ERROR(hash_table_reserve(&own->table, most + 1, "a dictionary to write", error));
    for (uint32_t i = 0; i < own->count; i++) {
        const uint64_t row = making->first + own->present[i];
        if (i && !is_view(from) && from->values[row] == from->values[making->first + own->present[i - 1]]) {
            own->codes[i] = own->codes[i - 1];
            continue;
        }
        const uint32_t found = find_entry(making, row);
        own->codes[i] = found == HASH_TABLE_NONE ? own->entry_count : found;
        if (found != HASH_TABLE_NONE)
            continue;
        own->entries[own->entry_count++] = own->present[i];
        if (making->column->physical == PARQUET_BYTES)
            bytes += rowset_string(from, row).length;
        if (own->entry_count > most || bytes > DICTIONARY_BYTES) {
            own->entry_count = 0;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

/* ---- Pages ---- */

/* Writes what waits, when it is the chunk's turn. Nothing is written after another one's failure, which ends the file. */
static enum status write_out(struct making *making, struct error *error)
{
    struct ordered_output *const out = &making->writing->out;
    struct text_space *const waiting = &making->own->chunk;
    if (!making->has_turn) {
        if (!ordered_output_wait(out, making->number))
            return STATUS_OK;
        making->has_turn = true;
        making->chunk->offset = out->bytes;
    }
    RETURN_IF_ERROR(ordered_output_write(out, waiting->bytes, waiting->used, error));
    waiting->used = 0;
    return STATUS_OK;
}

/* The rows of a page that begins at a row, of which `present` are not NULL: all that are left or, of strings without a
 * dictionary, those until they have PAGE_BYTES. */
static enum status page_rows(const struct making *making, uint32_t begin, uint32_t *rows, uint32_t *present,
                             struct error *error)
{
    const struct rowset_column *const from = making->column->from;
    const bool cut = making->column->physical == PARQUET_BYTES && making->own->entry_count == 0;
    uint64_t bytes = 0;
    *rows = *present = 0;
    while (begin + *rows < making->rows && bytes < PAGE_BYTES) {
        const uint64_t row = making->first + begin + (*rows)++;
        if (from->nulls && from->nulls[row])
            continue;
        ++*present;
        if (!cut)
            continue;
        const uint32_t length = rowset_string(from, row).length;
        if (length > STRING_BYTES_MAX)
            return error_set(
                error, STATUS_BAD_INPUT,
                "column %.100s: a string of %u bytes is more than a page of Parquet may have, %u",
                making->column->name, length, STRING_BYTES_MAX);
        bytes += length;
    }
    return STATUS_OK;
}

static enum status put_data_pages(struct making *making, struct error *error)
{
    struct parquet_writer *const own = making->own;
    const struct rowset_column *const from = making->column->from;
    const bool coded = own->entry_count > 0;
    for (uint32_t begin = 0, done = 0, rows, present; begin < making->rows; begin += rows, done += present) {
        RETURN_IF_ERROR(page_rows(making, begin, &rows, &present, error));
        RETURN_IF_ERROR(parquet_put_levels(from->nulls ? from->nulls + making->first + begin : NULL, rows,
                                           &own->plain, error));
        if (coded)
            RETURN_IF_ERROR(
                parquet_put_codes(own->codes, own->count, own->entry_count, own->words, &own->plain, error));
        else
            RETURN_IF_ERROR(parquet_put_plain(making->column, making->first, own->present + done, present,
                                              &own->plain, error));
        RETURN_IF_ERROR(parquet_put_page(making->writing, own, PARQUET_PAGE_DATA,
                                         coded ? PARQUET_DICTIONARY : PARQUET_PLAIN, rows, making->chunk,
                                         error));
        if (own->chunk.used >= WAITING_BYTES)
            RETURN_IF_ERROR(write_out(making, error));
    }
    return STATUS_OK;
}

static enum status put_dictionary_page(struct making *making, struct error *error)
{
    struct parquet_writer *const own = making->own;
    RETURN_IF_ERROR(
        parquet_put_plain(making->column, making->first, own->entries, own->entry_count, &own->plain, error));
    RETURN_IF_ERROR(parquet_put_page(making->writing, own, PARQUET_PAGE_DICTIONARY, PARQUET_PLAIN,
                                     own->entry_count, making->chunk, error));
    making->chunk->dictionary_bytes = making->chunk->bytes;
    return STATUS_OK;
}

enum status parquet_chunk_write(struct parquet_writing *writing, struct parquet_writer *own, uint64_t number,
                                struct error *error)
{
    const uint32_t columns = writing->rows->column_count;
    const uint64_t group = number / columns;
    struct making making = {.writing = writing,
                            .own = own,
                            .column = &writing->columns[number % columns],
                            .chunk = &writing->chunks[number],
                            .number = number,
                            .first = group * PARQUET_GROUP_ROWS,
                            .rows = (uint32_t)parquet_group_rows(writing, group)};
    RETURN_IF_ERROR(cancel_check(error));
    own->chunk.used = own->plain.used = 0;
    find_present(&making);
    RETURN_IF_ERROR(make_dictionary(&making, error));
    if (own->entry_count)
        find_range(&making, own->entries, own->entry_count);
    else
        find_range(&making, own->present, own->count);
    if (own->entry_count)
        RETURN_IF_ERROR(put_dictionary_page(&making, error));
    RETURN_IF_ERROR(put_data_pages(&making, error));
    return write_out(&making, error);
}
