/*
 * infer_columnar.c: reads the columns of a table's columnar files for infer.h. Such a file says its types itself, but a
 * schema needs more: which columns are keys, which reference others, where there are no NULLs, and how many digits
 * numbers have. So all values are read, each column by one thread. Numbers, dates and times are counted as the text
 * that a text file would have, so that a column of one may reference that of another (infer_keys.c).
 */
#include "loader/infer/infer_internal.h"

#include "loader/columnar/columnar_convert.h"
#include "storage/base/calendar.h"
#include "storage/base/double_key.h"
#include "storage/base/execution/memory_account.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/words/word.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DECIMAL_DIGITS_STORED 18u

/* ---- Types and names ---- */

/* Whether values decide what a column of this type becomes, where types alone are wanted: the file lets numbers have more
 * digits than a stored decimal, but they may have fewer. */
static bool needs_values(const struct columnar_type *type)
{
    return type->kind == COLUMNAR_DECIMAL && type->precision > DECIMAL_DIGITS_STORED;
}

/* Of a column whose values are not read. Who sees no types before the rows are read must not find them rounded: a number that has
 * too many digits is refused then. */
static void take_type_alone(struct infer_column *column, const struct columnar_type *type)
{
    if (needs_values(type)) {
        column->kinds &= ~(uint32_t)KIND_FLOAT;
        return;
    }
    if (type->kind == COLUMNAR_DECIMAL)
        column->kinds &= ~(uint32_t)KIND_INT;
    else if (!type->narrow)
        column->least = INT64_MIN;
}

/* What the type in the file says; values may make it narrower. */
static void take_type(struct infer_column *column, const struct columnar_type *type)
{
    static const uint32_t kinds[] = {[COLUMNAR_BOOLEAN] = KIND_BOOL,
                                     [COLUMNAR_INTEGER] = KIND_INT | KIND_DECIMAL | KIND_FLOAT,
                                     [COLUMNAR_FLOATING] = KIND_FLOAT,
                                     [COLUMNAR_DECIMAL] = KIND_DECIMAL | KIND_FLOAT,
                                     [COLUMNAR_DATE] = KIND_DATE | KIND_TIME,
                                     [COLUMNAR_TIMESTAMP] = KIND_TIME,
                                     [COLUMNAR_TEXT] = 0};
    column->declared = true;
    column->kinds = kinds[type->kind];
    column->offsets = type->zoned;
    if (type->kind != COLUMNAR_DECIMAL)
        return;
    column->kinds |= type->scale == 0 ? KIND_INT : 0; /* until a number is beyond 64 bits */
    column->scale = type->scale;
}

/* Whether a schema can have a column of the file: its type, and its name, which no column before it has. */
static bool is_column(const struct columnar_file *file, uint32_t c)
{
    const struct columnar_column *const own = &file->columns[c];
    for (uint32_t before = 0; before < c; before++)
        if (word_compare(file->columns[before].name, own->name) == 0)
            return false;
    return own->type.kind != COLUMNAR_OTHER && name_valid(own->name);
}

static enum status take_columns(struct infer_table *table, const struct columnar_file *file,
                                struct error *error)
{
    uint32_t named = 0;
    RETURN_IF_ERROR(memory_zeros(&table->columns, (file->column_count + 1ull) * sizeof *table->columns,
                                 "columns", error));
    table->column_count = file->column_count;
    for (uint32_t c = 0; c < file->column_count; c++) {
        const struct columnar_column *const from = &file->columns[c];
        struct infer_column *const column = &table->columns[c];
        column->unnamed = !is_column(file, c);
        named += !column->unnamed;
        snprintf(column->name, sizeof column->name, "%.63s", name_valid(from->name) ? from->name : "?");
        snprintf(column->skipped, sizeof column->skipped, "%s", column->unnamed ? from->type.name : "");
        column->uncounted = table->types_alone;
        if (!column->unnamed)
            take_type(column, &from->type);
        if (table->types_alone)
            take_type_alone(column, &from->type);
    }
    if (named > 0 && named <= SCHEMA_COLUMNS_MAX)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT, "%s: has %u columns that a table can have; a table has 1 to %u",
                     file->path, named, SCHEMA_COLUMNS_MAX);
}

