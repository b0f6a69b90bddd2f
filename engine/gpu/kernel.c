/*
 * kernel.c: see kernel.h. Finds the columns that the scan reads and the place of its states, and then writes
 * the kernels' text.
 */
#include "engine/gpu/kernel.h"

#include "engine/gpu/first/first.h"
#include "engine/gpu/kernel_levels.h"
#include "engine/gpu/groups/kernel_joint.h"
#include "engine/gpu/groups/kernel_list.h"
#include "engine/gpu/sectors.h"
#include "operators/dialect/bound.h"
#include "storage/base/text/text_stream.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(PLAN_AGGREGATES_MAX <= ARGUMENT_AGGREGATES_MAX && ARGUMENT_JOINS_MAX <= KERNEL_JOINS_MAX,
               "a kernel holds what a plan can have");
_Static_assert(sizeof(struct query_arguments) + (SECTOR_RANGES_MAX + 1) * 24 <= 65536,
               "what is in a kernel's constant memory");

struct maker {
    const struct plan *plan;
    struct kernel *kernel;
    bool fetch_written[KERNEL_COLUMNS_MAX]; /* by index in kernel->columns */
    uint32_t points;
    FILE *out;
    struct error *error;
};

/* ---- States ---- */

/* Writes the type of the states: a member for each aggregate, and `present`, which marks the groups that have
 * rows. */
static enum status write_states(struct maker *maker)
{
    static const char *const places[] = {"STATE_SINGLE", "STATE_SHARED", "STATE_GLOBAL"};
    const struct plan *plan = maker->plan;
    const char *const place = places[maker->kernel->place];
    const bool present = plan->shape == PLAN_TOTAL || plan->shape == PLAN_DENSE;
    char *names = NULL;
    size_t bytes = 0;
    FILE *list = text_stream(&names, &bytes);
    if (!list)
        return error_out_of_memory(maker->error, 4096, "a kernel's source");
    uint32_t first = 0;
    fputs("struct sums_TYPE {\n", maker->out);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const struct aggregate *const aggregate = plan_aggregate_of(plan, a);
        fputs("    ", maker->out);
        fprintf(maker->out, aggregate->device.state, place, a, first);
        fprintf(maker->out, " s%u;\n", a);
        fprintf(list, " X(s%u)", a);
        first += kernel_shared_words(aggregate);
    }
    if (present) {
        fprintf(maker->out, "    state_present<%s, %u> present;\n", place, first);
        fputs(" X(present)", list);
    }
    if (plan->shape == PLAN_HASH) {
        fputs("    state_found found;\n", maker->out);
        fputs(" X(found)", list);
    }
    if (maker->kernel->first) {
        fputs("    state_first first;\n", maker->out);
        fputs(" X(first)", list);
    }
    for (uint32_t p = 0; p < maker->points; p++) {
        fprintf(maker->out, "    state_point<%u> p%u;\n", p, p);
        fprintf(list, " X(p%u)", p);
    }
    if (fclose(list) != 0) {
        free(names);
        return error_out_of_memory(maker->error, bytes, "a kernel's source");
    }
    fprintf(maker->out,
            "#define STATES(X)%s\n"
            "#define BEGIN(state) state.begin();\n"
            "#define FINISH(state) state.finish();\n"
            "    __device__ __forceinline__ void bind()\n    {\n"
            "        states_clear<%s>(%u);\n        STATES(BEGIN)\n    }\n"
            "    __device__ __forceinline__ void finish()\n    {\n"
            "        states_complete<%s>();\n        STATES(FINISH)\n    }\n",
            names, place, first + 1, place);
    if (maker->kernel->hand)
        fputs("    HAND_WRITTEN_SUM(s0)\n", maker->out);
    fputs("};\n", maker->out);
    free(names);
    return STATUS_OK;
}

/* ---- The scan ---- */

static void write_point(struct maker *maker)
{
    if (maker->kernel->shape.counted)
        fprintf(maker->out, "    q->sums.p%u.reach(keep, since);\n", maker->points++);
}

static void write_fetch(struct maker *maker, uint32_t c)
{
    uint32_t k = 0;
    while (maker->kernel->columns[k] != c)
        k++;
    if (!maker->fetch_written[k])
        fprintf(maker->out, "    tile_fetch(t, keep, q->c%u);\n", c);
    maker->fetch_written[k] = true;
}

