/* file_parts.c: see file_parts.h. */
#include "engine/library/files/file_parts.h"

#include "engine/plan/tiles/truths.h"
#include "engine/plan/value_text.h"
#include "engine/sql/scalar.h"
#include "loader/columnar/columnar_bounds.h"
#include "storage/base/memory.h"
#include "storage/base/sort/sort.h"

#include <stdlib.h>
#include <string.h>

/* Larger conditions, of long lists, are not asked, because each is bound for each part. */
#define CONDITION_NODES_MAX   1024u
#define CONDITION_COLUMNS_MAX 16u
#define WORK_MAX              (1u << 22) /* nodes times parts, of a statement */

/* A condition of a scan. */
struct condition {
    const struct sql_expression *expression;
    uint32_t scan; /* of the walk's scans */
    uint32_t nodes, column_count;
    uint32_t inputs[CONDITION_COLUMNS_MAX]; /* numbers of SQL_INPUTs in it */
    uint32_t stored[CONDITION_COLUMNS_MAX]; /* the table's columns that they are */
    bool parameters;
};

struct walk {
    const struct table *table;
    struct logical_tree *tree;
    const struct logical_options *options;
    uint32_t *same; /* of each column of the tree, one below it that has the same values; itself */
    uint32_t scan_count, condition_count;
    struct condition *conditions;
    bool whole; /* some scan has no condition that can be asked */
    struct error *error;
};

/* ---- Conditions that can be asked ---- */

/* The table's column that an SQL_INPUT is, if the scan gives it. */
static bool find_stored(const struct walk *walk, const struct logical_node *scan, uint32_t input,
                        uint32_t *stored)
{
    while (walk->same[input] != input)
        input = walk->same[input];
    for (uint32_t c = 0; c < scan->column_count; c++)
        if (scan->columns[c] == input) {
            *stored = scan->scan.stored[c];
            return true;
        }
    return false;
}

static bool add_input(const struct walk *walk, const struct logical_node *scan, uint32_t input,
                      struct condition *condition)
{
    const uint32_t n = condition->column_count;
    for (uint32_t i = 0; i < n; i++)
        if (condition->inputs[i] == input)
            return true;
    if (n == CONDITION_COLUMNS_MAX || !find_stored(walk, scan, input, &condition->stored[n]))
        return false;
    condition->inputs[n] = input;
    condition->column_count++;
    return true;
}

static bool is_string(const struct walk *walk, const struct sql_expression *expression)
{
    return expression->operation == SQL_INPUT &&
           walk->tree->columns[expression->index].type.kind == VALUE_STRING;
}

static bool is_string_constant(const struct walk *walk, const struct sql_expression *expression)
{
    return expression->operation == SQL_STRING || expression->operation == SQL_NULL ||
           (expression->operation == SQL_PARAMETER && expression->index < walk->options->parameter_count &&
            walk->options->parameters[expression->index].type.kind == VALUE_STRING);
}

/* Of a column of strings only its ends are known, not which strings are between them: so it may be compared with constants, and
 * nothing may be computed of it. */
static bool takes_strings(const struct walk *walk, const struct sql_expression *expression)
{
    if (expression->operation == SQL_IS_NULL)
        return true;
    bool takes = (expression->operation >= SQL_EQUAL && expression->operation <= SQL_GREATER_EQUAL) ||
                 expression->operation == SQL_BETWEEN || expression->operation == SQL_IN;
    uint32_t columns = 0;
    for (uint32_t c = 0; c < expression->child_count; c++) {
        columns += is_string(walk, expression->children[c]);
        takes &=
            is_string(walk, expression->children[c]) || is_string_constant(walk, expression->children[c]);
    }
    return takes && columns == 1;
}

