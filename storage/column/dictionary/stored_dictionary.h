/*
 * stored_dictionary.h: the dictionary of a column's side file: written plain or in blocks, and read when somebody
 * needs its strings.
 *
 * Opening a database opens every dictionary and tells how many strings it has; that takes some pages of each file. Most
 * statements name few of the columns, so the strings are checked and decoded when a statement first does.
 */
#ifndef TESSERA_STORAGE_COLUMN_DICTIONARY_STORED_DICTIONARY_H
#define TESSERA_STORAGE_COLUMN_DICTIONARY_STORED_DICTIONARY_H

#include "storage/column/column.h"
#include "storage/column/column_file.h"
#include "storage/column/dictionary/dictionary_blocks.h"

#include <pthread.h>

/* A dictionary of less is written plain: it would hardly be smaller, and older programs can read it. */
#define DICTIONARY_PLAIN_BYTES 4096u

struct stored_dictionary {
    struct dictionary dictionary; /* its `count` is known; its strings after dictionary_load */
    struct column_file *file;
    uint64_t disk_bytes;             /* of its two parts, with their padding */
    uint64_t text_bytes;             /* of its strings */
    struct dictionary_blocks blocks; /* in the file; without a directory if it is plain */
    pthread_mutex_t lock;            /* of loading */
    _Atomic bool loaded;
    void *memory; /* what was decoded */
};

/* Opens the dictionary of a column that has one, in the column's side file. It must not be moved while it is open.
 * STATUS_BAD_INPUT if it is missing or its sizes do not fit. */
NODISCARD enum status stored_dictionary_open(const char *directory, const struct column *column,
                                             struct stored_dictionary *stored, struct error *error);

/* Legal for one that is all zeros, or could not be opened. */
void stored_dictionary_close(struct stored_dictionary *stored);

/* The bytes of its strings and their starts. */
uint64_t stored_dictionary_memory(const struct stored_dictionary *stored);

/* Writes a sorted dictionary into a side file, in blocks if that is smaller, and tells which. */
NODISCARD enum status stored_dictionary_write(struct column_file_writer *side,
                                              const struct dictionary *dictionary, bool *blocks,
                                              struct error *error);

#endif
