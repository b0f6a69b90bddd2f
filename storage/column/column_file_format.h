/* column_file_format.h: the fixed parts of a column file as C structs. Only its reader and its writer include
 * it; column_file.h draws the format. */
#ifndef TESSERA_STORAGE_COLUMN_COLUMN_FILE_FORMAT_H
#define TESSERA_STORAGE_COLUMN_COLUMN_FILE_FORMAT_H

#include "storage/column/column_file.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Files are little-endian and mapped as they are: this machine would need a swapping reader."
#endif

#define HEADER_MAGIC  "TSRACOLM"
#define TRAILER_MAGIC "TSRAEND."

struct file_header {
    char magic[8];
    uint32_t version;
    uint32_t kind;
    uint64_t generation;
    uint32_t codec;
    uint32_t value_bytes;
    uint64_t rows;
    uint32_t part_count;
    uint32_t reserved;
    uint64_t directory_offset;
    uint64_t file_bytes;
    char table[NAME_BYTES];
    char column[NAME_BYTES];
    uint8_t zero[3896];
    uint64_t checksum;
};

struct file_trailer {
    uint64_t directory_checksum;
    uint64_t header_checksum;
    uint64_t file_bytes;
    char magic[8];
};

_Static_assert(sizeof(struct file_header) == COLUMN_FILE_HEADER_BYTES, "the header is one page");
_Static_assert(sizeof(struct file_trailer) == 32, "the trailer is 32 bytes");
_Static_assert(sizeof(struct column_part) == 40, "a directory entry is 40 bytes");
_Static_assert(NAME_BYTES == 64, "names have 64 bytes on disk");

#endif
