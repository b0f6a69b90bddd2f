/* kernel_first.c: see first.h. */
#include "engine/gpu/first/first.h"

_Static_assert(FIRST_TERMS_MAX == ARGUMENT_FIRST_TERMS_MAX, "a kernel holds what ranks have");

static void write_parts(const struct kernel_body *body, uint32_t terms)
{
    const struct first_rows *first = &body->plan->first;
    char name[KERNEL_NAME_BYTES];
    for (uint32_t t = 0; t < terms; t++) {
        const uint32_t node = first->terms[t].expression;
        fprintf(body->out, " + first_part<%u, %s>(v%u, %s)", t, first->terms[t].descending ? "true" : "false",
                node, kernel_body_null(body, node, name));
    }
}

/* Writes a loop over the rows that passes the sum of the first `terms` parts to a function, which tells if the row stays. */
static enum status write_loop(FILE *out, const struct plan *plan, struct kernel *kernel, const char *function,
                              uint32_t terms, struct error *error)
{
    const struct first_rows *first = &plan->first;
    struct kernel_body body;
    RETURN_IF_ERROR(kernel_body_begin(&body, out, plan, kernel, false, error));
    fputs("    tile_where(t, keep, row) {\n", out);
    for (uint32_t t = 0; t < terms; t++)
        kernel_body_write(&body, first->terms[t].expression);
    fprintf(out, "    if (!q->sums.first.%s(t, row, first_place<%s>(t, row)", function,
            first->by_row ? "true" : "false");
    write_parts(&body, terms);
    fputs("))\n        tile_drop(keep, row);\n    }\n", out);
    return kernel_body_end(&body);
}

/* Most rows are dropped by the first term, so that columns of the others need not be fetched. */
enum status kernel_first_write(FILE *out, const struct plan *plan, struct kernel *kernel,
                               void (*fetch)(void *context, uint32_t root), void *context,
                               struct error *error)
{
    const struct first_rows *first = &plan->first;
    fetch(context, first->terms[0].expression);
    if (first->term_count > 1)
        RETURN_IF_ERROR(write_loop(out, plan, kernel, "may_take", 1, error));
    for (uint32_t t = 1; t < first->term_count; t++)
        fetch(context, first->terms[t].expression);
    RETURN_IF_ERROR(write_loop(out, plan, kernel, "take", first->term_count, error));
    fputs("    q->sums.first.end(t, keep);\n", out);
    return STATUS_OK;
}
