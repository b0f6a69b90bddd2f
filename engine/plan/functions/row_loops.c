/*
 * row_loops.c: calls of functions that are computed row by row (row_call.h), for each instruction set. A loop has the body of
 * its function in it, so that those without branches, such as sqrt and ln, become vectors. Compiled without fused
 * multiplications and additions (storage/base/number/real.h).
 */
#include "engine/plan/functions/row_call.h"

#include "operators/dialect/row_body.h"
#include "storage/base/isa.h"

#define ROW_EACH(body, of_missing)                                         \
    for (uint32_t row = 0; row < rows; row++) {                            \
        bool missing = false;                                              \
        values[row] = call_##body(a[row], b[row], c[row], unit, &missing); \
        of_missing;                                                        \
    }
#define ROW_LOOP(id, listed, letters, text, body, type, misses, range)                                       \
    static void loop_##body(const int64_t *restrict a, const int64_t *restrict b, const int64_t *restrict c, \
                            int unit, uint32_t rows, int64_t *restrict values, uint8_t *restrict nulls)      \
    {                                                                                                        \
        if ((misses) && nulls)                                                                               \
            ROW_EACH(body, nulls[row] = missing)                                                             \
        else                                                                                                 \
            ROW_EACH(body, (void)missing)                                                                    \
    }
#define GIVES                                                           false
#define MISSES                                                          true
#define ROW_PLACE(id, listed, letters, text, body, type, misses, range) [ROW_##id] = loop_##body,
#define ROW_NOTHING(...)

FUNCTIONS(ROW_LOOP, ROW_NOTHING, ROW_NOTHING)

typedef void row_loop(const int64_t *restrict a, const int64_t *restrict b, const int64_t *restrict c,
                      int unit, uint32_t rows, int64_t *restrict values, uint8_t *restrict nulls);

static row_loop *const loops[] = {FUNCTIONS(ROW_PLACE, ROW_NOTHING, ROW_NOTHING)};

/* Some bodies must not see the values of NULLs, which are any. */
static void present_only(const struct expression *call, uint32_t rows, const struct vector *children,
                         struct vector out)
{
    row_body *const body = row_call_function(call)->body;
    const struct vector a = children[0], b = children[1], c = children[2];
    for (uint32_t row = 0; row < rows; row++) {
        bool missing = (a.nulls && a.nulls[row]) || (b.nulls && b.nulls[row]) || (c.nulls && c.nulls[row]);
        out.values[row] = 0;
        if (!missing)
            out.values[row] = body(a.values[row], b.values[row], c.values[row], (int)call->index, &missing);
        if (out.nulls)
            out.nulls[row] = missing;
    }
}

void ISA(row_call_loop)(const struct expression *call, uint32_t rows, const struct vector *children,
                        struct vector out)
{
    const struct vector all[] = {children[0], children[call->children > 1 ? 1 : 0],
                                 children[call->children > 2 ? 2 : 0]};
    if (all[0].nulls || all[1].nulls || all[2].nulls)
        present_only(call, rows, all, out);
    else
        loops[call->field](all[0].values, all[1].values, all[2].values, (int)call->index, rows, out.values,
                           out.nulls);
}
