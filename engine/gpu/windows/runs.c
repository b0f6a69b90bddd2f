/*
 * runs.c: functions of whole partitions over rows that stand in the partitions' order (operators/window/runs_cuda.h). That they do
 * is not known: the kernel tries, and gives up at the first rows that do not, which takes little where rows stand anywhere. So it
 * is tried before an order is made.
 */
#include "engine/gpu/device.h"
#include "engine/gpu/rows/rows.h"
#include "engine/gpu/windows/windows_internal.h"
#include "storage/codec/codec.h"

/* tile_places of operators/dialect/tile_cuda.h. */
#define RUN_PLACES (TILE_ROWS + TILE_ROWS / 32)

/* ---- Which functions ---- */

/* Without ORDER BY all rows of a partition are peers. */
static bool is_of_partition(const struct device_window *of)
{
    return of->term_count > 0 && of->partition_terms == of->term_count && of->begin.kind != WINDOW_EDGE_ROW &&
           of->end.kind != WINDOW_EDGE_ROW;
}

static bool is_possible(const struct device_rows *rows, const struct device_window *of)
{
    if (!is_of_partition(of))
        return false;
    if (of->result == WINDOW_GIVES_COUNT)
        return true;
    return (of->result == WINDOW_GIVES_SUM || of->result == WINDOW_GIVES_MIN ||
            of->result == WINDOW_GIVES_MAX) &&
           !rows->columns[of->argument].validity;
}

bool cuda_window_runs_can(const struct device_rows *rows, const struct device_window *list, uint32_t count)
{
    bool can = count <= WINDOW_RUNS_MAX;
    for (uint32_t w = 0; can && w < count; w++)
        can = is_possible(rows, &list[w]);
    return can;
}

/* ---- The pass ---- */

static bool is_narrow(const struct device_rows *rows, const struct device_window *of)
{
    return of->result == WINDOW_GIVES_COUNT ||
           (of->result != WINDOW_GIVES_SUM && rows->columns[of->argument].value_bytes == sizeof(int32_t));
}

/* Adds the columns of the results. */
static enum status describe(struct windows *windows, const struct device_window *list, uint32_t count,
                            struct window_run_work *work, struct error *error)
{
    struct device_rows *const rows = windows->rows;
    for (uint32_t w = 0; w < count; w++) {
        struct window_run *const to = &work->functions[w];
        windows->of = &list[w];
        RETURN_IF_ERROR(cuda_window_add_result(windows, error));
        *to = (struct window_run){.out = cuda_window_column_of(&rows->columns[rows->column_count - 1]),
                                  .result = list[w].result,
                                  .narrow = is_narrow(rows, &list[w])};
        if (list[w].has_argument)
            to->argument = cuda_window_column_of(&rows->columns[list[w].argument]);
    }
    work->count = count;
    work->place_bytes = sizeof(int32_t);
    for (uint32_t w = 0; w < count; w++)
        if (!work->functions[w].narrow)
            work->place_bytes = sizeof(int64_t);
    return STATUS_OK;
}

static enum status run(struct windows *windows, struct window_run_work *work, bool *failed,
                       struct error *error)
{
    struct cuda *const cuda = windows->cuda;
    struct cuda_function *const function = windows->kernels.runs;
    const uint64_t shared_bytes = UINT64_C(1) * RUN_PLACES * work->place_bytes * (WINDOW_THREADS / 32),
                   warps = (windows->work.rows + TILE_ROWS - 1) / TILE_ROWS,
                   blocks = (warps + WINDOW_THREADS / 32 - 1) / (WINDOW_THREADS / 32);
    void *arguments[] = {&windows->work, work};
    uint32_t flags[WINDOW_FLAGS];
    unsigned resident;
    RETURN_IF_ERROR(cuda_function_allow_shared(cuda, function, shared_bytes, error));
    RETURN_IF_ERROR(cuda_function_blocks(cuda, function, WINDOW_THREADS, shared_bytes, &resident, error));
    const uint64_t most = (uint64_t)cuda_properties(cuda)->multiprocessors * (resident ? resident : 1);
    RETURN_IF_ERROR(cuda_set_words(cuda, windows->work.flags, 0, WINDOW_FLAGS, error));
    RETURN_IF_ERROR(cuda_launch(cuda, function, (unsigned)(blocks < most ? blocks : most), WINDOW_THREADS,
                                shared_bytes, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, flags, windows->work.flags, sizeof flags, error));
    RETURN_IF_ERROR(cuda_synchronize(cuda, error));
    *failed = flags[WINDOW_SUFFIXES] != 0;
    return STATUS_OK;
}

enum status cuda_window_runs(struct windows *windows, const struct device_window *list, uint32_t count,
                             bool *done, struct error *error)
{
    struct device_rows *const rows = windows->rows;
    const uint32_t columns = rows->column_count;
    struct window_run_work work = {0};
    bool failed = describe(windows, list, count, &work, NULL) != STATUS_OK;
    enum status status = STATUS_OK;
    cuda_window_set_terms(windows);
    if (!failed)
        status = run(windows, &work, &failed, error);
    while (failed && rows->column_count > columns)
        cuda_free(windows->cuda, rows->columns[--rows->column_count].values);
    *done = !failed;
    return status;
}
