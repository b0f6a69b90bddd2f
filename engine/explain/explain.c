/* explain.c: writes a plan in words, with a line for each step and, after an analysed run, its figures
 * (explain.h). */
#include "engine/explain/explain.h"
#include "engine/explain/explain_tree.h"
#include "engine/plan/functions/row_call.h"
#include "engine/plan/value_text.h"
#include "storage/base/number/number_text.h"
#include "storage/index/index_file.h"
#include "storage/base/text/text_stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    for (uint64_t i = 0; i < table->count && i < 5; i++) {
        char text[80];
        fprintf(out, "%s%s", i ? ", " : "", typed_text(type, table->values[i], text, sizeof text));
    }
    if (table->count > 5)
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
        [EXPRESSION_TO_DOUBLE] = "double", [EXPRESSION_LIMB] = "bits"};
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

/* ---- Steps ---- */

bool explain_has_steps(const struct explained *explained)
{
    return explained->counts && !explained->plan->nothing;
}

uint64_t explain_step_bytes(const struct explained *explained, uint32_t s)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < explained->plan->column_count; c++)
        bytes += plan_first_use(explained->plan, c) == s ? explained->counts->bytes[c] : 0;
    return bytes;
}

double explain_step_ms(const struct explained *explained, uint32_t s)
{
    return explained->counts->share[s] * explained->timing->scan_ms;
}

uint64_t explain_scan_bytes(const struct explained *explained)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < explained->plan->column_count; c++)
        bytes += explained->counts->bytes[c];
    return bytes;
}

uint64_t explain_fact_rows(const struct explained *explained)
{
    const struct table *const fact = explained->plan->fact;
    return engine_cluster(explained->engine) ? table_whole_rows(fact) : fact->rows;
}

static void write_rate(const struct explained *explained, uint64_t bytes, double ms, FILE *out)
{
    const double rate = ms > 0 ? (double)bytes / ms / 1e6 : 0;
    number_write(out, "%.4g MB in %.4g ms, %.4g GB/s", (double)bytes / 1e6, ms, rate);
    if (explained->read_ceiling > 0)
        fprintf(out, ", %.0f %% of what this device reads at most", 100e9 * rate / explained->read_ceiling);
    fputc('\n', out);
}

static void write_figures(const struct explained *explained, uint32_t s, FILE *out)
{
    write_rate(explained, explain_step_bytes(explained, s), explain_step_ms(explained, s), out);
}

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

/* A line for each column with an index that the statement has a condition on: what its index costs, and what the step
 * costs that reads the column. */
static void write_candidates(const struct plan *plan, bool on_gpu, FILE *out)
{
    const char *const unit = on_gpu ? "bytes" : "cycles";
    for (uint32_t i = 0; i < plan->index.candidate_count; i++) {
        const struct plan_index_candidate *told = &plan->index.candidates[i];
        const struct column_data *data = NULL;
        for (uint32_t c = 0; c < plan->column_count; c++)
            data = plan->columns[c].column == told->column ? plan->columns[c].data : data;
        number_write(out,
                     "  %s of %s: %" PRIu32 " of %" PRIu32 " vectors%s, %s%.4g MB; the column has %.4g MB; ",
                     told->used ? "index" : "no index", told->column->schema.name, told->vectors, told->of,
                     told->exact ? "" : ", whose rows are candidates", told->opened ? "" : "about ",
                     (double)told->bytes / 1e6, data ? (double)data->bytes / 1e6 : 0.0);
        number_write(out, "%.3g %s a row instead of %.3g\n", told->index_cost, unit, told->step_cost);
    }
}

const char *explain_step_kind(const struct plan_step *step)
{
    static const char *const names[] = {[STEP_RANGE] = "range",
                                        [STEP_SEMI_JOIN] = "semi-join",
                                        [STEP_CONDITION] = "condition",
                                        [STEP_INDEX] = "index"};
    return names[step->kind];
}

