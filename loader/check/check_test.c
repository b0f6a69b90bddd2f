/*
 * check_test.c: tests rows by conditions (check.h).
 *
 * A condition over columns of numbers is bound once, over all that their types hold. One of strings has, for each such
 * column, the strings of the rows that it was bound for, and of those before if they are few; `known` gives the place
 * among them of a code. What cannot be bound so, because numbers might have too many digits, is bound over fewer and fewer
 * rows, with the ranges of their own values: over one row all can be bound that can be computed.
 */
#include "loader/check/check_internal.h"

#include "engine/plan/functions/string_pieces.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_KEPT 4096u /* so many strings of rows before are bound again */

/* The strings that a condition is bound over, of one column. */
struct words {
    const struct dictionary_builder *of; /* whose codes they are */
    uint32_t *known;                     /* by code: 1 + the string's place in `codes`, or 0 */
    uint32_t known_room;
    int32_t *codes; /* of the strings */
    uint32_t count, room;
    struct piece *pieces; /* of the strings */
    int64_t *sorted;      /* the code of each in the dictionary, which `owner` has */
    struct expression_list owner;
};

/* A condition on one thread. */
struct tested {
    struct check_bound bound;
    struct words *words; /* for each of its columns */
    uint32_t rows;       /* over which it is bound; CHECK_ROWS: over all that types hold */
};

struct check_test {
    uint32_t count;
    struct tested *tested;
};

/* Rows first .. end - 1 of a table's columns. */
struct rows {
    const struct check_values *columns;
    uint32_t first, end;
};

enum status check_test_create(struct check *const *checks, uint32_t count, struct check_test **out,
                              struct error *error)
{
    struct check_test *test;
    RETURN_IF_ERROR(memory_zeros(&test, sizeof *test, "conditions", error));
    *out = test;
    RETURN_IF_ERROR(memory_zeros(&test->tested, count * sizeof *test->tested, "conditions", error));
    test->count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct tested *const tested = &test->tested[i];
        const uint64_t columns = checks[i]->column_count;
        tested->bound.check = checks[i];
        tested->rows = checks[i]->rows;
        RETURN_IF_ERROR(memory_zeros(&tested->words, columns * sizeof *tested->words, "conditions", error));
        RETURN_IF_ERROR(memory_take(&tested->bound.columns, columns * sizeof *tested->bound.columns,
                                    "conditions", error));
        if (columns)
            memcpy(tested->bound.columns, checks[i]->columns, columns * sizeof *tested->bound.columns);
    }
    return STATUS_OK;
}

void check_test_free(struct check_test *test)
{
    for (uint32_t i = 0; test && i < test->count; i++) {
        struct tested *const tested = &test->tested[i];
        for (uint32_t c = 0; tested->words && c < tested->bound.check->column_count; c++) {
            free(tested->words[c].known);
            free(tested->words[c].codes);
            free(tested->words[c].pieces);
            free(tested->words[c].sorted);
            expression_list_free(&tested->words[c].owner);
        }
        check_bound_free(&tested->bound);
        free(tested->words);
        free(tested->bound.columns);
    }
    if (test)
        free(test->tested);
    free(test);
}

/* ---- Values ---- */

static inline int64_t value_of(const struct check_values *column, uint32_t row)
{
    return column->value_bytes == 4 ? ((const int32_t *)column->values)[row]
                                    : ((const int64_t *)column->values)[row];
}

static inline bool is_null(const struct check_values *column, uint32_t row)
{
    return !column->values || (column->nulls && column->nulls[row]);
}

/* The range of the rows' values; 0 .. -1 if all are NULL. */
static void find_range(const struct rows *rows, struct check_column *column)
{
    const struct check_values *const values = &rows->columns[column->column];
    column->low = INT64_MAX;
    column->high = INT64_MIN;
    for (uint32_t row = rows->first; row < rows->end; row++) {
        if (is_null(values, row))
            continue;
        const int64_t value = value_of(values, row);
        column->low = value < column->low ? value : column->low;
        column->high = value > column->high ? value : column->high;
    }
    if (column->low > column->high) {
        column->low = 0;
        column->high = -1;
    }
}

/* ---- Strings ---- */

