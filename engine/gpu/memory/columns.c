/* columns.c: see columns.h. The columns are a list of a few dozen entries. */
#include "engine/gpu/memory/columns_internal.h"

#include "storage/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum status cuda_columns_create(struct cuda *cuda, uint64_t budget, struct cuda_columns **columns,
                                struct error *error)
{
    *columns = calloc(1, sizeof **columns);
    if (!*columns)
        return error_out_of_memory(error, sizeof **columns, "the list of uploaded columns");
    (*columns)->cuda = cuda;
    (*columns)->budget = budget;
    (*columns)->epoch = 1;
    pthread_mutex_init(&(*columns)->mutex, NULL);
    pthread_cond_init(&(*columns)->changed, NULL);
    cuda_memory_bound(cuda, cuda_columns_most(*columns));
    return STATUS_OK;
}

/* ---- The lock ---- */

/* The caller has the mutex. */
static void own(struct cuda_columns *columns, unsigned depth)
{
    while (columns->depth)
        pthread_cond_wait(&columns->changed, &columns->mutex);
    columns->owner = pthread_self();
    columns->depth = depth;
}

void cuda_columns_lock(struct cuda_columns *columns)
{
    pthread_mutex_lock(&columns->mutex);
    if (columns->depth && pthread_equal(columns->owner, pthread_self()))
        columns->depth++;
    else
        own(columns, 1);
    pthread_mutex_unlock(&columns->mutex);
}

void cuda_columns_unlock(struct cuda_columns *columns)
{
    pthread_mutex_lock(&columns->mutex);
    if (--columns->depth == 0)
        pthread_cond_broadcast(&columns->changed);
    pthread_mutex_unlock(&columns->mutex);
}

void columns_wait(struct cuda_columns *columns)
{
    pthread_mutex_lock(&columns->mutex);
    const unsigned depth = columns->depth;
    const uint64_t ended = columns->ended;
    columns->waiting++;
    columns->depth = 0;
    pthread_cond_broadcast(&columns->changed);
    while (columns->depth || columns->ended == ended)
        pthread_cond_wait(&columns->changed, &columns->mutex);
    own(columns, depth);
    columns->waiting--;
    pthread_mutex_unlock(&columns->mutex);
}

/* ---- Statements ---- */

static void remove_tenant(struct cuda_columns *columns, struct cuda_tenant *tenant)
{
    if (!tenant->listed)
        return;
    *(tenant->before ? &tenant->before->after : &columns->first) = tenant->after;
    *(tenant->after ? &tenant->after->before : &columns->last) = tenant->before;
    tenant->listed = false;
}

static void add_tenant(struct cuda_columns *columns, struct cuda_tenant *tenant)
{
    tenant->before = NULL;
    tenant->after = columns->first;
    *(columns->first ? &columns->first->before : &columns->last) = tenant;
    columns->first = tenant;
    tenant->listed = true;
}

void cuda_columns_enter(struct cuda_columns *columns, struct cuda_tenant *tenant)
{
    cuda_columns_lock(columns);
    remove_tenant(columns, tenant);
    add_tenant(columns, tenant);
    tenant->busy = true;
    columns->busy++;
    cuda_columns_unlock(columns);
}

void cuda_columns_leave(struct cuda_columns *columns, struct cuda_tenant *tenant)
{
    cuda_columns_lock(columns);
    tenant->busy = false;
    columns->busy--;
    columns->ended++;
    cuda_columns_unlock(columns);
}

void cuda_columns_forget(struct cuda_columns *columns, struct cuda_tenant *tenant)
{
    cuda_columns_lock(columns);
    remove_tenant(columns, tenant);
    cuda_columns_unlock(columns);
}

bool columns_evict_tenant(struct cuda_columns *columns)
{
    struct cuda_tenant *tenant = columns->last;
    while (tenant && (tenant->busy || !tenant->give_way(tenant)))
        tenant = tenant->before;
    return tenant != NULL;
}

/* ---- Entries ---- */

void columns_unpin(struct cuda_columns *columns, struct entry *entry)
{
    for (uint32_t piece = 0; entry->pins && piece < 2 * entry->column.count; piece++)
        if (entry->pins[piece])
            cuda_unpin(columns->cuda, entry->pins[piece]);
    free(entry->pins);
    free(entry->host);
    entry->pins = NULL;
    entry->host = NULL;
}

void columns_free(struct cuda_columns *columns, struct entry *entry)
{
    cuda_free(columns->cuda, entry->memory);
    columns_unpin(columns, entry);
    free(entry->segments);
    free(entry->ranges);
    free(entry);
}

