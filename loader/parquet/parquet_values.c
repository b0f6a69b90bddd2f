/* parquet_values.c: the pages of a column, their levels and their dictionary (parquet_values.h). */
#include "loader/parquet/parquet_values.h"

#include <string.h>

enum status parquet_page_damaged(const struct parquet_decoding *decoding, const char *what)
{
    return columnar_damaged(decoding->error, decoding->place, "page %u %s", decoding->page, what);
}

enum status parquet_take(const struct parquet_decoding *decoding, enum parquet_room room, uint64_t bytes,
                         void *pointer)
{
    if (bytes > decoding->most)
        return columnar_too_large(decoding->error, decoding->place, "its values take", bytes, decoding->most);
    return columnar_values_take(decoding->values, room, bytes, pointer, decoding->error);
}

enum status parquet_indices_decode(const struct parquet_decoding *decoding, struct parquet_bytes *bytes,
                                   uint32_t count, const uint32_t **indices)
{
    uint32_t *into, most = 0;
    if (!decoding->has_dictionary)
        return parquet_page_damaged(decoding, "has entries of a dictionary that is not there");
    RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_INDICES, 4ull * count, &into));
    const uint32_t width = bytes->at < bytes->end ? *bytes->at++ : UINT32_MAX;
    if (!parquet_runs_decode(bytes, width, count, into))
        return parquet_page_damaged(decoding, "does not have the entries of its values");
    for (uint32_t i = 0; i < count; i++)
        most = into[i] > most ? into[i] : most;
    if (most >= decoding->entry_count)
        return columnar_damaged(decoding->error, decoding->place,
                                "page %u has entry %u of a dictionary of %u", decoding->page, most,
                                decoding->entry_count);
    *indices = into;
    return STATUS_OK;
}

static bool is_text(const struct parquet_leaf *leaf)
{
    return leaf->meaning == PARQUET_TEXT || leaf->meaning == PARQUET_UUID;
}

/* ---- Pages ---- */

/* Of a column of NULLs; its physical type may be any, for which there is no room. */
static enum status has_no_values(const struct parquet_decoding *decoding)
{
    return parquet_page_damaged(decoding, "has values of a type without values");
}

static enum status take_dictionary(struct parquet_decoding *decoding, const struct parquet_page *page)
{
    struct parquet_bytes bytes = {page->bytes, page->bytes + page->byte_count};
    if (decoding->has_dictionary || decoding->rows_done)
        return parquet_page_damaged(decoding, "is a dictionary that does not come first");
    if (page->encoding != PARQUET_PLAIN && page->encoding != PARQUET_PLAIN_DICTIONARY)
        return parquet_page_damaged(decoding, "is a dictionary in an unknown encoding");
    if (page->values && decoding->leaf->meaning == PARQUET_NULLS)
        return has_no_values(decoding);
    decoding->has_dictionary = true;
    decoding->entry_count = page->values;
    return is_text(decoding->leaf) ? parquet_text_dictionary(decoding, &bytes)
                                   : parquet_numbers_dictionary(decoding, &bytes);
}

/* Finds the levels of a page: those of v1 are before the values, runs with their length. */
static bool levels_of(const struct parquet_page *page, struct parquet_bytes *levels,
                      struct parquet_bytes *bytes)
{
    uint32_t length;
    if (page->kind == PARQUET_PAGE_DATA_V2) {
        *levels = (struct parquet_bytes){page->levels, page->levels + page->level_bytes};
        return true;
    }
    if (page->level_encoding == PARQUET_BIT_PACKED) {
        *levels = *bytes;
        return true;
    }
    if (parquet_bytes_left(bytes) < sizeof length)
        return false;
    memcpy(&length, bytes->at, sizeof length);
    bytes->at += sizeof length;
    if (length > parquet_bytes_left(bytes))
        return false;
    *levels = (struct parquet_bytes){bytes->at, bytes->at + length};
    bytes->at += length;
    return true;
}

