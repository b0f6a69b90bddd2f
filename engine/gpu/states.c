/*
 * states.c: the aggregate states of a run on a GPU (run_internal.h). One allocation has all memory that must
 * be zero when a run begins:
 *
 *     header    struct states_header
 *     present   PLAN_TOTAL, PLAN_DENSE: 32 bits a slot        keys    PLAN_HASH: 64 bits a slot, and a word
 *     states    of each aggregate, 64 or 128 bits a slot      rows    PLAN_ROWS: 32 words a tile; or, of few that are
 *     sets      of each count(distinct)                               wanted, struct first_state and a list
 *
 * Where rows are listed (engine/gpu/groups/), the list follows, which need not be zero, and keys and states are made after the scan.
 */
#include "engine/gpu/first/sorted_values.h"
#include "engine/gpu/rows/dense_groups.h"
#include "engine/gpu/run_internal.h"
#include "storage/base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A hash table has room for at most this many entries at first. If a run finds a table too full, all tables
 * become GROWTH times as large, and it starts again. At most half of a table is used. */
#define ENTRIES_AT_FIRST (UINT64_C(1) << 22)
#define GROWTH           8u

/* An answer up to this size is copied through pinned memory, which is a pool's and stays with a statement that is kept: a
 * million slots of three words. Copies to other memory run at a fifth of the speed. */
#define PINNED_BYTES_MAX (UINT64_C(1) << 25)

/* The listed rows that are copied with the header. */
#define ENTRIES_FETCHED 1024u

/* The most slots that groups have whose numbers are slots, and the most for each row that is expected: a row's group is found
 * without probing, near those of rows with near keys; but all slots are cleared, and looked at after the scan. */
#define DIRECT_SLOTS_MAX (UINT64_C(1) << 28)
#define DIRECT_SLOTS_ROW 4.0

/* Fewer groups than this are copied in some ten microseconds, as long as launches take. */
#define GROUPS_MANY 4096u

struct states_header {
    uint32_t full, disorder;
    uint64_t groups_found, collected;
    uint64_t points[][2]; /* rows, ticks: plan_points of a counting run */
};

/* ---- Memory ---- */

static uint64_t table_capacity(uint64_t entries)
{
    uint64_t capacity = 16;
    while (capacity < 2 * entries)
        capacity *= 2;
    return capacity;
}

static uint64_t at_first(uint64_t entries)
{
    return table_capacity(entries < ENTRIES_AT_FIRST ? entries : ENTRIES_AT_FIRST);
}

/* The slots of a table in which groups' numbers are slots, a power of two; 0: it would be too large. Others that merge with
 * the table find groups by hashes. */
static uint64_t direct_slots(const struct device_run *run)
{
    const struct plan *plan = run->plan;
    const struct plan_group *outermost = &plan->groups[0];
    double rows = (double)plan->fact->rows;
    if (plan->shape != PLAN_HASH || plan->key_words > 1 || run->segments.segments || run->indirect ||
        run->kernel.list.used)
        return 0;
    const unsigned __int128 numbers = (unsigned __int128)outermost->stride * outermost->domain;
    for (uint32_t s = 0; s < plan->step_count; s++)
        rows *= plan->steps[s].share;
    return numbers <= DIRECT_SLOTS_MAX && (double)numbers <= DIRECT_SLOTS_ROW * rows
               ? table_capacity(((uint64_t)numbers + 1) / 2)
               : 0;
}

/* Takes the next `bytes` of the allocation; with base 0 it only counts. */
static cuda_address take(cuda_address base, uint64_t *used, uint64_t bytes)
{
    const cuda_address piece = base + *used;
    *used += cuda_aligned(bytes);
    return piece;
}

static uint64_t set_last(const struct plan_aggregate *aggregate)
{
    return aggregate->low > aggregate->high ? 0 : (uint64_t)aggregate->high - (uint64_t)aggregate->low;
}

