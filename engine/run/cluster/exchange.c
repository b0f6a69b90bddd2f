/*
 * exchange.c: the partial results of all processes become one at process 0 (cluster.h).
 *
 * Small results (CLUSTER_SMALL_BYTES together: the sums of most star queries) and rows are sent to process 0, which
 * merges them. Others are split by the owners of their groups (partial_split): each process merges the groups that it
 * owns, and what process 0 gets has no group twice and no values of count(distinct).
 *
 * Memory is taken before a meeting and messages come after it, so that a process that has no memory is met there and
 * none waits for its message.
 */
#include "engine/run/cluster/cluster_internal.h"

#include "storage/base/clock.h"
#include "storage/base/hash.h"
#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* ---- Times ---- */

static void times_put(const struct run_timing *timing, double times[MEETING_TIMES])
{
    times[0] = timing->total_ms;
    times[1] = timing->filter_ms;
    times[2] = timing->scan_ms;
    times[3] = timing->stage_ms;
    times[4] = timing->merge_ms;
}

/* The longest times of all processes, and the bytes that all moved. */
static void times_join(const struct cluster *cluster, struct run_timing *timing)
{
    double longest[MEETING_TIMES] = {0};
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        for (uint32_t t = 0; t < MEETING_TIMES; t++)
            if (cluster->meeting[rank].times[t] > longest[t])
                longest[t] = cluster->meeting[rank].times[t];
    timing->total_ms = longest[0];
    timing->filter_ms = longest[1];
    timing->scan_ms = longest[2];
    timing->stage_ms = longest[3];
    timing->merge_ms = longest[4];
    timing->moved_bytes = 0;
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        timing->moved_bytes += cluster->meeting[rank].number;
}

/* ---- Merging ---- */

/* What a process other than the first has in the end. */
static enum status keep_nothing(const struct plan *plan, struct partial *partial, struct error *error)
{
    partial_free(partial);
    return partial_make(plan, plan->shape == PLAN_TOTAL, partial, error);
}

/* Reads the results of the other processes, which follow each other in the order of ranks, each after `before` bytes,
 * and merges them with this process's own. */
static enum status merge_read(const struct cluster *cluster, const struct plan *plan, const char *bytes,
                              const uint64_t *sizes, uint64_t before, unsigned threads,
                              struct partial *partial, struct error *error)
{
    struct partial *results;
    RETURN_IF_ERROR(memory_zeros(&results, cluster->size * sizeof *results, "results", error));
    enum status status = STATUS_OK;
    results[cluster->rank] = *partial;
    *partial = (struct partial){0};
    for (uint32_t rank = 0; status == STATUS_OK && rank < cluster->size; rank++) {
        if (rank == cluster->rank)
            continue;
        status = message_read(plan, bytes + before, sizes[rank], &results[rank], error);
        bytes += before + sizes[rank];
    }
    status = AND_THEN(status, partial_merge_all(plan, results, cluster->size, threads, partial, error));
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        partial_free(&results[rank]);
    free(results);
    return status;
}

/* ---- At process 0 ---- */

/* Each message begins with the time that its process waited in the last meeting. */
#define WAITED_BYTES sizeof(double)

/* Gathers results at process 0: those of the others come one after the other, in the order of ranks, into `room`.
 * `waited` gets the shortest wait of all: that of the last process, which is what the meeting itself takes. */
static enum status gather(struct cluster *cluster, const uint64_t *bytes, char *room, double *waited,
                          struct error *error)
{
    if (cluster->rank > 0)
        return cluster_swap(cluster, 0, room, WAITED_BYTES + bytes[cluster->rank], 0, NULL, 0, error);
    for (uint32_t rank = 1; rank < cluster->size; rank++) {
        double other;
        RETURN_IF_ERROR(cluster_swap(cluster, rank, NULL, 0, rank, room, WAITED_BYTES + bytes[rank], error));
        memcpy(&other, room, sizeof other);
        *waited = other < *waited ? other : *waited;
        room += WAITED_BYTES + bytes[rank];
    }
    return STATUS_OK;
}

static uint64_t sum_of_others(const struct cluster *cluster, const uint64_t *bytes)
{
    uint64_t sum = 0;
    for (uint32_t rank = 1; rank < cluster->size; rank++)
        sum += WAITED_BYTES + bytes[rank];
    return sum;
}

