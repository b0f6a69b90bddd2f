/* parse_words.c: see parse_words.h. */
#include "engine/sql/functions/parse_words.h"

#include "storage/base/words/word.h"

#include <stdlib.h>
#include <string.h>

/* ---- Functions ---- */

static enum status add_expression(struct parser *parser, struct sql_expression *node)
{
    struct sql_expression *child;
    RETURN_IF_ERROR(parse_expression(parser, &child));
    return parse_child(parser, node, child);
}

/* position(a IN b) becomes position(a, b). */
static enum status parse_position_of(struct parser *parser, struct sql_expression *node)
{
    struct sql_expression *what;
    RETURN_IF_ERROR(parse_operand(parser, &what));
    RETURN_IF_ERROR(parse_child(parser, node, what));
    if (!parse_is(parser, "IN"))
        return parse_refuse(parser, "position is written position(a IN b); strpos(b, a) is the same");
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(add_expression(parser, node));
    return parse_expect(parser, ")", "behind position's value");
}

/* trim([BOTH | LEADING | TRAILING] [c] FROM s) becomes trim(s, c), ltrim or rtrim. */
static enum status parse_trim(struct parser *parser, struct sql_expression *node)
{
    static const char *const sides[][2] = {{"BOTH", "trim"}, {"LEADING", "ltrim"}, {"TRAILING", "rtrim"}};
    struct sql_expression *characters = NULL;
    bool from;
    for (size_t s = 0; s < sizeof sides / sizeof *sides; s++)
        if (parse_is(parser, sides[s][0])) {
            node->name = sides[s][1];
            RETURN_IF_ERROR(parse_advance(parser));
            break;
        }
    if (!parse_is(parser, "FROM"))
        RETURN_IF_ERROR(parse_expression(parser, &characters));
    RETURN_IF_ERROR(parse_take(parser, "FROM", &from));
    if (!from) { /* trim(s) or trim(s, c) */
        RETURN_IF_ERROR(parse_child(parser, node, characters));
        RETURN_IF_ERROR(parse_take(parser, ",", &from));
        if (from)
            RETURN_IF_ERROR(add_expression(parser, node));
    } else {
        RETURN_IF_ERROR(add_expression(parser, node));
        if (characters)
            RETURN_IF_ERROR(parse_child(parser, node, characters));
    }
    return parse_expect(parser, ")", "behind a function's arguments");
}

/* substring(s FROM a [FOR n]) becomes substring(s, a, n). */
static enum status parse_substring(struct parser *parser, struct sql_expression *node)
{
    bool more = true;
    RETURN_IF_ERROR(add_expression(parser, node));
    if (parse_is(parser, "FROM") || parse_is(parser, "FOR")) {
        if (parse_is(parser, "FOR"))
            return parse_refuse(parser, "substring takes FROM before FOR");
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(add_expression(parser, node));
        RETURN_IF_ERROR(parse_take(parser, "FOR", &more));
        if (more)
            RETURN_IF_ERROR(add_expression(parser, node));
        return parse_expect(parser, ")", "behind a function's arguments");
    }
    for (;;) {
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
        if (!more)
            return parse_expect(parser, ")", "behind a function's arguments");
        RETURN_IF_ERROR(add_expression(parser, node));
    }
}

enum status parse_worded_function(struct parser *parser, struct sql_expression *node, bool *taken)
{
    static const struct {
        const char *name;
        enum status (*parse)(struct parser *, struct sql_expression *);
    } worded[] = {{"position", parse_position_of},
                  {"trim", parse_trim},
                  {"substring", parse_substring},
                  {"substr", parse_substring}};
    *taken = false;
    for (size_t w = 0; w < sizeof worded / sizeof *worded; w++)
        if (word_compare(node->name, worded[w].name) == 0) {
            *taken = true;
            node->operation = SQL_FUNCTION;
            node->name = worded[w].name;
            RETURN_IF_ERROR(parse_advance(parser)); /* the parenthesis */
            return worded[w].parse(parser, node);
        }
    return STATUS_OK;
}

/* ---- Casts ---- */

static enum status parse_digits(struct parser *parser, unsigned *digits)
{
    const char *text;
    if (parser->token.kind != TOKEN_NUMBER)
        return parse_refuse(parser, "a type's digits are whole numbers, such as DECIMAL(12,2)");
    RETURN_IF_ERROR(parse_text(parser, false, &text));
    const unsigned long number = strtoul(text, NULL, 10);
    *digits = number > 255 ? 255 : (unsigned)number;
    return parse_advance(parser);
}

