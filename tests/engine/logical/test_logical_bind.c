/* test_logical_bind.c: which tree of operators a statement becomes (engine/logical), over the star of sql_star.h. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/support/sql_star.h"

#include "engine/logical/logical.h"

#include <stdlib.h>
#include <string.h>

/* Binds a statement, and prints its tree. */
static char *tree_of(const char *sql)
{
    struct sql_statement_tree *syntax, *arena = sql_tree_new();
    struct logical_options options = {0};
    struct logical_tree tree;
    struct error error;
    size_t used, bytes;
    char *text = NULL;
    assert_non_null(arena);
    if (sql_parse(sql, strlen(sql), &syntax, &used, &error) != STATUS_OK)
        fail_msg("%s: %s", sql, error.text);
    if (logical_bind(database, sql_tree_select(syntax), &options, arena, &tree, &error) != STATUS_OK) {
        assert_true(asprintf(&text, "%s\n", error.text) > 0);
    } else {
        FILE *const out = open_memstream(&text, &bytes);
        assert_non_null(out);
        logical_write(&tree, out);
        fclose(out);
    }
    sql_tree_free(arena);
    sql_tree_free(syntax);
    return text;
}

int main(int argc, char **argv)
{
    (void)argc; (void)argv;
    return 0;
}
