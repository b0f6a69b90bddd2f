/* window.c: the operator of window functions (relational.h); see window.h. */
#include "engine/relational/window/window.h"
#include "engine/relational/spill/spill.h"
#include "engine/relational/window/device.h"

#include "engine/sql/sql_error.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* The rows, to which the functions add columns, and which column of the tree each is. */
struct windows {
    struct relational *run;
    const struct logical_node *node;
    struct rowset rows;
    uint32_t *numbers;
    struct window_order order; /* of the last function */
    struct rowset placed;      /* columns of functions of this order, in it, unless that is the rows' own */
    uint32_t *placed_numbers;
    uint32_t input_count, *inputs; /* the columns of the input that are needed */
    const struct logical_set
        *needed;                  /* while the last function is computed: what is needed above; else NULL */
    uint64_t *first, first_count; /* the rows that are wanted, of each partition the first; or NULL */
    bool on_device;
    const char *why; /* the host computes functions over rows that a GPU has; or NULL */
};

/* ---- Columns ---- */

/* Adds a column to a rowset, and its number; takes it over, also after a failure. */
static enum status add_to(struct rowset *rows, uint32_t **numbers, uint32_t number,
                          struct rowset_column *column, struct error *error)
{
    const size_t more = (size_t)rows->column_count + 2;
    enum status status = memory_grow(&rows->columns, more * sizeof *rows->columns, "an answer", error);
    if (status == STATUS_OK)
        status = memory_grow(&rows->dictionaries, more * sizeof *rows->dictionaries, "an answer", error);
    if (status == STATUS_OK)
        status = memory_grow(numbers, more * sizeof **numbers, "an answer", error);
    if (status != STATUS_OK) {
        rowset_column_free(column);
        return status;
    }
    rows->dictionaries[rows->column_count] = NULL;
    (*numbers)[rows->column_count] = number;
    rows->columns[rows->column_count++] = *column;
    *column = (struct rowset_column){0};
    return STATUS_OK;
}

static enum status add_column(struct windows *windows, uint32_t number, struct rowset_column *column)
{
    return add_to(&windows->rows, &windows->numbers, number, column, windows->run->error);
}

/* Puts columns that stand in the order of their window where their rows are. */
static enum status place_rows(struct windows *windows)
{
    const unsigned threads = engine_threads(windows->run->task->engine);
    for (; windows->placed.column_count; windows->placed.column_count--) {
        const uint32_t last = windows->placed.column_count - 1;
        struct rowset_column *const column = &windows->placed.columns[last];
        RETURN_IF_ERROR(window_to_rows(&windows->order, threads, column, windows->run->error));
        RETURN_IF_ERROR(add_column(windows, windows->placed_numbers[last], column));
    }
    return STATUS_OK;
}

static void free_placed(struct windows *windows)
{
    rowset_free(&windows->placed);
    free(windows->placed_numbers);
    windows->placed_numbers = NULL;
    window_order_free(&windows->order);
}

/* The column of an argument or a term; a constant becomes one. */
static enum status column_of(struct windows *windows, const struct sql_expression *tree, uint32_t *column)
{
    struct relational *const run = windows->run;
    const struct result rows = {.rows = windows->rows.rows};
    struct rowset_column made;
    for (*column = 0; tree->operation == SQL_INPUT && *column < windows->rows.column_count; (*column)++)
        if (windows->numbers[*column] == tree->index)
            return STATUS_OK;
    *column = windows->rows.column_count;
    RETURN_IF_ERROR(relational_compute(run, &rows, (struct sql_expression *)tree, &made));
    return add_column(windows, run->next_column++, &made);
}

