/* windows.c: see windows.h. */
#include "engine/gpu/windows/windows.h"

#include "engine/cuda/ahead.h"
#include "engine/gpu/device.h"
#include "engine/gpu/rows/rows.h"
#include "engine/gpu/run_internal.h"
#include "engine/gpu/windows/windows_internal.h"
#include "storage/base/status.h"
#include "storage/base/decimal.h"
#include "storage/base/memory.h"

#include <stdlib.h>

#define MODULE_NAME "window"

/* Blocks of a multiprocessor: all that are resident. */
#define BLOCKS 8u

/* Random writes of a column take about as long as random reads of so many: a sector is read, changed and written. */
#define READS_A_WRITE 2u

/* ---- Which ones ---- */

bool cuda_window_code_of(const struct device_column *column, uint64_t *last)
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
        if (!cuda_window_code_of(&rows->columns[window->terms[t].column], &last))
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
    struct window_kernels *const kernels = &windows->kernels;
    const struct {
        const char *name;
        struct cuda_function **function;
    } functions[] = {{"window_orders", &kernels->orders}, {"window_keys", &kernels->keys},
                     {"window_ranks", &kernels->ranks},   {"window_marks", &kernels->marks},
                     {"window_before", &kernels->before}, {"window_lists", &kernels->lists},
                     {"window_add", &kernels->add},       {"window_prefix", &kernels->prefix},
                     {"window_leaves", &kernels->leaves}, {"window_nodes", &kernels->nodes},
                     {"window_values", &kernels->values}, {"window_runs", &kernels->runs}};
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

enum status cuda_window_launch(const struct windows *windows, struct cuda_function *function, uint64_t items,
                               void **arguments, struct error *error)
{
    const uint64_t blocks = (items + WINDOW_THREADS - 1) / WINDOW_THREADS,
                   most = (uint64_t)cuda_properties(windows->cuda)->multiprocessors * BLOCKS;
    return cuda_launch(windows->cuda, function, (unsigned)(blocks < most ? blocks : most), WINDOW_THREADS, 0,
                       arguments, error);
}

enum status cuda_window_launch_work(struct windows *windows, struct cuda_function *function,
                                    struct error *error)
{
    void *arguments[] = {&windows->work};
    return cuda_window_launch(windows, function, windows->work.rows, arguments, error);
}

enum status cuda_window_sum_pieces(struct windows *windows, struct error *error)
{
    void *arguments[] = {&windows->work};
    return cuda_launch(windows->cuda, windows->kernels.before, 1, WINDOW_BEFORE_THREADS,
                       WINDOW_BEFORE_THREADS / 32 * sizeof(uint64_t), arguments, error);
}

/* The sums before each place. */
static enum status add_up(struct windows *windows, uint32_t sum, cuda_address to, struct error *error)
{
    void *arguments[] = {&windows->work, &sum, &to};
    RETURN_IF_ERROR(cuda_window_launch(windows, windows->kernels.add, windows->work.rows, arguments, error));
    RETURN_IF_ERROR(cuda_window_sum_pieces(windows, error));
    return cuda_window_launch(windows, windows->kernels.prefix, windows->work.rows, arguments, error);
}

static enum status make_memory(struct windows *windows, struct error *error)
{
    const uint64_t rows = windows->rows->rows,
                   sums = cuda_aligned((rows / WINDOW_PIECE + 1) * sizeof(uint64_t));
    RETURN_IF_ERROR(cuda_columns_allocate(windows->device->columns, sums + WINDOW_FLAGS * sizeof(uint32_t),
                                          "windows", &windows->memory, error));
    windows->work.sums = windows->memory;
    windows->work.flags = windows->memory + sums;
    windows->work.rows = rows;
    return STATUS_OK;
}

struct window_column cuda_window_column_of(const struct device_column *column)
{
    return (struct window_column){
        .values = column->values, .validity = column->validity, .value_bytes = column->value_bytes};
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

enum status cuda_window_add_result(struct windows *windows, struct error *error)
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
    const uint64_t column = cuda_aligned((windows->work.rows + 1) * sizeof(uint64_t));
    uint64_t bytes = 0, nodes = windows->work.rows;
    windows->work.counts = counts ? base + bytes : 0;
    bytes += counts ? column : 0;
    windows->work.values = sums ? base + bytes : 0;
    bytes += sums ? column : 0;
    for (uint32_t level = 0; is_extreme(of) && level < WINDOW_LEVELS_MAX; level++) {
        windows->work.tree[level] = base + bytes;
        bytes += cuda_aligned(nodes * sizeof(int64_t));
        nodes = (nodes + WINDOW_FAN - 1) / WINDOW_FAN;
    }
    return bytes;
}