enum status parse_zoned(struct parser *parser, const char **name)
{
    bool with, without = false, local;
    RETURN_IF_ERROR(parse_take(parser, "WITH", &with));
    if (!with)
        RETURN_IF_ERROR(parse_take(parser, "WITHOUT", &without));
    if (!with && !without)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_take(parser, "LOCAL", &local));
    RETURN_IF_ERROR(parse_expect(parser, "TIME", "in TIMESTAMP WITH TIME ZONE"));
    *name = with ? "timestamptz" : *name;
    return parse_expect(parser, "ZONE", "in TIMESTAMP WITH TIME ZONE");
}

enum status parse_type(struct parser *parser, struct sql_expression *node)
{
    static const char *const pairs[][3] = {{"double", "precision", "double precision"},
                                           {"character", "varying", "character varying"}};
    unsigned precision = 0, scale = 0;
    bool taken;
    RETURN_IF_ERROR(parse_name(parser, "a type", &node->name));
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        if (word_compare(node->name, pairs[p][0]) == 0 && parse_is(parser, pairs[p][1])) {
            node->name = pairs[p][2];
            RETURN_IF_ERROR(parse_advance(parser));
        }
    if (word_compare(node->name, "timestamp") == 0)
        RETURN_IF_ERROR(parse_zoned(parser, &node->name));
    if (!parse_is(parser, "("))
        return STATUS_OK;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_digits(parser, &precision));
    RETURN_IF_ERROR(parse_take(parser, ",", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_digits(parser, &scale));
    node->has_operand = true; /* there are digits */
    node->index = precision << 8 | scale;
    return parse_expect(parser, ")", "behind a type's digits");
}

enum status parse_casts(struct parser *parser, struct sql_expression **out)
{
    for (unsigned casts = 0; parse_is(parser, "::"); casts++) {
        const struct sql_position position = parse_position(parser);
        if (casts > SQL_DEPTH_MAX)
            return parse_refuse(parser, "more than %u casts follow each other", SQL_DEPTH_MAX);
        RETURN_IF_ERROR(parse_advance(parser));
        RETURN_IF_ERROR(parse_node(parser, SQL_CAST, position, *out, NULL, out));
        RETURN_IF_ERROR(parse_type(parser, *out));
    }
    return STATUS_OK;
}

/* ---- AT TIME ZONE ---- */

/* AT may also be a column's name in the answer. */
static bool is_at_zone(const struct parser *parser)
{
    static const char *const words[] = {"AT", "TIME", "ZONE"};
    struct parser next = *parser;
    struct error error; /* of the next token, which is told when it is reached */
    next.error = &error;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        if (!parse_is(&next, words[w]) || parse_advance(&next) != STATUS_OK)
            return false;
    return true;
}

enum status parse_at_zone(struct parser *parser, bool *taken)
{
    *taken = is_at_zone(parser);
    for (int w = 0; *taken && w < 3; w++)
        RETURN_IF_ERROR(parse_advance(parser));
    return STATUS_OK;
}

/* ---- Intervals ---- */

/* Takes "3 months" apart. */
static enum status split_interval(struct parser *parser, struct sql_expression *node)
{
    char *const text = (char *)node->text; /* in the tree's memory */
    char *blank = strpbrk(text, " \t");
    if (!blank)
        return STATUS_OK;
    *blank++ = '\0';
    blank += strspn(blank, " \t");
    size_t length = strcspn(blank, " \t");
    if (blank[length + strspn(blank + length, " \t")])
        return parse_refuse(parser, "INTERVAL takes one number and unit; add several intervals");
    for (size_t i = 0; i < length; i++)
        blank[i] = (char)(blank[i] + (blank[i] >= 'A' && blank[i] <= 'Z' ? 'a' - 'A' : 0));
    length -= length > 1 && blank[length - 1] == 's';
    blank[length] = '\0';
    node->name = blank;
    return STATUS_OK;
}

static enum status parse_unit(struct parser *parser, struct sql_expression *interval)
{
    char *unit;
    RETURN_IF_ERROR(parse_text(parser, true, (const char **)&unit));
    const size_t length = strlen(unit);
    if (length > 1 && unit[length - 1] == 's')
        unit[length - 1] = '\0'; /* "days" becomes "day" */
    interval->name = unit;
    return parse_advance(parser);
}

