/* text_block.c: splits one block's text into rows and fields, on the thread that took it
 * (text_source_internal.h). */
#include "loader/text/json_rows.h"
#include "loader/text/text_source_internal.h"
#include "storage/base/memory.h"
#include "storage/base/text/json_scan.h"
#include "storage/base/words/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum status text_memory_reserve(struct text_memory *memory, size_t wanted, struct error *error)
{
    if (wanted <= memory->room)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&memory->bytes, wanted, "text", error));
    memory->room = wanted;
    return STATUS_OK;
}

enum status text_block_fault(struct text_block *block, const char *complaint, bool no_text,
                             struct error *error)
{
    struct block_memory *const memory = block->own;
    if (block->fault_count == memory->fault_room) {
        const size_t room = memory->fault_room ? 2 * memory->fault_room : 64;
        RETURN_IF_ERROR(memory_grow(&block->faults, room * sizeof *block->faults, "complaints", error));
        memory->fault_room = room;
    }
    struct text_fault *const fault = &block->faults[block->fault_count++];
    fault->row = block->rows;
    fault->no_text = no_text;
    snprintf(fault->complaint, sizeof fault->complaint, "%s", complaint);
    return STATUS_OK;
}

enum status text_block_reserve(struct text_block *block, uint32_t rows, uint32_t columns, struct error *error)
{
    struct block_memory *const memory = block->own;
    const size_t fields = (size_t)rows * columns;
    if (fields > memory->field_room) {
        free(block->fields);
        memory->field_room = 0;
        RETURN_IF_ERROR(memory_take(&block->fields, fields * sizeof *block->fields, "fields", error));
        memory->field_room = fields;
    }
    if (rows > memory->row_room) {
        free(block->row_text);
        free(block->row_line);
        memory->row_room = 0;
        block->row_text = malloc((rows + (size_t)1) * sizeof *block->row_text);
        block->row_line = malloc(rows * sizeof *block->row_line);
        if (!block->row_text || !block->row_line)
            return error_out_of_memory(error, (uint64_t)rows * 16, "rows");
        memory->row_room = rows;
    }
    return STATUS_OK;
}

/* Whether the row has the right number of fields, and ends with a delimiter if the first row does. */
static bool row_whole(const struct text_row *row, const struct text_shape *shape)
{
    return row->fields == shape->fields + shape->trailing && (!shape->trailing || row->last_empty);
}

static const char *place_name(const struct text_shape *shape, uint32_t place)
{
    return place == TEXT_SKIPPED ? "(skipped)" : shape->names[place];
}

/* Writes the complaint about a row with a wrong number of fields: row r of the index, which ends before
 * text[end]. */
static void fields_complaint(const struct text_row *row, uint32_t r, const struct text_index *index,
                             const struct block_text *block, const struct text_field *fields,
                             const char *text, size_t end, char complaint[TEXT_COMPLAINT_BYTES])
{
    const struct text_shape *const shape = &block->shape;
    const uint32_t columns = shape->fields, first = r ? index->rows[r - 1] + 1 : 0;
    const uint32_t found = row->fields - (shape->trailing && row->fields > 1 && row->last_empty);
    const uint32_t last_place = block->places[(found < columns ? found : columns) - 1];
    const struct text_field none = {.length = TEXT_NULL}, *const last = last_place == TEXT_SKIPPED
                                                                            ? &none
                                                                            : &fields[last_place];
    const char *const name = place_name(shape, last_place);
    char shown[TEXT_SHOWN_BYTES] = "";
    if (text_row_empty(row)) {
        snprintf(complaint, TEXT_COMPLAINT_BYTES, "is empty: it must have %u fields", columns);
        return;
    }
    if (found > columns) {
        const size_t behind = index->ends[first + columns - 1] + (size_t)1;
        end -= end > behind && text[end - 1] == '\r';
        text_printable(text + behind, end - behind, shown);
        snprintf(complaint, TEXT_COMPLAINT_BYTES,
                 "has %u fields instead of %u: it goes on with '%s' behind column %s", found, columns, shown,
                 name);
        return;
    }
    if (last->length != TEXT_NULL)
        text_printable(last->text, last->length, shown);
    if (found == columns)
        snprintf(complaint, TEXT_COMPLAINT_BYTES,
                 "lacks the delimiter that ends the first row: it ends with '%s' in column %s; is the file "
                 "cut short?",
                 shown, name);
    else
        snprintf(complaint, TEXT_COMPLAINT_BYTES,
                 "has %u field%s instead of %u: it ends with '%s', and column %s is missing", found,
                 found == 1 ? "" : "s", columns, shown, place_name(shape, block->places[found]));
}

