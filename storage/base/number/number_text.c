/* number_text.c: see number_text.h. */
#define _GNU_SOURCE /* strtod_l */
#include "storage/base/number/number_text.h"

#include <locale.h>
#include <stdlib.h>

/* glibc has this one ready: the call takes no memory, cannot fail, and there is nothing to free. */
static locale_t plain(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double number_parse(const char *text, char **end)
{
    return strtod_l(text, end, plain());
}

int number_print_list(char *text, size_t bytes, const char *format, va_list arguments)
{
    const locale_t before = uselocale(plain());
    const int length = vsnprintf(text, bytes, format, arguments);
    uselocale(before);
    return length;
}

int number_print(char *text, size_t bytes, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = number_print_list(text, bytes, format, arguments);
    va_end(arguments);
    return length;
}

int number_write_list(FILE *file, const char *format, va_list arguments)
{
    const locale_t before = uselocale(plain());
    const int length = vfprintf(file, format, arguments);
    uselocale(before);
    return length;
}

int number_write(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = number_write_list(file, format, arguments);
    va_end(arguments);
    return length;
}
