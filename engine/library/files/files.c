/* files.c: see files.h. */
#include "engine/library/files/files.h"

#include "engine/library/files/file_parts.h"
#include "storage/base/execution/execution.h"
#include "storage/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* All files of an open database's statements. */
struct database_files {
    struct database_companion companion; /* first */
    pthread_mutex_t lock;      /* of the list, of schemas that are found and of columns that are loaded */
    struct file_table *tables; /* the newest first */
};

static void files_free(struct database_companion *companion)
{
    struct database_files *const files = (struct database_files *)companion;
    for (struct file_table *table = files->tables, *next; table; table = next) {
        next = table->next;
        file_table_free(table);
    }
    pthread_mutex_destroy(&files->lock);
    free(files);
}

static struct database_companion *files_make(void)
{
    struct database_files *const files = calloc(1, sizeof *files);
    if (!files)
        return NULL;
    files->companion.free = files_free;
    pthread_mutex_init(&files->lock, NULL);
    return &files->companion;
}

static enum status files_of(struct database *database, struct database_files **files, struct error *error)
{
    *files = (struct database_files *)database_companion(database, files_make);
    return *files ? STATUS_OK : error_out_of_memory(error, sizeof **files, "files");
}

/* Puts a table among the others, under a name that no other one has, nor one of the database: plans are known by the names of
 * their tables. */
static void add_table(struct database_files *files, const struct database *database, struct file_table *table)
{
    char name[NAME_BYTES];
    unsigned number = 1;
    memcpy(name, table->table.name, sizeof name);
    for (bool taken = true; taken;) {
        taken = database_find(database, table->table.name) != NULL;
        for (const struct file_table *other = files->tables; other && !taken; other = other->next)
            taken = strcmp(other->table.name, table->table.name) == 0;
        if (taken)
            snprintf(table->table.name, NAME_BYTES, "%.48s (%u)", name, ++number);
    }
    table->next = files->tables;
    files->tables = table;
}

/* ---- Binding ---- */

static enum status find_table(struct database_files *files, const struct statement_files *own,
                              const char *name, struct file_table **table, struct error *error)
{
    bool same = false;
    for (*table = files->tables; *table; *table = (*table)->next) {
        if (!(*table)->whole && strcmp((*table)->name, name) == 0)
            RETURN_IF_ERROR(file_table_compare(*table, &same, error));
        if (same)
            return STATUS_OK;
    }
    RETURN_IF_ERROR(file_table_open(name, &own->reading, table, error));
    add_table(files, own->database, *table);
    return STATUS_OK;
}

static enum status keep(struct statement_files *own, struct file_table *table, struct error *error)
{
    RETURN_IF_ERROR(memory_grow(&own->tables, (own->count + 1ull) * sizeof *own->tables, "files", error));
    own->tables[own->count++] = table;
    return STATUS_OK;
}

static enum status find(void *context, const char *name, const struct table **table, struct error *error)
{
    struct statement_files *const own = context;
    struct database_files *files;
    struct file_table *found;
    if (own->cluster)
        return error_set(
            error, STATUS_BAD_INPUT,
            "several processes (--cluster) ask tables alone; load the file, or ask it in one process");
    RETURN_IF_ERROR(files_of(own->database, &files, error));
    pthread_mutex_lock(&files->lock);
    enum status status = find_table(files, own, name, &found, error);
    pthread_mutex_unlock(&files->lock);
    status = AND_THEN(status, keep(own, found, error));
    *table = status == STATUS_OK ? &found->table : NULL;
    return status;
}

struct logical_files statement_files_begin(struct statement_files *files, struct database *database,
                                           const struct engine *engine)
{
    statement_files_end(files);
    files->database = database;
    files->cluster = engine_cluster(engine) != NULL;
    files->reading = (struct file_reading){.threads = engine_threads(engine),
                                           .memory = engine_memory(engine)->limit,
                                           .spill = execution_spill()};
    return (struct logical_files){.find = find, .context = files};
}