static void lay_out_set(struct device_run *run, uint32_t a, cuda_address base, uint64_t *used)
{
    const struct plan_aggregate *aggregate = &run->plan->aggregates[a];
    struct set_argument *set = &run->arguments.sets[a];
    *set = (struct set_argument){
        .low = aggregate->low, .last = set_last(aggregate), .capacity = run->set_capacity[a]};
    if (run->kernel.distinct[a] == DISTINCT_BY_BITS)
        set->table = take(base, used, run->slots * (set->last + 1) / 8 + sizeof(uint32_t));
    else
        set->table =
            take(base, used,
                 (run->kernel.distinct[a] == DISTINCT_BY_PAIRS ? 2 : 1) * set->capacity * sizeof(uint64_t));
}

static bool lists_rows(const struct device_run *run)
{
    return run->kernel.first && !run->masked;
}

/* Of a list, only the beginning is copied before the number of its rows is known. */
static void lay_out_rows(struct device_run *run, cuda_address base, uint64_t *used)
{
    const struct plan *plan = run->plan;
    struct first_argument *first = &run->arguments.first;
    if (run->kernel.first) {
        *first = (struct first_argument){.state = take(base, used, sizeof(struct first_state)),
                                         .known = run->first.known,
                                         .wanted = plan->first.wanted,
                                         .bound = run->first.tightened ? run->first.bound : plan->first.bound,
                                         .of_lanes = run->first.of_lanes};
        for (uint32_t t = 0; t < plan->first.term_count; t++)
            first->terms[t] = (struct first_term_argument){.low = plan->first.terms[t].low,
                                                           .high = plan->first.terms[t].high,
                                                           .best = plan->first.terms[t].best,
                                                           .null = plan->first.terms[t].null,
                                                           .stride = plan->first.terms[t].stride,
                                                           .shift = plan->first.terms[t].shift};
    }
    if (!lists_rows(run)) {
        run->arguments.rows = take(base, used, plan->scan.tiles * TILE_LANES * sizeof(uint32_t));
        return;
    }
    first->capacity = cuda_first_capacity(plan);
    const uint64_t fetched = first->capacity < ENTRIES_FETCHED ? first->capacity : ENTRIES_FETCHED;
    first->list = take(base, used, first->capacity * sizeof(struct first_entry));
    run->answer_bytes = first->list - base + fetched * sizeof(struct first_entry);
}

/* Codes of arguments are of their ranges; those of sets are set with them. */
static void set_ranges(struct device_run *run)
{
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        run->arguments.sets[a] = (struct set_argument){.low = run->plan->aggregates[a].low,
                                                       .last = set_last(&run->plan->aggregates[a])};
}

/* Sets the arguments for memory at `base`; returns the number of bytes. */
static uint64_t lay_out(struct device_run *run, cuda_address base)
{
    const struct plan *plan = run->plan;
    struct query_arguments *arguments = &run->arguments;
    uint64_t used = 0;
    const uint64_t points = run->counting ? plan_points(plan) * 2 * sizeof(uint64_t) : 0;
    const cuda_address header = take(base, &used, sizeof(struct states_header) + points);
    arguments->full = header + offsetof(struct states_header, full);
    arguments->groups_found = header + offsetof(struct states_header, groups_found);
    arguments->points = header + offsetof(struct states_header, points);
    arguments->slots = run->slots;
    run->answer_bytes = used;
    set_ranges(run);
    if (run->kernel.list.used) {
        arguments->clear = base;
        arguments->clear_words = used / 16;
        return used + cuda_list_lay_out(run, base + used);
    }
    if (plan->shape == PLAN_ROWS)
        lay_out_rows(run, base, &used);
    else if (plan->shape == PLAN_HASH)
        arguments->keys = take(base, &used, run->slots * sizeof(uint64_t));
    if (plan->shape == PLAN_HASH && plan->key_words > 1)
        arguments->key_words = take(base, &used, run->slots * plan->key_words * sizeof(uint64_t));
    if (plan->shape == PLAN_TOTAL || plan->shape == PLAN_DENSE)
        arguments->present = take(base, &used, run->slots * sizeof(uint32_t));
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        arguments->states[a] = take(base, &used, run->slots * run->kernel.state_words[a] * sizeof(uint64_t));
    if (plan->shape != PLAN_HASH && !lists_rows(run))
        run->answer_bytes = used;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan_is_distinct(plan, a))
            lay_out_set(run, a, base, &used);
    arguments->clear = base;
    arguments->clear_words = used / 16;
    return used;
}

