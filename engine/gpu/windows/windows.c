/* windows.c: see windows.h. */
#include "engine/gpu/windows/windows.h"

#include "engine/cuda/ahead.h"
#include "engine/gpu/device.h"
#include "engine/gpu/rows/rows.h"
#include "engine/gpu/run_internal.h"
#include "engine/gpu/sort/radix_sort.h"
#include "storage/base/status.h"
#include "storage/base/decimal.h"
#include "storage/base/memory.h"

#include <string.h>

#define MODULE_NAME "window"

/* Blocks of a multiprocessor: all that are resident. */
#define BLOCKS 8u

#define WORD_BITS 64u

struct windows {
    struct cuda *cuda;
    struct device *device;
    struct device_rows *rows;
    const struct device_window *of; /* the function that is computed */
    struct cuda_module *module;
    uint64_t lent;
    struct cuda_function *keys, *sorted, *add, *before, *prefix, *lists, *leaves, *nodes, *values;
    struct cuda_radix_sort sort;
    const struct device_window *ordered; /* a function of the order that is made; or NULL */
    cuda_address memory, scratch;        /* of the order; the second is a part of the first */
    struct cuda_pairs pairs;
    uint32_t bits[WINDOW_TERMS_MAX]; /* of each word */
    struct window_work work;
};

/* ---- Which ones ---- */

/* The codes of a term are 0 .. *last; false: they do not fit a word. */
static bool code_of(const struct device_column *column, uint64_t *last)
{
    const uint64_t span = column->low > column->high ? 0 : (uint64_t)column->high - (uint64_t)column->low;
    *last = span + (column->validity != 0);
    return span < UINT64_MAX / 2 && column->type.kind != VALUE_DOUBLE;
}

static int64_t scale_of(const struct device_column *column)
{
    return (int64_t)power_of_ten(column->type.scale);
}

/* The sum of any rows is less than `most`. */
static bool sum_fits(const struct device_rows *rows, const struct device_column *column, int64_t most)
{
    const __int128 low = (__int128)column->low * (int64_t)rows->rows,
                   high = (__int128)column->high * (int64_t)rows->rows;
    return column->type.kind == VALUE_INTEGER && low > -most && high < most;
}

static bool is_possible(const struct device_rows *rows, const struct device_window *window)
{
    const struct device_column *const argument =
        window->has_argument ? &rows->columns[window->argument] : NULL;
    uint64_t last;
    for (uint32_t t = 0; t < window->term_count; t++)
        if (!code_of(&rows->columns[window->terms[t].column], &last))
            return false;
    if (window->result == WINDOW_GIVES_SUM)
        return sum_fits(rows, argument, INT64_MAX);
    if (window->result == WINDOW_GIVES_AVERAGE)
        return sum_fits(rows, argument, WINDOW_EXACT) &&
               (int64_t)rows->rows <= WINDOW_EXACT / scale_of(argument);
    if (window->result == WINDOW_GIVES_MIN || window->result == WINDOW_GIVES_MAX)
        return argument->type.kind != VALUE_DOUBLE && argument->low > INT64_MIN && argument->high < INT64_MAX;
    return true;
}

/* ---- Kernels ---- */

static enum status open_kernels(struct windows *windows, struct error *error)
{
    const struct {
        const char *name;
        struct cuda_function **function;
    } functions[] = {{"window_keys", &windows->keys},     {"window_sorted", &windows->sorted},
                     {"window_add", &windows->add},       {"window_before", &windows->before},
                     {"window_prefix", &windows->prefix}, {"window_lists", &windows->lists},
                     {"window_leaves", &windows->leaves}, {"window_nodes", &windows->nodes},
                     {"window_values", &windows->values}};
    RETURN_IF_ERROR(cuda_modules_take_ahead(windows->device->modules, MODULE_NAME, &windows->lent,
                                            &windows->module, error));
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++)
        RETURN_IF_ERROR(cuda_module_function(windows->cuda, windows->module, functions[f].name,
                                             functions[f].function, error));
    return cuda_radix_sort_open(windows->cuda, windows->device->modules, &windows->sort, error);
}

static void close_kernels(struct windows *windows)
{
    struct cuda_graph *none = NULL;
    cuda_radix_sort_close(windows->cuda, windows->device->modules, &windows->sort);
    cuda_modules_give(windows->device->modules, MODULE_NAME, &windows->lent, &windows->module, &none);
    if (windows->module) { /* there was no memory to give it */
        cuda_modules_drop(windows->device->modules, windows->lent);
        cuda_module_unload(windows->cuda, windows->module);
    }
}

