/*
 * stream.c: runs a script while it arrives (sql_shell.h).
 *
 * What has been read is searched for its last complete statement or dot command, and run up to there. So the first answer
 * comes before the script has ended, and a program that writes statements into a pipe can read their answers.
 */
#include "engine/program/sql_shell.h"
#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/sql_token.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536u

struct stream {
    char *text;
    size_t length, searched; /* `searched`: no statement ends in so many bytes */
    bool ended;
};

/* True if more bytes could make a token of what could not be read as one: an open quote, or half a symbol. */
static bool may_go_on(const struct sql_tokens *tokens)
{
    return tokens->at + 1 >= tokens->length || strchr("'\"`[", tokens->text[tokens->at]);
}

/* The bytes up to the end of the last complete statement or dot command. Text that is wrong however it goes on counts as
 * complete: its error need not wait. */
static size_t whole_bytes(const char *text, size_t length)
{
    struct sql_tokens tokens;
    struct sql_token token;
    struct error unused;
    size_t whole = 0;
    bool begins = true; /* the next token begins a statement */
    sql_tokens_begin(&tokens, text, length);
    for (;;) {
        if (sql_token_next(&tokens, &token, &unused) != STATUS_OK)
            return may_go_on(&tokens) ? whole : length;
        if (token.kind == TOKEN_END)
            return whole;
        if (begins && token.text[0] == '.') {
            const char *const end = memchr(token.text, '\n', length - (size_t)(token.text - text));
            if (!end)
                return whole;
            tokens.at = whole = (size_t)(end + 1 - text);
            continue;
        }
        begins = sql_token_is(&token, ";");
        whole = begins ? tokens.at : whole;
    }
}

/* Waits for more, which Ctrl-C ends, and reads what there is. */
static enum status read_more(struct stream *stream, struct error *error)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    RETURN_IF_ERROR(memory_grow(&stream->text, stream->length + READ_BYTES, "the statements", error));
    ssize_t got = -1;
    while (got < 0) {
        const bool is_there = poll(&input, 1, -1) > 0;
        RETURN_IF_ERROR(cancel_check(error)); /* keeps errno */
        if (is_there)
            got = read(STDIN_FILENO, stream->text + stream->length, READ_BYTES);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return error_set_errno(error, errno, "standard input cannot be read");
    }
    stream->ended = got == 0;
    stream->length += (size_t)got;
    return STATUS_OK;
}

/* Runs the first `bytes`, in all processes, and drops them. */
static enum status run_bytes(struct stream *stream, size_t bytes, struct sql_shell *shell,
                             struct error *error)
{
    RETURN_IF_ERROR(sql_shell_share(shell, stream->text, bytes, error));
    RETURN_IF_ERROR(sql_shell_end(shell, sql_shell_script(shell, stream->text, bytes, error), error));
    stream->length -= bytes;
    memmove(stream->text, stream->text + bytes, stream->length);
    stream->searched = 0;
    return STATUS_OK;
}

static enum status take(struct stream *stream, struct sql_shell *shell, struct error *error)
{
    RETURN_IF_ERROR(read_more(stream, error));
    /* A long statement is not searched again until it has grown by a half, so that its cost stays linear. */
    if (!stream->ended && stream->length < stream->searched + stream->searched / 2)
        return STATUS_OK;
    const size_t bytes = stream->ended ? stream->length : whole_bytes(stream->text, stream->length);
    if (bytes)
        return run_bytes(stream, bytes, shell, error);
    stream->searched = stream->length < READ_BYTES ? 0 : stream->length;
    return STATUS_OK;
}

enum status sql_shell_stream(struct sql_shell *shell, struct error *error)
{
    struct stream stream = {0};
    enum status status = STATUS_OK;
    shell->in_stream = true;
    while (status == STATUS_OK && !stream.ended && !shell->quit)
        status = take(&stream, shell, error);
    free(stream.text);
    return status;
}
