/* explain_plan.c: fills the node of a plan, with a part for each column, join and step and, after an analysed run, its figures
 * (explain.h). */
#include "engine/explain/explain.h"
#include "engine/plan/functions/row_call.h"
#include "engine/plan/value_text.h"
#include "storage/index/index_file.h"

#include <inttypes.h>
#include <math.h>

/* ---- Expressions ---- */

/* An expression with more nodes is cut: a node may occur many times in it, in abs(abs(...)) 2^depth times. */
#define WRITTEN_NODES_MAX 1000u

static void write_node(const struct plan *plan, uint32_t index, uint32_t *left, FILE *out);

static void write_leaf(const struct plan *plan, const struct expression *node, uint32_t *left, FILE *out)
{
    if (node->operation == EXPRESSION_GROUP) {
        write_node(plan, plan->groups[node->index].written, left, out);
    } else if (node->operation == EXPRESSION_MEASURE) {
        fprintf(out, "%s(", measure_of(plan->measures[node->index].kind)->name);
        if (plan->measures[node->index].argument != EXPRESSION_NONE)
            write_node(plan, plan->measures[node->index].argument, left, out);
        fputc(')', out);
    } else if (node->operation == EXPRESSION_AGGREGATE) {
        const struct plan_aggregate *aggregate = &plan->aggregates[node->index];
        fprintf(out, "%s(", aggregate_of(aggregate->kind)->name);
        if (aggregate->argument == EXPRESSION_NONE)
            fputc('*', out);
        else
            write_node(plan, aggregate->argument, left, out);
        fputc(')', out);
    } else {
        const struct plan_source *source = &plan->sources[node->index];
        if (source->join < 0)
            fputs(plan->columns[source->column].column->schema.name, out);
        else
            fprintf(out, "%s.%s", plan->joins[source->join].name,
                    plan->arrays[source->column].column->schema.name);
    }
}

static void write_constant(const struct expression *node, FILE *out)
{
    char text[80];
    const bool quoted = node->type.kind == VALUE_STRING || node->type.kind == VALUE_DATE ||
                        node->type.kind == VALUE_TIMESTAMP;
    if (node->is_null) {
        fputs("NULL", out);
        return;
    }
    if (node->type.kind == VALUE_STRING && node->constant >= (int64_t)node->type.dictionary->count) {
        fputs("(behind every string)", out);
        return;
    }
    typed_text(node->type, node->constant, text, sizeof text);
    fprintf(out, quoted ? "'%s'" : "%s", text);
}

static void write_set(const struct plan *plan, const struct expression *node, FILE *out)
{
    const struct value_table *table = &plan->expressions.tables[node->table];
    const struct value_type type = plan->expressions.nodes[node->child[0]].type;
    fputs(" in (", out);
    for (uint64_t i = 0; i < table->count && i < 5 && table->size == table->count; i++) {
        char text[80];
        fprintf(out, "%s%s", i ? ", " : "", typed_text(type, table->values[i], text, sizeof text));
    }
    if (table->size > table->count)
        fprintf(out, "a bitmap of %" PRIu64 " values", table->size);
    else if (table->count > 5)
        fprintf(out, ", ... %" PRIu64 " values", table->count);
    fputc(')', out);
}

