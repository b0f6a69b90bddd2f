/* string_combinations.c: see string_combinations.h. */
#include "engine/plan/functions/string_combinations.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* So few combinations are not looked for: it would take longer to start. */
#define COMBINATIONS_FEW 4096u

/* ---- Cells ---- */

struct cells {
    uint64_t firsts, seconds; /* the domains of a and b */
    const uint64_t *pairs;    /* a * seconds + b, ascending */
    uint64_t count;
    int64_t *starts, *sizes, *cells; /* see string_combinations.h */
    uint64_t cell_count, cell_room;
    uint32_t *seen; /* the last trial in which a remainder was seen */
    uint32_t trial;
};

/* True if the second values of pairs begin .. end - 1 have different remainders. */
static bool are_different(struct cells *of, uint64_t begin, uint64_t end, uint64_t size)
{
    of->trial++;
    for (uint64_t p = begin; p < end; p++) {
        uint32_t *const seen = &of->seen[of->pairs[p] % of->seconds % size];
        if (*seen == of->trial)
            return false;
        *seen = of->trial;
    }
    return true;
}

/* The least size tried; each is a sixteenth larger than the one before, up to one that always does. */
static uint64_t size_of(struct cells *of, uint64_t begin, uint64_t end)
{
    const uint64_t always = of->pairs[end - 1] - of->pairs[begin] + 1;
    uint64_t size = end - begin;
    while (size < always && !are_different(of, begin, end, size))
        size += size / 16 + 1;
    return size < always ? size : always;
}

static enum status cells_room(struct cells *of, uint64_t more, struct error *error)
{
    const uint64_t needed = of->cell_count + more;
    if (needed <= of->cell_room)
        return STATUS_OK;
    if (needed > STRING_CELLS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "the columns of this function have too many combinations of strings (more than %llu "
                         "cells of a table); output the columns side by side",
                         (unsigned long long)STRING_CELLS_MAX);
    of->cell_room = needed + needed / 2;
    return memory_grow(&of->cells, of->cell_room * sizeof *of->cells, "combinations of strings", error);
}

static enum status cells_fill(struct cells *of, struct error *error)
{
    for (uint64_t a = 0; a < of->firsts; a++) {
        of->starts[a] = 0;
        of->sizes[a] = 1;
    }
    for (uint64_t begin = 0, end; begin < of->count; begin = end) {
        const uint64_t a = of->pairs[begin] / of->seconds;
        for (end = begin + 1; end < of->count && of->pairs[end] / of->seconds == a;)
            end++;
        const uint64_t size = size_of(of, begin, end);
        RETURN_IF_ERROR(cells_room(of, size, error));
        memset(of->cells + of->cell_count, 0, size * sizeof *of->cells);
        for (uint64_t p = begin; p < end; p++)
            of->cells[of->cell_count + of->pairs[p] % of->seconds % size] = (int64_t)p;
        of->starts[a] = (int64_t)of->cell_count;
        of->sizes[a] = (int64_t)size;
        of->cell_count += size;
    }
    return STATUS_OK;
}

/* Makes the node of the cell of two nodes' values. Of rows whose pair is not among those found, it is any. */
static enum status cells_node(struct expression_list *list, struct cells *of, uint32_t a, uint32_t b,
                              uint32_t *index, struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    int64_t *const starts = of->starts, *const sizes = of->sizes;
    uint32_t start, size, zero;
    RETURN_IF_ERROR(expression_constant(list, whole, 0, &zero, error));
    RETURN_IF_ERROR(expression_apply(list, EXPRESSION_ADD, zero, b, EXPRESSION_NONE, &b, error));
    of->starts = NULL; /* the list owns it now, also after an error */
    RETURN_IF_ERROR(expression_lookup(list, a, whole, starts, of->firsts, &start, error));
    of->sizes = NULL;
    RETURN_IF_ERROR(expression_lookup(list, a, whole, sizes, of->firsts, &size, error));
    RETURN_IF_ERROR(expression_apply(list, EXPRESSION_REMAINDER, b, size, EXPRESSION_NONE, index, error));
    return expression_apply(list, EXPRESSION_ADD, start, *index, EXPRESSION_NONE, index, error);
}

