/* view_change.c: creates and drops views; see writer.h. A change is a new catalogue, and no other file. */
#include "storage/database/writer_internal.h"

#include "storage/base/memory.h"
#include "storage/base/words/utf8.h"
#include "storage/base/words/word.h"
#include "storage/database/database_files.h"

#include <stdlib.h>
#include <string.h>

struct view_change {
    const char *path, *name;
    const char *query; /* NULL: the view is dropped */
    bool replace;
};

static enum status drop_view(const struct view_change *change, struct catalogue *catalogue,
                             struct error *error)
{
    struct catalogue_view *const view = catalogue_view(catalogue, change->name);
    if (!view)
        return error_set(error, STATUS_BAD_INPUT, "database %s has no view \"%s\"", change->path,
                         change->name);
    free(view->query);
    catalogue->view_count--;
    memmove(view, view + 1, (size_t)(catalogue->views + catalogue->view_count - view) * sizeof *view);
    return STATUS_OK;
}

static enum status check_name(const struct view_change *change, const struct catalogue *catalogue,
                              struct error *error)
{
    if (!name_valid(change->name))
        return error_set(error, STATUS_BAD_INPUT, "a view cannot be named \"%.63s\": use " NAME_RULE,
                         change->name);
    if (strlen(change->query) > CATALOGUE_VIEW_BYTES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "the query of a view has at most %u bytes",
                         CATALOGUE_VIEW_BYTES_MAX);
    if (!utf8_is_valid(change->query, strlen(change->query)))
        return error_set(error, STATUS_BAD_INPUT, "the query of a view must be UTF-8");
    for (uint32_t t = 0; t < catalogue->table_count; t++)
        if (word_compare(catalogue->tables[t].name, change->name) == 0)
            return error_set(error, STATUS_BAD_INPUT, "there is a table %s; give the view another name",
                             catalogue->tables[t].name);
    if (catalogue_view(catalogue, change->name) && !change->replace)
        return error_set(error, STATUS_BAD_INPUT, "there is a view %s; CREATE OR REPLACE VIEW replaces it",
                         change->name);
    return STATUS_OK;
}

/* An older view keeps its place. */
static enum status add_view(const struct view_change *change, struct catalogue *catalogue,
                            struct error *error)
{
    RETURN_IF_ERROR(check_name(change, catalogue, error));
    struct catalogue_view *view = catalogue_view(catalogue, change->name);
    char *const query = strdup(change->query);
    if (!query)
        return error_out_of_memory(error, strlen(change->query), "the catalogue");
    if (!view) {
        const enum status status =
            memory_grow(&catalogue->views, (catalogue->view_count + 1ull) * sizeof *catalogue->views,
                        "the catalogue", error);
        if (status != STATUS_OK) {
            free(query);
            return status;
        }
        view = &catalogue->views[catalogue->view_count++];
        *view = (struct catalogue_view){0};
        memcpy(view->name, change->name, strlen(change->name));
    }
    free(view->query);
    view->query = query;
    return STATUS_OK;
}

static enum status change_catalogue(const struct view_change *change, struct catalogue *catalogue,
                                    struct error *error)
{
    bool visible = false;
    RETURN_IF_ERROR((change->query ? add_view : drop_view)(change, catalogue, error));
    database_clean(change->path, catalogue);
    catalogue->generation++;
    return catalogue_write(change->path, catalogue, &visible, error);
}

static enum status run_change(const struct view_change *change, struct error *error)
{
    struct catalogue catalogue;
    int lock = -1;
    /* Read it first: where there is no database, no lock file is made. */
    RETURN_IF_ERROR(catalogue_read(change->path, &catalogue, error));
    catalogue_free(&catalogue);
    RETURN_IF_ERROR(database_lock(change->path, LOCK_WAIT_MS, &lock, error));
    enum status status = catalogue_read(change->path, &catalogue, error);
    status = AND_THEN(status, change_catalogue(change, &catalogue, error));
    catalogue_free(&catalogue);
    database_unlock(lock);
    return status;
}

enum status database_view_create(const char *path, const char *name, const char *query, bool replace,
                                 struct error *error)
{
    const struct view_change change = {.path = path, .name = name, .query = query, .replace = replace};
    return run_change(&change, error);
}

enum status database_view_drop(const char *path, const char *name, struct error *error)
{
    const struct view_change change = {.path = path, .name = name};
    return run_change(&change, error);
}
