/* explain_tree.c: draws branches before the lines of a plan (explain_tree.h). */
#include "engine/explain/explain_tree.h"
#include "storage/base/text/text_stream.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BRANCH_BLANKS 2u

static size_t blanks_before(const char *line)
{
    return strspn(line, " ");
}

static const char *next_line(const char *line)
{
    const char *const end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* True if another branch follows the line before the next line that is not indented. */
static bool more_branches(const char *line)
{
    for (line = next_line(line); *line && blanks_before(line) >= BRANCH_BLANKS; line = next_line(line))
        if (blanks_before(line) == BRANCH_BLANKS)
            return true;
    return false;
}

char *explain_tree(const char *text)
{
    char *tree = NULL;
    size_t bytes = 0;
    FILE *const out = text_stream(&tree, &bytes);
    if (!out)
        return NULL;
    for (const char *line = text; *line; line = next_line(line)) {
        const size_t blanks = blanks_before(line), length = (size_t)(next_line(line) - line);
        if (blanks == BRANCH_BLANKS)
            fprintf(out, "%s%.*s", more_branches(line) ? "├─" : "└─", (int)length, line);
        else if (blanks > BRANCH_BLANKS) /* it moves as far as its branch does */
            fprintf(out, "%s%.*s", more_branches(line) ? "│ " : "  ", (int)length, line);
        else
            fwrite(line, 1, length, out);
    }
    if (fclose(out) == 0)
        return tree;
    free(tree);
    return NULL;
}