static void fetch_leaf(void *context, const struct expression *leaf)
{
    struct maker *maker = context;
    const struct plan_source *source = &maker->plan->sources[leaf->index];
    write_fetch(maker, source->join < 0 ? source->column : maker->plan->joins[source->join].column);
}

static void fetch(void *context, uint32_t root)
{
    struct maker *maker = context;
    expression_visit(&maker->plan->expressions, root, fetch_leaf, maker);
}

static enum status write_condition(struct maker *maker, uint32_t root)
{
    struct kernel_body body;
    char name[KERNEL_NAME_BYTES];
    fetch(maker, root);
    RETURN_IF_ERROR(kernel_body_begin(&body, maker->out, maker->plan, maker->kernel, false, maker->error));
    fputs("    tile_where(t, keep, row) {\n", maker->out);
    kernel_body_write(&body, root);
    fprintf(maker->out, "    if (%s || !v%u)\n        tile_drop(keep, row);\n    }\n",
            kernel_body_null(&body, root, name), root);
    return kernel_body_end(&body);
}

static enum status write_steps(struct maker *maker)
{
    const struct plan *plan = maker->plan;
    write_point(maker);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (step->kind == STEP_CONDITION)
            continue;
        if (step->kind == STEP_PROBE)
            RETURN_IF_ERROR(write_condition(maker, step->expression));
        else if (step->kind == STEP_INDEX)
            fputs("    keep &= index_mask(t);\n", maker->out);
        else if (step->kind == STEP_RANGE)
            fprintf(maker->out, "    keep = tile_filter(t, keep, q->c%u);\n", step->column);
        else
            fprintf(maker->out, "    keep = tile_semi_join(t, keep, q->c%u, q->d%u);\n",
                    plan->joins[step->join].column, step->join);
        write_point(maker);
    }
    for (uint32_t s = 0; s < plan->step_count; s++)
        if (plan->steps[s].kind == STEP_CONDITION) {
            RETURN_IF_ERROR(write_condition(maker, plan->steps[s].expression));
            write_point(maker);
        }
    return STATUS_OK;
}

/* Writes one word of the group's number: the sum of the parts of its terms. */
static void write_number(struct maker *maker, const struct kernel_body *body, uint32_t word, bool hashed)
{
    const struct plan *plan = maker->plan;
    char name[KERNEL_NAME_BYTES];
    fputs("0", maker->out);
    for (uint32_t g = 0; plan->shape != PLAN_TOTAL && g < plan->group_count; g++) {
        const uint32_t node = plan->groups[g].expression;
        if (plan->groups[g].word != word)
            continue;
        if (!hashed && !kernel_node_wide(plan, node))
            fprintf(maker->out, " + group_slot_part(%u, v%u, %s)", g, node,
                    kernel_body_null(body, node, name));
        else
            fprintf(maker->out, " + (uint%u_t)group_number_part(%u, (uint64_t)(int64_t)v%u, %s)",
                    hashed ? 64u : 32u, g, node, kernel_body_null(body, node, name));
    }
}

/* True for count(*) of the only group, which is the number of bits in a lane's mask. */
static bool counts_by_mask(const struct plan *plan, uint32_t a)
{
    return plan->shape == PLAN_TOTAL && plan_is_row_count(plan, a);
}

/* Writes the number of the row's group: its slot, if groups are dense. */
static void write_group(struct maker *maker, struct kernel_body *body)
{
    const struct plan *plan = maker->plan;
    for (uint32_t g = 0; g < plan->group_count; g++)
        kernel_body_write(body, plan->groups[g].expression);
    if (plan->shape != PLAN_HASH) {
        fputs("    const uint32_t slot = ", maker->out);
        write_number(maker, body, 0, false);
        fputs(";\n", maker->out);
        return;
    }
    fprintf(maker->out, "    const group_number<%u> number = {{", plan->key_words);
    for (uint32_t word = 0; word < plan->key_words; word++) {
        fputs(word ? ", " : "", maker->out);
        write_number(maker, body, word, true);
    }
    fputs("}};\n", maker->out);
}

