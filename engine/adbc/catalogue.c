/* catalogue.c: what an ADBC connection tells about itself and its tables: GetInfo, GetObjects, GetTableSchema and
 * GetTableTypes. A database here has no catalogues and no schemas: both have one, without a name. */
#include "engine/adbc/driver.h"
#include "engine/adbc/nested.h"
#include "engine/library/arrow_export.h"
#include "engine/library/library.h"
#include "engine/function/string_body.h"
#include "engine/plan/value_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof array / sizeof *(array))
#define TABLE_TYPE   "table"

/* Locks the connection and gives its state. */
static AdbcStatusCode enter(const struct AdbcConnection *connection, struct driver_connection **of,
                            struct driver_state **state, struct AdbcError *error)
{
    RETURN_IF_FAILED(driver_connection_of(connection, of, error));
    pthread_mutex_lock(&(*of)->mutex);
    const AdbcStatusCode code = driver_state_enter(*of, state, error);
    if (code != ADBC_STATUS_OK)
        pthread_mutex_unlock(&(*of)->mutex);
    return code;
}

static void leave(struct driver_connection *of, struct driver_state *state)
{
    driver_state_leave(state);
    pthread_mutex_unlock(&of->mutex);
}

static struct nested *leaf(const char *format, const char *name)
{
    return nested_make(format, name, 0, NULL);
}

static struct nested *list_of(const char *name, struct nested *item)
{
    return nested_make("+l", name, 1, &item);
}

/* ---- GetInfo ---- */

enum info_kind { INFO_TEXT, INFO_BOOL, INFO_NUMBER };

static struct nested *info_tree(void)
{
    struct nested *const entry = nested_make(
        "+s", "entries!", 2, (struct nested *[]){leaf("i", "key!"), list_of("value", leaf("i", "item"))});
    struct nested *const value = nested_make(
        "+ud:0,1,2,3,4,5", "info_value", 6,
        (struct nested *[]){leaf("u", "string_value"), leaf("b", "bool_value"), leaf("l", "int64_value"),
                            leaf("i", "int32_bitmask"), list_of("string_list", leaf("u", "item")),
                            nested_make("+m", "int32_to_int32_list_map", 1, &entry)});
    return nested_make("+s", "", 2, (struct nested *[]){leaf("I", "info_name!"), value});
}

static void add_info(struct nested *root, uint32_t code)
{
    char version[16];
    struct nested *const value = root->children[1];
    snprintf(version, sizeof version, "%d.0.0", tessera_version());
    const struct {
        uint32_t code;
        enum info_kind kind;
        const char *text;
        int64_t number;
    } known[] = {{ADBC_INFO_VENDOR_NAME, INFO_TEXT, "Tessera", 0},
                 {ADBC_INFO_VENDOR_VERSION, INFO_TEXT, version, 0},
                 {ADBC_INFO_VENDOR_SQL, INFO_BOOL, NULL, true},
                 {ADBC_INFO_VENDOR_SUBSTRAIT, INFO_BOOL, NULL, false},
                 {ADBC_INFO_DRIVER_NAME, INFO_TEXT, DRIVER_NAME, 0},
                 {ADBC_INFO_DRIVER_VERSION, INFO_TEXT, version, 0},
                 {ADBC_INFO_DRIVER_ADBC_VERSION, INFO_NUMBER, NULL, ADBC_VERSION_1_1_0}};
    for (size_t i = 0; i < COUNT(known); i++) {
        if (known[i].code != code)
            continue;
        if (known[i].kind == INFO_TEXT)
            nested_text(value->children[INFO_TEXT], known[i].text);
        else
            nested_number(value->children[known[i].kind], known[i].number);
        nested_choice(value, known[i].kind);
        nested_number(root->children[0], code);
        nested_end(root);
    }
}

