/* status.c: see status.h. */
#include "storage/base/status.h"

#include "storage/base/number/number_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        error->cause = 0;
        number_print_list(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
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
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        error->status = status;
        error->cause = errno_value;
        int used = number_print_list(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
        if (used >= 0 && (size_t)used < sizeof error->text)
            snprintf(error->text + used, sizeof error->text - (size_t)used, ": %s", strerror(errno_value));
    }
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