/* Finds the columns of the first file in another one, where they must have the same types; decimals may have more digits. */
static enum status match_columns(struct infer_table *table, const struct columnar_file *first,
                                 const struct columnar_file *file, uint32_t *numbers, struct error *error)
{
    for (uint32_t c = 0; c < first->column_count; c++) {
        const struct columnar_column *const want = &first->columns[c];
        uint32_t f = 0;
        if (table->columns[c].unnamed)
            continue;
        while (f < file->column_count && strcmp(file->columns[f].name, want->name) != 0)
            f++;
        if (f == file->column_count)
            return error_set(error, STATUS_BAD_INPUT, "%s: has no column %s, which %s has", file->path,
                             want->name, first->path);
        const struct columnar_type *const type = &file->columns[f].type;
        if (type->kind != want->type.kind || type->scale != want->type.scale ||
            type->zoned != want->type.zoned)
            return error_set(error, STATUS_BAD_INPUT, "%s: column %s has the type %s, and %s in %s",
                             file->path, want->name, type->name, want->type.name, first->path);
        if (type->kind == COLUMNAR_DECIMAL && table->columns[c].precision < type->precision)
            table->columns[c].precision = type->precision;
        numbers[c] = f;
    }
    return STATUS_OK;
}

/* ---- Values ---- */

/* Numbers, or codes of texts, that were counted in this part: of those with the same hash the last one. A value that is
 * there is counted without its text, whose digits would take most of the time. */
#define SEEN 4096u
struct seen {
    int64_t number;
    bool is; /* else nothing was counted */
};

/* What a thread reads in. */
struct scratch {
    struct columnar_streams streams;
    struct columnar_values values;
    struct seen seen[SEEN];
};

struct reading {
    struct infer_table *table;
    const struct columnar_file *file;
    const uint32_t *numbers; /* of the table's columns in the file */
    struct scratch *scratch; /* of each thread */
    uint64_t most;
};

static const struct column_schema a_time = {.type = TYPE_TIMESTAMP};

/* Takes account of a number's size: of whole numbers and doubles their range, of wide decimals their digits, of times the day.
 * `range` is that of times. */
static void measure(struct infer_column *column, const struct columnar_type *type,
                    const struct columnar_values *values, const struct columnar_range *range, uint32_t at)
{
    static const struct text_reading cut = {.cut_nanoseconds = true};
    const int64_t number = values->numbers[at];
    if (type->kind == COLUMNAR_FLOATING)
        infer_column_widen(column, number);
    if (type->kind == COLUMNAR_INTEGER || (type->kind == COLUMNAR_DECIMAL && (column->kinds & KIND_INT))) {
        const bool fits = !values->wide || values->wide[at] == number;
        column->kinds &= fits || !(column->kinds & KIND_FLOAT) ? UINT32_MAX : ~(uint32_t)KIND_INT;
        infer_column_widen(column, fits ? number : values->wide[at] < 0 ? INT64_MIN : INT64_MAX);
    }
    if (type->kind == COLUMNAR_DECIMAL) {
        uint32_t digits = 0;
        for (__int128 left = values->wide ? values->wide[at] : number; left; left /= 10)
            digits++;
        const uint32_t whole = digits > type->scale ? digits - type->scale : 0;
        column->whole = column->whole > whole ? column->whole : whole;
    }
    if (type->kind == COLUMNAR_DATE || type->kind == COLUMNAR_TIMESTAMP) {
        int64_t microsecond;
        if (!columnar_convert_number(type, values, at, &a_time, range, &cut, &microsecond))
            infer_column_widen(column, microsecond);
        column->nanoseconds |= values->nanoseconds && values->nanoseconds[at] % 1000;
    }
}

