/*
 * join.c: see join.h. A morsel is some rows of the left side. Its candidates, pairs with equal keys, are tested in
 * batches; the pairs that pass are kept in order. When all candidates are tested, the rows without a partner are known,
 * and what the kind of the join says of them is added.
 */
#include "engine/relational/join/join_table.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MORSEL_ROWS   4096u
#define PREFETCHED    32u                 /* rows */
#define MORSEL_PAIRS  (UINT64_C(1) << 18) /* of a join without keys */
#define BATCH_MORSELS 256u                /* whose pairs are kept before they are put together */

/* The pairs of a morsel. */
struct pairs {
    uint64_t *lefts, *rights, count, capacity;
    uint64_t counted; /* those in the sum over all threads */
    uint64_t start;   /* of the first in the result */
};

struct join_state {
    const struct join_task *task;
    struct join_table table;
    uint64_t *null_rights; /* of MARK: rows of the right side with a NULL that equals nothing */
    uint64_t null_right_count;
    uint64_t step, morsel_count;
    uint64_t first, batch; /* the morsels that are joined now, or put together */
    struct pairs *morsels; /* of the batch */
    uint64_t room;         /* of the result, in pairs */
    _Atomic uint8_t *met;  /* of FULL: right rows with a partner */
    _Atomic uint64_t total;
    struct join_result *result;
};

enum found { FOUND_NONE, FOUND_UNKNOWN, FOUND_PARTNER };

/* A morsel while it is joined. */
struct morsel {
    struct join_state *state;
    const struct join_task *task;
    struct pairs *pairs;
    uint64_t first, end;
    unsigned thread;
    bool maybe; /* the candidates have a NULL key: a condition that is not false is unknown */
    uint32_t waiting;
    uint64_t lefts[JOIN_TEST_PAIRS], rights[JOIN_TEST_PAIRS];
    uint8_t truth[JOIN_TEST_PAIRS];
    uint8_t found[MORSEL_ROWS];
    uint64_t places[MORSEL_ROWS]; /* join_place */
    uint32_t begins[MORSEL_ROWS]; /* of their buckets, in the table's entries or rows */
    uint32_t ends[MORSEL_ROWS];   /* the begin: no partner */
    struct error *error;
};

/* ---- Pairs ---- */

static enum status check_size(uint64_t pairs, struct error *error)
{
    if (pairs <= RELATION_ROWS_MAX)
        return STATUS_OK;
    return error_set(error, STATUS_BAD_INPUT,
                     "a join of answers has more than %llu rows; add an equality to its conditions, or "
                     "group before joining",
                     (unsigned long long)RELATION_ROWS_MAX);
}

/* Counts the pairs of all threads. */
static enum status count_pairs(struct join_state *state, uint64_t more, struct error *error)
{
    return check_size(atomic_fetch_add(&state->total, more) + more, error);
}

static void pairs_free(struct pairs *pairs)
{
    spillable_free(pairs->lefts);
    spillable_free(pairs->rights);
    *pairs = (struct pairs){0};
}

static enum status grow(struct morsel *morsel, uint64_t capacity)
{
    struct pairs *const pairs = morsel->pairs;
    RETURN_IF_ERROR(cancel_check(morsel->error));
    RETURN_IF_ERROR(count_pairs(morsel->state, pairs->count - pairs->counted, morsel->error));
    pairs->counted = pairs->count;
    RETURN_IF_ERROR(spillable_grow(&pairs->lefts, capacity * sizeof *pairs->lefts, "a join", morsel->error));
    RETURN_IF_ERROR(
        spillable_grow(&pairs->rights, capacity * sizeof *pairs->rights, "a join", morsel->error));
    pairs->capacity = capacity;
    return STATUS_OK;
}

static enum status add_pair(struct morsel *morsel, uint64_t left, uint64_t right)
{
    struct pairs *const pairs = morsel->pairs;
    if (pairs->count == pairs->capacity)
        RETURN_IF_ERROR(grow(morsel, pairs->capacity ? 2 * pairs->capacity : JOIN_TEST_PAIRS));
    pairs->lefts[pairs->count] = left;
    pairs->rights[pairs->count++] = right;
    return STATUS_OK;
}

