/*
 * stored_dictionary.h: the dictionary of a column's side file: written plain or in blocks, and read when somebody
 * needs its strings.
 *
 * Opening a database opens none of them. Most statements name few of the columns, so the file is opened, and the strings
 * are checked and decoded, when a statement first does.
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
    const char *directory; /* the database's */
    const struct column *column;
    pthread_mutex_t lock; /* of opening and loading */
    _Atomic bool opened, loaded;

    /* After stored_dictionary_open: */
    struct dictionary dictionary; /* its strings after stored_dictionary_load */
    struct column_file *file;
    uint64_t disk_bytes;             /* of its two parts, with their padding */
    uint64_t text_bytes;             /* of its strings */
    struct dictionary_blocks blocks; /* in the file; without a directory if it is plain */

    void *memory; /* what was decoded */
};

/* Tells where the dictionary of a column that has one is; touches no file. It must not be moved until it is closed, and
 * `directory` and `column` must outlive it. */
void stored_dictionary_begin(const char *directory, const struct column *column,
                             struct stored_dictionary *stored);

/* Opens the column's side file, if nobody has yet: then the number of strings and the sizes are known. NULL is legal.
 * STATUS_BAD_INPUT if the dictionary is missing or its sizes do not fit. Thread-safe. */
NODISCARD enum status stored_dictionary_open(struct stored_dictionary *stored, struct error *error);

/* Opens it and reads the strings, if nobody has yet, on `threads` threads (0: all). STATUS_CHECK_FAILED or
 * STATUS_BAD_INPUT for a damaged file. Thread-safe. */
NODISCARD enum status stored_dictionary_load(struct stored_dictionary *stored, unsigned threads,
                                             struct error *error);

/* Legal for one that is all zeros. */
void stored_dictionary_close(struct stored_dictionary *stored);

/* The bytes of its strings and their starts, once it is open. */
uint64_t stored_dictionary_memory(const struct stored_dictionary *stored);

/* Writes a sorted dictionary into a side file, in blocks if that is smaller, and tells which. */
NODISCARD enum status stored_dictionary_write(struct column_file_writer *side,
                                              const struct dictionary *dictionary, bool *blocks,
                                              struct error *error);

#endif
