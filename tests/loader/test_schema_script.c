/* Scripts of CREATE TABLE: what they describe, what is refused and where; SQLite takes each good one as well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "loader/table/schema_script.h"

#include <sqlite3.h>
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
    refuse("SELECT 1", "star.sql:1:1", "CREATE");
    refuse("CREATE TABLE t (a BLOB)", "star.sql:1:19", "no type 'BLOB'");
    refuse("CREATE TABLE t (a INT,\n  a INT)", "star.sql:2:3", "two columns 'a'");
    refuse("CREATE TABLE t (a INT); CREATE TABLE T (b INT)", "star.sql:1:38", "two tables");
    refuse("CREATE TABLE t (a INT DEFAULT 3)", "star.sql:1:23", "'DEFAULT' is not supported");
    refuse("CREATE TABLE t (a INT, b INT, PRIMARY KEY (a, b))", "star.sql:1:45", "more than one column");
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
    refuse("CREATE TABLE t (a DECIMAL(19, 2))", "star.sql:1", "18 digits");
    refuse("CREATE TABLE t (a INT", "star.sql:1:22", "the end of the script");
    refuse("CREATE TABLE t (a 'x)", "star.sql", "does not end");
    refuse("CREATE TABLE \"../t\" (a INT)", "star.sql:1:14", "no name");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_and_constraint_is_understood),
        cmocka_unit_test(what_cannot_be_kept_is_refused_by_place_and_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
