/* query_compile.h: plans a statement and compiles its kernels, without a GPU. */
#ifndef TESSERA_TESTS_SUPPORT_GPU_QUERY_COMPILE_H
#define TESSERA_TESTS_SUPPORT_GPU_QUERY_COMPILE_H

#include "engine/gpu/sectors.h"
#include "engine/library/statement.h"
#include "engine/gpu/kernel.h"
#include "tests/support/sql/star_plan.h"
#include "tests/support/gpu/compile_targets.h"

#include <string.h>

static inline enum status compile_kernel(const struct plan *plan, bool count, const char *const *options,
                                         const struct compile_target *gpu, const char *sql,
                                         struct error *error)
{
    struct kernel kernel;
    enum status status = kernel_make(plan, count, &gpu->target, &kernel, error);
    if (status == STATUS_OK)
        status = compile_source(sql, kernel.source, gpu->arch, options, error);
    kernel_free(&kernel);
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

/* Binds a statement. Parameters from parameter_count on are NULL. */
static inline enum status plan_with_parameters(struct database *database, const char *sql,
                                               const struct sql_parameter *parameters,
                                               uint32_t parameter_count, const char *codec,
                                               struct plan **plan, enum sql_explain *explain,
                                               struct error *error)
{
    const struct sql_options options = {.codec = codec, .threads = 1, .on_gpu = true, .index = PLAN_INDEX_ON};
    return star_plan_with(database, sql, parameters, parameter_count, &options, plan, explain, error);
}

static inline enum status plan_statement(struct database *database, const char *sql, const char *codec,
                                         struct plan **plan, enum sql_explain *explain, struct error *error)
{
    return plan_with_parameters(database, sql, NULL, 0, codec, plan, explain, error);
}

/* A plan that no row can match has no kernel. */
static inline enum status compile_statement(struct database *database, const char *sql,
                                            const struct sql_parameter *parameters, uint32_t parameter_count,
                                            const char *codec, const struct compile_target *gpu,
                                            struct error *error)
{
    struct plan *plan;
    enum sql_explain explain;
    RETURN_IF_ERROR(
        plan_with_parameters(database, sql, parameters, parameter_count, codec, &plan, &explain, error));
    enum status status = kernel_fit(plan, &gpu->target, error);
    if (status == STATUS_OK && !plan->nothing)
        status = compile_plan(plan, explain == SQL_EXPLAIN_ANALYZE, gpu, sql, error);
    plan_free(plan);
    return status;
}

#endif
