/* table_levels.c: stores a table's rows in the order of levels; see table_writer_levels in writer.h.
 *
 * The table's segments are kept by its sorter (table_sorter.c). Each column is read once and becomes codes; levels are
 * found in these (level_find.h), rows are laid out (level_layout.h), and columns that may be decided by levels are read
 * again. An appended table keeps its levels and, if the new rows find room, the positions of its old rows. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/base/execution/memory_account.h"
#include "storage/column/levels_file.h"
#include "storage/database/levels/level_find.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The wish ---- */

static bool references(const struct table *table, const char *name)
{
    bool found = false;
    for (uint32_t c = 0; c < table->column_count; c++)
        found |= strcmp(table->columns[c].schema.references_table, name) == 0;
    return found;
}

/* The reason why the table cannot have levels, or NULL. */
static const char *obstacle(const struct table *table)
{
    if (table->rows > INT32_MAX)
        return "it has more rows than positions can name";
    if (references(table, table->name))
        return "it references itself";
    return levels_key(table) ? NULL : "it has no primary key that others reference";
}

static enum status check_columns(const struct table_writer *table, const struct levels_wish *wish,
                                 struct error *error)
{
    if (wish->count > LEVELS_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "table %s: %u levels are more than the %u that there may be", table->table.name,
                         wish->count, LEVELS_MAX);
    for (uint32_t l = 0; l < wish->count; l++) {
        RETURN_IF_ERROR(table_writer_column(table, wish->columns[l], error));
        const struct column_schema *const schema = &table->table.columns[wish->columns[l]].schema;
        if (schema->references_table[0])
            return error_set(error, STATUS_BAD_INPUT,
                             "table %s: column %s is a foreign key, whose values change when rows are added "
                             "to %s; it cannot be a level",
                             table->table.name, schema->name, schema->references_table);
        for (uint32_t before = 0; before < l; before++)
            if (wish->columns[before] == wish->columns[l])
                return error_set(error, STATUS_BAD_INPUT, "table %s: %s is named twice as a level",
                                 table->table.name, schema->name);
    }
    return STATUS_OK;
}

/* Opens the sorter, unless memory or disk is too little for it. */
static enum status try_sorter(struct table_writer *table, struct error *error)
{
    struct error reason = {0};
    const enum status status = table_sorter_open(table, &reason);
    if (status != STATUS_OK) {
        table_sorter_free(table->sorter);
        table->sorter = NULL;
    }
    return status == STATUS_OK || status == STATUS_MACHINE ? STATUS_OK
                                                           : error_set(error, status, "%s", reason.text);
}

enum status table_writer_levels(struct table_writer *table, const struct levels_wish *wish,
                                struct error *error)
{
    const struct table *const described = &table->table;
    const char *const why_not = obstacle(described);
    RETURN_IF_ERROR(check_columns(table, wish, error));
    if (wish->count && why_not)
        return error_set(error, STATUS_BAD_INPUT, "table %s cannot have levels: %s", described->name,
                         why_not);
    if (why_not || described->rows == 0)
        return STATUS_OK;
    const bool had = table->old && table->old->levels,
               had_none = table->old && !had && table->old->rows >= LEVEL_ROWS_MIN;
    if (!wish->count && !had && (had_none || described->rows < LEVEL_ROWS_MIN))
        return STATUS_OK;
    const uint64_t needed = table_sorter_level_bytes(described), available = memory_available("");
    if (needed > available && !wish->count)
        return STATUS_OK;
    if (needed > available)
        return error_set(error, STATUS_MACHINE,
                         "ordering table %s by levels needs %" PRIu64 " bytes of memory and %" PRIu64
                         " are available; free memory, or load it in the order of its file",
                         described->name, needed, available);
    if (table->sorter)
        return error_set(error, STATUS_BAD_INPUT, "table %s is to be sorted twice", described->name);
    table->levels = *wish;
    return wish->count ? table_sorter_open(table, error) : try_sorter(table, error);
}

bool table_writer_sorts(const struct table_writer *table)
{
    return table->sorter != NULL;
}

const int32_t *table_writer_positions(const struct table_writer *table)
{
    return table->positions;
}

/* ---- Reading columns ---- */

struct level_search {
    struct table_writer *table;
    struct level_codes *codes; /* of each column; count 0: not a candidate */
    struct level_layout layout;
    uint8_t *depth;
};