static void write_node(const struct plan *plan, uint32_t index, uint32_t *left, FILE *out)
{
    static const char *const infix[EXPRESSION_OPERATIONS] = {
        [EXPRESSION_ADD] = " + ",    [EXPRESSION_SUBTRACT] = " - ",         [EXPRESSION_MULTIPLY] = " * ",
        [EXPRESSION_DIVIDE] = " / ", [EXPRESSION_REMAINDER] = " % ",        [EXPRESSION_EQUAL] = " = ",
        [EXPRESSION_LESS] = " < ",   [EXPRESSION_LESS_EQUAL] = " <= ",      [EXPRESSION_AND] = " and ",
        [EXPRESSION_OR] = " or ",    [EXPRESSION_ADD_MONTHS] = " + months "};
    static const char *const prefix[EXPRESSION_OPERATIONS] = {
        [EXPRESSION_NEGATE] = "-",         [EXPRESSION_NOT] = "not ",        [EXPRESSION_CHOOSE] = "choose",
        [EXPRESSION_LOOKUP] = "look up",   [EXPRESSION_EXTRACT] = "extract", [EXPRESSION_TO_DATE] = "date",
        [EXPRESSION_TO_DOUBLE] = "double", [EXPRESSION_LIMB] = "bits",       [EXPRESSION_TEXT] = "text"};
    const struct expression *node = &plan->expressions.nodes[index];
    if (*left == 0) {
        fputs("...", out);
        return;
    }
    --*left;
    if (node->operation == EXPRESSION_CONSTANT) {
        write_constant(node, out);
        return;
    }
    if (expression_is_leaf(node->operation)) {
        write_leaf(plan, node, left, out);
        return;
    }
    if (node->operation == EXPRESSION_IS_NULL || node->operation == EXPRESSION_IN_SET) {
        write_node(plan, node->child[0], left, out);
        if (node->operation == EXPRESSION_IS_NULL)
            fputs(" is null", out);
        else
            write_set(plan, node, out);
        return;
    }
    if (node->operation == EXPRESSION_CALL)
        fputs(row_call_function(node)->text, out);
    if (prefix[node->operation])
        fputs(prefix[node->operation], out);
    fputc('(', out);
    for (uint32_t c = 0; c < node->children; c++) {
        if (c)
            fputs(infix[node->operation] ? infix[node->operation] : ", ", out);
        write_node(plan, node->child[c], left, out);
    }
    fputc(')', out);
}

static void write_value(const struct plan *plan, uint32_t node, FILE *out)
{
    uint32_t left = WRITTEN_NODES_MAX;
    write_node(plan, node, &left, out);
}

static void put_value(struct explain_node *node, const char *name, const struct plan *plan, uint32_t value)
{
    struct explain_writer writer;
    if (!explain_write_begin(node, &writer))
        return;
    write_value(plan, value, writer.out);
    explain_write_end(node, name, &writer);
}

/* ---- Figures ---- */

/* True if the run was analysed and read the fact table. */
static bool has_steps(const struct explained *explained)
{
    return explained->counts && !explained->plan->nothing;
}

/* The rows of the fact table, and of all its parts if processes have them. */
static uint64_t fact_rows(const struct explained *explained)
{
    const struct table *const fact = explained->plan->fact;
    return engine_cluster(explained->engine) ? table_whole_rows(fact) : fact->rows;
}

static void put_rate(struct explain_node *node, const struct explained *explained, uint64_t bytes, double ms)
{
    const double rate = ms > 0 ? (double)bytes / ms * 1e3 : 0;
    explain_bytes(node, "bytes", bytes);
    explain_ms(node, "ms", ms);
    explain_number(node, "rate", EXPLAIN_RATE, rate);
    if (explained->read_ceiling > 0)
        explain_share(node, "ceiling_share", rate / explained->read_ceiling);
}

/* The bytes of the columns that step s is the first to read, and its milliseconds of the scan; s is step_count for the
 * grouping of rows that pass. */
static void put_figures(struct explain_node *node, const struct explained *explained, uint32_t s)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < explained->plan->column_count; c++)
        bytes += plan_first_use(explained->plan, c) == s ? explained->counts->bytes[c] : 0;
    put_rate(node, explained, bytes, explained->counts->steps[s].share * explained->timing->scan_ms);
    explain_share(node, "scan_share", explained->counts->steps[s].share);
}

/* ---- Steps ---- */

/* The levels whose bits the test of a key reads, and the number of its bits. */
static void write_levels(const struct plan_join *join, FILE *out)
{
    const struct table_levels *const levels = join->table->levels;
    const char *comma = ", levels ";
    for (uint32_t l = 0; l < levels->count; l++) {
        const uint64_t end = UINT64_C(1) << levels_shift(levels, l);
        if ((join->test.care & (end - 1)) >> levels_shift(levels, l + 1) == 0)
            continue;
        fprintf(out, "%s%s", comma, join->table->columns[levels->level[l].column].schema.name);
        comma = ", ";
    }
    fprintf(out, "%s%d of %u bits%s",
            join->test.care ? ": " : ", levels: ", __builtin_popcount(join->test.care),
            levels->prefix_bits + levels->rest_bits, join->test.exact ? "" : ", then the bitmap");
}

