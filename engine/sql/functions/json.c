/*
 * json.c: values of JSON in strings (functions.h): s -> path, s ->> path, json_valid. A path is a constant: a member's name, an
 * element's number, or '$.member[0]."other member"'. It is compiled to a string of its own when the statement is bound,
 *
 *     'm' | its bytes, 4 | name      'e' | number, 4
 *
 * and each different string of a column is scanned once (string_call.h), at about 1 GB a second. It must be JSON as a
 * whole.
 */
#include "engine/sql/functions/functions.h"

#include "storage/base/memory.h"
#include "storage/base/text/json_scan.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Values as text ---- */

static void put_character(struct string_buffer *out, char c)
{
    static const char special[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *const found = c ? strchr(special, c) : NULL;
    char escape[8];
    if (found) {
        snprintf(escape, sizeof escape, "\\%c", letters[found - special]);
        string_put(out, escape, 2);
    } else if ((unsigned char)c < ' ') {
        snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
        string_put(out, escape, 6);
    } else {
        string_put(out, &c, 1);
    }
}

/* Makes room for `length` bytes behind those that are used; NULL: there is no memory. */
static char *room_for(struct string_buffer *out, uint32_t length)
{
    const uint64_t used = out->used;
    static const char zeros[64] = {0};
    for (uint64_t left = length; left && !out->failed; left -= left < sizeof zeros ? left : sizeof zeros)
        string_put(out, zeros, left < sizeof zeros ? left : sizeof zeros);
    out->used = used;
    return out->failed || !out->bytes ? NULL : out->bytes + used;
}

/* Appends a string without its escapes; false if no text can have a character of it. */
static bool put_plain(struct string_buffer *out, const struct json_scanned *string)
{
    if (!string->escaped) {
        string_put(out, string->text, string->length);
        return true;
    }
    uint32_t written;
    char *const to = room_for(out, string->length);
    if (!to)
        return true; /* the buffer tells it */
    if (!json_scan_unescape(string->text, string->length, to, &written))
        return false;
    out->used += written;
    return true;
}

/* Appends a string in quotes, with the escapes that it needs; `\u` of a character that no text can have stays. */
static void put_string(struct string_buffer *out, const struct json_scanned *string)
{
    struct string_buffer plain = {0};
    string_put(out, "\"", 1);
    if (!string->escaped || !put_plain(&plain, string)) {
        string_put(out, string->text, string->length);
    } else {
        for (uint64_t i = 0; i < plain.used; i++)
            put_character(out, plain.bytes[i]);
        out->failed |= plain.failed;
    }
    string_put(out, "\"", 1);
    free(plain.bytes);
}

/* Appends a value as JSON without blanks. Its text has been checked. */
static void put_json(struct string_buffer *out, const struct json_scanned *value)
{
    if (value->kind == JSON_SCAN_STRING) {
        put_string(out, value);
        return;
    }
    if (value->kind != JSON_SCAN_OBJECT && value->kind != JSON_SCAN_ARRAY) {
        string_put(out, value->text, value->length);
        return;
    }
    struct json_scan_items items = json_scan_items(value);
    struct json_scanned name, item;
    bool more;
    string_put(out, value->text, 1);
    for (uint32_t i = 0; !json_scan_next(&items, &name, &item, &more) && more; i++) {
        if (i)
            string_put(out, ",", 1);
        if (value->kind == JSON_SCAN_OBJECT) {
            put_string(out, &name);
            string_put(out, ":", 1);
        }
        put_json(out, &item);
    }
    string_put(out, &items.close, 1);
}

/* ---- Paths ---- */

/* *failed is set if there is no memory. */
static bool is_name(const struct json_scanned *name, const char *wanted, uint32_t length, bool *failed)
{
    struct string_buffer plain = {0};
    if (!name->escaped)
        return name->length == length && memcmp(name->text, wanted, length) == 0;
    const bool same = put_plain(&plain, name) && plain.used == length &&
                      memcmp(plain.used ? plain.bytes : "", wanted, length) == 0;
    *failed |= plain.failed;
    free(plain.bytes);
    return same;
}

/* The rest of a path, and what it has led to. */
struct walk {
    const char *at, *end;
    bool found, failed; /* there is no memory */
    struct json_scanned value;
};

static const char *walk(struct walk *walk, const char **at, const char *end);

/* Goes into an element that is counted from the end. */
static const char *walk_back(struct walk *from, int32_t number, const char **at, const char *end)
{
    struct json_scanned array, item;
    const char *const complaint = json_scan_value(at, end, &array);
    bool more;
    if (complaint)
        return complaint;
    for (struct json_scan_items items = json_scan_items(&array);
         !json_scan_next(&items, NULL, &item, &more) && more;)
        number++;
    struct json_scan_items items = json_scan_items(&array);
    for (int32_t i = 0; number >= 0 && !json_scan_next(&items, NULL, &item, &more) && more; i++)
        if (i == number) {
            const char *begin = item.text - (item.kind == JSON_SCAN_STRING);
            return walk(from, &begin, end);
        }
    return NULL;
}

/* Reads the value at *at as a whole, and follows the path in it: each byte is read once. */
static const char *walk(struct walk *from, const char **at, const char *end)
{
    const char *const step = from->at;
    struct json_scanned name, value;
    int32_t number = 0;
    bool more, passed = false;
    *at = json_scan_blanks(*at, end);
    if (step == from->end) {
        from->found = true;
        return json_scan_value(at, end, &from->value);
    }
    memcpy(&number, step + 1, sizeof number);
    if (*at == end || **at != (*step == 'm' ? '{' : '['))
        return json_scan_value(at, end, &value);
    from->at += 5 + (*step == 'm' ? number : 0);
    if (*step == 'e' && number < 0)
        return walk_back(from, number, at, end);
    struct json_scan_items items = {*at + 1, end, *step == 'm' ? '}' : ']', false};
    const char *complaint = NULL;
    for (int32_t i = 0; !complaint; i++) {
        complaint = json_scan_item(&items, &name, &more);
        if (complaint || !more)
            break;
        const bool here = !passed && (*step == 'm' ? is_name(&name, step + 5, (uint32_t)number, &from->failed)
                                                   : i == number);
        passed |= here;
        complaint = here ? walk(from, &items.at, end) : json_scan_value(&items.at, end, &value);
    }
    *at = items.at;
    return complaint;
}

/* ---- The body ---- */

/* Of a string and a path; numbers[0]: as text, else as JSON. */
static void extract(const struct string_call *call, const struct string_value *strings,
                    struct string_result *result)
{
    struct walk path = {.at = strings[1].text, .end = strings[1].text + strings[1].length};
    const char *at = strings[0].text, *const end = at + strings[0].length, *complaint = walk(&path, &at, end);
    if (!complaint && json_scan_blanks(at, end) < end)
        complaint = "goes on behind its value";
    if (complaint) {
        result->status = error_set(
            result->error, STATUS_BAD_INPUT, "'%.*s' is no JSON: it %s; json_valid finds such strings",
            (int)(strings[0].length < 60 ? strings[0].length : 60), strings[0].text, complaint);
        return;
    }
    if (path.failed) {
        result->text->failed = true; /* the caller tells it */
        return;
    }
    result->null = !path.found || (call->numbers[0] && path.value.kind == JSON_SCAN_NULL);
    if (result->null)
        return;
    if (!call->numbers[0] || path.value.kind != JSON_SCAN_STRING)
        put_json(result->text, &path.value);
    else if (!put_plain(result->text, &path.value))
        result->status = error_set(result->error, STATUS_BAD_INPUT,
                                   "a string of JSON has a character that no text can have: \\u0000, or half "
                                   "of a pair of surrogates");
}

/* ---- Binding ---- */

static void put_step(struct string_buffer *path, char step, int32_t number, const char *name)
{
    char bytes[5] = {step};
    memcpy(bytes + 1, &number, sizeof number);
    string_put(path, bytes, sizeof bytes);
    if (step == 'm')
        string_put(path, name, (uint64_t)number);
}

static void put_member(struct string_buffer *path, const char *name, size_t length)
{
    put_step(path, 'm', (int32_t)length, name);
}

/* Compiles .name, ."name", [0] and [#-1] behind the $; returns the place of what is none of these, or NULL. JSON is not
 * deeper than JSON_SCAN_DEPTH, and neither are paths, so that walks have an end: they stop at one step more. */
static const char *compile_steps(struct string_buffer *path, const char *at, const char *end, uint32_t *steps)
{
    for (*steps = 0; at < end && *steps <= JSON_SCAN_DEPTH; ++*steps) {
        const char *const step = at;
        if (*at == '.') {
            const bool quoted = ++at < end && *at == '"';
            const char *const name = at += quoted;
            while (at < end && (quoted ? *at != '"' : *at != '.' && *at != '['))
                at++;
            if ((quoted ? at == end : at == name || *name == '*'))
                return step;
            put_member(path, name, (size_t)(at - name));
            at += quoted;
            continue;
        }
        char number[16], *stop;
        const char *const close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
        const bool from_end = close && at[1] == '#';
        if (!close || (size_t)(close - at) >= sizeof number)
            return step;
        snprintf(number, sizeof number, "%.*s", (int)(close - at - 1 - from_end), at + 1 + from_end);
        const long place = strtol(number, &stop, 10);
        if (*stop || stop == number || place > INT32_MAX || place < INT32_MIN || (place < 0) != from_end)
            return step;
        put_step(path, 'e', (int32_t)place, NULL);
        at = close + 1;
    }
    return NULL;
}

static enum status compile_path(struct binder *binder, const struct bound_call *call,
                                struct string_buffer *path)
{
    const struct sql_position position = call->ast->children[1]->position;
    const struct expression *const given = bind_node(binder, call->values[1]);
    uint32_t length;
    const char *const text = bind_string_of(binder, call->values[1], &length);
    if (!text && given->type.kind == VALUE_INTEGER && given->type.scale == 0 &&
        expression_is_constant(binder->list, call->values[1]) && given->constant >= INT32_MIN &&
        given->constant <= INT32_MAX) {
        put_step(path, 'e', (int32_t)given->constant, NULL);
        return STATUS_OK;
    }
    if (!text)
        return bind_refuse(binder, position,
                           "%s takes a constant: a member's name, an element's number, or '$.name[0]'",
                           call->ast->name);
    if (!length || *text != '$') {
        if (length)
            put_member(path, text, length);
        return STATUS_OK;
    }
    uint32_t steps;
    const char *const wrong = compile_steps(path, text + 1, text + length, &steps);
    if (steps > JSON_SCAN_DEPTH)
        return bind_refuse(binder, position, "a path has at most %u steps", JSON_SCAN_DEPTH);
    return wrong ? bind_refuse(
                       binder, position,
                       "the path '%.*s' is wrong from '%.*s' on; paths are as '$.name[0].\"other name\"', "
                       "and lead to one value",
                       (int)length, text, (int)(text + length - wrong), wrong)
                 : STATUS_OK;
}

enum status bind_json(struct binder *binder, const struct bound_call *call, uint32_t *node)
{
    const struct sql_position position = call->ast->position;
    struct string_buffer path = {0};
    uint32_t strings[2] = {call->values[0]};
    if (bind_is_null(binder, call->values[0]) || bind_is_null(binder, call->values[1]))
        return bind_null_string(binder, node);
    if (bind_kind(binder, call->values[0]) != VALUE_STRING)
        return bind_refuse(binder, position, "%s takes a string that holds JSON, not %s", call->ast->name,
                           bind_kind_name(bind_kind(binder, call->values[0])));
    enum status status = compile_path(binder, call, &path);
    if (status == STATUS_OK && path.failed)
        status = error_out_of_memory(binder->error, path.used, "a path");
    status = AND_THEN(status, expression_string_constant(binder->list, path.used ? path.bytes : "",
                                                         (uint32_t)path.used, &strings[1], binder->error));
    free(path.bytes);
    RETURN_IF_ERROR(status);
    const struct string_call made = {.body = extract,
                                     .type = {.kind = VALUE_STRING},
                                     .numbers = {call->function->argument},
                                     .count = 2,
                                     .fails = true};
    return bind_placed(binder, position,
                       expression_string_call(binder->list, &made, strings, node, binder->error));
}