/* Launches a kernel over so many items, a thread each. */
static enum status launch(const struct windows *windows, struct cuda_function *function, uint64_t items,
                          void **arguments, struct error *error)
{
    const uint64_t blocks = (items + WINDOW_THREADS - 1) / WINDOW_THREADS,
                   most = (uint64_t)cuda_properties(windows->cuda)->multiprocessors * BLOCKS;
    return cuda_launch(windows->cuda, function, (unsigned)(blocks < most ? blocks : most), WINDOW_THREADS, 0,
                       arguments, error);
}

static enum status launch_work(struct windows *windows, struct cuda_function *function, struct error *error)
{
    void *arguments[] = {&windows->work};
    return launch(windows, function, windows->work.rows, arguments, error);
}

/* The sums before each place, or of marks those with it. */
static enum status add_up(struct windows *windows, uint32_t sum, cuda_address to, struct error *error)
{
    void *arguments[] = {&windows->work, &sum, &to};
    RETURN_IF_ERROR(launch(windows, windows->add, windows->work.rows, arguments, error));
    RETURN_IF_ERROR(cuda_launch(windows->cuda, windows->before, 1, WINDOW_BEFORE_THREADS,
                                WINDOW_BEFORE_THREADS / 32 * sizeof(uint64_t), arguments, error));
    return launch(windows, windows->prefix, windows->work.rows, arguments, error);
}

/* ---- Order ---- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static enum status make_memory(struct windows *windows, struct error *error)
{
    const uint64_t rows = windows->rows->rows, column = aligned((rows + 2) * sizeof(uint64_t)),
                   scratch = aligned(cuda_radix_sort_scratch(rows)),
                   sums = aligned((rows / WINDOW_PIECE + 1) * sizeof(uint64_t));
    RETURN_IF_ERROR(cuda_columns_allocate(windows->device->columns,
                                          4 * column + scratch + sums + sizeof(uint64_t), "a window's order",
                                          &windows->memory, error));
    windows->pairs = (struct cuda_pairs){windows->memory, windows->memory + column,
                                         windows->memory + 2 * column, windows->memory + 3 * column};
    windows->scratch = windows->memory + 4 * column;
    windows->work.sums = windows->scratch + scratch;
    windows->work.unsorted = windows->work.sums + sums;
    windows->work.rows = rows;
    return STATUS_OK;
}

static struct window_column column_at(const struct windows *windows, uint32_t column)
{
    const struct device_column *const of = &windows->rows->columns[column];
    return (struct window_column){
        .values = of->values, .validity = of->validity, .value_bytes = of->value_bytes};
}

/* Packs the terms into words, the last term lowest. */
static void pack_terms(struct windows *windows)
{
    struct window_work *const work = &windows->work;
    uint32_t word = 0, used = 0;
    work->term_count = windows->of->term_count;
    work->partition_terms = windows->of->partition_terms;
    work->order_bits = 0;
    memset(windows->bits, 0, sizeof windows->bits);
    for (uint32_t t = work->term_count; t-- > 0;) {
        const struct device_window_term *const term = &windows->of->terms[t];
        const struct device_column *const column = &windows->rows->columns[term->column];
        uint64_t last = 0;
        code_of(column, &last);
        const uint32_t bits = last ? WORD_BITS - (uint32_t)__builtin_clzll(last) : 0;
        if (used + bits > WORD_BITS) {
            word++;
            used = 0;
        }
        work->terms[t] = (struct window_code){.column = column_at(windows, term->column),
                                              .low = column->low,
                                              .span = last - (column->validity != 0),
                                              .shift = bits ? used : 0,
                                              .word = word,
                                              .descending = term->descending,
                                              .nulls_first = term->nulls_first};
        used += bits;
        windows->bits[word] = used;
        if (t >= work->partition_terms)
            work->order_bits = used;
    }
    work->last_word = word;
}

static enum status is_sorted(struct windows *windows, bool *sorted, struct error *error)
{
    uint32_t unsorted = 0;
    RETURN_IF_ERROR(cuda_set_words(windows->cuda, windows->work.unsorted, 0, 1, error));
    RETURN_IF_ERROR(launch_work(windows, windows->sorted, error));
    RETURN_IF_ERROR(
        cuda_copy_to_host(windows->cuda, &unsorted, windows->work.unsorted, sizeof unsorted, error));
    RETURN_IF_ERROR(cuda_synchronize(windows->cuda, error));
    *sorted = !unsorted;
    return STATUS_OK;
}

static enum status sort_word(struct windows *windows, uint32_t word, struct error *error)
{
    bool sorted;
    windows->work.word = word;
    windows->work.keys = windows->pairs.keys;
    windows->work.places = windows->pairs.values;
    RETURN_IF_ERROR(launch_work(windows, windows->keys, error));
    RETURN_IF_ERROR(is_sorted(windows, &sorted, error));
    if (!sorted)
        RETURN_IF_ERROR(cuda_radix_sort(windows->cuda, &windows->sort, &windows->pairs, windows->work.rows, 0,
                                        windows->bits[word], windows->scratch, error));
    windows->work.keys = windows->pairs.keys;
    windows->work.places = windows->pairs.values;
    return cancel_check(error);
}