/* INTERVAL (n) DAY is n * INTERVAL 1 DAY. */
static enum status parse_counted_interval(struct parser *parser, struct sql_expression *node, bool *taken)
{
    const struct parser before = *parser;
    struct sql_expression *count, *one;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expression(parser, &count));
    RETURN_IF_ERROR(parse_expect(parser, ")", "behind INTERVAL (n"));
    *taken = parse_is_name(parser);
    if (!*taken) { /* a column's name */
        *parser = before;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(parse_node(parser, SQL_INTERVAL, node->position, NULL, NULL, &one));
    one->text = "1";
    node->operation = SQL_MULTIPLY;
    node->name = NULL;
    RETURN_IF_ERROR(parse_child(parser, node, count));
    RETURN_IF_ERROR(parse_child(parser, node, one));
    return parse_unit(parser, one);
}

enum status parse_interval(struct parser *parser, struct sql_expression *node, bool *taken)
{
    const bool string = parser->token.kind == TOKEN_STRING;
    if (parse_is(parser, "("))
        return parse_counted_interval(parser, node, taken);
    *taken = string || parser->token.kind == TOKEN_NUMBER;
    if (!*taken)
        return STATUS_OK;
    node->operation = SQL_INTERVAL;
    node->name = NULL;
    RETURN_IF_ERROR(parse_text(parser, false, &node->text));
    RETURN_IF_ERROR(parse_advance(parser));
    if (string)
        RETURN_IF_ERROR(split_interval(parser, node));
    if (node->name)
        return STATUS_OK;
    if (!parse_is_name(parser))
        return parse_refuse(parser, "INTERVAL '%s' needs a unit behind it: YEAR, MONTH, DAY, ...",
                            node->text);
    return parse_unit(parser, node);
}

/* ---- Predicates ---- */

enum status parse_is_predicate(struct parser *parser, struct sql_position position, bool negated, bool *taken,
                               struct sql_expression **out)
{
    static const char *const words[] = {"true", "false", "unknown"};
    struct sql_expression *other;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        RETURN_IF_ERROR(parse_take(parser, words[w], taken));
        if (*taken) {
            RETURN_IF_ERROR(parse_node(parser, SQL_IS_TRUTH, position, *out, NULL, out));
            (*out)->text = words[w];
            (*out)->negated = negated;
            return STATUS_OK;
        }
    }
    RETURN_IF_ERROR(parse_take(parser, "DISTINCT", taken));
    if (!*taken)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_expect(parser, "FROM", "in IS DISTINCT FROM"));
    RETURN_IF_ERROR(parse_operand(parser, &other));
    RETURN_IF_ERROR(parse_node(parser, SQL_IS_DISTINCT, position, *out, other, out));
    (*out)->negated = negated;
    return STATUS_OK;
}

enum status parse_pattern(struct parser *parser, struct sql_position position, bool negated, bool *taken,
                          struct sql_expression **out)
{
    static const struct {
        const char *word;
        enum sql_operation operation;
        bool ignore_case, negated;
    } patterns[] = {{"ILIKE", SQL_LIKE, true, false}, {"REGEXP", SQL_MATCHES, false, false},
                    {"~", SQL_MATCHES, false, false}, {"~*", SQL_MATCHES, true, false},
                    {"!~", SQL_MATCHES, false, true}, {"!~*", SQL_MATCHES, true, true}};
    struct sql_expression *pattern, *escape;
    *taken = false;
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns && !*taken; p++) {
        RETURN_IF_ERROR(parse_take(parser, patterns[p].word, taken));
        if (!*taken)
            continue;
        RETURN_IF_ERROR(parse_operand(parser, &pattern));
        RETURN_IF_ERROR(parse_node(parser, patterns[p].operation, position, *out, pattern, out));
        (*out)->has_operand = patterns[p].ignore_case;
        (*out)->negated = negated != patterns[p].negated;
        bool escaped = false;
        if (patterns[p].operation == SQL_LIKE)
            RETURN_IF_ERROR(parse_take(parser, "ESCAPE", &escaped));
        if (escaped) {
            RETURN_IF_ERROR(parse_operand(parser, &escape));
            return parse_child(parser, *out, escape);
        }
    }
    return STATUS_OK;
}

/* ---- USING ---- */

enum status parse_using(struct parser *parser, struct sql_source *source)
{
    bool more = true;
    RETURN_IF_ERROR(parse_advance(parser));
    RETURN_IF_ERROR(parse_expect(parser, "(", "behind USING"));
    while (more) {
        struct sql_shared shared = {.position = parse_position(parser)};
        RETURN_IF_ERROR(parse_name(parser, "a column's name", &shared.name));
        RETURN_IF_ERROR(parse_append(parser, &source->shared, &source->shared_count, sizeof shared, &shared));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return parse_expect(parser, ")", "behind the columns of USING");
}
