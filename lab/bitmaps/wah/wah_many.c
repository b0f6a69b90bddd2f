/* wah_many.c: see wah_many.h. */
#include "lab/bitmaps/wah/wah_many.h"
#include "storage/base/isa.h"

#define WORD       uint64_t
#define WAH(name)  wah_##name
#define GROUP_ROWS WAH_GROUP_ROWS
#define FILL       WAH_FILL
#define ONES       WAH_ONES
#define LENGTH     WAH_LENGTH
#define FULL       WAH_FULL
#define OR_RANGE   ISA_CHOICE(wah_or_range)
#include "lab/bitmaps/wah/wah_operations_body.h"

#include "lab/bitmaps/wah/wah_many_body.h"