/* True if a left row's first partner says all. */
static bool needs_one(const struct join_task *task)
{
    return task->join == LOGICAL_SEMI || task->join == LOGICAL_ANTI || task->join == LOGICAL_MARK;
}

/* Takes a pair whose conditions are all true. */
static enum status take_pair(struct morsel *morsel, uint64_t left, uint64_t right)
{
    uint8_t *const found = &morsel->found[left - morsel->first];
    if (morsel->maybe) {
        *found = FOUND_UNKNOWN;
        return STATUS_OK;
    }
    if (morsel->task->join == LOGICAL_SINGLE && *found == FOUND_PARTNER)
        return error_set(morsel->error, STATUS_BAD_INPUT, "the subquery gives more than one row");
    *found = FOUND_PARTNER;
    if (needs_one(morsel->task))
        return STATUS_OK;
    if (morsel->state->met)
        atomic_store_explicit(&morsel->state->met[right], 1, memory_order_relaxed);
    return add_pair(morsel, left, right);
}

/* Tests the candidates that are waiting. */
static enum status flush(struct morsel *morsel)
{
    const struct join_test *const test = morsel->task->test;
    const uint32_t count = morsel->waiting;
    morsel->waiting = 0;
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(cancel_check(morsel->error));
    RETURN_IF_ERROR(test->test(test->context, morsel->thread, morsel->lefts, morsel->rights, count,
                               morsel->truth, morsel->error));
    for (uint32_t i = 0; i < count; i++) {
        uint8_t *const found = &morsel->found[morsel->lefts[i] - morsel->first];
        if (morsel->truth[i] == JOIN_TRUE)
            RETURN_IF_ERROR(take_pair(morsel, morsel->lefts[i], morsel->rights[i]));
        else if (morsel->truth[i] == JOIN_UNKNOWN && *found == FOUND_NONE)
            *found = FOUND_UNKNOWN;
    }
    return STATUS_OK;
}

static enum status add_candidate(struct morsel *morsel, uint64_t left, uint64_t right)
{
    if (!morsel->task->test)
        return take_pair(morsel, left, right);
    morsel->lefts[morsel->waiting] = left;
    morsel->rights[morsel->waiting++] = right;
    return morsel->waiting == JOIN_TEST_PAIRS ? flush(morsel) : STATUS_OK;
}

/* ---- Candidates ---- */

/* True if more candidates of a left row say nothing new. */
static bool is_done(const struct morsel *morsel, uint64_t left)
{
    return needs_one(morsel->task) &&
           morsel->found[left - morsel->first] >= (morsel->maybe ? FOUND_UNKNOWN : FOUND_PARTNER);
}

static enum status find_partners(struct morsel *morsel, uint64_t left)
{
    const struct join_task *const task = morsel->task;
    const struct join_table *const table = &morsel->state->table;
    if (task->key_count == 0) {
        for (uint64_t right = 0; right < task->right_rows && !is_done(morsel, left); right++)
            RETURN_IF_ERROR(add_candidate(morsel, left, right));
        return STATUS_OK;
    }
    const uint64_t i = left - morsel->first;
    const uint32_t tag = join_tag(table, morsel->places[i]);
    for (uint64_t at = morsel->begins[i]; at < morsel->ends[i] && !is_done(morsel, left); at++)
        if (join_matches(table, at, left, tag))
            RETURN_IF_ERROR(add_candidate(morsel, left, join_row(table, at)));
    return STATUS_OK;
}

/* Finds the bucket of each row. Places are found first, so that buckets are fetched some rows before they are read. */
static void find_places(struct morsel *morsel)
{
    const struct join_task *const task = morsel->task;
    const struct join_table *const table = &morsel->state->table;
    for (uint64_t left = morsel->first; left < morsel->end; left++)
        morsel->places[left - morsel->first] = join_has_null(task, task->left_keys, left)
                                                   ? JOIN_NOWHERE
                                                   : join_place(table, task->left_keys, left);
}