/* Gives two columns one type; columns that change are copied, because others may read them as they are. */
static enum status make_alike(struct windows *windows, uint32_t *a, uint32_t *b)
{
    struct relational *const run = windows->run;
    struct rowset *const rows = &windows->rows;
    const struct value_type x = rows->columns[*a].type, y = rows->columns[*b].type;
    uint32_t *const both[2] = {a, b};
    struct dictionary *made;
    if (x.kind == y.kind && x.scale == y.scale && x.untyped == y.untyped && x.dictionary == y.dictionary &&
        value_is_decimal(x) == value_is_decimal(y) && x.zoned == y.zoned)
        return STATUS_OK;
    for (uint32_t i = 0; i < 2; i++) {
        struct rowset_column copy;
        RETURN_IF_ERROR(relation_gather(&rows->columns[*both[i]], NULL, rows->rows,
                                        engine_threads(run->task->engine), &copy, run->error));
        *both[i] = rows->column_count;
        RETURN_IF_ERROR(add_column(windows, run->next_column++, &copy));
    }
    RETURN_IF_ERROR(
        relation_alike(&rows->columns[*a], rows->rows, &rows->columns[*b], rows->rows, &made, run->error));
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return relational_keep(run, &holder);
}

/* ---- One function ---- */

/* The columns that a function reads; columns may move while others are added. */
struct function {
    const struct logical_window *of;
    struct window_term *terms;
    uint32_t term_count, partition_terms;
    uint32_t argument, otherwise, number; /* or NO_COLUMN */
    int64_t constant;                     /* in place of `number` */
    struct function_edge {
        uint32_t number, key, value; /* as in struct window_edge */
        int64_t constant;
    } begin, end;
};

#define NO_COLUMN UINT32_MAX

/* The column of a whole number, or the number itself if it is written there. */
static enum status number_of(struct windows *windows, const struct sql_expression *tree, uint32_t *column,
                             int64_t *constant)
{
    *column = NO_COLUMN;
    if (!tree || tree->operation != SQL_NUMBER || strlen(tree->text) > 18)
        return tree ? column_of(windows, tree, column) : STATUS_OK;
    *constant = strtoll(tree->text, NULL, 10);
    return STATUS_OK;
}

static enum status add_terms(struct windows *windows, struct function *function)
{
    const struct sql_window *const window = function->of->window;
    RETURN_IF_ERROR(relational_memory(
        windows->run, (window->partition_count + window->order_count + 1) * sizeof *function->terms,
        &function->terms));
    for (uint32_t p = 0; p < window->partition_count; p++) {
        struct window_term *const term = &function->terms[function->term_count];
        if (window->partitions[p]->operation != SQL_INPUT) /* a constant: it divides nothing */
            continue;
        term->nulls_first = true;
        RETURN_IF_ERROR(column_of(windows, window->partitions[p], &term->column));
        function->term_count++;
    }
    function->partition_terms = function->term_count;
    for (uint32_t o = 0; o < window->order_count; o++) {
        struct window_term *const term = &function->terms[function->term_count];
        if (window->orders[o].expression->operation != SQL_INPUT)
            continue;
        term->descending = window->orders[o].descending;
        term->nulls_first = window->orders[o].nulls_first;
        RETURN_IF_ERROR(column_of(windows, window->orders[o].expression, &term->column));
        function->term_count++;
    }
    return STATUS_OK;
}

static enum status add_edge(struct windows *windows, const struct sql_window *window,
                            const struct sql_expression *value, struct function_edge *edge)
{
    *edge = (struct function_edge){NO_COLUMN, NO_COLUMN, NO_COLUMN, 0};
    if (!value)
        return STATUS_OK;
    if (window->frame != SQL_FRAME_RANGE)
        return number_of(windows, value, &edge->number, &edge->constant);
    RETURN_IF_ERROR(column_of(windows, window->orders[0].expression, &edge->key));
    RETURN_IF_ERROR(column_of(windows, value, &edge->value));
    return make_alike(windows, &edge->key, &edge->value);
}

