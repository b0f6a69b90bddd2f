/*
 * test_load_json.c: files of JSON: objects a line, over several lines and in a list, cut into blocks anywhere, have the same rows;
 * what is wrong is told with file, line and member; --infer, --append and compressed files.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/load_program.h"
#include "tests/support/text_rows.h"

/* ---- Blocks ---- */

static const struct text_options options = {.header = TEXT_HEADER_AUTO};

/* The rows of a text in blocks of any size, which all are the same. */
static void rows_are(const char *name, const char *text, const char *expected)
{
    for (size_t block = 1; block < 200; block += block < 40 ? 1 : 37) {
        const char *const paths[] = {file_write(name, text, strlen(text))};
        struct error error = {0};
        char *const rows = read_all_sized(paths, 1, &options, block, &error);
        if (!rows || strcmp(rows, expected) != 0)
            fail_msg("%s in blocks of %zu:\n%s\nand not\n%s\n%s", text, block, rows ? rows : "", expected,
                     error.text);
        free(rows);
    }
}

static void members_are_fields(void **state)
{
    (void)state;
    rows_are("t.json", "{\"a\":1,\"b\":\"x\",\"c\":null}\n{\"C\":true, \"a\" : -1.5e3}\r\n\n  {}  \n",
             "1/x/~;-1.5e3/~/true;~/~/~;");
    rows_are("t.ndjson", "{\"x\":{\"a\":9},\"b\":[1, {\"c\":\"}\"}],\"a\":\"\"}", "/[1, {\"c\":\"}\"}]/~;");
    rows_are("t.txt", "{\"b\":\"\\u00e4\\\"\\n\\\\\",\"\\u0061\":\"\\ud83d\\ude00\"}\n",
             "\xf0\x9f\x98\x80/\xc3\xa4\"\n\\/~;");
    rows_are("t.json", "[{\"a\":1},{\"a\":2,\n\"b\":\"]}\"} , {\"a\":[3]}]\n", "1/~/~;2/]}/~;[3]/~/~;");
    rows_are("t.json", "{\n \"a\": 1\n}\n{\n \"a\": \"\\\\\\\"\", \"b\": {}\n}", "1/~/~;\\\"/{}/~;");
    rows_are("t.json", "{\"a\":1}{\"a\":2} {\"a\":3}\n", "1/~/~;2/~/~;3/~/~;");
    rows_are("t.json", " [ ] ", "");
    rows_are("t.json", "\n\n", "");
    rows_are("t.jsonl", "", "");
}

static void wrong_objects_are_faults(void **state)
{
    (void)state;
    rows_are("t.json", "{\"a\":1}\n{\"a\":}\n{\"a\":2}\n", "1/~/~;!is no JSON@2;2/~/~;");
    rows_are("t.json", "{\"a\":1}\n\n{\"a\":1,\"A\":2}\n", "1/~/~;!has the member 'a' twice@3;");
    rows_are("t.json", "{\"a\":1} x\n{\"a\":\"\\ud800\"}\n[]\n1\n",
             "!is no JSON@1;!has a character in the member 'a' that no text can have@2;!is no JSON@3;!is no "
             "JSON@4;");
    rows_are("t.json", "[\n{\"a\":1},\n{\"a\":01},\n{\"a\":3} ]", "1/~/~;!is no JSON@3;3/~/~;");
    rows_are("t.jsonl", "{\"a\":1", "!is no JSON@1;");
}

/* Writes a random object, and the row that it is. */
static void object_put(FILE *file, FILE *row, bool spread)
{
    static const char *const members[] = {"a", "b", "c", "other", "B2"},
                             *const values[] = {"null",
                                                "17",
                                                "-0.5e-3",
                                                "true",
                                                "{\"a\": [1, \"]\"]}",
                                                "[]",
                                                "\"\"",
                                                "\"word\"",
                                                "\"a longer text of some words, {in} [it]\"",
                                                "\"q\\\"\\u00df\""},
                             *const fields[] = {"~",
                                                "17",
                                                "-0.5e-3",
                                                "true",
                                                "{\"a\": [1, \"]\"]}",
                                                "[]",
                                                "",
                                                "word",
                                                "a longer text of some words, {in} [it]",
                                                "q\"\xc3\x9f"};
    const char *found[3] = {"~", "~", "~"};
    const int first = rand() % 5, count = rand() % 6;
    fputs("{", file);
    for (int m = 0; m < count; m++) {
        const int member = (first + m) % 5, value = rand() % 10;
        fprintf(file, "%s%s\"%s\"%s:%s%s", m ? "," : "", spread && rand() % 3 == 0 ? "\n" : "",
                members[member], rand() % 4 ? "" : " ", rand() % 4 ? "" : " ", values[value]);
        if (member < 3)
            found[member] = fields[value];
    }
    fputs("}", file);
    fprintf(row, "%s/%s/%s;", found[0], found[1], found[2]);
}

