/* status.c: see status.h. */
#include "storage/base/status.h"

#include "storage/base/number/number_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void error_text_escape(char *to, size_t bytes, const char *from)
{
    char *const end = to + bytes;
    for (; *from && end - to > 1; from++) {
        const unsigned char c = (unsigned char)*from, next = (unsigned char)from[1];
        const bool second = c == 0xc2 && next >= 0x80 && next < 0xa0; /* U+0080 to U+009F, in UTF-8 */
        char escaped[9] = {*from};
        if (c == '\n' || c == '\t' || c == '\r')
            snprintf(escaped, sizeof escaped, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
        else if (c < ' ' || c == 0x7f)
            snprintf(escaped, sizeof escaped, "\\x%02x", c);
        else if (second)
            snprintf(escaped, sizeof escaped, "\\x%02x\\x%02x", c, next);
        from += second;
        const size_t length = strlen(escaped);
        if ((size_t)(end - to) <= length)
            break;
        memcpy(to, escaped, length);
        to += length;
    }
    *to = '\0';
}

static int print(struct error *error, enum status status, int cause, bool lines, const char *format,
                 va_list arguments)
{
    char text[ERROR_TEXT_BYTES];
    error->status = status;
    error->cause = cause;
    number_print_list(text, sizeof text, format, arguments); /* perhaps of error->text */
    if (lines)
        memcpy(error->text, text, strlen(text) + 1);
    else
        error_text_escape(error->text, sizeof error->text, text);
    return (int)strlen(error->text);
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (error)
        print(error, status, 0, false, format, arguments);
    va_end(arguments);
    return status;
}

enum status error_set_lines(struct error *error, enum status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (error)
        print(error, status, 0, true, format, arguments);
    va_end(arguments);
    return status;
}

static enum status status_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case EIO:
    case EFBIG:
    case ESTALE:
    case ENOLCK:
    case EAGAIN:
    case EINTR:
        return STATUS_MACHINE;
    default:
        return STATUS_BAD_INPUT;
    }
}

enum status error_set_errno(struct error *error, int errno_value, const char *format, ...)
{
    enum status status = status_of_errno(errno_value);
    va_list arguments;
    va_start(arguments, format);
    if (error) {
        const int used = print(error, status, errno_value, false, format, arguments);
        snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", strerror(errno_value));
    }
    va_end(arguments);
    return status;
}

enum status error_out_of_memory(struct error *error, unsigned long long bytes, const char *what)
{
    return error_set(
        error, STATUS_MACHINE,
        "out of memory: %llu bytes for %s could not be had; use fewer threads or a machine with more memory",
        bytes, what);
}

bool error_of_system(enum status status, const struct error *error)
{
    switch (error->cause) {
    case 0:
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENXIO:
        return status == STATUS_MACHINE;
    default:
        return true;
    }
}
