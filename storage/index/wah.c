/* wah.c: see wah.h. */
#include "storage/index/wah.h"

#include "storage/base/isa.h"

#define WORD          uint64_t
#define WAH(name)     wah_##name
#define GROUP_ROWS    WAH_GROUP_ROWS
#define FILL          WAH_FILL
#define ONES          WAH_ONES
#define LENGTH        WAH_LENGTH
#define FULL          WAH_FULL
#define OR_RANGE_BITS ISA_CHOICE(wah_or_range_bits)
#include "storage/index/wah_body.h"
#include "storage/index/wah_bits_body.h"
