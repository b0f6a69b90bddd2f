/* modules.c: see modules.h. */
#include "engine/gpu/memory/modules.h"

#include "engine/cuda/ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct kept {
    char *source;    /* NULL: the place is free */
    uint64_t hash;   /* of the source */
    uint64_t number; /* of its last taker: a count times MODULES_KEPT, and the place */
    uint64_t given;  /* a count that rises */
    bool taken;      /* then the following are NULL */
    struct cuda_module *module;
    struct cuda_graph *graph;
};

struct cuda_modules {
    struct cuda *cuda;
    pthread_mutex_t lock; /* of all below */
    uint64_t count;       /* of numbers and gifts */
    struct kept kept[MODULES_KEPT];
};

enum status cuda_modules_create(struct cuda *cuda, struct cuda_modules **modules, struct error *error)
{
    *modules = calloc(1, sizeof **modules);
    if (!*modules)
        return error_out_of_memory(error, sizeof **modules, "the list of loaded kernels");
    (*modules)->cuda = cuda;
    pthread_mutex_init(&(*modules)->lock, NULL);
    return STATUS_OK;
}

static void unload(struct cuda_modules *modules, struct kept *kept)
{
    cuda_graph_destroy(modules->cuda, kept->graph);
    cuda_module_unload(modules->cuda, kept->module);
    free(kept->source);
    *kept = (struct kept){0};
}

void cuda_modules_destroy(struct cuda_modules *modules)
{
    if (!modules)
        return;
    for (uint32_t i = 0; i < MODULES_KEPT; i++)
        unload(modules, &modules->kept[i]);
    pthread_mutex_destroy(&modules->lock);
    free(modules);
}

/* The lock is held here and in the next three. */
static struct kept *find_number(struct cuda_modules *modules, uint64_t number)
{
    struct kept *const kept = &modules->kept[number % MODULES_KEPT];
    return number && kept->source && kept->number == number ? kept : NULL;
}

static struct kept *find_source(struct cuda_modules *modules, const char *source)
{
    const uint64_t hash = XXH3_64bits(source, strlen(source));
    struct kept *found = NULL;
    for (struct kept *kept = modules->kept; kept < modules->kept + MODULES_KEPT; kept++)
        if (kept->source && !kept->taken && kept->hash == hash && (!found || kept->given < found->given) &&
            strcmp(kept->source, source) == 0)
            found = kept;
    return found;
}

static uint64_t new_number(struct cuda_modules *modules, struct kept *kept)
{
    kept->number = ++modules->count * MODULES_KEPT + (uint64_t)(kept - modules->kept);
    return kept->number;
}

/* A free place, or else the one that was given first; NULL: all are taken. */
static struct kept *find_place(struct cuda_modules *modules)
{
    struct kept *found = NULL;
    for (struct kept *kept = modules->kept; kept < modules->kept + MODULES_KEPT; kept++)
        if (!kept->taken && (!found || kept->given < found->given))
            found = kept;
    return found;
}

bool cuda_modules_take(struct cuda_modules *modules, const char *source, uint64_t *number,
                       struct cuda_module **module, struct cuda_graph **graph)
{
    pthread_mutex_lock(&modules->lock);
    struct kept *found = find_number(modules, *number);
    if (!found && (found = find_source(modules, source)) != NULL)
        *number = new_number(modules, found);
    if (found) {
        *module = found->module;
        *graph = found->graph;
        found->taken = true;
        found->module = NULL;
        found->graph = NULL;
    }
    pthread_mutex_unlock(&modules->lock);
    return found != NULL;
}

/* Makes an entry, which is taken, in place of *out; NULL: there is no room or memory. */
static struct kept *add(struct cuda_modules *modules, const char *source, struct kept *out)
{
    struct kept *const place = find_place(modules);
    char *const copy = place ? strdup(source) : NULL;
    if (!copy)
        return NULL;
    *out = *place;
    *place = (struct kept){.source = copy, .hash = XXH3_64bits(source, strlen(source)), .taken = true};
    new_number(modules, place);
    return place;
}

void cuda_modules_give(struct cuda_modules *modules, const char *source, uint64_t *number,
                       struct cuda_module **module, struct cuda_graph **graph)
{
    struct kept out = {0};
    if (!*module)
        return;
    pthread_mutex_lock(&modules->lock);
    struct kept *kept = find_number(modules, *number);
    if (!kept)
        kept = add(modules, source, &out);
    if (kept) {
        kept->module = *module;
        kept->graph = *graph;
        kept->given = ++modules->count;
        kept->taken = false;
        *number = kept->number;
        *module = NULL;
        *graph = NULL;
    }
    pthread_mutex_unlock(&modules->lock);
    unload(modules, &out);
}

void cuda_modules_drop(struct cuda_modules *modules, uint64_t number)
{
    pthread_mutex_lock(&modules->lock);
    struct kept *const kept = find_number(modules, number);
    if (kept) {
        free(kept->source);
        *kept = (struct kept){0};
    }
    pthread_mutex_unlock(&modules->lock);
}

enum status cuda_modules_take_ahead(struct cuda_modules *modules, const char *name, uint64_t *number,
                                    struct cuda_module **module, struct error *error)
{
    struct cuda_graph *none = NULL;
    void *image;
    size_t bytes;
    if (cuda_modules_take(modules, name, number, module, &none))
        return STATUS_OK;
    RETURN_IF_ERROR(ahead_get(name, cuda_properties(modules->cuda)->arch, &image, &bytes, error));
    const enum status status = cuda_module_load(modules->cuda, image, module, error);
    free(image);
    return status;
}
