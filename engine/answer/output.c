/*
 * output.c: see output.h. Computes the output expressions and HAVING over 1024 groups or rows at a time, and
 * then the order and the limit. A group takes some ten nanoseconds.
 */
#include "engine/answer/output.h"

#include "engine/answer/groups/group_leaves.h"
#include "engine/answer/late.h"
#include "engine/answer/regrouped.h"
#include "engine/answer/row_leaves.h"
#include "engine/plan/expression_vector.h"
#include "engine/plan/order/first_rows.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sort/sort_rows.h"
#include "storage/codec/chunk_reader.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* If few rows are wanted in an order, rows after `wanted` others by its first term are dropped as soon as they are
 * computed, so that they take no memory. */
struct few_rows {
    uint64_t wanted;            /* 0: all rows are kept */
    atomic_uint_fast64_t bound; /* rows of a greater rank are dropped */
};

struct output {
    const struct plan *plan;
    const struct partial *groups;
    const struct regrouped *regrouped; /* the groups are its groups; NULL: they are those of the scan */
    unsigned threads;
    struct expression_program *program; /* the thread's own */
    struct chunk_reader *readers;       /* the thread's own, one for each fact column */
    struct rowset all;                  /* visible and hidden outputs, before order and limit */
    uint64_t *group_of;                 /* PLAN_HASH: the group of each row; NULL: row g is group g */
    struct few_rows *few;
    struct error *error;
};

/* ---- Leaves ---- */

static enum status fill_leaves(const struct output *output, uint64_t first, uint32_t count)
{
    const struct plan *plan = output->plan;
    const uint32_t *leaves;
    const uint32_t leaf_count = expression_program_leaves(output->program, &leaves);
    for (uint32_t l = 0; l < leaf_count; l++) {
        const struct expression *node = &plan->expressions.nodes[leaves[l]];
        const struct vector leaf = expression_program_vector(output->program, leaves[l]);
        if (node->operation == EXPRESSION_GROUP || node->operation == EXPRESSION_AGGREGATE ||
            node->operation == EXPRESSION_MEASURE) {
            RETURN_IF_ERROR(group_leaf_fill(plan, output->groups, output->regrouped, node, first, count, leaf,
                                            output->error));
        } else {
            const struct row_leaves leaves_of = {plan, output->readers};
            RETURN_IF_ERROR(row_leaves_fill(&leaves_of, &plan->sources[node->index],
                                            output->groups->rows + first, count, leaf, output->error));
        }
    }
    return STATUS_OK;
}

/* ---- All outputs ---- */

/* The type of a node. The strings of string_agg are known only now. */
static struct value_type type_of(const struct output *output, uint32_t number)
{
    const struct expression *const node = &output->plan->expressions.nodes[number];
    struct value_type type = node->type;
    if (node->operation == EXPRESSION_MEASURE && type.kind == VALUE_STRING && output->regrouped &&
        output->regrouped->measures[node->index].strings)
        type.dictionary = output->regrouped->measures[node->index].strings;
    return type;
}

/* True if rows are to be ordered by the numbers of their groups, because these come in no order. */
static bool in_no_order(const struct output *output)
{
    return (output->plan->shape == PLAN_HASH && !(output->groups && output->groups->ascending)) ||
           output->regrouped;
}

/* The first term of the order: of ORDER BY, or the highest word of the groups' numbers. `column` has the values of
 * ORDER BY's, from row `first` on. */
static uint64_t rank_at(const struct output *output, const struct vector *column, uint64_t first, uint32_t i)
{
    const struct plan *plan = output->plan;
    if (plan->order_count == 0)
        return output->groups->keys[plan->key_words - 1][first + i];
    const uint64_t ascending = (uint64_t)column->values[i] ^ (UINT64_C(1) << 63);
    if (column->nulls && column->nulls[i])
        return plan->orders[0].nulls_first ? 0 : UINT64_MAX;
    return plan->orders[0].descending ? ~ascending : ascending;
}