/* The place that is read some rows after this one. */
static inline uint64_t place_soon(const struct morsel *morsel, uint64_t i)
{
    return i + PREFETCHED < morsel->end - morsel->first ? morsel->places[i + PREFETCHED] : JOIN_NOWHERE;
}

static void find_buckets(struct morsel *morsel)
{
    const struct join_table *const table = &morsel->state->table;
    const uint64_t rows = morsel->end - morsel->first;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t place = morsel->places[i], soon = place_soon(morsel, i);
        if (soon != JOIN_NOWHERE)
            __builtin_prefetch(&table->ends[join_bucket(table, soon)]);
        const uint64_t bucket = place == JOIN_NOWHERE ? 0 : join_bucket(table, place);
        morsel->begins[i] = place == JOIN_NOWHERE ? 0 : (uint32_t)join_bucket_begin(table, bucket);
        morsel->ends[i] = place == JOIN_NOWHERE ? 0 : table->ends[bucket];
    }
}

/* By rank a bucket is known by its key's mark, unless keys have several rows. */
static void find_ranks(struct morsel *morsel)
{
    const struct join_table *const table = &morsel->state->table;
    const uint64_t rows = morsel->end - morsel->first;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t place = morsel->places[i], soon = place_soon(morsel, i);
        if (soon != JOIN_NOWHERE)
            __builtin_prefetch(&table->marks[soon / 32]);
        const uint64_t mark = place == JOIN_NOWHERE ? 0 : table->marks[place / 32];
        const bool key = number_ranks_has(mark, place);
        morsel->begins[i] = key ? number_ranks_of(mark, place) : 0;
        morsel->ends[i] = morsel->begins[i] + key;
    }
    for (uint64_t i = 0; table->ends && i < rows; i++) {
        if (i + PREFETCHED < rows)
            __builtin_prefetch(&table->ends[morsel->begins[i + PREFETCHED]]);
        if (morsel->begins[i] == morsel->ends[i])
            continue;
        morsel->ends[i] = (uint32_t)join_bucket_end(table, morsel->begins[i]);
        morsel->begins[i] = (uint32_t)join_bucket_begin(table, morsel->begins[i]);
    }
}

/* Fetches what a row's bucket has, some rows before it is read. */
static inline void fetch_bucket(const struct morsel *morsel, uint64_t i)
{
    const struct join_table *const table = &morsel->state->table;
    if (i >= morsel->end - morsel->first)
        return;
    if (table->entries)
        __builtin_prefetch(&table->entries[morsel->begins[i]]);
    else if (table->rows)
        __builtin_prefetch(&table->rows[morsel->begins[i]]);
}

/* The same as find_partners of all rows, which have one partner at most, and no other conditions. */
static enum status take_partners(struct morsel *morsel)
{
    const struct join_table *const table = &morsel->state->table;
    struct pairs *const pairs = morsel->pairs;
    const uint64_t rows = morsel->end - morsel->first;
    const bool one = needs_one(morsel->task);
    if (!one)
        RETURN_IF_ERROR(grow(morsel, MORSEL_ROWS));
    for (uint64_t i = 0; i < rows; i++) {
        const bool partner = morsel->begins[i] < morsel->ends[i];
        fetch_bucket(morsel, i + PREFETCHED);
        morsel->found[i] = partner ? FOUND_PARTNER : FOUND_NONE;
        if (one || !partner)
            continue;
        const uint64_t right = join_row(table, morsel->begins[i]);
        pairs->lefts[pairs->count] = morsel->first + i;
        pairs->rights[pairs->count++] = right;
        if (morsel->state->met)
            atomic_store_explicit(&morsel->state->met[right], 1, memory_order_relaxed);
    }
    return STATUS_OK;
}

static enum status find_all_partners(struct morsel *morsel)
{
    const struct join_table *const table = &morsel->state->table;
    const bool keys = morsel->task->key_count, ranks = keys && table->lookup == JOIN_BY_RANK;
    if (keys)
        find_places(morsel);
    if (ranks)
        find_ranks(morsel);
    else if (keys)
        find_buckets(morsel);
    if (ranks && !table->ends && !morsel->task->test)
        return take_partners(morsel);
    for (uint64_t i = 0; i < morsel->end - morsel->first; i++) {
        if (keys)
            fetch_bucket(morsel, i + PREFETCHED);
        RETURN_IF_ERROR(find_partners(morsel, morsel->first + i));
    }
    return flush(morsel);
}