static enum status cells_make(struct expression_list *list, struct cells *of, uint32_t a, uint32_t b,
                              uint32_t *index, struct error *error)
{
    RETURN_IF_ERROR(
        memory_take(&of->starts, of->firsts * sizeof *of->starts, "combinations of strings", error));
    RETURN_IF_ERROR(
        memory_take(&of->sizes, of->firsts * sizeof *of->sizes, "combinations of strings", error));
    RETURN_IF_ERROR(
        memory_zeros(&of->seen, of->seconds * sizeof *of->seen, "combinations of strings", error));
    RETURN_IF_ERROR(cells_fill(of, error));
    if (of->cell_count == 0) { /* no row has a pair: one cell that nothing is in */
        RETURN_IF_ERROR(cells_room(of, 1, error));
        of->cells[of->cell_count++] = 0;
    }
    return cells_node(list, of, a, b, index, error);
}

/* ---- Columns ---- */

/* Makes a node of numbers of combinations from that of cells. */
static enum status leave_cells(struct expression_list *list, struct string_combinations *made,
                               struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    int64_t *const cells = made->cells;
    made->cells = NULL;
    return cells ? expression_lookup(list, made->node, whole, cells, made->cell_count, &made->node, error)
                 : STATUS_OK;
}

/* Adds a column by the pairs that occur. */
static enum status add_occurring(struct expression_list *list, struct string_combinations *made, uint32_t c,
                                 uint32_t column, uint64_t strings, struct error *error)
{
    const bool turned = strings > made->count;
    const uint32_t nodes[2] = {turned ? column : made->node, turned ? made->node : column};
    struct cells of = {.firsts = turned ? strings : made->count, .seconds = turned ? made->count : strings};
    const uint64_t domains[2] = {of.firsts, of.seconds};
    RETURN_IF_ERROR(list->rows->pairs(list->rows, nodes, domains, &of.pairs, &of.count, error));
    if (of.count > STRING_PAIRS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "the columns of this function have %llu combinations of strings in the rows, more "
                         "than %llu; output the columns side by side",
                         (unsigned long long)of.count, (unsigned long long)STRING_PAIRS_MAX);
    const enum status status = cells_make(list, &of, nodes[0], nodes[1], &made->node, error);
    free(of.starts);
    free(of.sizes);
    free(of.seen);
    made->cells = of.cells;
    made->cell_count = of.cell_count;
    made->pairs[c] = of.pairs;
    made->turned[c] = turned;
    made->domain[c] = of.seconds;
    made->count = of.count;
    return status;
}

/* Adds a column by all combinations. */
static enum status add_all(struct expression_list *list, struct string_combinations *made, uint32_t c,
                           uint32_t column, uint64_t strings, struct error *error)
{
    const struct value_type whole = {.kind = VALUE_INTEGER};
    uint32_t zero, size;
    RETURN_IF_ERROR(expression_constant(list, whole, 0, &zero, error));
    RETURN_IF_ERROR(expression_constant(list, whole, (int64_t)strings, &size, error));
    RETURN_IF_ERROR(
        expression_apply(list, EXPRESSION_ADD, zero, made->node, EXPRESSION_NONE, &made->node, error));
    RETURN_IF_ERROR(
        expression_apply(list, EXPRESSION_MULTIPLY, made->node, size, EXPRESSION_NONE, &made->node, error));
    RETURN_IF_ERROR(
        expression_apply(list, EXPRESSION_ADD, made->node, column, EXPRESSION_NONE, &made->node, error));
    made->domain[c] = strings;
    made->count *= strings;
    return STATUS_OK;
}

static enum status add_column(struct expression_list *list, struct string_combinations *made, uint32_t c,
                              uint32_t column, uint64_t strings, struct error *error)
{
    const uint64_t all = made->count * strings;
    RETURN_IF_ERROR(leave_cells(list, made, error));
    const uint32_t nodes[2] = {made->node, column};
    bool filtered;
    const uint64_t rows =
        list->rows && all > COMBINATIONS_FEW ? list->rows->count(list->rows, nodes, &filtered) : UINT64_MAX;
    if (rows != UINT64_MAX && (rows < all / 2 || all > STRING_COMBINATIONS_MAX))
        return add_occurring(list, made, c, column, strings, error);
    if (all > STRING_COMBINATIONS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "the columns of this function have more than %llu combinations of strings; "
                         "output the columns side by side, or group by them and join their text later",
                         (unsigned long long)STRING_COMBINATIONS_MAX);
    return add_all(list, made, c, column, strings, error);
}

