/*
 * text_scan.h: where fields and rows of delimited text end, 64 bytes at a time.
 *
 * Every byte of every file passes twice: once under the source's lock, to find the last whole row (text_scan_whole), once
 * by the thread that splits the block (text_scan_index). Both are built for each instruction set (storage/base/isa.h) and
 * meant to run at the speed of the second-level cache; text_rows.h picks the machine's.
 *
 * Quotes are found as in text_source.h: a field is quoted if it begins with a quote. Where text keeps to RFC 4180, what is
 * inside quotes is the parity of the quotes before it, a few instructions for 64 bytes; where a quote stands in the
 * middle of an unquoted field or text behind a closing one, those 64 bytes are gone through one by one.
 */
#ifndef TESSERA_LOADER_TEXT_TEXT_SCAN_H
#define TESSERA_LOADER_TEXT_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Written beyond what is found, so that a chunk's ends need no loop. */
#define TEXT_INDEX_PADDING 64u

/* `ends`: ascending offsets of the delimiters and newlines that are not inside quotes. `rows`: for each newline among
 * them, its place in `ends`. Text that does not end with such a newline has one more of both, at its length. */
struct text_index {
    uint32_t *ends, *rows; /* room for length + TEXT_INDEX_PADDING each */
    uint32_t end_count, row_count;
    bool quotes, high_bytes, zero_bytes; /* whether there are any */
};

/* length < 2^31. Not `quoting`: a quote is a character like others. */
typedef void text_scan_index(const char *text, size_t length, char delimiter, bool quoting,
                             struct text_index *index);

struct text_whole {
    size_t bytes;    /* up to and with the last newline that is not inside quotes; 0 if there is none */
    uint64_t lines;  /* newlines in those bytes, those inside quotes included */
    uint64_t all;    /* newlines in all of the text */
    bool open_quote; /* the text ends inside quotes */
};
typedef struct text_whole text_scan_whole(const char *text, size_t length, char delimiter, bool quoting);

extern text_scan_index text_scan_index_baseline;
extern text_scan_whole text_scan_whole_baseline;
#if defined(__x86_64__)
extern text_scan_index text_scan_index_avx2, text_scan_index_avx512;
extern text_scan_whole text_scan_whole_avx2, text_scan_whole_avx512;
#endif

#endif
