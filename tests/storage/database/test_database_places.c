/* test_database_places.c: things in a database's directory that are no files: FIFOs, links, directories. Nobody waits
 * for them, and nothing is written to or removed from where they lead. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/database_files.h"

#define VICTIM_TEXT "what somebody else wrote"

static int setup(void **state)
{
    static char path[PATH_BYTES];
    directory_make(path);
    database_make(path, "lane-for", ROWS);
    *state = path;
    return 0;
}

static int teardown(void **state)
{
    directory_remove(*state);
    return 0;
}

static const char *place(const char *path, const char *name)
{
    static char places[64][2 * PATH_BYTES];
    static int next;
    char *text = places[next++ % 64];
    snprintf(text, sizeof places[0], "%s/%s", path, name);
    return text;
}

static void put_link(const char *path, const char *name, const char *target)
{
    unlink(place(path, name));
    assert_int_equal(symlink(target, place(path, name)), 0);
}

static void assert_untouched(const char *victim)
{
    struct bytes bytes = bytes_of(victim);
    assert_int_equal(bytes.size, strlen(VICTIM_TEXT));
    assert_memory_equal(bytes.data, VICTIM_TEXT, bytes.size);
    free(bytes.data);
}

/* ---- FIFOs ---- */

static void a_fifo_or_directory_in_place_of_a_file_is_named(void **state)
{
    const char *path = *state;
    static const char *const names[] = {"catalogue", "tables/sale/s_day.lane-for.1",
                                        "tables/sale/s_day.side.1", "tables/sale/s_note.side.1"};
    alarm(60); /* a reader that waits for a FIFO's writer waits for ever */
    for (int n = 0; n < 4; n++)
        for (int directory = 0; directory < 2; directory++) {
            const char *name = place(path, names[n]), *away = place(path, "away"),
                       *what = directory ? "it is a directory" : "it is a FIFO";
            assert_int_equal(rename(name, away), 0);
            assert_int_equal(directory ? mkdir(name, 0777) : mkfifo(name, 0666), 0);
            must_refuse(STATUS_BAD_INPUT, name, what, "", read_all(path, "lane-for", error));
            must_refuse(STATUS_BAD_INPUT, name, what, "",
                        n ? read_all(path, "lane-for", error)
                          : database_check(path, 1, NULL, NULL, NULL, error));
            assert_int_equal(remove(name), 0);
            assert_int_equal(rename(away, name), 0);
        }
    alarm(0);
    must(read_all(path, "lane-for", error));
}

static void a_writer_waits_for_no_fifo(void **state)
{
    const char *path = *state;
    struct database_writer *writer;
    alarm(60);
    assert_int_equal(mkfifo(place(path, "catalogue.7"), 0666), 0);
    database_make(path, "plain", ROWS);
    assert_int_equal(unlink(place(path, "tessera.lock")), 0);
    assert_int_equal(mkfifo(place(path, "tessera.lock"), 0666), 0);
    must_refuse(STATUS_BAD_INPUT, "tessera.lock", "it is a FIFO", path,
                database_writer_open(path, &writer, error));
    alarm(0);
    must(read_all(path, "plain", error));
}

/* ---- Links ---- */

/* Put there when the writer has looked for what is left of others. */
static void what_is_written_follows_no_link(void **state)
{
    const char *path = *state;
    static const char *const names[] = {"tables/sale/s_day.plain.2", "tables/sale/s_day.side.2",
                                        "tables/color/c_name.side.2", "catalogue.new", "catalogue.1"};
    const char *victim = place(path, "../victim");
    struct database_writer *writer;
    bytes_write(victim, VICTIM_TEXT, strlen(VICTIM_TEXT));
    must(database_writer_open(path, &writer, error));
    for (int n = 0; n < 5; n++)
        put_link(path, names[n], victim);
    write_color(writer, "plain");
    write_sale(writer, "plain", ROWS);
    must(database_writer_commit(writer, error));
    assert_untouched(victim);
    must(read_all(path, "plain", error));
    must(database_check(path, 1, NULL, NULL, NULL, error));
}

static void a_lock_that_is_a_link_makes_no_file_elsewhere(void **state)
{
    const char *path = *state;
    struct database_writer *writer;
    struct stat stat_of;
    put_link(path, "tessera.lock", place(path, "../made"));
    must_refuse(STATUS_BAD_INPUT, "tessera.lock", "symbolic link", path,
                database_writer_open(path, &writer, error));
    assert_int_equal(stat(place(path, "../made"), &stat_of), -1);
}

/* tables/ of another database would be cleaned by what this one's catalogue says. */
static void tables_that_are_links_are_read_but_not_changed(void **state)
{
    const char *path = *state;
    static const char *const names[] = {"tables", "tables/sale"};
    for (int n = 0; n < 2; n++) {
        const char *name = place(path, names[n]), *there = place(path, n ? "../sale" : "../tables");
        struct database_writer *writer;
        assert_int_equal(rename(name, there), 0);
        assert_int_equal(symlink(there, name), 0);
        const char *stale = place(there, n ? "s_day.plain.9" : "sale/s_day.plain.9");
        bytes_write(stale, VICTIM_TEXT, strlen(VICTIM_TEXT));
        must(read_all(path, "lane-for", error));
        enum status status = database_writer_open(path, &writer, NULL);
        if (status == STATUS_OK) {
            struct table_writer *table;
            must_refuse(
                STATUS_BAD_INPUT, name, "symbolic link", "",
                database_writer_table(writer, "sale", sale_columns, SALE_COLUMNS - 1, 3, &table, error));
            database_writer_abort(writer);
        }
        assert_untouched(stale);
        assert_int_equal(unlink(stale), 0);
        assert_int_equal(unlink(name), 0);
        assert_int_equal(rename(there, name), 0);
    }
    must(read_all(path, "lane-for", error));
}

/* The database itself may lie behind a link, and files on another disk be linked to. */
static void links_are_read_through(void **state)
{
    const char *path = *state;
    const char *link = place(path, "../link");
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(rename(place(path, "tables/sale/s_day.side.1"), place(path, "../elsewhere")), 0);
    put_link(path, "tables/sale/s_day.side.1", place(path, "../elsewhere"));
    must(read_all(link, "lane-for", error));
    database_make(link, "plain", ROWS);
    must(read_all(link, "plain", error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_fifo_or_directory_in_place_of_a_file_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_writer_waits_for_no_fifo, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_written_follows_no_link, setup, teardown),
        cmocka_unit_test_setup_teardown(a_lock_that_is_a_link_makes_no_file_elsewhere, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_that_are_links_are_read_but_not_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(links_are_read_through, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
