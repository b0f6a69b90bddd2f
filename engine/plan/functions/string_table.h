/*
 * string_table.h: computes a function of strings for many arguments on all threads, and makes the node that
 * looks its results up. A value takes 20 to 500 ns, a string that is new to its thread 50 ns more.
 *
 * Each thread keeps its different results once, because most functions (the host of an address, the domain of a
 * mail) have few: these alone are sorted for the dictionary of results. The node does not depend on the number
 * of threads.
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_TABLE_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_STRING_TABLE_H

#include "engine/plan/functions/string_call.h"
#include "engine/plan/functions/text_call.h"

/* The arguments of `count` values. `open`, `close` and `begin` may be NULL. */
struct string_source {
    uint64_t count;
    bool repeats; /* strings of rows: they may repeat although few of the first do */
    const void *context;
    /* Makes and frees what one thread needs. */
    enum status (*open)(const void *context, void **thread, struct error *error);
    void (*close)(void *thread);
    /* Values first .. first + rows - 1 follow; `first` is a multiple of VECTOR_ROWS, `rows` at most VECTOR_ROWS. */
    void (*begin)(const void *context, void *thread, uint64_t first, uint32_t rows);
    /* Gives the strings of a value, and sets numbers of the thread's call; false: the value is NULL. */
    bool (*arguments)(const void *context, const void *thread, uint64_t number, struct string_call *call,
                      struct string_value *strings);
};

/* Adds the node whose value is that of number `child`, a node with values 0 .. source->count - 1. */
NODISCARD enum status string_table(struct expression_list *list, const struct string_call *call,
                                   const struct string_source *source, uint32_t child, uint32_t *index,
                                   struct error *error);

#endif
