/* parquet_schema.c: the schema of a Parquet file: its leaves, and what their values mean (parquet_file.h). */
#define _GNU_SOURCE
#include "loader/parquet/parquet_file.h"
#include "loader/parquet/thrift.h"

#include "storage/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX      64u
#define NAME_BYTES_MAX 4096u
#define DECIMAL_DIGITS 38u
#define UUID_BYTES     16u

/* One element of the list. */
struct element {
    int64_t type, converted; /* -1: it has none */
    int64_t length, repetition, children, scale, precision;
    const char *name;
    uint32_t name_bytes;
    uint32_t logical, unit, bits; /* bits of PARQUET_LOGICAL_INTEGER */
    bool is_signed, utc;
    bool has_logical;
};

/* ---- Reading an element ---- */

static uint32_t read_unit(struct thrift *thrift, const struct thrift_field *outer)
{
    uint32_t unit = PARQUET_UNIT_NONE;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        unit = field.id >= PARQUET_UNIT_MILLIS && field.id <= PARQUET_UNIT_NANOS ? (uint32_t)field.id
                                                                                 : PARQUET_UNIT_NONE;
        thrift_skip(thrift, &field);
    }
    return unit;
}

/* The struct in the union: its fields 1 and 2 depend on which it is. */
static void read_logical_fields(struct thrift *thrift, struct element *element,
                                const struct thrift_field *outer)
{
    const bool time =
        element->logical == PARQUET_LOGICAL_TIME || element->logical == PARQUET_LOGICAL_TIMESTAMP;
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        if (element->logical == PARQUET_LOGICAL_DECIMAL && field.id == 1)
            element->scale = thrift_number(thrift, &field);
        else if (element->logical == PARQUET_LOGICAL_DECIMAL && field.id == 2)
            element->precision = thrift_number(thrift, &field);
        else if (time && field.id == 1)
            element->utc = thrift_truth(thrift, &field);
        else if (time && field.id == 2)
            element->unit = read_unit(thrift, &field);
        else if (element->logical == PARQUET_LOGICAL_INTEGER && field.id == 1)
            element->bits = (uint32_t)thrift_number(thrift, &field);
        else if (element->logical == PARQUET_LOGICAL_INTEGER && field.id == 2)
            element->is_signed = thrift_truth(thrift, &field);
        else
            thrift_skip(thrift, &field);
    }
}

static void read_logical(struct thrift *thrift, struct element *element, const struct thrift_field *outer)
{
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        element->has_logical = true;
        element->logical =
            field.id > 0 && field.id < PARQUET_LOGICAL_OTHER ? (uint32_t)field.id : PARQUET_LOGICAL_OTHER;
        read_logical_fields(thrift, element, &field);
    }
}

/* The older way to say the same. */
static void take_converted(struct element *element)
{
    static const struct {
        uint32_t logical, unit, bits;
        bool is_signed;
    } types[] = {{PARQUET_LOGICAL_STRING, 0, 0, false},
                 {PARQUET_LOGICAL_MAP, 0, 0, false},
                 {PARQUET_LOGICAL_MAP, 0, 0, false},
                 {PARQUET_LOGICAL_LIST, 0, 0, false},
                 {PARQUET_LOGICAL_ENUM, 0, 0, false},
                 {PARQUET_LOGICAL_DECIMAL, 0, 0, false},
                 {PARQUET_LOGICAL_DATE, 0, 0, false},
                 {PARQUET_LOGICAL_TIME, PARQUET_UNIT_MILLIS, 0, false},
                 {PARQUET_LOGICAL_TIME, PARQUET_UNIT_MICROS, 0, false},
                 {PARQUET_LOGICAL_TIMESTAMP, PARQUET_UNIT_MILLIS, 0, false},
                 {PARQUET_LOGICAL_TIMESTAMP, PARQUET_UNIT_MICROS, 0, false},
                 {PARQUET_LOGICAL_INTEGER, 0, 8, false},
                 {PARQUET_LOGICAL_INTEGER, 0, 16, false},
                 {PARQUET_LOGICAL_INTEGER, 0, 32, false},
                 {PARQUET_LOGICAL_INTEGER, 0, 64, false},
                 {PARQUET_LOGICAL_INTEGER, 0, 8, true},
                 {PARQUET_LOGICAL_INTEGER, 0, 16, true},
                 {PARQUET_LOGICAL_INTEGER, 0, 32, true},
                 {PARQUET_LOGICAL_INTEGER, 0, 64, true},
                 {PARQUET_LOGICAL_JSON, 0, 0, false},
                 {PARQUET_LOGICAL_BSON, 0, 0, false}};
    if (element->has_logical || element->converted < 0)
        return;
    element->logical = PARQUET_LOGICAL_OTHER; /* an interval */
    if ((size_t)element->converted >= sizeof types / sizeof *types)
        return;
    element->logical = types[element->converted].logical;
    element->unit = types[element->converted].unit;
    element->bits = types[element->converted].bits;
    element->is_signed = types[element->converted].is_signed;
    element->utc = element->logical == PARQUET_LOGICAL_TIMESTAMP;
}

