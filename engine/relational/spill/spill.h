/*
 * spill.h: what an operator does whose work the account of memory refuses (storage/base/execution/spillable.h). It divides
 * its rows by the hash of keys, so that rows of equal keys are in one part, works on the parts one after the other, and puts
 * their answers together:
 *
 *     join          both sides by their keys                       two.c
 *     aggregate     by the groups, each grouping set alone         aggregate.c
 *     window        by what all rows of a partition have           window/window.c
 *     set           both sides by all columns                      set.c
 *
 * The parts are answers as any others: of the account, or in files. A part whose work is refused again is divided again, by
 * other bits of the hash. What one key alone has cannot be divided: then the work itself is in files, except that of
 * groups, which fails with the bytes that it wanted. An order is not divided but
 * sorted by runs, which are merged (storage/base/sort/sort_rows.h).
 */
#ifndef TESSERA_ENGINE_RELATIONAL_SPILL_SPILL_H
#define TESSERA_ENGINE_RELATIONAL_SPILL_SPILL_H

#include "engine/relational/relational.h"

#define SPILL_BITS  4u /* of the hash */
#define SPILL_PARTS (1u << SPILL_BITS)

/* How things stood before an operator worked. */
struct spill_mark {
    uint64_t refused;
};
struct spill_mark spill_mark(void);

/* True if it failed because the account refused, and its rows may be divided: then there is no error any more. */
bool spill_wanted(struct relational *run, const struct spill_mark *mark, enum status status);

/* *is_one: no division by these columns divides the rows. */
NODISCARD enum status spill_is_one_key(struct relational *run, const struct result *rows, uint32_t count,
                                       const uint32_t *keys, bool *is_one);

/* Works on a part, of up to two inputs, which it may use up; it gives the same columns for each part. */
typedef enum status spill_work(void *context, struct result *inputs, struct result *result);

/* Works on all parts of the inputs, which are divided by keys[i] and used up. *result gets the rows of all. EXPLAIN says
 * nothing of the work. */
NODISCARD enum status spill_run(struct relational *run, uint32_t input_count, struct result *const *inputs,
                                uint32_t count, const uint32_t *const *keys, spill_work *work, void *context,
                                struct result *result);

/* Works on rows that cannot be divided. */
NODISCARD enum status spill_undivided(struct relational *run, spill_work *work, void *context,
                                      struct result *inputs, struct result *result);

/* Puts rows after others, unless there are none, of columns in the same order; *more is used up. */
NODISCARD enum status spill_append(struct relational *run, struct result *all, struct result *more);

/* ---- aggregate.c ---- */

/* Answers a SELECT with groups as relational_select does, part by part. */
NODISCARD enum status spill_groups(struct relational *run, const struct result *from,
                                   struct sql_select *select, const uint32_t *numbers, struct result *result);

#endif