static void layouts_have_the_same_rows(void **state)
{
    (void)state;
    srand(20260726);
    for (int round = 0; round < 60; round++) {
        static const int counts[] = {0, 1, 2, 31, 1023, 1025};
        const int layout = round % 3, count = counts[round / 3 % 6];
        char *text, *expected;
        size_t bytes, row_bytes;
        FILE *const file = open_memstream(&text, &bytes), *const rows = open_memstream(&expected, &row_bytes);
        fputs(layout == 2   ? "["
              : layout == 1 ? "{\n}"
                            : "",
              file); /* a first one on a line says that all are */
        fputs(layout == 1 ? "~/~/~;" : "", rows);
        for (int o = 0; o < count; o++) {
            object_put(file, rows, layout > 0);
            fputs(layout == 0      ? "\n"
                  : layout == 1    ? (rand() % 2 ? "\n" : " ")
                  : o + 1 == count ? ""
                  : rand() % 2     ? ",\n"
                                   : " , ",
                  file);
        }
        fputs(layout == 2 ? "]" : "", file);
        fclose(file);
        fclose(rows);
        const char *const paths[] = {file_write("t.json", text, bytes)};
        struct error error = {0};
        char *const found = read_all_sized(paths, 1, &options, 1 + (size_t)rand() % 3000, &error);
        if (!found || strcmp(found, expected) != 0)
            fail_msg("layout %d, %d objects: %s", layout, count, error.text);
        free(found);
        free(text);
        free(expected);
    }
}

/* ---- Loads ---- */

static void file_is(const char *name, const char *text)
{
    file_write(name, text, strlen(text));
}

/* Those of other tests have the same names. */
static void make_files(void)
{
    file_is("t.jsonl", "{\"k\": 1, \"name\": \"Anna\", \"price\": 1.5, \"ok\": true, \"at\": "
                       "\"2024-01-01T10:00:00+01:00\", \"tags\": [\"a\", {\"b\": 2}]}\n"
                       "{\"name\": \"B\\u00e4r\", \"k\": 2, \"ok\": null, \"other\": 1}\n");
    file_is("more.json", "[{\"k\":3,\"price\":-2e1,\"name\":\"\"},\n {\"k\":4,\"ok\":false}]\n");
}

static int make_schema(void **state)
{
    setup(state);
    file_is("star.sql",
            "CREATE TABLE t (k INT PRIMARY KEY, name TEXT, price DECIMAL(9,2), ok BOOLEAN, at TIMESTAMPTZ, "
            "tags TEXT);");
    return 0;
}

static void load(const char *arguments, int exit_code, const char *said)
{
    load_ends(arguments, exit_code, said);
}

static void files_are_loaded_and_appended(void **state)
{
    static const char rows[] = "k,name,price,ok,at,tags\n"
                               "1,Anna,1.50,true,2024-01-01 09:00:00+00,\"[\"\"a\"\", {\"\"b\"\": 2}]\"\n"
                               "2,B\xc3\xa4r,,,,\n"
                               "3,\"\",-20.00,,,\n"
                               "4,,,false,,\n";
    (void)state;
    make_files();
    run_shell("rm -rf $D; cd $D/.. && gzip -kf t.jsonl && zstd -qf more.json -o more.json.zst", &run);
    assert_int_equal(run.exit_code, 0);
    load("t=t.jsonl", 0, "2 rows");
    load("--append t=more.json", 0, "2 rows");
    answer_is("select * from t order by k", rows);
    run_shell("rm -rf $D", &run);
    load("t=t.jsonl.gz,more.json.zst", 0, "4 rows");
    answer_is("select * from t order by k", rows);
    run_shell("rm -rf $D", &run);
    load("t=- <t.jsonl", 0, "2 rows");
    run_shell("rm -rf $D; cd $D/.. && mkdir -p all && cp t.jsonl more.json all", &run);
    load("t=all", 0, "4 rows");
    answer_is("select * from t order by k", rows);
}

