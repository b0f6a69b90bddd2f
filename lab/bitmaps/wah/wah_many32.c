/* wah_many32.c: see wah_many.h. */
#include "lab/bitmaps/wah/wah_many.h"
#include "storage/base/isa.h"

#define WORD       uint32_t
#define WAH(name)  wah32_##name
#define GROUP_ROWS WAH32_GROUP_ROWS
#define FILL       WAH32_FILL
#define ONES       WAH32_ONES
#define LENGTH     WAH32_LENGTH
#define FULL       WAH32_FULL
#define OR_RANGE   ISA_CHOICE(wah32_or_range)
#include "lab/bitmaps/wah/wah_operations_body.h"

#include "lab/bitmaps/wah/wah_many_body.h"
