/* library_number.h: statements through tessera.h whose answer is a number. */
#ifndef TESSERA_TESTS_SUPPORT_LIBRARY_NUMBER_H
#define TESSERA_TESTS_SUPPORT_LIBRARY_NUMBER_H

#include "engine/library/tessera.h"

static struct tessera_error error; /* of the last call */

/* Runs a statement; its answer is one number, or the call fails so. */
static inline int64_t number_of(struct tessera_database *database, const char *sql,
                                enum tessera_status expected)
{
    struct tessera_statement *statement;
    struct tessera_result *result = NULL;
    enum tessera_status status = tessera_prepare(database, sql, &statement, &error);
    if (status == TESSERA_OK) {
        status = tessera_run(statement, &result, &error);
        tessera_finalize(statement);
    }
    if (status != expected)
        fail_msg("%s: %d: %s", sql, (int)status, error.text);
    if (status != TESSERA_OK)
        return -1;
    const int64_t number = tessera_int64(result, 0, 0);
    tessera_result_free(result);
    return number;
}

#endif