void cuda_columns_destroy(struct cuda_columns *columns)
{
    if (!columns)
        return;
    while (columns->entries) {
        struct entry *entry = columns->entries;
        columns->entries = entry->next;
        columns_free(columns, entry);
    }
    pthread_mutex_destroy(&columns->mutex);
    pthread_cond_destroy(&columns->changed);
    free(columns);
}

struct entry *columns_find(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                           enum entry_kind kind)
{
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry->key == key && entry->codec == codec && entry->kind == kind && !entry->ranges)
            return entry;
    return NULL;
}

void columns_drop(struct cuda_columns *columns, struct entry *entry)
{
    if (entry->kind == ENTRY_CHUNKS && entry->memory) {
        cuda_free(columns->cuda, entry->memory);
        for (uint32_t s = 0; s < entry->column.count; s++)
            entry->segments[s] = CHUNK_ELSEWHERE;
        entry->memory = entry->column.address = entry->column.bytes = 0;
        columns->epoch++;
    }
    if (entry->kind == ENTRY_CHUNKS && (!entry->ranges || entry->wishes))
        return;
    struct entry **link = &columns->entries;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    columns_free(columns, entry);
}

struct entry *columns_least(struct cuda_columns *columns, double most)
{
    struct entry *least = NULL;
    for (struct entry *entry = columns->entries; entry; entry = entry->next)
        if (entry_is_idle(entry) && !entry->running && entry->score < most) {
            most = entry->score;
            least = entry;
        }
    return least;
}

/* ---- Memory ---- */

/* What makes room first is what no statement uses, and then the chunks of the statement that is being placed: it reads them
 * from the host's memory instead. */
static struct entry *next_to_go(struct cuda_columns *columns)
{
    struct entry *least = columns_least(columns, INFINITY);
    for (struct entry *entry = columns->entries; !least && entry; entry = entry->next)
        if (entry->kind == ENTRY_CHUNKS && entry_is_idle(entry))
            least = entry;
    return least;
}

uint64_t cuda_columns_most(const struct cuda_columns *columns)
{
    return columns->budget > STATEMENTS_LEAST ? columns->budget : STATEMENTS_LEAST;
}

/* Takes memory for statements, under their bound. */
static enum status take(struct cuda_columns *columns, uint64_t bytes, const char *what, cuda_address *address,
                        struct error *error)
{
    const uint64_t most = cuda_columns_most(columns), used = cuda_memory_used(columns->cuda);
    if (used <= most && bytes <= most - used)
        return cuda_allocate(columns->cuda, bytes, what, address, error);
    return error_set(error, STATUS_MACHINE,
                     "the GPU is out of memory: %s needs %" PRIu64
                     " bytes, and statements and columns have %" PRIu64 " of the %" PRIu64
                     " bytes that --gpu-memory allows; give more, or use --device cpu",
                     what, bytes, used, most);
}

static enum status allocate(struct cuda_columns *columns, uint64_t bytes, const char *what, bool waits,
                            cuda_address *address, struct error *error)
{
    enum status status;
    struct error why = {0}; /* a success leaves *error as it is */
    cuda_columns_lock(columns);
    while ((status = take(columns, bytes, what, address, &why)) != STATUS_OK) {
        struct entry *entry;
        if (columns_evict_tenant(columns))
            continue;
        if ((entry = next_to_go(columns)) != NULL)
            columns_drop(columns, entry);
        else if (waits && columns->busy > columns->waiting + 1) /* others than the caller are at work */
            columns_wait(columns);
        else
            break;
    }
    cuda_columns_unlock(columns);
    if (status != STATUS_OK && error)
        *error = why;
    return status;
}

enum status cuda_columns_allocate(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                  cuda_address *address, struct error *error)
{
    return allocate(columns, bytes, what, true, address, error);
}

enum status cuda_columns_allocate_now(struct cuda_columns *columns, uint64_t bytes, const char *what,
                                      cuda_address *address, struct error *error)
{
    return allocate(columns, bytes, what, false, address, error);
}

enum status columns_add(struct cuda_columns *columns, const struct column *key, enum codec_id codec,
                        enum entry_kind kind, uint64_t bytes, struct entry **added, struct error *error)
{
    struct entry *entry = calloc(1, sizeof *entry);
    char what[NAME_BYTES + 16];
    if (!entry)
        return error_out_of_memory(error, sizeof *entry, "an uploaded column");
    snprintf(what, sizeof what, "%s%s", kind == ENTRY_VECTORS ? "the index of " : "", key->schema.name);
    enum status status =
        bytes ? cuda_columns_allocate(columns, bytes, what, &entry->memory, error) : STATUS_OK;
    if (status != STATUS_OK) {
        free(entry);
        return status;
    }
    entry->column.bytes = bytes;
    entry->key = key;
    entry->codec = codec;
    entry->kind = kind;
    entry->next = columns->entries;
    columns->entries = entry;
    *added = entry;
    return STATUS_OK;
}

