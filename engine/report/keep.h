/*
 * keep.h: copies of texts and growing arrays, for figures that are collected before they are written.
 *
 * A report has some thousand cells and points. Its makers add them one by one and do not check each call: a
 * failed allocation is remembered, and whoever writes the report says so.
 */
#ifndef TESSERA_ENGINE_REPORT_KEEP_H
#define TESSERA_ENGINE_REPORT_KEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Valid if zero-initialised; free with keep_free. */
struct keep {
    struct keep_block *blocks;
    bool failed; /* some allocation failed: something is missing */
};

void keep_free(struct keep *keep);

/* Copies a text; NULL gives NULL, and so does a failed allocation. */
const char *keep_text(struct keep *keep, const char *text);

/* Makes room for one more item after `count` items in an array that has grown by this function only, and which
 * the caller frees. False: there is no memory, and the array is as before. */
bool keep_grow(struct keep *keep, void **array, uint32_t count, size_t item_bytes);

#endif
