/* test_rooms.c: who may include whom, and how large folders and files may grow.
 *
 * A room is a folder of the source tree; its files see each other, and beside them only what `rules` grants. Every
 * arrow runs downwards, so that a room can be read, tested and replaced without those above it. Each offence is
 * printed as file:line with its rule. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES       4096
#define FOLDER_FILES_MAX 30
#define FILE_LINES_MAX   700
#define FOLDERS_MAX      256

/* A file belongs to the first rule whose room its path begins with. `sees`: rooms and single headers, separated by
 * blanks; a folder's name grants all that is in it. */
struct rule {
    const char *room, *sees;
};

static const struct rule rules[] = {
    {"storage/base", ""},
    {"storage/codec", "storage/base"},
    {"storage/column", "storage/codec storage/base"},
    {"storage/index", "storage/column storage/codec storage/base"},
    {"storage/database", "storage/index storage/column storage/codec storage/base"},
    {"operators", "storage/codec storage/index storage/base"},
    {"loader/check", "engine/sql engine/plan engine/function storage"},
    {"loader", "loader/check storage"},
    {"engine/cuda", "storage/base"},
    {"engine/aggregate", "operators/group storage"},
    {"engine/function", "operators/dialect operators/group storage"},
    {"engine/plan", "engine/aggregate engine/function storage operators/dialect operators/window"},
    {"engine/sql", "engine/plan engine/aggregate engine/function storage"},
    {"engine/cpu",
     "engine/plan engine/aggregate engine/run/device.h engine/measure/ceiling.h operators storage"},
    {"engine/gpu", "engine/plan engine/aggregate engine/run/device.h engine/measure/ceiling.h engine/cuda "
                   "operators storage"},
    {"engine/run", "engine/plan engine/aggregate storage"},
    {"engine/answer", "engine/plan engine/function engine/aggregate storage"},
    {"engine/logical", "engine/sql engine/plan storage"},
    {"engine/explain", "engine/run engine/answer engine/plan engine/aggregate storage"},
    {"engine/relational", "engine/logical engine/explain engine/sql engine/run engine/answer engine/plan "
                          "engine/aggregate storage"},
    {"engine/report", "storage/base"},
    {"engine/measure", "engine/cuda engine/gpu/kernel_decoder.h engine/run operators storage"},
    {"engine/adbc", "engine/library engine/plan engine/function loader/arrow storage"},
    {"engine/library", "engine/relational engine/logical engine/explain engine/sql engine/run engine/answer "
                       "engine/plan loader storage"},
    {"engine/program/main.c", "engine loader/commands.h ssb/commands.h lab/commands.h storage"},
    {"engine/program/command_inspect.c", "engine loader/columnar/columnar_inspect.h storage"},
    {"engine/program/shell/redirect.c", "engine loader/text/text_file.h storage"},
    {"engine/program", "engine storage"},
    {"ssb", "engine operators loader storage"},
    {"lab", "ssb engine operators loader storage"},
    {"tests", "lab ssb engine operators loader storage"},
};

/* The tables of commands meet in main.c, and tests may see all; whoever else may see a module still does not see its
 * commands. */
static const char *const command_tables[] = {"loader/commands.h", "ssb/commands.h", "lab/commands.h"};
#define COMMANDS_RULE "tables of commands are for engine/program/main.c alone"

#define COUNT(array) (sizeof array / sizeof *(array))

/* ---- The rule ---- */