/* Keeps the rows that may be wanted. */
static uint32_t keep_few(const struct output *output, uint64_t first, uint16_t *kept, uint32_t count)
{
    const struct plan *plan = output->plan;
    const uint64_t bound = output->few->wanted ? atomic_load(&output->few->bound) : UINT64_MAX;
    struct vector column = {0};
    uint32_t left = 0;
    if (bound == UINT64_MAX)
        return count;
    if (plan->order_count)
        column = expression_program_vector(output->program, plan->outputs[plan->orders[0].output].expression);
    for (uint32_t i = 0; i < count; i++) {
        kept[left] = kept[i];
        left += rank_at(output, &column, first, kept[i]) <= bound;
    }
    return left;
}

/* Appends the rows that pass HAVING, column by column. */
static void append(struct output *output, uint64_t first, uint32_t count)
{
    const struct plan *plan = output->plan;
    const struct vector having = plan->having == EXPRESSION_NONE
                                     ? (struct vector){0}
                                     : expression_program_vector(output->program, plan->having);
    uint16_t kept[VECTOR_ROWS];
    uint32_t kept_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        kept[kept_count] = (uint16_t)i;
        kept_count += !having.values || (having.values[i] && !(having.nulls && having.nulls[i]));
    }
    kept_count = keep_few(output, first, kept, kept_count);
    for (uint32_t c = 0; c < output->all.column_count; c++) {
        const struct vector value = expression_program_vector(output->program, plan->outputs[c].expression);
        struct rowset_column *const to = &output->all.columns[c];
        int64_t *const values = to->values + output->all.rows;
        uint8_t *const nulls = to->nulls ? to->nulls + output->all.rows : NULL;
        if (kept_count == count)
            memcpy(values, value.values, count * sizeof *values);
        for (uint32_t i = 0; kept_count < count && i < kept_count; i++)
            values[i] = value.values[kept[i]];
        for (uint32_t i = 0; nulls && i < kept_count; i++)
            nulls[i] = value.nulls && value.nulls[kept[i]];
    }
    for (uint32_t i = 0; output->group_of && i < kept_count; i++)
        output->group_of[output->all.rows + i] = first + kept[i];
    output->all.rows += kept_count;
}

/* Chunks of so many rows are computed in parallel, or of fewer, so that there are some for each thread: rows of a scan may each be
 * in a tile of their own. Each begins at the place that it would have if all rows passed HAVING. */
#define CHUNK_ROWS     65536u
#define CHUNK_ROWS_MIN (4u * VECTOR_ROWS)
#define THREAD_CHUNKS  4u

/* With more rows wanted, all are kept until they are sorted. Rows are dropped when there are this many, so that the
 * first bound is known soon; they are dropped again when they have doubled. */
#define FEW_MOST  (CHUNK_ROWS / 8)
#define FEW_BATCH 4096u

struct computing {
    const struct output *output;
    const uint32_t *roots;
    uint32_t root_count;
    uint64_t count, chunk_rows;
    struct expression_program **programs; /* one for each thread */
    struct chunk_reader *readers;         /* column_count for each thread */
    uint64_t *kept;                       /* the rows of each chunk that pass HAVING */
};

/* Keeps the rows from `begin` on whose ranks are not greater than the bound. */
static void keep_ranks(struct output *own, uint64_t begin, const uint64_t *ranks, uint64_t bound)
{
    const uint64_t end = own->all.rows;
    own->all.rows = begin;
    for (uint64_t from = begin; from < end; from++) {
        if (ranks[from - begin] > bound)
            continue;
        const uint64_t to = own->all.rows++;
        for (uint32_t c = 0; c < own->all.column_count; c++) {
            own->all.columns[c].values[to] = own->all.columns[c].values[from];
            if (own->all.columns[c].nulls)
                own->all.columns[c].nulls[to] = own->all.columns[c].nulls[from];
        }
        if (own->group_of)
            own->group_of[to] = own->group_of[from];
    }
}