/* Decodes the levels of a page to nulls, which are made for the first NULL. *nulls: how many the page has. */
static enum status take_levels(struct parquet_decoding *decoding, const struct parquet_page *page,
                               struct parquet_bytes *bytes, uint32_t *nulls)
{
    const bool old = page->kind == PARQUET_PAGE_DATA && page->level_encoding == PARQUET_BIT_PACKED;
    struct parquet_bytes levels;
    *nulls = 0;
    if (!levels_of(page, &levels, bytes))
        return parquet_page_damaged(decoding, "ends within its levels");
    if (!old && parquet_runs_all_one(&levels, page->values)) {
        if (decoding->nulls)
            memset(decoding->nulls + decoding->rows_done, 0, page->values);
        return STATUS_OK;
    }
    if (!decoding->nulls) {
        RETURN_IF_ERROR(parquet_take(decoding, PARQUET_ROOM_NULLS, decoding->values->rows, &decoding->nulls));
        memset(decoding->nulls, 0, decoding->rows_done);
    }
    if (!parquet_levels_decode(&levels, old, page->values, decoding->nulls + decoding->rows_done, nulls))
        return parquet_page_damaged(decoding, "does not have the levels of its values");
    if (old)
        bytes->at = levels.at;
    return STATUS_OK;
}

static enum status take_data(struct parquet_decoding *decoding, const struct parquet_page *page)
{
    struct parquet_bytes bytes = {page->bytes, page->bytes + page->byte_count};
    uint32_t nulls = 0;
    if (page->values > decoding->values->rows - decoding->rows_done)
        return parquet_page_damaged(decoding, "has more values than the row group has rows");
    if (decoding->leaf->optional)
        RETURN_IF_ERROR(take_levels(decoding, page, &bytes, &nulls));
    const uint32_t count = page->values - nulls;
    if (count && decoding->leaf->meaning == PARQUET_NULLS)
        return has_no_values(decoding);
    if (count)
        RETURN_IF_ERROR(is_text(decoding->leaf)
                            ? parquet_text_page(decoding, page->encoding, &bytes, count)
                            : parquet_numbers_page(decoding, page->encoding, &bytes, count));
    decoding->rows_done += page->values;
    decoding->done += count;
    return STATUS_OK;
}

/* ---- The column ---- */

void parquet_values_give(struct parquet_decoding *decoding)
{
    struct columnar_values *const values = decoding->values;
    values->count = decoding->done;
    values->nulls = decoding->done < values->rows ? decoding->nulls : NULL;
    values->numbers = decoding->into.numbers;
    values->nanoseconds = decoding->into.nanoseconds;
    values->ticks = decoding->leaf->meaning == PARQUET_MILLIS ? 1000 : 1000000;
    values->wide = decoding->any_wide ? decoding->into.wide : NULL;
    if (!is_text(decoding->leaf))
        return;
    values->is_dictionary = decoding->has_dictionary;
    values->texts = decoding->texts ? decoding->texts : decoding->entry_texts;
    values->text_count = decoding->texts ? decoding->text_count : decoding->entry_count;
}

enum status parquet_values_decode(const struct columnar_place *place, const struct parquet_leaf *leaf,
                                  const struct parquet_chunk *chunk, const struct columnar_stream *stream,
                                  uint32_t rows, uint64_t most, struct columnar_values *values,
                                  struct error *error)
{
    struct parquet_decoding decoding = {
        .place = place, .leaf = leaf, .most = most, .values = values, .error = error};
    struct parquet_walk walk = parquet_walk_begin(place, chunk, stream, error);
    columnar_values_begin(values, rows);
    if (!is_text(leaf)) /* of texts, memory is taken when it is known whether there is a dictionary */
        RETURN_IF_ERROR(parquet_numbers_begin(&decoding));
    while (decoding.rows_done < rows) {
        struct parquet_page page;
        decoding.page++;
        RETURN_IF_ERROR(parquet_walk_next(&walk, &page));
        if (page.kind == PARQUET_PAGE_DICTIONARY)
            RETURN_IF_ERROR(take_dictionary(&decoding, &page));
        else if (page.kind != PARQUET_PAGE_INDEX)
            RETURN_IF_ERROR(take_data(&decoding, &page));
    }
    parquet_values_give(&decoding);
    return STATUS_OK;
}
