/* wah_packed.c: see wah_many.h. */
#include "lab/bitmaps/wah/wah_many.h"
#include "storage/base/isa.h"

#define WORD       uint64_t
#define WAH(name)  wah_##name
#define GROUP_ROWS WAH_GROUP_ROWS
#define FILL       WAH_FILL
#define ONES       WAH_ONES
#define LENGTH     WAH_LENGTH
#define FULL       WAH_FULL
#include "storage/index/wah_range_body.h"

#include "lab/bitmaps/wah/wah_packed_body.h"

uint64_t ISA(wah_or_range)(struct wah_cursor *cursors, uint64_t count, uint64_t groups, uint32_t *heads,
                           uint64_t *out)
{
    return or_range(cursors, count, groups, heads, out);
}
