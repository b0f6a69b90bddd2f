/*
 * taken.h: rows that operators leave on the GPU that has them, so that only an answer is copied to the host:
 *
 *     scan       a plan whose rows are taken (engine/plan/device/device_rows.h)
 *     window     adds columns to them (engine/plan/device/device_window.h)
 *     block      is a plan over a table of them (device_table.h), whose answer the host gets
 *
 * The operator above asks: it names the operator below in run->taken, and answers that. The one below may then give rows that
 * the GPU has, or its result on the host, as any other.
 */
#ifndef TESSERA_ENGINE_RELATIONAL_DEVICE_TAKEN_H
#define TESSERA_ENGINE_RELATIONAL_DEVICE_TAKEN_H

#include "engine/plan/device/device_rows.h"
#include "engine/relational/relational.h"

struct taken {
    const struct logical_node *node; /* the operator that may give them */
    struct device_rows *rows;        /* the one that has asked frees them; NULL: the result is on the host */
    uint32_t count, *numbers;        /* of the rows' columns, in the tree */
};

/* Whether the engine has rows on a device: it is one GPU. */
bool taken_is_possible(const struct relational *run);
/* The column with this number; UINT32_MAX: there is none. */
uint32_t taken_find(const struct taken *taken, uint32_t number);
NODISCARD enum status taken_add(struct relational *run, struct taken *taken, uint32_t number);
/* Answers an operator, which may give its rows to `taken`; else *result. */
NODISCARD enum status taken_ask(struct relational *run, struct taken *taken, const struct logical_set *needed,
                                struct result *result);
/* Copies the columns with these numbers, which there must be, to the host; free with rowset_free. */
NODISCARD enum status taken_fetch(struct relational *run, const struct taken *taken, const uint32_t *numbers,
                                  uint32_t count, struct rowset *rows);
void taken_free(struct taken *taken);

/* Answers a SELECT over the rows, whose expressions name their columns as SQL_INPUT. It has an aggregate, or `into` takes its
 * rows, whose `rows` are NULL if the device cannot. */
NODISCARD enum status taken_select(struct relational *run, const struct taken *taken,
                                   const struct sql_select *select, const uint32_t *numbers,
                                   struct taken *into, struct result *result);

#endif