static enum status allocate_answer(struct device_run *run, struct error *error)
{
    void *answer = NULL;
    run->answer_pinned = run->answer_bytes <= PINNED_BYTES_MAX;
    if (run->answer_pinned)
        RETURN_IF_ERROR(cuda_pinned_allocate(run->cuda, run->answer_bytes, &answer, error));
    else if (!(answer = malloc(run->answer_bytes)))
        return error_out_of_memory(error, run->answer_bytes, "an answer");
    memset(answer, 0, sizeof(struct states_header));
    run->answer = answer;
    return STATUS_OK;
}

/* The most entries of a table of distinct values: not more than the fact table has rows. */
static uint64_t set_entries(const struct device_run *run, uint32_t a)
{
    const uint64_t rows = run->plan->fact->rows, last = set_last(&run->plan->aggregates[a]);
    return run->plan->shape == PLAN_TOTAL && last < rows ? last + 1 : rows;
}

enum status cuda_states_make(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    if (!run->slots) {
        run->slots = plan->shape == PLAN_HASH ? direct_slots(run) : plan->slots;
        run->arguments.direct = plan->shape == PLAN_HASH && run->slots > 0;
        if (!run->slots)
            run->slots = run->kernel.list.used ? 1 : at_first(plan->groups_most);
        for (uint32_t a = 0; a < plan->aggregate_count; a++)
            run->set_capacity[a] = at_first(set_entries(run, a));
    }
    const uint64_t bytes = lay_out(run, 0);
    run->no_room = cuda_columns_allocate(run->device->columns, bytes, "the statement's group tables",
                                         &run->states, error) != STATUS_OK;
    if (run->no_room)
        return STATUS_MACHINE;
    lay_out(run, run->states);
    const enum status status = allocate_answer(run, error);
    if (status != STATUS_OK) {
        cuda_states_free(run);
        return status;
    }
    return cuda_states_point(run, error);
}

enum status cuda_states_point(struct device_run *run, struct error *error)
{
    run->arguments.first.known = run->first.known;
    run->arguments.first.of_lanes = run->first.of_lanes;
    return cuda_send(run->cuda, run->arguments_address, &run->arguments,
                     offsetof(struct query_arguments, sets) +
                         run->plan->aggregate_count * sizeof *run->arguments.sets,
                     error);
}

static void free_collected(struct device_run *run)
{
    cuda_free(run->cuda, run->collected);
    run->collected = 0;
    run->collected_bytes = 0;
}

void cuda_states_free(struct device_run *run)
{
    free_collected(run);
    cuda_list_free(run);
    cuda_free(run->cuda, run->states);
    if (run->answer_pinned)
        cuda_pinned_free(run->cuda, run->answer);
    else
        free(run->answer);
    run->states = 0;
    run->answer = NULL;
}

static const uint64_t *words_at(const struct device_run *run, cuda_address address)
{
    return (const uint64_t *)(const void *)(run->answer + (address - run->states));
}

/* Copies the first `count` listed rows; the caller frees them. */
static enum status fetch_entries(struct device_run *run, uint64_t count, struct first_entry **entries,
                                 struct error *error)
{
    struct cuda *cuda = run->cuda;
    const cuda_address list = run->arguments.first.list;
    const uint64_t bytes = count * sizeof **entries;
    RETURN_IF_ERROR(memory_take(entries, bytes + 1, "rows", error));
    if (count <= ENTRIES_FETCHED) {
        memcpy(*entries, words_at(run, list), bytes);
        return STATUS_OK;
    }
    enum status status = cuda_copy_to_host(cuda, *entries, list, bytes, error);
    status = AND_THEN(status, cuda_synchronize(cuda, error));
    if (status != STATUS_OK)
        free(*entries);
    return status;
}

