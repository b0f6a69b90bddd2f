/* grouping.c: see grouping.h. */
#include "engine/plan/grouping/grouping.h"

const char *measure_name(enum measure_kind kind)
{
    static const char *const names[] = {"var_pop", "var_samp", "stddev_pop", "stddev_samp"};
    return names[kind];
}