/* Whether a part's ranges may decide the expression; notes what it reads. */
static bool can_ask(const struct walk *walk, const struct logical_node *scan,
                    const struct sql_expression *expression, bool strings, struct condition *condition)
{
    if (++condition->nodes > CONDITION_NODES_MAX || expression->query || expression->keys ||
        expression->window)
        return false;
    condition->parameters |= expression->operation == SQL_PARAMETER;
    if (expression->operation == SQL_INPUT)
        return (strings || !is_string(walk, expression)) &&
               add_input(walk, scan, expression->index, condition);
    strings = takes_strings(walk, expression);
    for (uint32_t c = 0; c < expression->child_count; c++)
        if (!can_ask(walk, scan, expression->children[c], strings, condition))
            return false;
    return true;
}

static enum status add_conditions(struct walk *walk, const struct logical_node *scan,
                                  const struct sql_expression *expression)
{
    struct condition condition = {.expression = expression, .scan = walk->scan_count};
    if (expression->operation == SQL_AND) {
        for (uint32_t c = 0; c < expression->child_count; c++)
            RETURN_IF_ERROR(add_conditions(walk, scan, expression->children[c]));
        return STATUS_OK;
    }
    if (!can_ask(walk, scan, expression, false, &condition) || condition.column_count == 0)
        return STATUS_OK;
    RETURN_IF_ERROR(memory_grow(&walk->conditions, (walk->condition_count + 1ull) * sizeof *walk->conditions,
                                "conditions", walk->error));
    walk->conditions[walk->condition_count++] = condition;
    return STATUS_OK;
}

/* ---- The tree ---- */

/* Conditions that the rows of a node must pass to count, from the nearest on. */
struct asked {
    const struct asked *above;
    const struct sql_expression *condition;
};

static enum status take_scan(struct walk *walk, const struct logical_node *scan, const struct asked *asked)
{
    const uint32_t before = walk->condition_count;
    for (; asked; asked = asked->above)
        if (asked->condition)
            RETURN_IF_ERROR(add_conditions(walk, scan, asked->condition));
    walk->scan_count++;
    walk->whole |= walk->condition_count == before;
    return STATUS_OK;
}

static enum status walk_node(struct walk *walk, const struct logical_node *node, const struct asked *asked);

/* A row of the left side that passes no condition above the join counts for nothing, whatever it is joined with. One of the right
 * side must pass ON to be joined at all; but of an outer join it is there without, too. */
static enum status walk_join(struct walk *walk, const struct logical_node *node, const struct asked *asked)
{
    const struct asked on = {node->join.join == LOGICAL_INNER ? asked : NULL, node->join.condition};
    if (node->join.join == LOGICAL_FULL) {
        RETURN_IF_ERROR(walk_node(walk, node->inputs[0], NULL));
        return walk_node(walk, node->inputs[1], NULL);
    }
    RETURN_IF_ERROR(walk_node(walk, node->inputs[0], node->join.join == LOGICAL_INNER ? &on : asked));
    return walk_node(walk, node->inputs[1], &on);
}

/* A query of WITH that is named once passes on what is asked of its answer. */
static enum status walk_shared(struct walk *walk, const struct logical_node *node, const struct asked *asked)
{
    const struct logical_shared *const shared = &walk->tree->shared[node->shared.shared];
    if (shared->references != 1)
        return STATUS_OK;
    for (uint32_t c = 0; c < node->column_count; c++)
        walk->same[node->columns[c]] = shared->root->columns[c];
    return walk_node(walk, shared->root, asked);
}

static enum status walk_node(struct walk *walk, const struct logical_node *node, const struct asked *asked)
{
    const struct asked filter = {asked, node->kind == LOGICAL_FILTER ? node->filter.condition : NULL};
    switch (node->kind) {
    case LOGICAL_SCAN:
        return node->scan.table == walk->table ? take_scan(walk, node, asked) : STATUS_OK;
    case LOGICAL_FILTER:
        return walk_node(walk, node->inputs[0], &filter);
    case LOGICAL_SORT:
        return walk_node(walk, node->inputs[0], asked);
    case LOGICAL_PROJECT:
        for (uint32_t c = 0; c < node->column_count; c++)
            if (node->project.expressions[c]->operation == SQL_INPUT)
                walk->same[node->columns[c]] = node->project.expressions[c]->index;
        return walk_node(walk, node->inputs[0], asked);
    case LOGICAL_JOIN:
        return walk_join(walk, node, asked);
    case LOGICAL_SHARED:
        return walk_shared(walk, node, asked);
    default:
        for (uint32_t i = 0; i < node->input_count; i++)
            RETURN_IF_ERROR(walk_node(walk, node->inputs[i], NULL));
        return STATUS_OK;
    }
}

