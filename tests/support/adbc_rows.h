/* adbc_rows.h: rows to bind: a column of int64, and one of three strings, the second of which is NULL. */
#ifndef TESSERA_TESTS_SUPPORT_ADBC_ROWS_H
#define TESSERA_TESTS_SUPPORT_ADBC_ROWS_H

#include "engine/adbc/adbc.h"

static int32_t offsets[] = {0, 1, 1, 4};
static const char text_bytes[] = "xyyy";
static const uint8_t present[] = {5};
static const void *number_buffers[] = {NULL, NULL}, *text_buffers[] = {present, offsets, text_bytes},
                  *no_buffers[] = {NULL};
static int released; /* arrays and schemas that were given back */

static inline void release_schema(struct ArrowSchema *schema)
{
    released++;
    schema->release = NULL;
}

static inline void release_array(struct ArrowArray *array)
{
    released++;
    array->release = NULL;
}

static struct ArrowSchema schemas[2];
static struct ArrowArray arrays[2];

/* `numbers`: three; they and the names must stay. */
static inline void make_rows(const char *const names[2], const int64_t *numbers, int64_t rows,
                             int64_t columns, struct ArrowSchema *schema, struct ArrowArray *batch)
{
    static struct ArrowSchema *schema_children[] = {&schemas[0], &schemas[1]};
    static struct ArrowArray *array_children[] = {&arrays[0], &arrays[1]};
    number_buffers[1] = numbers;
    schemas[0] = (struct ArrowSchema){
        .format = "l", .name = names[0], .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    schemas[1] = (struct ArrowSchema){
        .format = "u", .name = names[1], .flags = ARROW_FLAG_NULLABLE, .release = release_schema};
    arrays[0] = (struct ArrowArray){
        .length = rows, .n_buffers = 2, .buffers = number_buffers, .release = release_array};
    arrays[1] = (struct ArrowArray){
        .length = rows, .null_count = 1, .n_buffers = 3, .buffers = text_buffers, .release = release_array};
    *schema = (struct ArrowSchema){.format = "+s",
                                   .name = "",
                                   .n_children = columns,
                                   .children = schema_children,
                                   .release = release_schema};
    *batch = (struct ArrowArray){.length = rows,
                                 .n_buffers = 1,
                                 .buffers = no_buffers,
                                 .n_children = columns,
                                 .children = array_children,
                                 .release = release_array};
}

#endif
