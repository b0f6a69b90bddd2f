/* distinct_set.c: see distinct_set.h. Hash tables use open addressing and are at most half full. The places
 * of a batch are prefetched before they are written, so that its cache misses overlap. */
#include "engine/cpu/distinct_set.h"
#include "storage/base/hash.h"
#include "storage/base/huge_pages.h"

#include <stdlib.h>
#include <string.h>

/* The most bits of a thread's bitmap: 64 for each row of the fact table, but at least 2^20 and at most 2^27
 * (16 MB). Larger bitmaps are not worth clearing, so these values are hashed. */
#define BITS_MAX    (UINT64_C(1) << 27)
#define BITS_ALWAYS (UINT64_C(1) << 20)
#define BITS_A_ROW  64u

#define NO_GROUP UINT64_MAX

struct distinct_pair {
    uint64_t group; /* NO_GROUP: the place is free */
    int64_t value;
};

enum status distinct_set_open(const struct plan *plan, uint32_t aggregate, struct distinct_set *set,
                              struct error *error)
{
    const struct plan_aggregate *of = &plan->aggregates[aggregate];
    const uint64_t last = of->low > of->high ? 0 : (uint64_t)of->high - (uint64_t)of->low;
    const uint64_t rows = plan->fact->rows < BITS_MAX ? plan->fact->rows * BITS_A_ROW : BITS_MAX,
                   most = rows < BITS_ALWAYS ? BITS_ALWAYS
                          : rows < BITS_MAX  ? rows
                                             : BITS_MAX;
    set->low = of->low;
    if (plan->shape == PLAN_HASH || last >= most || (last / 64 + 1) * 64 > most / plan->slots)
        return STATUS_OK;
    set->domain = (last / 64 + 1) * 64;
    set->slots = plan->slots;
    set->bits = calloc(set->slots * set->domain / 64, sizeof *set->bits);
    return set->bits ? STATUS_OK
                     : error_out_of_memory(error, set->slots * set->domain / 8, "distinct values");
}

void distinct_set_close(struct distinct_set *set)
{
    free(set->bits);
    free(set->pairs);
}

void distinct_set_clear(struct distinct_set *set)
{
    if (set->bits)
        memset(set->bits, 0, set->slots * set->domain / 8);
    if (set->capacity)
        memset(set->pairs, 0xff, set->capacity * sizeof *set->pairs);
    set->count = 0;
}

/* ---- Pairs ---- */

static uint64_t hash_of(struct distinct_pair pair)
{
    return hash_mix(pair.group ^ hash_mix((uint64_t)pair.value));
}

static uint64_t place_of(const struct distinct_set *set, struct distinct_pair pair)
{
    return hash_of(pair) & (set->capacity - 1);
}

static void put(struct distinct_set *set, struct distinct_pair pair)
{
    uint64_t place = place_of(set, pair);
    for (; set->pairs[place].group != NO_GROUP; place = (place + 1) & (set->capacity - 1))
        if (set->pairs[place].group == pair.group && set->pairs[place].value == pair.value)
            return;
    set->pairs[place] = pair;
    set->count++;
}

static void put_all(struct distinct_set *set, uint32_t count, const struct distinct_pair *pairs)
{
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&set->pairs[place_of(set, pairs[i])], 1);
    for (uint32_t i = 0; i < count; i++)
        put(set, pairs[i]);
}

static enum status reserve(struct distinct_set *set, uint64_t more, struct error *error);

/* Adds the pairs of another set, as in distinct_set_merge. */
static enum status put_pairs(struct distinct_set *set, const struct distinct_set *from, const uint64_t *to,
                             uint64_t part, uint64_t parts, struct error *error)
{
    struct distinct_pair batch[VECTOR_ROWS];
    uint32_t count = 0;
    for (uint64_t i = 0; i < from->capacity; i++) {
        struct distinct_pair pair = from->pairs[i];
        const uint64_t name = pair.group == NO_GROUP ? 0
                              : to                   ? to[pair.group]
                                   : hash_part(hash_of(pair), parts) << GROUP_PART_SHIFT | pair.group;
        if (pair.group != NO_GROUP && name >> GROUP_PART_SHIFT == part)
            batch[count++] =
                (struct distinct_pair){name & ((UINT64_C(1) << GROUP_PART_SHIFT) - 1), pair.value};
        if (count == VECTOR_ROWS || i + 1 == from->capacity) {
            RETURN_IF_ERROR(reserve(set, count, error));
            put_all(set, count, batch);
            count = 0;
        }
    }
    return STATUS_OK;
}

