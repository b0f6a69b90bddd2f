/* sql_shell.c: runs the statements and dot commands of a text, one after the other (sql_shell.h). */
#include "engine/program/sql_shell.h"

#include "engine/library/show.h"
#include "engine/sql/change/change.h"
#include "engine/sql/sql_error.h"
#include "storage/base/clock.h"
#include "storage/base/sql_token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Flushes the output, so that it comes before messages about it, and so that a script ends when its reader
 * has gone. */
static enum status flush_output(struct error *error)
{
    errno = 0;
    return fflush(stdout) == 0 && !ferror(stdout)
               ? STATUS_OK
               : error_set(error, STATUS_MACHINE,
                           "standard output could not be written: %s; what was printed is not complete",
                           strerror(errno));
}

/* Tells what came from the disk, if anything did. */
static void write_reads(const struct run_timing *timing)
{
    char text[DISK_READS_TEXT];
    struct disk_reads reads = timing->plan_reads;
    disk_reads_add(&reads, &timing->run_reads);
    if (reads.bytes)
        fprintf(stderr, "cold: %s\n", disk_reads_text(&reads, text));
}

static enum status report_one(struct sql_shell *shell, const struct sql_statement *statement,
                              const char *text, size_t length, struct error *error)
{
    return shell->report && sql_statement_explains(statement) == SQL_EXPLAIN_ANALYZE
               ? sql_report_add(shell->report, text, length, error)
               : STATUS_OK;
}

/* True if the rows of an answer are told after it: those of a table that a person reads. */
static bool tells_rows(const struct sql_shell *shell, const struct sql_statement *statement)
{
    return shell->format == ROWSET_TABLE && shell->explain == SQL_EXPLAIN_NONE &&
           sql_statement_explains(statement) == SQL_EXPLAIN_NONE;
}

/* Runs one statement, whose text has `length` bytes. `begin` is the time at which it began to be read. */
static enum status run_one(struct sql_shell *shell, struct sql_statement *statement, const char *text,
                           size_t length, double begin, struct error *error)
{
    static const char *const kernels[] = {[KERNEL_GENERAL] = "; kernel general",
                                          [KERNEL_AUTO] = "",
                                          [KERNEL_SPECIALISED] = "; kernel specialised"};
    struct rowset rows = {0};
    struct run_timing timing = {0};
    char staged[40] = "", spilled[40] = "", opening[40] = "";
    if (sql_parameter_count(statement))
        return error_set(error, STATUS_BAD_INPUT,
                         "the statement has parameters (?), which only programs can set; write the values");
    struct sql_wait wait;
    sql_wait_begin(shell->progress, &wait);
    enum status status = sql_cache_run(shell->cache, statement, &rows, &timing, error);
    sql_wait_end(&wait);
    const double answered = clock_ms();
    status = AND_THEN(status, sql_shell_print(shell, &rows, error));
    status = AND_THEN(status, flush_output(error));
    const double written = clock_ms();
    if (shell->staged || timing.stage_ms > 0)
        snprintf(staged, sizeof staged, " (decoding %.3f)", timing.stage_ms);
    if (timing.open_ms >= 0.01)
        snprintf(opening, sizeof opening, " (opening the GPU %.3f)", timing.open_ms);
    if (timing.spilled_bytes)
        snprintf(spilled, sizeof spilled, ", spilled %.1f MB", 1e-6 * (double)timing.spilled_bytes);
    if (status == STATUS_OK && shell->timer && cluster_rank(shell->options.cluster) == 0) {
        fprintf(
            stderr,
            "%llu row%s; parse %.3f ms, bind %.3f, plan %.3f, compile %.3f, load %.3f%s, run %.3f%s, fetch "
            "%.3f, operators %.3f, output %.3f, write %.3f; total %.3f on %s; memory %.1f MB%s%s%s%s%s%s\n",
            (unsigned long long)rows.rows, rows.rows == 1 ? "" : "s", timing.parse_ms, timing.bind_ms,
            timing.plan_ms, timing.compile_ms, timing.load_ms, opening, timing.total_ms, staged,
            timing.fetch_ms, timing.operators_ms, timing.output_ms, written - answered, written - begin,
            engine_device_text(shell->engine), 1e-6 * (double)timing.memory_bytes, spilled,
            kernels[timing.kernel], timing.kernel_why[0] ? ": " : "", timing.kernel_why,
            timing.groups_why ? "; groups on the host: " : "", timing.groups_why ? timing.groups_why : "");
        write_reads(&timing);
    }
    if (status == STATUS_OK && shell->prompt && !shell->timer && tells_rows(shell, statement))
        fprintf(stderr, "%llu row%s, %.0f ms\n", (unsigned long long)rows.rows, rows.rows == 1 ? "" : "s",
                written - begin);
    status = AND_THEN(status, report_one(shell, statement, text, length, error));
    rowset_free(&rows);
    return status;
}