/* Takes a bound from a list that is too full, or lets a mask take the rows. */
static enum status tighten(struct device_run *run, struct error *error)
{
    struct first_entry *entries;
    run->masked |= run->first.tightened++ == FIRST_REPEATS_MAX;
    if (run->masked)
        return STATUS_OK;
    RETURN_IF_ERROR(fetch_entries(run, run->arguments.first.capacity, &entries, error));
    const enum status status =
        cuda_first_bound(run->plan, entries, run->arguments.first.capacity, &run->first.bound, error);
    free(entries);
    return status;
}

enum status cuda_states_grow(struct device_run *run, struct error *error)
{
    const struct plan *plan = run->plan;
    if (run->kernel.first)
        RETURN_IF_ERROR(tighten(run, error));
    cuda_states_free(run);
    if (plan->shape == PLAN_HASH && !run->arguments.direct)
        run->slots *= GROWTH;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        run->set_capacity[a] *= GROWTH;
    return cuda_states_make(run, error);
}

enum status cuda_states_restart(struct device_run *run, struct error *error)
{
    cuda_states_free(run);
    run->slots = 0;
    run->indirect = true;
    return cuda_states_make(run, error);
}

/* ---- The result ---- */

static const struct states_header *header_of(const struct device_run *run)
{
    return (const struct states_header *)(const void *)run->answer;
}

enum status cuda_states_fetch(struct device_run *run, struct error *error)
{
    const uint64_t bytes = run->few_groups ? sizeof(struct states_header) : run->answer_bytes;
    return cuda_copy_to_host(run->cuda, run->answer, run->states, bytes, error);
}

bool cuda_states_full(const struct device_run *run)
{
    return run->answer && header_of(run)->full != 0;
}

uint64_t cuda_states_found(const struct device_run *run)
{
    return header_of(run)->groups_found;
}

void cuda_states_points(const struct device_run *run, struct scan_point *points)
{
    for (uint32_t p = 0; p < plan_points(run->plan); p++)
        points[p] =
            (struct scan_point){.rows = header_of(run)->points[p][0], .ticks = header_of(run)->points[p][1]};
}

/* Converts the first words of `count` states to those of struct partial, in their place. */
static void states_of(const struct plan *plan, uint32_t a, uint64_t count, int64_t *states)
{
    int64_t (*const host)(uint64_t) = plan_aggregate_of(plan, a)->device.host;
    for (uint64_t group = 0; host && group < count; group++)
        states[group] = host((uint64_t)states[group]);
}

static enum status dense_groups(const struct device_run *run, struct partial *groups, struct error *error)
{
    struct slots_view view = {.slots = run->slots,
                              .present =
                                  (const uint32_t *)(const void *)words_at(run, run->arguments.present)};
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        view.states[a] = words_at(run, run->arguments.states[a]);
    return cuda_dense_groups(run, &view, groups, error);
}

static enum status collect(struct device_run *run, uint64_t count, struct error *error)
{
    struct cuda *cuda = run->cuda;
    uint64_t next = run->states + offsetof(struct states_header, collected);
    void *arguments[] = {&run->collected, &count, &next};
    RETURN_IF_ERROR(cuda_set_words(cuda, next, 0, 2, error));
    return cuda_launch(cuda, run->collect, run->scan.prepare_blocks, 256, 0, arguments, error);
}

/* Copies the collected groups to their columns: the words of their numbers, then those of each state, `count` each
 * (operators/dialect/query_cuda.h: groups_collect). */
static enum status take_collected(struct device_run *run, uint64_t count, struct partial *groups,
                                  struct error *error)
{
    const uint64_t bytes = count * sizeof(uint64_t);
    cuda_address from = run->collected;
    for (uint32_t word = 0; word < run->plan->key_words; word++, from += bytes)
        RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, groups->keys[word], from, bytes, error));
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++) {
        RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, groups->states[a], from, bytes, error));
        from += bytes;
        if (!groups->states_high[a])
            continue;
        RETURN_IF_ERROR(cuda_copy_to_host(run->cuda, groups->states_high[a], from, bytes, error));
        from += bytes;
    }
    RETURN_IF_ERROR(cuda_synchronize(run->cuda, error));
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        states_of(run->plan, a, count, groups->states[a]);
    return STATUS_OK;
}

/* Makes sure of memory for the collected groups. It stays for the next run, which mostly finds as many. Without room the run is
 * repeated over fewer segments, as where the tables have none. */
