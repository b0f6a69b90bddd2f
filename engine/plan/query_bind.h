/*
 * engine/plan/query_bind.h: a star query meets a database: names become columns, literals become ranges of stored values,
 * groups become slots. What both devices need is here; engine/cpu/execute.c and engine/gpu/execute.c take it from there.
 */
#ifndef TESSERA_ENGINE_PLAN_QUERY_BIND_H
#define TESSERA_ENGINE_PLAN_QUERY_BIND_H

#include "engine/plan/query.h"
#include "engine/answer/result.h"
#include "engine/plan/tile_skip.h"
#include "storage/database/database.h"

#define BOUND_COLUMNS_MAX 12u

/* The most groups a query may have: 2^24 slots are 192 MB of sums on every thread. */
#define BOUND_SLOTS_MAX (1u << 24)

/* A dimension column as a plain array over row positions: codes or numbers, unsigned, 1, 2 or 4 bytes each.
 */
struct attribute {
    const struct column *column;
    const void *values;
    uint32_t value_bytes;
    uint64_t rows;
    struct column_data *data; /* what `values` points into, or NULL */
    void *copy;               /* or this, if the column had to be put together from several segments */
};

struct fact_column {
    const struct column *column;
    struct column_data *data;
    uint32_t place;                 /* in the layout's columns */
    int32_t low, high;              /* tile_filter's range */
    bool filtered;                  /* by tile_filter */
    bool fetched;                   /* by tile_fetch */
    bool nullable;                  /* some segment has a validity bitmap */
    uint32_t width_low, width_high; /* of all chunks */
};

struct attribute_predicate {
    uint32_t attribute; /* index into bound_query.attributes */
    uint32_t ranges;
    int32_t low[TILE_RANGES_MAX], high[TILE_RANGES_MAX]; /* low <= high in each */
};

struct dimension_join {
    const struct table *table;
    uint32_t place;  /* in the layout's dimensions */
    uint32_t column; /* the key: index into bound_query.columns */
    uint32_t predicate_count;
    struct attribute_predicate predicates[TILE_PREDICATES_MAX];
    uint64_t passing;                 /* rows of the table that pass the predicates */
    struct position_set passing_rows; /* only while the query is being bound */
    bool contiguous;                  /* the rows that pass are one range of positions, or none */
    int32_t code;                     /* index into attributes, or -1 */
    int32_t code_base; /* least and number of codes among the rows that pass the predicates: found when the
                          query is */
    uint32_t domain;   /* bound, so that the sums stay small enough for a cache or shared memory */
};

struct bound_query {
    const struct star_query *query;
    const struct table *fact;
    uint32_t layout_columns, layout_dimensions; /* names in the layout */
    uint32_t column_count;
    struct fact_column columns[BOUND_COLUMNS_MAX];
    uint32_t attribute_count;
    struct attribute attributes[TILE_DIMENSIONS_MAX * (TILE_PREDICATES_MAX + 1)];
    uint32_t join_count;
    struct dimension_join joins[TILE_DIMENSIONS_MAX];
    uint32_t group_count;
    uint32_t group_join[TILE_GROUPS_MAX]; /* the join whose code is that group */
    uint32_t domain[TILE_GROUPS_MAX];     /* 1 where there is no such group */
    uint32_t slots;
    uint64_t bytes;        /* of the encoded fact columns */
    struct tile_skip scan; /* the tiles that can hold a row of the answer */
    double skip_ms;        /* that finding them took */
};

/* Opens everything the query needs; see engine_bind for `codec` and errors. Free with bound_query_close.
 */
NODISCARD enum status bound_query_open(struct database *database, const struct star_query *query,
                                       const char *codec, unsigned threads, struct bound_query *bound,
                                       struct error *error);
void bound_query_close(struct bound_query *bound);

/* The answer from the sums of all slots: names and codes become text again, rows are put in the query's
 * order. */
NODISCARD enum status bound_query_result(const struct bound_query *bound, const int64_t *sums,
                                         const uint32_t *present, struct result *result, struct error *error);

#endif