static void write_condition(const struct plan *plan, const struct plan_step *step, FILE *out)
{
    if (step->kind == STEP_RANGE) {
        const struct column *column = plan->columns[step->column].column;
        char low[80], high[80];
        fprintf(out, "%s between %s and %s", column->schema.name,
                value_text(column, step->low, low, sizeof low),
                value_text(column, step->high, high, sizeof high));
    } else if (step->kind == STEP_SEMI_JOIN) {
        const struct plan_join *join = &plan->joins[step->join];
        fprintf(out, "%s -> %s", plan->columns[join->column].column->schema.name, join->name);
        if (join->match != EXPRESSION_NONE) {
            fputs(" where ", out);
            write_value(plan, join->match, out);
            fprintf(out, " (%" PRIu64 " of %" PRIu64 " rows%s)", join->passing, join->table->rows,
                    join->contiguous && !join->test.used ? ", neighbours: a range" : "");
            if (join->test.used)
                write_levels(join, out);
        }
    } else {
        write_value(plan, step->expression, out);
    }
}

/* The conditions that the index step decides wholly; of those that it decides in part, the columns. */
static void write_decided(const struct plan *plan, FILE *out)
{
    const char *comma = "";
    for (uint32_t d = 0; d < plan->decided_count; d++, comma = "; ") {
        fputs(comma, out);
        write_condition(plan, &plan->decided[d], out);
    }
    for (uint32_t t = 0; t < plan->index.term_count; t++)
        if (!plan->index.terms[t].exact) {
            fprintf(out, "%s%s in part", comma, plan->index.terms[t].index->column->schema.name);
            comma = "; ";
        }
}

/* A part for each column with an index that the statement has a condition on: what its index costs, and what the step
 * costs that reads the column. */
static void add_candidates(struct explain_node *scan, const struct plan *plan, bool on_gpu)
{
    for (uint32_t i = 0; i < plan->index.candidate_count; i++) {
        const struct plan_index_candidate *told = &plan->index.candidates[i];
        struct explain_node *const node = explain_part(scan, "index");
        const struct column_data *data = NULL;
        for (uint32_t c = 0; c < plan->column_count; c++)
            data = plan->columns[c].column == told->column ? plan->columns[c].data : data;
        explain_words(node, "use", told->used ? "index" : "no index");
        explain_words(node, "column", "%s", told->column->schema.name);
        explain_count(node, "vectors", told->vectors);
        explain_count(node, "vectors_of", told->of);
        if (!told->exact)
            explain_words(node, "rows_are", "candidates");
        explain_bytes(node, told->opened ? "vector_bytes" : "expected_vector_bytes", told->bytes);
        explain_bytes(node, "column_bytes", data ? (double)data->bytes : 0);
        explain_words(node, "cost_unit", on_gpu ? "bytes" : "cycles");
        explain_number(node, "index_cost", EXPLAIN_NUMBER, told->index_cost);
        explain_number(node, "step_cost", EXPLAIN_NUMBER, told->step_cost);
    }
}

static const char *step_kind(const struct plan_step *step)
{
    static const char *const names[] = {[STEP_RANGE] = "range",
                                        [STEP_SEMI_JOIN] = "semi-join",
                                        [STEP_PROBE] = "probe",
                                        [STEP_CONDITION] = "condition",
                                        [STEP_INDEX] = "index"};
    return names[step->kind];
}

/* The name of a step in charts and tables: "semi-join supplier", "range lo_quantity", "condition 2", "groups". */
static void put_step_name(struct explain_node *node, const char *field, const struct plan *plan, uint32_t s)
{
    const struct plan_step *const step = &plan->steps[s];
    uint32_t number = 1;
    if (s == plan->step_count) {
        explain_words(node, field, plan->shape == PLAN_ROWS ? "rows" : "groups");
        return;
    }
    for (uint32_t before = 0; before < s; before++)
        number += plan->steps[before].kind == step->kind;
    if (step->kind == STEP_RANGE)
        explain_words(node, field, "range %s", plan->columns[step->column].column->schema.name);
    else if (step->kind == STEP_SEMI_JOIN)
        explain_words(node, field, "semi-join %s", plan->joins[step->join].name);
    else if (step->kind == STEP_PROBE)
        explain_words(node, field, "probe %s", plan->columns[step->column].column->schema.name);
    else
        explain_words(node, field, "%s %" PRIu32, step_kind(step), number);
}

