/* workload.h: reads `--workload FILE` of a load: which columns the conditions of a file of statements name. */
#ifndef TESSERA_LOADER_TABLE_WORKLOAD_H
#define TESSERA_LOADER_TABLE_WORKLOAD_H

#include "loader/table/table_loader.h"
#include "storage/database/writer.h"

/* `conditions` points into it. */
struct workload {
    struct cluster_workload conditions;
    char *text; /* of the names */
    const char **names;
    uint32_t *statements;
};

/* Reads the statements, which are separated by semicolons. STATUS_BAD_INPUT, naming the file, if it is no SQL, or if no
 * condition in it names a column of the schema. Free it in any case. */
NODISCARD enum status workload_read(const char *path, const struct schema_script *schema,
                                    struct workload *workload, struct error *error);
void workload_free(struct workload *workload);

#endif
