/* expression_vector.c: see expression_vector.h. A program's vectors are in one block of memory: 9 KB a
 * node, 17 KB for strings that have no dictionary. */
#include "engine/plan/expression_loops.h"
#include "engine/plan/functions/text_call.h"

#include "storage/base/memory.h"

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
    const struct dictionary **dictionaries; /* of all nodes' strings; NULL: none are computed row by row */
    struct text_room room;                  /* of these */
};

/* What a node is in a program. */
enum { NODE_UNUSED, NODE_COMPUTED, NODE_GIVEN };

static size_t value_bytes(const struct expression *node)
{
    return VECTOR_ROWS * (is_run_time(node->type) ? sizeof(struct string_view) : sizeof(int64_t));
}

static enum status open_texts(struct expression_program *program, struct error *error)
{
    const struct expression_list *const list = program->list;
    RETURN_IF_ERROR(memory_take(&program->dictionaries, list->count * sizeof *program->dictionaries,
                                "vectors of expressions", error));
    for (uint32_t n = 0; n < list->count; n++)
        program->dictionaries[n] = list->nodes[n].type.dictionary;
    return text_room_open(&program->room, error);
}

static enum status lay_out(struct expression_program *program, const uint8_t *needed, struct error *error)
{
    const size_t nulls = VECTOR_ROWS;
    uint32_t total = 0;
    size_t bytes = 0;
    bool texts = false;
    for (uint32_t n = 0; n < program->list->count; n++) {
        total += needed[n] != NODE_UNUSED;
        bytes += needed[n] ? value_bytes(&program->list->nodes[n]) + nulls : 0;
        texts |= needed[n] == NODE_COMPUTED && program->list->nodes[n].by_row;
    }
    if (texts)
        RETURN_IF_ERROR(open_texts(program, error));
    program->nodes = malloc((total + 1) * sizeof *program->nodes);
    program->leaves = malloc((total + 1) * sizeof *program->leaves);
    program->vectors = calloc(program->list->count + 1, sizeof *program->vectors);
    program->memory = aligned_alloc(64, bytes + VECTOR_ROWS);
    if (!program->nodes || !program->leaves || !program->vectors || !program->memory)
        return error_out_of_memory(error, bytes, "vectors of expressions");
    memset(program->memory, 0, bytes);
    uint8_t *next = program->memory;
    for (uint32_t n = 0; n < program->list->count; n++) {
        if (!needed[n])
            continue;
        const struct expression *node = &program->list->nodes[n];
        const size_t values = value_bytes(node);
        program->vectors[n].values = (int64_t *)(void *)next;
        program->vectors[n].nulls = node->nullable ? next + values : NULL;
        next += values + nulls;
        if (expression_is_leaf(node->operation) || needed[n] == NODE_GIVEN)
            program->leaves[program->leaf_count++] = n;
        else if (node->operation == EXPRESSION_CONSTANT) /* evaluated here, once */
            program->loop(program->list, node, VECTOR_ROWS, NULL, program->vectors[n]);
        else
            program->nodes[program->count++] = n;
    }
    return STATUS_OK;
}

/* Marks what the roots need, down to the nodes that are given. Children come before their parents. */
static void mark(const struct expression_list *list, const uint32_t *roots, uint32_t root_count,
                 const uint8_t *given, uint8_t *needed)
{
    for (uint32_t r = 0; r < root_count; r++)
        needed[roots[r]] = NODE_COMPUTED;
    for (uint32_t n = list->count; n-- > 0;) {
        if (needed[n] && given && given[n])
            needed[n] = NODE_GIVEN;
        for (uint32_t c = 0; needed[n] == NODE_COMPUTED && c < list->nodes[n].children; c++)
            needed[list->nodes[n].child[c]] = NODE_COMPUTED;
    }
}

enum status expression_program_create(const struct expression_list *list, const uint32_t *roots,
                                      uint32_t root_count, struct expression_program **out,
                                      struct error *error)
{
    return expression_program_over(list, NULL, roots, root_count, out, error);
}

enum status expression_program_over(const struct expression_list *list, const uint8_t *given,
                                    const uint32_t *roots, uint32_t root_count,
                                    struct expression_program **out, struct error *error)
{
    struct expression_program *program = calloc(1, sizeof *program);
    uint8_t *needed = calloc(list->count + 1, 1);
    enum status status;
    if (program && needed) {
        program->list = list;
        program->loop = ISA_CHOICE(expression_loop);
        mark(list, roots, root_count, given, needed);
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
    if (program->dictionaries)
        text_room_close(&program->room);
    free(program->dictionaries);
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

void expression_program_strings(struct expression_program *program, uint32_t node,
                                const struct dictionary *dictionary)
{
    if (program->dictionaries)
        program->dictionaries[node] = dictionary;
}

struct string_value expression_program_string(const struct expression_program *program, uint32_t node,
                                              uint32_t row)
{
    return string_of_view(program->room.buffers,
                          (const struct string_view *)(const void *)program->vectors[node].values + row);
}

void expression_program_run(struct expression_program *program, uint32_t rows)
{
    const struct text_values values = {program->vectors, program->dictionaries};
    if (program->dictionaries)
        string_writer_rewind(&program->room.writer);
    for (uint32_t i = 0; rows > 0 && i < program->count; i++) {
        const struct expression *node = &program->list->nodes[program->nodes[i]];
        struct vector children[3];
        if (node->operation == EXPRESSION_TEXT || is_run_time(node->type)) {
            text_node_run(program->list, node, rows, &values, &program->room,
                          program->vectors[program->nodes[i]]);
            continue;
        }
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
