/* Scripts of CREATE TABLE: what they describe, what is refused and where; SQLite takes each good one as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/schema_script.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parse(const char *text, struct schema_script *schema)
{
    struct error error;
    sqlite3 *sqlite;
    assert_int_equal(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
    assert_int_equal(sqlite3_exec(sqlite, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(sqlite);
    if (schema_script_parse("star.sql", text, strlen(text), schema, &error) != STATUS_OK)
        fail_msg("%s", error.text);
}

static void refuse(const char *text, const char *place, const char *reason)
{
    struct schema_script schema;
    struct error error;
    assert_int_equal(schema_script_parse("star.sql", text, strlen(text), &schema, &error), STATUS_BAD_INPUT);
    if (!strstr(error.text, place) || !strstr(error.text, reason))
        fail_msg("%s: %s", text, error.text);
}

static void every_type_and_constraint_is_understood(void **state)
{
    struct schema_script schema;
    (void)state;
    parse("-- a star\n"
          "CREATE TABLE sales (id BIGINT, day DATE NOT NULL, at TIMESTAMP, shop VARCHAR(20) NOT NULL,\n"
          "  price DECIMAL(12, 2), pieces INT, paid BOOLEAN, note TEXT, \"gift-item\" INTEGER REFERENCES "
          "items,\n"
          "  item INTEGER, CONSTRAINT s FOREIGN KEY (shop) REFERENCES shops (name), FOREIGN KEY (item) "
          "REFERENCES items);\n"
          "/* dimensions */ create table if not exists shops (name char(8) primary key, size numeric(4));\n"
          "CREATE TABLE items (i INT, PRIMARY KEY (i))",
          &schema);
    assert_int_equal(schema.table_count, 3);
    assert_string_equal(schema.tables[0].name, "shops");
    assert_string_equal(schema.tables[2].name, "sales");
    const struct schema_table *sales = schema_table(&schema, "Sales");
    static const enum column_type types[] = {TYPE_INT64, TYPE_DATE, TYPE_TIMESTAMP, TYPE_STRING, TYPE_DECIMAL,
                                             TYPE_INT32, TYPE_BOOL, TYPE_STRING,    TYPE_INT32,  TYPE_INT32};
    for (uint32_t c = 0; c < sales->column_count; c++)
        assert_int_equal(sales->columns[c].type, types[c]);
    assert_int_equal(sales->column_count, 10);
    assert_false(sales->columns[1].nullable);
    assert_true(sales->columns[0].nullable);
    assert_int_equal(sales->columns[4].precision, 12);
    assert_int_equal(sales->columns[4].scale, 2);
    assert_string_equal(sales->columns[3].references_column, "name");
    assert_string_equal(sales->columns[8].name, "gift-item");
    assert_string_equal(sales->columns[8].references_column, "i");
    assert_true(schema_table(&schema, "items")->columns[0].primary_key);
    assert_false(schema_table(&schema, "items")->columns[0].nullable);
    schema_script_free(&schema);
}