/* Writes the complaint about bytes that are no character of the row's encoding, which have marks (text_encoding.h), and
 * makes U+FFFD of the marks. False if there are none. */
static bool encoding_complaint(char *at, char *end, const struct block_text *block,
                               char sentence[TEXT_COMPLAINT_BYTES])
{
    char shown[16] = "", *last = NULL;
    for (; (at = memchr(at, (int)TEXT_ENCODING_MARK, (size_t)(end - at))); at += 3) {
        if (strlen(shown) < 8 && (!last || last + 3 == at)) { /* the first ones that are together */
            strncat(shown, at + 1, 2);
            last = at;
        }
        memcpy(at, "\xef\xbf\xbd", 3);
    }
    snprintf(sentence, TEXT_COMPLAINT_BYTES, "has bytes that are no character of %s: 0x%s", block->encoding,
             shown);
    return last;
}

/* What is wrong with row r of the index, from text[begin] to before text[end]; NULL: nothing. `look`: the block has bytes
 * that are no text. Sentences are written to `sentence`. */
static const char *complaint_of(const struct text_row *row, uint32_t r, const struct text_index *index,
                                const struct block_text *block, const struct text_field *fields, char *bytes,
                                size_t begin, size_t end, bool look, bool *no_text,
                                char sentence[TEXT_COMPLAINT_BYTES])
{
    const char *const zero = look ? memchr(bytes + begin, 0, end - begin) : NULL;
    *no_text = zero || (look && !utf8_is_valid(bytes + begin, end - begin));
    if (*no_text && block->encoding[0] && encoding_complaint(bytes + begin, bytes + end, block, sentence))
        return sentence;
    if (zero)
        snprintf(sentence, TEXT_COMPLAINT_BYTES, "has a NUL byte: it is byte %zu of it; is this a text file?",
                 (size_t)(zero - bytes) - begin + 1);
    else if (*no_text)
        return text_no_utf8;
    else if (row->complaint || row_whole(row, &block->shape))
        return row->complaint;
    else
        fields_complaint(row, r, index, block, fields, bytes, end, sentence);
    return sentence;
}

/* Applies the table of the text's encoding, if it has one; *length is that of the UTF-8. */
static enum status make_utf8(struct block_memory *memory, const struct block_text *text, size_t *length,
                             struct error *error)
{
    *length = text->bytes;
    if (!text->table)
        return STATUS_OK;
    const struct text_memory raw = memory->text;
    RETURN_IF_ERROR(text_memory_reserve(&memory->raw, TEXT_ENCODING_GROWTH * text->bytes + 8, error));
    *length = text_encoding_apply(text->table, raw.bytes, text->bytes, memory->raw.bytes);
    memory->text = memory->raw;
    memory->raw = raw;
    return STATUS_OK;
}

/* What is wrong with the bytes of an object; NULL: nothing. */
static const char *bytes_complaint(const struct block_text *text, char *begin, char *end,
                                   char sentence[TEXT_COMPLAINT_BYTES])
{
    if (utf8_is_valid(begin, (size_t)(end - begin)))
        return NULL; /* a NUL is no JSON */
    return text->encoding[0] && encoding_complaint(begin, end, text, sentence) ? sentence : text_no_utf8;
}

/* The object from `begin` to before `end`; `list`: a comma may be before it. An empty line is no row. */
static enum status split_object(struct text_block *block, const struct block_text *text,
                                struct json_reader *reader, char *begin, char *end, bool look, char **spare,
                                uint64_t *line, struct error *error)
{
    char sentence[TEXT_COMPLAINT_BYTES];
    const char *at = json_scan_blanks(begin, end);
    if (text->shape.json != JSON_LAYOUT_LINES && at < end && *at == ',')
        at = json_scan_blanks(at + 1, end);
    for (const char *c = begin; (c = memchr(c, '\n', (size_t)(at - c))); c++)
        ++*line;
    if (at == end)
        return STATUS_OK;
    const char *const row = at, *complaint = look ? bytes_complaint(text, begin, end, sentence) : NULL;
    const bool no_text = complaint;
    block->row_text[block->rows] = row;
    block->row_line[block->rows] = *line;
    struct text_field *const fields = block->fields + (size_t)block->rows * text->shape.columns;
    if (!complaint)
        complaint = json_row_read(reader, &at, end, fields, spare, sentence);
    if (!complaint && json_scan_blanks(at, end) < end)
        complaint = "is no JSON: it goes on behind its object; if this is delimited text, give --delimiter";
    if (complaint)
        RETURN_IF_ERROR(text_block_fault(block, complaint, no_text, error));
    block->rows++;
    block->row_text[block->rows] = end;
    for (const char *c = row; (c = memchr(c, '\n', (size_t)(end - c))); c++)
        ++*line;
    return STATUS_OK;
}

