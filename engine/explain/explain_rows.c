/* explain_rows.c: the tree of EXPLAIN as an answer: lines of text, or JSON (explain.h). */
#include "engine/explain/explain.h"
#include "storage/base/text/json_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Nodes inside each other: jansson prints no more. */
#define JSON_NODES_MAX (JSON_PARSER_MAX_DEPTH / 2 - 1)

static json_t *node_json(const struct explain_node *node)
{
    json_t *const object = json_pack("{s:s}", "operator", node->operator), *inputs = NULL;
    bool good = object != NULL;
    for (const struct explain_field *field = node->fields; good && field; field = field->next) {
        const double number = field->unit == EXPLAIN_COUNT ? round(field->number) : field->number;
        json_t *const value = field->unit == EXPLAIN_TEXT ? json_string(field->text)
                              : number == (double)(json_int_t)number && fabs(number) < 1e15
                                  ? json_integer((json_int_t)number)
                                  : json_real(number);
        good = json_object_set_new(object, field->name, value) == 0;
    }
    if (good && node->first) {
        inputs = json_array();
        good = json_object_set_new(object, "inputs", inputs) == 0;
    }
    for (const struct explain_node *input = node->first; good && input; input = input->next)
        good = json_array_append_new(inputs, node_json(input)) == 0;
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

static unsigned depth_of(const struct explain_node *node)
{
    unsigned deepest = 0;
    for (const struct explain_node *input = node->first; input; input = input->next) {
        const unsigned depth = depth_of(input);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static enum status json_rows(const struct explain_node *root, struct rowset *rows, struct error *error)
{
    static const char *const names[] = {"plan"};
    static const struct value_type type = {.kind = VALUE_STRING};
    struct rowset_builder *builder = NULL;
    if (depth_of(root) > JSON_NODES_MAX)
        return error_set(
            error, STATUS_BAD_INPUT,
            "the plan has more than %d operators in each other, which is too deep for JSON; leave "
            "FORMAT JSON out",
            JSON_NODES_MAX);
    json_t *const json = node_json(root);
    char *const text = json ? json_print(json, 0) : NULL;
    json_decref(json);
    if (!text)
        return error_out_of_memory(error, 4096, "a plan's text");
    enum status status = rowset_builder_create(1, names, &type, &builder, error);
    if (status == STATUS_OK)
        status = rowset_builder_add(
            builder, &(struct rowset_cell){.string = text, .length = (uint32_t)strlen(text)}, error);
    if (status == STATUS_OK)
        rowset_builder_finish(builder, rows);
    rowset_builder_free(builder);
    free(text);
    return status;
}

enum status explain_rows(const struct explain_tree *tree, bool json, struct rowset *rows, struct error *error)
{
    const struct explain_node *const root = explain_root(tree);
    char *text;
    if (!root)
        return error_out_of_memory(error, BUFSIZ, "a plan's text");
    if (json)
        return json_rows(root, rows, error);
    RETURN_IF_ERROR(explain_text(root, &text, error));
    const enum status status = rowset_of_lines(rows, "plan", text, error);
    free(text);
    return status;
}