struct script {
    const char *text;
    size_t length;
    uint32_t line, column; /* of `text`, from 0 */
};

static void skip(struct script *script, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const bool end = script->text[i] == '\n';
        script->line += end;
        script->column = end ? 0 : script->column + 1;
    }
    script->text += bytes;
    script->length -= bytes;
}

/* Runs SHOW or DESCRIBE. */
static enum status show(struct sql_shell *shell, struct script *script, struct error *error)
{
    const struct show_task task = {.engine = shell->engine,
                                   .database = shell->database,
                                   .settings = {.like = shell->like, .zone = shell->zone}};
    struct rowset rows = {0};
    struct show parsed;
    size_t used;
    RETURN_IF_ERROR(show_parse(script->text, script->length, &parsed, &used, error));
    enum status status = show_run(&parsed, &task, &rows, error);
    show_free(&parsed);
    status = AND_THEN(status, sql_shell_print(shell, &rows, error));
    rowset_free(&rows);
    status = AND_THEN(status, flush_output(error));
    if (status == STATUS_OK)
        skip(script, used);
    return status;
}

/* Runs the next statement, or a dot command, which begins a line where a statement could begin. */
static enum status next(struct sql_shell *shell, struct script *script, struct error *error)
{
    struct sql_tokens tokens;
    struct sql_token first;
    struct sql_statement *statement;
    size_t used = script->length;
    sql_tokens_begin(&tokens, script->text, script->length);
    RETURN_IF_ERROR(sql_token_next(&tokens, &first, error));
    if (first.kind == TOKEN_END) {
        skip(script, script->length);
        return STATUS_OK;
    }
    if (!shell->is_new ||
        (first.text[0] != '.' && !sql_token_is(&first, "CREATE") && !sql_token_is(&first, "SET")))
        RETURN_IF_ERROR(sql_shell_refresh(shell, error));
    if (first.kind != TOKEN_END && first.text[0] == '.') {
        skip(script, (size_t)(first.text - script->text));
        const char *const end = memchr(script->text, '\n', script->length);
        used = end ? (size_t)(end - script->text) : script->length;
        enum status status = sql_shell_dot(shell, script->text, used, error);
        status = AND_THEN(status, flush_output(error));
        if (status == STATUS_OK)
            skip(script, used);
        return status;
    }
    if (show_begins(&first))
        return show(shell, script, error);
    if (sql_change_begins(&first)) {
        RETURN_IF_ERROR(sql_shell_change(shell, script->text, script->length, &used, error));
        skip(script, used);
        return STATUS_OK;
    }
    const double begin = clock_ms();
    const struct sql_settings settings = {.staged = shell->staged,
                                          .index = shell->index,
                                          .explain = shell->explain,
                                          .like = shell->like,
                                          .zone = shell->zone,
                                          .observer = sql_report_observer(shell->report)};
    RETURN_IF_ERROR(sql_cache_take(shell->cache, script->text, script->length, shell->codec, settings,
                                   &statement, &used, error));
    const enum status status =
        statement ? run_one(shell, statement, script->text, used, begin, error) : STATUS_OK;
    sql_cache_give(shell->cache, statement);
    if (status == STATUS_OK)
        skip(script, used);
    return status;
}

enum status sql_shell_script(struct sql_shell *shell, const char *text, size_t length, struct error *error)
{
    struct script script = {.text = text, .length = length, .line = shell->line, .column = shell->column};
    while (script.length > 0 && !shell->quit) {
        const size_t before = script.length;
        enum status status = next(shell, &script, error);
        if (status == STATUS_OK && script.length < before)
            status = sql_shell_out_done(shell, error);
        if (status != STATUS_OK) {
            if (status == STATUS_BAD_INPUT && error && script.length > 0 && script.text[0] != '.')
                sql_shell_caret(error, text, script.text, script.length);
            sql_error_move(error, (struct sql_position){1, 1},
                           (struct sql_position){script.line + 1, script.column + 1});
            return status;
        }
    }
    if (shell->in_stream) {
        shell->line = script.line;
        shell->column = script.column;
    }
    return STATUS_OK;
}
