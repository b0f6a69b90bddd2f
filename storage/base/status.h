/*
 * status.h: the one way in which Tessera reports failure.
 *
 * Every function that can fail returns an `enum status` and, when the caller gives one, fills a `struct
 * error` with one sentence for a person: what failed, on what (path, line, column), what to do next. The
 * library never exits and never prints. The values of `enum status` are the exit codes of the program
 * (README.md).
 */
#ifndef TESSERA_STORAGE_BASE_STATUS_H
#define TESSERA_STORAGE_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK = 0,
    STATUS_CHECK_FAILED = 1, /* a wrong answer, a checksum that does not match */
    STATUS_BAD_INPUT = 2,    /* bad usage, bad rows, a file that is not what it should be */
    STATUS_MACHINE = 3,      /* the machine cannot: no GPU, out of memory, disk full */
    STATUS_NOT_DURABLE = 4,  /* the change was made and is visible, but may not survive a power cut */
    STATUS_INTERRUPTED = 130 /* Ctrl-C, after cleaning up */
};

#define ERROR_TEXT_BYTES 1024

/* The caller owns it; zero-initialised is valid. A later error overwrites an earlier one. */
struct error {
    enum status status;
    int cause; /* the errno value of the call that failed; 0: no call of the system did */
    char text[ERROR_TEXT_BYTES];
};

/* Formats the sentence into *error (which may be NULL) and returns `status`, so that callers can `return
 * error_set(...)`. Text that does not fit is cut. Values of data and names of files stand in sentences: their control characters,
 * which would change a terminal or begin a line, are escaped. */
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of texts that were errors before, and may be several lines. */
enum status error_set_lines(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Copies a text, cut to `bytes` with its zero, with \n, \t, \r and \x1b for control characters. */
void error_text_escape(char *to, size_t bytes, const char *from);

/* error_set with ": " and the text of `errno_value` appended, which becomes the cause. Returns STATUS_MACHINE for what no
 * input can mend (ENOSPC, EDQUOT, ENOMEM, EMFILE, ENFILE, EIO, EFBIG, ESTALE, ENOLCK, EAGAIN, EINTR), else
 * STATUS_BAD_INPUT. */
enum status error_set_errno(struct error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets the sentence for a failed allocation; always returns STATUS_MACHINE. */
enum status error_out_of_memory(struct error *error, unsigned long long bytes, const char *what);

/* Whether the machine or the system refused, so that the error says nothing about the data: memory is missing, a disk
 * fails, a file may not be opened. A file that is not there, or is something else, is a matter of the data. */
bool error_of_system(enum status status, const struct error *error);

#define RETURN_IF_ERROR(expression)                       \
    do {                                                  \
        enum status status_of_expression_ = (expression); \
        if (status_of_expression_ != STATUS_OK)           \
            return status_of_expression_;                 \
    } while (0)

/* The next of several steps in a function that cleans up at its end; it runs if those before it succeeded:
 *
 *     status = AND_THEN(status, next_step(error));
 */
#define AND_THEN(status, step) ((status) == STATUS_OK ? (step) : (status))

#define NODISCARD __attribute__((warn_unused_result))

#endif
