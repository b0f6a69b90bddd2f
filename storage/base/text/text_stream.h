/*
 * text_stream.h: a text that is made in memory by printing, as open_memstream does.
 *
 * That one loses what it has no memory for without a word, so that a text misses a piece of its middle: its writes fail,
 * which nobody looks at, and closing it succeeds. Here closing fails.
 */
#ifndef TESSERA_STORAGE_BASE_TEXT_TEXT_STREAM_H
#define TESSERA_STORAGE_BASE_TEXT_TEXT_STREAM_H

#include <stddef.h>
#include <stdio.h>

/* Opens a stream; NULL: no memory. fclose() gives *text, which the caller frees and which has a zero after its *bytes
 * bytes, and returns 0; or, if memory was missing at any time, EOF, and *text is NULL. */
FILE *text_stream(char **text, size_t *bytes);

#endif