/* Writes what marks the group, and begins the block that adds to it. */
static void write_slot(struct maker *maker)
{
    if (maker->plan->shape == PLAN_HASH)
        fputs("    bool added;\n    const uint64_t slot = find_group(number, added);\n"
              "    q->sums.found.add(added);\n    if (slot != STATE_NO_SLOT) {\n",
              maker->out);
    else
        fputs(maker->kernel->joint.used && maker->kernel->joint.mark != KERNEL_JOINT_NONE
                  ? "    {\n"
                  : "    q->sums.present.add(slot);\n    {\n",
              maker->out);
}

/* Writes the word that the row adds to a state. */
static void write_word(struct maker *maker, uint32_t a)
{
    const uint32_t node = maker->plan->aggregates[a].argument;
    const enum state_value value = plan_aggregate_of(maker->plan, a)->device.value;
    if (value == STATE_OF_ROW)
        fputs("1", maker->out);
    else if (value == STATE_OF_VALUE)
        fprintf(maker->out, "v%u", node);
    else
        fprintf(maker->out, "state_word_of(%u, v%u)", value, node);
}

static void write_addition(struct maker *maker, const struct kernel_body *body, uint32_t a)
{
    static const char *const sets[] = {NULL, "bits", "keys", "pairs"};
    const struct plan *plan = maker->plan;
    const uint32_t node = plan->aggregates[a].argument;
    char name[KERNEL_NAME_BYTES];
    fputs("    ", maker->out);
    if (plan_argument_is_nullable(plan, a))
        fprintf(maker->out, "if (!%s) ", kernel_body_null(body, node, name));
    if (plan_is_distinct(plan, a)) {
        fprintf(maker->out, "if (distinct_%s(%u, %s, v%u)) ", sets[maker->kernel->distinct[a]], a,
                maker->kernel->distinct[a] == DISTINCT_BY_KEYS && plan->shape == PLAN_HASH ? "number.words[0]"
                                                                                           : "slot",
                node);
    }
    fprintf(maker->out, "q->sums.s%u.add(slot, ", a);
    write_word(maker, a);
    fputs(");\n", maker->out);
}

/* Writes that rows of one group are merged in the warp; heads of runs alone go on. A word that is 0 changes nothing. */
static void write_runs(struct maker *maker, const struct kernel_body *body)
{
    static const char *const kinds[] = {[MERGE_ADD] = "MERGE_ADD",
                                        [MERGE_GREATEST] = "MERGE_GREATEST",
                                        [MERGE_OR] = "MERGE_OR",
                                        [MERGE_XOR] = "MERGE_XOR"};
    const struct plan *plan = maker->plan;
    char name[KERNEL_NAME_BYTES];
    fprintf(maker->out, "    const lane_run run(%s);\n",
            plan->shape == PLAN_HASH ? "number.words[0]" : "slot");
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const char *const word = kernel_sum_is_narrow(plan, a) ? "uint32_t" : "uint64_t";
        if (plan_aggregate_of(plan, a)->device.value == STATE_OF_ROW && !plan_argument_is_nullable(plan, a)) {
            fprintf(maker->out, "    const uint64_t w%u = run.rows();\n", a);
            continue;
        }
        fprintf(maker->out, "    const uint64_t w%u = run.fold<%s>(", a,
                kinds[plan_aggregate_of(plan, a)->device.merge]);
        if (plan_argument_is_nullable(plan, a))
            fprintf(maker->out, "%s ? (%s)0 : ", kernel_body_null(body, plan->aggregates[a].argument, name),
                    word);
        fprintf(maker->out, "(%s)(", word);
        write_word(maker, a);
        fputs("));\n", maker->out);
    }
    fputs("    if (!run.head)\n        continue;\n", maker->out);
}

struct row_writer {
    struct maker *maker;
    const struct kernel_body *body;
};

/* Writes what the row, or its run, adds to a state. */
static void write_state(void *context, uint32_t a)
{
    const struct row_writer *const writer = context;
    struct maker *const maker = writer->maker;
    char name[KERNEL_NAME_BYTES];
    if (maker->kernel->runs && !maker->kernel->list.used) {
        fprintf(maker->out, "w%u", a);
        return;
    }
    if (plan_argument_is_nullable(maker->plan, a))
        fprintf(maker->out, "(%s ? 0 : (uint64_t)",
                kernel_body_null(writer->body, maker->plan->aggregates[a].argument, name));
    else
        fputs("((uint64_t)", maker->out);
    write_word(maker, a);
    fputs(")", maker->out);
}

