/* files.c: see files.h. */
#include "engine/library/files/files.h"

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

/* ---- Binding ---- */

static enum status find_table(struct database_files *files, const char *name,
                              const struct file_reading *reading, struct file_table **table,
                              struct error *error)
{
    bool same = false;
    for (*table = files->tables; *table; *table = (*table)->next) {
        if (strcmp((*table)->name, name) == 0)
            RETURN_IF_ERROR(file_table_compare(*table, &same, error));
        if (same)
            return STATUS_OK;
    }
    RETURN_IF_ERROR(file_table_open(name, reading, table, error));
    (*table)->next = files->tables;
    files->tables = *table;
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
    RETURN_IF_ERROR(files_of(own->database, &files, error));
    pthread_mutex_lock(&files->lock);
    enum status status = find_table(files, name, &own->reading, &found, error);
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

/* ---- Loading ---- */

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

static enum status load_table(const struct statement_files *own, struct file_table *table,
                              const struct logical_tree *tree, const struct logical_set *needed,
                              struct error *error)
{
    struct database_files *files;
    bool *wanted;
    RETURN_IF_ERROR(files_of(own->database, &files, error));
    RETURN_IF_ERROR(
        memory_zeros(&wanted, (table->table.column_count + 1ull) * sizeof *wanted, "columns", error));
    mark(tree->root, &table->table, needed, wanted);
    for (uint32_t s = 0; s < tree->shared_count; s++)
        mark(tree->shared[s].root, &table->table, needed, wanted);
    pthread_mutex_lock(&files->lock);
    const enum status status = file_table_load(table, wanted, &own->reading, error);
    pthread_mutex_unlock(&files->lock);
    free(wanted);
    return status;
}

enum status statement_files_load(const struct statement_files *files, struct logical_tree *tree,
                                 struct error *error)
{
    struct logical_set needed;
    if (!files->count)
        return STATUS_OK;
    RETURN_IF_ERROR(logical_needed(tree, &needed, error));
    for (uint32_t t = 0; t < files->count; t++)
        RETURN_IF_ERROR(load_table(files, files->tables[t], tree, &needed, error));
    return STATUS_OK;
}
