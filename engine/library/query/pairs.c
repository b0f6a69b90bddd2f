/*
 * pairs.c: joins two sides (joining.h): by hashing on the equalities between them, and by a test of each pair for the
 * other conditions of ON.
 */
#include "engine/library/query/joining.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define KEYS_MAX 32u /* equalities of one join */

/* ---- Keys ---- */

/* The keys of a join: equal expressions, over its left and over its right side. */
struct keys {
    uint32_t count;
    const struct sql_expression *left[KEYS_MAX], *right[KEYS_MAX];
    struct conjunct *from[KEYS_MAX];
};

static bool is_within(uint64_t sources, const struct side *side)
{
    return sources && !(sources & ~side->sources);
}

static void find_keys(const struct joining *joining, const struct side *left, const struct side *right,
                      struct conjunct *list, uint32_t count, struct keys *keys)
{
    keys->count = 0;
    for (uint32_t i = 0; i < count && keys->count < KEYS_MAX; i++) {
        const struct sql_expression *const tree = list[i].tree;
        if (list[i].done || tree->operation != SQL_EQUAL)
            continue;
        for (int turned = 0; turned < 2; turned++) {
            const struct sql_expression *const a = tree->children[turned], *const b = tree->children[!turned];
            if (!is_within(joining_reads(joining, a), left) || !is_within(joining_reads(joining, b), right))
                continue;
            keys->left[keys->count] = a;
            keys->right[keys->count] = b;
            keys->from[keys->count++] = &list[i];
            break;
        }
    }
}

bool joining_has_keys(const struct joining *joining, const struct side *left, const struct side *right)
{
    struct keys keys;
    find_keys(joining, left, right, joining->conjuncts, joining->conjunct_count, &keys);
    return keys.count > 0;
}

/* The only unit that has these sources, or NULL. */
static struct unit *only_unit(struct joining *joining, uint64_t sources)
{
    for (uint32_t u = 0; u < joining->unit_count; u++)
        if (sources && !(sources & ~joining->units[u].sources))
            return &joining->units[u];
    return NULL;
}

/* True if an outer join left the unit without a row in some of these. */
static bool is_outer(const struct unit *unit, uint64_t rows)
{
    bool outer = false;
    for (uint64_t row = 0; unit->places && row < rows && !outer; row++)
        outer = unit->places[row] == RELATION_NO_ROW;
    return outer;
}

/* A key's values for the rows of a side. An expression over one unit is computed once for each of its own rows, unless an
 * outer join left the unit without one: there it is an expression of NULLs. */
static enum status key_column(struct joining *joining, const struct side *side,
                              const struct sql_expression *tree, struct rowset_column *column)
{
    struct query *const query = joining->query;
    const uint64_t reads = joining_reads(joining, tree);
    struct unit *const unit = only_unit(joining, reads);
    struct rowset computed = {0};
    uint32_t s, c;
    if (unit && tree->operation == SQL_COLUMN && query_column_of(joining->sources, tree, &s, &c))
        return relation_gather(&unit->rows->columns[joining->sources->list[s].unit_column[c]], unit->places,
                               side->rows, column, query->error);
    const bool own = unit && !is_outer(unit, side->rows);
    uint64_t *const places = own ? unit->places : NULL;
    if (own)
        unit->places = NULL;
    enum status status = joining_compute(joining, reads, own ? unit->rows->rows : side->rows,
                                         (struct sql_expression *)tree, &computed);
    if (own)
        unit->places = places;
    if (status == STATUS_OK)
        status = relation_gather(&computed.columns[0], places, side->rows, column, query->error);
    rowset_free(&computed);
    return status;
}

static enum status keep_dictionary(struct query *query, struct dictionary *made)
{
    struct rowset holder = {.column_count = 1, .dictionaries = &made};
    return made ? query_keep_dictionaries(query, &holder) : STATUS_OK;
}

static enum status make_keys(struct joining *joining, const struct side *left, const struct side *right,
                             const struct keys *keys, struct rowset_column *lefts,
                             struct rowset_column *rights)
{
    struct query *const query = joining->query;
    for (uint32_t k = 0; k < keys->count; k++) {
        struct dictionary *made;
        RETURN_IF_ERROR(key_column(joining, left, keys->left[k], &lefts[k]));
        RETURN_IF_ERROR(key_column(joining, right, keys->right[k], &rights[k]));
        RETURN_IF_ERROR(query_placed(
            query, keys->from[k]->tree->position,
            relation_alike(&lefts[k], left->rows, &rights[k], right->rows, &made, query->error)));
        RETURN_IF_ERROR(keep_dictionary(query, made));
    }
    return STATUS_OK;
}