void explain_step_words(const struct plan *plan, uint32_t s, FILE *out)
{
    if (plan->steps[s].kind == STEP_INDEX)
        write_decided(plan, out);
    else
        write_condition(plan, &plan->steps[s], out);
}

static void write_step(const struct explained *explained, uint32_t s, FILE *out)
{
    const struct plan *const plan = explained->plan;
    const struct scan_counts *const counts = explain_has_steps(explained) ? explained->counts : NULL;
    const struct plan_step *step = &plan->steps[s];
    fprintf(out, "  %-10s ", explain_step_kind(step));
    explain_step_words(plan, s, out);
    if (step->kind == STEP_INDEX) {
        uint64_t bytes = 0;
        for (uint32_t t = 0; t < plan->index.term_count; t++)
            bytes += plan->index.terms[t].bytes;
        number_write(out, ", %.4g MB of vectors", (double)bytes / 1e6);
    } else if (step->kind != STEP_CONDITION) {
        const uint32_t c = step->kind == STEP_RANGE ? step->column : plan->joins[step->join].column;
        const struct position_test *test = step->kind == STEP_RANGE ? NULL : &plan->joins[step->join].test;
        const double share = test && test->used ? plan_bits_share(plan, c, test->care) : 1;
        number_write(out, ", %.4g MB", share * (double)plan->columns[c].data->bytes / 1e6);
    }
    number_write(out, ", expected to keep %.3g %%", 100 * step->share);
    if (counts)
        fprintf(out, "; kept %" PRIu64 " of %" PRIu64 " rows\n             ", counts->left[s],
                counts->reached[s]);
    if (counts && step->kind == STEP_INDEX)
        fputs("its mask is made before the scan, in the time for dimensions\n", out);
    else if (counts)
        write_figures(explained, s, out);
    else
        fputc('\n', out);
}

static void write_columns(const struct plan *plan, bool on_gpu, FILE *out)
{
    uint64_t bytes = 0;
    const char *comma = "";
    if (plan_counts_rows(plan) && plan->index.term_count)
        fputs("count from indexes alone: no column is read\n", out);
    for (uint32_t c = 0; c < plan->column_count; c++)
        bytes += plan->columns[c].decided ? 0 : plan->columns[c].data->bytes;
    fprintf(out, "scan %s", plan->fact->name);
    if (plan->fact->part.of)
        fprintf(out, ", part %" PRIu32 " of %" PRIu32, plan->fact->part.number, plan->fact->part.of);
    number_write(out, ": %" PRIu64 " rows, %.4g MB of", plan->fact->rows, (double)bytes / 1e6);
    for (uint32_t c = 0; c < plan->column_count; c++) {
        const struct plan_column *column = &plan->columns[c];
        if (column->decided)
            continue;
        number_write(out, "%s %s (%s%s, %.1f bits)", comma, column->column->schema.name,
                     column->data->codec->name,
                     !plan_stages(plan, c, on_gpu) ? ""
                     : column->crowded             ? " decoded first for want of shared memory"
                                                   : " decoded first",
                     plan->fact->rows ? 8.0 * (double)column->data->bytes / (double)plan->fact->rows : 0.0);
        comma = ",";
    }
    fputc('\n', out);
}

static void write_groups(const struct plan *plan, FILE *out)
{
    static const char *const shapes[] = {"rows", "one group", "dense slots", "hashed groups"};
    fprintf(out, "result: %s", shapes[plan->shape]);
    if (plan->shape == PLAN_DENSE)
        fprintf(out, ", %" PRIu64, plan->slots);
    else if (plan->shape == PLAN_HASH)
        fprintf(out, ", at most %" PRIu64 "%s", plan->groups_most,
                plan->key_words > 1 ? ", numbers of several words," : "");
    for (uint32_t g = 0; g < plan->group_count; g++) {
        fputs(g ? ", " : " by ", out);
        write_value(plan, plan->groups[g].written, out);
        fprintf(out, " (%" PRIu64 "%s)", plan->groups[g].domain,
                plan->groups[g].values ? ", bits of the key" : "");
    }
    fputc('\n', out);
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        const struct plan_double_sum *const doubles = &plan->aggregates[a].doubles;
        if (doubles->limbs) { /* its limbs follow each other */
            fprintf(out, "  exact sum in %u words of %u bits of ", doubles->limbs,
                    plan_aggregate_of(plan, a)->bits);
            write_value(plan, doubles->argument, out);
            fputc('\n', out);
            a += doubles->limbs - 1;
            continue;
        }
        fprintf(out, "  %s of ", plan_aggregate_of(plan, a)->scanned);
        if (plan->aggregates[a].argument == EXPRESSION_NONE)
            fputs("rows", out);
        else
            write_value(plan, plan->aggregates[a].argument, out);
        fputc('\n', out);
    }
}

