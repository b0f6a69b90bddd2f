/* infer_file.c: reads the files of a table for infer.h: the first row tells delimiter and header, and then all rows are
 * read as the loader reads them, block by block, each column by one thread. */
#include "loader/infer/infer_internal.h"

#include "loader/columnar/columnar_file.h"
#include "loader/text/reading_options.h"
#include "loader/text/text_source_internal.h"
#include "loader/text/text_value_internal.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

/* The first row must be in these bytes. */
#define FIRST_BYTES (1u << 20)

struct first_row {
    char *text, *spare;
    size_t bytes;
    struct text_field *fields, *below; /* of the first row, and of the second one */
    uint32_t count, below_count;
};

static enum status first_bytes_read(const char *path, const struct text_options *options, size_t most,
                                    struct first_row *first, struct error *error)
{
    struct text_encoding encoding;
    struct text_decoder *file;
    uint64_t bytes;
    bool encoded = false;
    RETURN_IF_ERROR(text_file_check(path, &bytes, error));
    if (options->encoding)
        RETURN_IF_ERROR(text_encoding_find(options->encoding, &encoding, &encoded, error));
    if (bytes == TEXT_FILE_SIZE_UNKNOWN || strcmp(path, "-") == 0)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: a file is read twice, for its columns' types and for its rows, and this can be "
                         "read once; save it as a file first",
                         path);
    RETURN_IF_ERROR(text_decoder_open(path, encoded ? &encoding : NULL, &file, error));
    enum status status = text_decoder_read(file, first->text, most, &first->bytes, error);
    if (status == STATUS_OK && text_decoder_table(file)) {
        first->bytes = text_encoding_apply(&encoding, first->text, first->bytes, first->spare);
        char *const utf8 = first->spare;
        first->spare = first->text;
        first->text = utf8;
    }
    text_decoder_close(file);
    if (status == STATUS_OK && first->bytes >= 3 && memcmp(first->text, "\xef\xbb\xbf", 3) == 0)
        memmove(first->text, first->text + 3, first->bytes -= 3);
    return AND_THEN(status, text_format_check(path, first->text, first->bytes, error));
}

/* Splits the first two rows that are not empty; their counts are 0 if there are none. */
static enum status first_row_split(struct first_row *first, char delimiter, struct error *error)
{
    const struct text_shape shape = {.delimiter = delimiter, .columns = 1, .fields = 1};
    struct text_index index = {0};
    size_t room = 0;
    char *spare = first->spare;
    first->count = first->below_count = 0;
    const enum status status = text_rows_index(first->text, first->bytes, &shape, &index, &room, error);
    for (uint32_t r = 0; status == STATUS_OK && r < index.row_count && first->below_count == 0; r++) {
        const struct text_row row =
            text_row_split(first->text, &index, r, &shape, NULL, SCHEMA_COLUMNS_MAX + 1,
                           first->count ? first->below : first->fields, &spare);
        const uint32_t fields = text_row_empty(&row) ? 0 : row.fields - (row.fields > 1 && row.last_empty);
        first->below_count = first->count ? fields : 0;
        first->count = first->count ? first->count : fields;
    }
    text_index_free(&index);
    return status;
}

static enum status find_delimiter(struct first_row *first, const struct text_options *options,
                                  const struct text_reading *reading, const char *path, char *delimiter,
                                  struct error *error)
{
    static const char candidates[] = {',', '\t', '|', ';'};
    char best = ',';
    uint32_t most = 0;
    *delimiter = options->delimiter ? options->delimiter : text_delimiter_of_name(path);
    if (*delimiter && (options->delimiter || *delimiter != ','))
        return first_row_split(first, *delimiter, error);
    for (size_t c = 0; c < sizeof candidates; c++) { /* many a .csv has semicolons */
        if (candidates[c] == reading->decimal_mark || candidates[c] == reading->thousands)
            continue;
        RETURN_IF_ERROR(first_row_split(first, candidates[c], error));
        if (first->count > most) {
            most = first->count;
            best = candidates[c];
        }
    }
    RETURN_IF_ERROR(first_row_split(first, ',', error));
    const bool comma = *delimiter && first->count > 1 && reading->decimal_mark != ',';
    *delimiter = comma ? ',' : best;
    return first_row_split(first, *delimiter, error);
}