static void put_step_size(struct explain_node *node, const struct plan *plan, const struct plan_step *step)
{
    uint64_t bytes = 0;
    if (step->kind == STEP_INDEX) {
        for (uint32_t t = 0; t < plan->index.term_count; t++)
            bytes += plan->index.terms[t].bytes;
        explain_bytes(node, "vector_bytes", bytes);
    } else if (step->kind != STEP_CONDITION) {
        const uint32_t c = (uint32_t)plan_step_column(plan, step);
        const struct position_test *test =
            step->kind == STEP_SEMI_JOIN ? &plan->joins[step->join].test : NULL;
        const double share = test && test->used ? plan_bits_share(plan, c, test->care) : 1;
        explain_bytes(node, "column_bytes", share * (double)plan->columns[c].data->bytes);
    }
}

static void add_step(struct explain_node *scan, const struct explained *explained, uint32_t s)
{
    const struct plan *const plan = explained->plan;
    const struct plan_step *const step = &plan->steps[s];
    struct explain_node *const node = explain_part(scan, "step");
    struct explain_writer writer;
    if (!explain_write_begin(node, &writer))
        return;
    if (step->kind == STEP_INDEX)
        write_decided(plan, writer.out);
    else
        write_condition(plan, step, writer.out);
    explain_words(node, "kind", "%s", step_kind(step));
    put_step_name(node, "name", plan, s);
    explain_write_end(node, "condition", &writer);
    put_step_size(node, plan, step);
    explain_share(node, "estimated_share", step->share);
    if (!has_steps(explained))
        return;
    explain_count(node, "rows_before", explained->counts->steps[s].reached);
    explain_count(node, "rows", explained->counts->steps[s].left);
    if (explained->counts->steps[s].reached)
        explain_share(node, "kept_share",
                      (double)explained->counts->steps[s].left / (double)explained->counts->steps[s].reached);
    if (step->kind == STEP_INDEX)
        explain_words(node, "note", "its mask is made before the scan, in the time for dimensions");
    else
        put_figures(node, explained, s);
}

/* ---- Columns ---- */

static void add_column(struct explain_node *scan, const struct explained *explained, uint32_t c)
{
    const struct plan *const plan = explained->plan;
    const struct plan_column *const column = &plan->columns[c];
    struct explain_node *const node = explain_part(scan, "column");
    explain_words(node, "name", "%s", column->column->schema.name);
    explain_words(node, "codec", "%s", column->data->codec->name);
    if (plan_stages(plan, c, engine_is_cuda(explained->engine)))
        explain_words(node, "decoded",
                      column->crowded ? "decoded first for want of shared memory" : "decoded first");
    const double bits = plan->fact->rows ? 8.0 * (double)column->data->bytes / (double)plan->fact->rows : 0;
    explain_number(node, "bits", EXPLAIN_NUMBER, round(10 * bits) / 10);
    explain_bytes(node, "column_bytes", column->data->bytes);
    if (has_steps(explained))
        explain_bytes(node, "bytes", explained->counts->bytes[c]);
    if (plan_first_use(plan, c) <= plan->step_count)
        put_step_name(node, "first_read_by", plan, plan_first_use(plan, c));
}

static void add_scan(struct explain_node *plan_node, const struct explained *explained)
{
    const struct plan *const plan = explained->plan;
    struct explain_node *const scan = explain_part(plan_node, "scan");
    uint64_t bytes = 0;
    explain_words(scan, "table", "%s", plan->fact->name);
    if (plan->fact->part.of) {
        explain_count(scan, "part", plan->fact->part.number);
        explain_count(scan, "parts", plan->fact->part.of);
    }
    explain_count(scan, "table_rows", plan->fact->rows);
    for (uint32_t c = 0; c < plan->column_count; c++)
        if (!plan->columns[c].decided) {
            bytes += plan->columns[c].data->bytes;
            add_column(scan, explained, c);
        }
    explain_bytes(scan, "column_bytes", bytes);
    for (uint32_t j = 0; j < plan->join_count; j++) {
        struct explain_node *const node = explain_part(scan, "reference");
        explain_words(node, "kind", plan->joins[j].inner ? "inner" : "left");
        explain_words(node, "table", "%s", plan->joins[j].name);
        explain_count(node, "table_rows", plan->joins[j].table->rows);
        explain_words(node, "column", "%s", plan->columns[plan->joins[j].column].column->schema.name);
    }
    add_candidates(scan, plan, engine_is_cuda(explained->engine));
    for (uint32_t s = 0; s < plan->step_count; s++)
        add_step(scan, explained, s);
}

/* ---- Groups ---- */