static enum status add_arguments(struct windows *windows, struct function *function)
{
    const struct sql_expression *const call = function->of->call;
    const bool ntile = function->of->function == WINDOW_NTILE;
    const struct sql_expression *const number = ntile                   ? call->children[0]
                                                : call->child_count > 1 ? call->children[1]
                                                                        : NULL;
    function->argument = function->otherwise = function->number = NO_COLUMN;
    if (!ntile && call->child_count && call->children[0]->operation != SQL_STAR)
        RETURN_IF_ERROR(column_of(windows, call->children[0], &function->argument));
    if (function->of->function == WINDOW_AGGREGATE)
        return STATUS_OK;
    function->constant = 1; /* lag and lead without a number */
    RETURN_IF_ERROR(number_of(windows, number, &function->number, &function->constant));
    if (call->child_count < 3)
        return STATUS_OK;
    RETURN_IF_ERROR(column_of(windows, call->children[2], &function->otherwise));
    return make_alike(windows, &function->argument, &function->otherwise);
}

static const struct rowset_column *at(const struct windows *windows, uint32_t column)
{
    return column == NO_COLUMN ? NULL : &windows->rows.columns[column];
}

static struct window_edge edge_at(const struct windows *windows, enum sql_bound bound,
                                  const struct function_edge *edge)
{
    return (struct window_edge){.bound = bound,
                                .number = {at(windows, edge->number), edge->constant},
                                .key = at(windows, edge->key),
                                .value = at(windows, edge->value)};
}

static struct window_frames frames_of(const struct windows *windows, const struct function *function)
{
    const struct sql_window *const window = function->of->window;
    const bool written = window->frame != SQL_FRAME_NONE;
    return (struct window_frames){
        .frame = written ? window->frame : SQL_FRAME_RANGE,
        .begin = edge_at(windows, written ? window->begin : SQL_BOUND_FIRST, &function->begin),
        .end = edge_at(windows, written ? window->end : SQL_BOUND_CURRENT, &function->end),
        .descending = window->order_count && window->orders[0].descending,
        .exclude = window->exclude};
}

/* Values of other rows have the argument's type, and so its dictionary. */
static struct value_type type_of(const struct windows *windows, const struct window_call *call,
                                 uint32_t number)
{
    const struct value_type type = windows->run->tree->columns[number].type;
    return call->argument && (type.kind == VALUE_STRING || call->of->function != WINDOW_AGGREGATE) &&
                   call->of->function != WINDOW_NTILE
               ? call->argument->type
               : type;
}

static enum status compute(struct windows *windows, struct window_call *call, uint32_t number)
{
    struct error *const error = windows->run->error;
    const uint64_t rows = windows->rows.rows;
    call->out.type = type_of(windows, call, number);
    call->out.name = strdup(call->of->call->name);
    if (!call->out.name)
        return error_out_of_memory(error, strlen(call->of->call->name), "a name");
    const bool aggregate = call->of->function == WINDOW_AGGREGATE, rank = window_is_rank(call);
    bool nulls = !rank;
    const bool pass = aggregate && window_is_pass(call, &nulls),
               general = aggregate && !pass && !window_is_sum(call); /* reads what it has not given */
    if (!call->out.values)
        RETURN_IF_ERROR((general ? spillable_zeros : spillable_rows)(
            &call->out.values, (rows + 1) * sizeof *call->out.values, "a window", error));
    if (nulls)
        RETURN_IF_ERROR(spillable_zeros(&call->out.nulls, rows + 1, "a window", error));
    return rank        ? window_ranks(call)
           : pass      ? window_passes(call)
           : general   ? window_general(call)
           : aggregate ? window_sums(call)
                       : window_values(call);
}

/* The order of a function; columns in the last one are put where their rows are. */
static enum status order_for(struct windows *windows, const struct function *function, unsigned threads)
{
    if (window_order_is(&windows->order, function->terms, function->term_count, function->partition_terms))
        return STATUS_OK;
    RETURN_IF_ERROR(place_rows(windows));
    window_order_free(&windows->order);
    return window_order_make(&windows->rows, function->terms, function->term_count, function->partition_terms,
                             threads, &windows->order, windows->run->error);
}

