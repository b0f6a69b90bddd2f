/*
 * distribute.h: a tree that several processes answer. Operators run in process 0 alone, in its account of memory; plans
 * over stored tables are scanned by all. For each of them process 0 tells the others the block: they make the same plan of
 * it, and scan their share (engine_run).
 *
 *     process 0    bind, tell, prepare and run ...    end
 *     others       hear, bind, prepare and run ...    hear that it is the end
 *
 * A failure of one is met by the others at their next point, and becomes that of all (cluster.h).
 */
#ifndef TESSERA_ENGINE_RELATIONAL_DISTRIBUTE_H
#define TESSERA_ENGINE_RELATIONAL_DISTRIBUTE_H

#include "engine/relational/relational.h"

/* A block as it was told. */
struct distributed {
    struct sql_select select;
    struct sql_star star;
};

/* Gives bytes that are the same for the same block in each run and process, and different for others. The caller frees them. */
NODISCARD enum status distribute_key(struct relational *run, const struct sql_star *star,
                                     const struct sql_select *select, char **key, size_t *length);
/* Tells the block to the other processes; nothing if there are none. */
NODISCARD enum status distribute_tell(struct relational *run, const struct sql_star *star,
                                      const struct sql_select *select);
/* Tells that there are no more. */
NODISCARD enum status distribute_end(struct relational *run);
/* Waits for the next block, whose parameters become those of the run; *end: there is none. It lives as long as the run. */
NODISCARD enum status distribute_hear(struct relational *run, struct distributed **block, bool *end);

#endif
