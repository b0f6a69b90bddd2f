/*
 * sql_prompt.c: the prompt of `tessera sql` (sql_shell.h). libedit has the lines and the history, and the
 * shell runs them.
 *
 * Signals are unblocked only while the prompt waits for a key and while a statement runs, so that Ctrl-C has
 * one meaning in each. Lines are collected until sql_complete says that the statement is complete.
 */
#define _GNU_SOURCE /* ppoll */
#include "engine/answer/text_width.h"
#include "engine/program/shell/complete.h"
#include "engine/program/sql_shell.h"

#include "storage/base/memory.h"
#include "storage/base/parallel.h"
#include "storage/base/words/word.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define HISTORY_STATEMENTS 1000

struct prompt {
    struct sql_shell *shell;
    EditLine *editor;
    History *history;
    char *history_file; /* NULL: no history is kept */
    char *text;         /* the statement so far */
    size_t length;
    bool interrupted; /* Ctrl-C while a line was read */
    mbstate_t bytes;  /* the bytes of a character that is being read */
    sigset_t outside; /* the signals that are blocked at other times */
};

/* ---- Signals ---- */

static atomic_int stopped; /* SIGTERM came; any thread may receive it */

/* The program's; the prompt's statements are parts of it. */
static struct execution *program;

/* Ctrl-C stops a statement, never the program. A second SIGTERM ends the program at once. */
static void on_signal(int number)
{
    if (number == SIGTERM && stopped)
        _exit(STATUS_INTERRUPTED);
    stopped |= number == SIGTERM;
    execution_stop(program);
}

static void catch_signals(struct sigaction before[2])
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    program = execution_current();
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before[0]);
    sigaction(SIGTERM, &action, &before[1]);
}

static void restore_signals(const struct sigaction before[2])
{
    sigaction(SIGINT, &before[0], NULL);
    sigaction(SIGTERM, &before[1], NULL);
}

/* ---- Keys ---- */

/* Waits for a byte or a signal. Signals are unblocked only here, so none is lost between the test and the
 * wait. */
static bool wait_for_key(struct prompt *prompt)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!cancel_requested()) {
        const int ready = ppoll(&input, 1, NULL, &prompt->outside);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
    }
    return false;
}

/* libedit's source of characters: returns 1, 0 at the end of input, or -1 to cancel the line. */
static int get_character(EditLine *editor, wchar_t *character)
{
    struct prompt *prompt;
    char byte;
    if (el_get(editor, EL_CLIENTDATA, &prompt) != 0)
        return -1;
    for (;;) {
        if (!wait_for_key(prompt)) {
            prompt->interrupted = true;
            return -1;
        }
        const ssize_t got = read(STDIN_FILENO, &byte, 1);
        if (got <= 0)
            return 0;
        switch (mbrtowc(character, &byte, 1, &prompt->bytes)) {
        case (size_t)-2: /* the character has more bytes */
            continue;
        case (size_t)-1:
            prompt->bytes = (mbstate_t){0};
            *character = L'?';
            return 1;
        default:
            return 1;
        }
    }
}

/* ---- Tab ---- */

#define LISTED_MAX 200u

/* The characters of a text, which libedit counts, in the terminal's encoding. */
static int characters(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* Lists the words below the line, in columns. */
static void list_words(const struct completion *completion)
{
    size_t widths[LISTED_MAX], widest = 0, column = 0;
    const uint32_t listed = completion->count < LISTED_MAX ? completion->count : LISTED_MAX;
    for (uint32_t i = 0; i < listed; i++) {
        widths[i] = text_width(completion->words[i], strlen(completion->words[i]));
        widest = widths[i] > widest ? widths[i] : widest;
    }
    const size_t columns = widest + 2 < 80 ? 80 / (widest + 2) : 1;
    fputc('\n', stderr);
    for (uint32_t i = 0; i < listed; i++) {
        column = (column + 1) % columns;
        fprintf(stderr, column ? "%s%*s  " : "%s%*s\n", completion->words[i], (int)(widest - widths[i]), "");
    }
    if (completion->count > LISTED_MAX)
        fprintf(stderr, "and %u more", completion->count - LISTED_MAX);
    if (column || completion->count > LISTED_MAX)
        fputc('\n', stderr);
}

/* Completes the word before the cursor; what cannot grow is listed. In text that is pasted, where more bytes wait, a tab is
 * a blank. */
static unsigned char on_tab(EditLine *editor, int key)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    struct prompt *prompt;
    struct completion completion;
    struct error unused;
    unsigned char result = CC_REFRESH;
    (void)key;
    if (el_get(editor, EL_CLIENTDATA, &prompt) != 0)
        return CC_ERROR;
    if (poll(&input, 1, 0) > 0)
        return el_insertstr(editor, " ") == 0 ? CC_REFRESH : CC_ERROR;
    const LineInfo *const line = el_line(editor);
    const size_t own = (size_t)(line->cursor - line->buffer);
    char *const text = malloc(prompt->length + own + 1);
    if (!text)
        return CC_ERROR;
    if (prompt->length)
        memcpy(text, prompt->text, prompt->length);
    memcpy(text + prompt->length, line->buffer, own);
    text[prompt->length + own] = '\0';
    if (complete_word(prompt->shell->database, text, prompt->length + own, &completion, &unused) !=
        STATUS_OK) {
        free(text);
        return CC_ERROR;
    }
    free(text);
    if (completion.count == 0)
        result = CC_ERROR;
    else if (completion.count > 1 && strlen(completion.insert) <= completion.typed) {
        list_words(&completion);
        result = CC_REDISPLAY;
    } else {
        el_deletestr(editor, characters(line->cursor - completion.typed, completion.typed));
        result = el_insertstr(editor, completion.insert) == 0 ? CC_REFRESH : CC_ERROR;
    }
    completion_free(&completion);
    return result;
}

