/*
 * snappy_write.h: compresses in Snappy's format, for pages of Parquet. The library's own function is not used: it needs
 * memory, and where there is none it throws an exception of C++, which ends the program.
 *
 *     the length of the plain bytes, 7 bits a byte, the lowest first; the high bit says that more follow
 *     elements, by the two low bits of their first byte:
 *     0   a literal: the high six bits are its length - 1 below 60; 60 and 61: that is in the next one or two bytes
 *     1   a copy of 4 to 11 bytes: bits 2-4 its length - 4, bits 5-7 and the next byte how far back it begins, below 2048
 *     2   a copy of 1 to 64 bytes: bits 2-7 its length - 1, the next two bytes how far back, the low one first
 *
 * https://github.com/google/snappy/blob/main/format_description.txt
 */
#ifndef TESSERA_ENGINE_ANSWER_PARQUET_SNAPPY_WRITE_H
#define TESSERA_ENGINE_ANSWER_PARQUET_SNAPPY_WRITE_H

#include <stddef.h>

/* The most bytes that `length` bytes may become: literals of 64 KiB have three bytes more each. */
size_t snappy_write_bound(size_t length);

/* Writes the bytes, at most 4 GiB, compressed to `out`, and returns how many these are. It takes 32 KiB of the stack. */
size_t snappy_write(const char *bytes, size_t length, char *out);

#endif
