/*
 * nested.h: makes small nested Arrow data row by row: lists of structs, and the union of AdbcConnectionGetInfo. Answers of
 * the catalogue have at most some thousand rows; rows of tables go through arrow_export.h.
 *
 * A tree of nodes has the schema and grows the values. One batch of the root, which is a struct, becomes a stream.
 */
#ifndef TESSERA_ENGINE_ADBC_NESTED_H
#define TESSERA_ENGINE_ADBC_NESTED_H

#include "loader/arrow/arrow.h"

#include <stdbool.h>
#include <stddef.h>

/* Formats are those of the C data interface: "u", "s", "i", "I", "l", "b", "+l" (a list), "+s" (a struct), "+m" (a map),
 * "+ud:0,1,2" (a dense union). A name that ends with '!' is that of a column without NULLs; the mark is cut. */
struct nested {
    const char *format, *name;
    uint32_t child_count;
    struct nested **children;
    bool failed; /* memory was out while rows were added */
    int64_t length, nulls;
    struct nested_bytes {
        uint8_t *bytes;
        size_t count, room;
    } valid, values,
        text; /* a byte a row; offsets, numbers or bytes of truth; a union's types are in `text` */
};

/* Makes a node and takes the children over; NULL if memory is out, or if a child is NULL. The strings must stay. */
struct nested *nested_make(const char *format, const char *name, uint32_t count,
                           struct nested *const *children);
void nested_free(struct nested *node);

/* Appends one row to a node: a text (NULL: NULL), a number, NULL (children of a struct get NULL, too), the end of a list
 * or of a struct, whose children's rows were appended before, and a union's value of child `which`. */
void nested_text(struct nested *node, const char *text);
void nested_number(struct nested *node, int64_t number);
void nested_null(struct nested *node);
void nested_end(struct nested *node);
void nested_choice(struct nested *node, uint32_t which);

/* Frees the tree, also after a failure, and makes a stream of one batch of it; false if memory was out. */
bool nested_stream(struct nested *root, struct ArrowArrayStream *stream);

#endif