static bool is_same_order(const struct device_window *a, const struct device_window *b)
{
    bool same = a && a->term_count == b->term_count && a->partition_terms == b->partition_terms;
    for (uint32_t t = 0; same && t < a->term_count; t++)
        same = a->terms[t].column == b->terms[t].column && a->terms[t].descending == b->terms[t].descending &&
               a->terms[t].nulls_first == b->terms[t].nulls_first;
    return same;
}

/* Makes the order of the function. When partitions and groups are numbered, the keys' memory has where they begin. */
static enum status make_order(struct windows *windows, struct error *error)
{
    struct window_work *const work = &windows->work;
    if (is_same_order(windows->ordered, windows->of))
        return STATUS_OK;
    windows->ordered = NULL;
    pack_terms(windows);
    for (uint32_t word = 0; word <= work->last_word; word++)
        RETURN_IF_ERROR(sort_word(windows, word, error));
    work->numbers = windows->pairs.other_keys;
    RETURN_IF_ERROR(add_up(windows, WINDOW_SUM_MARKS, work->numbers, error));
    work->partitions = windows->pairs.keys;
    work->groups = windows->pairs.other_values;
    RETURN_IF_ERROR(launch_work(windows, windows->lists, error));
    windows->ordered = windows->of;
    return STATUS_OK;
}

/* ---- Functions ---- */

static bool is_extreme(const struct device_window *window)
{
    return window->result == WINDOW_GIVES_MIN || window->result == WINDOW_GIVES_MAX;
}

/* Every frame has its own row. */
static bool frame_has_row(const struct device_window *window)
{
    return (window->begin.kind != WINDOW_EDGE_ROW || window->begin.rows <= 0) &&
           (window->end.kind != WINDOW_EDGE_ROW || window->end.rows >= 1);
}

static bool is_sum(const struct device_window *window)
{
    return window->result == WINDOW_GIVES_SUM || window->result == WINDOW_GIVES_AVERAGE;
}

/* Quotients of whole numbers up to WINDOW_EXACT: the least is 2^-53, and has 53 bits. */
#define QUOTIENT_TOP    54
#define QUOTIENT_FINEST (-106)

static bool is_quotient(const struct device_window *window)
{
    return window->result == WINDOW_GIVES_AVERAGE || window->result == WINDOW_GIVES_PERCENT_RANK ||
           window->result == WINDOW_GIVES_CUME_DIST;
}

/* The range of the result. */
static struct device_column range_of(const struct device_rows *rows, const struct device_window *of)
{
    const struct device_column *const argument = of->has_argument ? &rows->columns[of->argument] : NULL;
    const int64_t count = (int64_t)rows->rows;
    struct device_column range = {.low = 0, .high = count};
    if (is_quotient(of)) {
        range.low = double_key_of(-(double)WINDOW_EXACT);
        range.high = double_key_of((double)WINDOW_EXACT);
        range.bits = double_bits_of(QUOTIENT_FINEST, QUOTIENT_TOP);
    } else if (of->result == WINDOW_GIVES_NTILE) {
        range.high = of->number < count ? of->number : count;
    } else if (of->result == WINDOW_GIVES_SUM) {
        range.low = argument->low < 0 ? argument->low * count : 0;
        range.high = argument->high > 0 ? argument->high * count : 0;
    } else if (argument && of->result != WINDOW_GIVES_COUNT) {
        range = *argument;
    }
    return range;
}

static enum status add_result(struct windows *windows, struct error *error)
{
    const struct device_window *const of = windows->of;
    struct device_rows *const rows = windows->rows;
    const struct device_column range = range_of(rows, of);
    const bool nullable =
        of->has_argument && of->result != WINDOW_GIVES_COUNT &&
        (rows->columns[of->argument].validity || of->result == WINDOW_GIVES_MOVED || !frame_has_row(of));
    RETURN_IF_ERROR(cuda_rows_add(windows->cuda, rows, of->type, range.low, range.high, nullable, error));
    rows->columns[rows->column_count - 1].bits = range.bits;
    return STATUS_OK;
}