static char *prompt_text(EditLine *editor)
{
    static char first[] = "tessera> ", more[] = "    ...> ";
    struct prompt *prompt;
    return el_get(editor, EL_CLIENTDATA, &prompt) == 0 && prompt->length ? more : first;
}

/* ---- History ---- */

/* The history's path: $TESSERA_HISTORY, or ~/.tessera_history; NULL if the variable is empty or there is no
 * home. */
static char *history_path(void)
{
    static const char name[] = "/.tessera_history";
    const char *const asked = getenv("TESSERA_HISTORY"), *const home = getenv("HOME");
    if (asked)
        return *asked ? strdup(asked) : NULL;
    if (!home || !*home)
        return NULL;
    char *path = malloc(strlen(home) + sizeof name);
    if (path)
        sprintf(path, "%s%s", home, name);
    return path;
}

/* Adds the statement to the history; one of several lines is one entry. */
static void remember(struct prompt *prompt)
{
    HistEvent event;
    size_t length = prompt->length;
    while (length > 0 && strchr(" \t\r\n", prompt->text[length - 1]))
        length--;
    const char end = prompt->text[length];
    prompt->text[length] = '\0';
    history(prompt->history, &event, H_ENTER, prompt->text);
    prompt->text[length] = end;
    if (prompt->history_file)
        history(prompt->history, &event, H_SAVE, prompt->history_file);
}

/* ---- Open and close ---- */

static void prompt_close(struct prompt *prompt)
{
    if (prompt->editor)
        el_end(prompt->editor);
    if (prompt->history)
        history_end(prompt->history);
    free(prompt->history_file);
    free(prompt->text);
}