static struct level_values values_of(const struct table *table, uint32_t column,
                                     const struct whole_column *whole)
{
    return (struct level_values){.values = whole->values,
                                 .value_bytes = table->columns[column].value_bytes,
                                 .validity = whole->validity,
                                 .rows = table->rows};
}

static enum status take_codes(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct level_search *const search = context;
    const uint32_t c = (uint32_t)item;
    struct whole_column whole;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    if (search->table->table.columns[c].schema.references_table[0] ||
        search->table->table.columns[c].schema.live)
        return STATUS_OK;
    enum status status = table_sorter_read(search->table, c, &whole, error);
    if (status == STATUS_OK) {
        const struct level_values values = values_of(&search->table->table, c, &whole);
        status = level_codes_make(&values, &search->codes[c], error);
    }
    whole_column_free(&whole);
    return status;
}

/* A column of more values than there are leaves has not one value a leaf. */
static enum status take_depth(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct level_search *const search = context;
    const struct table *const table = &search->table->table;
    const struct level_codes *const codes = &search->codes[item];
    const uint32_t c = (uint32_t)item;
    struct whole_column whole;
    (void)thread;
    search->depth[c] = (uint8_t)(search->layout.count + 1);
    if (codes->count > search->layout.leaf_count || table->columns[c].schema.live ||
        (!codes->count && !table->columns[c].schema.references_table[0] &&
         search->layout.leaf_count <= LEVEL_VALUES_MAX))
        return STATUS_OK;
    if (codes->count) {
        const struct level_values values = {.values = codes->codes, .value_bytes = 2, .rows = table->rows};
        return level_layout_depth(&search->layout, &values, &search->depth[c], error);
    }
    enum status status = table_sorter_read(search->table, c, &whole, error);
    if (status == STATUS_OK) {
        const struct level_values values = values_of(table, c, &whole);
        status = level_layout_depth(&search->layout, &values, &search->depth[c], error);
    }
    whole_column_free(&whole);
    return status;
}

/* ---- Choosing ---- */

static enum status lay_out(struct level_search *search, const struct levels_wish *wish,
                           const struct table_levels *least, bool *fits, struct error *error)
{
    const struct level_codes *levels[LEVELS_MAX];
    uint32_t bits[LEVELS_MAX] = {0};
    *fits = true;
    for (uint32_t l = 0; l < wish->count; l++) {
        levels[l] = &search->codes[wish->columns[l]];
        *fits &= levels[l]->count > 0;
        bits[l] = least ? least->level[l].bits : 0;
    }
    if (!*fits)
        return STATUS_OK;
    level_layout_free(&search->layout);
    return level_layout_make(levels, wish->count, search->table->table.rows, bits,
                             least ? least->rest_bits : 0, fits, &search->layout, error);
}

static enum status refuse_wish(const struct level_search *search, const struct levels_wish *wish,
                               struct error *error)
{
    const struct table *const table = &search->table->table;
    for (uint32_t l = 0; l < wish->count; l++)
        if (search->codes[wish->columns[l]].count == 0)
            return error_set(error, STATUS_BAD_INPUT,
                             "table %s: column %s has more than %u different values; it cannot be a level",
                             table->name, table->columns[wish->columns[l]].schema.name, LEVEL_VALUES_MAX);
    return error_set(error, STATUS_BAD_INPUT,
                     "table %s: its rows have too many gaps by these levels: positions may have at most %u "
                     "bits, and be at most %u times the rows; name fewer levels",
                     table->name, LEVELS_BITS_MAX, LEVEL_POSITIONS_A_ROW);
}

/* Whether old rows keep their positions: each leaf has the same prefix for its old rows, which come first. */
static bool keeps_positions(const struct table_levels *old, const int32_t *positions)
{
    for (uint32_t f = 0; f < old->leaf_count; f++)
        for (uint32_t i = 0; i < old->leaves[f].rows; i++)
            if ((uint32_t)positions[old->leaves[f].first_row + i] !=
                (old->leaves[f].prefix << old->rest_bits) + i)
                return false;
    return true;
}

static enum status take_order(struct level_search *search, uint32_t *order, struct error *error)
{
    int32_t **const positions = &search->table->positions;
    if (!*positions)
        RETURN_IF_ERROR(
            memory_take(positions, search->table->table.rows * sizeof **positions, "levels", error));
    level_layout_order(&search->layout, order, *positions);
    return STATUS_OK;
}

