/* wah_range32.c: see wah_range.h. */
#include "storage/index/wah_range.h"

#include "storage/base/isa.h"

#define WORD       uint32_t
#define WAH(name)  wah32_##name
#define GROUP_ROWS WAH32_GROUP_ROWS
#define FILL       WAH32_FILL
#define ONES       WAH32_ONES
#define LENGTH     WAH32_LENGTH
#define FULL       WAH32_FULL
#include "storage/index/wah_range_body.h"
#include "storage/index/wah_range_bits.h"

void ISA(wah32_or_range_bits)(struct wah32_cursor *cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                              bool narrow, uint64_t *bits, uint64_t words)
{
    or_range_bits(cursors, count, groups, heads, narrow, bits, words);
}
