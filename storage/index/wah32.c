/* wah32.c: see wah32.h. */
#include "storage/index/wah32.h"

#include "storage/base/isa.h"

#define WORD          uint32_t
#define WAH(name)     wah32_##name
#define GROUP_ROWS    WAH32_GROUP_ROWS
#define FILL          WAH32_FILL
#define ONES          WAH32_ONES
#define LENGTH        WAH32_LENGTH
#define FULL          WAH32_FULL
#define OR_RANGE_BITS ISA_CHOICE(wah32_or_range_bits)
#include "storage/index/wah_body.h"
#include "storage/index/wah_bits_body.h"
