/* expression_vector.c: see expression_vector.h. A program's vectors are in one block of memory: 9 KB a
 * node. */
#include "engine/plan/expression_loops.h"

#include <stdlib.h>
#include <string.h>

struct expression_program {
    const struct expression_list *list;
    expression_loop *loop;
    uint32_t count, leaf_count;
    uint32_t *nodes;        /* the nodes to evaluate, ascending */
    uint32_t *leaves;       /* the leaves, which the caller fills */
    struct vector *vectors; /* of all nodes of the list; empty for nodes that are not needed */
    uint8_t *memory;
};

static enum status lay_out(struct expression_program *program, const uint8_t *needed, struct error *error)
{
    const size_t values = VECTOR_ROWS * sizeof(int64_t), nulls = VECTOR_ROWS;
    uint32_t total = 0;
    for (uint32_t n = 0; n < program->list->count; n++)
        total += needed[n];
    program->nodes = malloc((total + 1) * sizeof *program->nodes);
    program->leaves = malloc((total + 1) * sizeof *program->leaves);
    program->vectors = calloc(program->list->count + 1, sizeof *program->vectors);
    program->memory = aligned_alloc(64, (total + 1) * (values + nulls));
    if (!program->nodes || !program->leaves || !program->vectors || !program->memory)
        return error_out_of_memory(error, total * (values + nulls), "vectors of expressions");
    memset(program->memory, 0, (total + 1) * (values + nulls));
    uint8_t *next = program->memory;
    for (uint32_t n = 0; n < program->list->count; n++) {
        if (!needed[n])
            continue;
        const struct expression *node = &program->list->nodes[n];
        program->vectors[n].values = (int64_t *)(void *)next;
        program->vectors[n].nulls = node->nullable ? next + values : NULL;
        next += values + nulls;
        if (expression_is_leaf(node->operation))
            program->leaves[program->leaf_count++] = n;
        else if (node->operation == EXPRESSION_CONSTANT) /* evaluated here, once */
            program->loop(program->list, node, VECTOR_ROWS, NULL, program->vectors[n]);
        else
            program->nodes[program->count++] = n;
    }
    return STATUS_OK;
}

enum status expression_program_create(const struct expression_list *list, const uint32_t *roots,
                                      uint32_t root_count, struct expression_program **out,
                                      struct error *error)
{
    struct expression_program *program = calloc(1, sizeof *program);
    uint8_t *needed = calloc(list->count + 1, 1);
    enum status status;
    if (program && needed) {
        program->list = list;
        program->loop = ISA_CHOICE(expression_loop);
        for (uint32_t r = 0; r < root_count; r++)
            expression_mark(list, roots[r], needed);
        status = lay_out(program, needed, error);
    } else {
        status = error_out_of_memory(error, list->count, "vectors of expressions");
    }
    free(needed);
    if (status == STATUS_OK)
        *out = program;
    else
        expression_program_free(program);
    return status;
}

void expression_program_free(struct expression_program *program)
{
    if (!program)
        return;
    free(program->nodes);
    free(program->leaves);
    free(program->vectors);
    free(program->memory);
    free(program);
}

uint32_t expression_program_leaves(const struct expression_program *program, const uint32_t **nodes)
{
    *nodes = program->leaves;
    return program->leaf_count;
}

struct vector expression_program_vector(const struct expression_program *program, uint32_t node)
{
    return program->vectors[node];
}

void expression_program_run(struct expression_program *program, uint32_t rows)
{
    for (uint32_t i = 0; rows > 0 && i < program->count; i++) {
        const struct expression *node = &program->list->nodes[program->nodes[i]];
        struct vector children[3];
        for (uint32_t c = 0; c < node->children; c++)
            children[c] = program->vectors[node->child[c]];
        program->loop(program->list, node, rows, children, program->vectors[program->nodes[i]]);
    }
}

struct scalar expression_scalar(const struct expression_list *list, const struct expression *node,
                                const struct scalar *children)
{
    struct scalar out = {0, false};
    struct vector vectors[3];
    int64_t values[3];
    uint8_t nulls[3], null = expression_is_leaf(node->operation);
    for (uint32_t c = 0; c < 3; c++) {
        values[c] = children[c].value;
        nulls[c] = children[c].null;
        vectors[c] = (struct vector){&values[c], &nulls[c]};
    }
    expression_loop_baseline(list, node, 1, vectors, (struct vector){&out.value, &null});
    out.null = null;
    return out;
}
