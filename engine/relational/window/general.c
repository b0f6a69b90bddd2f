/*
 * general.c: any aggregate over frames; see window.h. The rows of many frames are put one after the other, each with its
 * frame's number, and a plan groups them by it, so that an aggregate means here what it means with GROUP BY. Rows that
 * follow each other and have the same frame share it.
 *
 * The time is that of all rows of all frames: for n rows and ORDER BY without a frame n * n / 2.
 */
#include "engine/relational/window/window.h"

#include "engine/sql/aggregates/aggregate_names.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX ((uint64_t)1 << 22) /* rows of frames in a plan, unless one frame has more; some 100 MB */

/* Frames that a plan answers: those of the places first .. */
struct batch {
    uint64_t first, place_count, place_room;
    uint64_t *frames; /* the frame of each place, from 0 */
    uint64_t frame_count;
    struct window_frame last;
    uint64_t pair_count, pair_room;
    uint64_t *rows;  /* of each pair */
    int64_t *groups; /* its frame */
};

struct general {
    struct window_call *call;
    struct batch batch;
    uint32_t group, order;             /* numbers of columns that no other column has */
    const struct sql_expression *tree; /* the aggregate; ORDER BY is in it if the window's order decides */
    int64_t nothing;                   /* the value of an empty frame */
    bool nothing_null;
};

/* ---- The plan ---- */

static enum status add_column(struct rowset *rows, uint32_t *numbers, const struct rowset_column *from,
                              uint32_t number, const uint64_t *places, unsigned threads, struct error *error)
{
    for (uint32_t c = 0; c < rows->column_count; c++)
        if (numbers[c] == number)
            return STATUS_OK;
    RETURN_IF_ERROR(
        relation_gather(from, places, rows->rows, threads, &rows->columns[rows->column_count], error));
    numbers[rows->column_count++] = number;
    return STATUS_OK;
}

static enum status add_columns(const struct general *general, struct rowset *rows, uint32_t *numbers)
{
    const struct window_call *const call = general->call;
    const struct sql_expression *const tree = general->tree;
    struct error *const error = call->run->error;
    const struct rowset_column groups = {
        .name = "frame", .type = {.kind = VALUE_INTEGER}, .values = general->batch.groups};
    RETURN_IF_ERROR(add_column(rows, numbers, &groups, general->group, NULL, call->threads, error));
    for (uint32_t a = 0; a < tree->child_count; a++)
        for (uint32_t c = 0; c < call->rows->column_count && tree->children[a]->operation == SQL_INPUT; c++)
            if (call->numbers[c] == tree->children[a]->index)
                RETURN_IF_ERROR(add_column(rows, numbers, &call->rows->columns[c], call->numbers[c],
                                           general->batch.rows, call->threads, error));
    if (tree == call->of->call)
        return STATUS_OK;
    RETURN_IF_ERROR(add_column(rows, numbers, &groups, general->order, NULL, call->threads, error));
    for (uint64_t i = 0; i < rows->rows; i++)
        rows->columns[rows->column_count - 1].values[i] = (int64_t)i;
    return STATUS_OK;
}

/* The rows of the batch's frames, `count` of them. */
static enum status make_rows(const struct general *general, uint64_t count, struct result *result)
{
    struct relational *const run = general->call->run;
    const uint32_t most = general->tree->child_count + 3;
    struct rowset rows = {.rows = count};
    uint32_t *numbers;
    RETURN_IF_ERROR(relational_memory(run, most * sizeof *numbers, &numbers));
    enum status status = memory_zeros(&rows.columns, most * sizeof *rows.columns, "a window", run->error);
    if (status == STATUS_OK)
        status = memory_zeros(&rows.dictionaries, most * sizeof *rows.dictionaries, "a window", run->error);
    if (status == STATUS_OK)
        status = add_columns(general, &rows, numbers);
    if (status == STATUS_OK)
        return result_of_rows(run, &rows, numbers, result);
    rowset_free(&rows);
    return status;
}

/* Answers the aggregate of these rows, for each frame that has any, or of all rows; *frames and *values are to be freed with
 * rowset_column_free. */
