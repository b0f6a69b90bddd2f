/* load.c: the loads of tessera.h, of files, Arrow streams and values in memory, over the loader. */
#define _POSIX_C_SOURCE 200809L
#include "engine/library/arrow_export.h"
#include "engine/library/library.h"
#include "engine/run/engine.h"
#include "loader/input_files.h"
#include "loader/table/table_loader.h"
#include "storage/base/memory.h"
#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

static enum status load_inputs(const char *path, const char *schema, const struct load_input *inputs,
                               uint32_t count, enum tessera_load_mode mode, uint64_t *rows,
                               struct error *error)
{
    struct schema_script parsed;
    struct load_report report = {0};
    if (!schema && mode != TESSERA_LOAD_APPEND)
        return error_set(error, STATUS_BAD_INPUT, "a load needs a schema, but for rows that are appended");
    engine_choose_by_device();
    RETURN_IF_ERROR(!schema ? schema_script_stored(path, &parsed, error)
                            : schema_script_parse("schema", schema, strlen(schema), &parsed, error));
    const struct load_options options = {.directory = path,
                                         .inputs = inputs,
                                         .input_count = count,
                                         .replace = mode == TESSERA_LOAD_REPLACE,
                                         .append = mode == TESSERA_LOAD_APPEND};
    struct execution call = {.outer = NULL};
    library_threads_enter();
    library_call_begin(&call);
    const enum status status = tables_load(&parsed, &options, &report, NULL, error);
    execution_leave(&call);
    library_threads_leave();
    schema_script_free(&parsed);
    if (rows)
        *rows = report.rows;
    return status;
}

/* The files of all tables. A table that stands several times has the files of all of its words. */
struct load_files {
    struct input_files files;
    struct load_input *inputs;
    char **words; /* copies, which `files` needs */
    uint32_t input_count, word_count;
};

static enum status find_files(struct load_files *load, const char *const *tables, const char *const *words,
                              uint32_t count, struct error *error)
{
    RETURN_IF_ERROR(memory_zeros(&load->inputs, (count + 1ull) * sizeof *load->inputs, "a load", error));
    RETURN_IF_ERROR(memory_zeros(&load->words, (count + 1ull) * sizeof *load->words, "a load", error));
    for (uint32_t i = 0; i < count; i++) {
        bool again = false;
        for (uint32_t before = 0; before < i; before++)
            again |= word_compare(tables[before], tables[i]) == 0;
        if (again)
            continue;
        struct load_input *const input = &load->inputs[load->input_count++];
        const uint32_t first = load->files.count;
        *input = (struct load_input){.table = tables[i], .paths = &load->files.paths[first]};
        for (uint32_t w = i; w < count; w++) {
            if (word_compare(tables[w], tables[i]) != 0)
                continue;
            char *const word = strdup(words[w]);
            if (!word)
                return error_out_of_memory(error, strlen(words[w]), "a load");
            load->words[load->word_count++] = word;
            RETURN_IF_ERROR(input_files_add(&load->files, word, error));
        }
        input->path_count = load->files.count - first;
    }
    return STATUS_OK;
}

enum tessera_status tessera_load(const char *path, const char *schema, const char *const *tables,
                                 const char *const *files, uint32_t count, enum tessera_load_mode mode,
                                 uint64_t *rows, struct tessera_error *error)
{
    struct error inner = {0};
    struct load_files *load;
    enum status status = memory_zeros(&load, sizeof *load, "a load", &inner);
    if (status != STATUS_OK)
        return library_give(status, &inner, error);
    status = find_files(load, tables, files, count, &inner);
    status = AND_THEN(status, load_inputs(path, schema, load->inputs, load->input_count, mode, rows, &inner));
    for (uint32_t w = 0; w < load->word_count; w++)
        free(load->words[w]);
    input_files_free(&load->files);
    free(load->words);
    free(load->inputs);
    free(load);
    return library_give(status, &inner, error);
}

enum tessera_status tessera_load_arrow(const char *path, const char *schema, const char *const *tables,
                                       struct ArrowArrayStream *const *streams, uint32_t count,
                                       enum tessera_load_mode mode, uint64_t *rows,
                                       struct tessera_error *error)
{
    struct error inner = {0};
    struct load_input *inputs = calloc(count + 1, sizeof *inputs);
    for (uint32_t i = 0; inputs && i < count; i++)
        inputs[i] = (struct load_input){.table = tables[i], .stream = streams[i]};
    const enum status status = inputs ? load_inputs(path, schema, inputs, count, mode, rows, &inner)
                                      : error_out_of_memory(&inner, count * sizeof *inputs, "a load");
    for (uint32_t i = 0; i < count; i++)
        if (streams[i]->release)
            streams[i]->release(streams[i]); /* the load ended before it read this stream */
    free(inputs);
    return library_give(status, &inner, error);
}

enum tessera_status tessera_load_rows(const char *path, const char *schema, const char *table,
                                      const struct tessera_values *columns, uint32_t column_count,
                                      uint64_t count, enum tessera_load_mode mode,
                                      struct tessera_error *error)
{
    struct error inner = {0};
    struct ArrowArrayStream stream = {0};
    const struct load_input input = {.table = table, .stream = &stream};
    enum status status = arrow_export_values(columns, column_count, count, &stream, &inner);
    status = AND_THEN(status, load_inputs(path, schema, &input, 1, mode, NULL, &inner));
    if (stream.release)
        stream.release(&stream);
    return library_give(status, &inner, error);
}