static void write_additions(struct maker *maker, const struct kernel_body *body)
{
    const struct plan *plan = maker->plan;
    struct row_writer writer = {maker, body};
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (kernel_joint_begins(maker->kernel, a))
            kernel_joint_write_row(maker->out, plan, maker->kernel, a, write_state, &writer);
        else if (kernel_joint_has(maker->kernel, a))
            continue;
        else if (maker->kernel->runs)
            fprintf(maker->out, "    q->sums.s%u.add(slot, w%u);\n", a, a);
        else if (!counts_by_mask(plan, a))
            write_addition(maker, body, a);
}

static void write_arguments(struct maker *maker, struct kernel_body *body)
{
    const struct plan *plan = maker->plan;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (plan->aggregates[a].argument != EXPRESSION_NONE)
            kernel_body_write(body, plan->aggregates[a].argument);
}

/* Writes what adds each row to its group. */
static enum status write_each(struct maker *maker)
{
    struct kernel_body body;
    RETURN_IF_ERROR(kernel_body_begin(&body, maker->out, maker->plan, maker->kernel, false, maker->error));
    fputs("    tile_each (t, keep, row) {\n", maker->out);
    write_group(maker, &body);
    write_arguments(maker, &body);
    if (maker->kernel->runs)
        write_runs(maker, &body);
    write_slot(maker);
    write_additions(maker, &body);
    fputs("    }\n    }\n", maker->out);
    return kernel_body_end(&body);
}

/* Writes what lists each row. */
static enum status write_rows(struct maker *maker)
{
    struct kernel_body body;
    RETURN_IF_ERROR(kernel_body_begin(&body, maker->out, maker->plan, maker->kernel, false, maker->error));
    fputs("    list_cursor list(t, keep);\n    tile_where (t, keep, row) {\n", maker->out);
    write_group(maker, &body);
    write_arguments(maker, &body);
    kernel_list_write_row(maker->out, maker->plan, maker->kernel, &body);
    fputs("    }\n", maker->out);
    return kernel_body_end(&body);
}

/* Writes `own`, the number of a row's group, if there is a row. */
static enum status write_own(struct maker *maker)
{
    const char *const type = kernel_list_number_type(maker->kernel);
    struct kernel_body body;
    RETURN_IF_ERROR(kernel_body_begin(&body, maker->out, maker->plan, maker->kernel, false, maker->error));
    fprintf(maker->out, "    %s own = 0;\n    if (row < t->rows) {\n", type);
    for (uint32_t g = 0; g < maker->plan->group_count; g++)
        kernel_body_write(&body, maker->plan->groups[g].expression);
    fputs("    own = ", maker->out);
    write_number(maker, &body, 0, strcmp(type, "uint64_t") == 0);
    fputs(";\n    }\n", maker->out);
    return kernel_body_end(&body);
}

/* Writes what a row adds to the aggregate. */
static enum status write_added(struct maker *maker, uint32_t a)
{
    const uint32_t node = maker->plan->aggregates[a].argument;
    struct row_writer writer = {.maker = maker};
    struct kernel_body body;
    RETURN_IF_ERROR(kernel_body_begin(&body, maker->out, maker->plan, maker->kernel, false, maker->error));
    writer.body = &body;
    fputs("    if (row < t->rows) {\n", maker->out);
    if (node != EXPRESSION_NONE)
        kernel_body_write(&body, node);
    fprintf(maker->out, "    groups.template add<%s>(", kernel_list_kind(maker->plan, a));
    write_state(&writer, a);
    fputs(");\n    }\n", maker->out);
    return kernel_body_end(&body);
}