static enum status walk_tree(struct walk *walk)
{
    struct logical_tree *const tree = walk->tree;
    RETURN_IF_ERROR(
        memory_take(&walk->same, (tree->column_count + 1ull) * sizeof *walk->same, "columns", walk->error));
    for (uint32_t c = 0; c < tree->column_count; c++)
        walk->same[c] = c;
    RETURN_IF_ERROR(walk_node(walk, tree->root, NULL));
    for (uint32_t s = 0; s < tree->shared_count; s++)
        if (tree->shared[s].references != 1)
            RETURN_IF_ERROR(walk_node(walk, tree->shared[s].root, NULL));
    return STATUS_OK;
}

/* ---- A condition in a part ---- */

/* What an expression is bound over. */
struct question {
    const struct walk *walk;
    const struct condition *condition;
    const struct columnar_bounds *bounds;                   /* of the table's columns */
    struct dictionary *dictionaries[CONDITION_COLUMNS_MAX]; /* of its columns of strings */
    int64_t low[CONDITION_COLUMNS_MAX], high[CONDITION_COLUMNS_MAX];
};

static uint32_t place_of(const struct question *question, uint32_t input)
{
    uint32_t place = 0;
    while (question->condition->inputs[place] != input)
        place++;
    return place;
}

/* Columns of which the part has NULLs alone are NULL, of no type. */
static struct sql_input input_of(const void *context, uint32_t index)
{
    const struct question *const question = context;
    const uint32_t place = place_of(question, index), c = question->condition->stored[place];
    struct sql_input input = {column_value_type(&question->walk->table->columns[c]),
                              question->bounds[c].nulls};
    input.type.untyped |= !question->bounds[c].values;
    input.type.dictionary = question->dictionaries[place];
    return input;
}

static void range_of(const void *context, uint32_t index, int64_t *low, int64_t *high)
{
    const struct question *const question = context;
    const uint32_t place = place_of(question, index);
    *low = question->low[place];
    *high = question->high[place];
}