/* ---- Pairs ---- */

/* Rows of the left side, in its order, each with one of the right side; RELATION_NO_ROW on one of them: it has none. */
#define PAIR_BYTES (2 * sizeof(uint64_t))

struct pairs {
    uint64_t *lefts, *rights, count;
    struct memory_charge charge;
};

/* Keeps the pairs whose other conditions are true and, if `outer`, adds the left rows without any. */
static enum status keep_pairs(struct joining *joining, uint64_t left_rows, const struct rowset *test,
                              bool outer, struct pairs *pairs)
{
    struct error *const error = joining->query->error;
    uint64_t *kept_lefts, *kept_rights, count = 0, at = 0;
    const uint64_t most = pairs->count + left_rows + 1;
    RETURN_IF_ERROR(memory_charge_add(&pairs->charge, most * PAIR_BYTES, "a join of answers", error));
    RETURN_IF_ERROR(memory_take(&kept_lefts, most * sizeof *kept_lefts, "a join", error));
    const enum status status = memory_take(&kept_rights, most * sizeof *kept_rights, "a join", error);
    if (status != STATUS_OK) {
        free(kept_lefts);
        return status;
    }
    for (uint64_t row = 0; row < left_rows; row++) {
        const uint64_t before = count;
        for (; at < pairs->count && pairs->lefts[at] == row; at++)
            if (test->columns[0].values[at]) {
                kept_lefts[count] = row;
                kept_rights[count++] = pairs->rights[at];
            }
        if (count == before && outer) {
            kept_lefts[count] = row;
            kept_rights[count++] = RELATION_NO_ROW;
        }
    }
    free(pairs->lefts);
    free(pairs->rights);
    pairs->lefts = kept_lefts;
    pairs->rights = kept_rights;
    pairs->count = count;
    return memory_charge_set(&pairs->charge, most * PAIR_BYTES, "a join of answers", error);
}

/* CASE WHEN condition THEN 1 ELSE 0 END */
static enum status test_node(struct query *query, struct sql_expression *condition,
                             struct sql_expression **test)
{
    static const char *const texts[] = {"1", "0"};
    RETURN_IF_ERROR(query_node(query, SQL_CASE, condition->position, test));
    RETURN_IF_ERROR(query_child(query, *test, condition));
    for (int i = 0; i < 2; i++) {
        struct sql_expression *number;
        RETURN_IF_ERROR(query_node(query, SQL_NUMBER, condition->position, &number));
        number->text = texts[i];
        RETURN_IF_ERROR(query_child(query, *test, number));
    }
    (*test)->has_else = true;
    return STATUS_OK;
}

/* The unit's row of each pair. */
static enum status place_pairs(const struct joining *joining, const struct unit *unit,
                               const struct side *left, const struct pairs *pairs, uint64_t **places)
{
    const uint64_t *const rows = unit->sources & left->sources ? pairs->lefts : pairs->rights;
    RETURN_IF_ERROR(
        memory_take(places, (pairs->count + 1) * sizeof **places, "a join", joining->query->error));
    for (uint64_t i = 0; i < pairs->count; i++)
        (*places)[i] = unit->places && rows[i] != RELATION_NO_ROW ? unit->places[rows[i]] : rows[i];
    return STATUS_OK;
}

/* Tests a condition over the pairs, and keeps those for which it is true. */
static enum status test_pairs(struct joining *joining, const struct side *left, const struct side *right,
                              struct sql_expression *condition, bool outer, struct pairs *pairs)
{
    struct joining tried = *joining; /* in which the units' rows are those of the pairs */
    struct sql_expression *test;
    struct rowset made = {0};
    const uint64_t both = left->sources | right->sources, reads = joining_columns(joining, condition),
                   asked = reads ? reads : both;
    enum status status = STATUS_OK;
    for (uint32_t u = 0; u < tried.unit_count; u++)
        tried.units[u].places = NULL;
    for (uint32_t u = 0; status == STATUS_OK && u < tried.unit_count; u++)
        if (tried.units[u].sources & asked)
            status = place_pairs(joining, &joining->units[u], left, pairs, &tried.units[u].places);
    if (status == STATUS_OK)
        status = test_node(joining->query, condition, &test);
    if (status == STATUS_OK)
        status = joining_compute(&tried, asked, pairs->count, test, &made);
    for (uint32_t u = 0; u < tried.unit_count; u++)
        free(tried.units[u].places);
    if (status == STATUS_OK)
        status = keep_pairs(joining, left->rows, &made, outer, pairs);
    rowset_free(&made);
    return status;
}