/* What the answer makes of the scan's groups. */
static void write_grouping(const struct plan *plan, FILE *out)
{
    const struct plan_grouping *const grouping = &plan->grouping;
    for (uint32_t s = 0; s < grouping->set_count; s++) {
        fputs("  merged by (", out);
        for (uint32_t g = 0, any = 0; g < grouping->listed; g++)
            if (grouping->sets[s] >> g & 1) {
                fputs(any++ ? ", " : "", out);
                write_value(plan, plan->groups[g].written, out);
            }
        fputs(")\n", out);
    }
}

static void write_end(const struct plan *plan, FILE *out)
{
    write_grouping(plan, out);
    if (plan->having != EXPRESSION_NONE) {
        fputs("having ", out);
        write_value(plan, plan->having, out);
        fputc('\n', out);
    }
    for (uint32_t o = 0; o < plan->order_count; o++) {
        fputs(o ? ", " : "order by ", out);
        write_value(plan, plan->outputs[plan->orders[o].output].expression, out);
        fputs(plan->orders[o].descending ? " descending" : "", out);
    }
    if (plan->order_count)
        fputc('\n', out);
    if (plan->limit != UINT64_MAX)
        fprintf(out, "limit %" PRIu64 " from %" PRIu64 "\n", plan->limit, plan->offset);
}

static void write_scan(const struct explained *explained, FILE *out)
{
    const struct scan_counts *counts = explained->counts;
    const struct run_timing *timing = explained->timing;
    fprintf(out, "%s: ", explained->plan->shape == PLAN_ROWS ? "rows" : "groups");
    write_figures(explained, explained->plan->step_count, out);
    fprintf(out, "tiles: %" PRIu64 ", skipped by their minima and maxima: %" PRIu64 "\n", counts->tiles,
            counts->tiles_skipped);
    fprintf(out, "whole scan: %.0f million rows a second, ",
            timing->scan_ms > 0 ? (double)explain_fact_rows(explained) / timing->scan_ms / 1e3 : 0.0);
    write_rate(explained, explain_scan_bytes(explained), timing->scan_ms, out);
    if (counts->moves.copied || counts->moves.read)
        number_write(
            out,
            "columns: %.4g MB kept on the GPU, %.4g MB copied to it in every run, %.4g MB read from the "
            "host's "
            "memory by the kernel\n",
            (double)counts->moves.kept / 1e6, (double)counts->moves.copied / 1e6,
            (double)counts->moves.read / 1e6);
}

