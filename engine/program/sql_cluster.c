/* sql_cluster.c: several processes run the statements that process 0 reads (sql_shell.h). */
#include "engine/program/sql_shell.h"

#include "storage/base/parallel.h"

#include <stdlib.h>

enum status sql_shell_share(struct sql_shell *shell, const char *text, size_t length, struct error *error)
{
    char *shared = (char *)text;
    return cluster_text(shell->options.cluster, &shared, &length, text != NULL, error);
}

enum status sql_shell_end(struct sql_shell *shell, enum status status, struct error *error)
{
    return cluster_agree(shell->options.cluster, CLUSTER_STATEMENT, status, error);
}

enum status sql_shell_follow(struct sql_shell *shell, struct error *error)
{
    while (!shell->quit) {
        char *text = NULL;
        size_t length = 0;
        enum status status = cluster_text(shell->options.cluster, &text, &length, false, error);
        if (status != STATUS_OK || !text) {
            free(text);
            return status;
        }
        status = sql_shell_script(shell, text, length, error);
        free(text);
        /* Process 0 has the failure, too. It ends a script, and then there is no next text; a prompt goes on. */
        status = sql_shell_end(shell, status, error);
        if (status == STATUS_INTERRUPTED)
            execution_resume(execution_current());
    }
    return STATUS_OK;
}
