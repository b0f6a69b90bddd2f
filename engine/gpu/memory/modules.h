/*
 * modules.h: loaded modules of statements that were freed, with their graphs, for statements of the same kernels, which
 * mostly differ in their constants. Loading a module takes 0.4 ms and unloading it 0.2 (one H200), more than most scans.
 *
 * A module has one user at a time, because its arguments are in its constant memory. At most MODULES_KEPT are kept, those
 * that were given last. Any thread may call these functions.
 */
#ifndef TESSERA_ENGINE_GPU_MEMORY_MODULES_H
#define TESSERA_ENGINE_GPU_MEMORY_MODULES_H

#include "engine/cuda/cuda.h"

/* A module of a query takes some 100 KB of the GPU's memory. */
#define MODULES_KEPT 64u

struct cuda_modules;

NODISCARD enum status cuda_modules_create(struct cuda *cuda, struct cuda_modules **modules,
                                          struct error *error);
/* Unloads all; NULL is legal. */
void cuda_modules_destroy(struct cuda_modules *modules);

/* Takes a module that was compiled from this source, and its graph if it has one; false: there is none. */
bool cuda_modules_take(struct cuda_modules *modules, const char *source, struct cuda_module **module,
                       struct cuda_graph **graph);

/* Gives both, which become NULL, unless there is no memory for the entry. NULL is legal. */
void cuda_modules_give(struct cuda_modules *modules, const char *source, struct cuda_module **module,
                       struct cuda_graph **graph);

#endif