/* Sends the result, or gathers those of the others; `room` has memory for either. */
static enum status send_or_gather(struct cluster *cluster, const struct plan *plan, const uint64_t *bytes,
                                  bool sets, char *room, struct partial *partial, double *waited,
                                  struct error *error)
{
    if (cluster->rank > 0) {
        memcpy(room, waited, WAITED_BYTES);
        message_write(plan, partial, sets, room + WAITED_BYTES);
    }
    return gather(cluster, bytes, room, waited, error);
}

/* Merges this process's groups and those of the messages, where they lie. */
static enum status merge_small(const struct cluster *cluster, const struct plan *plan,
                               struct partial *partial, struct error *error)
{
    const char *bytes = cluster->small;
    struct partial merged;
    cluster->views[0] = *partial;
    for (uint32_t rank = 1; rank < cluster->size; rank++) {
        RETURN_IF_ERROR(
            message_view(plan, bytes + WAITED_BYTES, cluster->bytes[rank], &cluster->views[rank], error));
        bytes += WAITED_BYTES + cluster->bytes[rank];
    }
    const enum status status = merge_slots(plan, cluster->views, cluster->size, &merged, error);
    partial_free(partial);
    *partial = merged;
    return status;
}

static enum status exchange_small(struct cluster *cluster, const struct plan *plan, unsigned threads,
                                  struct partial *partial, double *waited, struct error *error)
{
    RETURN_IF_ERROR(
        send_or_gather(cluster, plan, cluster->bytes, true, cluster->small, partial, waited, error));
    if (cluster->rank > 0)
        return STATUS_OK;
    return merge_slots_suits(plan) ? merge_small(cluster, plan, partial, error)
                                   : merge_read(cluster, plan, cluster->small, cluster->bytes, WAITED_BYTES,
                                                threads, partial, error);
}

/* Rows, whose numbers tell their order: process 0 merges them all. */
static enum status exchange_rows(struct cluster *cluster, const struct plan *plan, unsigned threads,
                                 struct partial *partial, double *waited, struct error *error)
{
    const uint64_t own = WAITED_BYTES + cluster->bytes[cluster->rank];
    char *room;
    enum status status = memory_take(&room, cluster->rank ? own : sum_of_others(cluster, cluster->bytes),
                                     "the other processes' results", error);
    status = cluster_agree(cluster, CLUSTER_EXCHANGE, status, error);
    status =
        AND_THEN(status, send_or_gather(cluster, plan, cluster->bytes, true, room, partial, waited, error));
    if (status == STATUS_OK && cluster->rank == 0)
        status = merge_read(cluster, plan, room, cluster->bytes, WAITED_BYTES, threads, partial, error);
    free(room);
    return status;
}

/* ---- By owners ---- */

/* The parts of all processes on their way to their owners. */
struct parts_exchange {
    struct partial *parts; /* of this process's result, one an owner; its own becomes the merged one */
    uint64_t *sent_bytes;  /* to each process */
    uint64_t *sizes;       /* from each process (row) to each (column) */
    uint64_t *received_bytes;
    char *sent, *received; /* in the order of ranks, without this process's own */
};

static void parts_free(const struct cluster *cluster, struct parts_exchange *parts)
{
    for (uint32_t rank = 0; parts->parts && rank < cluster->size; rank++)
        partial_free(&parts->parts[rank]);
    free(parts->parts);
    free(parts->sent_bytes);
    free(parts->sizes);
    free(parts->received_bytes);
    free(parts->sent);
    free(parts->received);
}

static uint64_t sum_before(const struct cluster *cluster, const uint64_t *bytes, uint32_t end)
{
    uint64_t sum = 0;
    for (uint32_t rank = 0; rank < end; rank++)
        sum += rank == cluster->rank ? 0 : bytes[rank];
    return sum;
}