static void read_element(struct thrift *thrift, const struct thrift_field *outer, struct element *element)
{
    *element = (struct element){.type = -1, .converted = -1, .repetition = PARQUET_REQUIRED, .name = ""};
    thrift_struct(thrift, outer);
    for (struct thrift_field field = {0}; thrift_next(thrift, &field);) {
        int64_t *const numbers[] = {NULL,
                                    &element->type,
                                    &element->length,
                                    &element->repetition,
                                    NULL,
                                    &element->children,
                                    &element->converted,
                                    &element->scale,
                                    &element->precision};
        if (field.id == 4)
            element->name = thrift_binary(thrift, &field, &element->name_bytes);
        else if (field.id == 10)
            read_logical(thrift, element, &field);
        else if (field.id > 0 && field.id < 9)
            *numbers[field.id] = thrift_number(thrift, &field);
        else
            thrift_skip(thrift, &field);
    }
    take_converted(element);
}

/* ---- What the values mean ---- */

static const char *physical_name(uint32_t physical)
{
    static const char *const names[] = {"boolean", "int32",  "int64",  "int96",
                                        "float",   "double", "binary", "fixed binary"};
    return physical < PARQUET_PHYSICALS ? names[physical] : "unknown";
}

static void mean(struct parquet_leaf *leaf, enum parquet_meaning meaning, enum columnar_kind kind)
{
    leaf->meaning = meaning;
    leaf->type.kind = kind;
}

static void take_integer(struct parquet_leaf *leaf, const struct element *element)
{
    const bool wide = leaf->physical == PARQUET_INT64;
    if (!wide && leaf->physical != PARQUET_INT32)
        return;
    const bool is_signed = element->logical == PARQUET_LOGICAL_NONE || element->is_signed;
    const uint32_t bits = element->logical == PARQUET_LOGICAL_NONE ? (wide ? 64 : 32) : element->bits;
    mean(leaf, is_signed ? PARQUET_NUMBER : PARQUET_UNSIGNED,
         is_signed || !wide ? COLUMNAR_INTEGER : COLUMNAR_DECIMAL); /* uint64 is a decimal without a point */
    snprintf(leaf->type.name, COLUMNAR_TYPE_BYTES, "%sint%u", is_signed ? "" : "u", bits);
    leaf->type.precision = wide && !is_signed ? 20 : 0;
    leaf->type.narrow = is_signed ? !wide : bits < 32;
}

static void take_decimal(struct parquet_leaf *leaf, const struct element *element)
{
    const bool fits = element->precision > 0 && element->precision <= DECIMAL_DIGITS && element->scale >= 0 &&
                      element->scale <= element->precision;
    const uint32_t physical = leaf->physical;
    snprintf(leaf->type.name, COLUMNAR_TYPE_BYTES, "decimal(%lld,%lld)", (long long)element->precision,
             (long long)element->scale);
    if (!fits || !(physical == PARQUET_INT32 || physical == PARQUET_INT64 || physical == PARQUET_BYTES ||
                   (physical == PARQUET_FIXED && leaf->length > 0)))
        return;
    leaf->type.precision = (uint32_t)element->precision;
    leaf->type.scale = (uint32_t)element->scale;
    mean(leaf, PARQUET_DECIMAL, COLUMNAR_DECIMAL);
}

static void take_time(struct parquet_leaf *leaf, const struct element *element)
{
    static const char *const units[] = {"", "millis", "micros", "nanos"};
    static const enum parquet_meaning meanings[] = {PARQUET_NOTHING, PARQUET_MILLIS, PARQUET_MICROS,
                                                    PARQUET_NANOS};
    const bool is_time = element->logical == PARQUET_LOGICAL_TIME;
    snprintf(leaf->type.name, COLUMNAR_TYPE_BYTES, "%s(%s%s)", is_time ? "time" : "timestamp",
             units[element->unit], element->utc ? ", UTC" : "");
    if (!is_time && leaf->physical == PARQUET_INT64 && element->unit != PARQUET_UNIT_NONE)
        mean(leaf, meanings[element->unit], COLUMNAR_TIMESTAMP);
    leaf->type.zoned =
        element->utc && element->has_logical; /* older writers said no other thing of local times */
}

