/* parse_window.c: parses windows: IGNORE NULLS, OVER (...), and the WINDOW clause (ast.h). */
#include "engine/sql/parse_internal.h"

enum status parse_nulls(struct parser *parser, struct sql_expression *function)
{
    struct parser next = *parser;
    struct error error; /* of the next token, which is told when it is reached */
    const bool ignore = parse_is(parser, "IGNORE");
    next.error = &error;
    if ((!ignore && !parse_is(parser, "RESPECT")) || parse_advance(&next) != STATUS_OK ||
        !parse_is(&next, "NULLS"))
        return STATUS_OK;
    function->ignores_nulls = ignore;
    RETURN_IF_ERROR(parse_advance(parser));
    return parse_advance(parser);
}

/* ---- Frames ---- */

static enum status parse_bound(struct parser *parser, enum sql_bound *bound, struct sql_expression **value)
{
    bool taken, unbounded;
    RETURN_IF_ERROR(parse_take(parser, "CURRENT", &taken));
    if (taken) {
        *bound = SQL_BOUND_CURRENT;
        return parse_expect(parser, "ROW", "behind CURRENT");
    }
    RETURN_IF_ERROR(parse_take(parser, "UNBOUNDED", &unbounded));
    if (!unbounded)
        RETURN_IF_ERROR(parse_expression(parser, value));
    RETURN_IF_ERROR(parse_take(parser, "PRECEDING", &taken));
    if (taken) {
        *bound = unbounded ? SQL_BOUND_FIRST : SQL_BOUND_BEFORE;
        return STATUS_OK;
    }
    *bound = unbounded ? SQL_BOUND_LAST : SQL_BOUND_AFTER;
    return parse_expect(parser, "FOLLOWING", "in a frame");
}

static enum status parse_exclude(struct parser *parser, enum sql_exclude *exclude)
{
    bool taken;
    RETURN_IF_ERROR(parse_take(parser, "EXCLUDE", &taken));
    if (!taken)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_take(parser, "CURRENT", &taken));
    if (taken) {
        *exclude = SQL_EXCLUDE_ROW;
        return parse_expect(parser, "ROW", "behind CURRENT");
    }
    RETURN_IF_ERROR(parse_take(parser, "GROUP", &taken));
    if (taken) {
        *exclude = SQL_EXCLUDE_GROUP;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(parse_take(parser, "TIES", &taken));
    if (taken) {
        *exclude = SQL_EXCLUDE_TIES;
        return STATUS_OK;
    }
    RETURN_IF_ERROR(
        parse_expect(parser, "NO", "behind EXCLUDE, which takes CURRENT ROW, GROUP, TIES or NO OTHERS"));
    return parse_expect(parser, "OTHERS", "behind EXCLUDE NO");
}

static enum sql_frame frame_at(const struct parser *parser)
{
    return parse_is(parser, "ROWS")     ? SQL_FRAME_ROWS
           : parse_is(parser, "RANGE")  ? SQL_FRAME_RANGE
           : parse_is(parser, "GROUPS") ? SQL_FRAME_GROUPS
                                        : SQL_FRAME_NONE;
}

static enum status parse_frame(struct parser *parser, struct sql_window *window)
{
    bool between;
    RETURN_IF_ERROR(parse_advance(parser)); /* ROWS, RANGE or GROUPS */
    RETURN_IF_ERROR(parse_take(parser, "BETWEEN", &between));
    RETURN_IF_ERROR(parse_bound(parser, &window->begin, &window->begin_value));
    window->end = SQL_BOUND_CURRENT;
    if (between) {
        RETURN_IF_ERROR(parse_expect(parser, "AND", "in a frame"));
        RETURN_IF_ERROR(parse_bound(parser, &window->end, &window->end_value));
    }
    if (window->begin > window->end || window->begin == SQL_BOUND_LAST || window->end == SQL_BOUND_FIRST)
        return parse_refuse(parser, "the frame ends before it begins");
    return parse_exclude(parser, &window->exclude);
}

/* ---- Windows ---- */

static enum status parse_partitions(struct parser *parser, struct sql_window *window)
{
    bool more;
    RETURN_IF_ERROR(parse_take(parser, "PARTITION", &more));
    if (!more)
        return STATUS_OK;
    RETURN_IF_ERROR(parse_expect(parser, "BY", "behind PARTITION"));
    while (more) {
        struct sql_expression *term;
        RETURN_IF_ERROR(parse_expression(parser, &term));
        RETURN_IF_ERROR(
            parse_append(parser, &window->partitions, &window->partition_count, sizeof term, &term));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}

static enum status parse_window(struct parser *parser, struct sql_window *window)
{
    bool taken;
    if (!parse_is(parser, "PARTITION") && !parse_is(parser, "ORDER") && !parse_is(parser, ")") &&
        frame_at(parser) == SQL_FRAME_NONE)
        RETURN_IF_ERROR(parse_name(parser, "a window's name", &window->base));
    RETURN_IF_ERROR(parse_partitions(parser, window));
    RETURN_IF_ERROR(parse_take(parser, "ORDER", &taken));
    if (taken)
        RETURN_IF_ERROR(parse_orders(parser, &window->orders, &window->order_count));
    window->frame = frame_at(parser);
    if (window->frame != SQL_FRAME_NONE)
        RETURN_IF_ERROR(parse_frame(parser, window));
    return parse_expect(parser, ")", "at the end of a window");
}

static enum status window_new(struct parser *parser, struct sql_window **window)
{
    *window = parse_memory(parser, sizeof **window);
    if (!*window)
        return error_out_of_memory(parser->error, sizeof **window, "a statement");
    (*window)->position = parse_position(parser);
    return STATUS_OK;
}

enum status parse_over(struct parser *parser, struct sql_window **window)
{
    bool taken;
    RETURN_IF_ERROR(parse_advance(parser)); /* OVER */
    RETURN_IF_ERROR(window_new(parser, window));
    RETURN_IF_ERROR(parse_take(parser, "(", &taken));
    return taken ? parse_window(parser, *window) : parse_name(parser, "a window's name", &(*window)->name);
}

enum status parse_windows(struct parser *parser)
{
    bool more;
    RETURN_IF_ERROR(parse_take(parser, "WINDOW", &more));
    while (more) {
        struct sql_named_window named;
        struct sql_select *const select = parser->select;
        RETURN_IF_ERROR(parse_name(parser, "a window's name", &named.name));
        RETURN_IF_ERROR(parse_expect(parser, "AS", "behind a window's name"));
        RETURN_IF_ERROR(window_new(parser, &named.window));
        RETURN_IF_ERROR(parse_expect(parser, "(", "behind AS"));
        RETURN_IF_ERROR(parse_window(parser, named.window));
        RETURN_IF_ERROR(parse_append(parser, &select->windows, &select->window_count, sizeof named, &named));
        RETURN_IF_ERROR(parse_take(parser, ",", &more));
    }
    return STATUS_OK;
}
