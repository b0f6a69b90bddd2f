/* kernel_first.c: see first.h. */
#include "engine/gpu/first/first.h"

enum status kernel_first_write(FILE *out, const struct plan *plan, struct kernel *kernel, struct error *error)
{
    const struct first_rows *first = &plan->first;
    struct kernel_body body;
    char name[KERNEL_NAME_BYTES];
    RETURN_IF_ERROR(kernel_body_begin(&body, out, plan, kernel, false, error));
    fputs("    tile_where(t, keep, row) {\n", out);
    kernel_body_write(&body, first->expression);
    fprintf(out,
            "    if (!q->sums.first.take(t, row, first_rank<%s, %s>(v%u, %s)))\n"
            "        tile_drop(keep, row);\n    }\n    q->sums.first.end(t, keep);\n",
            first->descending ? "true" : "false", first->nulls_first ? "true" : "false", first->expression,
            kernel_body_null(&body, first->expression, name));
    kernel_body_end(&body);
    return STATUS_OK;
}
