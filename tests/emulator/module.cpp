/*
 * module.cpp: the general kernel of one place of states as a module of the emulated driver. It is compiled once for each, with
 * GENERAL_PLACE and MODULE, the name that the host asks for.
 */
#include "tests/emulator/warp.h"

#define TILE_CUDA       1
#define TILE_TEST_FIRST 0 /* a template that no general kernel uses names it */
/* Each module has its own. */
#define NAME_(what, module) what##_of_##module
#define NAME(what, module)  NAME_(what, module)
#define scan                NAME(scan, MODULE)
#define prepare             NAME(prepare, MODULE)
#define collect             NAME(collect, MODULE)
#define arguments           NAME(arguments, MODULE)
#define take_count          NAME(take_count, MODULE)
#define take_before         NAME(take_before, MODULE)
#define take_columns        NAME(take_columns, MODULE)
#define take_rows           NAME(take_rows, MODULE)
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "operators/general/take_cuda.h"

static void run_scan(void **parameters)
{
    scan(*static_cast<general_bound *>(parameters[0]), *static_cast<bound_scan *>(parameters[1]));
}
static void run_prepare(void **)
{
    prepare();
}
static void run_collect(void **parameters)
{
    collect(*static_cast<uint64_t *>(parameters[0]), *static_cast<uint64_t *>(parameters[1]),
            *static_cast<uint64_t *>(parameters[2]));
}

static const take_work &taken(void *parameter)
{
    return *static_cast<take_work *>(parameter);
}
static void run_take_count(void **parameters)
{
    take_count(taken(parameters[0]));
}
static void run_take_before(void **parameters)
{
    take_before(taken(parameters[0]));
}
static void run_take_columns(void **parameters)
{
    take_columns(*static_cast<general_bound *>(parameters[0]), *static_cast<bound_scan *>(parameters[1]),
                 taken(parameters[2]));
}
static void run_take_rows(void **parameters)
{
    take_rows(*static_cast<general_bound *>(parameters[0]), *static_cast<bound_scan *>(parameters[1]),
              taken(parameters[2]));
}

#define TEXT_(name) #name
#define TEXT(name)  TEXT_(name)
extern emulated_module NAME(emulated, MODULE);
emulated_module NAME(emulated, MODULE) = {
    TEXT(MODULE),
    &arguments,
    sizeof arguments,
    {{"scan", run_scan, 2, {sizeof(general_bound), sizeof(bound_scan)}},
     {"prepare", run_prepare, 0, {}},
     {"collect", run_collect, 3, {8, 8, 8}},
     {"take_count", run_take_count, 1, {sizeof(take_work)}},
     {"take_before", run_take_before, 1, {sizeof(take_work)}},
     {"take_columns", run_take_columns, 3, {sizeof(general_bound), sizeof(bound_scan), sizeof(take_work)}},
     {"take_rows", run_take_rows, 3, {sizeof(general_bound), sizeof(bound_scan), sizeof(take_work)}}}};
