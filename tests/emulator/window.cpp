/* window.cpp: the kernels of window functions (operators/window/window_cuda.h), as module.cpp has the others. */
#include "tests/emulator/warp.h"

#define TILE_CUDA       1
#define TILE_TEST_FIRST 0
#define arguments       arguments_of_window
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "operators/window/runs_cuda.h"
#include "operators/window/window_cuda.h"

static const window_work &work_of(void **parameters)
{
    return *static_cast<window_work *>(parameters[0]);
}
static uint32_t sum_of(void **parameters)
{
    return *static_cast<uint32_t *>(parameters[1]);
}
static uint64_t third_of(void **parameters)
{
    return *static_cast<uint64_t *>(parameters[2]);
}
static uint64_t second_of(void **parameters)
{
    return *static_cast<uint64_t *>(parameters[1]);
}
static void run_orders(void **parameters)
{
    window_orders(work_of(parameters));
}
static void run_keys(void **parameters)
{
    window_keys(work_of(parameters), second_of(parameters));
}
static void run_ranks(void **parameters)
{
    window_ranks(work_of(parameters));
}
static void run_marks(void **parameters)
{
    window_marks(work_of(parameters));
}
static void run_add(void **parameters)
{
    window_add(work_of(parameters), sum_of(parameters), third_of(parameters));
}
static void run_before(void **parameters)
{
    window_before(work_of(parameters));
}
static void run_prefix(void **parameters)
{
    window_prefix(work_of(parameters), sum_of(parameters), third_of(parameters));
}
static void run_lists(void **parameters)
{
    window_lists(work_of(parameters));
}
static void run_leaves(void **parameters)
{
    window_leaves(work_of(parameters));
}
static void run_nodes(void **parameters)
{
    window_nodes(work_of(parameters), sum_of(parameters), third_of(parameters));
}
static void run_runs(void **parameters)
{
    window_runs(work_of(parameters), *static_cast<window_run_work *>(parameters[1]));
}
static void run_values(void **parameters)
{
    window_values(work_of(parameters));
}

extern emulated_module emulated_of_window;
emulated_module emulated_of_window = {
    "window",
    nullptr,
    0,
    {{"window_orders", run_orders, 1, {sizeof(window_work)}},
     {"window_keys", run_keys, 2, {sizeof(window_work), 8}},
     {"window_ranks", run_ranks, 1, {sizeof(window_work)}},
     {"window_marks", run_marks, 1, {sizeof(window_work)}},
     {"window_before", run_before, 1, {sizeof(window_work)}},
     {"window_lists", run_lists, 1, {sizeof(window_work)}},
     {"window_add", run_add, 3, {sizeof(window_work), 4, 8}},
     {"window_prefix", run_prefix, 3, {sizeof(window_work), 4, 8}},
     {"window_leaves", run_leaves, 1, {sizeof(window_work)}},
     {"window_nodes", run_nodes, 3, {sizeof(window_work), 4, 8}},
     {"window_runs", run_runs, 2, {sizeof(window_work), sizeof(window_run_work)}},
     {"window_values", run_values, 1, {sizeof(window_work)}}}};
