/* operator.c: what EXPLAIN tells of an operator: its inputs, the rows that were expected and that it gave, its time and its
 * memory (relational.h, explain.h). */
#include "engine/relational/relational.h"

#include "storage/base/clock.h"
#include "storage/base/execution/execution.h"
#include "storage/base/execution/memory_account.h"

#include <math.h>
#include <string.h>

/* Numbers of rows above this are as good as any. */
#define EXPECTED_ROWS_MAX 1e18

void operator_begin(struct relational *run, const char *name, const struct result *first,
                    const struct result *second, struct operator* operator)
{
    struct memory_account *const account = execution_memory();
    *operator=(struct operator){.node = explain_new(run->explained, name), .begin_ms = clock_ms()};
    if (!operator->node)
        return;
    explain_under(operator->node, first ? first->explained : NULL);
    explain_under(operator->node, second ? second->explained : NULL);
    if (!account)
        return;
    operator->most = account->most;
    operator->spilled = account->spilled;
    account->most = account->used;
}

static void put_expected(struct operator* operator, double expected, struct result *result)
{
    explain_count(operator->node, "estimated_rows", round(expected));
    result->explained = operator->node;
}

void operator_end(struct relational *run, struct operator* operator, double expected, struct result *result)
{
    struct memory_account *const account = execution_memory();
    struct explain_node *const node = operator->node;
    if (!node)
        return;
    put_expected(operator, expected, result);
    if (run->dry)
        return;
    explain_count(node, "rows", result->rows);
    if (!explain_find(node, "ms"))
        explain_ms(node, "ms", clock_ms() - operator->begin_ms);
    if (!explain_find(node, "bytes"))
        explain_bytes(node, "bytes", result->rows * result->column_count * sizeof(int64_t));
    if (!explain_find(node, "device"))
        explain_words(node, "device", "CPU, %u threads", engine_threads(run->task->engine));
    if (!account)
        return;
    explain_bytes(node, "memory_bytes", account->most);
    if (account->spilled > operator->spilled)
        explain_bytes(node, "spilled_bytes", (account->spilled - operator->spilled));
    account->most = operator->most> account->most ? operator->most : account->most;
}

void operator_dry(struct operator* operator, double expected, struct result *result)
{
    const double rows = expected < 0 ? 0 : expected > EXPECTED_ROWS_MAX ? EXPECTED_ROWS_MAX : expected;
    *result = (struct result){.rows = (uint64_t)llround(rows)};
    put_expected(operator, rows, result);
}

void operator_words(struct relational *run, struct explain_node *node, const char *name,
                    struct sql_expression *const *list, uint32_t count)
{
    struct explain_writer writer;
    if (!count || !explain_write_begin(node, &writer))
        return;
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", writer.out);
        logical_write_expression(run->tree, list[i], true, writer.out);
    }
    explain_write_end(node, name, &writer);
}

struct explain_node *operator_scan(const struct result *result)
{
    struct explain_node *at = result->explained;
    for (struct explain_node *part = at ? at->first : NULL; part; part = part->next)
        at = strcmp(part->operator, "scan") == 0 ? part : at;
    return at;
}