/* Drops rows from `begin` on that are not among the wanted ones of these, and lets all threads know. */
static enum status drop_rows(struct output *own, uint64_t begin)
{
    const struct plan *plan = own->plan;
    const uint64_t count = own->all.rows - begin;
    const struct rowset_column *column = plan->order_count ? &own->all.columns[plan->orders[0].output] : NULL;
    const struct vector values = {.values = column ? column->values + begin : NULL,
                                  .nulls = column && column->nulls ? column->nulls + begin : NULL};
    uint64_t *ranks, worst = 0;
    RETURN_IF_ERROR(memory_take(&ranks, 2 * count * sizeof *ranks, "an answer", own->error));
    for (uint32_t i = 0; i < count; i++) {
        ranks[i] = column ? rank_at(own, &values, begin, i) : rank_at(own, NULL, own->group_of[begin + i], 0);
        worst = ranks[i] > worst ? ranks[i] : worst;
    }
    memcpy(ranks + count, ranks, count * sizeof *ranks);
    const uint64_t bound = first_rows_nth(ranks + count, count, own->few->wanted);
    if (bound < worst)
        keep_ranks(own, begin, ranks, bound);
    uint_fast64_t known = atomic_load(&own->few->bound);
    while (bound < known && !atomic_compare_exchange_weak(&own->few->bound, &known, bound))
        ;
    free(ranks);
    return STATUS_OK;
}

static enum status make_program(const struct output *output, const struct computing *computing,
                                struct expression_program **program, struct error *error)
{
    const uint32_t *leaves;
    RETURN_IF_ERROR(expression_program_create(&output->plan->expressions, computing->roots,
                                              computing->root_count, program, error));
    const uint32_t count = expression_program_leaves(*program, &leaves);
    for (uint32_t l = 0; l < count; l++)
        expression_program_strings(*program, leaves[l], type_of(output, leaves[l]).dictionary);
    return STATUS_OK;
}

static enum status compute_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct computing *computing = context;
    const uint64_t begin = item * computing->chunk_rows, left = computing->count - begin,
                   end = left < computing->chunk_rows ? computing->count : begin + computing->chunk_rows;
    struct output own = *computing->output;
    if (!computing->programs[thread])
        RETURN_IF_ERROR(make_program(&own, computing, &computing->programs[thread], error));
    own.program = computing->programs[thread];
    own.readers = computing->readers + thread * own.plan->column_count;
    own.error = error;
    own.all.rows = begin;
    uint64_t kept_before = 0;
    for (uint64_t first = begin; first < end; first += VECTOR_ROWS) {
        const uint32_t here = end - first < VECTOR_ROWS ? (uint32_t)(end - first) : VECTOR_ROWS;
        RETURN_IF_ERROR(fill_leaves(&own, first, here));
        expression_program_run(own.program, here);
        append(&own, first, here);
        if (own.few->wanted && own.all.rows - begin >= FEW_BATCH &&
            own.all.rows - begin >= 2 * own.few->wanted && own.all.rows - begin >= 2 * kept_before) {
            RETURN_IF_ERROR(drop_rows(&own, begin));
            kept_before = own.all.rows - begin;
        }
    }
    computing->kept[item] = own.all.rows - begin;
    return cancel_check(error);
}

/* Moves the chunks together, over the places of the rows that did not pass HAVING. */
static void close_gaps(struct output *output, const uint64_t *kept, uint64_t chunks, uint64_t chunk_rows)
{
    for (uint64_t chunk = 0; chunk < chunks; chunk++) {
        const uint64_t from = chunk * chunk_rows, to = output->all.rows;
        for (uint32_t c = 0; from != to && c < output->all.column_count; c++) {
            struct rowset_column *const column = &output->all.columns[c];
            memmove(column->values + to, column->values + from, kept[chunk] * sizeof *column->values);
            if (column->nulls)
                memmove(column->nulls + to, column->nulls + from, kept[chunk]);
        }
        if (from != to && output->group_of)
            memmove(output->group_of + to, output->group_of + from, kept[chunk] * sizeof *output->group_of);
        output->all.rows += kept[chunk];
    }
}

/* Whole vectors. */
static uint64_t rows_of_chunks(const struct output *output, uint64_t count)
{
    const uint64_t rows = count / (THREAD_CHUNKS * output->threads) / VECTOR_ROWS * VECTOR_ROWS;
    return rows > CHUNK_ROWS ? CHUNK_ROWS : rows < CHUNK_ROWS_MIN ? CHUNK_ROWS_MIN : rows;
}

