/* query_compile.h: plans a statement and compiles its kernels, without a GPU. */
#ifndef TESSERA_TESTS_SUPPORT_QUERY_COMPILE_H
#define TESSERA_TESTS_SUPPORT_QUERY_COMPILE_H

#include "engine/gpu/sectors.h"
#include "engine/library/statement.h"
#include "engine/gpu/query_kernel.h"
#include "tests/support/compile_targets.h"

#include <string.h>

static inline enum status compile_kernel(const struct plan *plan, bool count, const char *const *options,
                                         const struct compile_target *gpu, const char *sql,
                                         struct error *error)
{
    struct query_kernel kernel;
    RETURN_IF_ERROR(query_kernel_make(plan, count, &gpu->target, &kernel, error));
    const enum status status = compile_source(sql, kernel.plan.source, gpu->arch, options, error);
    query_kernel_free(&kernel);
    return status;
}

/* Compiles the kernel of the answer. For EXPLAIN ANALYZE it also compiles the kernel that counts rows and the
 * kernel that marks sectors. */
static inline enum status compile_plan(const struct plan *plan, bool analyse,
                                       const struct compile_target *gpu, const char *sql, struct error *error)
{
    RETURN_IF_ERROR(compile_kernel(plan, false, NULL, gpu, sql, error));
    if (!analyse)
        return STATUS_OK;
    RETURN_IF_ERROR(compile_kernel(plan, true, NULL, gpu, sql, error));
    return compile_kernel(plan, false, cuda_sectors_options, gpu, sql, error);
}

/* Parameters from parameter_count on are NULL. A plan that no row can match has no kernel. */
static inline enum status compile_statement(struct database *database, const char *sql,
                                            const struct sql_parameter *parameters, uint32_t parameter_count,
                                            const char *codec, const struct compile_target *gpu,
                                            struct error *error)
{
    struct sql_statement_tree *tree;
    struct plan *plan;
    size_t used;
    RETURN_IF_ERROR(sql_parse(sql, strlen(sql), &tree, &used, error));
    const struct sql_select *select = sql_tree_select(tree);
    enum status status =
        sql_bind(database, select, parameters, parameter_count, codec, 1, &plan, error);
    if (status == STATUS_OK) {
        if (!plan->nothing)
            status = compile_plan(plan, select->explain == SQL_EXPLAIN_ANALYZE, gpu, sql, error);
        plan_free(plan);
    }
    sql_tree_free(tree);
    return status;
}

#endif
