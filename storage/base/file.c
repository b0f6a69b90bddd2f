/* file.c: see file.h. */
#define _GNU_SOURCE
#include "storage/base/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum status path_format(char **path, struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(path, format, arguments);
    va_end(arguments);
    if (length >= 0)
        return STATUS_OK;
    *path = NULL;
    return error_out_of_memory(error, strlen(format), "a path");
}
