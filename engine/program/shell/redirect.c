/*
 * redirect.c: .output, .once and .read (sql_shell.h), which do what they do in sqlite3: answers go to a file, or the next
 * one does; and the statements of a file are run.
 */
#include "engine/program/sql_shell.h"
#include "loader/text/text_file.h"
#include "storage/base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Files that read files. */
#define READ_DEPTH_MAX 20u

/* ---- Output ---- */

FILE *sql_shell_out(const struct sql_shell *shell)
{
    return shell->out ? shell->out : stdout;
}

/* A path in quotes may have blanks. */
static enum status find_path(const char *argument, char **path, struct error *error)
{
    const size_t length = strlen(argument);
    const bool quoted = length > 1 && strchr("\"'", argument[0]) && argument[length - 1] == argument[0];
    return path_format(path, error, "%.*s", (int)(length - 2 * quoted), argument + quoted);
}

/* `reason` 0: an earlier write failed, whose reason nobody noted. */
static enum status fail(const struct sql_shell *shell, int reason, struct error *error)
{
    return error_set_errno(error, reason ? reason : EIO, "%s cannot be written", shell->out_path);
}

enum status sql_shell_out_end(struct sql_shell *shell, struct error *error)
{
    enum status status = STATUS_OK;
    errno = 0;
    if (shell->out && (ferror(shell->out) || fflush(shell->out) != 0))
        status = fail(shell, errno, error);
    if (shell->out && fclose(shell->out) != 0 && status == STATUS_OK)
        status = fail(shell, errno, error);
    free(shell->out_path);
    shell->out = NULL;
    shell->out_path = NULL;
    shell->once = 0;
    return status;
}

static enum status open_out(struct sql_shell *shell, const char *argument, struct error *error)
{
    RETURN_IF_ERROR(sql_shell_out_end(shell, error));
    if (!*argument || strcmp(argument, "stdout") == 0 || cluster_rank(shell->options.cluster) > 0)
        return STATUS_OK;
    RETURN_IF_ERROR(find_path(argument, &shell->out_path, error));
    shell->out = file_stream(shell->out_path, "w");
    if (shell->out)
        return STATUS_OK;
    const enum status status = fail(shell, errno, error);
    free(shell->out_path);
    shell->out_path = NULL;
    return status;
}

enum status sql_dot_output(struct sql_shell *shell, const char *argument, struct error *error)
{
    return open_out(shell, argument, error);
}

enum status sql_dot_once(struct sql_shell *shell, const char *argument, struct error *error)
{
    if (!*argument)
        return error_set(error, STATUS_BAD_INPUT,
                         "line 1, column 1: .once needs the name of a file, to which the next answer goes");
    RETURN_IF_ERROR(open_out(shell, argument, error));
    shell->once = shell->out ? 2 : 0; /* this command is the first that ends */
    return STATUS_OK;
}

enum status sql_shell_out_done(struct sql_shell *shell, struct error *error)
{
    if (!shell->out)
        return STATUS_OK;
    if (shell->once && --shell->once == 0)
        return sql_shell_out_end(shell, error);
    errno = 0;
    return fflush(shell->out) == 0 && !ferror(shell->out) ? STATUS_OK : fail(shell, errno, error);
}

/* ---- Input ---- */

/* Runs the text as a script of its own, in which places of errors count. */
static enum status run_whole(struct sql_shell *shell, const char *path, const char *text, size_t length,
                             struct error *error)
{
    const struct sql_shell outer = *shell;
    struct error why = {0};
    shell->in_stream = false;
    shell->line = shell->column = 0;
    shell->read_depth++;
    const enum status status = sql_shell_script(shell, text, length, &why);
    shell->in_stream = outer.in_stream;
    shell->line = outer.line;
    shell->column = outer.column;
    shell->read_depth = outer.read_depth;
    return status == STATUS_OK ? STATUS_OK : error_set(error, status, "%.500s: %.1400s", path, why.text);
}

enum status sql_dot_read(struct sql_shell *shell, const char *argument, struct error *error)
{
    char *path = NULL, *text = NULL;
    size_t length;
    if (!*argument)
        return error_set(error, STATUS_BAD_INPUT, "line 1, column 1: .read needs the name of a file");
    if (shell->read_depth == READ_DEPTH_MAX)
        return error_set(error, STATUS_BAD_INPUT,
                         "line 1, column 1: files read files more than %u deep; does one read itself?",
                         READ_DEPTH_MAX);
    RETURN_IF_ERROR(find_path(argument, &path, error));
    enum status status = text_file_whole(path, SIZE_MAX, &text, &length, error);
    status = AND_THEN(status, run_whole(shell, path, text, length, error));
    free(text);
    free(path);
    return status;
}