static enum status make_collected(struct device_run *run, uint64_t bytes, struct error *error)
{
    if (run->collected_bytes >= bytes)
        return STATUS_OK;
    free_collected(run);
    run->no_room =
        cuda_columns_allocate(run->device->columns, bytes, "groups", &run->collected, error) != STATUS_OK;
    if (run->no_room)
        return STATUS_MACHINE;
    run->collected_bytes = bytes;
    return STATUS_OK;
}

/* Copies `count` groups, which `gather` writes to run->collected. */
static enum status copy_groups(struct device_run *run, uint64_t count,
                               enum status (*gather)(struct device_run *run, uint64_t count,
                                                     struct error *error),
                               struct partial *groups, struct error *error)
{
    uint64_t words = run->plan->key_words;
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        words += run->kernel.state_words[a];
    const uint64_t bytes = count * words * sizeof(uint64_t);
    RETURN_IF_ERROR(partial_allocate(run->plan, count, groups, error));
    if (count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(make_collected(run, bytes, error));
    RETURN_IF_ERROR(gather(run, count, error));
    return take_collected(run, count, groups, error);
}

static enum status listed_rows(struct device_run *run, struct partial *groups, struct error *error)
{
    const struct first_state *state =
        (const struct first_state *)(const void *)words_at(run, run->arguments.first.state);
    struct first_entry *entries;
    RETURN_IF_ERROR(fetch_entries(run, state->found, &entries, error));
    const enum status status = cuda_first_rows(run->plan, entries, state->found, groups, error);
    free(entries);
    return status;
}

/* Gives what the answer needs of the groups, or those that may be in it; *given is false if all must be copied. */
static enum status give_groups(struct device_run *run, struct partial *groups, bool *given,
                               struct error *error)
{
    const uint64_t found = run->plan->shape == PLAN_HASH ? header_of(run)->groups_found : run->slots;
    uint64_t count;
    *given = false;
    if (found < GROUPS_MANY)
        return STATUS_OK;
    RETURN_IF_ERROR(cuda_groups_take(run, error));
    if (run->groups.of_values) {
        RETURN_IF_ERROR(cuda_values_groups(run, found, groups, given, error));
        run->groups_why = *given ? NULL : "the GPU has no memory to sort their values";
        return STATUS_OK;
    }
    if (run->groups.of_totals) {
        RETURN_IF_ERROR(cuda_groups_total(run, groups, given, error));
        run->groups_why = *given ? NULL : "some group has a value that the GPU cannot add up";
        return STATUS_OK;
    }
    if (run->groups.of_set) {
        RETURN_IF_ERROR(cuda_groups_set(run, groups, given, error));
        run->groups_why = *given ? NULL : "some group has a value that the GPU cannot tell";
        return STATUS_OK;
    }
    RETURN_IF_ERROR(cuda_groups_list(run, &count, given, error));
    return *given ? copy_groups(run, count, cuda_groups_gather, groups, error) : STATUS_OK;
}

static enum status few_groups(struct device_run *run, struct partial *groups, bool *given,
                              struct error *error)
{
    RETURN_IF_ERROR(give_groups(run, groups, given, error));
    if (*given)
        return STATUS_OK;
    run->few_groups = false;
    RETURN_IF_ERROR(cuda_states_fetch(run, error));
    return cuda_synchronize(run->cuda, error);
}

enum status cuda_states_groups(struct device_run *run, struct partial *groups, struct error *error)
{
    bool given = false;
    if (run->few_groups)
        RETURN_IF_ERROR(few_groups(run, groups, &given, error));
    if (given)
        return STATUS_OK;
    switch (run->plan->shape) {
    case PLAN_ROWS:
        return lists_rows(run)
                   ? listed_rows(run, groups, error)
                   : cuda_found_rows(run, (const void *)words_at(run, run->arguments.rows), groups, error);
    case PLAN_HASH:
        return copy_groups(run, header_of(run)->groups_found, collect, groups, error);
    case PLAN_TOTAL:
    case PLAN_DENSE:
        break;
    }
    return dense_groups(run, groups, error);
}