static int by_bytes(const void *left, const void *right, const void *context)
{
    (void)context;
    const struct text_field *const a = left, *const b = right;
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static void add_texts(const struct walk *walk, const struct sql_expression *expression,
                      struct text_field *texts, uint32_t *count)
{
    if (expression->operation == SQL_STRING) {
        texts[(*count)++] = (struct text_field){expression->text, (uint32_t)strlen(expression->text)};
    } else if (expression->operation == SQL_PARAMETER && is_string_constant(walk, expression)) {
        const struct sql_parameter *const value = &walk->options->parameters[expression->index];
        if (!value->is_null)
            texts[(*count)++] = (struct text_field){value->string, value->length};
    }
    for (uint32_t c = 0; c < expression->child_count; c++)
        add_texts(walk, expression->children[c], texts, count);
}

/* Makes a dictionary of a column's ends and of the constants in the condition: then codes have the order of the strings that are
 * compared, also of those between the ends that it does not have. */
static enum status make_dictionary(const struct question *question, const struct columnar_bounds *bounds,
                                   struct dictionary **dictionary, struct error *error)
{
    struct text_field texts[CONDITION_NODES_MAX + 2] = {bounds->low_text, bounds->high_text};
    uint32_t count = 2, kept = 0;
    uint64_t bytes = 0, *starts;
    char *text;
    add_texts(question->walk, question->condition->expression, texts, &count);
    sort_items(texts, count, sizeof *texts, by_bytes, NULL);
    for (uint32_t t = 0; t < count; t++)
        if (!kept || by_bytes(&texts[kept - 1], &texts[t], NULL) != 0) {
            texts[kept++] = texts[t];
            bytes += texts[t].length;
        }
    *dictionary = dictionary_new(kept, bytes, &starts, &text);
    if (!*dictionary)
        return error_out_of_memory(error, bytes, "a condition");
    starts[0] = 0;
    for (uint32_t t = 0; t < kept; t++) {
        if (texts[t].length)
            memcpy(text + starts[t], texts[t].text, texts[t].length);
        starts[t + 1] = starts[t] + texts[t].length;
    }
    return STATUS_OK;
}

/* Whether the condition may be true of values in the ranges. What cannot be bound over them may be. */
static enum status may_be_true(const struct question *question, bool *may, struct error *error)
{
    const struct logical_options *const options = question->walk->options;
    const struct sql_scalar_options scalar = {.parameters = options->parameters,
                                              .parameter_count = options->parameter_count,
                                              .like = options->like,
                                              .zone = options->zone,
                                              .now = options->now,
                                              .input = input_of,
                                              .range = range_of,
                                              .threads = 1,
                                              .context = question};
    const struct expression_list *list;
    struct sql_scalars *scalars;
    struct error own;
    uint32_t node;
    RETURN_IF_ERROR(sql_scalars_new(&scalar, &scalars, error));
    const enum status status =
        sql_scalar_condition_node(scalars, question->condition->expression, &list, &node, &own);
    *may = status != STATUS_OK || truths_of(list, node) & TRUTHS_TRUE;
    sql_scalars_free(scalars);
    if (status == STATUS_OK || status == STATUS_BAD_INPUT)
        return STATUS_OK;
    if (error)
        *error = own;
    return status;
}

/* Sets the ranges of the condition's columns; false: one is not known. *doubles: the places of columns of doubles. */
static enum status set_ranges(struct question *question, uint32_t *doubles, bool *known, struct error *error)
{
    const struct condition *const condition = question->condition;
    *doubles = 0;
    *known = true;
    for (uint32_t i = 0; i < condition->column_count && *known; i++) {
        const struct columnar_bounds *const bounds = &question->bounds[condition->stored[i]];
        const enum column_type type = question->walk->table->columns[condition->stored[i]].schema.type;
        question->low[i] = bounds->low;
        question->high[i] = bounds->high;
        *doubles |= bounds->values && type == TYPE_DOUBLE ? 1u << i : 0u;
        *known = bounds->known || !bounds->values;
        if (!*known || !bounds->values || type != TYPE_STRING)
            continue;
        RETURN_IF_ERROR(make_dictionary(question, bounds, &question->dictionaries[i], error));
        question->low[i] =
            dictionary_find(question->dictionaries[i], bounds->low_text.text, bounds->low_text.length);
        question->high[i] =
            dictionary_find(question->dictionaries[i], bounds->high_text.text, bounds->high_text.length);
        *known = question->low[i] <= question->high[i];
    }
    return STATUS_OK;
}

/* A file says nothing of NaN, which may be among a column's doubles and is greater than all others. So of one such column the
 * condition is asked once more with it; of several, their ranges have it. */
static enum status ask(struct question *question, bool *may, struct error *error)
{
    uint32_t doubles;
    bool known;
    *may = true;
    RETURN_IF_ERROR(set_ranges(question, &doubles, &known, error));
    if (!known)
        return STATUS_OK;
    const bool several = doubles & (doubles - 1);
    for (uint32_t i = 0; several && i < question->condition->column_count; i++)
        if (doubles >> i & 1)
            question->high[i] = DOUBLE_KEY_NAN;
    RETURN_IF_ERROR(may_be_true(question, may, error));
    if (*may || !doubles || several)
        return STATUS_OK;
    const uint32_t place = (uint32_t)__builtin_ctz(doubles);
    question->low[place] = question->high[place] = DOUBLE_KEY_NAN;
    return may_be_true(question, may, error);
}

/* ---- Parts ---- */

/* Whether some scan needs the part: no condition of it is never true. `needed` has room for all scans. */
static enum status ask_part(const struct walk *walk, const struct columnar_bounds *bounds, bool *needed,
                            bool *any, struct error *error)
{
    memset(needed, true, walk->scan_count * sizeof *needed);
    for (uint32_t i = 0; i < walk->condition_count; i++) {
        struct question question = {.walk = walk, .condition = &walk->conditions[i], .bounds = bounds};
        bool *const scan = &needed[walk->conditions[i].scan];
        const enum status status = *scan ? ask(&question, scan, error) : STATUS_OK;
        for (uint32_t c = 0; c < question.condition->column_count; c++)
            free(question.dictionaries[c]);
        RETURN_IF_ERROR(status);
    }
    *any = false;
    for (uint32_t s = 0; s < walk->scan_count; s++)
        *any |= needed[s];
    return STATUS_OK;
}

static enum status read_bounds(const struct walk *walk, struct columnar_parts *files, uint64_t part,
                               struct columnar_bounds *bounds, struct error *error)
{
    for (uint32_t i = 0; i < walk->condition_count; i++)
        for (uint32_t c = 0; c < walk->conditions[i].column_count; c++) {
            const uint32_t stored = walk->conditions[i].stored[c];
            RETURN_IF_ERROR(columnar_parts_bounds(files, part, &walk->table->columns[stored].schema,
                                                  &bounds[stored], error));
        }
    return STATUS_OK;
}

static enum status choose(const struct walk *walk, struct columnar_parts *files, struct file_parts *parts,
                          struct error *error)
{
    struct columnar_bounds *bounds = NULL;
    bool *needed = NULL, any = true;
    enum status status =
        memory_zeros(&parts->bits, (parts->count / 64 + 1) * sizeof *parts->bits, "parts", error);
    status = AND_THEN(
        status, memory_zeros(&bounds, (walk->table->column_count + 1ull) * sizeof *bounds, "columns", error));
    status = AND_THEN(status, memory_zeros(&needed, walk->scan_count * sizeof *needed, "parts", error));
    for (uint64_t p = 0; status == STATUS_OK && p < parts->count; p++) {
        status = read_bounds(walk, files, p, bounds, error);
        status = AND_THEN(status, ask_part(walk, bounds, needed, &any, error));
        if (status != STATUS_OK || !any)
            continue;
        parts->bits[p / 64] |= UINT64_C(1) << p % 64;
        parts->rows += columnar_parts_rows(files, p);
        parts->kept++;
    }
    free(bounds);
    free(needed);
    return status;
}

static enum status find_parts(struct walk *walk, const struct file_table *table, struct file_parts *parts,
                              struct error *error)
{
    struct columnar_parts *files;
    uint64_t nodes = 0;
    RETURN_IF_ERROR(walk_tree(walk));
    if (walk->whole || walk->scan_count == 0)
        return STATUS_OK;
    for (uint32_t i = 0; i < walk->condition_count; i++) {
        nodes += walk->conditions[i].nodes;
        parts->of_values |= walk->conditions[i].parameters;
    }
    RETURN_IF_ERROR(columnar_parts_open((const char *const *)table->paths, table->path_count, &files, error));
    parts->count = files ? columnar_parts_count(files) : 0;
    enum status status = STATUS_OK;
    if (files && parts->count > 1 && nodes * parts->count <= WORK_MAX) {
        parts->what = columnar_parts_name(files);
        status = choose(walk, files, parts, error);
    }
    columnar_parts_free(files);
    return status;
}

enum status file_parts_find(const struct file_table *table, struct logical_tree *tree,
                            const struct logical_options *options, struct file_parts *parts,
                            struct error *error)
{
    struct walk walk = {.table = &table->table, .tree = tree, .options = options, .error = error};
    *parts = (struct file_parts){.bits = NULL};
    const enum status status = table->schema->text ? STATUS_OK : find_parts(&walk, table, parts, error);
    free(walk.conditions);
    free(walk.same);
    if (status == STATUS_OK)
        return STATUS_OK;
    free(parts->bits);
    parts->bits = NULL;
    return status;
}
