/* test_locale.c: the library and the ADBC driver in a program whose locale writes a comma in numbers (Germany), and whose I
 * is no i (Turkey): loads, statements, answers and plans are as in any other. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/adbc/adbc.h"
#include "engine/library/tessera.h"
#include "tests/support/comma_locale.h"
#include "tests/support/not_run.h"

#include <dlfcn.h>

static char path[PATH_BYTES];
static struct tessera_error failure;

static void ok(enum tessera_status status)
{
    if (status)
        fail_msg("%s", failure.text);
}

/* ---- A table from a file and from memory ---- */

static const char schema[] =
    "CREATE TABLE prices (id INTEGER PRIMARY KEY, price DOUBLE, paid DECIMAL(7,2), city VARCHAR(20))";

static void load_file(void)
{
    char file[PATH_BYTES + 16];
    const char *const tables[] = {"prices"}, *const files[] = {file};
    uint64_t rows;
    snprintf(file, sizeof file, "%.*s/rows.csv", (int)strlen(path) - 3, path);
    FILE *const out = fopen(file, "w");
    assert_non_null(out);
    fputs("1,1.5,2.25,ISTANBUL\n2,1.5e3,-0.75,izmir\n3,123456789.123456789012345,1000,Berlin\n", out);
    fclose(out);
    ok(tessera_load(path, schema, tables, files, 1, TESSERA_LOAD_NEW, &rows, &failure));
    assert_int_equal(rows, 3);
}

static void load_rows(void)
{
    static const int64_t ids[] = {4, 5}, paid[] = {125, -1};
    static const char *const prices[] = {"-2.5e-300", "0.1"}, *const cities[] = {"X", "y"};
    const struct tessera_values columns[] = {{.name = "ID", .numbers = ids},
                                             {.name = "price", .texts = prices},
                                             {.name = "PAID", .numbers = paid},
                                             {.name = "CITY", .texts = cities}};
    ok(tessera_load_rows(path, schema, "prices", columns, 4, 2, TESSERA_LOAD_APPEND, &failure));
}

/* ---- Statements ---- */

static struct tessera_database *database;

/* The answer as text, its values divided by blanks; the text is static. */
static const char *answer(const char *sql, const double *parameter)
{
    static char text[8192];
    struct tessera_statement *statement;
    struct tessera_result *result;
    size_t used = 0;
    ok(tessera_prepare(database, sql, &statement, &failure));
    if (parameter)
        ok(tessera_bind_double(statement, 0, *parameter, &failure));
    ok(tessera_run(statement, &result, &failure));
    text[0] = '\0';
    for (uint64_t row = 0; row < tessera_rows(result); row++)
        for (uint32_t c = 0; c < tessera_columns(result); c++) {
            uint32_t length = 0;
            const char *const value = tessera_text(result, c, row, &length);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", used ? " " : "", (int)length,
                                     value ? value : "");
        }
    tessera_result_free(result);
    tessera_finalize(statement);
    return text;
}

static void answers(const char *sql, const char *expected)
{
    assert_string_equal(answer(sql, NULL), expected);
}

static void statements(void)
{
    const double thousand = 1000.5;
    answers("SELECT 1.5e3, -2.5E-1, CAST('1.5e3' AS DOUBLE), TRY_CAST('1,5' AS DOUBLE) IS NULL, 0.5 + 1e0",
            "1500.0 -0.25 1500.0 true 1.5");
    answers("SELECT price FROM prices ORDER BY price DESC", "123456789.12345679 1500.0 1.5 0.1 -2.5e-300");
    answers("SELECT ID FROM PRICES WHERE PRICE > 1499.75e0 AND price < 1.5001e3", "2");
    answers("SELECT paid, sum(price * 2e0) FROM prices WHERE id = 1 GROUP BY paid", "2.25 3.0");
    answers("SELECT price = '1.5', round(price, 1) FROM prices WHERE id = 1", "true 1.5");
    answers("SELECT CITY FROM PRICES WHERE CITY ILIKE 'I%' OR city LIKE '%I%' ORDER BY LOWER(city)",
            "ISTANBUL izmir");
    answers("select distinct city from prices where city ilike 'BERLIN' limit 1", "Berlin");
    assert_string_equal(answer("SELECT id FROM prices WHERE price > ? ORDER BY 1", &thousand), "2 3");
    const char *const plan = answer("EXPLAIN ANALYZE SELECT count(*) FROM prices WHERE price > 1e0", NULL);
    for (const char *comma = strchr(plan, ','); comma; comma = strchr(comma + 1, ','))
        if (comma > plan && comma[-1] >= '0' && comma[-1] <= '9' && comma[1] >= '0' && comma[1] <= '9')
            fail_msg("%s", plan);
}

/* ---- The driver ---- */

static void done(AdbcStatusCode code, struct AdbcError *error)
{
    if (code != ADBC_STATUS_OK)
        fail_msg("%s", error->message);
}

static void driver_answers(void)
{
    typedef AdbcStatusCode init_function(int version, void *driver, struct AdbcError *error);
    struct AdbcDriver driver = {0};
    struct AdbcDatabase opened = {0};
    struct AdbcConnection connection = {0};
    struct AdbcStatement statement = {0};
    struct AdbcError error = {0};
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    void *const library = dlopen(TESSERA_ADBC, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    init_function *init;
    *(void **)&init = dlsym(library, "AdbcDriverInit");
    done(init(ADBC_VERSION_1_1_0, &driver, &error), &error);
    done(driver.DatabaseNew(&opened, &error), &error);
    done(driver.DatabaseSetOption(&opened, "path", path, &error), &error);
    done(driver.DatabaseSetOption(&opened, "device", "cpu", &error), &error);
    done(driver.DatabaseSetOption(&opened, "gpu_memory", "1.5G", &error), &error);
    done(driver.DatabaseInit(&opened, &error), &error);
    done(driver.ConnectionNew(&connection, &error), &error);
    done(driver.ConnectionInit(&connection, &opened, &error), &error);
    done(driver.StatementNew(&connection, &statement, &error), &error);
    done(driver.StatementSetSqlQuery(&statement, "SELECT PRICE * 1.5e0 FROM PRICES WHERE ID = 2", &error),
         &error);
    done(driver.StatementExecuteQuery(&statement, &stream, NULL, &error), &error);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 1);
    assert_true(((const double *)batch.children[0]->buffers[1])[0] == 2250);
    batch.release(&batch);
    stream.release(&stream);
    done(driver.StatementRelease(&statement, &error), &error);
    done(driver.ConnectionRelease(&connection, &error), &error);
    done(driver.DatabaseRelease(&opened, &error), &error);
    dlclose(library);
}

/* ---- The tests ---- */

static void in_language(const char *language)
{
    if (!comma_locale_set(language))
        not_run("no locale whose decimals have a comma could be made");
    directory_make(path);
    load_file();
    load_rows();
    ok(tessera_open(path, "cpu", 2, &database, &failure));
    statements();
    tessera_close(database);
    driver_answers();
    assert_string_equal(localeconv()->decimal_point, ","); /* the program's locale is its own */
}

static void in_germany(void **state)
{
    (void)state;
    in_language("de_DE");
}

static void in_turkey(void **state)
{
    (void)state;
    in_language("tr_TR");
}

static int end(void **state)
{
    (void)state;
    comma_locale_end();
    if (path[0])
        directory_remove(path);
    path[0] = '\0';
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(in_germany, end),
        cmocka_unit_test_teardown(in_turkey, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