static void forget(struct words *words, const struct dictionary_builder *of)
{
    for (uint32_t i = 0; i < words->count; i++)
        words->known[words->codes[i]] = 0;
    words->count = 0;
    words->of = of;
}

static enum status add_word(struct words *words, int32_t code, struct error *error)
{
    if (words->count == words->room) {
        const uint32_t room = words->room ? 2 * words->room : 64;
        RETURN_IF_ERROR(memory_grow(&words->codes, room * sizeof *words->codes, "conditions", error));
        RETURN_IF_ERROR(memory_grow(&words->pieces, room * sizeof *words->pieces, "conditions", error));
        RETURN_IF_ERROR(memory_grow(&words->sorted, room * sizeof *words->sorted, "conditions", error));
        words->room = room;
    }
    words->codes[words->count++] = code;
    words->known[code] = words->count;
    return STATUS_OK;
}

/* Makes room in `known` for all codes that there are. */
static enum status reserve(struct words *words, struct error *error)
{
    const uint32_t codes = dictionary_builder_count(words->of);
    uint64_t room = words->known_room ? words->known_room : 256;
    if (codes <= words->known_room)
        return STATUS_OK;
    while (room < codes)
        room *= 2;
    RETURN_IF_ERROR(memory_grow(&words->known, room * sizeof *words->known, "conditions", error));
    memset(words->known + words->known_room, 0, (room - words->known_room) * sizeof *words->known);
    words->known_room = (uint32_t)room;
    return STATUS_OK;
}

/* Adds the strings of the rows; *more is set if there are any new ones. */
static enum status add_words(struct words *words, const struct check_values *values, const struct rows *rows,
                             bool *more, struct error *error)
{
    uint32_t row = rows->first;
    if (words->of != values->words)
        forget(words, values->words);
    if (!values->values)
        return STATUS_OK;
    RETURN_IF_ERROR(reserve(words, error));
    while (row < rows->end && (is_null(values, row) || words->known[value_of(values, row)]))
        row++;
    if (row == rows->end)
        return STATUS_OK;
    *more = true;
    if (words->count > WORDS_KEPT)
        forget(words, values->words);
    for (row = rows->first; row < rows->end; row++)
        if (!is_null(values, row) && !words->known[value_of(values, row)])
            RETURN_IF_ERROR(add_word(words, (int32_t)value_of(values, row), error));
    return STATUS_OK;
}

/* Makes the dictionary of the strings. */
static enum status sort_words(struct words *words, struct check_column *column, struct error *error)
{
    const struct dictionary **const dictionary = &column->input.type.dictionary;
    expression_list_free(&words->owner);
    words->owner.threads = 1;
    for (uint32_t i = 0; i < words->count; i++) {
        struct piece *const piece = &words->pieces[i];
        piece->number = i;
        piece->text = dictionary_builder_string(words->of, words->codes[i], &piece->length);
    }
    column->low = 0;
    column->high = (int64_t)words->count - 1;
    return expression_dictionary_of_pieces(&words->owner, words->pieces, words->count, words->sorted,
                                           dictionary, error);
}

/* ---- Binding ---- */

/* Binds the condition for the rows, unless it is bound already for such rows. */
static enum status prepare(struct tested *tested, const struct rows *rows, struct error *error)
{
    const bool narrow = tested->rows < CHECK_ROWS;
    bool again = narrow || !tested->bound.program;
    for (uint32_t c = 0; c < tested->bound.check->column_count; c++) {
        struct check_column *const column = &tested->bound.columns[c];
        struct words *const words = &tested->words[c];
        bool more = !tested->bound.program || narrow;
        if (column->input.type.kind != VALUE_STRING) {
            if (narrow)
                find_range(rows, column);
            continue;
        }
        if (narrow)
            forget(words, rows->columns[column->column].words);
        RETURN_IF_ERROR(add_words(words, &rows->columns[column->column], rows, &more, error));
        if (more)
            RETURN_IF_ERROR(sort_words(words, column, error));
        again |= more;
    }
    return again ? check_bind(&tested->bound, error) : STATUS_OK;
}

/* ---- Rows ---- */