/* The levels of the table as it was: its old bits if old rows then keep their positions, else the fewest bits. */
static enum status lay_out_again(struct level_search *search, const struct table_levels *old, uint32_t *order,
                                 bool *fits, struct error *error)
{
    struct levels_wish wish = {.count = old->count};
    for (uint32_t l = 0; l < old->count; l++)
        wish.columns[l] = old->level[l].column;
    RETURN_IF_ERROR(lay_out(search, &wish, old, fits, error));
    if (*fits) {
        RETURN_IF_ERROR(take_order(search, order, error));
        if (keeps_positions(old, search->table->positions)) {
            search->table->levels = wish;
            return STATUS_OK;
        }
    }
    search->table->levels = wish;
    return lay_out(search, &wish, NULL, fits, error);
}

static enum status find_levels(struct level_search *search, bool *found, struct error *error)
{
    struct table_writer *const table = search->table;
    RETURN_IF_ERROR(levels_find(search->codes, table->table.column_count, table->table.rows,
                                table->levels.columns, &table->levels.count, error));
    *found = table->levels.count > 0;
    return *found ? lay_out(search, &table->levels, NULL, found, error) : STATUS_OK;
}

static enum status choose(struct level_search *search, uint32_t *order, bool *found, struct error *error)
{
    struct table_writer *const table = search->table;
    *found = false;
    if (table->levels.count) {
        RETURN_IF_ERROR(lay_out(search, &table->levels, NULL, found, error));
        if (!*found)
            return refuse_wish(search, &table->levels, error);
    } else if (table->old && table->old->levels) {
        struct table_levels *old;
        RETURN_IF_ERROR(levels_read(table->database->path, table->old, &old, error));
        const enum status status = lay_out_again(search, old, order, found, error);
        levels_free(old);
        RETURN_IF_ERROR(status);
    }
    if (!*found)
        RETURN_IF_ERROR(find_levels(search, found, error));
    return *found ? take_order(search, order, error) : STATUS_OK;
}

/* ---- The result ---- */

static enum status set_levels(struct level_search *search, struct error *error)
{
    struct table_writer *const table = search->table;
    struct level_layout *const layout = &search->layout;
    struct table_levels *levels;
    RETURN_IF_ERROR(memory_zeros(&levels, sizeof *levels, "levels", error));
    *levels = (struct table_levels){.count = layout->count,
                                    .prefix_bits = layout->prefix_bits,
                                    .rest_bits = layout->rest_bits,
                                    .positions = layout->positions,
                                    .leaf_count = layout->leaf_count,
                                    .leaves = layout->leaves,
                                    .depth = search->depth};
    for (uint32_t l = 0; l < layout->count; l++)
        levels->level[l] = (struct level){.column = table->levels.columns[l], .bits = layout->bits[l]};
    table->table.levels = levels;
    layout->leaves = NULL;
    search->depth = NULL;
    return STATUS_OK;
}

static enum status search_levels(struct level_search *search, unsigned threads, uint32_t *order,
                                 struct error *error)
{
    const struct table *const table = &search->table->table;
    const uint32_t columns = table->column_count;
    bool found;
    RETURN_IF_ERROR(memory_zeros(&search->codes, columns * sizeof *search->codes, "levels", error));
    RETURN_IF_ERROR(memory_zeros(&search->depth, columns, "levels", error));
    RETURN_IF_ERROR(parallel_for(table_sorter_threads(table, threads), columns, take_codes, search, error));
    RETURN_IF_ERROR(choose(search, order, &found, error));
    if (!found) {
        free(search->table->positions);
        search->table->positions = NULL;
        for (uint64_t r = 0; r < table->rows; r++)
            order[r] = (uint32_t)r;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(parallel_for(table_sorter_threads(table, threads), columns, take_depth, search, error));
    return set_levels(search, error);
}

enum status table_levels_order(struct table_writer *table, unsigned threads, uint32_t **order,
                               struct error *error)
{
    struct level_search search = {.table = table};
    RETURN_IF_ERROR(memory_take(order, table->table.rows * sizeof **order, "levels", error));
    const enum status status = search_levels(&search, threads, *order, error);
    for (uint32_t c = 0; search.codes && c < table->table.column_count; c++)
        level_codes_free(&search.codes[c]);
    free(search.codes);
    free(search.depth);
    level_layout_free(&search.layout);
    if (status != STATUS_OK) {
        free(*order);
        *order = NULL;
    }
    return status;
}
