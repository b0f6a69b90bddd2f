/* wah_range.c: see wah_range.h. */
#include "storage/index/wah_range.h"

#include "storage/base/isa.h"

#define WORD       uint64_t
#define WAH(name)  wah_##name
#define GROUP_ROWS WAH_GROUP_ROWS
#define FILL       WAH_FILL
#define ONES       WAH_ONES
#define LENGTH     WAH_LENGTH
#define FULL       WAH_FULL
#include "storage/index/wah_range_body.h"
#include "storage/index/wah_range_bits.h"

void ISA(wah_or_range_bits)(struct wah_cursor *cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                            bool narrow, uint64_t *bits, uint64_t words)
{
    or_range_bits(cursors, count, groups, heads, narrow, bits, words);
}
