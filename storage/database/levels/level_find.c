/* level_find.c: see level_find.h. */
#include "storage/database/levels/level_find.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Chains that are compared at most: dimensions have some tens. */
#define CHAINS_MAX 20000u

/* What a class saves that levels decide and that is none, as a part of what it would save as a level: a condition on it
 * is a test of several codes instead of one. Without this part, nation > city would beat region > nation > city. */
#define SCATTERED 0.5

/* Columns that determine each other. */
struct class
{
    uint32_t column; /* that speaks for it */
    const struct level_codes *codes;
    uint32_t rows_most;       /* of one value */
    uint64_t falls;           /* rows whose value is less than that of the row before */
    uint32_t *representative; /* a row of each value */
};

struct chain {
    uint32_t count;
    uint32_t classes[LEVELS_MAX];
    double saving;
};

struct finding {
    uint64_t rows;
    uint32_t class_count;
    struct class classes[LEVEL_CANDIDATES_MAX];
    bool determines[LEVEL_CANDIDATES_MAX][LEVEL_CANDIDATES_MAX]; /* [child][parent] */
    /* The most values of a class that one value of another has, which it determines; [child][parent]. */
    uint32_t children[LEVEL_CANDIDATES_MAX][LEVEL_CANDIDATES_MAX];
    uint32_t compared; /* chains */
    struct chain best;
};

bool level_candidate(const struct level_codes *codes, uint64_t rows)
{
    return codes->count >= 2 && codes->count <= rows / 2;
}

/* ---- Classes ---- */

static enum status describe(struct finding *finding, struct class *class, struct error *error)
{
    const uint16_t *const codes = class->codes->codes;
    uint32_t *counts;
    RETURN_IF_ERROR(memory_zeros(&counts, class->codes->count * sizeof *counts, "levels", error));
    const enum status status = memory_take(
        &class->representative, class->codes->count * sizeof *class->representative, "levels", error);
    for (uint64_t r = 0; status == STATUS_OK && r < finding->rows; r++) {
        class->falls += r > 0 && codes[r] < codes[r - 1];
        counts[codes[r]]++;
        class->representative[codes[r]] = (uint32_t)r;
    }
    for (uint32_t v = 0; status == STATUS_OK && v < class->codes->count; v++)
        class->rows_most = counts[v] > class->rows_most ? counts[v] : class->rows_most;
    free(counts);
    return status;
}

/* Whether every value of the child has one value of the parent: proven on all rows, and refuted by a few. */
static bool find_dependency(const struct finding *finding, const struct class *child,
                            const struct class *parent)
{
    const uint16_t *const codes = child->codes->codes, *const above = parent->codes->codes;
    if (child->codes->count < parent->codes->count)
        return false;
    for (uint64_t r = 0; r < finding->rows; r++)
        if (above[r] != above[child->representative[codes[r]]])
            return false;
    return true;
}

static enum status count_children(struct finding *finding, uint32_t child, uint32_t parent,
                                  struct error *error)
{
    const struct class *const below = &finding->classes[child], *const above = &finding->classes[parent];
    uint32_t *counts, *const most = &finding->children[child][parent];
    RETURN_IF_ERROR(memory_zeros(&counts, above->codes->count * sizeof *counts, "levels", error));
    for (uint32_t v = 0; v < below->codes->count; v++) {
        const uint32_t children = ++counts[above->codes->codes[below->representative[v]]];
        *most = children > *most ? children : *most;
    }
    free(counts);
    return STATUS_OK;
}

/* Candidates in the order of their values, so that a class with few comes first. */
static uint32_t list_candidates(const struct level_codes *columns, uint32_t column_count, uint64_t rows,
                                uint32_t list[LEVEL_CANDIDATES_MAX])
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < column_count; c++) {
        if (!level_candidate(&columns[c], rows))
            continue;
        uint32_t at = count < LEVEL_CANDIDATES_MAX ? count++ : LEVEL_CANDIDATES_MAX;
        for (; at > 0 && columns[list[at - 1]].count > columns[c].count; at--)
            if (at < LEVEL_CANDIDATES_MAX)
                list[at] = list[at - 1];
        if (at < LEVEL_CANDIDATES_MAX)
            list[at] = c;
    }
    return count;
}

