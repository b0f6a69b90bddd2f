/* columnar_store.c: see columnar_store.h. */
#include "loader/columnar/columnar_store.h"

#include "loader/columnar/columnar_convert.h"
#include "loader/text/text_rows.h"
#include "storage/base/memory.h"
#include "storage/base/words/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void columnar_store_scratch_free(struct columnar_store_scratch *scratch)
{
    free(scratch->entries.memory);
    scratch->entries = (struct columnar_room){0};
}

void columnar_bad_values_free(struct columnar_bad_values *bad)
{
    for (uint64_t b = 0; b < bad->count; b++)
        free(bad->values[b].text);
    free(bad->values);
    *bad = (struct columnar_bad_values){0};
}

/* The conversion of one column. Numbers that are not `plain` are converted one by one. */
struct conversion {
    const struct columnar_store *store;
    const struct column_schema *column, *want; /* want: the column's type, or that of the key it references */
    const struct table_keys *keys;             /* or NULL */
    const struct text_reading *reading;
    struct columnar_range range;
    bool plain;
    uint8_t *entry_states; /* of a dictionary: ENTRY_... */
    int64_t *entry_values;
    struct columnar_bad_values *bad;
    uint64_t most, bad_here;
    struct error *error;
};

enum { ENTRY_NEW, ENTRY_STORED, ENTRY_WRONG };

static const char *convert_number(const struct conversion *conversion, uint32_t at, int64_t *value)
{
    return columnar_convert_number(conversion->store->type, conversion->store->values, at, conversion->want,
                                   &conversion->range, conversion->reading, value);
}

/* ---- Text ---- */

static const struct text_field *text_at(const struct columnar_values *values, uint32_t at)
{
    return &values->texts[values->is_dictionary ? (uint64_t)values->numbers[at] : at];
}

/* A text of at most 16 bytes as two numbers, with zeros after its end. */
static inline void short_text(const char *text, uint32_t length, uint64_t *first, uint64_t *second)
{
    static const uint64_t masks[] = {
        0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, UINT64_MAX};
    memcpy(first, text, 8); /* COLUMNAR_SPARE_BYTES */
    memcpy(second, text + 8, 8);
    *first &= masks[length < 8 ? length : 8];
    *second &= masks[length < 8 ? 0 : length - 8];
}

/* The code of a text in the column's dictionary. *complaint is set if it is no text. */
static enum status word_add(const struct conversion *conversion, const struct text_field *field,
                            int64_t *value, const char **complaint)
{
    struct dictionary_builder *const words = conversion->store->words;
    int32_t code =
        dictionary_builder_count(words) ? dictionary_builder_find(words, field->text, field->length) : -1;
    if (code < 0 && (memchr(field->text, 0, field->length) || !utf8_is_valid(field->text, field->length))) {
        *complaint = "is no UTF-8 text, or has a NUL byte";
        return STATUS_OK;
    }
    if (code < 0)
        RETURN_IF_ERROR(dictionary_builder_add(words, field->text, field->length, &code, conversion->error));
    *value = code;
    return STATUS_OK;
}

/* The same, if the text has at most 16 bytes and was seen lately. */
static inline bool word_known(const struct conversion *conversion, const struct text_field *field,
                              struct columnar_word *key, struct columnar_word **word)
{
    if (field->length > 16)
        return false;
    short_text(field->text, field->length, &key->first, &key->second);
    key->length = field->length;
    const uint64_t mixed = key->first ^ (key->second * 0x9e3779b97f4a7c15ull) ^ key->length;
    *word = &conversion->store->scratch->words[mixed * 0xff51afd7ed558ccdull >> (64 - COLUMNAR_WORD_BITS)];
    return (*word)->length == key->length && (*word)->first == key->first && (*word)->second == key->second;
}