static enum status split_objects(struct text_block *block, const struct block_text *text, char *bytes,
                                 size_t length, bool look, struct error *error)
{
    struct block_memory *const memory = block->own;
    const struct text_index *const index = &memory->index;
    const uint32_t columns = text->shape.columns;
    struct json_reader reader = {.shape = &text->shape};
    if (!memory->columns)
        RETURN_IF_ERROR(
            memory_take(&memory->columns, 2ull * columns * sizeof *memory->columns, "columns", error));
    for (uint32_t c = 0; c < columns; c++) {
        memory->columns[c] = (uint32_t)strlen(text->shape.names[c]);
        memory->columns[columns + c] = 0;
    }
    reader.lengths = memory->columns;
    reader.seen = memory->columns + columns;
    char *spare = memory->spare.bytes, *begin = bytes;
    uint64_t line = text->line;
    for (uint32_t r = 0; r < index->row_count; r++) {
        const size_t end = index->ends[index->rows[r]];
        const bool newline = text->shape.json == JSON_LAYOUT_LINES && end < length;
        RETURN_IF_ERROR(split_object(block, text, &reader, begin, bytes + end, look, &spare, &line, error));
        line += newline;
        begin = bytes + end + newline;
    }
    return STATUS_OK;
}

enum status text_block_split(struct text_block *block, const struct block_text *text, struct error *error)
{
    struct block_memory *const memory = block->own;
    const struct text_shape *const shape = &text->shape;
    struct text_index *const index = &memory->index;
    size_t length;
    RETURN_IF_ERROR(make_utf8(memory, text, &length, error));
    char *const bytes = memory->text.bytes;
    RETURN_IF_ERROR(text_rows_index(bytes, length, shape, index, &memory->index_room, error));
    RETURN_IF_ERROR(text_block_reserve(block, index->row_count, shape->columns, error));
    if (index->quotes || shape->json)
        RETURN_IF_ERROR(text_memory_reserve(&memory->spare, length, error));
    const bool look = index->zero_bytes || (index->high_bytes && !utf8_is_valid(bytes, length));
    if (shape->json)
        return split_objects(block, text, bytes, length, look, error);
    char *spare = memory->spare.bytes;
    uint64_t line = text->line;
    size_t begin = 0;
    for (uint32_t r = 0; r < index->row_count; r++) {
        struct text_field *const fields = block->fields + (size_t)block->rows * shape->columns;
        const struct text_row row =
            text_row_split(bytes, index, r, shape, text->places, shape->fields, fields, &spare);
        const size_t end = index->ends[index->rows[r]], behind = end < length ? end + 1 : end;
        if (shape->fields > 1 && text_row_empty(&row) && !shape->verbatim) {
            begin = behind;
            line += row.lines;
            continue;
        }
        block->row_text[block->rows] = bytes + begin;
        block->row_line[block->rows] = line;
        char sentence[TEXT_COMPLAINT_BYTES];
        bool no_text;
        const char *const complaint =
            complaint_of(&row, r, index, text, fields, bytes, begin, end, look, &no_text, sentence);
        if (complaint)
            RETURN_IF_ERROR(text_block_fault(block, complaint, no_text, error));
        block->rows++;
        begin = behind;
        line += row.lines;
        block->row_text[block->rows] = bytes + begin;
    }
    return STATUS_OK;
}

void text_block_free(struct text_block *block)
{
    struct block_memory *const memory = block->own;
    if (memory) {
        free(memory->text.bytes);
        free(memory->spare.bytes);
        free(memory->raw.bytes);
        free(memory->columns);
        text_index_free(&memory->index);
    }
    free(memory);
    free(block->fields);
    free(block->row_text);
    free(block->row_line);
    free(block->faults);
    *block = (struct text_block){0};
}