/* The bytes of memory for the sums before each place, or for the tree; and what is where. */
static uint64_t lay_out(struct windows *windows, cuda_address base)
{
    const struct device_window *const of = windows->of;
    const bool sums = is_sum(of), counts = (sums || of->result == WINDOW_GIVES_COUNT) && of->has_argument &&
                                           windows->work.argument.validity;
    const uint64_t column = aligned((windows->work.rows + 1) * sizeof(uint64_t));
    uint64_t bytes = 0, nodes = windows->work.rows;
    windows->work.counts = counts ? base + bytes : 0;
    bytes += counts ? column : 0;
    windows->work.values = sums ? base + bytes : 0;
    bytes += sums ? column : 0;
    for (uint32_t level = 0; is_extreme(of) && level < WINDOW_LEVELS_MAX; level++) {
        windows->work.tree[level] = base + bytes;
        bytes += aligned(nodes * sizeof(int64_t));
        nodes = (nodes + WINDOW_FAN - 1) / WINDOW_FAN;
    }
    return bytes;
}

static enum status make_tree(struct windows *windows, struct error *error)
{
    uint64_t count = windows->work.rows;
    RETURN_IF_ERROR(launch_work(windows, windows->leaves, error));
    for (uint32_t level = 1; count > 1; level++) {
        const uint64_t nodes = (count + WINDOW_FAN - 1) / WINDOW_FAN;
        void *arguments[] = {&windows->work, &level, &count};
        RETURN_IF_ERROR(launch(windows, windows->nodes, nodes, arguments, error));
        count = nodes;
    }
    return STATUS_OK;
}

static enum status compute(struct windows *windows, struct error *error)
{
    struct window_work *const work = &windows->work;
    if (work->counts)
        RETURN_IF_ERROR(add_up(windows, WINDOW_SUM_COUNT, work->counts, error));
    if (work->values)
        RETURN_IF_ERROR(add_up(windows, WINDOW_SUM_VALUES, work->values, error));
    if (is_extreme(windows->of))
        RETURN_IF_ERROR(make_tree(windows, error));
    return launch_work(windows, windows->values, error);
}

/* Computes the function of the order; *done is false if there is no memory. */
static enum status add_function(struct windows *windows, bool *done, struct error *error)
{
    const struct device_window *const of = windows->of;
    struct window_work *const work = &windows->work;
    cuda_address memory = 0;
    work->result = of->result;
    work->number =
        of->result == WINDOW_GIVES_AVERAGE ? scale_of(&windows->rows->columns[of->argument]) : of->number;
    work->begin = of->begin;
    work->end = of->end;
    work->argument = of->has_argument ? column_at(windows, of->argument) : (struct window_column){0};
    *done = cuda_columns_allocate(windows->device->columns, lay_out(windows, 0) + 1, "a window", &memory,
                                  NULL) == STATUS_OK &&
            add_result(windows, NULL) == STATUS_OK;
    enum status status = STATUS_OK;
    if (*done) {
        lay_out(windows, memory);
        work->out = column_at(windows, windows->rows->column_count - 1);
        status = compute(windows, error);
        status = AND_THEN(status, cuda_synchronize(windows->cuda, error));
    }
    cuda_free(windows->cuda, memory);
    return status;
}

static enum status add_all(struct windows *windows, const struct device_window *list, uint32_t count,
                           bool *done, struct error *error)
{
    for (uint32_t w = 0; w < count && *done; w++) {
        windows->of = &list[w];
        RETURN_IF_ERROR(make_order(windows, error));
        RETURN_IF_ERROR(add_function(windows, done, error));
    }
    return STATUS_OK;
}

/* Why the GPU cannot compute them, whatever memory it has; NULL: it can. */
static const char *find_why(const struct device_rows *rows, const struct device_window *list, uint32_t count)
{
    struct cuda *const cuda = rows->device->cuda;
    if (rows->rows == 0)
        return "there are no rows";
    if (!ahead_has(MODULE_NAME, cuda_properties(cuda)->arch) || !cuda_radix_sort_exists(cuda))
        return "this build has not the kernels for this GPU";
    for (uint32_t w = 0; w < count; w++)
        if (!is_possible(rows, &list[w]))
            return "numbers are doubles, or sums of them may be too large";
    return rows->rows < RADIX_SORT_COUNT_MAX ? NULL : "there are too many rows";
}

enum status cuda_windows(struct device_rows *rows, const struct device_window *list, uint32_t count,
                         const char **why, struct error *error)
{
    static const char no_memory[] = "the GPU has no memory for them";
    struct windows windows = {.device = rows->device, .rows = rows};
    bool done = true;
    *why = find_why(rows, list, count);
    if (*why)
        return STATUS_OK;
    RETURN_IF_ERROR(gpu_stream(rows->device, &windows.cuda, error));
    *why = make_memory(&windows, NULL) == STATUS_OK ? NULL : no_memory;
    if (*why)
        return STATUS_OK;
    enum status status = open_kernels(&windows, error);
    status = AND_THEN(status, add_all(&windows, list, count, &done, error));
    if (status != STATUS_OK)
        cuda_wait_for_all(windows.cuda);
    cuda_free(windows.cuda, windows.memory);
    close_kernels(&windows);
    *why = done ? NULL : no_memory;
    return status;
}
