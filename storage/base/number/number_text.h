/*
 * number_text.h: floating-point numbers from text and as text, with a point, whatever the locale is.
 *
 * A program that has called setlocale(LC_ALL, "") may embed the library, and in half of Europe strtod and printf then
 * read and write a comma. So nothing else in the tree calls strtod, or printf's family with %e, %f or %g; a test reads
 * the sources. All of these may be called on any thread, and change no locale but their own thread's, until they return.
 */
#ifndef TESSERA_STORAGE_BASE_NUMBER_NUMBER_TEXT_H
#define TESSERA_STORAGE_BASE_NUMBER_NUMBER_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* As strtod, snprintf, vsnprintf, fprintf and vfprintf. */
double number_parse(const char *text, char **end);
int number_print(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
int number_print_list(char *text, size_t bytes, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
int number_write(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
int number_write_list(FILE *file, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

#endif