static enum status run_plan(struct general *general, uint64_t count, bool grouped,
                            struct rowset_column *frames, struct rowset_column *values)
{
    struct relational *const run = general->call->run;
    const uint32_t numbers[2] = {general->group, run->next_column++};
    struct sql_expression *key;
    struct sql_select *select;
    struct result rows, result;
    *frames = *values = (struct rowset_column){0};
    RETURN_IF_ERROR(relational_memory(run, sizeof *select, &select));
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, general->tree->position, &key, run->error));
    key->index = general->group;
    select->position = general->tree->position;
    if (grouped) {
        RETURN_IF_ERROR(relational_item(run, select, key, numbers[0]));
        RETURN_IF_ERROR(
            sql_tree_append(run->arena, &select->groups, &select->group_count, sizeof key, &key, run->error));
    }
    RETURN_IF_ERROR(relational_item(run, select, (struct sql_expression *)general->tree, numbers[1]));
    RETURN_IF_ERROR(make_rows(general, count, &rows));
    enum status status = relational_select(run, &rows, select, numbers + !grouped, &result);
    result_free(&rows);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(result_code(run, &result));
    if (grouped)
        status = result_gather(run, &result, numbers[0], frames);
    if (status == STATUS_OK)
        status = result_gather(run, &result, numbers[1], values);
    result_free(&result);
    if (status != STATUS_OK)
        rowset_column_free(frames);
    return status;
}

/* The aggregate of no rows. */
static enum status find_nothing(struct general *general)
{
    struct rowset_column frames, values;
    general->nothing_null = true;
    if (general->call->out.type.kind == VALUE_STRING)
        return STATUS_OK;
    const enum status status = run_plan(general, 0, false, &frames, &values);
    RETURN_IF_ERROR(status);
    general->nothing_null = window_is_null(&values, 0);
    general->nothing = general->nothing_null ? 0 : values.values[0];
    rowset_column_free(&values);
    return STATUS_OK;
}

/* ---- Values ---- */

/* The values of the batch's frames, each at its rows. */
static enum status give_batch(struct general *general, const struct rowset_column *frames,
                              const struct rowset_column *values, uint64_t count)
{
    struct window_call *const call = general->call;
    const struct batch *const batch = &general->batch;
    uint64_t *answers; /* where a frame's value is; `count`: it has no rows */
    RETURN_IF_ERROR(
        spillable_rows(&answers, (batch->frame_count + 1) * sizeof *answers, "a window", call->run->error));
    for (uint64_t f = 0; f < batch->frame_count; f++)
        answers[f] = count;
    for (uint64_t i = 0; i < count; i++)
        answers[frames->values[i]] = i;
    for (uint64_t p = 0; p < batch->place_count; p++) {
        const uint64_t at = batch->first + p, answer = answers[batch->frames[p]];
        if (answer < count)
            window_give_cell(call, at, values, answer);
        else if (general->nothing_null)
            window_give_null(call, at);
        else
            window_give(call, at, general->nothing);
    }
    spillable_free(answers);
    return STATUS_OK;
}

/* The values and those that the function has get one type: strings one dictionary. */
static enum status make_alike(struct general *general, struct rowset_column *values, uint64_t count)
{
    struct window_call *const call = general->call;
    struct dictionary *made;
    RETURN_IF_ERROR(relation_alike(&call->out, call->rows->rows, values, count, &made, call->run->error));
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return relational_keep(call->run, &holder);
}

static uint64_t frames_with_rows(const struct batch *batch)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < batch->pair_count; i++)
        count += i == 0 || batch->groups[i] != batch->groups[i - 1];
    return count;
}

static enum status answer_batch(struct general *general)
{
    const uint64_t count = frames_with_rows(&general->batch);
    struct rowset_column frames = {0}, values = {0};
    enum status status = STATUS_OK;
    if (count) {
        status = run_plan(general, general->batch.pair_count, true, &frames, &values);
        if (status == STATUS_OK)
            status = make_alike(general, &values, count);
    }
    if (status == STATUS_OK)
        status = give_batch(general, &frames, &values, count);
    rowset_column_free(&frames);
    rowset_column_free(&values);
    return status;
}

/* ---- Batches ---- */

static bool is_last_frame(const struct batch *batch, const struct window_frame *frame)
{
    return batch->frame_count && window_frames_are_same(&batch->last, frame);
}

static uint64_t rows_of(const struct window_frame *frame)
{
    uint64_t rows = 0;
    for (uint32_t r = 0; r < frame->count; r++)
        rows += frame->ranges[r].end - frame->ranges[r].begin;
    return rows;
}

/* Makes room for so many elements of 8 bytes, twice as many as there were. */
static enum status grow(uint64_t needed, uint64_t *room, void *first, void *second, struct error *error)
{
    const uint64_t more = needed > 2 * *room ? needed : 2 * *room;
    if (needed <= *room)
        return STATUS_OK;
    RETURN_IF_ERROR(spillable_grow(first, more * sizeof(uint64_t), "a window", error));
    if (second)
        RETURN_IF_ERROR(spillable_grow(second, more * sizeof(uint64_t), "a window", error));
    *room = more;
    return STATUS_OK;
}