static void put_groups(struct explain_node *node, const struct plan *plan)
{
    struct explain_writer writer;
    if (!plan->group_count || !explain_write_begin(node, &writer))
        return;
    for (uint32_t g = 0; g < plan->group_count; g++) {
        fputs(g ? ", " : "", writer.out);
        write_value(plan, plan->groups[g].written, writer.out);
        fprintf(writer.out, " (%" PRIu64 "%s)", plan->groups[g].domain,
                plan->groups[g].values ? ", bits of the key" : "");
    }
    explain_write_end(node, "groups", &writer);
}

static void add_aggregates(struct explain_node *result, const struct plan *plan)
{
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const struct plan_double_sum *const doubles = &plan->aggregates[a].doubles;
        struct explain_node *const node = explain_part(result, "aggregate");
        const struct plan_known *const known = &plan->aggregates[a].known;
        uint32_t argument = known->known ? known->argument : plan->aggregates[a].argument;
        if (known->known) {
            explain_words(node, "function", "by statistics: %s", aggregate_of(known->kind)->scanned);
        } else if (doubles->limbs) {
            explain_words(node, "function", "exact sum in %u words of %u bits", doubles->limbs,
                          plan_aggregate_of(plan, a)->bits);
            argument = doubles->argument;
            a += doubles->limbs - 1;
        } else {
            explain_words(node, "function", "%s", plan_aggregate_of(plan, a)->scanned);
        }
        if (argument == EXPRESSION_NONE)
            explain_words(node, "argument", "rows");
        else
            put_value(node, "argument", plan, argument);
    }
}

/* What the answer makes of the scan's groups. */
static void add_sets(struct explain_node *plan_node, const struct plan *plan)
{
    const struct plan_grouping *const grouping = &plan->grouping;
    for (uint32_t s = 0; s < grouping->set_count; s++) {
        struct explain_node *const node = explain_part(plan_node, "merge");
        struct explain_writer writer;
        if (!explain_write_begin(node, &writer))
            return;
        for (uint32_t g = 0, any = 0; g < grouping->listed; g++)
            if (grouping->sets[s] >> g & 1) {
                fputs(any++ ? ", " : "", writer.out);
                write_value(plan, plan->groups[g].written, writer.out);
            }
        explain_write_end(node, "groups", &writer);
    }
}

static void add_result(struct explain_node *plan_node, const struct plan *plan)
{
    static const char *const shapes[] = {"rows", "one group", "dense slots", "hashed groups"};
    struct explain_node *const result = explain_part(plan_node, "result");
    explain_words(result, "shape", "%s", shapes[plan->shape]);
    if (plan->shape == PLAN_DENSE)
        explain_count(result, "slots", plan->slots);
    else if (plan->shape == PLAN_HASH)
        explain_count(result, "groups_most", plan->groups_most);
    if (plan->shape == PLAN_HASH && plan->key_words > 1)
        explain_count(result, "key_words", plan->key_words);
    if (plan->in_order)
        explain_words(result, "in_order", "%s", plan->columns[plan->order_column].column->schema.name);
    put_groups(result, plan);
    add_aggregates(result, plan);
    add_sets(result, plan);
}

static void add_end(struct explain_node *plan_node, const struct plan *plan)
{
    struct explain_writer writer;
    if (plan->having != EXPRESSION_NONE)
        put_value(explain_part(plan_node, "having"), "condition", plan, plan->having);
    for (uint32_t t = 0; t < plan->total_count; t++) {
        struct explain_node *const total = explain_part(plan_node, "total");
        explain_words(total, "function", "%s", aggregate_of(plan->totals[t].kind)->name);
        if (plan->totals[t].argument == EXPRESSION_NONE)
            explain_words(total, "argument", "groups");
        else
            put_value(total, "argument", plan, plan->totals[t].argument);
    }
    if (plan->order_count) {
        struct explain_node *const order = explain_part(plan_node, "order");
        if (!explain_write_begin(order, &writer))
            return;
        for (uint32_t o = 0; o < plan->order_count; o++) {
            fputs(o ? ", " : "", writer.out);
            write_value(plan, plan->outputs[plan->orders[o].output].expression, writer.out);
            fputs(plan->orders[o].descending ? " descending" : "", writer.out);
        }
        explain_write_end(order, "terms", &writer);
    }
    if (plan->limit != UINT64_MAX) {
        struct explain_node *const limit = explain_part(plan_node, "limit");
        explain_count(limit, "rows_most", plan->limit);
        explain_count(limit, "offset", plan->offset);
    }
}