/* Whether the number is all of the value: it is not wide, and has no fraction of a second. */
static bool is_number(const struct columnar_values *values, uint32_t at)
{
    return !values->nanoseconds && (!values->wide || values->wide[at] == values->numbers[at]);
}

/* Whether a number is counted by itself, and not by its text, which takes several times as long: no key that a column may
 * reference has such a value, as keys are whole numbers, days and texts. */
static bool is_counted_alone(const struct columnar_type *type, int64_t number)
{
    const double real = type->kind == COLUMNAR_FLOATING ? double_of_key(number) : 0;
    return type->kind == COLUMNAR_TIMESTAMP || real != nearbyint(real);
}

static enum status count_alone(struct infer_column *column, const struct columnar_values *values, uint32_t at,
                               struct error *error)
{
    const uint64_t second = hash_mix((uint64_t)values->numbers[at]),
                   nanosecond = values->nanoseconds ? (uint64_t)values->nanoseconds[at] : 0;
    return infer_column_count_word(column, nanosecond ? hash_mix(second + nanosecond) : second, error);
}

static enum status add_values(struct infer_column *column, const struct columnar_type *type,
                              const struct columnar_values *values, struct seen *seen, struct error *error)
{
    const bool coded = values->texts && values->is_dictionary;
    struct columnar_range range;
    (void)columnar_range_plan(type, values, &a_time, &range);
    memset(seen, 0, SEEN * sizeof *seen);
    column->nulls += values->rows - values->count;
    for (uint32_t at = 0; at < values->count; at++) {
        char shown[TEXT_SHOWN_BYTES];
        struct text_field field = {shown, 0};
        if (coded || (!values->texts && is_number(values, at))) {
            const int64_t number = values->numbers[at];
            struct seen *const last = &seen[hash_mix((uint64_t)number) % SEEN];
            if (last->is && last->number == number) {
                column->values++;
                column->duplicates = true;
                continue;
            }
            *last = (struct seen){number, true};
        }
        if (values->texts) {
            field = values->texts[coded ? (uint64_t)values->numbers[at] : at];
        } else {
            measure(column, type, values, &range, at);
            if (is_counted_alone(type, values->numbers[at])) {
                RETURN_IF_ERROR(count_alone(column, values, at, error));
                continue;
            }
            columnar_show_number(type, values, at, shown);
            field.length = (uint32_t)strlen(shown);
        }
        RETURN_IF_ERROR(infer_column_count(column, &field, error));
    }
    return STATUS_OK;
}

static enum status read_part(const struct reading *reading, uint32_t part, uint32_t c, unsigned thread,
                             struct error *error)
{
    const struct columnar_format *const format = reading->file->format;
    struct scratch *const scratch = &reading->scratch[thread];
    const uint32_t number = reading->numbers[c];
    const uint64_t bytes = reading->file->parts[part].rows * COLUMNAR_SCRATCH_ROW_BYTES;
    const struct columnar_place place = {reading->file, part, reading->file->columns[number].name};
    struct columnar_opened opened;
    if (bytes > reading->most)
        return columnar_too_large(error, &place, "reading it takes", bytes, reading->most);
    enum status status = columnar_part_open(reading->file, part, &opened, error);
    status = AND_THEN(status, format->column_read(&opened, number, reading->most, &scratch->streams, error));
    status = AND_THEN(status, columnar_streams_run(&byte_decoder_host, &scratch->streams, error));
    status = AND_THEN(status, format->column_decode(&opened, number, reading->most, &scratch->streams,
                                                    &scratch->values, error));
    columnar_part_close(&opened);
    return AND_THEN(status, add_values(&reading->table->columns[c], &reading->file->columns[number].type,
                                       &scratch->values, scratch->seen, error));
}