static enum status make_tree(struct windows *windows, struct error *error)
{
    uint64_t count = windows->work.rows;
    RETURN_IF_ERROR(cuda_window_launch_work(windows, windows->kernels.leaves, error));
    for (uint32_t level = 1; count > 1; level++) {
        const uint64_t nodes = (count + WINDOW_FAN - 1) / WINDOW_FAN;
        void *arguments[] = {&windows->work, &level, &count};
        RETURN_IF_ERROR(cuda_window_launch(windows, windows->kernels.nodes, nodes, arguments, error));
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
    return cuda_window_launch_work(windows, windows->kernels.values, error);
}

static void set_argument(struct windows *windows, uint32_t column)
{
    const struct window_code *const code = cuda_window_code_at(windows, column);
    windows->work.argument = cuda_window_column_of(&windows->rows->columns[column]);
    windows->work.has_carried = code != NULL;
    if (code)
        windows->work.carried = *code;
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
    if (of->has_argument)
        set_argument(windows, of->argument);
    *done = cuda_columns_allocate(windows->device->columns, lay_out(windows, 0) + 1, "a window", &memory,
                                  NULL) == STATUS_OK &&
            cuda_window_add_result(windows, NULL) == STATUS_OK;
    enum status status = STATUS_OK;
    if (*done) {
        lay_out(windows, memory);
        work->out = cuda_window_column_of(&windows->rows->columns[windows->rows->column_count - 1]);
        work->placed = windows->moved != NULL;
        status = compute(windows, error);
        status = AND_THEN(status, cuda_synchronize(windows->cuda, error));
    }
    cuda_free(windows->cuda, memory);
    return status;
}

/* ---- Columns that are kept ---- */

static void free_moved(struct windows *windows, uint32_t count)
{
    for (uint32_t c = 0; windows->moved && c < count; c++)
        cuda_free(windows->cuda, windows->moved[c].values);
    free(windows->moved);
    windows->moved = NULL;
}

static enum status make_moved(struct windows *windows, const bool *kept, struct error *error)
{
    const struct device_rows *const rows = windows->rows;
    RETURN_IF_ERROR(
        memory_zeros(&windows->moved, (rows->column_count + 1ull) * sizeof *windows->moved, "rows", error));
    for (uint32_t c = 0; c < rows->column_count; c++)
        if (kept[c])
            RETURN_IF_ERROR(
                cuda_rows_make_alike(windows->cuda, rows, &rows->columns[c], &windows->moved[c], error));
    return STATUS_OK;
}

/* Makes memory for the columns that are kept, if results may stand in the order of the functions. If there is none, they are
 * written where their rows are; *done is false if that is not known. */
static void choose_places(struct windows *windows, const bool *kept, bool *done)
{
    if (!windows->scattered || make_moved(windows, kept, NULL) == STATUS_OK)
        return;
    free_moved(windows, windows->rows->column_count);
    *done = !windows->has_words || windows->work.has_row;
}

/* Puts the kept ones of the first `count` columns in the order of the results. */
static enum status move_columns(struct windows *windows, uint32_t count, struct error *error)
{
    struct window_work *const work = &windows->work;
    work->result = WINDOW_GIVES_MOVED;
    work->number = 0;
    for (uint32_t c = 0; c < count; c++) {
        struct device_column *const from = &windows->rows->columns[c], *const to = &windows->moved[c];
        if (!to->values)
            continue;
        set_argument(windows, c);
        work->out = cuda_window_column_of(to);
        RETURN_IF_ERROR(cuda_window_launch_work(windows, windows->kernels.values, error));
        RETURN_IF_ERROR(cuda_synchronize(windows->cuda, error));
        const struct device_column before = *from;
        *from = *to;
        *to = before;
    }
    return STATUS_OK;
}

/* ---- All functions ---- */

static bool is_same_order(const struct device_window *a, const struct device_window *b)
{
    bool same = a->term_count == b->term_count && a->partition_terms == b->partition_terms;
    for (uint32_t t = 0; same && t < a->term_count; t++)
        same = a->terms[t].column == b->terms[t].column && a->terms[t].descending == b->terms[t].descending &&
               a->terms[t].nulls_first == b->terms[t].nulls_first;
    return same;
}

/* Whether the function asks for groups of peers. */
static bool wants_groups(const struct device_window *of)
{
    const bool framed = of->result >= WINDOW_GIVES_FIRST,
               ranks = of->result >= WINDOW_GIVES_RANK && of->result <= WINDOW_GIVES_CUME_DIST;
    return ranks || (framed && (of->begin.kind == WINDOW_EDGE_PEERS || of->end.kind == WINDOW_EDGE_PEERS));
}

/* `kept`: columns beside the results, if these may stand in the order; or NULL. */
static enum status find_wishes(const struct windows *windows, const struct device_window *list,
                               uint32_t count, const bool *kept, struct window_wishes *wishes,
                               struct error *error)
{
    const uint32_t columns = windows->rows->column_count;
    uint32_t reads = 0;
    *wishes = (struct window_wishes){.in_place = kept != NULL};
    RETURN_IF_ERROR(memory_zeros(&wishes->columns, columns + 1ull, "windows", error));
    for (uint32_t c = 0; kept && c < columns; c++)
        reads += kept[c];
    wishes->in_place &= reads <= READS_A_WRITE * count;
    for (uint32_t c = 0; wishes->in_place && c < columns; c++)
        wishes->columns[c] = kept[c];
    for (uint32_t w = 0; w < count; w++) {
        wishes->groups |= wants_groups(&list[w]);
        if (list[w].has_argument)
            wishes->columns[list[w].argument] = true;
    }
    return STATUS_OK;
}

/* Functions of one order. */
static enum status add_some(struct windows *windows, const struct device_window *list, uint32_t count,
                            bool last, const bool *kept, bool *done, struct error *error)
{
    const uint32_t columns = windows->rows->column_count;
    struct window_wishes wishes;
    RETURN_IF_ERROR(find_wishes(windows, list, count, last ? kept : NULL, &wishes, error));
    windows->of = &list[0];
    enum status status = cuda_window_order_make(windows, &wishes, done, error);
    free(wishes.columns);
    if (status == STATUS_OK && *done && wishes.in_place)
        choose_places(windows, kept, done);
    for (uint32_t w = 0; status == STATUS_OK && w < count && *done; w++) {
        windows->of = &list[w];
        status = add_function(windows, done, error);
    }
    if (status == STATUS_OK && *done && windows->moved)
        status = move_columns(windows, columns, error);
    free_moved(windows, columns);
    return status;
}

static enum status add_all(struct windows *windows, const struct device_window *list, uint32_t count,
                           const bool *kept, bool *done, struct error *error)
{
    for (uint32_t begin = 0, end; begin < count && *done; begin = end) {
        bool by_runs = false;
        for (end = begin + 1; end < count && is_same_order(&list[begin], &list[end]);)
            end++;
        if (cuda_window_runs_can(windows->rows, list + begin, end - begin))
            RETURN_IF_ERROR(cuda_window_runs(windows, list + begin, end - begin, &by_runs, error));
        if (!by_runs)
            RETURN_IF_ERROR(add_some(windows, list + begin, end - begin, end == count, kept, done, error));
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
                         const bool *kept, const char **why, struct error *error)
{
    static const char no_memory[] = "the GPU has no memory for them";
    struct windows windows = {.device = rows->device, .rows = rows};
    const uint32_t columns = rows->column_count;
    bool done = true;
    *why = find_why(rows, list, count);
    if (*why)
        return STATUS_OK;
    RETURN_IF_ERROR(gpu_stream(rows->device, &windows.cuda, error));
    *why = make_memory(&windows, NULL) == STATUS_OK ? NULL : no_memory;
    if (*why)
        return STATUS_OK;
    enum status status = open_kernels(&windows, error);
    status = AND_THEN(status, add_all(&windows, list, count, kept, &done, error));
    if (status != STATUS_OK)
        cuda_wait_for_all(windows.cuda);
    cuda_free(windows.cuda, windows.order);
    cuda_free(windows.cuda, windows.memory);
    close_kernels(&windows);
    if (status == STATUS_OK && done)
        cuda_rows_keep(windows.cuda, rows, kept, columns);
    *why = done ? NULL : no_memory;
    return status;
}
