/* database_internal.h: an open database, for the files that open, read and extend it. */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_INTERNAL_H
#define TESSERA_STORAGE_DATABASE_DATABASE_INTERNAL_H

#include "storage/column/dictionary/stored_dictionary.h"
#include "storage/column/levels_file.h"
#include "storage/database/catalogue.h"
#include "storage/database/database.h"

#include <pthread.h>

/* A column that stays open until the database is closed, so that only the first statement that reads it waits
 * for checksums. */
struct kept_column {
    struct column_data *data;
    struct kept_column *next;
};

/* An index that stays open likewise. */
struct kept_index {
    struct index_data *data;
    struct kept_index *next;
};

struct kept_array; /* kept_arrays.h */
struct kept_arrays {
    struct kept_array *first; /* used last */
    uint64_t all, unused;     /* bytes */
    uint64_t most;            /* that `unused` may be; 0: not known yet */
};

struct database {
    char *path;
    struct catalogue catalogue;
    pthread_mutex_t lock;     /* protects the lists of what is open */
    struct kept_column *kept; /* the open columns */
    struct kept_index *indexes;
    struct kept_arrays arrays;
    int held; /* the catalogue's descriptor; its lock keeps the files (database_files.h) */
    struct stored_dictionary *dictionaries; /* of all string columns, opened when they are first needed */
    uint32_t dictionary_count;
    struct stored_levels *levels; /* one a table, read likewise */
    struct database_companion *companion;
};

/* Opens a database whose catalogue is to be a copy of this one, which is not on disk, though all of its files are. Nothing
 * keeps these files: the caller is the writer that made the catalogue. */
NODISCARD enum status database_open_catalogue(const char *path, const struct catalogue *catalogue,
                                              struct database **database, struct error *error);

#endif