static enum status word_find(const struct conversion *conversion, const struct text_field *field,
                             int64_t *value, const char **complaint)
{
    struct columnar_word key = {0}, *word = NULL;
    if (word_known(conversion, field, &key, &word)) {
        *value = word->code;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(word_add(conversion, field, value, complaint));
    if (!*complaint && word) {
        *word = key;
        word->code = (int32_t)*value;
    }
    return STATUS_OK;
}

/* ---- One value ---- */

/* Gives the stored value of value number `at`. *null is set if NULL is stored for a key without a row; *complaint, if
 * the value is wrong. */
static enum status one_value(const struct conversion *conversion, uint32_t at, int64_t *value, bool *null,
                             const char **complaint)
{
    const struct columnar_values *const values = conversion->store->values;
    const struct table_keys *const keys = conversion->keys;
    *complaint = NULL;
    *null = false;
    *value = 0;
    if (values->texts) {
        const struct text_field field = *text_at(values, at);
        if (conversion->store->words)
            return word_find(conversion, &field, value, complaint);
        if (keys)
            *value = table_keys_find(keys, conversion->reading, field.text, field.length, complaint);
        else
            *complaint = text_value(conversion->reading, conversion->want, field.text, field.length, value);
    } else {
        *complaint = convert_number(conversion, at, value);
        if (!*complaint && keys)
            *value = table_keys_find_value(keys, *value);
    }
    if (keys && !*complaint && *value < 0) {
        *value = 0;
        *complaint = row_key_missing(conversion->store->parse, conversion->column, null);
    }
    return STATUS_OK;
}

/* Writes a value as a person knows it. */
static void show(const struct conversion *conversion, uint32_t at, char shown[TEXT_SHOWN_BYTES])
{
    const struct columnar_values *const values = conversion->store->values;
    if (values->texts) {
        const struct text_field field = *text_at(values, at);
        text_printable(field.text, field.length, shown);
    } else {
        columnar_show_number(conversion->store->type, values, at, shown);
    }
}

/* Adds a wrong value. `shown` NULL: it is NULL. */
static enum status complain(struct conversion *conversion, uint32_t row, const char *shown,
                            const char *complaint)
{
    const struct columnar_store *const store = conversion->store;
    struct columnar_bad_values *const bad = conversion->bad;
    char text[ERROR_TEXT_BYTES], place[KEY_PLACE_BYTES];
    if (conversion->bad_here++ > conversion->most)
        return STATUS_OK;
    if (bad->count == bad->room) {
        const uint64_t room = 2 * bad->room + 16;
        RETURN_IF_ERROR(
            memory_grow(&bad->values, room * sizeof *bad->values, "wrong values", conversion->error));
        bad->room = room;
    }
    bad->values[bad->count] = (struct columnar_bad_value){.row = row, .column = store->column};
    if (conversion->bad_here <= COLUMNAR_BAD_TEXTS) {
        snprintf(place, sizeof place, "%.400s, %s %u, row %" PRIu64, store->place->file->path,
                 store->place->file->format->part, store->place->part + 1, store->first_row + row + 1);
        row_complaint(text, place, store->parse, store->column, shown ? shown : "", complaint);
        if (!(bad->values[bad->count].text = strdup(text)))
            return error_out_of_memory(conversion->error, sizeof text, "wrong values");
    }
    bad->count++;
    return STATUS_OK;
}

/* ---- Pieces ---- */

/* Stores rows one by one. */
static enum status slow_piece(struct conversion *conversion, uint32_t row, uint32_t end, uint32_t at)
{
    const struct columnar_store *const store = conversion->store;
    const uint32_t c = store->column;
    char shown[TEXT_SHOWN_BYTES];
    for (; row < end; row++) {
        const bool is_null = store->values->nulls && store->values->nulls[row];
        const char *complaint = NULL;
        int64_t value = 0;
        bool null = is_null;
        if (!is_null)
            RETURN_IF_ERROR(one_value(conversion, at, &value, &null, &complaint));
        else if (!conversion->column->nullable)
            complaint = "is NULL, but the column is NOT NULL";
        if (complaint && !is_null)
            show(conversion, at, shown);
        if (complaint)
            RETURN_IF_ERROR(complain(conversion, row, is_null ? NULL : shown, complaint));
        if (store->parse->value_bytes[c] == 4)
            ((int32_t *)store->into.values)[row] = (int32_t)value;
        else
            ((int64_t *)store->into.values)[row] = value;
        if (null && !*store->into.nulls)
            RETURN_IF_ERROR(memory_zeros(store->into.nulls, store->values->rows, "NULLs", conversion->error));
        if (*store->into.nulls)
            (*store->into.nulls)[row] = null;
        at += !is_null;
    }
    return STATUS_OK;
}

/* The fill functions write the stored values of `count` values to `out`. They return false if one of them is wrong, or
 * is a key without a row. */

static bool fill_narrow(const struct columnar_range *range, const int64_t *in, uint32_t count, int32_t *out)
{
    uint64_t beyond = 0;
    if (range->low == INT32_MIN && range->high == INT32_MAX) {
        for (uint32_t i = 0; i < count; i++) {
            out[i] = (int32_t)in[i];
            beyond |= ((uint64_t)in[i] + 0x80000000u) >> 32;
        }
        return beyond == 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (int32_t)(in[i] * (uint64_t)range->factor);
        beyond |= (in[i] < range->low) | (in[i] > range->high);
    }
    return beyond == 0;
}

static bool fill_wide(const struct columnar_range *range, const int64_t *in, uint32_t count, int64_t *out)
{
    uint64_t beyond = 0;
    if (range->low == INT64_MIN) {
        memcpy(out, in, count * sizeof *out);
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] = (int64_t)((uint64_t)in[i] * (uint64_t)range->factor);
        beyond |= (uint64_t)((in[i] < range->low) | (in[i] > range->high));
    }
    return beyond == 0;
}

