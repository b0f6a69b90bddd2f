/* clustering_choose.c: chooses the terms of a clustering, level by level.
 *
 * Cells are as small as they may be: a cell of a segment keeps some tiles. Each level that is taken multiplies the cells by its
 * growth, how many children a parent has on average, and divides what a statement reads by as much, if it has a condition on
 * that level or a deeper one. So in the geometric mean of a workload's statements a level gains log(growth) for the share
 * of the statements that have such a condition, and costs log(growth) of the room: the level that most statements name
 * comes first. Without a workload all levels weigh the same. Among equals the outermost one comes first, and of several the one
 * with the fewest children. Bits of a column's values are taken as levels of two children each.
 *
 * What is left of a cell's tiles is divided once more, by further levels of one term, which is then the last one. The rows of
 * the cells that were chosen before stay together, so nothing that they gain is lost, and parts may be smaller than a tile. */
#include "storage/database/clustering/clustering.h"

#include "storage/base/words/word.h"
#include "storage/column/levels_file.h"
#include "storage/database/clustering/cells.h"

#include <math.h>
#include <string.h>

/* Tiles that a cell of a segment has at least, on average. Fewer would leave hardly a tile that lies in one cell: a cell ends
 * within a tile. */
#define CELL_TILES_LEAST 5u

/* Tiles of the parts into which the last term divides such a cell. One of them is in one or two tiles in any case, and smaller
 * ones gain nothing. */
#define PART_TILES_LEAST 0.5

/* A foreign key and its levels, or another column and its leading bits. */
struct candidate {
    uint32_t column, depth, levels;
    uint32_t prefixes[CELL_BITS_MAX + 1]; /* of the first so many levels: those that have rows */
    uint32_t weights[CELL_BITS_MAX + 1];  /* of each level, from 1: statements that name it or a deeper one */
};

/* ---- What there is ---- */

/* Leaves are in ascending order of their prefixes. */
static void count_prefixes(const struct table_levels *levels, struct candidate *candidate)
{
    candidate->levels = levels->count;
    for (uint32_t depth = 0; depth <= levels->count; depth++) {
        const uint32_t shift = levels_shift(levels, depth) - levels->rest_bits;
        uint32_t count = levels->leaf_count > 0;
        for (uint32_t l = 1; l < levels->leaf_count; l++)
            count += levels->leaves[l].prefix >> shift != levels->leaves[l - 1].prefix >> shift;
        candidate->prefixes[depth] = count ? count : 1;
    }
}

static const struct table *referenced_by(const struct table_writer *table, uint32_t column)
{
    return database_writer_find(table->database, table->table.columns[column].schema.references_table);
}

static enum status describe_key(const struct table_writer *table, uint32_t column,
                                struct candidate *candidate, struct error *error)
{
    const struct table_levels *const levels = clustering_levels(table, column);
    struct table_levels *read = NULL;
    *candidate = (struct candidate){.column = column};
    if (!levels)
        return STATUS_OK;
    if (!levels->leaves)
        RETURN_IF_ERROR(levels_read(table->database->path, referenced_by(table, column), &read, error));
    count_prefixes(read ? read : levels, candidate);
    levels_free(read);
    return STATUS_OK;
}

static void describe_values(uint32_t column, struct candidate *candidate)
{
    *candidate = (struct candidate){.column = column, .levels = CELL_BITS_MAX};
    for (uint32_t bits = 0; bits <= CELL_BITS_MAX; bits++)
        candidate->prefixes[bits] = 1u << bits;
}

/* ---- What statements name ---- */

/* The deepest level that decides a column of that name in what the key references; 0: none does. */
static uint32_t named_depth(const struct table *table, const char *name)
{
    for (uint32_t c = 0; c < table->column_count; c++)
        if (!table->columns[c].schema.primary_key && word_compare(table->columns[c].schema.name, name) == 0)
            return table->levels->depth[c] <= table->levels->count ? table->levels->depth[c] : 0;
    return 0;
}

/* Weighs the levels of a key's table, or all bits of a column that is named. Deeper levels than are named are not taken. */
static void weigh(const struct table_writer *table, const struct cluster_workload *workload,
                  struct candidate *candidate)
{
    const struct column_schema *const schema = &table->table.columns[candidate->column].schema;
    const struct table *const referenced =
        *schema->references_table ? referenced_by(table, candidate->column) : NULL;
    uint32_t deepest = 0, most = 0;
    for (uint32_t n = 0; n < workload->count; n++) {
        const char *const name = workload->names[n];
        const uint32_t depth = referenced                              ? named_depth(referenced, name)
                               : word_compare(schema->name, name) == 0 ? candidate->levels
                                                                       : 0;
        deepest = depth > deepest ? depth : deepest;
        if (n + 1 < workload->count && workload->statements[n + 1] == workload->statements[n])
            continue;
        for (uint32_t d = 1; d <= deepest; d++)
            candidate->weights[d]++;
        most = deepest > most ? deepest : most;
        deepest = 0;
    }
    candidate->levels = most;
}

/* The place of a candidate among `count`, or, if there are as many as terms may be, that of one which fewer statements name;
 * CLUSTER_TERMS_MAX: there is none. */
static uint32_t place_for(const struct candidate *candidates, uint32_t count,
                          const struct candidate *candidate)
{
    uint32_t least = count;
    if (count < CLUSTER_TERMS_MAX)
        return count;
    for (uint32_t i = 0; i < count; i++)
        if (candidates[i].weights[1] < (least < count ? candidates[least] : *candidate).weights[1])
            least = i;
    return least;
}

