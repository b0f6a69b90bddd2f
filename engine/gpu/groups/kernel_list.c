/* kernel_list.c: see kernel_list.h. */
#include "engine/gpu/groups/kernel_list.h"

#include "engine/gpu/kernel_decoder.h"
#include "operators/dialect/bound.h"
#include "operators/sort/radix_sort.h"

/* A list and what sorts it may have so much of the memory for statements; the table of its groups may need as much again. */
#define MEMORY_SHARE 4u

/* Columns of rows in order may have so much of a block's shared memory: three of 32 bits, of 227 KB. */
#define WHOLE_SHARE 2u

/* ---- Which plans ---- */

/* A table of groups is at most half full, and has places in no order: so those of a cache have these many bytes a group. */
static double table_bytes(const struct plan *plan, double groups)
{
    return groups * 2 * (1 + (double)plan->aggregate_count) * sizeof(uint64_t);
}

/* Groups of a number and values are in no order, but their list will be. */
static bool may_be_in_order(const struct plan *plan, const struct kernel *kernel)
{
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        if (kernel->shape.columns[c].planes) /* its rows are read in another order */
            return false;
    return plan->in_order && plan->step_count == 0 && plan->scan.kept_rows == plan->fact->rows &&
           plan->grouping.listed >= plan->group_count;
}

/* The groups of rows in order are at most their columns' runs. */
static uint64_t most_groups(const struct plan *plan)
{
    const struct row_runs runs = row_words_runs(plan);
    return runs.known && runs.all < plan->scan.kept_rows ? runs.all : plan->scan.kept_rows;
}

/* Lets all columns be decoded to shared memory; false: that leaves too little for what decoders need beside it. */
static bool decode_whole(const struct kernel_target *target, struct kernel *kernel)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        struct kernel_column *const column = &kernel->shape.columns[c];
        column->whole = column->fetched;
        bytes += (uint64_t)WORK_TILES * kernel_decoder_whole(column);
    }
    const bool fits = bytes <= target->shared_block / WHOLE_SHARE;
    for (uint32_t c = 0; c < kernel->shape.column_count && !fits; c++)
        kernel->shape.columns[c].whole = false;
    return fits;
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
    if (kernel->runs && !may_be_in_order(plan, kernel)) /* few rows of a run look for its group */
        return;
    row_words_find(plan, &list->words);
    list->used = list->words.fit;
    list->groups_most = most_groups(plan);
    list->in_order = list->used && may_be_in_order(plan, kernel) &&
                     list->groups_most * (1 + (uint64_t)plan->aggregate_count) * sizeof(uint64_t) <=
                         target->memory_bytes / MEMORY_SHARE;
    if (list->in_order)
        list->in_order = decode_whole(target, kernel);
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

static const char *const kinds[] = {[MERGE_ADD] = "MERGE_ADD",
                                    [MERGE_GREATEST] = "MERGE_GREATEST",
                                    [MERGE_OR] = "MERGE_OR",
                                    [MERGE_XOR] = "MERGE_XOR"};

const char *kernel_list_kind(const struct plan *plan, uint32_t a)
{
    return kinds[plan_aggregate_of(plan, a)->device.merge];
}

const char *kernel_list_number_type(const struct kernel *kernel)
{
    return kernel->list.words.number_bits <= 32 ? "uint32_t" : "uint64_t";
}

/* Writes the kernel that makes groups of the edges, whose states follow their numbers. */
static void write_edges(FILE *out, const struct plan *plan)
{
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(%u) list_edges(uint64_t edges, uint64_t count, "
            "uint64_t sums, uint64_t others)\n{\n"
            "    list_each(state_words(edges), count, state_words(sums), others, 0, %u,\n"
            "              [&](uint64_t, const list_words &of) {\n",
            LIST_THREADS, LIST_EDGES_PIECE);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        fprintf(
            out,
            "    list_merge<%s>(%u, of, of.run.fold<%s>((uint64_t)(of.has ? state_words(edges)[%u * count "
            "+ of.at] : 0)));\n",
            kernel_list_kind(plan, a), a, kernel_list_kind(plan, a), a + 1);
    fputs("    });\n}\n", out);
}

void kernel_list_write_kernels(FILE *out, const struct plan *plan, const struct kernel *kernel)
{
    const struct row_words *const list = &kernel->list.words;
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(%u) list_heads(uint64_t words, uint64_t count, "
            "uint64_t sums, uint32_t shift, uint32_t length)\n{\n"
            "    list_count(state_words(words), count, state_words(sums), shift, length, (uint32_t "
            "*)arguments.full + 1);\n}\n",
            LIST_THREADS);
    fprintf(out,
            "extern \"C\" __global__ void __launch_bounds__(%u) list_groups(uint64_t words, uint64_t count, "
            "uint64_t sums)\n{\n"
            "    list_each(state_words(words), count, state_words(sums), 0, %u, VALUES_PIECE,\n"
            "              [&](uint64_t word, const list_words &of) {\n",
            LIST_THREADS, list->number_shift);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const char *const kind = kernel_list_kind(plan, a);
        fprintf(out, "    list_merge<%s>(%u, of, ", kind, a);
        write_run(out, plan, list, a, kind);
        fputs(");\n", out);
    }
    fputs("    });\n}\n", out);
    if (kernel->list.in_order)
        write_edges(out, plan);
}
