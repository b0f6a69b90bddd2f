/* string_table.c: see string_table.h. */
#include "engine/plan/functions/string_table.h"

#include "engine/plan/expression_vector.h"
#include "engine/plan/functions/string_pieces.h"
#include "storage/base/memory.h"
#include "storage/base/hash_table.h"
#include "storage/base/parallel.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A thread is worth its start, which takes as long as some thousand values. */
#define VALUES_A_THREAD 4096u

/* After so many strings a thread sees whether they repeat: if less than an eighth does, it looks for no more. Strings of
 * rows are looked for longer, unless all of the first are different. */
#define STRINGS_TRIED      4096u
#define STRINGS_TRIED_LONG 65536u

/* What one thread computes. */
struct string_worker {
    struct string_call call; /* with numbers of its own */
    void *own;               /* of the source */
    unsigned thread;
    bool open;
    struct string_buffer buffer;
    uint64_t *starts; /* where its strings begin in the buffer; one more than there are strings */
    uint32_t string_count, string_room;
    struct hash_table index; /* of the strings */
    uint32_t seen;           /* strings with those that repeat */
    bool repeats;            /* struct string_source */
    bool tired;              /* they do not repeat */
};

/* Of a string, the value is its number among its thread's strings, and the thread from bit 32 on. */
struct table_work {
    const struct string_source *source;
    const struct string_call *call;
    int64_t *values;
    struct string_worker *workers;
    unsigned threads;
    int64_t *codes;   /* of all strings, thread by thread */
    uint64_t *firsts; /* the first of each thread's */
};

/* ---- Computing ---- */

struct string_sought {
    const struct string_worker *worker;
    uint64_t start, length;
};

static bool same_string(const void *context, uint32_t number)
{
    const struct string_sought *sought = context;
    const struct string_worker *worker = sought->worker;
    const uint64_t start = worker->starts[number];
    return worker->starts[number + 1] - start == sought->length &&
           (sought->length == 0 ||
            memcmp(worker->buffer.bytes + start, worker->buffer.bytes + sought->start, sought->length) == 0);
}

static bool do_not_repeat(const struct string_worker *worker)
{
    const uint32_t seen = worker->seen,
                   most = worker->repeats && seen == STRINGS_TRIED ? seen - 1 : seen / 8 * 7;
    return worker->string_count > most;
}

/* Keeps the string that the buffer has from `start` on, unless the worker has it already, and gives its number. */
static enum status keep_string(struct string_worker *worker, uint64_t start, uint32_t *number,
                               struct error *error)
{
    const struct string_sought sought = {worker, start, worker->buffer.used - start};
    uint64_t hash = 0;
    if (worker->seen == STRINGS_TRIED || worker->seen == STRINGS_TRIED_LONG)
        worker->tired = do_not_repeat(worker);
    worker->seen += worker->seen < UINT32_MAX;
    if (!worker->tired) {
        hash = sought.length ? XXH3_64bits(worker->buffer.bytes + start, sought.length) : 0;
        *number = hash_table_find(&worker->index, hash, same_string, &sought);
        if (*number != HASH_TABLE_NONE) {
            worker->buffer.used = start;
            return STATUS_OK;
        }
        RETURN_IF_ERROR(hash_table_add(&worker->index, hash, worker->string_count, error));
    }
    if (worker->string_count + 1 >= worker->string_room) {
        const uint32_t room = 2 * worker->string_room + 1024;
        RETURN_IF_ERROR(memory_grow(&worker->starts, room * sizeof *worker->starts, "strings", error));
        worker->string_room = room;
        worker->starts[0] = 0;
    }
    *number = worker->string_count++;
    worker->starts[worker->string_count] = worker->buffer.used;
    return STATUS_OK;
}