/* Opens the prompt. Editing needs a locale with UTF-8, the encoding of strings. */
static enum status prompt_open(struct prompt *prompt, struct error *error)
{
    HistEvent event;
    if (!setlocale(LC_CTYPE, "") || MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
    prompt->editor = el_init("tessera", stdin, stderr, stderr);
    prompt->history = history_init();
    if (!prompt->editor || !prompt->history)
        return error_set(error, STATUS_MACHINE,
                         "the terminal cannot be used for line editing; is TERM right? Statements can come "
                         "from a file instead: tessera sql --db DIR < FILE");
    prompt->history_file = history_path();
    history(prompt->history, &event, H_SETSIZE, HISTORY_STATEMENTS);
    history(prompt->history, &event, H_SETUNIQUE, 1);
    if (prompt->history_file)
        history(prompt->history, &event, H_LOAD, prompt->history_file);
    el_set(prompt->editor, EL_CLIENTDATA, prompt);
    el_set(prompt->editor, EL_EDITOR, "emacs");
    el_set(prompt->editor, EL_PROMPT, prompt_text);
    el_set(prompt->editor, EL_HIST, history, prompt->history);
    el_set(prompt->editor, EL_GETCFN, get_character);
    el_set(prompt->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    /* el_set would copy the two texts and never free them. */
    el_wset(prompt->editor, EL_ADDFN, L"tessera-complete", L"Complete a name or keyword", on_tab);
    el_set(prompt->editor, EL_BIND, "^I", "tessera-complete", NULL);
    el_source(prompt->editor, NULL); /* reads ~/.editrc */
    return STATUS_OK;
}

/* ---- Lines ---- */

static enum status append(struct prompt *prompt, const char *line, size_t length, struct error *error)
{
    RETURN_IF_ERROR(memory_grow(&prompt->text, prompt->length + length + 1, "a statement", error));
    memcpy(prompt->text + prompt->length, line, length);
    prompt->length += length;
    prompt->text[prompt->length] = '\0';
    return STATUS_OK;
}

static bool is_blank(const char *text)
{
    return strspn(text, " \t\r\n") == strlen(text);
}

/* Runs what was typed, with signals unblocked. A SIGTERM and the death of another process end the program; other
 * failures are printed. */
static enum status run_text(struct prompt *prompt, struct error *lost)
{
    struct error error = {0};
    sigset_t blocked;
    remember(prompt);
    sigprocmask(SIG_SETMASK, &prompt->outside, &blocked);
    enum status status = sql_shell_share(prompt->shell, prompt->text, prompt->length, &error);
    status = AND_THEN(status, sql_shell_script(prompt->shell, prompt->text, prompt->length, &error));
    status = sql_shell_end(prompt->shell, status, &error);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    prompt->length = 0;
    if (status != STATUS_OK && !stopped)
        fprintf(stderr, "%s\n", error.text);
    if (status == STATUS_OK) /* so that Tab knows new tables; what fails is told before the next statement */
        status = sql_shell_refresh(prompt->shell, NULL);
    /* A failed write was reported; its data must not be printed with the next answer. */
    __fpurge(stdout);
    clearerr(stdout);
    if (!stopped)
        execution_resume(program);
    return cluster_check(prompt->shell->options.cluster, lost);
}

/* What people type at other prompts, as a dot command; NULL: the line is none of it. */
static const char *dot_command_of(const char *line, size_t length)
{
    static const char *const words[][2] = {{"exit", ".quit"},   {"quit", ".quit"},  {"\\q", ".quit"},
                                           {"help", ".help"},   {"\\?", ".help"},   {"\\d", ".tables"},
                                           {"\\dt", ".tables"}, {"clear", ".clear"}};
    while (length > 0 && strchr(" \t\r\n;", line[length - 1]))
        length--;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (strlen(words[w][0]) == length && word_compare_bytes(words[w][0], line, length) == 0)
            return words[w][1];
    return NULL;
}

/* Reads one line. *more is false at the end of input. */
static enum status take_line(struct prompt *prompt, bool *more, struct error *error)
{
    int length = 0;
    el_resize(prompt->editor);
    /* Before the prompt is visible, so that a Ctrl-D after it is not lost. */
    el_set(prompt->editor, EL_PREP_TERM, 1);
    const char *const line = el_gets(prompt->editor, &length);
    *more = true;
    if (prompt->interrupted) { /* the typed text is dropped */
        prompt->interrupted = false;
        prompt->length = 0;
        fputs("^C\n", stderr);
        if (stopped)
            return cancel_check(error);
        execution_resume(program);
        return STATUS_OK;
    }
    if (!line || length <= 0) {
        *more = false;
        fputc('\n', stderr);
        return STATUS_OK;
    }
    const char *const command = prompt->length ? NULL : dot_command_of(line, (size_t)length);
    RETURN_IF_ERROR(
        append(prompt, command ? command : line, command ? strlen(command) : (size_t)length, error));
    const size_t begin = strspn(prompt->text, " \t\r\n");
    if (is_blank(prompt->text))
        prompt->length = 0;
    else if (prompt->text[begin] == '.' ||
             (memchr(line, ';', (size_t)length) && sql_complete(prompt->text, prompt->length)))
        RETURN_IF_ERROR(run_text(prompt, error));
    return stopped ? cancel_check(error) : STATUS_OK;
}

enum status sql_shell_prompt(struct sql_shell *shell, struct error *error)
{
    struct prompt prompt = {.shell = shell};
    struct sigaction before[2];
    sigset_t mine;
    bool more = true;
    shell->prompt = true;
    enum status status = prompt_open(&prompt, error);
    if (status == STATUS_OK) {
        fprintf(stderr,
                "%s on %s\nStatements end with ; and .help lists what else there is; exit or Ctrl-D ends.\n",
                *database_path(shell->database) ? database_path(shell->database) : "no database",
                engine_device_text(shell->engine));
        sigemptyset(&mine);
        sigaddset(&mine, SIGINT);
        sigaddset(&mine, SIGTERM);
        catch_signals(before);
        sigprocmask(SIG_BLOCK, &mine, &prompt.outside);
        while (status == STATUS_OK && more && !shell->quit)
            status = take_line(&prompt, &more, error);
        sigprocmask(SIG_SETMASK, &prompt.outside, NULL);
        restore_signals(before);
    }
    prompt_close(&prompt);
    return status;
}