static enum status compute_chunks(struct output *output, const uint32_t *roots, uint32_t root_count,
                                  uint64_t count)
{
    const uint64_t chunk_rows = rows_of_chunks(output, count), chunks = (count + chunk_rows - 1) / chunk_rows;
    struct computing computing = {
        .output = output, .roots = roots, .root_count = root_count, .count = count, .chunk_rows = chunk_rows};
    computing.programs = calloc(output->threads, sizeof *computing.programs);
    computing.kept = calloc(chunks + 1, sizeof *computing.kept);
    const uint64_t readers = (uint64_t)output->threads * output->plan->column_count;
    computing.readers = calloc(readers + 1, sizeof *computing.readers);
    enum status status = computing.programs && computing.kept && computing.readers
                             ? parallel_for(output->threads, chunks, compute_chunk, &computing, output->error)
                             : error_out_of_memory(output->error, (chunks + 1) * 8, "an answer");
    if (status == STATUS_OK)
        close_gaps(output, computing.kept, chunks, chunk_rows);
    for (unsigned t = 0; computing.programs && t < output->threads; t++)
        expression_program_free(computing.programs[t]);
    for (uint64_t r = 0; computing.readers && r < readers; r++)
        chunk_reader_close(&computing.readers[r]);
    free(computing.readers);
    free(computing.programs);
    free(computing.kept);
    return status;
}

/* The rows up to the limit, with those before the offset. */
static uint64_t rows_wanted(const struct plan *plan)
{
    return plan->limit < UINT64_MAX - plan->offset ? plan->limit + plan->offset : UINT64_MAX;
}

/* Grouping sets without ORDER BY are ordered by their sets, which are no numbers of groups. */
static struct few_rows few_of(const struct output *output, uint64_t count)
{
    const uint64_t wanted = rows_wanted(output->plan);
    const bool ordered = output->plan->order_count || (in_no_order(output) && !output->regrouped);
    const bool few = ordered && wanted > 0 && wanted <= FEW_MOST && wanted < count / 4;
    return (struct few_rows){.wanted = few ? wanted : 0, .bound = UINT64_MAX};
}

static enum status compute(struct output *output, uint64_t count)
{
    const struct plan *plan = output->plan;
    const uint32_t outputs = plan->output_count + plan->hidden_count;
    uint32_t roots[PLAN_OUTPUTS_MAX + 1], root_count = 0;
    struct few_rows few = few_of(output, count);
    const char *names[PLAN_OUTPUTS_MAX];
    struct value_type types[PLAN_OUTPUTS_MAX];
    for (uint32_t c = 0; c < outputs; c++) {
        roots[root_count++] = plan->outputs[c].expression;
        names[c] = plan->outputs[c].name;
        types[c] = type_of(output, plan->outputs[c].expression);
    }
    output->few = &few;
    if (plan->having != EXPRESSION_NONE)
        roots[root_count++] = plan->having;
    RETURN_IF_ERROR(rowset_create(&output->all, outputs, names, types, count, output->error));
    for (uint32_t c = 0; c < outputs; c++)
        if (plan->expressions.nodes[plan->outputs[c].expression].nullable)
            RETURN_IF_ERROR(
                spillable_zeros(&output->all.columns[c].nulls, count + 1, "an answer", output->error));
    if (in_no_order(output) && (plan->having != EXPRESSION_NONE || few.wanted))
        RETURN_IF_ERROR(spillable_rows(&output->group_of, (count + 1) * sizeof *output->group_of, "an answer",
                                       output->error));
    const enum status status = compute_chunks(output, roots, root_count, count);
    output->few = NULL;
    return status;
}

/* ---- Order and limit ---- */

