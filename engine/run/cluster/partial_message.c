/*
 * partial_message.c: partial results as bytes, for messages between processes of one program on machines of one kind.
 *
 *     struct head       count, total_rows, and the pairs of each count(distinct)
 *     words             arrays of 8 bytes each: keys, states, high states; or rows
 *     sets              for each count(distinct) its groups and its values
 */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

struct head {
    uint64_t count, total_rows;
    uint64_t pairs[PLAN_AGGREGATES_MAX];
};

/* ---- The arrays of a partial result ---- */

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
        if (plan->aggregates[a].kind == AGGREGATE_SUM_WIDE)
            arrays[count++] = partial->states_high[a];
    }
    return count;
}

static struct head head_of(const struct plan *plan, const struct partial *partial, bool sets)
{
    struct head head = {.count = partial->count, .total_rows = partial->total_rows};
    for (uint32_t a = 0; sets && a < plan->aggregate_count; a++)
        head.pairs[a] = partial->sets[a].count;
    return head;
}

/* The bytes after the head. */
static uint64_t body_bytes(const struct plan *plan, const struct head *head)
{
    void *arrays[ARRAYS_MAX];
    uint64_t words = arrays_of(plan, &(struct partial){0}, arrays) * head->count;
    for (uint32_t a = 0; a < PLAN_AGGREGATES_MAX; a++)
        words += 2 * head->pairs[a];
    return words * sizeof(uint64_t);
}

/* ---- Writing ---- */

uint64_t message_bytes(const struct plan *plan, const struct partial *partial, bool sets)
{
    const struct head head = head_of(plan, partial, sets);
    return sizeof head + body_bytes(plan, &head);
}

static char *put(char *to, const void *from, uint64_t words)
{
    if (words)
        memcpy(to, from, words * sizeof(uint64_t));
    return to + words * sizeof(uint64_t);
}

void message_write(const struct plan *plan, const struct partial *partial, bool sets, char *bytes)
{
    const struct head head = head_of(plan, partial, sets);
    void *arrays[ARRAYS_MAX];
    const uint32_t count = arrays_of(plan, partial, arrays);
    memcpy(bytes, &head, sizeof head);
    bytes += sizeof head;
    for (uint32_t i = 0; i < count; i++)
        bytes = put(bytes, arrays[i], head.count);
    for (uint32_t a = 0; a < PLAN_AGGREGATES_MAX; a++) {
        bytes = put(bytes, partial->sets[a].groups, head.pairs[a]);
        bytes = put(bytes, partial->sets[a].values, head.pairs[a]);
    }
}

/* ---- Reading ---- */

static const char *take(void *to, const char *from, uint64_t words)
{
    if (words)
        memcpy(to, from, words * sizeof(uint64_t));
    return from + words * sizeof(uint64_t);
}

uint64_t message_groups(const char *bytes)
{
    struct head head;
    memcpy(&head, bytes, sizeof head);
    return head.count;
}

/* Copies the groups or rows to place `at` of a result that has room for them. */
const char *message_place(const struct plan *plan, const char *bytes, struct partial *partial, uint64_t at)
{
    struct head head;
    void *arrays[ARRAYS_MAX];
    const uint32_t count = arrays_of(plan, partial, arrays);
    memcpy(&head, bytes, sizeof head);
    bytes += sizeof head;
    for (uint32_t i = 0; i < count; i++)
        bytes = take((uint64_t *)arrays[i] + at, bytes, head.count);
    return bytes;
}

enum status partial_make(const struct plan *plan, uint64_t count, struct partial *partial,
                         struct error *error)
{
    *partial = (struct partial){0};
    if (plan->shape != PLAN_ROWS)
        return partial_allocate(plan, count, partial, error);
    if (!(partial->rows = malloc((count + 1) * sizeof *partial->rows)))
        return error_out_of_memory(error, count * sizeof *partial->rows, "rows");
    partial->count = count;
    return STATUS_OK;
}

enum status message_read(const struct plan *plan, const char *bytes, uint64_t size, struct partial *partial,
                         struct error *error)
{
    struct head head = {0};
    *partial = (struct partial){0};
    if (size >= sizeof head)
        memcpy(&head, bytes, sizeof head);
    if (size < sizeof head || size != sizeof head + body_bytes(plan, &head))
        return error_set(error, STATUS_MACHINE,
                         "another process sent %llu bytes that are no result of this statement; run the same "
                         "version of Tessera everywhere",
                         (unsigned long long)size);
    RETURN_IF_ERROR(partial_make(plan, head.count, partial, error));
    partial->total_rows = head.total_rows;
    bytes = message_place(plan, bytes, partial, 0);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        struct partial_set *const set = &partial->sets[a];
        if (plan->aggregates[a].kind != AGGREGATE_COUNT_DISTINCT)
            continue;
        RETURN_IF_ERROR(partial_set_allocate(set, head.pairs[a], error));
        bytes = take(set->groups, bytes, head.pairs[a]);
        bytes = take(set->values, bytes, head.pairs[a]);
    }
    return STATUS_OK;
}

/* ---- Results without a group in common ---- */

uint64_t partial_append(const struct plan *plan, const struct partial *from, struct partial *into,
                        uint64_t at)
{
    void *read[ARRAYS_MAX], *written[ARRAYS_MAX];
    const uint32_t count = arrays_of(plan, from, read);
    arrays_of(plan, into, written);
    for (uint32_t i = 0; from->count && i < count; i++)
        memcpy((uint64_t *)written[i] + at, read[i], from->count * sizeof(uint64_t));
    return at + from->count;
}

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
    if (status == STATUS_OK)
        status = memory_take(&column, partial->count * sizeof *column, "groups", error);
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