static bool is_same(const struct text_field *a, const struct text_field *b)
{
    return a->length == b->length && a->length != TEXT_NULL &&
           word_compare_bytes(a->text, b->text, a->length) == 0;
}

/* Whether the row below has a number or a date, in any field. */
static bool has_values_below(const struct first_row *first, const struct text_reading *reading)
{
    const uint32_t count = first->below_count < first->count ? first->below_count : first->count;
    for (uint32_t f = 0; f < count; f++)
        if (infer_is_value(&first->below[f], reading))
            return true;
    return false;
}

/* A first row is a header unless one of its fields is a number or a date, or it has no name at all. If one is empty (but
 * the first, as pandas writes), or is there twice, it is a header only if there is a number or a date below it. */
static bool looks_like_header(const struct first_row *first, const struct text_reading *reading)
{
    bool odd = false, named = false;
    for (uint32_t f = 0; f < first->count; f++) {
        const struct text_field *const field = &first->fields[f];
        const bool empty = text_field_trim(field).length == 0;
        if (infer_is_value(field, reading))
            return false;
        named |= !empty;
        odd |= f > 0 && empty;
        for (uint32_t before = 0; before < f && !odd; before++)
            odd = is_same(&first->fields[before], field);
    }
    return named && (!odd || has_values_below(first, reading));
}

static bool is_taken(const struct infer_table *table, uint32_t c, const char *name)
{
    for (uint32_t before = 0; before < c; before++)
        if (word_compare(table->columns[before].name, name) == 0)
            return true;
    return false;
}

/* Makes a name that a column may have of a header's field. */
static void name_column(struct infer_table *table, uint32_t c, const struct text_field *field)
{
    char *const name = table->columns[c].name;
    const struct text_field own = table->header ? text_field_trim(field) : (struct text_field){"", 0};
    uint32_t length = 0;
    for (; length < own.length && length + 1 < NAME_BYTES; length++)
        name[length] = (unsigned char)own.text[length] < ' ' ? '_' : own.text[length];
    name[length] = '\0';
    table->columns[c].unnamed = table->header && length == 0;
    while (length > 0 && (name[length - 1] == ' ' || !name_valid(name)))
        name[--length] = '\0'; /* also a character that was cut */
    for (uint32_t number = c + 1; length == 0 || is_taken(table, c, name); number++)
        length = (uint32_t)snprintf(name, NAME_BYTES, "c%u", number);
    table->renamed |= own.length && (own.length != length || memcmp(own.text, name, length) != 0);
}

/* All forms may be found in a column that no option says the form of. */
static void seek_forms(struct infer_column *column)
{
    const struct text_reading *const reading = &column->reading;
    const bool dates = !reading->date_format && !reading->timestamp_format;
    column->time_forms = dates ? (1u << INFER_TIME_FORMS) - 1 : 0;
    for (uint32_t f = 0; f < INFER_NUMBER_FORMS; f++)
        column->number_forms[f].dead = text_has_marks(reading);
}

static void begin_column(struct infer_table *table, const struct text_options *options, uint32_t c)
{
    table->columns[c].kinds = KIND_ALL;
    table->columns[c].uncounted = table->types_alone;
    table->columns[c].reading = reading_of(options, table->name, table->columns[c].name);
    seek_forms(&table->columns[c]);
}