/* Takes over a function's column. */
static enum status take_column(struct windows *windows, uint32_t number, struct rowset_column *column)
{
    if (column->nulls && window_has_no_null(column, windows->rows.rows)) {
        spillable_free(column->nulls);
        column->nulls = NULL;
    }
    windows->placed.rows = windows->rows.rows;
    return windows->order.places
               ? add_to(&windows->placed, &windows->placed_numbers, number, column, windows->run->error)
               : add_column(windows, number, column);
}

/* An argument that is needed above, too, is put in the window's order before the last function reads it, so that it is read
 * once in places of no order. That column is then the one with its number, and the function's values take the memory of the
 * other one: new memory of millions of rows takes as long as half of their reads. */
static enum status place_argument(struct windows *windows, uint32_t column, struct window_call *call)
{
    struct relational *const run = windows->run;
    struct rowset *const placed = &windows->placed;
    struct rowset_column copy;
    bool nulls;
    if (column == NO_COLUMN || !call->argument->values || !windows->needed || !windows->order.places ||
        windows->numbers[column] >= run->tree->column_count ||
        !logical_has(windows->needed, windows->numbers[column]) || call->of->function != WINDOW_AGGREGATE ||
        !window_is_pass(call, &nulls))
        return STATUS_OK;
    RETURN_IF_ERROR(relation_gather(call->argument, windows->order.places, windows->rows.rows, call->threads,
                                    &copy, run->error));
    placed->rows = windows->rows.rows;
    RETURN_IF_ERROR(add_to(placed, &windows->placed_numbers, windows->numbers[column], &copy, run->error));
    windows->numbers[column] = run->next_column++;
    call->placed = &placed->columns[placed->column_count - 1];
    call->out.values = windows->rows.columns[column].values;
    windows->rows.columns[column].values = NULL;
    return STATUS_OK;
}

static enum status add_to_all(struct windows *windows, const struct logical_window *of, uint32_t number)
{
    struct relational *const run = windows->run;
    const unsigned threads = engine_threads(run->task->engine);
    const struct sql_position position = of->call->position;
    struct function function = {.of = of};
    RETURN_IF_ERROR(cancel_check(run->error));
    RETURN_IF_ERROR(sql_placed(run->error, position, add_arguments(windows, &function)));
    RETURN_IF_ERROR(add_terms(windows, &function));
    RETURN_IF_ERROR(sql_placed(run->error, position,
                               add_edge(windows, of->window, of->window->begin_value, &function.begin)));
    RETURN_IF_ERROR(sql_placed(run->error, position,
                               add_edge(windows, of->window, of->window->end_value, &function.end)));
    RETURN_IF_ERROR(order_for(windows, &function, threads));
    struct window_call call = {.run = run,
                               .of = of,
                               .rows = &windows->rows,
                               .numbers = windows->numbers,
                               .order = &windows->order,
                               .frames = frames_of(windows, &function),
                               .argument = at(windows, function.argument),
                               .otherwise = at(windows, function.otherwise),
                               .number = {at(windows, function.number), function.constant},
                               .threads = threads};
    RETURN_IF_ERROR(place_argument(windows, function.argument, &call));
    const enum status status = sql_placed(run->error, position, compute(windows, &call, number));
    if (status == STATUS_OK)
        return take_column(windows, number, &call.out);
    if (call.placed) { /* with memory for fewer rows the columns are asked again */
        windows->rows.columns[function.argument].values = call.out.values;
        call.out.values = NULL;
    }
    rowset_column_free(&call.out);
    return status;
}

/* ---- All rows, or part by part (spill/spill.h) ---- */

static enum status add_function(struct windows *windows, const struct logical_window *of, uint32_t number);

/* A function over rows that have all of their partitions; their columns, and then its own. */
struct window_part {
    struct relational *run;
    const struct logical_window *of;
    uint32_t count, *numbers;
};