void statement_files_end(struct statement_files *files)
{
    free(files->tables);
    *files = (struct statement_files){.database = NULL};
}

enum status statement_files_compare(const struct statement_files *files, bool *same, struct error *error)
{
    *same = true;
    for (uint32_t t = 0; *same && t < files->count; t++)
        RETURN_IF_ERROR(file_table_compare(files->tables[t], same, error));
    return STATUS_OK;
}

/* ---- What is needed ---- */

/* Marks the columns of a table that scans in the subtree give and that are needed. */
static void mark(const struct logical_node *node, const struct table *table, const struct logical_set *needed,
                 bool *wanted)
{
    if (node->kind == LOGICAL_SCAN && node->scan.table == table)
        for (uint32_t c = 0; c < node->column_count; c++)
            wanted[node->scan.stored[c]] |= logical_has(needed, node->columns[c]);
    for (uint32_t i = 0; i < node->input_count; i++)
        mark(node->inputs[i], table, needed, wanted);
}

/* ---- The first rows ---- */

/* For so many rows, and of files of many more, first rows are loaded alone: SELECT * FROM 'file' LIMIT 10. */
#define FIRST_ROWS_MOST  65536u
#define FIRST_ROWS_WHOLE 131072u

static bool read_number(const struct sql_expression *expression, uint64_t *number)
{
    *number = 0;
    if (!expression)
        return true;
    *number = expression->operation == SQL_NUMBER ? strtoull(expression->text, NULL, 10) : UINT64_MAX;
    return *number <= FIRST_ROWS_MOST && strspn(expression->text, "0123456789") == strlen(expression->text);
}

static struct logical_node *below_projections(struct logical_node *node)
{
    while (node->kind == LOGICAL_PROJECT)
        node = node->inputs[0];
    return node;
}

/* The scan of which the statement gives first rows, or NULL. */
static struct logical_node *find_limited(const struct logical_tree *tree, uint64_t *rows)
{
    uint64_t limit, offset;
    struct logical_node *const node = below_projections(tree->root);
    if (node->kind != LOGICAL_LIMIT || !node->limit.limit || !read_number(node->limit.limit, &limit) ||
        !read_number(node->limit.offset, &offset))
        return NULL;
    struct logical_node *const scan = below_projections(node->inputs[0]);
    *rows = limit + offset;
    return scan->kind == LOGICAL_SCAN ? scan : NULL;
}

static bool is_loaded(const struct file_table *table, const bool *wanted)
{
    bool loaded = true;
    for (uint32_t c = 0; c < table->table.column_count; c++)
        loaded &= !wanted[c] || table->table.columns[c].memory;
    return loaded;
}

/* Lets the scan be one of first rows, if that is less to load. */
static enum status limit_scan(struct database_files *files, const struct database *database,
                              struct logical_node *scan, uint64_t rows, const bool *wanted,
                              struct file_table **table, struct error *error)
{
    struct file_table *first = files->tables;
    if (scan->scan.table != &(*table)->table || (*table)->table.rows < FIRST_ROWS_WHOLE ||
        is_loaded(*table, wanted))
        return STATUS_OK;
    while (first && !(first->whole == *table && first->first && first->first >= rows))
        first = first->next;
    if (!first) {
        RETURN_IF_ERROR(file_table_first(*table, rows ? rows : 1, &first, error));
        add_table(files, database, first);
    }
    *table = first;
    scan->scan.table = &first->table;
    return STATUS_OK;
}

/* ---- Some parts ---- */

static bool has_parts(const struct file_table *table, const uint64_t *parts)
{
    bool all = true;
    for (uint64_t w = 0; w < table->part_words; w++)
        all &= !(parts[w] & ~table->kept[w]);
    return all;
}

/* Finds a table that has the parts: the smallest whose columns are loaded, or else the one that has no others. *loaded gets the
 * rows of which tables have loaded these columns. */
