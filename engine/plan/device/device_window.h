/*
 * device_window.h: a window function over rows that a device has (device_rows.h), as struct device_operations takes it. It is
 * what engine/relational/window answers on the host, with the same values: rows that are equal in their order keep it.
 */
#ifndef TESSERA_ENGINE_PLAN_DEVICE_DEVICE_WINDOW_H
#define TESSERA_ENGINE_PLAN_DEVICE_DEVICE_WINDOW_H

#include "engine/plan/device/device_rows.h"
#include "operators/window/window.h"

/* Columns are numbers in struct device_rows. */
struct device_window_term {
    uint32_t column;
    bool descending, nulls_first;
};

struct device_window {
    enum window_result result;
    uint32_t term_count, partition_terms; /* at most WINDOW_TERMS_MAX; those of the partition come first */
    struct device_window_term terms[WINDOW_TERMS_MAX];
    bool has_argument;
    uint32_t argument;
    int64_t number;                   /* of WINDOW_GIVES_NTILE and _MOVED */
    struct window_edge_at begin, end; /* of the frame: its first row, and the one after its last */
    struct value_type type;           /* of the result */
};

#endif