/* True unless the keys differ in a value that both have. */
static bool may_equal(const struct join_task *task, uint64_t left, uint64_t right)
{
    for (uint32_t k = 0; k < task->key_count; k++) {
        const struct rowset_column *const a = &task->left_keys[k], *const b = &task->right_keys[k];
        const bool null_a = a->nulls && a->nulls[left], null_b = b->nulls && b->nulls[right];
        if (null_a || null_b) {
            if (task->nulls_match[k] && null_a != null_b)
                return false;
        } else if (a->values[left] != b->values[right]) {
            return false;
        }
    }
    return true;
}

/* Finds whether the mark of a row without a partner is NULL because some key is: its own, or one of the right side. */
static enum status find_unknown(struct morsel *morsel, uint64_t left)
{
    const struct join_task *const task = morsel->task;
    const struct join_state *const state = morsel->state;
    const bool null = join_has_null(task, task->left_keys, left);
    const uint64_t count = null ? task->right_rows : state->null_right_count;
    for (uint64_t i = 0; i < count && !is_done(morsel, left); i++) {
        const uint64_t right = null ? i : state->null_rights[i];
        if (may_equal(task, left, right))
            RETURN_IF_ERROR(add_candidate(morsel, left, right));
    }
    return STATUS_OK;
}

/* ---- Morsels ---- */

static uint64_t count_missing(const struct morsel *morsel)
{
    uint64_t missing = 0;
    for (uint64_t i = 0; i < morsel->end - morsel->first; i++)
        missing += morsel->found[i] != FOUND_PARTNER;
    return missing;
}

/* Adds the left rows without a partner, each in its place. */
static enum status add_missing(struct morsel *morsel)
{
    struct pairs *const pairs = morsel->pairs;
    struct pairs kept = *pairs;
    enum status status = STATUS_OK;
    uint64_t at = 0;
    if (count_missing(morsel) == 0)
        return STATUS_OK;
    *pairs = (struct pairs){0};
    atomic_fetch_sub(&morsel->state->total, kept.counted);
    for (uint64_t left = morsel->first; status == STATUS_OK && left < morsel->end; left++) {
        if (morsel->found[left - morsel->first] != FOUND_PARTNER)
            status = add_pair(morsel, left, RELATION_NO_ROW);
        for (; status == STATUS_OK && at < kept.count && kept.lefts[at] == left; at++)
            status = add_pair(morsel, left, kept.rights[at]);
    }
    pairs_free(&kept);
    return status;
}

/* Keeps the left rows that have a partner, or those that have none. */
static enum status add_lefts(struct morsel *morsel, bool partner)
{
    for (uint64_t left = morsel->first; left < morsel->end; left++)
        if ((morsel->found[left - morsel->first] == FOUND_PARTNER) == partner)
            RETURN_IF_ERROR(add_pair(morsel, left, RELATION_NO_ROW));
    return STATUS_OK;
}

static enum status add_marks(struct morsel *morsel)
{
    const struct join_result *const result = morsel->state->result;
    morsel->maybe = true;
    for (uint64_t left = morsel->first; morsel->task->unknown_keys && left < morsel->end; left++)
        if (morsel->found[left - morsel->first] == FOUND_NONE)
            RETURN_IF_ERROR(find_unknown(morsel, left));
    RETURN_IF_ERROR(flush(morsel));
    for (uint64_t left = morsel->first; left < morsel->end; left++) {
        result->marks[left] = morsel->found[left - morsel->first] == FOUND_PARTNER;
        result->mark_nulls[left] = morsel->found[left - morsel->first] == FOUND_UNKNOWN;
    }
    return STATUS_OK;
}