/* Types without a logical one. */
static void take_physical(struct parquet_leaf *leaf, const struct element *element)
{
    switch (leaf->physical) {
    case PARQUET_BOOLEAN:
        mean(leaf, PARQUET_TRUTH, COLUMNAR_BOOLEAN);
        break;
    case PARQUET_INT32:
    case PARQUET_INT64:
        take_integer(leaf, element);
        break;
    case PARQUET_INT96:
        mean(leaf, PARQUET_JULIAN, COLUMNAR_TIMESTAMP);
        break;
    case PARQUET_FLOAT:
    case PARQUET_DOUBLE:
        mean(leaf, PARQUET_REAL, COLUMNAR_FLOATING);
        break;
    case PARQUET_BYTES: /* older writers do not say that it is text; if it is none, its values are refused */
        mean(leaf, PARQUET_TEXT, COLUMNAR_TEXT);
        break;
    default:
        break;
    }
}

static void take_meaning(struct parquet_leaf *leaf, const struct element *element)
{
    static const char *const names[] = {
        [PARQUET_LOGICAL_STRING] = "string", [PARQUET_LOGICAL_ENUM] = "enum",
        [PARQUET_LOGICAL_DATE] = "date",     [PARQUET_LOGICAL_NULLS] = "null",
        [PARQUET_LOGICAL_JSON] = "json",     [PARQUET_LOGICAL_BSON] = "bson",
        [PARQUET_LOGICAL_UUID] = "uuid",     [PARQUET_LOGICAL_FLOAT16] = "float16",
        [PARQUET_LOGICAL_OTHER] = NULL};
    const char *const name = names[element->logical];
    mean(leaf, PARQUET_NOTHING, COLUMNAR_OTHER);
    snprintf(leaf->type.name, COLUMNAR_TYPE_BYTES, "%s", name ? name : physical_name(leaf->physical));
    switch (element->logical) {
    case PARQUET_LOGICAL_NONE:
        take_physical(leaf, element);
        break;
    case PARQUET_LOGICAL_STRING:
    case PARQUET_LOGICAL_ENUM:
    case PARQUET_LOGICAL_JSON:
        if (leaf->physical == PARQUET_BYTES)
            mean(leaf, PARQUET_TEXT, COLUMNAR_TEXT);
        break;
    case PARQUET_LOGICAL_DECIMAL:
        take_decimal(leaf, element);
        break;
    case PARQUET_LOGICAL_DATE:
        if (leaf->physical == PARQUET_INT32)
            mean(leaf, PARQUET_DATE, COLUMNAR_DATE);
        break;
    case PARQUET_LOGICAL_TIME:
    case PARQUET_LOGICAL_TIMESTAMP:
        take_time(leaf, element);
        break;
    case PARQUET_LOGICAL_INTEGER:
        take_integer(leaf, element);
        break;
    case PARQUET_LOGICAL_UUID:
        if (leaf->physical == PARQUET_FIXED && leaf->length == UUID_BYTES)
            mean(leaf, PARQUET_UUID, COLUMNAR_TEXT);
        break;
    case PARQUET_LOGICAL_NULLS:
        mean(leaf, PARQUET_NULLS, COLUMNAR_TEXT);
        break;
    default:
        break;
    }
}

/* ---- The tree ---- */

/* An inner element whose children are not all read yet. */
struct level {
    int64_t left;
    uint32_t name_bytes; /* of the path to it */
};

struct walk {
    struct parquet_file *file;
    struct level levels[DEPTH_MAX];
    uint32_t depth;
    char name[NAME_BYTES_MAX];
    struct error *error;
};

static enum status damaged(const struct walk *walk, const char *what)
{
    const struct columnar_place place = {.file = &walk->file->base, .part = COLUMNAR_WHOLE_FILE};
    return columnar_damaged(walk->error, &place, "its schema %s", what);
}

/* Adds a column that is a leaf, or an inner element, whose type's name stays as it is. */
static void add_column(struct parquet_file *file, const char *name, const struct columnar_type *type)
{
    file->base.columns[file->base.column_count++] =
        (struct columnar_column){.name = name, .type = *type, .number = file->leaf_count};
}