/* Makes classes; candidates come by their values, and equal ones determine each other if one determines the other. */
static enum status make_classes(struct finding *finding, const struct level_codes *columns,
                                const uint32_t *list, uint32_t count, struct error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        struct class *const class = &finding->classes[finding->class_count];
        *class = (struct class){.column = list[i], .codes = &columns[list[i]]};
        enum status status = describe(finding, class, error);
        uint32_t same = 0;
        while (same < finding->class_count &&
               (finding->classes[same].codes->count != class->codes->count || status != STATUS_OK ||
                !find_dependency(finding, class, &finding->classes[same])))
            same++;
        struct class *spare = class;
        if (same < finding->class_count && class->falls < finding->classes[same].falls) {
            const struct class taken = *class;
            *class = finding->classes[same];
            finding->classes[same] = taken;
        }
        if (same < finding->class_count || status != STATUS_OK)
            free(spare->representative);
        else
            finding->class_count++;
        RETURN_IF_ERROR(status);
    }
    return STATUS_OK;
}

static enum status find_dependencies(struct finding *finding, struct error *error)
{
    for (uint32_t child = 0; child < finding->class_count; child++)
        for (uint32_t parent = 0; parent < finding->class_count; parent++) {
            bool *const determines = &finding->determines[child][parent];
            *determines = child == parent ||
                          find_dependency(finding, &finding->classes[child], &finding->classes[parent]);
            if (*determines && child != parent)
                RETURN_IF_ERROR(count_children(finding, child, parent, error));
        }
    return STATUS_OK;
}

/* ---- Chains ---- */

/* Whether rows that are ordered by the chain stand as they did. */
static bool keeps_order(const struct finding *finding, const uint32_t *classes, uint32_t count)
{
    if (finding->classes[classes[0]].falls > 0)
        return false;
    for (uint64_t r = 1; r < finding->rows; r++)
        for (uint32_t l = 0; l < count; l++) {
            const uint16_t *const codes = finding->classes[classes[l]].codes->codes;
            if (codes[r] < codes[r - 1])
                return false;
            if (codes[r] > codes[r - 1])
                break;
        }
    return true;
}

/* The first level of the chain that determines the class; `count` if none does. */
static uint32_t decided_at(const struct finding *finding, const uint32_t *classes, uint32_t count,
                           uint32_t class)
{
    uint32_t l = 0;
    while (l < count && !finding->determines[classes[l]][class])
        l++;
    return l;
}

static double gap_cost(uint64_t rows, uint32_t bits)
{
    return ((double)bits - level_bits(rows)) / bits;
}

/* Compares a chain with the best one. */
static void compare_chain(struct finding *finding, const struct chain *chain)
{
    uint32_t prefix[LEVELS_MAX], bits = 0;
    for (uint32_t l = 0; l < chain->count; l++) {
        const uint32_t class = chain->classes[l];
        bits += level_bits(l ? finding->children[class][chain->classes[l - 1]]
                             : finding->classes[class].codes->count);
        prefix[l] = bits;
    }
    bits += level_bits(finding->classes[chain->classes[chain->count - 1]].rows_most);
    if (!level_bits_fit(bits, finding->rows) || (chain->count == 1 && finding->rows > LEVEL_ALONE_ROWS_MAX &&
                                                 !keeps_order(finding, chain->classes, chain->count)))
        return;
    double saving = -gap_cost(finding->rows, bits);
    for (uint32_t c = 0; c < finding->class_count; c++) {
        const uint32_t level = decided_at(finding, chain->classes, chain->count, c);
        if (level < chain->count)
            saving += (chain->classes[level] == c ? 1 : SCATTERED) * (1.0 - (double)prefix[level] / bits);
    }
    /* Rows are looked at only where it matters. */
    if (saving + 1.0 > finding->best.saving && keeps_order(finding, chain->classes, chain->count))
        saving += 1.0;
    if (saving > finding->best.saving) {
        finding->best = *chain;
        finding->best.saving = saving;
    }
}