static enum status finish_morsel(struct morsel *morsel)
{
    switch (morsel->task->join) {
    case LOGICAL_INNER:
        return STATUS_OK;
    case LOGICAL_LEFT:
    case LOGICAL_FULL:
    case LOGICAL_SINGLE:
        return add_missing(morsel);
    case LOGICAL_SEMI:
    case LOGICAL_ANTI:
        return add_lefts(morsel, morsel->task->join == LOGICAL_SEMI);
    case LOGICAL_MARK:
        return add_marks(morsel);
    }
    return STATUS_OK;
}

static enum status join_morsel(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct join_state *const state = context;
    const uint64_t first = (state->first + item) * state->step, end = first + state->step;
    struct morsel *morsel;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(memory_take(&morsel, sizeof *morsel, "a join", error));
    memset(morsel->found, FOUND_NONE, sizeof morsel->found);
    morsel->waiting = 0;
    morsel->maybe = false;
    morsel->state = state;
    morsel->task = state->task;
    morsel->pairs = &state->morsels[item];
    morsel->first = first;
    morsel->end = end < state->task->left_rows ? end : state->task->left_rows;
    morsel->thread = thread;
    morsel->error = error;
    enum status status = find_all_partners(morsel);
    if (status == STATUS_OK)
        status = finish_morsel(morsel);
    free(morsel);
    return status;
}

/* ---- The result ---- */

static enum status copy_morsel(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct join_state *const state = context;
    struct pairs *const pairs = &state->morsels[item];
    struct join_result *const result = state->result;
    (void)thread;
    (void)error;
    if (pairs->count) {
        memcpy(result->lefts + pairs->start, pairs->lefts, pairs->count * sizeof *pairs->lefts);
        if (result->rights)
            memcpy(result->rights + pairs->start, pairs->rights, pairs->count * sizeof *pairs->rights);
    }
    pairs_free(pairs);
    return STATUS_OK;
}

/* Makes room for so many pairs after those that there are: for as many as the rest of the rows gives if it is as the first ones,
 * up to eight times as many, and for twice as many as before or more. */
static enum status make_room(struct join_state *state, uint64_t more, struct error *error)
{
    const enum logical_join join = state->task->join;
    struct join_result *const result = state->result;
    const uint64_t all = result->count + more;
    RETURN_IF_ERROR(check_size(all, error));
    if (result->lefts && all <= state->room)
        return STATUS_OK;
    const uint64_t least = result->lefts && all < 2 * state->room ? 2 * state->room : all,
                   joined = state->first + state->batch,
                   expected = joined < state->morsel_count ? (all / joined + 1) * state->morsel_count : all;
    state->room = expected < least ? least : expected < 8 * all ? expected : 8 * all;
    RETURN_IF_ERROR(
        spillable_grow(&result->lefts, (state->room + 1) * sizeof *result->lefts, "a join", error));
    return join == LOGICAL_SEMI || join == LOGICAL_ANTI
               ? STATUS_OK
               : spillable_grow(&result->rights, (state->room + 1) * sizeof *result->rights, "a join", error);
}

/* Puts the pairs of the batch's morsels after those of the others. */
static enum status collect(struct join_state *state, struct error *error)
{
    struct join_result *const result = state->result;
    uint64_t count = result->count;
    for (uint64_t m = 0; m < state->batch; m++) {
        state->morsels[m].start = count;
        count += state->morsels[m].count;
    }
    RETURN_IF_ERROR(make_room(state, count - result->count, error));
    result->count = count;
    return parallel_for(state->task->threads, state->batch, copy_morsel, state, error);
}

static enum status join_batches(struct join_state *state, struct error *error)
{
    for (state->first = 0; state->first < state->morsel_count; state->first += state->batch) {
        const uint64_t left = state->morsel_count - state->first;
        state->batch = left < BATCH_MORSELS ? left : BATCH_MORSELS;
        RETURN_IF_ERROR(parallel_for(state->task->threads, state->batch, join_morsel, state, error));
        if (state->task->join != LOGICAL_MARK)
            RETURN_IF_ERROR(collect(state, error));
    }
    return STATUS_OK;
}