/* What each of several devices had of the scan, and how their results became one. */
static void write_parts(const struct explained *explained, FILE *out)
{
    const struct engine *const engine = explained->engine;
    const struct prepared_plan *const prepared = explained->prepared;
    const struct run_timing *const timing = explained->timing;
    const struct engine_exchange *exchange = engine_exchange_of(prepared);
    const uint32_t members = engine_members(engine), processes = cluster_size(engine_cluster(engine));
    for (uint32_t p = 0; engine_cluster(engine) && p < processes; p++) {
        const struct engine_process *const process = engine_process(prepared, p);
        number_write(out,
                     "process %" PRIu32 " of %" PRIu32 ": %" PRIu32 " segment%s, %" PRIu64
                     " tiles, %.4g MB; scan %.3f ms, total %.3f\n",
                     p, processes, process->segments, process->segments == 1 ? "" : "s", process->tiles,
                     (double)process->bytes / 1e6, process->scan_ms, process->total_ms);
    }
    if (engine_cluster(engine))
        number_write(out, "processes exchange: %" PRIu64 " bytes in %.1f us of the total\n",
                     cluster_exchanged(engine_cluster(engine)), 1e3 * timing->exchange_ms);
    for (uint32_t m = 0; members > 1 && m < members; m++) {
        const struct engine_part part = engine_part(prepared, m);
        number_write(out,
                     "device %" PRIu32 " of %" PRIu32 ", %s: %" PRIu32 " segment%s, %" PRIu64
                     " tiles, %.4g MB; scan %.3f ms, total %.3f\n",
                     m + 1, members, part.device, part.segments, part.segments == 1 ? "" : "s", part.tiles,
                     (double)part.bytes / 1e6, part.scan_ms, part.total_ms);
    }
    if (exchange->how && members > 1)
        number_write(out, "exchange: %" PRIu64 " bytes, %s in %.1f us\n", exchange->bytes, exchange->how,
                     1e3 * exchange->ms);
}

/* Only of a statement that read from the disk. The times of `time:` are medians of runs after the first one. */
static void write_reads(const struct run_timing *timing, FILE *out)
{
    char plan[DISK_READS_TEXT], run[DISK_READS_TEXT];
    if (timing->plan_reads.bytes || timing->run_reads.bytes)
        fprintf(out, "cold: plan %s; first run %s\n", disk_reads_text(&timing->plan_reads, plan),
                disk_reads_text(&timing->run_reads, run));
}

static void write_times(const struct explained *explained, FILE *out)
{
    const struct run_timing *const timing = explained->timing;
    char staged[32] = "";
    if (plan_stages_any(explained->plan, engine_is_cuda(explained->engine)))
        number_print(staged, sizeof staged, "decoding %.3f, ", timing->stage_ms);
    number_write(
        out,
        "time: plan %.3f ms, compile %.3f, load %.3f; %sdimensions %.3f, scan %.3f, total %.3f; output "
        "%.3f\n",
        timing->plan_ms, timing->compile_ms, timing->load_ms, staged, timing->filter_ms, timing->scan_ms,
        timing->total_ms, timing->output_ms);
    write_reads(timing, out);
}

static void write_all(const struct explained *explained, FILE *out)
{
    const struct plan *const plan = explained->plan;
    const bool on_gpu = engine_is_cuda(explained->engine);
    fprintf(out, "device: %s\n", engine_device_text(explained->engine));
    if (plan->nothing)
        fputs("no row can be in the answer: nothing is read\n", out);
    write_columns(plan, on_gpu, out);
    for (uint32_t j = 0; j < plan->join_count; j++)
        fprintf(out, "  %s join %s: %" PRIu64 " rows by %s\n", plan->joins[j].inner ? "inner" : "left",
                plan->joins[j].name, plan->joins[j].table->rows,
                plan->columns[plan->joins[j].column].column->schema.name);
    write_candidates(plan, on_gpu, out);
    for (uint32_t s = 0; s < plan->step_count; s++)
        write_step(explained, s, out);
    write_groups(plan, out);
    write_end(plan, out);
    if (explain_has_steps(explained))
        write_scan(explained, out);
    if (explained->counts) {
        write_parts(explained, out);
        write_times(explained, out);
    }
}

enum status sql_explain(const struct explained *explained, struct rowset *rows, struct error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = text_stream(&text, &bytes);
    if (!out)
        return error_out_of_memory(error, 4096, "a plan's text");
    write_all(explained, out);
    char *const tree = fclose(out) == 0 ? explain_tree(text) : NULL;
    const enum status status = tree ? rowset_of_lines(rows, "plan", tree, error)
                                    : error_out_of_memory(error, bytes, "a plan's text");
    free(tree);
    free(text);
    return status;
}
