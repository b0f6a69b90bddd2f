/*
 * json_text.h: reads JSON (RFC 8259) into jansson's values and prints them, and tells missing memory from wrong text.
 *
 * jansson itself does not: where an allocation fails inside a word, its reader drops bytes of it, and says at best that
 * the text is wrong; its printer goes on without what it could not keep, so that a name is missing. So a catalogue would
 * be called damaged where only memory was missing, or be damaged without a word.
 */
#ifndef TESSERA_STORAGE_BASE_TEXT_JSON_TEXT_H
#define TESSERA_STORAGE_BASE_TEXT_JSON_TEXT_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdio.h>

struct json_t;

/* What is wrong with a text. */
struct json_fault {
    unsigned line; /* from 1 on */
    const char *what;
};

/* Objects and arrays inside each other: more than any file of ours has, and little of a thread's stack. */
#define JSON_DEPTH_MAX 64

/* Reads one value with nothing but white space after it. Two members of an object with one name are wrong, as is an
 * integer of more than 64 bits. STATUS_BAD_INPUT fills *fault; STATUS_MACHINE: no
 * memory, which *error says. The caller owns *root. */
NODISCARD enum status json_read(const char *text, size_t size, struct json_t **root, struct json_fault *fault,
                                struct error *error);

/* The value, or NULL, for which it is freed, if adding to it has failed. */
struct json_t *json_whole(struct json_t *value, int failed);

/* Prints an object or an array, with jansson's flags. The caller frees the text; NULL: memory is missing. */
char *json_print(const struct json_t *root, size_t flags);

/* Prints it and a newline to a stream, all or nothing. A failed write is seen by ferror(). */
NODISCARD enum status json_write(const struct json_t *root, size_t flags, FILE *out, struct error *error);

#endif