/* ---- The run ---- */

static void add_run(struct explain_node *plan_node, const struct explained *explained)
{
    const struct plan *const plan = explained->plan;
    const struct scan_counts *const counts = explained->counts;
    const double ms = explained->timing->scan_ms;
    uint64_t bytes = 0;
    struct explain_node *const groups = explain_part(plan_node, "grouping");
    put_step_name(groups, "name", plan, plan->step_count);
    explain_count(groups, "rows_before",
                  plan->step_count ? counts->steps[plan->step_count - 1].left : fact_rows(explained));
    put_figures(groups, explained, plan->step_count);
    struct explain_node *const tiles = explain_part(plan_node, "tiles");
    explain_count(tiles, "tiles", counts->tiles);
    explain_count(tiles, "tiles_skipped", counts->tiles_skipped);
    struct explain_node *const whole = explain_part(plan_node, "whole scan");
    explain_words(whole, "name", "whole scan");
    explain_count(whole, "rows_before", fact_rows(explained));
    explain_count(whole, "million_rows_a_second", ms > 0 ? (double)fact_rows(explained) / ms / 1e3 : 0.0);
    for (uint32_t c = 0; c < plan->column_count; c++)
        bytes += counts->bytes[c];
    put_rate(whole, explained, bytes, ms);
    if (explained->read_ceiling > 0)
        explain_number(whole, "ceiling", EXPLAIN_RATE, explained->read_ceiling);
    explain_bytes(plan_node, "bytes", bytes);
    if (counts->moves.copied || counts->moves.read) {
        struct explain_node *const moves = explain_part(plan_node, "moves");
        explain_bytes(moves, "kept_bytes", counts->moves.kept);
        explain_bytes(moves, "copied_bytes", counts->moves.copied);
        explain_bytes(moves, "read_bytes", counts->moves.read);
    }
}

static void add_share(struct explain_node *plan_node, const char *operator, uint32_t number, uint32_t of,
                      const struct engine_process *share, const char *device)
{
    struct explain_node *const node = explain_part(plan_node, operator);
    explain_count(node, "number", number);
    explain_count(node, "of", of);
    if (device)
        explain_words(node, "device", "%s", device);
    explain_words(node, "name", device ? "%" PRIu32 ": %s" : "%" PRIu32, number, device);
    explain_count(node, "segments", share->segments);
    explain_count(node, "tiles", share->tiles);
    explain_bytes(node, "bytes", share->bytes);
    explain_ms(node, "scan_ms", share->scan_ms);
    explain_ms(node, "total_ms", share->total_ms);
}

static void add_exchange(struct explain_node *plan_node, const char *operator, uint64_t bytes, double ms,
                         const char *how)
{
    struct explain_node *const node = explain_part(plan_node, operator);
    explain_count(node, "exchanged", bytes);
    explain_ms(node, "ms", ms);
    if (how)
        explain_words(node, "how", "%s", how);
}

/* What each of several devices had of the scan, and how their results became one. */
static void add_shares(struct explain_node *plan_node, const struct explained *explained)
{
    const struct engine *const engine = explained->engine;
    const struct prepared_plan *const prepared = explained->prepared;
    const struct engine_exchange *exchange = engine_exchange_of(prepared);
    struct cluster *const cluster = engine_cluster(engine);
    const uint32_t members = engine_members(engine), processes = cluster_size(cluster);
    for (uint32_t p = 0; cluster && p < processes; p++)
        add_share(plan_node, "process", p, processes, engine_process(prepared, p), NULL);
    if (cluster)
        add_exchange(plan_node, "processes exchange", cluster_exchanged(cluster),
                     explained->timing->exchange_ms, NULL);
    for (uint32_t m = 0; members > 1 && m < members; m++) {
        const struct engine_part part = engine_part(prepared, m);
        add_share(plan_node, "device", m + 1, members,
                  &(struct engine_process){.segments = part.segments,
                                           .tiles = part.tiles,
                                           .bytes = part.bytes,
                                           .scan_ms = part.scan_ms,
                                           .total_ms = part.total_ms},
                  part.device);
    }
    if (exchange->how && members > 1)
        add_exchange(plan_node, "exchange", exchange->bytes, exchange->ms, exchange->how);
}

