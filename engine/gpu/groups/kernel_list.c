/* kernel_list.c: see kernel_list.h. */
#include "engine/gpu/groups/kernel_list.h"

#include "operators/sort/radix_sort.h"

/* A list and what sorts it may have so much of the memory for statements; the table of its groups may need as much again. */
#define MEMORY_SHARE 4u

/* ---- Which plans ---- */

/* A table of groups is at most half full, and has places in no order: so those of a cache have these many bytes a group. */
static double table_bytes(const struct plan *plan, double groups)
{
    return groups * 2 * (1 + (double)plan->aggregate_count) * sizeof(uint64_t);
}

/* All rows are listed, at their places, if that may be their order. Then only the last segment has a part of a tile. */
static bool may_be_in_order(const struct plan *plan)
{
    const struct table *const fact = plan->fact;
    bool may = plan->in_order && plan->step_count == 0 && plan->scan.kept_rows == fact->rows;
    for (uint32_t s = 0; s + 1 < fact->segment_count; s++)
        may &= fact->segment_rows[s] % TILE_ROWS == 0;
    return may;
}

void kernel_list_choose(const struct plan *plan, const struct kernel_target *target, struct kernel *kernel)
{
    struct kernel_list *const list = &kernel->list;
    if (!target->sorts || kernel->hand || kernel->first || plan->shape != PLAN_HASH || plan->key_words != 1 ||
        plan->scan.kept_rows > RADIX_SORT_COUNT_MAX ||
        plan->scan.kept_rows * 2 * sizeof(uint64_t) > target->memory_bytes / MEMORY_SHARE ||
        table_bytes(plan, row_words_groups(plan)) < (double)target->cache_bytes)
        return;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (kernel->state_words[a] != 1)
            return;
    if (kernel->runs && !may_be_in_order(plan)) /* few rows of a run look for its group */
        return;
    row_words_find(plan, &list->words);
    list->used = list->words.fit;
    list->in_order = list->used && may_be_in_order(plan);
}

/* ---- The scan ---- */

void kernel_list_write_row(FILE *out, const struct plan *plan, const struct kernel *kernel,
                           const struct kernel_body *body)
{
    const struct row_words *const list = &kernel->list.words;
    char name[KERNEL_NAME_BYTES];
    fprintf(out, "    list.add(row, number.words[0] << %u", list->number_shift);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const uint32_t node = plan->aggregates[a].argument;
        if (list->code_of[a] != a)
            continue;
        if (plan_argument_is_nullable(plan, a))
            fprintf(out, " | (%s ? 0 : distinct_code(%u, v%u) + 1) << %u", kernel_body_null(body, node, name),
                    a, node, list->shifts[a]);
        else
            fprintf(out, " | distinct_code(%u, v%u) << %u", a, node, list->shifts[a]);
    }
    fputs(");\n", out);
}

/* ---- The groups of the list ---- */

/* Writes what a run's words add to an aggregate. */
static void write_run(FILE *out, const struct plan *plan, const struct row_words *list, uint32_t a,
                      const char *kind)
{
    const enum state_value value = plan_aggregate_of(plan, a)->device.value;
    const bool nullable = plan_argument_is_nullable(plan, a);
    if (list->code_of[a] == ROW_WORDS_NO_CODE) {
        fputs("of.run.rows()", out);
        return;
    }
    fprintf(out, "of.run.fold<%s>((%s)(of.has ? ", kind,
            kernel_sum_is_narrow(plan, a) ? "uint32_t" : "uint64_t");
    fprintf(out, "list_word(word >> %u & %lluull, %s, %u, arguments.sets[%u].low) : 0))", list->shifts[a],
            (unsigned long long)(UINT64_MAX >> 1 >> (63 - list->bits[a])), nullable ? "true" : "false", value,
            a);
}

void kernel_list_write_kernels(FILE *out, const struct plan *plan, const struct kernel *kernel)
{
    static const char *const kinds[] = {[MERGE_ADD] = "MERGE_ADD",
                                        [MERGE_GREATEST] = "MERGE_GREATEST",
                                        [MERGE_OR] = "MERGE_OR",
                                        [MERGE_XOR] = "MERGE_XOR"};
    const struct row_words *const list = &kernel->list.words;
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(%u) list_heads(uint64_t words, uint64_t count, "
            "uint64_t sums, uint64_t disorder)\n{\n"
            "    list_count(state_words(words), count, state_words(sums), %u, (uint32_t *)disorder);\n}\n",
            LIST_THREADS, list->number_shift);
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(%u) list_groups(uint64_t words, uint64_t count, "
            "uint64_t sums)\n{\n"
            "    list_each(state_words(words), count, state_words(sums), %u,\n"
            "              [&](uint64_t word, const list_words &of) {\n",
            LIST_THREADS, list->number_shift);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const char *const kind = kinds[plan_aggregate_of(plan, a)->device.merge];
        fprintf(out, "    list_merge<%s>(%u, of, ", kind, a);
        write_run(out, plan, list, a, kind);
        fputs(");\n", out);
    }
    fputs("    });\n}\n", out);
}