static enum status read_column(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct reading *const reading = context;
    const struct infer_table *const table = reading->table;
    if (table->columns[item].unnamed ||
        (table->types_alone && !needs_values(&reading->file->columns[reading->numbers[item]].type)))
        return STATUS_OK;
    for (uint32_t part = 0; part < reading->file->part_count; part++) {
        RETURN_IF_ERROR(cancel_check(error));
        if (reading->file->parts[part].rows)
            RETURN_IF_ERROR(read_part(reading, part, (uint32_t)item, thread, error));
    }
    return STATUS_OK;
}

/* ---- Files ---- */

/* As many threads as the options say, and as can read the largest part in the memory. */
static unsigned choose_threads(const struct load_options *options, const struct columnar_file *file,
                               uint64_t memory)
{
    unsigned threads = options->threads ? options->threads : parallel_threads_available();
    uint64_t rows = 0;
    for (uint32_t part = 0; part < file->part_count; part++)
        rows = file->parts[part].rows > rows ? file->parts[part].rows : rows;
    while (threads > 1 && threads * rows * COLUMNAR_SCRATCH_ROW_BYTES > memory)
        threads--;
    return threads;
}

static enum status read_values(struct infer_table *table, const struct load_options *options,
                               const struct columnar_file *file, const uint32_t *numbers, struct error *error)
{
    const uint64_t memory = options->memory ? options->memory : memory_available("") / 2;
    const unsigned threads = choose_threads(options, file, memory);
    struct reading reading = {.table = table, .file = file, .numbers = numbers, .most = memory};
    RETURN_IF_ERROR(memory_zeros(&reading.scratch, threads * sizeof *reading.scratch, "threads", error));
    const enum status status = parallel_for(threads, table->column_count, read_column, &reading, error);
    for (unsigned t = 0; t < threads; t++) {
        columnar_streams_free(&reading.scratch[t].streams);
        columnar_values_free(&reading.scratch[t].values);
    }
    free(reading.scratch);
    return status;
}

/* Reads one file; *first is that of the table's columns, which it becomes if there is none. */
static enum status read_file(struct infer_table *table, const struct load_options *options, const char *path,
                             struct columnar_file **first, struct error *error)
{
    const struct columnar_format *format;
    struct columnar_file *file;
    uint32_t *numbers = NULL;
    RETURN_IF_ERROR(columnar_format_find(path, &format, error));
    if (format != table->format)
        return error_set(error, STATUS_BAD_INPUT,
                         "%s: is no %s file, but %s is; the files of one table must be of one kind", path,
                         table->format->name, table->input->paths[0]);
    enum status status = columnar_file_open(format, path, &file, error);
    if (status == STATUS_OK && file->encrypted)
        status = error_set(error, STATUS_BAD_INPUT,
                           "%s: it has encrypted columns; write it without encryption", path);
    if (status == STATUS_OK && !*first)
        status = take_columns(table, file, error);
    status = AND_THEN(
        status, memory_zeros(&numbers, (table->column_count + 1ull) * sizeof *numbers, "columns", error));
    status = AND_THEN(status, match_columns(table, *first ? *first : file, file, numbers, error));
    status = AND_THEN(status, read_values(table, options, file, numbers, error));
    if (status == STATUS_OK) {
        table->rows += file->rows;
        table->parts += file->part_count;
    }
    free(numbers);
    if (status == STATUS_OK && !*first)
        *first = file;
    else
        columnar_file_close(file);
    return status;
}

enum status infer_columnar_read(struct infer_table *table, const struct load_options *options,
                                struct error *error)
{
    struct columnar_file *first = NULL;
    enum status status = STATUS_OK;
    for (uint32_t p = 0; p < table->input->path_count && status == STATUS_OK; p++)
        status = read_file(table, options, table->input->paths[p], &first, error);
    for (uint32_t c = 0; status == STATUS_OK && c < table->column_count; c++)
        status = infer_column_finish(&table->columns[c], error);
    columnar_file_close(first);
    return status;
}