static enum status window_part(void *context, struct result *inputs, struct result *result)
{
    const struct window_part *const part = context;
    struct relational *const run = part->run;
    struct windows windows = {.run = run};
    struct result made = {0};
    RETURN_IF_ERROR(
        memory_take(&windows.numbers, part->count * sizeof *part->numbers, "an answer", run->error));
    memcpy(windows.numbers, part->numbers, part->count * sizeof *part->numbers);
    enum status status = result_rows(run, &inputs[0], part->numbers, part->count - 1, &windows.rows);
    if (status == STATUS_OK)
        status = add_function(&windows, part->of, part->numbers[part->count - 1]);
    if (status == STATUS_OK)
        status = place_rows(&windows);
    if (status == STATUS_OK)
        status = result_of_rows(run, &windows.rows, windows.numbers, &made);
    if (status == STATUS_OK) /* without the columns of constants */
        status = result_renamed(run, &made, part->count, part->numbers, part->numbers, result);
    result_free(&made);
    rowset_free(&windows.rows);
    free_placed(&windows);
    free(windows.numbers);
    return status;
}

/* Divides the rows by what all of a partition have. */
static enum status divide(struct windows *windows, struct window_part *part, struct result *made)
{
    struct relational *const run = windows->run;
    const struct sql_window *const window = part->of->window;
    struct result rows;
    uint32_t *keys, count = 0;
    bool one_key;
    RETURN_IF_ERROR(relational_memory(run, (window->partition_count + 1) * sizeof *keys, &keys));
    for (uint32_t p = 0; p < window->partition_count; p++)
        if (window->partitions[p]->operation == SQL_INPUT)
            keys[count++] = window->partitions[p]->index;
    RETURN_IF_ERROR(result_of_rows(run, &windows->rows, windows->numbers, &rows));
    enum status status = spill_is_one_key(run, &rows, count, keys, &one_key);
    if (status == STATUS_OK)
        status = one_key ? spill_undivided(run, window_part, part, &rows, made)
                         : spill_run(run, 1, (struct result *const[]){&rows}, count,
                                     (const uint32_t *const[]){keys}, window_part, part, made);
    result_free(&rows);
    return status;
}

static enum status add_to_parts(struct windows *windows, const struct logical_window *of, uint32_t number)
{
    struct relational *const run = windows->run;
    struct window_part part = {.run = run, .of = of, .count = windows->rows.column_count + 1};
    struct result made;
    RETURN_IF_ERROR(relational_memory(run, part.count * sizeof *part.numbers, &part.numbers));
    memcpy(part.numbers, windows->numbers, (part.count - 1) * sizeof *part.numbers);
    part.numbers[part.count - 1] = number;
    RETURN_IF_ERROR(
        memory_grow(&windows->numbers, part.count * sizeof *part.numbers, "an answer", run->error));
    RETURN_IF_ERROR(divide(windows, &part, &made));
    memcpy(windows->numbers, part.numbers, part.count * sizeof *part.numbers);
    return result_rows(run, &made, part.numbers, part.count, &windows->rows);
}

static enum status add_function(struct windows *windows, const struct logical_window *of, uint32_t number)
{
    const struct spill_mark mark = spill_mark();
    const enum status status = add_to_all(windows, of, number);
    if (!spill_wanted(windows->run, &mark, status))
        return status;
    RETURN_IF_ERROR(place_rows(windows));
    window_order_free(&windows->order);
    return add_to_parts(windows, of, number);
}

/* ---- The whole ---- */

/* Answers the input; `taken`: its rows may stay on the GPU. */
static enum status answer_input(struct windows *windows, const struct logical_set *needed,
                                struct taken *taken, struct result *result)
{
    struct relational *const run = windows->run;
    const struct logical_node *const input = windows->node->inputs[0];
    struct logical_set names;
    RETURN_IF_ERROR(relational_set(run, &names));
    memcpy(names.bits, needed->bits, needed->words * sizeof *needed->bits);
    logical_node_names(windows->node, &names);
    RETURN_IF_ERROR(
        relational_memory(run, (input->column_count + 1) * sizeof *windows->inputs, &windows->inputs));
    for (uint32_t c = 0; c < input->column_count; c++)
        if (logical_has(&names, input->columns[c]))
            windows->inputs[windows->input_count++] = input->columns[c];
    if (!taken)
        return relational_node(run, input, &names, result);
    taken->node = input;
    return taken_ask(run, taken, &names, result);
}