/* ---- Arrays ---- */

static enum status upload_values(struct cuda *cuda, const struct plan_array *array, cuda_address values,
                                 cuda_address valid, struct error *error)
{
    RETURN_IF_ERROR(cuda_upload(cuda, values, array->values, array->rows * array->value_bytes, error));
    return array->valid
               ? cuda_upload(cuda, valid, array->valid, (array->rows + 31) / 32 * sizeof(uint32_t), error)
               : STATUS_OK;
}

/* An array by its own table's positions is found by its column, one of a dimension of a dimension by its number. */
static struct entry *find_array(struct cuda_columns *columns, const struct plan_array *array, uint64_t number)
{
    struct entry *entry = columns->entries;
    while (entry && !(entry->key == array->column && entry->kind == ENTRY_ARRAY &&
                      entry->shift == array->shift && entry->number == number))
        entry = entry->next;
    return entry;
}

static enum status use_array(struct cuda_columns *columns, const struct plan_array *array,
                             const struct cuda_column **column, struct error *error)
{
    const uint64_t number = array->composed ? array->kept->number : 0;
    struct entry *entry = find_array(columns, array, number);
    if (!entry) {
        const uint64_t values = piece_bytes(array->rows * array->value_bytes),
                       valid = array->valid ? piece_bytes((array->rows + 31) / 32 * sizeof(uint32_t)) : 0;
        RETURN_IF_ERROR(
            columns_add(columns, array->column, CODEC_NONE, ENTRY_ARRAY, values + valid, &entry, error));
        entry->shift = array->shift;
        entry->number = number;
        const enum status status =
            upload_values(columns->cuda, array, entry->memory, entry->memory + values, error);
        if (status != STATUS_OK) {
            columns_drop(columns, entry);
            return status;
        }
        entry->column.address = entry->memory;
        entry->column.valid = array->valid ? entry->memory + values : 0;
    }
    entry->uses++;
    *column = &entry->column;
    return STATUS_OK;
}

enum status cuda_columns_array(struct cuda_columns *columns, const struct plan_array *array,
                               const struct cuda_column **column, struct error *error)
{
    cuda_columns_lock(columns);
    const enum status status = use_array(columns, array, column, error);
    cuda_columns_unlock(columns);
    return status;
}

/* ---- Lists of work ---- */

static void list_whole(const struct table *fact, struct bound_work *work)
{
    for (uint32_t s = 0; s < fact->segment_count; s++)
        for (uint64_t row = 0; row < fact->segment_rows[s]; row += WORK_TILES * TILE_ROWS) {
            const uint64_t left = fact->segment_rows[s] - row;
            *work++ = (struct bound_work){.segment = s,
                                          .first_tile = (uint32_t)(row / TILE_ROWS),
                                          .rows = left < WORK_TILES * TILE_ROWS ? (uint16_t)left
                                                                                : WORK_TILES * TILE_ROWS,
                                          .place = s};
        }
}

static enum status add_work(struct cuda_columns *columns, const struct table *fact, struct entry **entry,
                            struct error *error)
{
    struct bound_work *work;
    uint64_t items = 0;
    for (uint32_t s = 0; s < fact->segment_count; s++)
        items += cuda_work_items(fact->segment_rows[s]);
    const uint64_t bytes = items * sizeof *work;
    RETURN_IF_ERROR(memory_take(&work, bytes + 1, "the list of work", error));
    list_whole(fact, work);
    enum status status = columns_add(columns, &fact->columns[0], CODEC_NONE, ENTRY_WORK, bytes, entry, error);
    if (status == STATUS_OK) {
        (*entry)->column.address = (*entry)->memory;
        status = cuda_upload(columns->cuda, (*entry)->memory, work, bytes, error);
        if (status != STATUS_OK)
            columns_drop(columns, *entry);
    }
    free(work);
    return status;
}

enum status cuda_columns_work(struct cuda_columns *columns, const struct table *fact,
                              const struct cuda_column **column, struct error *error)
{
    cuda_columns_lock(columns);
    struct entry *entry = columns_find(columns, &fact->columns[0], CODEC_NONE, ENTRY_WORK);
    const enum status status = entry ? STATUS_OK : add_work(columns, fact, &entry, error);
    if (status == STATUS_OK) {
        entry->uses++;
        *column = &entry->column;
    }
    cuda_columns_unlock(columns);
    return status;
}

void cuda_columns_release(struct cuda_columns *columns, const struct cuda_column *column)
{
    if (!column)
        return;
    cuda_columns_lock(columns);
    ((struct entry *)(uintptr_t)column)->uses--;
    cuda_columns_unlock(columns);
}