static bool fill_keys(const struct conversion *conversion, uint32_t at, uint32_t count, int32_t *out)
{
    const struct table_keys *const keys = conversion->keys;
    const int64_t *const in = conversion->store->values->numbers + at;
    if (keys->numbers && column_schema_value_bytes(&keys->key) == 4)
        return fill_narrow(&conversion->range, in, count, out) &&
               key_index_resolve(keys->numbers, out, count) == 0;
    for (uint32_t i = 0; i < count; i++) {
        int64_t value;
        if (convert_number(conversion, at + i, &value))
            return false;
        out[i] = table_keys_find_value(keys, value);
        if (out[i] < 0)
            return false;
    }
    return true;
}

/* Gives the codes of strings that are known: as an entry of the file's dictionary, or by the cache of short ones. */
static bool code_known(const struct conversion *conversion, uint32_t at, const struct text_field *field,
                       int32_t *code)
{
    const int64_t entry = conversion->entry_states ? conversion->store->values->numbers[at] : 0;
    struct columnar_word key, *word;
    if (conversion->entry_states && conversion->entry_states[entry] == ENTRY_STORED) {
        *code = (int32_t)conversion->entry_values[entry];
        return true;
    }
    if (!word_known(conversion, field, &key, &word))
        return false;
    *code = word->code;
    return true;
}

/* Codes of strings: of up to DICTIONARY_PREFETCH values those that are not known are looked up together, because each
 * waits for memory. */
static enum status fill_some_words(const struct conversion *conversion, uint32_t at, uint32_t count,
                                   int32_t *out, const char **complaint)
{
    const struct columnar_values *const values = conversion->store->values;
    const char *strings[DICTIONARY_PREFETCH] = {0};
    uint32_t lengths[DICTIONARY_PREFETCH] = {0}, places[DICTIONARY_PREFETCH], unknown = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct text_field *const field = text_at(values, at + i);
        if (code_known(conversion, at + i, field, &out[i]))
            continue;
        strings[unknown] = field->text;
        lengths[unknown] = field->length;
        places[unknown++] = i;
    }
    dictionary_builder_prefetch(conversion->store->words, strings, lengths, unknown);
    for (uint32_t u = 0; u < unknown && !*complaint; u++) {
        int64_t value = 0;
        RETURN_IF_ERROR(
            word_find(conversion, &(struct text_field){strings[u], lengths[u]}, &value, complaint));
        out[places[u]] = (int32_t)value;
        if (conversion->entry_states && !*complaint) {
            const int64_t entry = values->numbers[at + places[u]];
            conversion->entry_states[entry] = ENTRY_STORED;
            conversion->entry_values[entry] = value;
        }
    }
    return STATUS_OK;
}