static void what_cannot_be_kept_is_refused_by_place_and_name(void **state)
{
    (void)state;
    refuse("", "star.sql:1:1", "no table");
    refuse("SELECT 1", "star.sql:1:9", "no table");
    refuse("FROB x; CREATE TABLE t (a INT)", "star.sql:1:1", "CREATE");
    refuse("CREATE TABLE t (a INT) CREATE TABLE u (a INT)", "star.sql:1:24",
           "'CREATE' stands where ; should");
    refuse("CREATE TABLE t AS SELECT 1", "star.sql:1:16", "list them");
    refuse("CREATE TABLE t (a INT); ALTER TABLE t RENAME TO u", "star.sql:1:39", "create it as it shall be");
    refuse("CREATE TABLE t (a INT); ALTER TABLE u ADD b INT", "star.sql:1:37", "no table 'u' was created");
    refuse("CREATE TABLE t (a INT[])", "star.sql:1:22", "no arrays");
    refuse("CREATE TABLE t (a BLOB)", "star.sql:1:19", "no type 'BLOB'");
    refuse("CREATE TABLE t (a INT,\n  a INT)", "star.sql:2:3", "two columns 'a'");
    refuse("CREATE TABLE t (a INT); CREATE TABLE T (b INT)", "star.sql:1:38", "two tables");
    refuse("CREATE TABLE t (a INT FROM 3)", "star.sql:1:23", "'FROM' is not understood");
    refuse("CREATE TABLE t (a INT, b INT, FOREIGN KEY (a, b) REFERENCES d)", "star.sql:1",
           "table t references table d, which the script does not create");
    refuse("CREATE TABLE d (a INT, b INT, PRIMARY KEY (a, b)); CREATE TABLE t (a INT REFERENCES d)",
           "star.sql:1", "the table's primary key has several columns");
    refuse("CREATE TABLE t (a INT PRIMARY KEY, b TEXT REFERENCES t)", "star.sql:1", "of different types");
    refuse("CREATE TABLE t (a INT REFERENCES d)", "star.sql:1", "does not create");
    refuse("CREATE TABLE t (a INT REFERENCES d); CREATE TABLE d (k INT)", "star.sql:1", "no primary key");
    refuse("CREATE TABLE t (a INT REFERENCES d); CREATE TABLE d (k TEXT PRIMARY KEY)", "star.sql:1",
           "different types");
    refuse("CREATE TABLE a (k INT PRIMARY KEY, r INT REFERENCES b); CREATE TABLE b (k INT PRIMARY KEY, r INT "
           "REFERENCES a)",
           "star.sql:1", "circle");
    refuse("CREATE TABLE f (k INT REFERENCES b); CREATE TABLE a (k INT PRIMARY KEY); CREATE TABLE b (k INT "
           "PRIMARY KEY "
           "REFERENCES a)",
           "star.sql:1", "column f.k references b.k, which references a itself; let both reference a");
    refuse("CREATE TABLE t (a DECIMAL(18, 19))", "star.sql:1", "18 digits");
    refuse("CREATE TABLE t (a DECIMAL(30, 19))", "star.sql:1", "18 digits");
    refuse("CREATE TABLE t (a INT", "star.sql:1:22", "the end of the script");
    refuse("CREATE TABLE t (a 'x)", "star.sql", "does not end");
    refuse("CREATE TABLE \"t\t\" (a INT)", "star.sql:1:14", "no name");
}

/* The text of tests/data/schemas/NAME. */
static char *read_dump(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/schemas/%s", TESSERA_SOURCE, name);
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    char *const text = calloc(1, 1 << 16);
    assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
    fclose(file);
    return text;
}