static void add_times(struct explain_node *plan_node, const struct explained *explained)
{
    const struct run_timing *const timing = explained->timing;
    const bool on_gpu = engine_is_cuda(explained->engine);
    char plan[DISK_READS_TEXT], run[DISK_READS_TEXT];
    struct explain_node *const node = explain_part(plan_node, "time");
    explain_ms(node, "plan_ms", timing->plan_ms);
    explain_ms(node, "compile_ms", timing->compile_ms);
    explain_ms(node, "load_ms", timing->load_ms);
    if (plan_stages_any(explained->plan, on_gpu))
        explain_ms(node, "decode_ms", timing->stage_ms);
    explain_ms(node, "dimensions_ms", timing->filter_ms);
    explain_ms(node, "scan_ms", timing->scan_ms);
    if (timing->merge_ms > 0)
        explain_ms(node, "merge_ms", timing->merge_ms);
    if (timing->exchange_ms > 0)
        explain_ms(node, "exchange_ms", timing->exchange_ms);
    explain_ms(node, "total_ms", timing->total_ms);
    explain_ms(node, "output_ms", timing->output_ms);
    if (timing->kernel == KERNEL_GENERAL)
        explain_words(node, "kernel", "%s", "general");
    explain_ms(plan_node, "ms", timing->plan_ms + timing->total_ms + timing->output_ms);
    if (!timing->plan_reads.bytes && !timing->run_reads.bytes)
        return;
    /* only of a statement that read from the disk: the times are medians of runs after the first one */
    struct explain_node *const cold = explain_part(plan_node, "cold");
    explain_words(cold, "plan", "%s", disk_reads_text(&timing->plan_reads, plan));
    explain_words(cold, "first_run", "%s", disk_reads_text(&timing->run_reads, run));
}

void explain_statement(struct explain_node *root, const struct run_timing *timing)
{
    struct explain_node *const node = explain_part(root, "statement");
    explain_ms(node, "parse_ms", timing->parse_ms);
    explain_ms(node, "bind_ms", timing->bind_ms);
    explain_ms(node, "plan_ms", timing->plan_ms);
    explain_ms(node, "compile_ms", timing->compile_ms);
    explain_ms(node, "load_ms", timing->load_ms);
    explain_ms(node, "run_ms", timing->total_ms);
    explain_ms(node, "fetch_ms", timing->fetch_ms);
    explain_ms(node, "operators_ms", timing->operators_ms);
    explain_ms(node, "output_ms", timing->output_ms);
    explain_ms(node, "sum_ms", run_timing_sum(timing));
}

/* ---- The whole ---- */

/* The groups are expected to have no more rows than their terms have values. */
double explain_expected_rows(const struct plan *plan)
{
    double rows = plan->nothing ? 0 : (double)plan->fact->rows, groups = 1;
    if (plan->shape == PLAN_TOTAL)
        return 1;
    for (uint32_t s = 0; s < plan->step_count; s++)
        rows *= plan->steps[s].share;
    for (uint32_t g = 0; g < plan->group_count; g++)
        groups *= (double)plan->groups[g].domain;
    rows = plan->shape != PLAN_ROWS && groups < rows ? groups : rows;
    return (double)plan->limit < rows ? (double)plan->limit : rows;
}

void explain_constants(struct explain_node *node)
{
    if (!node)
        return;
    explain_count(node, "estimated_rows", 1);
    explain_words(explain_part(node, "note"), "note", "one row of constants: nothing is read");
}

void explain_plan(struct explain_node *node, const struct explained *explained)
{
    const struct plan *const plan = explained->plan;
    if (!node)
        return;
    if (plan->fact->column_count == 0) {
        explain_constants(node);
        return;
    }
    explain_count(node, "estimated_rows", explain_expected_rows(plan));
    explain_words(node, "device", "%s", engine_device_text(explained->engine));
    if (plan->nothing)
        explain_words(explain_part(node, "note"), "note", "no row can be in the answer: nothing is read");
    if (plan_counts_rows(plan) && plan->index.term_count)
        explain_words(explain_part(node, "note"), "note", "count from indexes alone: no column is read");
    add_scan(node, explained);
    add_result(node, plan);
    add_end(node, plan);
    if (has_steps(explained))
        add_run(node, explained);
    if (explained->counts) {
        add_shares(node, explained);
        add_times(node, explained);
    }
}