static enum status find_candidates(const struct table_writer *table, const struct cluster_workload *workload,
                                   struct candidate candidates[CLUSTER_TERMS_MAX], uint32_t *count,
                                   struct error *error)
{
    *count = 0;
    for (uint32_t c = 0; c < table->table.column_count; c++) {
        const struct column_schema *const schema = &table->table.columns[c].schema;
        struct candidate candidate = {0};
        if (*schema->references_table)
            RETURN_IF_ERROR(describe_key(table, c, &candidate, error));
        else if (workload && !schema->primary_key && !schema->live && !schema->of.count)
            describe_values(c, &candidate);
        if (workload && candidate.levels)
            weigh(table, workload, &candidate);
        const uint32_t place = place_for(candidates, *count, &candidate);
        if (!candidate.levels || place == CLUSTER_TERMS_MAX)
            continue;
        candidates[place] = candidate;
        *count += place == *count;
    }
    return STATUS_OK;
}

/* ---- What is taken ---- */

static double growth(const struct candidate *candidate)
{
    return (double)candidate->prefixes[candidate->depth + 1] / candidate->prefixes[candidate->depth];
}

/* Whether a's next level comes before b's. */
static bool is_before(const struct candidate *a, const struct candidate *b)
{
    const uint32_t weight_a = a->weights[a->depth + 1], weight_b = b->weights[b->depth + 1];
    if (weight_a != weight_b)
        return weight_a > weight_b;
    return a->depth != b->depth ? a->depth < b->depth : growth(a) < growth(b);
}

/* NULL: there is no level left. */
static struct candidate *next_level(struct candidate *candidates, uint32_t count)
{
    struct candidate *best = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (candidates[i].depth < candidates[i].levels && (!best || is_before(&candidates[i], best)))
            best = &candidates[i];
    return best;
}

static void terms_of(const struct candidate *candidates, uint32_t count, struct clustering *terms)
{
    *terms = (struct clustering){0};
    for (uint32_t i = 0; i < count; i++)
        if (candidates[i].depth)
            terms->terms[terms->count++] =
                (struct cluster_term){.column = candidates[i].column, .number = candidates[i].depth};
}

/* Takes levels one by one as long as cells are large enough; returns how many cells there are then. */
static double choose_cells(const struct table_writer *table, struct candidate *candidates, uint32_t count,
                           double most, struct clustering *terms)
{
    double cells = 1;
    for (struct candidate *next; (next = next_level(candidates, count));) {
        struct clustering more;
        const double all = cells * growth(next);
        next->depth++;
        terms_of(candidates, count, &more);
        if (all <= most && clustering_bits(table, &more) <= CELL_BITS_MAX) {
            *terms = more;
            cells = all;
        } else {
            next->levels = --next->depth; /* no deeper one either */
        }
    }
    return cells;
}

/* The terms with one more level of candidate i, which is then the last. False: parts of a cell of so many tiles would be too
 * small, there is no such level, or no room for it. */
static bool divide(const struct table_writer *table, const struct candidate *candidates, uint32_t count,
                   uint32_t i, double tiles, struct clustering *terms)
{
    struct candidate last = candidates[i];
    if (last.depth == last.levels || tiles / growth(&last) < PART_TILES_LEAST)
        return false;
    last.depth++;
    struct candidate order[CLUSTER_TERMS_MAX];
    uint32_t others = 0;
    for (uint32_t c = 0; c < count; c++)
        if (c != i)
            order[others++] = candidates[c];
    order[others] = last;
    terms_of(order, count, terms);
    return clustering_bits(table, terms) <= CELL_BITS_MAX;
}

/* What statements gain if a cell of so many tiles is divided by the candidate's next level: a condition reads one tile more than
 * its rows fill. */
static double gain(const struct candidate *candidate, double tiles)
{
    const uint32_t weight = candidate->weights[candidate->depth + 1];
    return (weight ? weight : 1) * log((tiles + 1) / (tiles / growth(candidate) + 1));
}

static void divide_cells(const struct table_writer *table, struct candidate *candidates, uint32_t count,
                         double tiles, struct clustering *terms)
{
    struct clustering more;
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++)
        if (divide(table, candidates, count, i, tiles, &more) &&
            (best == count || gain(&candidates[i], tiles) > gain(&candidates[best], tiles)))
            best = i;
    while (best < count && divide(table, candidates, count, best, tiles, &more)) {
        *terms = more;
        tiles /= growth(&candidates[best]);
        candidates[best].depth++;
    }
}

enum status clustering_choose(const struct table_writer *table, const struct cluster_workload *workload,
                              struct clustering *terms, struct error *error)
{
    struct candidate candidates[CLUSTER_TERMS_MAX];
    const uint64_t rows = table->table.rows < SEGMENT_ROWS ? table->table.rows : SEGMENT_ROWS;
    const double tiles = (double)rows / TILE_ROWS;
    uint32_t levels[CLUSTER_TERMS_MAX], count;
    RETURN_IF_ERROR(find_candidates(table, workload, candidates, &count, error));
    *terms = (struct clustering){0};
    for (uint32_t i = 0; i < count; i++)
        levels[i] = candidates[i].levels;
    const double cells = choose_cells(table, candidates, count, tiles / CELL_TILES_LEAST, terms);
    for (uint32_t i = 0; i < count; i++)
        candidates[i].levels = levels[i];
    if (terms->count)
        divide_cells(table, candidates, count, tiles / cells, terms);
    return STATUS_OK;
}