static enum status name_of(const struct walk *walk, const struct element *element, char **name)
{
    const struct level *const parent = &walk->levels[walk->depth - 1];
    const uint32_t path = walk->depth > 1 ? parent->name_bytes : 0;
    RETURN_IF_ERROR(memory_zeros(name, path + (uint64_t)element->name_bytes + 1, "a name", walk->error));
    memcpy(*name, walk->name, path);
    memcpy(*name + path, element->name, element->name_bytes);
    return STATUS_OK;
}

static enum status take_leaf(struct walk *walk, const struct element *element)
{
    struct parquet_file *const file = walk->file;
    struct parquet_leaf *const leaf = &file->leaves[file->leaf_count];
    if (element->type < 0 || element->type >= PARQUET_PHYSICALS || element->length < 0 ||
        (element->type == PARQUET_FIXED && element->length == 0))
        return damaged(walk, "has a column without a type");
    RETURN_IF_ERROR(name_of(walk, element, &leaf->name));
    leaf->physical = (uint32_t)element->type;
    leaf->length = (uint32_t)element->length;
    leaf->optional = element->repetition == PARQUET_OPTIONAL;
    take_meaning(leaf, element);
    if (walk->depth == 1) {
        struct columnar_type type = leaf->type;
        if (element->repetition == PARQUET_REPEATED) {
            type = (struct columnar_type){.kind = COLUMNAR_OTHER};
            snprintf(type.name, sizeof type.name, "list");
        }
        add_column(file, leaf->name, &type);
    }
    file->leaf_count++;
    return STATUS_OK;
}

static enum status take_inner(struct walk *walk, const struct element *element)
{
    const uint32_t path = walk->depth > 1 ? walk->levels[walk->depth - 1].name_bytes : 0;
    struct columnar_type type = {.kind = COLUMNAR_OTHER};
    if (walk->depth == DEPTH_MAX || path + element->name_bytes + 2 > NAME_BYTES_MAX)
        return damaged(walk, "is too deep");
    memcpy(walk->name + path, element->name, element->name_bytes);
    walk->name[path + element->name_bytes] = '.';
    if (walk->depth == 1) { /* its name ends where the next one begins, and is kept by the file */
        struct parquet_file *const file = walk->file;
        char **const kept = &file->inner_names[file->inner_count];
        snprintf(type.name, sizeof type.name, "%s",
                 element->logical == PARQUET_LOGICAL_LIST || element->repetition == PARQUET_REPEATED ? "list"
                 : element->logical == PARQUET_LOGICAL_MAP                                           ? "map"
                                                           : "struct");
        RETURN_IF_ERROR(name_of(walk, element, kept));
        file->inner_count++;
        add_column(file, *kept, &type);
    }
    walk->levels[walk->depth++] =
        (struct level){.left = element->children, .name_bytes = path + element->name_bytes + 1};
    return STATUS_OK;
}

enum status parquet_schema_read(struct parquet_file *file, struct thrift *thrift,
                                const struct thrift_field *field, struct error *error)
{
    struct walk walk = {.file = file, .error = error};
    struct thrift_field item;
    struct element element;
    uint32_t count;
    thrift_list(thrift, field, &item, &count);
    if (file->leaves || count == 0)
        return damaged(&walk, "is missing, or there twice");
    RETURN_IF_ERROR(memory_zeros(&file->leaves, count * sizeof *file->leaves, "columns", error));
    RETURN_IF_ERROR(memory_zeros(&file->base.columns, count * sizeof *file->base.columns, "columns", error));
    RETURN_IF_ERROR(memory_zeros(&file->inner_names, count * sizeof *file->inner_names, "columns", error));
    read_element(thrift, &item, &element);
    walk.levels[walk.depth++] = (struct level){.left = element.children};
    for (uint32_t e = 1; e < count && !thrift->bad; e++) {
        while (walk.depth && walk.levels[walk.depth - 1].left == 0)
            walk.depth--;
        if (walk.depth == 0)
            return damaged(&walk, "has more elements than its tree");
        walk.levels[walk.depth - 1].left--;
        read_element(thrift, &item, &element);
        if (memchr(element.name, 0, element.name_bytes) || element.children < 0)
            return damaged(&walk, "has an element without a name");
        RETURN_IF_ERROR(element.children > 0 ? take_inner(&walk, &element) : take_leaf(&walk, &element));
    }
    for (uint32_t d = 0; d < walk.depth && !thrift->bad; d++)
        if (walk.levels[d].left != 0)
            return damaged(&walk, "has fewer elements than its tree");
    return STATUS_OK;
}
