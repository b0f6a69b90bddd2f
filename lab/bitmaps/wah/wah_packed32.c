/* wah_packed32.c: see wah_many.h. */
#include "lab/bitmaps/wah/wah_many.h"
#include "storage/base/isa.h"

#define WORD       uint32_t
#define WAH(name)  wah32_##name
#define GROUP_ROWS WAH32_GROUP_ROWS
#define FILL       WAH32_FILL
#define ONES       WAH32_ONES
#define LENGTH     WAH32_LENGTH
#define FULL       WAH32_FULL
#include "storage/index/wah_range_body.h"

#include "lab/bitmaps/wah/wah_packed_body.h"

uint64_t ISA(wah32_or_range)(struct wah32_cursor *cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                             uint32_t *out)
{
    return or_range(cursors, count, groups, heads, out);
}
