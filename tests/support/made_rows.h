/* made_rows.h: rowsets that tests make by hand, a row a call. */
#ifndef TESSERA_TESTS_SUPPORT_MADE_ROWS_H
#define TESSERA_TESTS_SUPPORT_MADE_ROWS_H

#include "engine/answer/rowset.h"

#include <string.h>

static const struct value_type made_integer = {.kind = VALUE_INTEGER}, made_string = {.kind = VALUE_STRING};

static inline struct rowset_cell made_text(const char *text)
{
    return (struct rowset_cell){.string = text, .length = (uint32_t)strlen(text)};
}

static inline struct rowset_builder *made_begin(uint32_t count, const char *const *names,
                                                const struct value_type *types)
{
    struct rowset_builder *builder;
    assert_int_equal(rowset_builder_create(count, names, types, &builder, NULL), STATUS_OK);
    return builder;
}

static inline void made_add(struct rowset_builder *builder, const struct rowset_cell *cells)
{
    assert_int_equal(rowset_builder_add(builder, cells, NULL), STATUS_OK);
}

static inline struct rowset made_end(struct rowset_builder *builder)
{
    struct rowset rows;
    rowset_builder_finish(builder, &rows);
    rowset_builder_free(builder);
    return rows;
}

#endif
