/*
 * json_read.h: reads JSON (RFC 8259) into jansson's values, and tells missing memory from wrong text.
 *
 * jansson's own reader does not: where an allocation fails inside a word it drops bytes of it, and says at best that
 * the text is wrong. So a catalogue would be called damaged where only memory was missing.
 */
#ifndef TESSERA_STORAGE_BASE_TEXT_JSON_READ_H
#define TESSERA_STORAGE_BASE_TEXT_JSON_READ_H

#include "storage/base/status.h"

#include <stddef.h>

struct json_t;

/* What is wrong with a text. */
struct json_fault {
    unsigned line; /* from 1 on */
    const char *what;
};

/* Objects and arrays inside each other: more than any file of ours has, and little of a thread's stack. */
#define JSON_DEPTH_MAX 64

/* Reads one value with nothing but white space after it. Numbers are integers of 64 bits: a fraction or an exponent is
 * wrong here. Two members of an object with one name are, too. STATUS_BAD_INPUT fills *fault; STATUS_MACHINE: no
 * memory, which *error says. The caller owns *root. */
NODISCARD enum status json_read(const char *text, size_t size, struct json_t **root, struct json_fault *fault,
                                struct error *error);

#endif