/* Makes the input the rows to which functions add columns. */
static enum status take_input(struct windows *windows, const struct taken *taken, struct result *input)
{
    struct relational *const run = windows->run;
    const uint32_t count = windows->input_count;
    RETURN_IF_ERROR(
        memory_take(&windows->numbers, (count + 1) * sizeof *windows->numbers, "an answer", run->error));
    memcpy(windows->numbers, windows->inputs, count * sizeof *windows->numbers);
    return taken->rows ? taken_fetch(run, taken, windows->inputs, count, &windows->rows)
                       : result_rows(run, input, windows->inputs, count, &windows->rows);
}

/* If of each partition the first row alone is wanted, it may be found without sorting the others. */
static enum status find_first(struct windows *windows, bool wanted)
{
    struct relational *const run = windows->run;
    struct function function = {.of = &windows->node->window.windows[0]};
    if (!wanted || windows->rows.rows == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(add_terms(windows, &function));
    return window_first_rows(&windows->rows, function.terms, function.term_count, function.partition_terms,
                             engine_threads(run->task->engine), &windows->first, &windows->first_count,
                             run->error);
}

static enum status add_functions(struct windows *windows, const struct logical_set *needed, bool first)
{
    const struct logical_node *const node = windows->node;
    RETURN_IF_ERROR(find_first(windows, first));
    if (windows->first)
        return STATUS_OK;
    for (uint32_t w = 0; w < node->window.count; w++) {
        windows->needed = w + 1 == node->window.count ? needed : NULL;
        RETURN_IF_ERROR(add_function(windows, &node->window.windows[w],
                                     node->columns[node->column_count - node->window.count + w]));
    }
    return STATUS_OK;
}

/* Computes the functions: on the GPU if that has the rows and can, and then they stay there. */
static enum status compute_all(struct windows *windows, const struct logical_set *needed, struct taken *taken,
                               bool first, struct result *input)
{
    struct relational *const run = windows->run;
    windows->on_device = false;
    if (taken->rows) {
        RETURN_IF_ERROR(window_device_add(run, windows->node, needed, taken, &windows->why));
        windows->on_device = !windows->why;
    }
    if (windows->on_device || run->dry)
        return STATUS_OK;
    RETURN_IF_ERROR(take_input(windows, taken, input));
    return add_functions(windows, needed, first);
}

/* A column that is needed above takes as many bytes of random reads, in the order of the window, as a function's takes of
 * random writes, in that of the rows: but reads wait for nothing, and take a sixth of the time. */
#define READS_A_WRITE 6u

/* The rows of the input, of which *places are taken over as those that stand in the result; then more columns. */
static enum status rows_through(struct windows *windows, uint64_t **places, uint64_t count,
                                struct result *result)
{
    RETURN_IF_ERROR(result_of_rows(windows->run, &windows->rows, windows->numbers, result));
    result->rows = count;
    result->parts[0].places = *places;
    *places = NULL;
    return STATUS_OK;
}

/* The rows that are wanted, whose number is 1. */
static enum status give_first(struct windows *windows, struct result *result)
{
    struct relational *const run = windows->run;
    const struct logical_node *const node = windows->node;
    const uint32_t number = node->columns[node->column_count - 1];
    const char *const name = node->window.windows[0].call->name;
    struct rowset_column ones = {.type = run->tree->columns[number].type, .name = strdup(name)};
    enum status status = ones.name ? STATUS_OK : error_out_of_memory(run->error, strlen(name), "a name");
    status = AND_THEN(status, spillable_rows(&ones.values, (windows->first_count + 1) * sizeof *ones.values,
                                             "a window", run->error));
    for (uint64_t i = 0; status == STATUS_OK && i < windows->first_count; i++)
        ones.values[i] = 1;
    status = AND_THEN(status, rows_through(windows, &windows->first, windows->first_count, result));
    if (status == STATUS_OK)
        return result_add(run, result, number, &ones);
    rowset_column_free(&ones);
    return status;
}

static enum status give_placed(struct windows *windows, struct result *result)
{
    struct relational *const run = windows->run;
    struct result placed;
    RETURN_IF_ERROR(result_of_rows(run, &windows->placed, windows->placed_numbers, &placed));
    enum status status = rows_through(windows, &windows->order.places, placed.rows, result);
    status = AND_THEN(status, result_beside(run, result, &placed));
    if (status != STATUS_OK)
        result_free(&placed);
    return status;
}

/* The rows stand in the order of the last window, unless many of the input's columns are needed. */
static enum status give_result(struct windows *windows, const struct logical_set *needed,
                               struct result *result)
{
    struct relational *const run = windows->run;
    uint32_t reads = 0;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < windows->rows.column_count; c++)
        reads += windows->numbers[c] < run->tree->column_count && logical_has(needed, windows->numbers[c]);
    if (reads > READS_A_WRITE * windows->placed.column_count)
        status = place_rows(windows);
    *result = (struct result){0};
    status = AND_THEN(status, windows->first ? give_first(windows, result)
                              : windows->placed.column_count
                                  ? give_placed(windows, result)
                                  : result_of_rows(run, &windows->rows, windows->numbers, result));
    if (status == STATUS_OK)
        result_trim(result, needed);
    else
        result_free(result);
    return status;
}

