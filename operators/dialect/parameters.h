/*
 * parameters.h: makes the structure from which a query reads its columns, from a list of names.
 *
 * The file that includes this one first defines TILE_PARAMETER_LIST(COLUMN, DIMENSION), which names the fact
 * columns and the dimensions that the queries of a schema may use: COLUMN(lo_revenue) ... DIMENSION(part) ...
 * Columns come before dimensions.
 */
#ifndef TILE_PARAMETER_LIST
#error "define TILE_PARAMETER_LIST(COLUMN, DIMENSION) first"
#endif

#ifdef TILE_CUDA

/* tile_bound is the kernel's argument: addresses and numbers. Each thread makes tile_parameters from it, with
 * types that know the codec; the engine defines them as NAME_TYPE before it includes the query
 * (engine/gpu/kernel.c). */
#define TILE_BOUND_COLUMN_(name)    bound_column name;
#define TILE_BOUND_DIMENSION_(name) bound_dimension name;
#define TILE_TYPED_(name)           name##_TYPE name;
struct tile_bound {
    TILE_PARAMETER_LIST(TILE_BOUND_COLUMN_, TILE_BOUND_DIMENSION_)
};
struct tile_parameters {
    TILE_PARAMETER_LIST(TILE_TYPED_, TILE_TYPED_)
    sums_TYPE sums;
};

#else

#include <stddef.h>

#define TILE_COLUMN_FIELD_(name)    struct tile_column name;
#define TILE_DIMENSION_FIELD_(name) struct tile_dimension name;
struct tile_parameters {
    TILE_PARAMETER_LIST(TILE_COLUMN_FIELD_, TILE_DIMENSION_FIELD_)
    struct tile_sums sums;
};

/* The names, in order, by which the engine binds columns and dimensions (struct kernel_names). */
#define TILE_NAME_(name)            #name,
#define TILE_NO_NAME_(name)
#define TILE_PARAMETER_NAMES                                            \
    {                                                                   \
        .columns = {TILE_PARAMETER_LIST(TILE_NAME_, TILE_NO_NAME_)},    \
        .dimensions = {TILE_PARAMETER_LIST(TILE_NO_NAME_, TILE_NAME_)}, \
    }

#endif