static enum status add_frame(struct general *general, const struct window_frame *frame)
{
    struct batch *const batch = &general->batch;
    const struct window_call *const call = general->call;
    RETURN_IF_ERROR(grow(batch->pair_count + rows_of(frame), &batch->pair_room, &batch->rows, &batch->groups,
                         call->run->error));
    for (uint32_t r = 0; r < frame->count; r++)
        for (uint64_t at = frame->ranges[r].begin; at < frame->ranges[r].end; at++) {
            batch->rows[batch->pair_count] = window_row(call->order, at);
            batch->groups[batch->pair_count++] = (int64_t)batch->frame_count;
        }
    batch->frame_count++;
    batch->last = *frame;
    return STATUS_OK;
}

static enum status add_place(struct general *general, uint64_t at, const struct window_frame *frame)
{
    struct batch *const batch = &general->batch;
    struct error *const error = general->call->run->error;
    if (!is_last_frame(batch, frame)) {
        if (batch->pair_count && batch->pair_count + rows_of(frame) > PAIRS_MAX) {
            RETURN_IF_ERROR(answer_batch(general));
            batch->first = at;
            batch->place_count = batch->frame_count = batch->pair_count = 0;
        }
        RETURN_IF_ERROR(add_frame(general, frame));
    }
    RETURN_IF_ERROR(grow(batch->place_count + 1, &batch->place_room, &batch->frames, NULL, error));
    batch->frames[batch->place_count++] = batch->frame_count - 1;
    return at % WINDOW_BLOCK ? STATUS_OK : cancel_check(error);
}

static enum status answer_frames(struct general *general)
{
    struct window_call *const call = general->call;
    struct window_cursor cursor;
    struct window_frame frame;
    RETURN_IF_ERROR(find_nothing(general));
    if (call->order->rows == 0)
        return STATUS_OK;
    window_cursor_open(call->order, 0, &cursor);
    for (uint64_t at = 0; at < call->order->rows; at++, window_cursor_next(&cursor)) {
        RETURN_IF_ERROR(window_frame_find(&call->frames, &cursor, &frame, call->run->error));
        RETURN_IF_ERROR(add_place(general, at, &frame));
    }
    return answer_batch(general);
}

/* ---- The whole ---- */

/* Strings that have no order of their own stand in the window's. */
static enum status order_strings(struct general *general)
{
    struct relational *const run = general->call->run;
    const struct sql_expression *const call = general->call->of->call;
    struct sql_expression *made, *order;
    general->tree = call;
    if (aggregate_name_find(call->name)->family != FAMILY_STRINGS || call->ordered || call->distinct ||
        general->call->of->window->order_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(relational_memory(run, sizeof *made, &made));
    *made = *call;
    made->child_count = 0;
    made->children = NULL;
    for (uint32_t c = 0; c < call->child_count; c++)
        RETURN_IF_ERROR(sql_tree_child(run->arena, made, call->children[c], run->error));
    RETURN_IF_ERROR(sql_tree_node(run->arena, SQL_INPUT, call->position, &order, run->error));
    order->index = general->order;
    RETURN_IF_ERROR(sql_tree_child(run->arena, made, order, run->error));
    made->ordered = true;
    general->tree = made;
    return STATUS_OK;
}

/* Strings that nobody gives are codes of an empty dictionary. */
static enum status give_dictionary(struct window_call *call)
{
    uint64_t *starts;
    char *text;
    if (call->out.type.kind != VALUE_STRING)
        return STATUS_OK;
    struct dictionary *made = dictionary_new(0, 0, &starts, &text);
    if (!made)
        return error_out_of_memory(call->run->error, sizeof *starts, "a dictionary");
    starts[0] = 0;
    call->out.type.dictionary = made;
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return relational_keep(call->run, &holder);
}

enum status window_general(struct window_call *call)
{
    struct relational *const run = call->run;
    struct general general = {.call = call, .group = run->next_column, .order = run->next_column + 1};
    run->next_column += 2;
    enum status status = window_order_divide(call->order, call->threads, run->error);
    if (status == STATUS_OK)
        status = give_dictionary(call);
    if (status == STATUS_OK)
        status = order_strings(&general);
    if (status == STATUS_OK)
        status = answer_frames(&general);
    spillable_free(general.batch.frames);
    spillable_free(general.batch.rows);
    spillable_free(general.batch.groups);
    return status;
}