/* "a/b" is within "a" and "a/b", not within "a/bc". */
static bool is_within(const char *path, const char *room, size_t length)
{
    return strncmp(path, room, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static const struct rule *rule_of(const char *path)
{
    for (size_t r = 0; r < COUNT(rules); r++)
        if (is_within(path, rules[r].room, strlen(rules[r].room)))
            return &rules[r];
    return NULL;
}

static bool is_granted(const struct rule *rule, const char *header)
{
    for (const char *room = rule->sees; *room;) {
        const size_t length = strcspn(room, " ");
        if (is_within(header, room, length))
            return true;
        room += length + strspn(room + length, " ");
    }
    return false;
}

/* NULL if `file` may include `header`, else the rule against it. */
static const char *offence(const char *file, const char *header)
{
    static char text[PATH_BYTES];
    const struct rule *rule = rule_of(file);
    if (!rule)
        return "this folder is in no room: give it a rule";
    for (size_t t = 0; t < COUNT(command_tables); t++)
        if (strcmp(header, command_tables[t]) == 0 && rule_of(header) != rule &&
            strcmp(file, "engine/program/main.c") != 0 && !is_within(file, "tests", strlen("tests")))
            return COMMANDS_RULE;
    if (rule == rule_of(header) || is_granted(rule, header))
        return NULL;
    snprintf(text, sizeof text, "%s may include: %s", rule->room, rule->sees[0] ? rule->sees : "itself only");
    return text;
}

static void arrows_run_downwards(void **state)
{
    (void)state;
    assert_null(offence("storage/base/status.c", "storage/base/status.h"));
    assert_null(offence("storage/column/column.h", "storage/codec/codec.h"));
    assert_non_null(offence("storage/codec/chunk.h", "storage/column/column.h"));
    assert_non_null(offence("storage/column/column.h", "storage/database/database.h"));
    assert_non_null(offence("operators/dialect/tile_cpu.h", "storage/column/column.h"));
    assert_non_null(offence("loader/text/text_source.h", "engine/plan/plan.h"));
    assert_null(offence("engine/cpu/run.c", "engine/run/device.h"));
    assert_non_null(offence("engine/cpu/run.c", "engine/run/engine.h"));
    assert_non_null(offence("engine/plan/plan.c", "engine/sql/ast.h"));
    assert_null(offence("engine/report/page.c", "storage/base/file.h"));
    assert_non_null(offence("engine/report/page.c", "engine/answer/rowset.h"));
    assert_null(offence("ssb/data/load.c", "loader/table/table_loader.h"));
    assert_non_null(offence("ssb/data/load.c", "loader/commands.h"));
    assert_null(offence("ssb/commands.c", "ssb/commands.h"));
    assert_null(offence("engine/program/main.c", "ssb/commands.h"));
    assert_null(offence("engine/program/main.c", "engine/program/commands.h"));
    assert_non_null(offence("engine/program/commands.c", "loader/commands.h"));
    assert_null(offence("engine/program/command_inspect.c", "engine/program/commands.h"));
    assert_non_null(offence("engine/program/command_inspect.c", "loader/commands.h"));
    assert_null(offence("tests/engine/program/test_cli.c", "ssb/commands.h"));
    assert_non_null(offence("storage/new/thing.c", "storage/base/status.h"));
}

/* ---- The source tree ---- */

static struct {
    int files, offences;
    int folder_count;
    struct {
        char path[PATH_BYTES];
        int files;
    } folders[FOLDERS_MAX];
} tree;

static void count_folder(const char *file)
{
    const size_t length = (size_t)(strrchr(file, '/') - file);
    int f = 0;
    while (f < tree.folder_count &&
           (strncmp(tree.folders[f].path, file, length) != 0 || tree.folders[f].path[length]))
        f++;
    assert_in_range(f, 0, FOLDERS_MAX - 1);
    if (f == tree.folder_count)
        snprintf(tree.folders[tree.folder_count++].path, PATH_BYTES, "%.*s", (int)length, file);
    tree.folders[f].files++;
}

static void read_file(const char *file, FILE *stream)
{
    char text[1024], header[256];
    int line = 0;
    while (fgets(text, sizeof text, stream)) {
        line++;
        if (sscanf(text, " # include \"%255[^\"]\"", header) != 1)
            continue;
        const char *rule = offence(file, header);
        if (!rule)
            continue;
        print_error("%s:%d: includes %s; %s\n", file, line, header, rule);
        tree.offences++;
    }
    if (line > FILE_LINES_MAX) {
        print_error("%s: %d lines; a file has at most %d\n", file, line, FILE_LINES_MAX);
        tree.offences++;
    }
}

static int visit(const char *path, const struct stat *stat, int type, struct FTW *where)
{
    const char *const dot = strrchr(path, '.'), *const file = path + strlen(TESSERA_SOURCE) + 1;
    (void)stat;
    (void)where;
    if (type != FTW_F)
        return 0;
    if (!dot || (strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0 && strcmp(dot, ".cu") != 0))
        return 0;
    count_folder(file);
    FILE *stream = fopen(path, "re");
    assert_non_null(stream);
    read_file(file, stream);
    fclose(stream);
    tree.files++;
    return 0;
}

static void the_source_keeps_the_rules(void **state)
{
    static const char *const modules[] = {"storage", "operators", "engine", "loader", "ssb", "lab", "tests"};
    char path[PATH_BYTES];
    (void)state;
    for (size_t m = 0; m < COUNT(modules); m++) {
        snprintf(path, sizeof path, "%s/%s", TESSERA_SOURCE, modules[m]);
        nftw(path, visit, 16, FTW_PHYS);
    }
    for (int f = 0; f < tree.folder_count; f++)
        if (tree.folders[f].files > FOLDER_FILES_MAX) {
            print_error("%s: %d sources; a folder has at most %d\n", tree.folders[f].path,
                        tree.folders[f].files, FOLDER_FILES_MAX);
            tree.offences++;
        }
    assert_true(tree.files > 200);
    assert_int_equal(tree.offences, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrows_run_downwards),
        cmocka_unit_test(the_source_keeps_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
