/*
 * string_body.h: bodies of functions of strings. A body is called once for each string of a dictionary, or for each
 * combination of strings, on any thread, and takes 20 to 500 ns; what calls it is in engine/plan/functions. Functions of
 * strings are as in DuckDB, and count characters of UTF-8.
 */
#ifndef TESSERA_ENGINE_FUNCTION_STRING_BODY_H
#define TESSERA_ENGINE_FUNCTION_STRING_BODY_H

#include "engine/function/value_type.h"
#include "storage/base/status.h"

#include <string.h>

struct string_value {
    const char *text;
    uint32_t length;
};

struct string_buffer {
    char *bytes;
    uint64_t used, capacity;
    bool failed; /* there was no memory */
};
void string_put(struct string_buffer *buffer, const char *text, uint64_t length);

/* What a function gives: a number, or, if the type is VALUE_STRING, what it puts into `text`; or, if it cannot be
 * computed, a status with its sentence in *error. */
struct string_result {
    bool null;
    int64_t number;
    struct string_buffer *text;
    enum status status;
    struct error *error;
};

struct string_call;
typedef void string_call_body(const struct string_call *call, const struct string_value *strings,
                              struct string_result *result);

struct string_call {
    string_call_body *body;
    struct value_type type; /* of the results; the dictionary of strings is made here */
    int64_t numbers[3];     /* constant arguments that are numbers */
    uint32_t count;         /* of strings */
    bool total;             /* it is never NULL if no argument is */
    bool fails;             /* a string may be an error, if a row that is asked for has it */
    bool wide;              /* its numbers may be any of 64 bits; else they are less than 2^32 */
    bool bounded;           /* its numbers are low .. high */
    int64_t low, high;
    void *context;                  /* the body's own; calls on other threads share it */
    void (*release)(void *context); /* NULL: the context is the caller's, and for tables alone */
};

/* ---- What bodies use ---- */

/* The bytes of the UTF-8 character at `text`; 1 if it is not valid. */
uint32_t string_character_bytes(const char *text, const char *end);
int64_t string_character_count(struct string_value string);
/* The byte at which character `number` (from 0) begins, or the string's length. */
uint32_t string_character_at(struct string_value string, int64_t number);

/* Text to look for: its rarest byte is looked for first. */
struct string_needle {
    struct string_value text;
    uint32_t rarest;
};
struct string_needle string_needle(struct string_value text);
/* The byte at which it is first in the string, from byte `from` on; UINT32_MAX if it is not. */
uint32_t string_find(struct string_value string, const struct string_needle *needle, uint32_t from);

bool string_is_ascii(struct string_value string);
/* Append the string in lower case: of ASCII's letters, or of all. */
void string_put_ascii_lower(struct string_value string, struct string_buffer *out);
void string_put_lower(struct string_value string, struct string_buffer *out);
/* True if two characters are one letter in either case. */
bool string_same_letter(const char *a, uint32_t a_bytes, const char *b, uint32_t b_bytes);

/* Bodies. `s` is the first string. */
string_call_body string_concat; /* all strings */
string_call_body string_order;  /* of two strings, by their bytes: -1, 0 or 1 */
/* Whether the string is one of a list, which is in the order of string_order. Its context is a string_list. */
struct string_list {
    uint32_t count;
    struct string_value strings[];
};
string_call_body string_is_among;
string_call_body string_left; /* s, numbers[0] characters; if negative, all but so many */
string_call_body string_right;
string_call_body string_substr;      /* s, from character numbers[0], numbers[1] characters */
string_call_body string_replace;     /* s, what, by what */
string_call_body string_position;    /* s, what: its first place, from 1, or 0 */
string_call_body string_split_part;  /* s, separator; part numbers[0], from the end if negative */
string_call_body string_starts_with; /* s, what; truth values, as the next two */
string_call_body string_ends_with;
string_call_body string_contains;
string_call_body string_pad;    /* s, filler: numbers[0] characters; numbers[1]: on the right */
string_call_body string_trim;   /* s, characters; numbers[0]: 1 left, 2 right, 3 both */
string_call_body string_repeat; /* s, numbers[0] times */
string_call_body string_reverse;
string_call_body string_upper; /* characters of all scripts, one for one (case_table.h) */
string_call_body string_lower;
string_call_body string_initcap; /* the first letter of each word in upper case, the others in lower case */
string_call_body
    string_translate; /* s, from, to: each character of `from` becomes that at its place in `to`, or goes */
string_call_body string_first_code; /* of s; numbers[0] if s is empty */
string_call_body string_distance;   /* a, b: the characters to insert, delete or replace */
string_call_body string_bytes;      /* the number of bytes */
string_call_body string_characters;
string_call_body string_json_valid;
string_call_body string_like; /* s; context: struct like_matcher */
/* s, a pattern, and maybe the escape character, of which '' is none; numbers[0] is an enum like_case. */
string_call_body string_like_computed;

enum like_case {
    LIKE_CASE_MATTERS,
    LIKE_IGNORES_ASCII, /* as LIKE of SQLite */
    LIKE_IGNORES_CASE   /* of all scripts: ILIKE */
};

/* A pattern with % and _. `escape` 0: no escape character. */
struct like_pattern {
    const char *text;
    uint32_t length;
    char escape;
    enum like_case letters;
};

/* A pattern ready for matching. */
struct like_matcher;
NODISCARD enum status like_matcher_create(const struct like_pattern *pattern, struct like_matcher **matcher,
                                          struct error *error);
void like_matcher_free(struct like_matcher *matcher);
/* `scratch` has room for the string in lower case during the call. */
bool like_matches(const struct like_matcher *matcher, struct string_value string,
                  struct string_buffer *scratch);

/* upper and lower of one character. */
uint32_t case_upper(uint32_t character);
uint32_t case_lower(uint32_t character);

#endif