static struct file_table *find_some(const struct database_files *files, const struct file_table *whole,
                                    const struct file_parts *parts, const bool *wanted, uint64_t *loaded)
{
    struct file_table *found = NULL, *exact = NULL;
    *loaded = 0;
    for (struct file_table *table = files->tables; table; table = table->next) {
        if (table->whole != whole || !table->kept)
            continue;
        const bool has = has_parts(table, parts->bits), ready = is_loaded(table, wanted);
        if (has && ready && (!found || table->table.rows < found->table.rows))
            found = table;
        if (has && table->table.rows == parts->rows)
            exact = table;
        *loaded += ready ? table->table.rows : 0;
    }
    return found ? found : exact;
}

static void scan_other(struct logical_node *node, const struct table *from, const struct table *to)
{
    if (node->kind == LOGICAL_SCAN && node->scan.table == from)
        node->scan.table = to;
    for (uint32_t i = 0; i < node->input_count; i++)
        scan_other(node->inputs[i], from, to);
}

/* Lets all scans be of the parts that the conditions need, if these are at most half of the rows, and as long as tables of parts have
 * not loaded as many rows as the file has: what other conditions ask then finds all. */
static enum status restrict_scans(struct statement_files *own, struct database_files *files,
                                  struct logical_tree *tree, const struct logical_options *options,
                                  const bool *wanted, struct file_table **table, struct error *error)
{
    struct file_parts parts;
    struct file_table *some;
    uint64_t loaded;
    if (is_loaded(*table, wanted))
        return STATUS_OK;
    RETURN_IF_ERROR(file_parts_find(*table, tree, options, &parts, error));
    enum status status = STATUS_OK;
    if (parts.bits && parts.kept < parts.count && 2 * parts.rows <= (*table)->table.rows) {
        some = find_some(files, *table, &parts, wanted, &loaded);
        if (!some && loaded + parts.rows <= (*table)->table.rows) {
            status = file_table_some(*table, parts.bits, parts.count, parts.rows, parts.what, &some, error);
            if (status == STATUS_OK)
                add_table(files, own->database, some);
        }
        if (status == STATUS_OK && some) {
            scan_other(tree->root, &(*table)->table, &some->table);
            for (uint32_t s = 0; s < tree->shared_count; s++)
                scan_other(tree->shared[s].root, &(*table)->table, &some->table);
            tree->of_values |= parts.of_values;
            own->some = true;
            *table = some;
        }
    }
    free(parts.bits);
    return status;
}

/* ---- Columns ---- */

static enum status load_table(struct statement_files *own, struct file_table *table,
                              struct logical_tree *tree, const struct logical_options *options,
                              const struct logical_set *needed, struct error *error)
{
    struct database_files *files;
    struct logical_node *limited;
    uint64_t rows;
    bool *wanted;
    RETURN_IF_ERROR(files_of(own->database, &files, error));
    RETURN_IF_ERROR(
        memory_zeros(&wanted, (table->table.column_count + 1ull) * sizeof *wanted, "columns", error));
    mark(tree->root, &table->table, needed, wanted);
    for (uint32_t s = 0; s < tree->shared_count; s++)
        mark(tree->shared[s].root, &table->table, needed, wanted);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&files->lock);
    if ((limited = find_limited(tree, &rows)) != NULL)
        status = limit_scan(files, own->database, limited, rows, wanted, &table, error);
    else
        status = restrict_scans(own, files, tree, options, wanted, &table, error);
    status = AND_THEN(status, file_table_load(table, wanted, &own->reading, error));
    pthread_mutex_unlock(&files->lock);
    free(wanted);
    return status;
}

enum status statement_files_load(struct statement_files *files, struct logical_tree *tree,
                                 const struct logical_options *options, struct error *error)
{
    struct logical_set needed;
    if (!files->count)
        return STATUS_OK;
    RETURN_IF_ERROR(logical_needed(tree, &needed, error));
    for (uint32_t t = 0; t < files->count; t++)
        RETURN_IF_ERROR(load_table(files, files->tables[t], tree, options, &needed, error));
    return STATUS_OK;
}