static enum status fill_words(const struct conversion *conversion, uint32_t at, uint32_t count, bool *right)
{
    int32_t *const out = conversion->store->scratch->piece.narrow;
    const char *complaint = NULL;
    for (uint32_t first = 0, here; first < count && !complaint; first += here) {
        here = count - first < DICTIONARY_PREFETCH ? count - first : DICTIONARY_PREFETCH;
        RETURN_IF_ERROR(fill_some_words(conversion, at + first, here, out + first, &complaint));
    }
    *right = !complaint;
    return STATUS_OK;
}

/* Values that need a look at each: text, decimals that are cut, timestamps. */
static enum status fill_each(const struct conversion *conversion, uint32_t at, uint32_t count, bool is_narrow,
                             bool *right)
{
    const struct columnar_values *const values = conversion->store->values;
    struct columnar_store_scratch *const scratch = conversion->store->scratch;
    const char *complaint;
    bool null;
    for (uint32_t i = 0; i < count; i++) {
        const int64_t entry = conversion->entry_states ? values->numbers[at + i] : 0;
        int64_t value;
        if (conversion->entry_states && conversion->entry_states[entry] == ENTRY_STORED) {
            value = conversion->entry_values[entry];
        } else {
            RETURN_IF_ERROR(one_value(conversion, at + i, &value, &null, &complaint));
            *right = !complaint && !null;
            if (!*right)
                return STATUS_OK;
            if (conversion->entry_states) {
                conversion->entry_states[entry] = ENTRY_STORED;
                conversion->entry_values[entry] = value;
            }
        }
        if (is_narrow)
            scratch->piece.narrow[i] = (int32_t)value;
        else
            scratch->piece.wide[i] = value;
    }
    *right = true;
    return STATUS_OK;
}

/* Puts a piece's values into the block, with zeros for NULLs. */
static void spread(const struct columnar_store *store, uint32_t row, uint32_t rows, bool is_narrow)
{
    const uint8_t *const nulls = store->values->nulls + row;
    const void *const values = store->into.values;
    uint32_t at = 0;
    if (is_narrow)
        for (uint32_t r = 0; r < rows; at += !nulls[r++])
            ((int32_t *)values)[row + r] = nulls[r] ? 0 : store->scratch->piece.narrow[at];
    else
        for (uint32_t r = 0; r < rows; at += !nulls[r++])
            ((int64_t *)values)[row + r] = nulls[r] ? 0 : store->scratch->piece.wide[at];
    memcpy(*store->into.nulls + row, nulls, rows);
}

static enum status fast_piece(struct conversion *conversion, uint32_t row, uint32_t rows, uint32_t at,
                              uint32_t count, bool *right)
{
    const struct columnar_store *const store = conversion->store;
    struct columnar_store_scratch *const scratch = store->scratch;
    const bool is_narrow = store->parse->value_bytes[store->column] == 4;
    const bool is_number = conversion->plain && !store->values->texts;
    uint8_t *const into = (uint8_t *)store->into.values + (size_t)row * (is_narrow ? 4 : 8);
    const bool dense = !store->values->nulls;
    *right = conversion->column->nullable || count == rows;
    if (!*right)
        return STATUS_OK;
    if (store->words && store->values->texts)
        RETURN_IF_ERROR(fill_words(conversion, at, count, right));
    else if (!is_number)
        RETURN_IF_ERROR(fill_each(conversion, at, count, is_narrow, right));
    else if (conversion->keys)
        *right = fill_keys(conversion, at, count, dense ? (int32_t *)into : scratch->piece.narrow);
    else if (is_narrow)
        *right = fill_narrow(&conversion->range, store->values->numbers + at, count,
                             dense ? (int32_t *)into : scratch->piece.narrow);
    else
        *right = fill_wide(&conversion->range, store->values->numbers + at, count,
                           dense ? (int64_t *)into : scratch->piece.wide);
    if (!*right)
        return STATUS_OK;
    if (!dense)
        spread(store, row, rows, is_narrow);
    else if (!is_number)
        memcpy(into, &scratch->piece, (size_t)rows * (is_narrow ? 4 : 8));
    if (dense && *store->into.nulls)
        memset(*store->into.nulls + row, 0, rows);
    return STATUS_OK;
}