/* The terms of ORDER BY and then, because hashed groups have no fixed order, the numbers of the groups. */
static uint32_t order_terms(const struct output *output, struct sort_term *terms)
{
    const struct plan *plan = output->plan;
    uint32_t count = 0;
    for (uint32_t o = 0; o < plan->order_count; o++) {
        const struct rowset_column *column = &output->all.columns[plan->orders[o].output];
        terms[count++] = (struct sort_term){.values = column->values,
                                            .nulls = column->nulls,
                                            .descending = plan->orders[o].descending,
                                            .nulls_first = plan->orders[o].nulls_first};
    }
    if (!in_no_order(output))
        return count;
    if (output->regrouped)
        terms[count++] = (struct sort_term){.small = output->regrouped->sets, .through = output->group_of};
    for (uint32_t word = plan->key_words; word-- > 0;)
        terms[count++] = (struct sort_term){.values = (const int64_t *)output->groups->keys[word],
                                            .through = output->group_of};
    return count;
}

/* Gives the places of the rows in order, up to the limit; NULL if the rows already are in order. */
static enum status order_rows(struct output *output, uint64_t **places)
{
    const struct plan *plan = output->plan;
    struct sort_term *terms;
    if (plan->order_count == 0 && !in_no_order(output) && plan->offset == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_take(&terms, (plan->order_count + PLAN_KEY_WORDS_MAX + 1) * sizeof *terms,
                                "an answer's order", output->error));
    const uint32_t columns = output->all.column_count, count = order_terms(output, terms);
    struct sort_moved moved = {0};
    enum status status =
        memory_take(&moved.words, (columns + 1) * sizeof *moved.words, "an answer's order", output->error);
    if (status == STATUS_OK)
        status = memory_take(&moved.bytes, (columns + 1) * sizeof *moved.bytes, "an answer's order",
                             output->error);
    for (uint32_t c = 0; status == STATUS_OK && c < columns; c++) {
        moved.words[moved.word_count++] = output->all.columns[c].values;
        if (output->all.columns[c].nulls)
            moved.bytes[moved.byte_count++] = output->all.columns[c].nulls;
    }
    if (status == STATUS_OK && output->group_of)
        moved.words[moved.word_count++] = (int64_t *)output->group_of;
    const bool moves = output->group_of || !in_no_order(output); /* else groups stay with their rows */
    if (status == STATUS_OK)
        status = sort_rows_make(terms, count, output->all.rows, rows_wanted(plan), moves ? &moved : NULL,
                                NULL, output->threads, places, output->error);
    free(moved.words);
    free(moved.bytes);
    free(terms);
    return status;
}

/* Copies rows, which are reordered or begin at an offset. */
struct copying {
    const struct rowset *from, *to;
    const uint64_t *places;
    uint64_t count;
};

static enum status copy_chunk(void *context, uint64_t item, unsigned thread, struct error *error)
{
    const struct copying *copying = context;
    const uint64_t begin = item * CHUNK_ROWS,
                   end = copying->count - begin < CHUNK_ROWS ? copying->count : begin + CHUNK_ROWS;
    (void)thread;
    for (uint32_t c = 0; c < copying->to->column_count; c++) {
        const struct rowset_column *from = &copying->from->columns[c], *to = &copying->to->columns[c];
        for (uint64_t row = begin; row < end; row++)
            to->values[row] = from->values[copying->places[row]];
        for (uint64_t row = begin; from->nulls && row < end; row++)
            to->nulls[row] = from->nulls[copying->places[row]];
    }
    return cancel_check(error);
}

static enum status copy_rows(const struct output *output, uint32_t columns, const uint64_t *places,
                             uint64_t count, struct rowset *rows)
{
    const struct plan *plan = output->plan;
    const char *names[PLAN_OUTPUTS_MAX] = {NULL};
    struct value_type types[PLAN_OUTPUTS_MAX] = {{0}};
    for (uint32_t c = 0; c < columns; c++) {
        names[c] = plan->outputs[c].name;
        types[c] = output->all.columns[c].type;
    }
    RETURN_IF_ERROR(rowset_create(rows, columns, names, types, count, output->error));
    for (uint32_t c = 0; c < columns; c++)
        if (output->all.columns[c].nulls)
            RETURN_IF_ERROR(spillable_rows(&rows->columns[c].nulls, count + 1, "an answer", output->error));
    struct copying copying = {&output->all, rows, places, count};
    return parallel_for(output->threads, (count + CHUNK_ROWS - 1) / CHUNK_ROWS, copy_chunk, &copying,
                        output->error);
}

