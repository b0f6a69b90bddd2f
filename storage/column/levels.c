/* levels.c: see levels.h. */
#include "storage/column/levels.h"

uint32_t levels_shift(const struct table_levels *levels, uint32_t depth)
{
    uint32_t shift = levels->rest_bits;
    if (depth > levels->count)
        return 0;
    for (uint32_t l = depth; l < levels->count; l++)
        shift += levels->level[l].bits;
    return shift;
}
