/* result_text.h: an answer as text, a value a line, for threads that compare answers. The caller frees it. */
#ifndef TESSERA_TESTS_ENGINE_LIBRARY_RESULT_TEXT_H
#define TESSERA_TESTS_ENGINE_LIBRARY_RESULT_TEXT_H

#include "engine/library/tessera.h"

#include <stdio.h>

static inline char *text_of(struct tessera_result *result)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    for (uint64_t row = 0; row < tessera_rows(result); row++)
        for (uint32_t column = 0; column < tessera_columns(result); column++) {
            uint32_t length;
            const char *const value = tessera_text(result, column, row, &length);
            fprintf(out, "%.*s\n", value ? (int)length : 4, value ? value : "NULL");
        }
    fclose(out);
    return text;
}

#endif