/* Prepares the caches of texts that were seen before. */
static enum status begin_text(struct conversion *conversion)
{
    const struct columnar_values *const values = conversion->store->values;
    struct columnar_store_scratch *const scratch = conversion->store->scratch;
    const uint64_t bytes = 9ull * values->text_count;
    if (!values->texts)
        return STATUS_OK;
    for (size_t w = 0; w < sizeof scratch->words / sizeof *scratch->words; w++)
        scratch->words[w].length = UINT32_MAX;
    if (!values->is_dictionary)
        return STATUS_OK;
    if (bytes > scratch->entries.bytes || !scratch->entries.memory) {
        columnar_store_scratch_free(scratch);
        RETURN_IF_ERROR(memory_take(&scratch->entries.memory, bytes + 1, "a dictionary", conversion->error));
        scratch->entries.bytes = bytes;
    }
    conversion->entry_values = scratch->entries.memory;
    conversion->entry_states = (uint8_t *)(conversion->entry_values + values->text_count);
    memset(conversion->entry_states, ENTRY_NEW, values->text_count);
    return STATUS_OK;
}

static enum status begin(const struct columnar_store *store, struct columnar_bad_values *bad, uint64_t most,
                         struct conversion *conversion, struct error *error)
{
    const struct table_keys *const keys = store->parse->keys[store->column];
    const struct column_schema *const column = &store->parse->parsed->table->columns[store->column];
    *conversion = (struct conversion){.store = store,
                                      .column = column,
                                      .want = keys ? &keys->key : column,
                                      .keys = keys,
                                      .reading = &store->parse->readings[store->column],
                                      .bad = bad,
                                      .most = most,
                                      .error = error};
    conversion->plain = columnar_range_plan(store->type, store->values, conversion->want, &conversion->range);
    RETURN_IF_ERROR(begin_text(conversion));
    return store->values->nulls ? memory_zeros(store->into.nulls, store->values->rows, "NULLs", error)
                                : STATUS_OK;
}

/* Stores the rows of the next piece, of which *count are not NULL, if all values are right. */
static enum status next_piece(struct conversion *conversion, uint32_t row, uint32_t at, uint32_t *rows,
                              uint32_t *count, bool *right)
{
    const struct columnar_values *const values = conversion->store->values;
    const uint32_t left = values->rows - row;
    *rows = *count = left < COLUMNAR_PIECE_ROWS ? left : COLUMNAR_PIECE_ROWS;
    for (uint32_t r = 0; values->nulls && r < *rows; r++)
        *count -= values->nulls[row + r];
    return fast_piece(conversion, row, *rows, at, *count, right);
}

enum status columnar_store_column(const struct columnar_store *store, uint64_t most,
                                  struct columnar_bad_values *bad, struct error *error)
{
    struct conversion conversion;
    RETURN_IF_ERROR(begin(store, bad, most, &conversion, error));
    for (uint32_t row = 0, at = 0, rows, count; row < store->values->rows; row += rows, at += count) {
        bool right;
        RETURN_IF_ERROR(next_piece(&conversion, row, at, &rows, &count, &right));
        if (!right)
            RETURN_IF_ERROR(slow_piece(&conversion, row, row + rows, at));
        if (conversion.bad_here > most)
            return STATUS_OK; /* the load ends: its rows need no values */
    }
    return STATUS_OK;
}

enum status columnar_store_try(const struct columnar_store *store, bool *right, struct error *error)
{
    struct conversion conversion;
    RETURN_IF_ERROR(begin(store, NULL, 0, &conversion, error));
    *right = true;
    for (uint32_t row = 0, at = 0, rows, count; row < store->values->rows && *right; row += rows, at += count)
        RETURN_IF_ERROR(next_piece(&conversion, row, at, &rows, &count, right));
    return STATUS_OK;
}