/* Compares the chain and all that begin with it. */
static void compare_chains(struct finding *finding, struct chain *chain)
{
    const uint32_t last = chain->count ? chain->classes[chain->count - 1] : 0;
    if (chain->count)
        compare_chain(finding, chain);
    if (chain->count == LEVELS_MAX)
        return;
    for (uint32_t c = 0; c < finding->class_count && finding->compared < CHAINS_MAX; c++) {
        if (chain->count && (c == last || !finding->determines[c][last]))
            continue;
        finding->compared++;
        chain->classes[chain->count++] = c;
        compare_chains(finding, chain);
        chain->count--;
    }
}

/* ---- Levels below the chain ---- */

/* What is tried below the levels so far. */
struct further {
    struct finding *finding;
    const struct level_codes *levels[LEVELS_MAX];
    uint32_t classes[LEVELS_MAX];
    uint32_t count;
    struct level_layout layout;         /* by the levels so far */
    bool decided[LEVEL_CANDIDATES_MAX]; /* classes */
    uint32_t most_rows, leaf;           /* of the largest leaf */
};

/* Whether the rows of the largest leaf alone need a further bit if they are cut by the class: nearly always, and found
 * from that leaf's rows. */
static enum status refute(const struct further *further, const struct class *class, bool *refuted,
                          struct error *error)
{
    const uint32_t *const leaf_of = further->layout.groups[further->count - 1].of_row;
    uint32_t *counts, values = 0, most = 0;
    RETURN_IF_ERROR(memory_zeros(&counts, class->codes->count * sizeof *counts, "levels", error));
    for (uint64_t r = 0; r < further->finding->rows; r++)
        if (leaf_of[r] == further->leaf) {
            const uint32_t rows = ++counts[class->codes->codes[r]];
            values += rows == 1;
            most = rows > most ? rows : most;
        }
    free(counts);
    *refuted = level_bits(values) + level_bits(most) > further->layout.rest_bits;
    return STATUS_OK;
}

/* The saving of the classes that the layout decides, by a further level, and the levels so far do not. */
static enum status gain_of(const struct further *further, uint32_t class, const struct level_layout *layout,
                           double *gain, struct error *error)
{
    const struct finding *const finding = further->finding;
    *gain = 0;
    for (uint32_t c = 0; c < finding->class_count; c++) {
        const struct level_values values = {
            .values = finding->classes[c].codes->codes, .value_bytes = 2, .rows = finding->rows};
        uint8_t depth;
        if (further->decided[c])
            continue;
        RETURN_IF_ERROR(level_layout_depth(layout, &values, &depth, error));
        if (depth <= layout->count)
            *gain += (c == class ? 1 : SCATTERED) *
                     (1.0 - (double)layout->prefix_bits / (layout->prefix_bits + layout->rest_bits));
    }
    return STATUS_OK;
}

/* Lays rows out with the class as a further level; *gain is 0 if that needs a further bit, or saves nothing. */
static enum status try_class(struct further *further, uint32_t class, bool ordered,
                             struct level_layout *layout, double *gain, struct error *error)
{
    bool refuted, fits;
    *gain = 0;
    *layout = (struct level_layout){0};
    RETURN_IF_ERROR(refute(further, &further->finding->classes[class], &refuted, error));
    if (refuted)
        return STATUS_OK;
    further->levels[further->count] = further->finding->classes[class].codes;
    further->classes[further->count] = class;
    RETURN_IF_ERROR(level_layout_make(further->levels, further->count + 1, further->finding->rows, NULL, 0,
                                      &fits, layout, error));
    if (!fits || (ordered && !keeps_order(further->finding, further->classes, further->count + 1)) ||
        layout->prefix_bits + layout->rest_bits > further->layout.prefix_bits + further->layout.rest_bits)
        return STATUS_OK;
    return gain_of(further, class, layout, gain, error);
}