static void fill(const struct tested *tested, uint32_t c, const struct rows *rows, struct vector vector)
{
    const struct check_column *const column = &tested->bound.columns[c];
    const struct check_values *const values = &rows->columns[column->column];
    const struct words *const words = column->input.type.kind == VALUE_STRING ? &tested->words[c] : NULL;
    const int64_t of_null = column->low <= column->high ? column->low : 0;
    for (uint32_t row = rows->first, i = 0; row < rows->end; row++, i++) {
        vector.nulls[i] = is_null(values, row);
        vector.values[i] = vector.nulls[i] ? of_null
                           : words         ? words->sorted[words->known[value_of(values, row)] - 1]
                                           : value_of(values, row);
    }
}

static void put_unknown(uint32_t row, int32_t number, int32_t *failed, bool *any)
{
    failed[row] = failed[row] ? failed[row] : -number;
    *any = true;
}

/* Tests up to VECTOR_ROWS rows. */
static enum status evaluate(struct tested *tested, const struct rows *rows, int32_t number, int32_t *failed,
                            bool *any, struct error *error)
{
    struct expression_program *const program = tested->bound.program;
    const uint32_t *leaves, count = expression_program_leaves(program, &leaves);
    for (uint32_t l = 0; l < count; l++)
        fill(tested, tested->bound.list->nodes[leaves[l]].index, rows,
             expression_program_vector(program, leaves[l]));
    expression_program_run(program, rows->end - rows->first);
    RETURN_IF_ERROR(expression_check(tested->bound.list, error));
    const struct vector made = expression_program_vector(program, tested->bound.root);
    for (uint32_t row = rows->first, i = 0; row < rows->end; row++, i++)
        if (!failed[row] && !made.values[i] && !(made.nulls && made.nulls[i])) {
            failed[row] = number;
            *any = true;
        }
    return STATUS_OK;
}

/* The same row by row, because one has values that are too large. */
static enum status evaluate_each(struct tested *tested, const struct rows *rows, int32_t number,
                                 int32_t *failed, bool *any, struct error *error)
{
    for (uint32_t row = rows->first; row < rows->end; row++) {
        const struct rows one = {rows->columns, row, row + 1};
        const enum status status = evaluate(tested, &one, number, failed, any, error);
        if (status != STATUS_BAD_INPUT)
            RETURN_IF_ERROR(status);
        else
            put_unknown(row, number, failed, any);
    }
    return STATUS_OK;
}

static enum status evaluate_all(struct tested *tested, const struct rows *rows, int32_t number,
                                int32_t *failed, bool *any, struct error *error)
{
    struct rows some = *rows;
    for (; some.first < rows->end; some.first = some.end) {
        some.end = rows->end - some.first < VECTOR_ROWS ? rows->end : some.first + VECTOR_ROWS;
        const enum status status = evaluate(tested, &some, number, failed, any, error);
        RETURN_IF_ERROR(status == STATUS_BAD_INPUT ? evaluate_each(tested, &some, number, failed, any, error)
                                                   : status);
    }
    return STATUS_OK;
}

static enum status test_one(struct tested *tested, const struct rows *all, int32_t number, int32_t *failed,
                            bool *any, struct error *error)
{
    struct rows rows = *all;
    while (rows.first < all->end) {
        rows.end = all->end - rows.first < tested->rows ? all->end : rows.first + tested->rows;
        const enum status status = prepare(tested, &rows, error);
        if (status == STATUS_BAD_INPUT && tested->rows > 1) {
            const uint32_t some = rows.end - rows.first;
            tested->rows = (some < tested->rows ? some : tested->rows) / 2;
            tested->rows += tested->rows == 0;
            continue;
        }
        if (status == STATUS_BAD_INPUT)
            put_unknown(rows.first, number, failed, any);
        else
            RETURN_IF_ERROR(status == STATUS_OK ? evaluate_all(tested, &rows, number, failed, any, error)
                                                : status);
        rows.first = rows.end;
    }
    return STATUS_OK;
}

enum status check_test_rows(struct check_test *test, const struct check_values *columns, uint32_t first,
                            uint32_t end, int32_t *failed, bool *any, struct error *error)
{
    const struct rows rows = {columns, first, end};
    *any = false;
    memset(failed + first, 0, (end - first) * sizeof *failed);
    for (uint32_t i = 0; i < test->count; i++)
        RETURN_IF_ERROR(test_one(&test->tested[i], &rows, (int32_t)i + 1, failed, any, error));
    return STATUS_OK;
}