/* Writes what completes the groups of an aggregate, and with the first one their numbers. */
static enum status write_completed(struct maker *maker, uint32_t a)
{
    const bool adds = a < maker->plan->aggregate_count;
    fputs("    groups.begin();\n#pragma unroll 8\n    for (uint32_t i = 32; i-- > 0;) {\n"
          "    const uint32_t row = 32 * t->lane + i;\n",
          maker->out);
    if (adds)
        RETURN_IF_ERROR(write_added(maker, a));
    fputs("    if (groups.begins(i)) {\n", maker->out);
    if (a == 0) {
        RETURN_IF_ERROR(write_own(maker));
        fputs("    groups.key(own);\n", maker->out);
    }
    if (adds)
        fprintf(maker->out, "    groups.close(%u);\n    }\n    }\n    groups.template end<%s>(%u);\n", a,
                kernel_list_kind(maker->plan, a), a);
    else
        fputs("    groups.rank--;\n    }\n    }\n", maker->out);
    return STATUS_OK;
}

/* Writes what makes groups of rows that stand in their order. */
static enum status write_stream(struct maker *maker)
{
    fprintf(maker->out,
            "    list_stream<%s> groups(t);\n"
            "    for (uint32_t item = 0; 32 * item < t->rows; item++) {\n"
            "    const uint32_t row = 32 * item + t->lane;\n",
            kernel_list_number_type(maker->kernel));
    RETURN_IF_ERROR(write_own(maker));
    fputs("    groups.see(item, own);\n    }\n    groups.place();\n", maker->out);
    uint32_t a = 0;
    do
        RETURN_IF_ERROR(write_completed(maker, a));
    while (++a < maker->plan->aggregate_count);
    return STATUS_OK;
}

static enum status write_list(struct maker *maker)
{
    if (!maker->kernel->list.in_order)
        return write_rows(maker);
    fputs("    if (arguments.direct) {\n", maker->out);
    RETURN_IF_ERROR(write_stream(maker));
    fputs("    } else {\n", maker->out);
    RETURN_IF_ERROR(write_rows(maker));
    fputs("    }\n", maker->out);
    return STATUS_OK;
}

static enum status write_groups(struct maker *maker)
{
    const struct plan *plan = maker->plan;
    bool any = plan->group_count > 0;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        any |= !counts_by_mask(plan, a);
        if (counts_by_mask(plan, a))
            fprintf(maker->out, "    q->sums.s%u.add(0, __popc(keep));\n", a);
    }
    if (!any) {
        fputs("    if (keep)\n        q->sums.present.add(0);\n", maker->out);
        return STATUS_OK;
    }
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (maker->kernel->fetched[c])
            write_fetch(maker, c);
    return maker->kernel->list.used ? write_list(maker) : write_each(maker);
}

static enum status write_scan(struct maker *maker)
{
    fputs("TILE_QUERY(statement, q, t)\n{\n    tile_mask keep = tile_all(t);\n", maker->out);
    if (maker->kernel->shape.counted)
        fputs("    uint64_t since = state_clock();\n", maker->out);
    RETURN_IF_ERROR(write_steps(maker));
    if (maker->kernel->first)
        RETURN_IF_ERROR(
            kernel_first_write(maker->out, maker->plan, maker->kernel, fetch, maker, maker->error));
    else if (maker->plan->shape == PLAN_ROWS)
        fputs("    keep_rows(t, keep);\n", maker->out);
    else
        RETURN_IF_ERROR(write_groups(maker));
    write_point(maker);
    fputs("}\n", maker->out);
    return STATUS_OK;
}

/* ---- All kernels ---- */

static enum status write_prepare(struct maker *maker)
{
    const struct kernel *kernel = maker->kernel;
    fputs("extern \"C\" __global__ void __launch_bounds__(256) prepare()\n{\n    memory_clear();\n",
          maker->out);
    for (uint32_t k = 0; k < kernel->shape.join_count; k++) {
        const uint32_t j = kernel->joins[k], match = maker->plan->joins[j].match;
        struct kernel_body body;
        char name[KERNEL_NAME_BYTES];
        if (!kernel->layout.bitmap_words[k])
            continue;
        RETURN_IF_ERROR(kernel_body_begin(&body, maker->out, maker->plan, maker->kernel, true, maker->error));
        fprintf(maker->out, "    match_rows(%u, [](uint64_t row) {\n", j);
        kernel_body_write(&body, match);
        fprintf(maker->out, "    return !%s && v%u;\n    });\n", kernel_body_null(&body, match, name), match);
        RETURN_IF_ERROR(kernel_body_end(&body));
    }
    fputs("}\n", maker->out);
    return STATUS_OK;
}

