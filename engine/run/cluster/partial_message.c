/*
 * partial_message.c: partial results as bytes, for messages between processes of one program on machines of one kind.
 * All are words of 8 bytes:
 *
 *     head       the number of groups or rows, total_rows, and for each count(distinct) its number of pairs
 *     arrays     keys, states, high states; or rows
 *     sets       for each count(distinct) its groups and its values
 */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define WORD              sizeof(uint64_t)
#define MESSAGE_WORDS_MAX (UINT64_C(1) << 48) /* so that no sum of words wraps */

/* ---- The parts of a message ---- */

#define ARRAYS_MAX (PLAN_KEY_WORDS_MAX + 2 * PLAN_AGGREGATES_MAX)

/* Gives the arrays that have one element of 8 bytes a group or row, in the order of the bytes. */
static uint32_t arrays_of(const struct plan *plan, const struct partial *partial, void *arrays[ARRAYS_MAX])
{
    uint32_t count = 0;
    if (plan->shape == PLAN_ROWS) {
        arrays[count++] = partial->rows;
        return count;
    }
    for (uint32_t word = 0; word < plan->key_words; word++)
        arrays[count++] = partial->keys[word];
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        arrays[count++] = partial->states[a];
        if (plan_aggregate_of(plan, a)->words > 1)
            arrays[count++] = partial->states_high[a];
    }
    return count;
}

/* Sets the arrays, which follow each other, of partial->count elements each; returns what comes after them. */
static uint64_t *arrays_set(const struct plan *plan, uint64_t *words, struct partial *partial)
{
    if (plan->shape == PLAN_ROWS) {
        partial->rows = words;
        return words + partial->count;
    }
    for (uint32_t word = 0; word < plan->key_words; word++, words += partial->count)
        partial->keys[word] = words;
    for (uint32_t a = 0; a < plan->aggregate_count; a++, words += partial->count) {
        partial->states[a] = (int64_t *)words;
        if (plan_aggregate_of(plan, a)->words > 1)
            partial->states_high[a] = (int64_t *)(words += partial->count);
    }
    return words;
}

static uint64_t head_words(const struct plan *plan)
{
    uint64_t words = 2;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        words += plan_is_distinct(plan, a);
    return words;
}

/* ---- Writing ---- */

uint64_t message_bytes(const struct plan *plan, const struct partial *partial, bool sets)
{
    void *arrays[ARRAYS_MAX];
    uint64_t words = head_words(plan) + arrays_of(plan, partial, arrays) * partial->count;
    for (uint32_t a = 0; sets && a < plan->aggregate_count; a++)
        words += plan_is_distinct(plan, a) ? 2 * partial->sets[a].count : 0;
    return words * WORD;
}

static char *put(char *to, const void *from, uint64_t words)
{
    if (words)
        memcpy(to, from, words * WORD);
    return to + words * WORD;
}

void message_write(const struct plan *plan, const struct partial *partial, bool sets, char *bytes)
{
    void *arrays[ARRAYS_MAX];
    const uint32_t count = arrays_of(plan, partial, arrays);
    bytes = put(bytes, &partial->count, 1);
    bytes = put(bytes, &partial->total_rows, 1);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            bytes = put(bytes, sets ? &partial->sets[a].count : &(uint64_t){0}, 1);
    for (uint32_t i = 0; i < count; i++)
        bytes = put(bytes, arrays[i], partial->count);
    for (uint32_t a = 0; sets && a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a)) {
            bytes = put(bytes, partial->sets[a].groups, partial->sets[a].count);
            bytes = put(bytes, partial->sets[a].values, partial->sets[a].count);
        }
}

/* ---- Reading ---- */

static uint64_t word_at(const char *bytes, uint64_t at)
{
    uint64_t word;
    memcpy(&word, bytes + at * WORD, sizeof word);
    return word;
}

/* The words of the sets, whose numbers of pairs the head has; UINT64_MAX if they cannot be. */
static uint64_t set_words(const struct plan *plan, const char *bytes)
{
    uint64_t words = 0;
    for (uint32_t a = 0, at = 2; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a)) {
            const uint64_t pairs = word_at(bytes, at++);
            words = pairs < MESSAGE_WORDS_MAX && words < MESSAGE_WORDS_MAX ? words + 2 * pairs : UINT64_MAX;
        }
    return words;
}