/* Makes room for `more` pairs. */
static enum status reserve(struct distinct_set *set, uint64_t more, struct error *error)
{
    struct distinct_set grown = {.capacity = set->capacity ? set->capacity : 1024};
    while (2 * (set->count + more) > grown.capacity)
        grown.capacity *= 2;
    if (grown.capacity == set->capacity)
        return STATUS_OK;
    grown.pairs = malloc(grown.capacity * sizeof *grown.pairs);
    if (!grown.pairs)
        return error_out_of_memory(error, grown.capacity * sizeof *grown.pairs, "distinct values");
    huge_pages_prefer(grown.pairs, grown.capacity * sizeof *grown.pairs);
    memset(grown.pairs, 0xff, grown.capacity * sizeof *grown.pairs);
    RETURN_IF_ERROR(put_pairs(&grown, set, NULL, 0, 1, error)); /* `grown` has room for all */
    free(set->pairs);
    set->pairs = grown.pairs;
    set->count = grown.count;
    set->capacity = grown.capacity;
    return STATUS_OK;
}

/* ---- Bitmaps and hash tables ---- */

enum status distinct_set_add(struct distinct_set *set, uint32_t count, const uint64_t *groups,
                             struct vector argument, struct error *error)
{
    struct distinct_pair batch[VECTOR_ROWS];
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!argument.nulls || !argument.nulls[i])
            batch[taken++] = (struct distinct_pair){groups[i], argument.values[i]};
    if (!set->bits) {
        RETURN_IF_ERROR(reserve(set, taken, error));
        put_all(set, taken, batch);
        return STATUS_OK;
    }
    /* The catalogue's range promises code < domain, but the file may be damaged. */
    for (uint32_t i = 0; i < taken; i++) {
        const uint64_t code = (uint64_t)batch[i].value - (uint64_t)set->low,
                       bit = batch[i].group * set->domain + (code < set->domain ? code : set->domain - 1);
        set->bits[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    return STATUS_OK;
}

enum status distinct_set_merge(struct distinct_set *set, const struct distinct_set *from, const uint64_t *to,
                               uint64_t part, uint64_t parts, struct error *error)
{
    for (uint64_t word = 0; set->bits && word < set->slots * set->domain / 64; word++)
        set->bits[word] |= from->bits[word];
    return put_pairs(set, from, to, part, parts, error);
}

void distinct_set_export(const struct distinct_set *set, const uint64_t *place, int64_t *counts)
{
    for (uint64_t slot = 0; set->bits && slot < set->slots; slot++) {
        const uint64_t *const bits = set->bits + slot * (set->domain / 64);
        const uint64_t to = place ? place[slot] : slot;
        for (uint64_t word = 0; to != UINT64_MAX && word < set->domain / 64; word++)
            counts[to] += __builtin_popcountll(bits[word]);
    }
    for (uint64_t i = 0; i < set->capacity; i++) {
        const uint64_t group = set->pairs[i].group;
        if (group != NO_GROUP)
            (void)__atomic_fetch_add(&counts[place ? place[group] : group], 1, __ATOMIC_RELAXED);
    }
}

static uint64_t set_size(const struct distinct_set *set)
{
    uint64_t count = set->count;
    for (uint64_t word = 0; set->bits && word < set->slots * set->domain / 64; word++)
        count += (uint64_t)__builtin_popcountll(set->bits[word]);
    return count;
}

enum status distinct_set_list(const struct distinct_set *set, const uint64_t *place, struct partial_set *list,
                              struct error *error)
{
    uint64_t at = 0;
    RETURN_IF_ERROR(partial_set_allocate(list, set_size(set), error));
    for (uint64_t word = 0; set->bits && word < set->slots * set->domain / 64; word++)
        for (uint64_t rest = set->bits[word]; rest; rest &= rest - 1) {
            const uint64_t bit = word * 64 + (uint32_t)__builtin_ctzll(rest), slot = bit / set->domain;
            list->groups[at] = place ? place[slot] : slot;
            list->values[at++] = (int64_t)((uint64_t)set->low + bit % set->domain);
        }
    for (uint64_t i = 0; i < set->capacity; i++)
        if (set->pairs[i].group != NO_GROUP) {
            list->groups[at] = place ? place[set->pairs[i].group] : set->pairs[i].group;
            list->values[at++] = set->pairs[i].value;
        }
    return STATUS_OK;
}