/* What kind of file it is, in a word, by its first bytes. */
#define KIND_BYTES 4096u
static enum status kind_of_file(const char *path, const struct text_options *options, struct first_row *first,
                                const char **kind, struct error *error)
{
    const struct columnar_format *format;
    RETURN_IF_ERROR(columnar_format_find(path, &format, error));
    *kind = format ? format->name : NULL;
    if (format)
        return STATUS_OK;
    RETURN_IF_ERROR(first_bytes_read(path, options, KIND_BYTES, first, error));
    *kind = infer_is_json(path, options, first->text, first->bytes) ? "JSON" : "delimited text";
    return STATUS_OK;
}

/* A folder may have files of several kinds: the reader of one would tell odd things of the others. */
static enum status check_kinds(const struct load_input *input, const struct text_options *options,
                               struct first_row *first, struct error *error)
{
    const char *kind, *other;
    if (input->path_count > 1)
        RETURN_IF_ERROR(kind_of_file(input->paths[0], options, first, &kind, error));
    for (uint32_t p = 1; p < input->path_count; p++) {
        RETURN_IF_ERROR(kind_of_file(input->paths[p], options, first, &other, error));
        if (strcmp(kind, other) != 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "%s: is %s, but %s is %s; the files of one table must be of one kind",
                             input->paths[p], other, input->paths[0], kind);
    }
    return STATUS_OK;
}

static enum status begin(struct infer_table *table, const struct text_options *options,
                         struct first_row *first, struct error *error)
{
    const char *const path = table->input->paths[0];
    const struct text_reading reading = reading_of(options, table->name, ""); /* of all columns */
    RETURN_IF_ERROR(check_kinds(table->input, options, first, error));
    RETURN_IF_ERROR(first_bytes_read(path, options, FIRST_BYTES, first, error));
    if (infer_is_json(path, options, first->text, first->bytes)) {
        RETURN_IF_ERROR(infer_json_names(table, options, error));
        for (uint32_t c = 0; c < table->column_count; c++)
            begin_column(table, options, c);
        return STATUS_OK;
    }
    RETURN_IF_ERROR(find_delimiter(first, options, &reading, path, &table->delimiter, error));
    if (first->count == 0)
        return error_set(error, STATUS_BAD_INPUT, "%s: is empty, so nothing can be inferred from it", path);
    if (first->count > SCHEMA_COLUMNS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: the first row has %u fields; a table has at most %u columns", path,
                         first->count, SCHEMA_COLUMNS_MAX);
    table->header = options->header == TEXT_HEADER_AUTO ? looks_like_header(first, &reading)
                                                        : options->header == TEXT_HEADER_YES;
    RETURN_IF_ERROR(memory_zeros(&table->columns, first->count * sizeof *table->columns, "columns", error));
    table->column_count = first->count;
    for (uint32_t c = 0; c < first->count; c++) {
        name_column(table, c, &first->fields[c]);
        begin_column(table, options, c);
    }
    return STATUS_OK;
}

/* A block whose columns threads take one by one, while one of them reads the next block, and decompresses it. */
struct block_reading {
    struct infer_table *table;
    const struct infer_forms *forms;
    struct text_source *source;
    struct text_block *block, *next;
    uint32_t begin; /* the first row that is no header */
};

/* Gives the next row from `row` on that is whole. *fault is that of the faults at which to look next, at first 0. */
static uint32_t whole_row(const struct text_block *block, uint32_t row, uint32_t *fault)
{
    for (; *fault < block->fault_count && block->faults[*fault].row <= row; ++*fault)
        row += block->faults[*fault].row == row;
    return row;
}

static enum status add_column(const struct block_reading *reading, uint32_t column, struct error *error)
{
    const struct infer_table *const table = reading->table;
    const struct text_block *const block = reading->block;
    uint32_t fault = 0;
    for (uint32_t row = whole_row(block, reading->begin, &fault); row < block->rows;
         row = whole_row(block, row + 1, &fault)) {
        const struct text_field *const field = &block->fields[(size_t)row * table->column_count + column];
        RETURN_IF_ERROR(infer_column_add(&table->columns[column], reading->forms, field, error));
        if (table->json)
            infer_json_value(&table->columns[column], field, block->row_text[row], block->row_text[row + 1]);
    }
    return STATUS_OK;
}