static void parse_dump(const char *name, struct schema_script *schema)
{
    struct error error;
    char *const text = read_dump(name);
    if (schema_script_parse(name, text, strlen(text), schema, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    free(text);
}

static const struct column_schema *column_of(const struct schema_script *schema, const char *table,
                                             const char *name)
{
    const struct schema_table *const found = schema_table(schema, table);
    for (uint32_t c = 0; found && c < found->column_count; c++)
        if (strcmp(found->columns[c].name, name) == 0)
            return &found->columns[c];
    fail_msg("%s.%s", table, name);
    return NULL;
}

static bool is_unique(const struct schema_script *schema, const char *table, const char *name)
{
    return schema_table(schema, table)
        ->unique[column_of(schema, table, name) - schema_table(schema, table)->columns];
}

static bool has_note(const struct schema_script *schema, const char *text)
{
    for (uint32_t n = 0; n < schema->note_count; n++)
        if (strstr(schema->notes[n], text))
            return true;
    return false;
}

static void a_dump_of_postgres_is_understood(void **state)
{
    struct schema_script schema;
    (void)state;
    parse_dump("postgres.sql", &schema);
    assert_int_equal(schema.table_count, 2);
    assert_string_equal(schema.tables[0].name, "customers");
    assert_true(column_of(&schema, "customers", "id")->primary_key);
    assert_true(is_unique(&schema, "customers", "email"));
    assert_true(is_unique(&schema, "orders", "token"));
    assert_false(is_unique(&schema, "customers", "name"));
    assert_int_equal(schema_table(&schema, "orders")->column_count, 14);
    assert_string_equal(column_of(&schema, "orders", "customer_id")->references_table, "customers");
    assert_int_equal(column_of(&schema, "orders", "ordered_at")->type, TYPE_TIMESTAMP);
    assert_int_equal(column_of(&schema, "orders", "shipped")->type, TYPE_TIMESTAMP);
    assert_int_equal(column_of(&schema, "orders", "at_time")->type, TYPE_STRING);
    assert_int_equal(column_of(&schema, "orders", "state")->type, TYPE_STRING);
    assert_int_equal(column_of(&schema, "orders", "token")->type, TYPE_STRING);
    assert_int_equal(column_of(&schema, "orders",
                               "Gr\xc3\xb6\xc3\x9f"
                               "e in cm")
                         ->type,
                     TYPE_INT32);
    assert_int_equal(column_of(&schema, "orders", "tip")->scale, 2); /* of a domain */
    assert_int_equal(column_of(&schema, "orders", "big")->precision, 18);
    assert_false(column_of(&schema, "orders", "id")->nullable);
    assert_false(column_of(&schema, "orders", "id")->primary_key); /* its key has two columns */
    assert_int_equal(schema_table(&schema, "orders")->check_count, 3);
    assert_int_equal(schema_table(&schema, "orders")->tuple_count, 1);
    assert_true(schema_table(&schema, "orders")->tuples[0].primary);
    assert_int_equal(schema_table(&schema, "orders")->tuples[0].key.count, 2);
    assert_true(has_note(&schema, "rows of COPY are not loaded"));
    assert_true(has_note(&schema, "DECIMAL(18,4) instead of (30,4)"));
    assert_true(has_note(&schema, "column orders.tax is read from the file"));
    schema_script_free(&schema);
}

static void dumps_of_sqlite_duckdb_and_mysql_are_understood(void **state)
{
    struct schema_script schema;
    (void)state;
    parse_dump("sqlite.sql", &schema);
    assert_int_equal(schema.table_count, 2);
    assert_string_equal(column_of(&schema, "sales", "shop")->references_column, "id");
    assert_true(is_unique(&schema, "shops", "name"));
    assert_int_equal(column_of(&schema, "shops", "open date")->type, TYPE_DATE);
    assert_int_equal(schema_table(&schema, "sales")->check_count, 2);
    assert_int_equal(schema_table(&schema, "shops")->check_count, 1);
    assert_true(has_note(&schema, "INSERT is not executed"));
    schema_script_free(&schema);
    parse_dump("duckdb.sql", &schema);
    assert_int_equal(schema.table_count, 2);
    assert_string_equal(column_of(&schema, "hits", "page")->references_table, "pages");
    assert_int_equal(column_of(&schema, "hits", "bytes")->type, TYPE_INT64);
    assert_int_equal(column_of(&schema, "pages", "kind")->type, TYPE_STRING);
    assert_int_equal(schema_table(&schema, "hits")->check_count, 1);
    assert_int_equal(schema_table(&schema, "hits")->tuple_count, 1);
    assert_false(schema_table(&schema, "hits")->tuples[0].primary);
    schema_script_free(&schema);
    parse_dump("mysql.sql", &schema);
    assert_int_equal(schema.table_count, 1);
    assert_int_equal(column_of(&schema, "items", "id")->type, TYPE_INT64); /* unsigned */
    assert_true(column_of(&schema, "items", "id")->primary_key);
    assert_true(is_unique(&schema, "items", "title"));
    assert_int_equal(schema.note_count, 0);
    schema_script_free(&schema);
}

/* No prefix of a dump, and none of its bytes changed, may crash the parser; sanitizers look on. */
static void scripts_of_tpch_are_understood(void **state)
{
    struct schema_script schema;
    struct error failure;
    (void)state;
    char *const ddl = read_dump("tpch.ddl"), *const keys = read_dump("tpch.ri");
    char *const both = calloc(1, strlen(ddl) + strlen(keys) + 1);
    assert_non_null(both);
    strcat(strcpy(both, ddl), keys);
    if (schema_script_parse("tpch", both, strlen(both), &schema, &failure) != STATUS_OK)
        fail_msg("%s", failure.text);
    assert_int_equal(schema.table_count, 8);
    assert_int_equal(schema.note_count, 0);
    assert_string_equal(column_of(&schema, "NATION", "N_REGIONKEY")->references_table, "REGION");
    assert_string_equal(column_of(&schema, "LINEITEM", "L_ORDERKEY")->references_table, "ORDERS");
    assert_string_equal(column_of(&schema, "LINEITEM", "L_PARTKEY")->references_table, "PART");
    assert_string_equal(column_of(&schema, "LINEITEM", "L_SUPPKEY")->references_table, "SUPPLIER");
    assert_int_equal(schema_table(&schema, "LINEITEM")->reference_count, 1);
    assert_true(column_of(&schema, "ORDERS", "O_ORDERKEY")->primary_key);
    schema_script_free(&schema);
    free(both);
    free(keys);
    free(ddl);
}

static void damaged_dumps_are_survived(void **state)
{
    static const char *const names[] = {"postgres.sql", "sqlite.sql", "duckdb.sql", "mysql.sql"};
    static const char bytes[] = "'\"()[],;:$\\-/*.\xff\n";
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        char *const text = read_dump(names[n]);
        const size_t length = strlen(text);
        uint64_t seed = 7;
        for (size_t i = 0; i < length; i += 3) {
            struct schema_script schema;
            struct error error;
            if (schema_script_parse("cut.sql", text, i, &schema, &error) == STATUS_OK)
                schema_script_free(&schema);
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            const char before = text[i];
            text[i] = bytes[(seed >> 33) % (sizeof bytes - 1)];
            if (schema_script_parse("changed.sql", text, length, &schema, &error) == STATUS_OK)
                schema_script_free(&schema);
            text[i] = before;
        }
        free(text);
    }
}

static void all_errors_are_told_at_once(void **state)
{
    struct schema_script schema;
    struct error error;
    const char *const text = "CREATE TABLE a (id INT PRIMARY KEY, b BLOB, c INT[]);\n"
                             "CREATE TABLE b (x INT REFERENCES a, y INT REFERENCES z, x INT);\n"
                             "FROB;\nCREATE TABLE c (a INT";
    (void)state;
    assert_int_equal(schema_script_parse("s.sql", text, strlen(text), &schema, &error), STATUS_BAD_INPUT);
    static const char *const parts[] = {
        "s.sql:1:39: there is no type 'BLOB'",         "\ns.sql:1:50: a column holds single",
        "\ns.sql:2:57: the table has two columns 'x'", "\ns.sql:3:1: 'FROB'",
        "\ns.sql:4:22: 'the end of the script'",       "\ns.sql:2: column b.y references table z"};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (!strstr(error.text, parts[p]))
            fail_msg("%s lacks %s", error.text, parts[p]);
}

static void a_note_tells_of_all_rows_of_a_dump(void **state)
{
    struct schema_script schema;
    struct error error;
    static const char text[] =
        "CREATE DOMAIN year AS int CHECK (VALUE > 1900); CREATE DOMAIN word AS text;\n"
        "CREATE TABLE t (a year, b word);\n"
        "INSERT INTO t VALUES (1); INSERT INTO t VALUES (2);\nINSERT INTO t VALUES (3);";
    (void)state;
    if (schema_script_parse("t.sql", text, sizeof text - 1, &schema, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(schema.note_count, 2);
    assert_string_equal(schema.notes[0],
                        "t.sql:1: what domain year says after its type (NOT NULL, CHECK) is not tested");
    assert_string_equal(schema.notes[1],
                        "t.sql:3: INSERT is not executed; give the rows as files: TABLE=FILE");
    schema_script_free(&schema);
}

/* Words that begin a constraint in one dialect are names of columns in others. */
static void words_of_constraints_may_be_columns(void **state)
{
    struct schema_script schema;
    struct error error;
    static const char text[] =
        "CREATE TABLE film (fulltext TEXT NOT NULL, exclude INT, spatial INT, key INT, flags SET('a', 'b'),\n"
        "  FULLTEXT KEY f (fulltext), SPATIAL INDEX s (spatial), EXCLUDE USING gist (key WITH =),\n"
        "  UNIQUE KEY n (fulltext(10)))";
    (void)state;
    if (schema_script_parse("film.sql", text, sizeof text - 1, &schema, &error) != STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(schema.tables[0].column_count, 5);
    assert_string_equal(schema.tables[0].columns[0].name, "fulltext");
    assert_false(schema.tables[0].columns[0].nullable);
    assert_int_equal(schema.tables[0].columns[1].type, TYPE_INT32);
    assert_int_equal(schema.tables[0].columns[4].type, TYPE_STRING);
    assert_true(schema.tables[0].unique[0]);
    schema_script_free(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_constraint_is_understood),
        cmocka_unit_test(what_cannot_be_kept_is_refused_by_place_and_name),
        cmocka_unit_test(a_dump_of_postgres_is_understood),
        cmocka_unit_test(dumps_of_sqlite_duckdb_and_mysql_are_understood),
        cmocka_unit_test(scripts_of_tpch_are_understood),
        cmocka_unit_test(damaged_dumps_are_survived),
        cmocka_unit_test(all_errors_are_told_at_once),
        cmocka_unit_test(a_note_tells_of_all_rows_of_a_dump),
        cmocka_unit_test(words_of_constraints_may_be_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