static enum status deliver(struct output *output, const uint64_t *places, struct rowset *rows)
{
    const struct plan *plan = output->plan;
    const uint64_t first = plan->offset < output->all.rows ? plan->offset : output->all.rows;
    uint64_t count = output->all.rows - first;
    count = count < plan->limit ? count : plan->limit;
    if (places) {
        RETURN_IF_ERROR(copy_rows(output,
                                  late_is_needed(plan) ? output->all.column_count : plan->output_count,
                                  places + first, count, rows));
    } else { /* moved, not copied: it may be gigabytes */
        *rows = output->all;
        output->all = (struct rowset){0};
    }
    rows->rows = count;
    RETURN_IF_ERROR(late_compute(plan, output->threads, rows, output->error));
    rowset_cut(rows, plan->output_count);
    for (uint32_t c = 0; c < plan->output_count; c++)
        for (uint32_t d = 0; d < plan->expressions.dictionary_count; d++)
            if (rows->columns[c].type.dictionary == plan->expressions.dictionaries[d])
                RETURN_IF_ERROR(rowset_own_dictionary(rows, c, output->error));
    return STATUS_OK;
}

enum status answer_part(const struct plan *plan, const struct partial *partial, unsigned threads,
                        struct rowset *part, struct error *error)
{
    struct output output = {.plan = plan, .groups = partial, .threads = threads, .error = error};
    const uint64_t most = rows_wanted(plan);
    uint64_t count = partial->count, *places = NULL;
    *part = (struct rowset){0};
    if (plan->order_count == 0 && most < count)
        count = most;
    enum status status = compute(&output, count);
    if (status == STATUS_OK)
        status = expression_check(&plan->expressions, error);
    if (status == STATUS_OK && plan->order_count && most < count)
        status = order_rows(&output, &places);
    if (status == STATUS_OK && places) {
        status = copy_rows(&output, output.all.column_count, places, most, part);
        part->rows = most;
    } else if (status == STATUS_OK) {
        *part = output.all;
        output.all = (struct rowset){0};
    }
    spillable_free(places);
    rowset_free(&output.all);
    return status;
}

enum status answer_whole(const struct plan *plan, struct rowset *all, struct rowset *rows,
                         struct error *error)
{
    struct output output = {.plan = plan, .threads = 1, .all = *all, .error = error};
    uint64_t *places = NULL;
    *all = *rows = (struct rowset){0};
    enum status status = order_rows(&output, &places);
    if (status == STATUS_OK)
        status = deliver(&output, places, rows);
    spillable_free(places);
    rowset_free(&output.all);
    return status;
}

static enum status answer_groups(const struct plan *plan, const struct partial *groups,
                                 const struct regrouped *regrouped, unsigned threads, struct rowset *rows,
                                 struct error *error)
{
    struct output output = {
        .plan = plan, .groups = groups, .regrouped = regrouped, .threads = threads, .error = error};
    uint64_t count = groups->count, *places = NULL;
    if (plan->shape == PLAN_ROWS && plan->order_count == 0 && plan->limit != UINT64_MAX &&
        plan->limit + plan->offset < count)
        count = plan->limit + plan->offset;
    enum status status = compute(&output, count);
    if (status == STATUS_OK)
        status = expression_check(&plan->expressions, error);
    if (status == STATUS_OK)
        status = order_rows(&output, &places);
    if (status == STATUS_OK)
        status = deliver(&output, places, rows);
    spillable_free(places);
    spillable_free(output.group_of);
    rowset_free(&output.all);
    if (status != STATUS_OK)
        rowset_free(rows);
    return status;
}

enum status answer_rows(const struct plan *plan, const struct partial *groups, unsigned threads,
                        struct rowset *rows, struct error *error)
{
    struct regrouped regrouped;
    *rows = (struct rowset){0};
    if (plan->grouping.set_count == 0)
        return answer_groups(plan, groups, NULL, threads, rows, error);
    enum status status = regrouped_make(plan, groups, threads, &regrouped, error);
    if (status == STATUS_OK)
        status = answer_groups(plan, &regrouped.groups, &regrouped, threads, rows, error);
    regrouped_free(&regrouped);
    return status;
}