/* Splits the result, which is freed, and writes the parts of the others. */
static enum status parts_send(const struct cluster *cluster, const struct plan *plan, struct partial *partial,
                              struct parts_exchange *parts, struct error *error)
{
    const uint64_t size = cluster->size;
    RETURN_IF_ERROR(memory_zeros(&parts->parts, size * sizeof *parts->parts, "parts of a result", error));
    RETURN_IF_ERROR(memory_zeros(&parts->sent_bytes, size * sizeof(uint64_t), "parts of a result", error));
    RETURN_IF_ERROR(
        memory_zeros(&parts->received_bytes, size * sizeof(uint64_t), "parts of a result", error));
    RETURN_IF_ERROR(memory_zeros(&parts->sizes, size * size * sizeof(uint64_t), "parts of a result", error));
    RETURN_IF_ERROR(partial_split(plan, partial, cluster->size, parts->parts, error));
    partial_free(partial);
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        parts->sent_bytes[rank] = message_bytes(plan, &parts->parts[rank], true);
    RETURN_IF_ERROR(memory_take(&parts->sent, sum_before(cluster, parts->sent_bytes, cluster->size),
                                "parts of a result", error));
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        if (rank == cluster->rank)
            continue;
        message_write(plan, &parts->parts[rank], true,
                      parts->sent + sum_before(cluster, parts->sent_bytes, rank));
        partial_free(&parts->parts[rank]);
    }
    return STATUS_OK;
}

static enum status parts_room(const struct cluster *cluster, struct parts_exchange *parts,
                              struct error *error)
{
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        parts->received_bytes[rank] = parts->sizes[(uint64_t)rank * cluster->size + cluster->rank];
    return memory_take(&parts->received, sum_before(cluster, parts->received_bytes, cluster->size),
                       "the other processes' results", error);
}

/* In round r each process sends to the process r places after it and receives from the one r places before. */
static enum status parts_swap(struct cluster *cluster, const struct parts_exchange *parts,
                              struct error *error)
{
    for (uint32_t round = 1; round < cluster->size; round++) {
        const uint32_t to = (cluster->rank + round) % cluster->size,
                       from = (cluster->rank + cluster->size - round) % cluster->size;
        RETURN_IF_ERROR(cluster_swap(cluster, to, parts->sent + sum_before(cluster, parts->sent_bytes, to),
                                     parts->sent_bytes[to], from,
                                     parts->received + sum_before(cluster, parts->received_bytes, from),
                                     parts->received_bytes[from], error));
    }
    return STATUS_OK;
}

/* Gives this process the groups that it owns, merged. */
static enum status exchange_parts(struct cluster *cluster, const struct plan *plan, unsigned threads,
                                  struct partial *partial, struct parts_exchange *parts, struct error *error)
{
    enum status status = parts_send(cluster, plan, partial, parts, error);
    RETURN_IF_ERROR(cluster_agree(cluster, CLUSTER_EXCHANGE, status, error));
    RETURN_IF_ERROR(cluster_gather_all(cluster, parts->sent_bytes, cluster->size * sizeof(uint64_t),
                                       parts->sizes, error));
    status = parts_room(cluster, parts, error);
    RETURN_IF_ERROR(cluster_agree(cluster, CLUSTER_EXCHANGE, status, error));
    RETURN_IF_ERROR(parts_swap(cluster, parts, error));
    *partial = parts->parts[cluster->rank];
    parts->parts[cluster->rank] = (struct partial){0};
    return merge_read(cluster, plan, parts->received, parts->received_bytes, 0, threads, partial, error);
}

/* Puts process 0's groups and those of the others, none of which it has, into one result. */
static enum status join_owned(const struct cluster *cluster, const struct plan *plan, const char *room,
                              struct partial *partial, struct error *error)
{
    uint64_t count = partial->count, at = 0;
    struct partial whole = {0};
    cluster->views[0] = *partial;
    for (uint32_t rank = 1; rank < cluster->size; rank++) {
        RETURN_IF_ERROR(
            message_view(plan, room + WAITED_BYTES, cluster->bytes[rank], &cluster->views[rank], error));
        count += cluster->views[rank].count;
        room += WAITED_BYTES + cluster->bytes[rank];
    }
    const enum status status = partial_make(plan, count, &whole, error);
    for (uint32_t rank = 0; status == STATUS_OK && rank < cluster->size; rank++)
        at = partial_append(plan, &cluster->views[rank], &whole, at);
    whole.total_rows = partial->total_rows;
    partial_free(partial);
    *partial = whole;
    return status;
}

