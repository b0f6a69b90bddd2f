/* modules.c: see modules.h. */
#include "engine/gpu/memory/modules.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    char *source; /* NULL: the place is free */
    struct cuda_module *module;
    struct cuda_graph *graph;
    uint64_t given; /* a number that rises */
};

struct cuda_modules {
    struct cuda *cuda;
    pthread_mutex_t lock; /* of all below */
    uint64_t given;
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

bool cuda_modules_take(struct cuda_modules *modules, const char *source, struct cuda_module **module,
                       struct cuda_graph **graph)
{
    struct kept *found = NULL;
    pthread_mutex_lock(&modules->lock);
    for (uint32_t i = 0; i < MODULES_KEPT && !found; i++)
        if (modules->kept[i].source && strcmp(modules->kept[i].source, source) == 0)
            found = &modules->kept[i];
    if (found) {
        *module = found->module;
        *graph = found->graph;
        free(found->source);
        *found = (struct kept){0};
    }
    pthread_mutex_unlock(&modules->lock);
    return found != NULL;
}

void cuda_modules_give(struct cuda_modules *modules, const char *source, struct cuda_module **module,
                       struct cuda_graph **graph)
{
    char *const copy = *module ? strdup(source) : NULL;
    if (!copy)
        return;
    pthread_mutex_lock(&modules->lock);
    struct kept *oldest = &modules->kept[0];
    for (uint32_t i = 1; i < MODULES_KEPT; i++)
        if (modules->kept[i].given < oldest->given)
            oldest = &modules->kept[i];
    struct kept out = *oldest;
    *oldest = (struct kept){.source = copy, .module = *module, .graph = *graph, .given = ++modules->given};
    pthread_mutex_unlock(&modules->lock);
    unload(modules, &out);
    *module = NULL;
    *graph = NULL;
}