static void explain_place(const struct windows *windows, struct explain_node *node)
{
    explain_count(node, "functions", windows->node->window.count);
    if (windows->on_device) {
        explain_words(node, "device", "%s", engine_device_text(windows->run->task->engine));
        explain_words(node, "place", "on the GPU");
    } else if (windows->first_count) {
        explain_words(node, "place", "of which the first row of each partition is wanted");
    } else if (windows->why) {
        explain_words(node, "place", "on the host, because %s", windows->why);
    }
}

/* True if the rows that are wanted have number 1 in their partitions, and nothing else is computed. */
static bool is_first_wanted(struct relational *run, const struct logical_node *node)
{
    const bool wanted = run->first.node == node && node->window.count == 1 &&
                        node->window.windows[0].function == WINDOW_ROW_NUMBER &&
                        run->first.column == node->columns[node->column_count - 1];
    run->first = (struct wanted_first){0};
    return wanted;
}

enum status relational_windows(struct relational *run, const struct logical_node *node,
                               const struct logical_set *needed, struct result *result)
{
    struct windows windows = {.run = run, .node = node};
    struct explain_tree *const explained = run->explained;
    const bool first = is_first_wanted(run, node);
    struct taken *const asked = run->taken && run->taken->node == node ? run->taken : NULL, taken = {0};
    struct operator operator;
    struct result input = {0};
    const bool may = asked && window_device_can(node);
    windows.why = asked && !may ? "a GPU has not all of them" : NULL;
    enum status status = answer_input(&windows, needed, may ? &taken : NULL, &input);
    const double rows = (double)input.rows;
    operator_begin(run, "window", &input, NULL, &operator);
    run->explained = NULL; /* plans of functions are parts of the operator */
    if (status == STATUS_OK)
        status = compute_all(&windows, needed, &taken, first, &input);
    run->explained = explained;
    explain_place(&windows, operator.node);
    if (status == STATUS_OK && run->dry)
        operator_dry(&operator, rows, result);
    else if (status == STATUS_OK && !windows.on_device)
        status = give_result(&windows, needed, result);
    if (status == STATUS_OK && windows.on_device) {
        *asked = (struct taken){node, taken.rows, taken.count, taken.numbers};
        result->rows = input.rows;
    } else {
        taken_free(&taken);
    }
    if (status == STATUS_OK)
        operator_end(run, &operator, rows, result);
    if (status != STATUS_OK)
        result_free(&input); /* unless its rows are those of `windows` already */
    rowset_free(&windows.rows);
    spillable_free(windows.first);
    free_placed(&windows);
    free(windows.numbers);
    return status;
}
