/* groups.cpp: the kernels that find the groups of first rows (operators/general/groups_cuda.h), as module.cpp has the others. */
#include "tests/emulator/warp.h"

#define TILE_CUDA       1
#define TILE_TEST_FIRST 0
#define arguments       arguments_of_general_groups
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "operators/general/groups_cuda.h"

static void run_sample(void **parameters)
{
    groups_sample(*static_cast<groups_work *>(parameters[0]));
}
static void run_tighten(void **)
{
    first_tighten();
}
static void run_select(void **parameters)
{
    groups_select(*static_cast<groups_work *>(parameters[0]));
}
static void run_gather(void **parameters)
{
    groups_gather(*static_cast<groups_work *>(parameters[0]), *static_cast<uint64_t *>(parameters[1]),
                  *static_cast<uint64_t *>(parameters[2]), *static_cast<uint64_t *>(parameters[3]));
}

static void run_total(void **parameters)
{
    groups_total(*static_cast<groups_work *>(parameters[0]));
}

static void run_count(void **parameters)
{
    values_count(*static_cast<values_work *>(parameters[0]));
}
static void run_find(void **parameters)
{
    values_find(*static_cast<values_work *>(parameters[0]));
}
static void run_list(void **parameters)
{
    values_list(*static_cast<values_work *>(parameters[0]));
}

extern emulated_module emulated_of_general_groups;
emulated_module emulated_of_general_groups = {
    "general_groups",
    &arguments,
    sizeof arguments,
    {{"groups_sample", run_sample, 1, {sizeof(groups_work)}},
     {"first_tighten", run_tighten, 0, {}},
     {"groups_select", run_select, 1, {sizeof(groups_work)}},
     {"groups_total", run_total, 1, {sizeof(groups_work)}},
     {"values_count", run_count, 1, {sizeof(values_work)}},
     {"values_find", run_find, 1, {sizeof(values_work)}},
     {"values_list", run_list, 1, {sizeof(values_work)}},
     {"groups_gather", run_gather, 4, {sizeof(groups_work), 8, 8, 8}}}};
