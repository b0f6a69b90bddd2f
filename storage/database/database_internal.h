/* database_internal.h: an open database, for those who open, read and extend it. */
#ifndef TESSERA_STORAGE_DATABASE_DATABASE_INTERNAL_H
#define TESSERA_STORAGE_DATABASE_DATABASE_INTERNAL_H

#include "storage/column/side_file.h"
#include "storage/database/catalogue.h"
#include "storage/database/database.h"

#include <pthread.h>

struct stored_dictionary {
    struct dictionary dictionary; /* points into the file's map */
    struct column_file *file;
};

/* A column that was opened and stays so until the database is closed: a statement that is planned in a millisecond
 * should not wait for checksums. */
struct kept_column {
    struct column_data *data;
    struct kept_column *next;
};

struct database {
    char *path;
    struct catalogue catalogue;
    pthread_mutex_t lock;     /* over the next */
    struct kept_column *kept; /* columns that were opened */
    int held; /* the catalogue's file, which keeps the files that it names (database_files.h) */
    struct stored_dictionary *dictionaries; /* those of all string columns */
    uint32_t dictionary_count;
};

#endif