static void write_collect(struct maker *maker)
{
    if (maker->plan->shape != PLAN_HASH)
        return;
    fputs("extern \"C\" __global__ void collect(uint64_t out, uint64_t count, uint64_t next)\n{\n"
          "    const uint32_t words[] = {0",
          maker->out);
    for (uint32_t a = 0; a < maker->plan->aggregate_count; a++)
        fprintf(maker->out, ", %u", maker->kernel->state_words[a]);
    fprintf(maker->out,
            "};\n    groups_collect(%u, out, count, next, [&](uint32_t state) { return words[state + 1]; }, "
            "%u);\n}\n",
            maker->plan->key_words, maker->plan->aggregate_count);
}

static uint32_t code_bytes(const struct maker *maker, uint32_t place)
{
    const int32_t codes = maker->kernel->hand->codes[place];
    return codes < 0 ? 4 : maker->plan->arrays[codes].value_bytes;
}

/* Writes the types of the scan's columns and dimensions. Their names are "c3" and "d1", or those in the
 * hand-written text. */
static void write_types(struct maker *maker)
{
    const struct kernel *kernel = maker->kernel;
    const struct kernel_names *names = maker->kernel->hand ? maker->kernel->hand->kernel->names : NULL;
    char name[KERNEL_NAME_BYTES];
    for (uint32_t c = 0; c < kernel->shape.column_count; c++) {
        snprintf(name, sizeof name, "c%u", kernel->columns[c]);
        kernel_column_write(maker->out, &kernel->shape, &kernel->layout, c,
                            names ? names->columns[kernel->column_place[c]] : name);
    }
    for (uint32_t j = 0; j < kernel->shape.join_count; j++) {
        const uint32_t place = kernel->join_place[j];
        snprintf(name, sizeof name, "d%u", kernel->joins[j]);
        kernel_join_write(maker->out, &kernel->shape, &kernel->layout, j,
                          names ? code_bytes(maker, place) : 4, names ? names->dimensions[place] : name);
    }
}

/* Writes the list of parameters. A hand-written kernel has its own list, with names that it does not use. */
static void write_parameters(struct maker *maker)
{
    const struct kernel *kernel = maker->kernel;
    fputs("#define TILE_PARAMETER_LIST(COLUMN, DIMENSION)", maker->out);
    for (uint32_t c = 0; c < kernel->shape.column_count; c++)
        fprintf(maker->out, " COLUMN(c%u)", kernel->columns[c]);
    for (uint32_t j = 0; j < kernel->shape.join_count; j++)
        fprintf(maker->out, " DIMENSION(d%u)", kernel->joins[j]);
    fputs("\n#include \"operators/dialect/parameters.h\"\n", maker->out);
}

static void write_hand_written(struct maker *maker)
{
    const struct plan_kernel *hand = maker->kernel->hand;
    for (uint32_t place = 0; place < hand->column_count; place++)
        if (hand->columns[place] < 0)
            fprintf(maker->out, "typedef tile_absent %s_TYPE;\n", hand->kernel->names->columns[place]);
    for (uint32_t place = 0; place < hand->dimension_count; place++)
        if (hand->joins[place] < 0)
            fprintf(maker->out, "typedef tile_absent %s_TYPE;\n", hand->kernel->names->dimensions[place]);
    fprintf(maker->out, "#include \"%s\"\n", hand->kernel->source);
}

/* True if a tile without rows that pass the index terms needs no work: an answer of rows has its mask, too, and a kernel
 * that counts has its rows. */
static bool can_leave_tiles(const struct maker *maker)
{
    return maker->kernel->shape.indexed && maker->plan->shape != PLAN_ROWS && !maker->kernel->shape.counted;
}

/* Writes all kernels. The scan is written first, into a text of its own, because it determines the number of
 * points. */
