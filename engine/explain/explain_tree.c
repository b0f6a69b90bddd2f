/* explain_tree.c: the tree that EXPLAIN fills (explain.h). */
#include "engine/explain/explain.h"
#include "storage/base/number/number_text.h"
#include "storage/base/text/text_stream.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A block of the tree's memory. */
struct owned {
    struct owned *before;
    max_align_t memory[];
};

struct explain_tree {
    struct owned *owned;
    struct explain_node *root;
    bool failed; /* memory was missing */
};

enum status explain_tree_new(struct explain_tree **tree, struct error *error)
{
    *tree = calloc(1, sizeof **tree);
    return *tree ? STATUS_OK : error_out_of_memory(error, sizeof **tree, "a plan's text");
}

void explain_tree_free(struct explain_tree *tree)
{
    while (tree && tree->owned) {
        struct owned *const before = tree->owned->before;
        free(tree->owned);
        tree->owned = before;
    }
    free(tree);
}

struct explain_node *explain_root(const struct explain_tree *tree)
{
    return tree->failed ? NULL : tree->root;
}

static void *take(struct explain_tree *tree, size_t bytes)
{
    struct owned *const owned = calloc(1, sizeof *owned + bytes);
    if (!owned) {
        tree->failed = true;
        return NULL;
    }
    owned->before = tree->owned;
    tree->owned = owned;
    return owned->memory;
}

struct explain_node *explain_new(struct explain_tree *tree, const char *operator)
{
    struct explain_node *const node = tree ? take(tree, sizeof *node) : NULL;
    if (!node)
        return NULL;
    *node = (struct explain_node){.operator= operator, .tree = tree };
    return node;
}

void explain_under(struct explain_node *parent, struct explain_node *node)
{
    if (!parent || !node)
        return;
    for (struct explain_node **at = node->above ? &node->above->first : NULL; at && *at; at = &(*at)->next)
        if (*at == node) {
            *at = node->next;
            break;
        }
    node->above = parent;
    node->next = NULL;
    struct explain_node **last = &parent->first;
    while (*last)
        last = &(*last)->next;
    *last = node;
}

struct explain_node *explain_part(struct explain_node *parent, const char *operator)
{
    struct explain_node *const node = parent ? explain_new(parent->tree, operator) : NULL;
    explain_under(parent, node);
    return node;
}

void explain_set_root(struct explain_node *node)
{
    if (node)
        node->tree->root = node;
}

const struct explain_field *explain_find(const struct explain_node *node, const char *name)
{
    const struct explain_field *field = node ? node->fields : NULL;
    while (field && strcmp(field->name, name) != 0)
        field = field->next;
    return field;
}

double explain_value(const struct explain_node *node, const char *name)
{
    const struct explain_field *const field = explain_find(node, name);
    return field ? field->number : 0;
}

static void set(struct explain_node *node, const struct explain_field *field)
{
    struct explain_field **at = &node->fields;
    while (*at && strcmp((*at)->name, field->name) != 0)
        at = &(*at)->next;
    struct explain_field *const next = *at ? (*at)->next : NULL;
    if (!*at)
        *at = take(node->tree, sizeof **at);
    if (!*at)
        return;
    **at = *field;
    (*at)->next = next;
}

void explain_number(struct explain_node *node, const char *name, enum explain_unit unit, double number)
{
    if (node)
        set(node, &(struct explain_field){.name = name, .unit = unit, .number = number});
}

static void set_text(struct explain_node *node, const char *name, const char *text)
{
    char *const copy = take(node->tree, strlen(text) + 1);
    if (copy)
        set(node, &(struct explain_field){.name = name, .text = strcpy(copy, text)});
}

void explain_words(struct explain_node *node, const char *name, const char *format, ...)
{
    struct explain_writer writer;
    va_list arguments;
    if (!explain_write_begin(node, &writer))
        return;
    va_start(arguments, format);
    number_write_list(writer.out, format, arguments);
    va_end(arguments);
    explain_write_end(node, name, &writer);
}

bool explain_write_begin(struct explain_node *node, struct explain_writer *writer)
{
    *writer = (struct explain_writer){0};
    if (!node)
        return false;
    writer->out = text_stream(&writer->text, &writer->bytes);
    node->tree->failed |= !writer->out;
    return writer->out != NULL;
}

void explain_write_end(struct explain_node *node, const char *name, struct explain_writer *writer)
{
    if (fclose(writer->out) == 0)
        set_text(node, name, writer->text);
    else
        node->tree->failed = true;
    free(writer->text);
}