static enum status compute(struct table_work *work, struct string_worker *worker, uint64_t number,
                           struct error *error)
{
    struct string_value strings[STRINGS_MAX];
    struct string_result result = {.text = &worker->buffer, .error = error};
    const uint64_t start = worker->buffer.used;
    uint32_t string;
    work->values[number] = INT64_MIN;
    if (!work->source->arguments(work->source->context, worker->own, number, &worker->call, strings))
        return STATUS_OK;
    worker->call.body(&worker->call, strings, &result);
    RETURN_IF_ERROR(result.status);
    if (worker->buffer.failed || worker->buffer.used - start > INT32_MAX)
        return error_out_of_memory(error, worker->buffer.used, "the results of a function");
    if (result.null || worker->call.type.kind != VALUE_STRING) {
        worker->buffer.used = start;
        work->values[number] = result.null ? INT64_MIN : result.number;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(keep_string(worker, start, &string, error));
    work->values[number] = (int64_t)((uint64_t)worker->thread << 32 | string);
    return STATUS_OK;
}

static enum status worker_open(const struct table_work *work, struct string_worker *worker, unsigned thread,
                               struct error *error)
{
    if (worker->open)
        return STATUS_OK;
    worker->open = true;
    worker->call = *work->call;
    worker->thread = thread;
    worker->repeats = work->source->repeats;
    return work->source->open ? work->source->open(work->source->context, &worker->own, error) : STATUS_OK;
}

/* Computes VECTOR_ROWS values. */
static enum status compute_some(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct table_work *work = context;
    struct string_worker *worker = &work->workers[thread];
    const uint64_t first = item * VECTOR_ROWS, left = work->source->count - first,
                   end = left < VECTOR_ROWS ? work->source->count : first + VECTOR_ROWS;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(worker_open(work, worker, thread, error));
    if (work->source->begin)
        work->source->begin(work->source->context, worker->own, first, (uint32_t)(end - first));
    for (uint64_t number = first; number < end; number++)
        RETURN_IF_ERROR(compute(work, worker, number, error));
    return STATUS_OK;
}

/* ---- The dictionary of results ---- */

static enum status code_some(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct table_work *work = context;
    const uint64_t first = item * VECTOR_ROWS, left = work->source->count - first,
                   end = left < VECTOR_ROWS ? work->source->count : first + VECTOR_ROWS;
    (void)thread;
    (void)error;
    for (uint64_t number = first; number < end; number++) {
        const uint64_t value = (uint64_t)work->values[number];
        if (work->values[number] != INT64_MIN)
            work->values[number] = work->codes[work->firsts[value >> 32] + (uint32_t)value];
    }
    return STATUS_OK;
}

static void take_pieces(const struct table_work *work, struct piece *pieces)
{
    for (unsigned w = 0; w < work->threads; w++) {
        const struct string_worker *worker = &work->workers[w];
        const char *const bytes = worker->buffer.bytes ? worker->buffer.bytes : "";
        for (uint32_t s = 0; s < worker->string_count; s++)
            pieces[work->firsts[w] + s] =
                (struct piece){.text = bytes + worker->starts[s],
                               .length = (uint32_t)(worker->starts[s + 1] - worker->starts[s]),
                               .number = (uint32_t)work->firsts[w] + s};
    }
}

/* Makes the dictionary of all strings, and their codes the values. */
static enum status make_dictionary(struct expression_list *list, struct table_work *work, uint64_t items,
                                   const struct dictionary **dictionary, struct error *error)
{
    struct piece *pieces = NULL;
    uint64_t count = 0;
    RETURN_IF_ERROR(
        memory_take(&work->firsts, work->threads * sizeof *work->firsts, "the results of a function", error));
    for (unsigned w = 0; w < work->threads; w++) {
        work->firsts[w] = count;
        count += work->workers[w].string_count;
    }
    if (count > INT32_MAX)
        return error_set(error, STATUS_BAD_INPUT, "a function has more than %d different results", INT32_MAX);
    RETURN_IF_ERROR(memory_take(&pieces, (count + 1) * sizeof *pieces, "the results of a function", error));
    enum status status =
        memory_take(&work->codes, (count + 1) * sizeof *work->codes, "the results of a function", error);
    if (status == STATUS_OK) {
        take_pieces(work, pieces);
        status = expression_dictionary_of_pieces(list, pieces, count, work->codes, dictionary, error);
    }
    free(pieces);
    RETURN_IF_ERROR(status);
    return parallel_for(work->threads, items, code_some, work, error);
}

/* ---- The node ---- */

/* Truth values become the set of what is true. */
static enum status add_set(struct expression_list *list, int64_t *values, uint64_t count, uint32_t child,
                           uint32_t *index, struct error *error)
{
    uint64_t members = 0;
    for (uint64_t i = 0; i < count; i++)
        if (values[i] > 0)
            values[members++] = (int64_t)i;
    return expression_in_set(list, child, values, members, index, error);
}

static enum status make_values(struct expression_list *list, struct table_work *work, struct value_type *type,
                               struct error *error)
{
    const uint64_t items = (work->source->count + VECTOR_ROWS - 1) / VECTOR_ROWS;
    RETURN_IF_ERROR(memory_zeros(&work->workers, work->threads * sizeof *work->workers,
                                 "the results of a function", error));
    RETURN_IF_ERROR(memory_take(&work->values, (work->source->count + 1) * sizeof *work->values,
                                "the results of a function", error));
    RETURN_IF_ERROR(parallel_for(work->threads, items, compute_some, work, error));
    return type->kind == VALUE_STRING ? make_dictionary(list, work, items, &type->dictionary, error)
                                      : STATUS_OK;
}

static void work_end(struct table_work *work)
{
    for (unsigned w = 0; work->workers && w < work->threads; w++) {
        struct string_worker *worker = &work->workers[w];
        if (work->source->close && worker->own)
            work->source->close(worker->own);
        hash_table_free(&worker->index);
        free(worker->starts);
        free(worker->buffer.bytes);
    }
    free(work->workers);
    free(work->values);
    free(work->codes);
    free(work->firsts);
}

enum status string_table(struct expression_list *list, const struct string_call *call,
                         const struct string_source *source, uint32_t child, uint32_t *index,
                         struct error *error)
{
    const unsigned most = list->threads ? list->threads : parallel_threads_available();
    const uint64_t worth = 1 + source->count / VALUES_A_THREAD;
    struct table_work work = {
        .source = source, .call = call, .threads = worth < most ? (unsigned)worth : most};
    struct value_type type = call->type;
    enum status status = make_values(list, &work, &type, error);
    int64_t *const values = work.values;
    if (status == STATUS_OK)
        work.values = NULL;
    work_end(&work);
    RETURN_IF_ERROR(status);
    return type.kind == VALUE_BOOLEAN
               ? add_set(list, values, source->count, child, index, error)
               : expression_lookup(list, child, type, values, source->count, index, error);
}