AdbcStatusCode driver_connection_info(struct AdbcConnection *connection, const uint32_t *codes, size_t count,
                                      struct ArrowArrayStream *out, struct AdbcError *error)
{
    static const uint32_t all[] = {ADBC_INFO_VENDOR_NAME,        ADBC_INFO_VENDOR_VERSION,
                                   ADBC_INFO_VENDOR_SQL,         ADBC_INFO_VENDOR_SUBSTRAIT,
                                   ADBC_INFO_DRIVER_NAME,        ADBC_INFO_DRIVER_VERSION,
                                   ADBC_INFO_DRIVER_ADBC_VERSION};
    struct nested *const root = info_tree();
    (void)connection;
    for (size_t i = 0; root && i < (codes ? count : COUNT(all)); i++)
        add_info(root, codes ? codes[i] : all[i]);
    return nested_stream(root, out) ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

/* ---- GetObjects ---- */

/* What the caller asks for; NULL asks for everything. Names are patterns with % and _. */
struct object_filter {
    int depth;
    const char *catalogue, *schema, *table, *column;
    const char **types;
    bool failed; /* there was no memory */
};

/* LIKE without an escape. Without memory it is what the filter says to have failed. */
static bool matches(struct object_filter *filter, const char *pattern, const char *name)
{
    const struct like_pattern like = {.text = pattern, .length = pattern ? (uint32_t)strlen(pattern) : 0};
    struct like_matcher *matcher;
    struct error unused;
    if (!pattern)
        return true;
    if (like_matcher_create(&like, &matcher, &unused) != STATUS_OK) {
        filter->failed = true;
        return false;
    }
    const bool matched = like_matches(matcher, (struct string_value){name, (uint32_t)strlen(name)}, NULL);
    like_matcher_free(matcher);
    return matched;
}

static bool wants_tables(const char **types)
{
    bool wanted = !types;
    for (; types && *types; types++)
        wanted = wanted || strcmp(*types, TABLE_TYPE) == 0;
    return wanted;
}

/* The members of a column, in the interface's order. */
enum column_member {
    COLUMN_NAME,
    COLUMN_PLACE,
    COLUMN_TYPE_NAME = 4,
    COLUMN_NULLABLE = 8,
    COLUMN_IS_NULLABLE = 13,
    COLUMN_MEMBERS = 19
};

static struct nested *column_tree(void)
{
    static const struct {
        const char *format, *name;
    } members[COLUMN_MEMBERS] = {
        {"u", "column_name!"},           {"i", "ordinal_position"},    {"u", "remarks"},
        {"s", "xdbc_data_type"},         {"u", "xdbc_type_name"},      {"i", "xdbc_column_size"},
        {"s", "xdbc_decimal_digits"},    {"s", "xdbc_num_prec_radix"}, {"s", "xdbc_nullable"},
        {"u", "xdbc_column_def"},        {"s", "xdbc_sql_data_type"},  {"s", "xdbc_datetime_sub"},
        {"i", "xdbc_char_octet_length"}, {"u", "xdbc_is_nullable"},    {"u", "xdbc_scope_catalog"},
        {"u", "xdbc_scope_schema"},      {"u", "xdbc_scope_table"},    {"b", "xdbc_is_autoincrement"},
        {"b", "xdbc_is_generatedcolumn"}};
    struct nested *children[COLUMN_MEMBERS];
    for (size_t m = 0; m < COLUMN_MEMBERS; m++)
        children[m] = leaf(members[m].format, members[m].name);
    return nested_make("+s", "item", COLUMN_MEMBERS, children);
}

enum constraint_member { CONSTRAINT_NAME, CONSTRAINT_TYPE, CONSTRAINT_COLUMNS, CONSTRAINT_USAGE };

static struct nested *constraint_tree(void)
{
    struct nested *const usage =
        nested_make("+s", "item", 4,
                    (struct nested *[]){leaf("u", "fk_catalog"), leaf("u", "fk_db_schema"),
                                        leaf("u", "fk_table!"), leaf("u", "fk_column_name!")});
    return nested_make("+s", "item", 4,
                       (struct nested *[]){leaf("u", "constraint_name"), leaf("u", "constraint_type!"),
                                           list_of("constraint_column_names!", leaf("u", "item")),
                                           list_of("constraint_column_usage", usage)});
}

static struct nested *object_tree(void)
{
    struct nested *const table =
        nested_make("+s", "item", 4,
                    (struct nested *[]){leaf("u", "table_name!"), leaf("u", "table_type!"),
                                        list_of("table_columns", column_tree()),
                                        list_of("table_constraints", constraint_tree())});
    struct nested *const schema =
        nested_make("+s", "item", 2,
                    (struct nested *[]){leaf("u", "db_schema_name"), list_of("db_schema_tables", table)});
    return nested_make("+s", "", 2,
                       (struct nested *[]){leaf("u", "catalog_name"), list_of("catalog_db_schemas", schema)});
}

static void add_column(struct nested *item, const struct column *column, uint32_t place)
{
    char type[32];
    const bool nullable = column->schema.nullable;
    column_type_text(column->references ? &column->references->schema : &column->schema, type);
    for (uint32_t m = 0; m < COLUMN_MEMBERS; m++) {
        struct nested *const member = item->children[m];
        if (m == COLUMN_NAME)
            nested_text(member, column->schema.name);
        else if (m == COLUMN_PLACE)
            nested_number(member, place);
        else if (m == COLUMN_TYPE_NAME)
            nested_text(member, type);
        else if (m == COLUMN_NULLABLE)
            nested_number(member, nullable);
        else if (m == COLUMN_IS_NULLABLE)
            nested_text(member, nullable ? "YES" : "NO");
        else
            nested_null(member);
    }
    nested_end(item);
}

/* The columns of a primary key, or of a reference and what it names. */
static void add_key(struct nested *item, const struct table *table, const struct key_columns *key,
                    const struct column *reference)
{
    struct nested *const columns = item->children[CONSTRAINT_COLUMNS], *const usages =
                                                                           item->children[CONSTRAINT_USAGE];
    nested_null(item->children[CONSTRAINT_NAME]);
    nested_text(item->children[CONSTRAINT_TYPE], reference ? "FOREIGN KEY" : "PRIMARY KEY");
    for (uint32_t k = 0; k < key->count; k++) {
        struct nested *const usage = usages->children[0];
        nested_text(columns->children[0], table->columns[key->columns[k]].schema.name);
        if (!reference)
            continue;
        const struct table *const other = reference->references->table;
        const struct column *const named = reference->schema.key.count
                                               ? &other->columns[reference->schema.key.columns[k]]
                                               : reference->references;
        nested_null(usage->children[0]);
        nested_null(usage->children[1]);
        nested_text(usage->children[2], other->name);
        nested_text(usage->children[3], named->schema.name);
        nested_end(usage);
    }
    nested_end(columns);
    nested_end(usages);
    nested_end(item);
}

static void add_table(struct nested *item, const struct table *table, struct object_filter *filter)
{
    struct nested *const columns = item->children[2], *const constraints = item->children[3];
    nested_text(item->children[0], table->name);
    nested_text(item->children[1], TABLE_TYPE);
    if (filter->depth == ADBC_OBJECT_DEPTH_TABLES) {
        nested_null(columns);
        nested_null(constraints);
    } else {
        if (table->key.count)
            add_key(constraints->children[0], table, &table->key, NULL);
        for (uint32_t c = 0; c < table->column_count; c++) {
            const struct column *const column = &table->columns[c];
            if (c < table_visible_columns(table) && matches(filter, filter->column, column->schema.name))
                add_column(columns->children[0], column, c + 1);
            const struct key_columns own = {.count = 1, .columns = {(uint16_t)c}};
            if (column->schema.of.count || column->schema.primary_key || column->references)
                add_key(constraints->children[0], table, column->schema.of.count ? &column->schema.of : &own,
                        column->references ? column : NULL);
        }
        nested_end(columns);
        nested_end(constraints);
    }
    nested_end(item);
}

static void add_objects(struct nested *root, const struct database *database, struct object_filter *filter)
{
    struct nested *const schemas = root->children[1], *const schema = schemas->children[0],
                         *const tables = schema->children[1];
    if (!matches(filter, filter->catalogue, NAME_OF_CATALOGUE))
        return;
    nested_text(root->children[0], NAME_OF_CATALOGUE);
    if (filter->depth == ADBC_OBJECT_DEPTH_CATALOGS) {
        nested_null(schemas);
        nested_end(root);
        return;
    }
    if (matches(filter, filter->schema, NAME_OF_CATALOGUE)) {
        nested_text(schema->children[0], NAME_OF_CATALOGUE);
        for (uint32_t t = 0; filter->depth != ADBC_OBJECT_DEPTH_DB_SCHEMAS && wants_tables(filter->types) &&
                             t < database_table_count(database);
             t++)
            if (matches(filter, filter->table, database_table_at(database, t)->name))
                add_table(tables->children[0], database_table_at(database, t), filter);
        if (filter->depth == ADBC_OBJECT_DEPTH_DB_SCHEMAS)
            nested_null(tables);
        else
            nested_end(tables);
        nested_end(schema);
    }
    nested_end(schemas);
    nested_end(root);
}

AdbcStatusCode driver_connection_objects(struct AdbcConnection *connection, int depth, const char *catalogue,
                                         const char *schema, const char *table, const char **types,
                                         const char *column, struct ArrowArrayStream *out,
                                         struct AdbcError *error)
{
    struct object_filter filter = {.depth = depth,
                                   .catalogue = catalogue,
                                   .schema = schema,
                                   .table = table,
                                   .column = column,
                                   .types = types};
    struct driver_connection *of;
    struct driver_state *state;
    if (depth < ADBC_OBJECT_DEPTH_ALL || depth > ADBC_OBJECT_DEPTH_TABLES)
        return driver_error(error, ADBC_STATUS_INVALID_ARGUMENT, "the depth of GetObjects is 0 to 3, not %d",
                            depth);
    RETURN_IF_FAILED(enter(connection, &of, &state, error));
    struct nested *const root = object_tree();
    if (root)
        add_objects(root, library_database(state->database), &filter);
    leave(of, state);
    if (root)
        root->failed |= filter.failed;
    return nested_stream(root, out) ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

AdbcStatusCode driver_connection_table_types(struct AdbcConnection *connection, struct ArrowArrayStream *out,
                                             struct AdbcError *error)
{
    struct nested *const type = leaf("u", "table_type!"), *const root = nested_make("+s", "", 1, &type);
    (void)connection;
    if (root) {
        nested_text(type, TABLE_TYPE);
        nested_end(root);
    }
    return nested_stream(root, out) ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

/* ---- GetTableSchema ---- */

static AdbcStatusCode table_schema(const struct table *table, struct ArrowSchema *schema,
                                   struct AdbcError *error)
{
    const uint32_t count = table_visible_columns(table);
    const char **const names = calloc(count, sizeof *names);
    struct value_type *const types = calloc(count, sizeof *types);
    for (uint32_t c = 0; names && types && c < count; c++) {
        const struct column *const column = &table->columns[c];
        names[c] = column->schema.name;
        types[c] = column_value_type(column->references ? column->references : column);
    }
    const bool made = names && types && arrow_export_schema(names, types, count, schema);
    free(names);
    free(types);
    return made ? ADBC_STATUS_OK : driver_out_of_memory(error);
}

AdbcStatusCode driver_connection_table_schema(struct AdbcConnection *connection, const char *catalogue,
                                              const char *schema, const char *name, struct ArrowSchema *out,
                                              struct AdbcError *error)
{
    struct driver_connection *of;
    struct driver_state *state;
    struct error inner;
    const struct table *table;
    if (!name || (catalogue && *catalogue) || (schema && *schema))
        return driver_error(error, ADBC_STATUS_NOT_FOUND,
                            "a table is named without a catalogue and a schema here");
    RETURN_IF_FAILED(enter(connection, &of, &state, error));
    const AdbcStatusCode code =
        database_table(library_database(state->database), name, &table, &inner) == STATUS_OK
            ? table_schema(table, out, error)
            : driver_error(error, ADBC_STATUS_NOT_FOUND, "%s", inner.text);
    leave(of, state);
    return code;
}