static bool fits(const struct plan *plan, const char *bytes, uint64_t size)
{
    void *arrays[ARRAYS_MAX];
    const uint64_t words = size / WORD, head = head_words(plan);
    if (size % WORD != 0 || words < head || word_at(bytes, 0) > MESSAGE_WORDS_MAX)
        return false;
    const uint64_t sets = set_words(plan, bytes),
                   elements = arrays_of(plan, &(struct partial){0}, arrays) * word_at(bytes, 0);
    return sets <= words && head + elements + sets == words;
}

enum status message_view(const struct plan *plan, const char *bytes, uint64_t size, struct partial *view,
                         struct error *error)
{
    *view = (struct partial){0};
    if (!fits(plan, bytes, size))
        return error_set(error, STATUS_MACHINE,
                         "another process sent %llu bytes that are no result of this statement; run the same "
                         "version of Tessera everywhere",
                         (unsigned long long)size);
    view->count = word_at(bytes, 0);
    view->total_rows = word_at(bytes, 1);
    uint64_t *words = arrays_set(plan, (uint64_t *)(uintptr_t)bytes + head_words(plan), view);
    for (uint32_t a = 0, at = 2; a < plan->aggregate_count; a++) {
        if (!plan_is_distinct(plan, a))
            continue;
        const uint64_t pairs = word_at(bytes, at++);
        view->sets[a] =
            (struct partial_set){.count = pairs, .groups = words, .values = (int64_t *)words + pairs};
        words += 2 * pairs;
    }
    return STATUS_OK;
}

enum status partial_make(const struct plan *plan, uint64_t count, struct partial *partial,
                         struct error *error)
{
    *partial = (struct partial){0};
    if (plan->shape != PLAN_ROWS)
        return partial_allocate(plan, count, partial, error);
    RETURN_IF_ERROR(spillable_rows(&partial->rows, (count + 1) * sizeof *partial->rows, "rows", error));
    partial->count = count;
    return STATUS_OK;
}

uint64_t partial_append(const struct plan *plan, const struct partial *from, struct partial *into,
                        uint64_t at)
{
    void *read[ARRAYS_MAX], *written[ARRAYS_MAX];
    const uint32_t count = arrays_of(plan, from, read);
    arrays_of(plan, into, written);
    for (uint32_t i = 0; from->count && i < count; i++)
        memcpy((char *)written[i] + at * WORD, read[i], from->count * WORD);
    return at + from->count;
}

enum status message_read(const struct plan *plan, const char *bytes, uint64_t size, struct partial *partial,
                         struct error *error)
{
    struct partial view;
    *partial = (struct partial){0};
    RETURN_IF_ERROR(message_view(plan, bytes, size, &view, error));
    RETURN_IF_ERROR(partial_make(plan, view.count, partial, error));
    partial->total_rows = view.total_rows;
    partial_append(plan, &view, partial, 0);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        if (!plan_is_distinct(plan, a))
            continue;
        RETURN_IF_ERROR(partial_set_allocate(&partial->sets[a], view.sets[a].count, error));
        put((char *)partial->sets[a].groups, view.sets[a].groups, view.sets[a].count);
        put((char *)partial->sets[a].values, view.sets[a].values, view.sets[a].count);
    }
    return STATUS_OK;
}

/* ---- The order of slots ---- */

static bool in_order(const struct partial *partial)
{
    for (uint64_t group = 1; group < partial->count; group++)
        if (partial->keys[0][group - 1] > partial->keys[0][group])
            return false;
    return true;
}

enum status partial_sort_slots(const struct plan *plan, struct partial *partial, struct error *error)
{
    uint64_t *at = NULL, *column = NULL; /* the group of each slot, from 1; an array in order */
    void *arrays[ARRAYS_MAX];
    const uint32_t count = arrays_of(plan, partial, arrays);
    if (plan->shape != PLAN_DENSE || in_order(partial))
        return STATUS_OK;
    enum status status = memory_zeros(&at, plan->slots * sizeof *at, "groups", error);
    status = AND_THEN(status, memory_take(&column, partial->count * sizeof *column, "groups", error));
    for (uint64_t group = 0; status == STATUS_OK && group < partial->count; group++)
        at[partial->keys[0][group]] = group + 1;
    for (uint32_t i = count; status == STATUS_OK && i-- > 0;) {
        uint64_t *const values = arrays[i];
        uint64_t to = 0;
        for (uint64_t slot = 0; slot < plan->slots; slot++)
            if (at[slot])
                column[to++] = values[at[slot] - 1];
        memcpy(values, column, partial->count * sizeof *column);
    }
    free(at);
    free(column);
    return status;
}