/* How columns are added to the first one. */
typedef enum status add_next(struct expression_list *list, struct string_combinations *made, uint32_t c,
                             uint32_t column, uint64_t strings, struct error *error);

static enum status make(struct expression_list *list, const uint32_t *children, uint32_t child_count,
                        add_next *add, struct string_combinations *made, struct error *error)
{
    *made = (struct string_combinations){
        .list = list, .children = children, .child_count = child_count, .node = EXPRESSION_NONE, .count = 1};
    for (uint32_t c = 0; c < child_count; c++) {
        if (list->nodes[children[c]].operation == EXPRESSION_CONSTANT)
            continue;
        const uint64_t strings = list->nodes[children[c]].type.dictionary->count;
        if (made->node != EXPRESSION_NONE) {
            RETURN_IF_ERROR(add(list, made, c, children[c], strings, error));
            continue;
        }
        made->node = children[c];
        made->count = strings;
    }
    if (made->node != EXPRESSION_NONE)
        return STATUS_OK;
    return expression_constant(list, (struct value_type){.kind = VALUE_INTEGER}, 0, &made->node, error);
}

/* Takes the strings of the only column that rows have after conditions, if finding them is cheaper than a function of all
 * strings may be: reading a row takes a tenth of it. */
static enum status take_occurring(struct expression_list *list, struct string_combinations *made,
                                  struct error *error)
{
    uint32_t nodes[2] = {made->node};
    uint64_t values;
    bool filtered;
    const struct value_type whole = {.kind = VALUE_INTEGER};
    if (!list->rows || made->count < COMBINATIONS_FEW)
        return STATUS_OK;
    RETURN_IF_ERROR(expression_constant(list, whole, 0, &nodes[1], error));
    const uint64_t rows = list->rows->count(list->rows, nodes, &filtered);
    if (rows > 2 * made->count || !filtered)
        return STATUS_OK;
    const uint64_t domains[2] = {made->count, 1};
    RETURN_IF_ERROR(list->rows->pairs(list->rows, nodes, domains, &made->only, &values, error));
    RETURN_IF_ERROR(
        memory_zeros(&made->cells, made->count * sizeof *made->cells, "combinations of strings", error));
    for (uint64_t v = 0; v < values; v++)
        made->cells[made->only[v]] = (int64_t)v;
    made->cell_count = made->count;
    made->count = values;
    return STATUS_OK;
}

enum status string_combinations_make(struct expression_list *list, const uint32_t *children,
                                     uint32_t child_count, bool costly, struct string_combinations *made,
                                     struct error *error)
{
    uint32_t columns = 0;
    for (uint32_t c = 0; c < child_count; c++)
        columns += list->nodes[children[c]].operation != EXPRESSION_CONSTANT;
    RETURN_IF_ERROR(make(list, children, child_count, add_column, made, error));
    return columns == 1 && costly ? take_occurring(list, made, error) : STATUS_OK;
}

enum status string_combinations_all(struct expression_list *list, const uint32_t *children,
                                    uint32_t child_count, struct string_combinations *made,
                                    struct error *error)
{
    return make(list, children, child_count, add_all, made, error);
}

void string_combinations_free(struct string_combinations *made)
{
    free(made->cells);
}

void string_combination(const struct string_combinations *of, uint64_t number, struct string_value *strings)
{
    for (uint32_t c = of->child_count; c-- > 0;) {
        const struct expression *const child = &of->list->nodes[of->children[c]];
        uint64_t code = number;
        if (child->operation == EXPRESSION_CONSTANT) {
            code = (uint64_t)child->constant;
        } else if (of->only) {
            code = of->only[number];
        } else if (of->domain[c]) { /* not the first column */
            const uint64_t pair = of->pairs[c] ? of->pairs[c][number] : number;
            const uint64_t a = pair / of->domain[c], b = pair % of->domain[c];
            code = of->turned[c] ? a : b;
            number = of->turned[c] ? b : a;
        }
        strings[c].text = dictionary_string(child->type.dictionary, (int64_t)code, &strings[c].length);
    }
}