/* The right rows that a FULL join has without a partner follow the pairs. */
static enum status add_rights(struct join_state *state, struct error *error)
{
    struct join_result *const result = state->result;
    uint64_t missing = 0;
    for (uint64_t right = 0; right < state->task->right_rows; right++)
        missing += !state->met[right];
    RETURN_IF_ERROR(make_room(state, missing, error));
    for (uint64_t right = 0; right < state->task->right_rows; right++)
        if (!state->met[right]) {
            result->lefts[result->count] = RELATION_NO_ROW;
            result->rights[result->count++] = right;
        }
    return STATUS_OK;
}

/* ---- The whole ---- */

static enum status find_null_rights(struct join_state *state, struct error *error)
{
    const struct join_task *const task = state->task;
    uint64_t count = 0;
    for (uint64_t row = 0; row < task->right_rows; row++)
        count += join_has_null(task, task->right_keys, row);
    RETURN_IF_ERROR(
        memory_take(&state->null_rights, (count + 1) * sizeof *state->null_rights, "a join", error));
    for (uint64_t row = 0; row < task->right_rows; row++)
        if (join_has_null(task, task->right_keys, row))
            state->null_rights[state->null_right_count++] = row;
    return STATUS_OK;
}

/* Where each row is paired with each, it is known before they are made whether they are too many. */
static enum status check_product(const struct join_task *task, struct error *error)
{
    const bool all =
        task->key_count == 0 && !task->test &&
        (task->join == LOGICAL_INNER || task->join == LOGICAL_LEFT || task->join == LOGICAL_FULL);
    const bool many = task->right_rows > 0 && task->left_rows > RELATION_ROWS_MAX / task->right_rows;
    return all && many ? check_size(UINT64_MAX, error) : STATUS_OK;
}

static enum status prepare(struct join_state *state, struct error *error)
{
    const struct join_task *const task = state->task;
    RETURN_IF_ERROR(check_product(task, error));
    state->step = MORSEL_ROWS;
    if (task->key_count == 0 && task->right_rows > MORSEL_PAIRS / MORSEL_ROWS)
        state->step = task->right_rows > MORSEL_PAIRS ? 1 : MORSEL_PAIRS / task->right_rows;
    state->morsel_count = (task->left_rows + state->step - 1) / state->step;
    RETURN_IF_ERROR(memory_zeros(&state->morsels, BATCH_MORSELS * sizeof *state->morsels, "a join", error));
    if (task->key_count)
        RETURN_IF_ERROR(join_table_create(task, &state->table, error));
    if (task->join == LOGICAL_FULL)
        RETURN_IF_ERROR(memory_zeros(&state->met, task->right_rows + 1, "a join", error));
    if (task->join != LOGICAL_MARK)
        return STATUS_OK;
    struct join_result *const result = state->result;
    RETURN_IF_ERROR(
        spillable_rows(&result->marks, (task->left_rows + 1) * sizeof *result->marks, "a join", error));
    RETURN_IF_ERROR(spillable_rows(&result->mark_nulls, task->left_rows + 1, "a join", error));
    result->count = task->left_rows;
    return task->unknown_keys ? find_null_rights(state, error) : STATUS_OK;
}

enum status join_rows(const struct join_task *task, struct join_result *result, struct error *error)
{
    struct join_state state = {.task = task, .result = result};
    *result = (struct join_result){0};
    enum status status = prepare(&state, error);
    if (status == STATUS_OK)
        status = join_batches(&state, error);
    if (status == STATUS_OK && task->join != LOGICAL_MARK) /* without rows there is no list yet */
        status = state.met ? add_rights(&state, error) : make_room(&state, 0, error);
    for (uint64_t m = 0; state.morsels && m < state.batch; m++)
        pairs_free(&state.morsels[m]);
    free(state.morsels);
    free(state.null_rights);
    free((void *)state.met);
    join_table_free(&state.table);
    if (status != STATUS_OK)
        join_result_free(result);
    return status;
}

void join_result_free(struct join_result *result)
{
    spillable_free(result->lefts);
    spillable_free(result->rights);
    spillable_free(result->marks);
    spillable_free(result->mark_nulls);
    *result = (struct join_result){0};
}