static enum status note_decided(struct further *further, struct error *error)
{
    const struct finding *const finding = further->finding;
    further->most_rows = 0;
    for (uint32_t f = 0; f < further->layout.leaf_count; f++)
        if (further->layout.leaves[f].rows > further->most_rows) {
            further->most_rows = further->layout.leaves[f].rows;
            further->leaf = f;
        }
    for (uint32_t c = 0; c < finding->class_count; c++) {
        const struct level_values values = {
            .values = finding->classes[c].codes->codes, .value_bytes = 2, .rows = finding->rows};
        uint8_t depth;
        if (further->decided[c])
            continue;
        RETURN_IF_ERROR(level_layout_depth(&further->layout, &values, &depth, error));
        further->decided[c] = depth <= further->count;
    }
    return STATUS_OK;
}

/* Adds the class that gains most; *added is false if none gains. */
static enum status add_further(struct further *further, bool ordered, bool *added, struct error *error)
{
    struct level_layout best = {0}, layout;
    double most = 0, gain;
    uint32_t taken = 0;
    enum status status = STATUS_OK;
    for (uint32_t c = 0; c < further->finding->class_count && status == STATUS_OK; c++) {
        if (further->decided[c])
            continue;
        status = try_class(further, c, ordered, &layout, &gain, error);
        if (status == STATUS_OK && gain > most) {
            struct level_layout spare = best;
            best = layout;
            layout = spare;
            most = gain;
            taken = c;
        }
        level_layout_free(&layout);
    }
    *added = status == STATUS_OK && most > 0;
    if (!*added) {
        level_layout_free(&best);
        return status;
    }
    level_layout_free(&further->layout);
    further->layout = best;
    further->levels[further->count] = further->finding->classes[taken].codes;
    further->classes[further->count++] = taken;
    return note_decided(further, error);
}

static enum status find_further(struct finding *finding, struct error *error)
{
    struct further further = {.finding = finding, .count = finding->best.count};
    bool fits, added = true;
    for (uint32_t l = 0; l < further.count; l++) {
        further.classes[l] = finding->best.classes[l];
        further.levels[l] = finding->classes[further.classes[l]].codes;
    }
    const bool ordered = keeps_order(finding, further.classes, further.count);
    enum status status = level_layout_make(further.levels, further.count, finding->rows, NULL, 0, &fits,
                                           &further.layout, error);
    if (status == STATUS_OK && fits)
        status = note_decided(&further, error);
    while (status == STATUS_OK && fits && added && further.count < LEVELS_MAX)
        status = add_further(&further, ordered, &added, error);
    finding->best.count = further.count;
    memcpy(finding->best.classes, further.classes, sizeof further.classes);
    level_layout_free(&further.layout);
    return status;
}

/* ---- All ---- */

static enum status find(struct finding *finding, const struct level_codes *columns, uint32_t column_count,
                        struct error *error)
{
    uint32_t list[LEVEL_CANDIDATES_MAX];
    const uint32_t count = list_candidates(columns, column_count, finding->rows, list);
    struct chain chain = {0};
    RETURN_IF_ERROR(make_classes(finding, columns, list, count, error));
    RETURN_IF_ERROR(find_dependencies(finding, error));
    compare_chains(finding, &chain);
    return finding->best.count ? find_further(finding, error) : STATUS_OK;
}

enum status levels_find(const struct level_codes *columns, uint32_t column_count, uint64_t rows,
                        uint32_t levels[LEVELS_MAX], uint32_t *count, struct error *error)
{
    struct finding *finding;
    *count = 0;
    if (rows < LEVEL_ROWS_MIN)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_zeros(&finding, sizeof *finding, "levels", error));
    finding->rows = rows;
    const enum status status = find(finding, columns, column_count, error);
    for (uint32_t l = 0; status == STATUS_OK && l < finding->best.count; l++)
        levels[(*count)++] = finding->classes[finding->best.classes[l]].column;
    for (uint32_t c = 0; c < finding->class_count; c++)
        free(finding->classes[c].representative);
    free(finding);
    return status;
}
