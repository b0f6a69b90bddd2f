/* ipc_messages.c: see ipc_messages.h. Fields are in the order of the format's schemas. */
#include "engine/library/ipc/ipc_messages.h"
#include "engine/library/ipc/flatbuffer_write.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of the format's enums and unions. */
#define VERSION_5 4
enum { HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum {
    IPC_INT = 2,
    IPC_FLOATING_POINT = 3,
    IPC_BOOL = 6,
    IPC_DECIMAL = 7,
    IPC_DATE = 8,
    IPC_TIMESTAMP = 10,
    IPC_LARGE_UTF8 = 20
};
enum { PRECISION_DOUBLE = 2, DATE_DAY = 0, UNIT_MICROSECOND = 2 };

#define COUNT_OF(fields)  (sizeof(fields) / sizeof *(fields))
#define PUT(fields, from) flat_put_table(flat, from, fields, COUNT_OF(fields))
#define REFERENCE               \
    {                           \
        .bytes = FLAT_REFERENCE \
    }
#define ABSENT     \
    {              \
        .bytes = 0 \
    }
#define NUMBER(size, number) \
    {                        \
        size, number, 0      \
    }

/* ---- Types: a number in the table of the field, and a table of its own ---- */

static uint8_t type_of(const char *format)
{
    switch (*format) {
    case 'l':
        return IPC_INT;
    case 'g':
        return IPC_FLOATING_POINT;
    case 'b':
        return IPC_BOOL;
    case 'd':
        return IPC_DECIMAL;
    case 'U':
        return IPC_LARGE_UTF8;
    default: /* tdD, tsu: */
        return format[1] == 'd' ? IPC_DATE : IPC_TIMESTAMP;
    }
}

static void put_type(struct flat_writer *flat, size_t from, const char *format)
{
    char *end;
    struct flat_field integer[] = {NUMBER(4, 64), NUMBER(1, true)}, real[] = {NUMBER(2, PRECISION_DOUBLE)},
                      date[] = {NUMBER(2, DATE_DAY)}, moment[] = {NUMBER(2, UNIT_MICROSECOND), ABSENT};
    switch (type_of(format)) {
    case IPC_INT:
        PUT(integer, from);
        return;
    case IPC_FLOATING_POINT:
        PUT(real, from);
        return;
    case IPC_DATE:
        PUT(date, from);
        return;
    case IPC_TIMESTAMP: /* tsu:, and after it the time zone, if any */
        moment[1].bytes = format[4] ? FLAT_REFERENCE : 0;
        PUT(moment, from);
        if (format[4])
            flat_put_string(flat, moment[1].at, format + 4);
        return;
    case IPC_DECIMAL: { /* d:digits,scale */
        const long digits = strtol(format + 2, &end, 10), scale = strtol(end + 1, NULL, 10);
        struct flat_field decimal[] = {NUMBER(4, digits), NUMBER(4, scale), NUMBER(4, 128)};
        PUT(decimal, from);
        return;
    }
    default:
        flat_put_table(flat, from, NULL, 0);
    }
}

/* ---- Schemas ---- */

static void put_column(struct flat_writer *flat, size_t from, const struct ArrowSchema *column)
{
    struct flat_field fields[] = {REFERENCE /* name */,
                                  NUMBER(1, (column->flags & ARROW_FLAG_NULLABLE) != 0),
                                  NUMBER(1, type_of(column->format)),
                                  REFERENCE /* type */,
                                  ABSENT /* dictionary */,
                                  REFERENCE /* children */};
    PUT(fields, from);
    flat_put_string(flat, fields[0].at, column->name);
    put_type(flat, fields[3].at, column->format);
    flat_put_vector(flat, fields[5].at, NULL, 0, FLAT_REFERENCE);
}

static void put_columns(struct flat_writer *flat, size_t from, const struct ArrowSchema *schema)
{
    struct flat_field fields[] = {NUMBER(2, 0) /* little-endian */, REFERENCE /* fields */};
    PUT(fields, from);
    const size_t references =
        flat_put_vector(flat, fields[1].at, NULL, (uint32_t)schema->n_children, FLAT_REFERENCE);
    for (int64_t c = 0; c < schema->n_children; c++)
        put_column(flat, references + FLAT_REFERENCE * (size_t)c, schema->children[c]);
}

/* Gives the place of the reference to the header. */
static size_t put_message(struct flat_writer *flat, uint8_t header, int64_t body_bytes)
{
    struct flat_field fields[] = {NUMBER(2, VERSION_5), NUMBER(1, header), REFERENCE /* header */,
                                  NUMBER(8, body_bytes)};
    PUT(fields, flat_begin(flat));
    return fields[2].at;
}

enum status ipc_put_schema(const struct ArrowSchema *schema, struct text_space *to, struct error *error)
{
    struct flat_writer flat = {.to = to, .error = error};
    put_columns(&flat, put_message(&flat, HEADER_SCHEMA, 0), schema);
    return flat.status;
}

/* ---- Batches and the footer ---- */

enum status ipc_put_batch(const struct ipc_batch *batch, struct text_space *to, struct error *error)
{
    struct flat_writer writer = {.to = to, .error = error}, *const flat = &writer;
    struct flat_field fields[] = {NUMBER(8, batch->rows),
                                  REFERENCE /* nodes */,
                                  REFERENCE /* buffers */,
                                  {.bytes = batch->codec == IPC_PLAIN ? 0 : FLAT_REFERENCE}};
    struct flat_field compression[] = {NUMBER(1, batch->codec), NUMBER(1, 0) /* each buffer */};
    PUT(fields, put_message(flat, HEADER_BATCH, batch->body_bytes));
    flat_put_vector(flat, fields[1].at, batch->nodes, batch->node_count, sizeof *batch->nodes);
    flat_put_vector(flat, fields[2].at, batch->buffers, batch->buffer_count, sizeof *batch->buffers);
    if (batch->codec != IPC_PLAIN)
        PUT(compression, fields[3].at);
    return flat->status;
}

enum status ipc_put_footer(const struct ArrowSchema *schema, const struct ipc_block *blocks,
                           uint32_t block_count, struct text_space *to, struct error *error)
{
    struct flat_writer writer = {.to = to, .error = error}, *const flat = &writer;
    struct flat_field fields[] = {NUMBER(2, VERSION_5), REFERENCE /* schema */, REFERENCE /* dictionaries */,
                                  REFERENCE /* batches */};
    PUT(fields, flat_begin(flat));
    put_columns(flat, fields[1].at, schema);
    flat_put_vector(flat, fields[2].at, NULL, 0, sizeof *blocks);
    flat_put_vector(flat, fields[3].at, blocks, block_count, sizeof *blocks);
    return flat->status;
}
