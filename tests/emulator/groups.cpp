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

static void run_set(void **parameters)
{
    groups_set(*static_cast<groups_work *>(parameters[0]));
}

static const values_work &values_of(void **parameters)
{
    return *static_cast<values_work *>(parameters[0]);
}
static void run_collect(void **parameters)
{
    values_collect(values_of(parameters));
}
static void run_add(void **parameters)
{
    values_add(values_of(parameters), *static_cast<uint32_t *>(parameters[1]));
}
static void run_scan(void **parameters)
{
    values_scan(values_of(parameters));
}
static void run_prefix(void **parameters)
{
    values_prefix(values_of(parameters), *static_cast<uint32_t *>(parameters[1]),
                  *static_cast<uint64_t *>(parameters[2]));
}
static void run_starts(void **parameters)
{
    values_starts(values_of(parameters));
}
static void run_groups(void **parameters)
{
    values_groups(values_of(parameters));
}
static void run_pick(void **parameters)
{
    values_pick(values_of(parameters), *static_cast<uint64_t *>(parameters[1]),
                *static_cast<uint64_t *>(parameters[2]));
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
     {"groups_set", run_set, 1, {sizeof(groups_work)}},
     {"values_collect", run_collect, 1, {sizeof(values_work)}},
     {"values_add", run_add, 2, {sizeof(values_work), 4}},
     {"values_scan", run_scan, 1, {sizeof(values_work)}},
     {"values_prefix", run_prefix, 3, {sizeof(values_work), 4, 8}},
     {"values_starts", run_starts, 1, {sizeof(values_work)}},
     {"values_groups", run_groups, 1, {sizeof(values_work)}},
     {"values_pick", run_pick, 3, {sizeof(values_work), 8, 8}},
     {"groups_gather", run_gather, 4, {sizeof(groups_work), 8, 8, 8}}}};