/* Every process has the groups that it owns; process 0 gets all. The values of count(distinct) are counted. */
static enum status gather_owned(struct cluster *cluster, const struct plan *plan, enum status status,
                                struct partial *partial, double *waited, struct error *error)
{
    struct meeting mine = {.point = CLUSTER_EXCHANGE, .status = (int32_t)status};
    char *room = NULL;
    if (status == STATUS_OK)
        mine.bytes = message_bytes(plan, partial, false);
    RETURN_IF_ERROR(cluster_meet(cluster, &mine, error));
    for (uint32_t rank = 0; rank < cluster->size; rank++)
        cluster->bytes[rank] = cluster->meeting[rank].bytes;
    status =
        memory_take(&room, cluster->rank ? WAITED_BYTES + mine.bytes : sum_of_others(cluster, cluster->bytes),
                    "the other processes' results", error);
    status = cluster_agree(cluster, CLUSTER_EXCHANGE, status, error);
    status =
        AND_THEN(status, send_or_gather(cluster, plan, cluster->bytes, false, room, partial, waited, error));
    if (status == STATUS_OK && cluster->rank == 0)
        status = join_owned(cluster, plan, room, partial, error);
    free(room);
    return status;
}

static enum status exchange_by_owners(struct cluster *cluster, const struct plan *plan, unsigned threads,
                                      struct partial *partial, double *waited, struct error *error)
{
    struct parts_exchange parts = {0};
    const enum status status = exchange_parts(cluster, plan, threads, partial, &parts, error);
    parts_free(cluster, &parts);
    return gather_owned(cluster, plan, status, partial, waited, error);
}

/* ---- All ---- */

static enum status exchange(struct cluster *cluster, const struct plan *plan, unsigned threads,
                            struct partial *partial, double *waited, struct error *error)
{
    uint64_t all = 0;
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        cluster->bytes[rank] = cluster->meeting[rank].bytes;
        all += WAITED_BYTES + cluster->bytes[rank];
    }
    cluster->exchanged = all - cluster->size * WAITED_BYTES;
    /* Rows of parts are known where they are: their values are collected (engine/relational/collect.h). */
    if (cluster->size == 1 || (plan->shape == PLAN_ROWS && plan->fact->part.of))
        return STATUS_OK;
    if (all <= cluster->small_bytes)
        RETURN_IF_ERROR(exchange_small(cluster, plan, threads, partial, waited, error));
    else if (plan->shape == PLAN_ROWS)
        RETURN_IF_ERROR(exchange_rows(cluster, plan, threads, partial, waited, error));
    else
        RETURN_IF_ERROR(exchange_by_owners(cluster, plan, threads, partial, waited, error));
    return cluster->rank ? keep_nothing(plan, partial, error) : partial_sort_slots(plan, partial, error);
}

enum status cluster_exchange(struct cluster *cluster, const struct plan *plan, enum status status,
                             unsigned threads, struct partial *partial, struct run_timing *timing,
                             struct error *error)
{
    struct meeting mine = {.point = CLUSTER_RUN, .status = (int32_t)status, .number = timing->moved_bytes};
    if (!cluster)
        return status;
    if (status == STATUS_OK)
        mine.bytes = message_bytes(plan, partial, true);
    times_put(timing, mine.times);
    const double ready = clock_ms();
    RETURN_IF_ERROR(cluster_meet(cluster, &mine, error));
    const double met = clock_ms();
    double waited = met - ready;
    times_join(cluster, timing);
    RETURN_IF_ERROR(exchange(cluster, plan, threads, partial, &waited, error));
    timing->exchange_ms = waited + clock_ms() - met;
    timing->total_ms += timing->exchange_ms;
    return STATUS_OK;
}

uint64_t cluster_exchanged(const struct cluster *cluster)
{
    return cluster->exchanged;
}

/* ---- Plans ---- */

static uint64_t add(uint64_t number, uint64_t next)
{
    return hash_mix(number * 3 + next);
}

uint64_t cluster_plan_number(const struct plan *plan)
{
    uint64_t number = add(plan->shape, plan->key_words);
    number = add(number, plan->slots);
    number = add(add(number, plan->limit), plan->offset);
    for (uint32_t g = 0; g < plan->group_count; g++) {
        const struct plan_group *const group = &plan->groups[g];
        number = add(add(number, (uint64_t)group->low), group->domain);
        number = add(add(number, group->stride), 2 * group->word + group->nullable);
        for (uint64_t code = 0; group->values && code < group->domain; code++)
            number = add(number, (uint64_t)group->values[code]);
    }
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        number = add(add(number, plan->aggregates[a].kind), plan->aggregates[a].count);
    return number;
}