/* Item 0 is the next block, which takes longest to read where files are compressed. */
static enum status take_item(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct block_reading *const reading = context;
    (void)thread;
    return item ? add_column(reading, (uint32_t)item - 1, error)
                : text_source_next(reading->source, reading->next, error);
}

static enum status add_block(struct block_reading *reading, unsigned threads, struct error *error)
{
    struct infer_table *const table = reading->table;
    const struct text_block *const block = reading->block;
    uint32_t faults = 0;
    for (uint32_t f = 0; f < block->fault_count; f++) {
        const struct text_fault *const fault = &block->faults[f];
        const bool header = fault->row < reading->begin, first = table->faults == 0 && !header;
        if (first || fault->no_text)
            snprintf(table->fault, sizeof table->fault, "%.500s:%llu: the %s %s", block->path,
                     (unsigned long long)block->row_line[fault->row], header ? "header" : "row",
                     fault->complaint);
        if (fault->no_text)
            return error_set(error, STATUS_BAD_INPUT, "%s", table->fault);
        table->faults += !header;
        faults += !header;
    }
    table->rows += block->rows - reading->begin - faults;
    return parallel_for(threads, table->column_count + 1ull, take_item, reading, error);
}

static enum status read_rows(struct infer_table *table, const struct text_options *options, unsigned threads,
                             struct error *error)
{
    const char *names[SCHEMA_COLUMNS_MAX];
    struct text_options own = *options;
    struct infer_forms forms;
    struct text_source *source;
    struct text_block blocks[2] = {{0}};
    RETURN_IF_ERROR(infer_forms_compile(&forms, error));
    own.delimiter = table->delimiter;
    own.header = TEXT_HEADER_NO; /* names may have been changed, so headers are skipped here */
    own.columns = NULL;
    for (uint32_t c = 0; c < table->column_count; c++)
        names[c] = table->columns[c].name;
    RETURN_IF_ERROR(text_source_open(table->input->paths, table->input->path_count, names,
                                     table->column_count, &own, &source, error));
    const char *path = NULL;
    enum status status = text_source_next(source, &blocks[0], error);
    for (uint32_t b = 0; status == STATUS_OK && blocks[b].rows; b = 1 - b) {
        struct block_reading reading = {table,      &forms,         source,
                                        &blocks[b], &blocks[1 - b], table->header && blocks[b].path != path};
        path = blocks[b].path;
        status = add_block(&reading, threads, error);
        status = AND_THEN(status, cancel_check(error));
    }
    for (uint32_t c = 0; status == STATUS_OK && c < table->column_count; c++)
        status = infer_column_finish(&table->columns[c], error);
    text_block_free(&blocks[0]);
    text_block_free(&blocks[1]);
    text_source_close(source);
    if (status == STATUS_OK && table->rows == 0 && table->faults)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s; nothing can be inferred from rows of which none is whole", table->fault);
    return status;
}

enum status infer_table_read(struct infer_table *table, const struct text_options *options, unsigned threads,
                             struct error *error)
{
    const size_t room = TEXT_ENCODING_GROWTH * (size_t)FIRST_BYTES + 8;
    struct first_row first = {.text = malloc(room),
                              .spare = malloc(room),
                              .fields = calloc(SCHEMA_COLUMNS_MAX + 1, sizeof *first.fields),
                              .below = calloc(SCHEMA_COLUMNS_MAX + 1, sizeof *first.below)};
    enum status status = first.text && first.spare && first.fields && first.below
                             ? begin(table, options, &first, error)
                             : error_out_of_memory(error, 2 * room, "the first row");
    status = AND_THEN(status, read_rows(table, options, threads, error));
    free(first.text);
    free(first.spare);
    free(first.fields);
    free(first.below);
    return status;
}

void infer_table_free(struct infer_table *table)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        hash_words_free(&table->columns[c].distinct);
    free(table->columns);
    *table = (struct infer_table){0};
}