static void wrong_members_are_told(void **state)
{
    (void)state;
    make_files();
    run_shell("rm -rf $D", &run);
    file_is(
        "bad.jsonl",
        "{\"k\":1,\"price\":2}\n{\"k\":2,\"price\":\"x\"}\n{\"k\":3,,}\n{\"k\":4,\"ok\":[1]}\n{\"k\":5}\n");
    load("t=bad.jsonl", 2, "bad.jsonl:2: column price: 'x' is no number");
    load("--max-errors 2 t=bad.jsonl", 2, "more rows are bad than --max-errors allows");
    load("--max-errors 3 --reject rejected.csv t=bad.jsonl", 0, "3 rows were left out");
    run_shell("cat $D/../rejected.csv", &run);
    assert_string_equal(
        run.output,
        "file,line,reason,row\n"
        "\"bad.jsonl\",2,\"column price: 'x' is no number\",\"{\"\"k\"\":2,\"\"price\"\":\"\"x\"\"}\"\n"
        "\"bad.jsonl\",3,\"the row is no JSON: it has no name in quotes where a member begins, at byte 8: "
        "',}'\",\"{\"\"k\"\":3,,}\"\n"
        "\"bad.jsonl\",4,\"column ok: '[1]' is neither true nor false\",\"{\"\"k\"\":4,\"\"ok\"\":[1]}\"\n");
    answer_is("select k from t order by k", "k\n1\n5\n");
    file_is("bad.jsonl", "{\"name\":\"x\"}\n");
    load("--append t=bad.jsonl", 2, "bad.jsonl:1: column k: '' is NULL, but the column is NOT NULL");
    load("--append --columns t=k,name,price,ok,at,tags t=t.jsonl", 2,
         "t.jsonl: is JSON, whose members have names");
    file_is("cut.json", "[{\"k\":7},\n{\"k\":8");
    load("--append t=cut.json", 2,
         "cut.json:2: the object that begins here does not end; is the file cut short?");
    file_is("cut.json", "[{\"k\":7},\n{\"k\":8}");
    load("--append t=cut.json", 2, "cut.json: the list of objects does not end with ]");
}

static void schemas_are_inferred(void **state)
{
    (void)state;
    file_is("u.json", "{\"id\":1,\"code\":\"007\",\"n\":1.25,\"day\":\"2024-02-29\",\"at\":\"2024-02-29T01:"
                      "00:00Z\",\"on\":true,"
                      "\"list\":[1],\"zip\":\"12345\"}\n{\"id\":3000000000,\"n\":7,\"ID\":1}\nno object\n"
                      "{\"late\":1e3,\"id\":2,\"on\":false}\n");
    run_shell("cd $D/.. && rm -rf $D && $T load --infer u.json >inferred.sql; cat inferred.sql", &run);
    assert_string_equal(
        run.output,
        "-- Proposed by tessera load --infer. Correct it, then load:\n"
        "--     tessera load --db DIR --schema FILE.sql 'u=u.json'\n\n"
        "-- u.json: 2 rows, JSON\n"
        "-- 2 rows are unlike the others (--max-errors leaves them out); the first: u.json:2: the row has "
        "the member 'id' twice\n"
        "CREATE TABLE u (\n"
        "    id INT PRIMARY KEY, -- 1 to 2, no duplicates\n"
        "    code TEXT, -- up to 3 bytes, no duplicates, 1 NULL, numbers with zeros in front\n"
        "    n DECIMAL(9,2), -- up to 4 bytes, no duplicates, 1 NULL\n"
        "    day DATE, -- 2024-02-29 to 2024-02-29, no duplicates, 1 NULL\n"
        "    at TIMESTAMP WITH TIME ZONE, -- 2024-02-29 to 2024-02-29, no duplicates, 1 NULL\n"
        "    \"on\" BOOLEAN NOT NULL, -- up to 5 bytes, no duplicates\n"
        "    list TEXT, -- up to 3 bytes, no duplicates, 1 NULL\n"
        "    zip TEXT, -- up to 5 bytes, no duplicates, 1 NULL\n"
        "    late DOUBLE -- up to 3 bytes, no duplicates, 1 NULL\n"
        ");\n");
    run_shell("cd $D/.. && $T load --db $D --schema inferred.sql --max-errors 2 u=u.json", &run);
    assert_int_equal(run.exit_code, 0);
    answer_is("select id, code, n, day, late from u order by id",
              "id,code,n,day,late\n1,007,1.25,2024-02-29,\n2,,,,1000.0\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_fields),         cmocka_unit_test(wrong_objects_are_faults),
        cmocka_unit_test(layouts_have_the_same_rows), cmocka_unit_test(files_are_loaded_and_appended),
        cmocka_unit_test(wrong_members_are_told),     cmocka_unit_test(schemas_are_inferred),
    };
    return cmocka_run_group_tests(tests, make_schema, teardown);
}