static enum status write_all(struct maker *maker, FILE *source)
{
    char *scan = NULL;
    size_t bytes = 0;
    maker->out = text_stream(&scan, &bytes);
    if (!maker->out)
        return error_out_of_memory(maker->error, 4096, "a kernel's source");
    enum status status = maker->kernel->hand ? STATUS_OK : write_scan(maker);
    if (fclose(maker->out) != 0 && status == STATUS_OK)
        status = error_out_of_memory(maker->error, 4096, "a kernel's source");
    maker->out = source;
    kernel_head_write(source, &maker->kernel->shape, &maker->kernel->layout);
    fputs("#include \"operators/dialect/query_cuda.h\"\n", source);
    if (maker->kernel->runs)
        fputs("#include \"operators/group/lane_runs_cuda.h\"\n", source);
    if (maker->kernel->joint.used)
        fputs("#include \"operators/group/joint_states_cuda.h\"\n", source);
    if (maker->kernel->list.used)
        fputs("#include \"operators/group/streamed_groups_cuda.h\"\n", source);
    if (maker->kernel->first)
        fputs("#include \"operators/group/first_rows_cuda.h\"\n#define TILE_ITEMS first_items()\n", source);
    write_types(maker);
    status = AND_THEN(status, write_states(maker));
    if (maker->kernel->hand)
        write_hand_written(maker);
    else
        write_parameters(maker);
    if (status == STATUS_OK)
        fputs(scan, source);
    free(scan);
    RETURN_IF_ERROR(status);
    if (can_leave_tiles(maker))
        fputs("#define TILE_BEFORE index_mask\n", source);
    fputs("#include \"operators/dialect/scan_cuda.h\"\n", source);
    RETURN_IF_ERROR(write_prepare(maker));
    write_collect(maker);
    if (maker->kernel->list.used)
        kernel_list_write_kernels(maker->out, maker->plan, maker->kernel);
    if (maker->kernel->joint.used)
        kernel_joint_write_kernel(maker->out, maker->plan, maker->kernel);
    return STATUS_OK;
}

/* The scan adds to states in global memory, sets of distinct values or masks of rows from its first tile on, or reads
 * bitmaps; otherwise it adds its own sums at its end. */
static bool needs_prepared(const struct maker *maker)
{
    const struct kernel *kernel = maker->kernel;
    bool needs = kernel->place == STATES_GLOBAL || maker->plan->shape == PLAN_ROWS || kernel->shape.indexed;
    for (uint32_t a = 0; a < maker->plan->aggregate_count; a++)
        needs |= kernel->distinct[a] != DISTINCT_NONE;
    for (uint32_t k = 0; k < kernel->shape.join_count; k++)
        needs |= kernel->layout.bitmap_words[k] > 0;
    return needs;
}

static enum status make(const struct plan *plan, enum kernel_use use, const struct kernel_target *target,
                        struct kernel *kernel, struct error *error)
{
    struct maker maker = {.plan = plan, .kernel = kernel, .error = error};
    RETURN_IF_ERROR(kernel_shape_make(plan, use, target, kernel, error));
    RETURN_IF_ERROR(kernel_layout_make(&kernel->shape, target, &kernel->layout, error));
    kernel->layout.wait_first = needs_prepared(&maker);
    kernel->layout.split =
        kernel->shape.many && plan->shape != PLAN_ROWS && !kernel->first && !kernel->list.in_order;
    size_t bytes = 0;
    FILE *source = text_stream(&kernel->source, &bytes);
    if (!source)
        return error_out_of_memory(error, 4096, "a kernel's source");
    const enum status status = write_all(&maker, source);
    return fclose(source) != 0 && status == STATUS_OK ? error_out_of_memory(error, bytes, "a kernel's source")
                                                      : status;
}

static enum status make_or_free(const struct plan *plan, enum kernel_use use,
                                const struct kernel_target *target, struct kernel *kernel,
                                struct error *error)
{
    const enum status status = make(plan, use, target, kernel, error);
    if (status != STATUS_OK)
        kernel_free(kernel);
    return status;
}

enum status kernel_make(const struct plan *plan, bool count, const struct kernel_target *target,
                        struct kernel *kernel, struct error *error)
{
    if (plan->first.wanted > 0 && !count) {
        const enum status status = make_or_free(plan, KERNEL_FINDS_FIRST, target, kernel, error);
        if (status != STATUS_BAD_INPUT)
            return status;
        if (error)
            *error = (struct error){0};
    }
    return make_or_free(plan, count ? KERNEL_COUNTS : KERNEL_ANSWERS, target, kernel, error);
}

void kernel_free(struct kernel *kernel)
{
    free(kernel->source);
    free(kernel->fetched);
    kernel->source = NULL;
    kernel->fetched = NULL;
}
