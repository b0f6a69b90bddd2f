/*
 * text_scan.h: finds the ends of fields and rows of delimited text, and those of objects in JSON, 64 bytes at a time.
 *
 * Every byte of every file is scanned twice: once under the source's lock, to find the last whole row
 * (text_scan_whole), and once by the thread that splits the block (text_scan_index). Both are built for each
 * instruction set (storage/base/isa.h) and run at about the speed of the second-level cache; text_rows.h
 * picks the machine's version.
 *
 * Quotes are found as in text_source.h: a field is quoted if it begins with a quote. In text that follows RFC
 * 4180, the parity of the quotes before a byte tells whether it is inside quotes, which takes a few
 * instructions for 64 bytes. If a quote is in the middle of an unquoted field, or text comes after a closing
 * quote, those 64 bytes are scanned one by one.
 */
#ifndef TESSERA_LOADER_TEXT_TEXT_SCAN_H
#define TESSERA_LOADER_TEXT_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Entries that may be written after the last one, so that a chunk's ends need no loop. */
#define TEXT_INDEX_PADDING 64u

/* `ends` has the ascending offsets of the delimiters and newlines that are not inside quotes. `rows` has, for
 * each of these newlines, its place in `ends`. Text that does not end with such a newline has one more entry
 * in both, at its length. */
struct text_index {
    uint32_t *ends, *rows; /* room for length + TEXT_INDEX_PADDING each */
    uint32_t end_count, row_count;
    bool quotes, high_bytes, zero_bytes; /* whether there are any */
};

/* `length` is below 2^31. Without `quoting`, a quote is an ordinary character. */
typedef void text_scan_index(const char *text, size_t length, char delimiter, bool quoting,
                             struct text_index *index);

struct text_whole {
    size_t bytes;    /* to the end of the last newline that is not inside quotes; 0 if there is none */
    uint64_t lines;  /* all newlines in these bytes, also inside quotes */
    uint64_t all;    /* all newlines in the text */
    bool open_quote; /* the text ends inside quotes */
};
typedef struct text_whole text_scan_whole(const char *text, size_t length, char delimiter, bool quoting);

/* What is known of JSON before a byte; all zeros at its beginning. */
struct text_brackets {
    bool inside, escaped; /* a string; and the byte before is a backslash that stands for the next one */
    uint32_t depth;
};

/* Finds the ends of the objects and lists that are in no other one: the places after the brackets that close them, which
 * `ends` gets, with room for length + TEXT_INDEX_PADDING, unless it is NULL. Returns how many there are; *last is the last one. */
typedef uint32_t text_scan_brackets(const char *text, size_t length, struct text_brackets *state,
                                    uint32_t *ends, size_t *last);

extern text_scan_index text_scan_index_baseline;
extern text_scan_whole text_scan_whole_baseline;
extern text_scan_brackets text_scan_brackets_baseline;
#if defined(__x86_64__)
extern text_scan_index text_scan_index_avx2, text_scan_index_avx512;
extern text_scan_whole text_scan_whole_avx2, text_scan_whole_avx512;
extern text_scan_brackets text_scan_brackets_avx2, text_scan_brackets_avx512;
#endif

#endif
