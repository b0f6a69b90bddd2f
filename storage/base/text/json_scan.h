/*
 * json_scan.h: finds the values of JSON (RFC 8259) where they stand in a text, without building them: for loaders of rows that
 * are objects, and for functions of strings that hold JSON. What is passed over is checked, too. About 1 GB a second.
 *
 * Complaints are static sentences, "has no value where one should be"; the place is then where the scan stopped.
 */
#ifndef TESSERA_STORAGE_BASE_TEXT_JSON_SCAN_H
#define TESSERA_STORAGE_BASE_TEXT_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* Objects and arrays inside each other. */
#define JSON_SCAN_DEPTH 500u

enum json_scan_kind {
    JSON_SCAN_NULL,
    JSON_SCAN_TRUTH,
    JSON_SCAN_NUMBER,
    JSON_SCAN_STRING,
    JSON_SCAN_OBJECT,
    JSON_SCAN_ARRAY
};

struct json_scanned {
    enum json_scan_kind kind;
    bool escaped;     /* of a string: it has \ */
    const char *text; /* as written; of a string what is between its quotes */
    uint32_t length;
};

const char *json_scan_blanks(const char *at, const char *end);

/* Reads the value at *at, with blanks before it, and moves *at behind it. */
const char *json_scan_value(const char **at, const char *end, struct json_scanned *value);

/* Reads a whole text: one value, and blanks around it. */
const char *json_scan_text(const char *text, uint32_t length, struct json_scanned *value);

/* The members of an object, or the elements of an array, one after the other. It begins behind the bracket. */
struct json_scan_items {
    const char *at, *end;
    char close; /* the bracket that ends them */
    bool begun;
};
static inline struct json_scan_items json_scan_items(const struct json_scanned *of)
{
    return (struct json_scan_items){of->text + 1, of->text + of->length,
                                    of->kind == JSON_SCAN_OBJECT ? '}' : ']', false};
}
/* *more is false behind the last one: then `at` is behind the bracket. An element has no name: `name` may be NULL. json_scan_item
 * stops before the value, which the caller reads from `at`. */
const char *json_scan_item(struct json_scan_items *items, struct json_scanned *name, bool *more);
const char *json_scan_next(struct json_scan_items *items, struct json_scanned *name,
                           struct json_scanned *value, bool *more);

/* Writes a string without its escapes, in at most `length` bytes; *written are those. False if it has the character U+0000, or
 * half of a pair of surrogates, which no text may have. */
bool json_scan_unescape(const char *text, uint32_t length, char *out, uint32_t *written);

#endif
