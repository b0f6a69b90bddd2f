/* windows_internal.h: what computes window functions (windows.c) and makes their orders (order.c). */
#ifndef TESSERA_ENGINE_GPU_WINDOWS_WINDOWS_INTERNAL_H
#define TESSERA_ENGINE_GPU_WINDOWS_WINDOWS_INTERNAL_H

#include "engine/gpu/sort/radix_sort.h"
#include "engine/plan/device/device_window.h"

struct window_kernels {
    struct cuda_function *orders, *keys, *ranks, *marks, *lists;
    struct cuda_function *add, *before, *prefix, *leaves, *nodes, *values, *runs;
};

struct windows {
    struct cuda *cuda;
    struct device *device;
    struct device_rows *rows;
    const struct device_window *of; /* the function that is computed; its order is made */
    struct cuda_module *module;
    uint64_t lent;
    struct window_kernels kernels;
    struct cuda_radix_sort sort;
    cuda_address memory, order; /* of sums and flags; of the order */
    bool scattered;             /* neighbouring places have rows anywhere */
    bool has_words;             /* places have words, with codes of terms and of the columns: */
    uint32_t carried[WINDOW_CARRIED_MAX];
    struct device_column
        *moved; /* the columns in the order, that are kept; NULL: results stand where their rows are */
    struct window_work work;
};

/* Launches a kernel over the rows: a thread each, or fewer. */
NODISCARD enum status cuda_window_launch(const struct windows *windows, struct cuda_function *function,
                                         uint64_t items, void **arguments, struct error *error);
/* ... that takes the work alone. */
NODISCARD enum status cuda_window_launch_work(struct windows *windows, struct cuda_function *function,
                                              struct error *error);
/* Makes the sums of pieces those before each. */
NODISCARD enum status cuda_window_sum_pieces(struct windows *windows, struct error *error);

/* Adds a column for the results of windows->of. */
NODISCARD enum status cuda_window_add_result(struct windows *windows, struct error *error);

struct window_column cuda_window_column_of(const struct device_column *column);

/* The codes of a column as a term are 0 .. *last; false: they do not fit a word. */
bool cuda_window_code_of(const struct device_column *column, uint64_t *last);

/* What functions want of their order. */
struct window_wishes {
    bool groups;   /* of peers */
    bool *columns; /* that are read in it: arguments, and if the order is the last one those that are kept */
    bool in_place; /* results may stand in it */
};

/* Makes the order of the function, after that of another one. Unless work.has_row, results must stand in it. *done is false
 * if there is no memory. */
NODISCARD enum status cuda_window_order_make(struct windows *windows, const struct window_wishes *wishes,
                                             bool *done, struct error *error);
/* Tells the kernels the terms of windows->of. */
void cuda_window_set_terms(struct windows *windows);
/* The code of a column in the words of the order's places; NULL: they have none. */
const struct window_code *cuda_window_code_at(const struct windows *windows, uint32_t column);

/* ---- runs.c ---- */

/* Whether functions of one order may be computed in one pass over rows that stand in it. */
bool cuda_window_runs_can(const struct device_rows *rows, const struct device_window *list, uint32_t count);
/* Computes them; *done is false, and nothing is added, if the rows do not stand so, or there is no memory. */
NODISCARD enum status cuda_window_runs(struct windows *windows, const struct device_window *list,
                                       uint32_t count, bool *done, struct error *error);

#endif