static enum status make_pairs(struct joining *joining, const struct side *left, const struct side *right,
                              const struct keys *keys, bool outer, struct sql_expression *other,
                              struct pairs *pairs)
{
    struct rowset_column lefts[KEYS_MAX] = {{0}}, rights[KEYS_MAX] = {{0}};
    enum status status = make_keys(joining, left, right, keys, lefts, rights);
    if (status == STATUS_OK)
        status =
            relation_join(lefts, left->rows, rights, right->rows, keys->count, outer && !other, &pairs->lefts,
                          &pairs->rights, &pairs->count, &pairs->charge, joining->query->error);
    for (uint32_t k = 0; k < keys->count; k++) {
        relation_column_free(&lefts[k]);
        relation_column_free(&rights[k]);
    }
    return status == STATUS_OK && other ? test_pairs(joining, left, right, other, outer, pairs) : status;
}

/* Adds the right rows that are in no pair. */
static enum status add_rights(struct joining *joining, uint64_t right_rows, struct pairs *pairs)
{
    struct error *const error = joining->query->error;
    uint8_t *met;
    RETURN_IF_ERROR(memory_zeros(&met, right_rows + 1, "a join", error));
    for (uint64_t i = 0; i < pairs->count; i++)
        if (pairs->rights[i] != RELATION_NO_ROW)
            met[pairs->rights[i]] = 1;
    const uint64_t most = pairs->count + right_rows + 1;
    enum status status =
        memory_charge_add(&pairs->charge, right_rows * PAIR_BYTES, "a join of answers", error);
    if (status == STATUS_OK)
        status = memory_grow(&pairs->lefts, most * sizeof *pairs->lefts, "a join", error);
    if (status == STATUS_OK)
        status = memory_grow(&pairs->rights, most * sizeof *pairs->rights, "a join", error);
    for (uint64_t row = 0; status == STATUS_OK && row < right_rows; row++) {
        if (met[row])
            continue;
        pairs->lefts[pairs->count] = RELATION_NO_ROW;
        pairs->rights[pairs->count++] = row;
    }
    free(met);
    return status;
}

/* The pairs become the rows of the left side. */
static enum status take_pairs(struct joining *joining, struct side *left, const struct side *right,
                              const struct pairs *pairs)
{
    for (uint32_t u = 0; u < joining->unit_count; u++) {
        struct unit *const unit = &joining->units[u];
        uint64_t *places;
        if (!(unit->sources & (left->sources | right->sources)))
            continue;
        RETURN_IF_ERROR(place_pairs(joining, unit, left, pairs, &places));
        free(unit->places);
        unit->places = places;
    }
    *left = (struct side){left->sources | right->sources, pairs->count};
    return STATUS_OK;
}

enum status joining_join(struct joining *joining, struct side *left, const struct side *right,
                         const struct join_by *by)
{
    static const char *const names[] = {"inner", "inner", "inner", "left", "right", "full"};
    const bool outer = by->join == SQL_JOIN_LEFT || by->join == SQL_JOIN_FULL;
    const uint64_t left_rows = left->rows;
    struct query *const query = joining->query;
    struct sql_expression *other = NULL;
    struct pairs pairs = {0};
    struct keys keys;
    find_keys(joining, left, right, by->list, by->count, &keys);
    for (uint32_t k = 0; k < keys.count; k++)
        keys.from[k]->done = true;
    for (uint32_t i = 0; by->whole && i < by->count; i++)
        if (!by->list[i].done)
            RETURN_IF_ERROR(query_and(query, &other, (struct sql_expression *)by->list[i].tree));
    enum status status = make_pairs(joining, left, right, &keys, outer, other, &pairs);
    if (status == STATUS_OK && (by->join == SQL_JOIN_RIGHT || by->join == SQL_JOIN_FULL))
        status = add_rights(joining, right->rows, &pairs);
    if (status == STATUS_OK)
        status = take_pairs(joining, left, right, &pairs);
    free(pairs.lefts);
    free(pairs.rights);
    memory_charge_drop(&pairs.charge);
    RETURN_IF_ERROR(status);
    return query_explain_line(query, "%s join by %u key%s: %llu rows with %llu give %llu", names[by->join],
                              keys.count, keys.count == 1 ? "" : "s", (unsigned long long)left_rows,
                              (unsigned long long)right->rows, (unsigned long long)left->rows);
}
