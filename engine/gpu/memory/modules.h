/*
 * modules.h: loaded modules that no run uses now, with their graphs. A statement that is kept gives its module after each run
 * and takes it again before the next one; in between, statements of the same kernel, which mostly differ in their
 * constants, may have it. Loading a module takes 0.7 ms and unloading it 0.2 (one H200), more than most scans.
 *
 * A module has one user at a time, because its arguments are in its constant memory. At most MODULES_KEPT are kept, those
 * that were given last. Any thread may call these functions.
 */
#ifndef TESSERA_ENGINE_GPU_MEMORY_MODULES_H
#define TESSERA_ENGINE_GPU_MEMORY_MODULES_H

#include "engine/cuda/cuda.h"

/* A module of a query takes some 100 KB of the GPU's memory. */
#define MODULES_KEPT 256u

struct cuda_modules;

NODISCARD enum status cuda_modules_create(struct cuda *cuda, struct cuda_modules **modules,
                                          struct error *error);
/* Unloads all; NULL is legal. */
void cuda_modules_destroy(struct cuda_modules *modules);

/* Takes a module that was compiled from this source, and its graph if it has one; false: there is none. *number is that of the
 * module that is wanted most, or 0; of others, the one that was given first is taken. If it changes, this is another module,
 * in which everything may have changed. The taker gives it, with the number, or drops it and unloads the module. */
bool cuda_modules_take(struct cuda_modules *modules, const char *source, uint64_t *number,
                       struct cuda_module **module, struct cuda_graph **graph);

/* Gives both, which become NULL, and sets the number; it was 0 if the module is new here. Without room or memory for the entry,
 * both stay the caller's. NULL is legal. */
void cuda_modules_give(struct cuda_modules *modules, const char *source, uint64_t *number,
                       struct cuda_module **module, struct cuda_graph **graph);
void cuda_modules_drop(struct cuda_modules *modules, uint64_t number);

/* Takes a module of kernels that are compiled ahead (engine/cuda/ahead.h), by their name, or loads it. */
NODISCARD enum status cuda_modules_take_ahead(struct cuda_modules *modules, const char *name,
                                              uint64_t *number, struct cuda_module **module,
                                              struct error *error);

#endif
