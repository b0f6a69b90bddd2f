/*
 * text_call.h: functions of strings that are computed row by row (EXPRESSION_TEXT), because their arguments have too many
 * combinations for a table (string_call.h), or are computed so themselves. Their strings are views (string_view.h), which
 * a program keeps in its own buffers until its next run: the type of such a node has the dictionary `run_time_strings`.
 * They are for the CPU; a node with such a node below it is `by_row`.
 *
 * A string takes 20 to 500 ns, as in a table.
 */
#ifndef TESSERA_ENGINE_PLAN_FUNCTIONS_TEXT_CALL_H
#define TESSERA_ENGINE_PLAN_FUNCTIONS_TEXT_CALL_H

#include "engine/function/string_view.h"
#include "engine/plan/expression_vector.h"

/* The most strings that a function takes, and the most numbers after them. */
#define STRINGS_MAX      16u
#define TEXT_NUMBERS_MAX 3u

/* The dictionary of strings that have none. It is empty. */
extern const struct dictionary run_time_strings;

static inline bool is_run_time(struct value_type type)
{
    return type.kind == VALUE_STRING && type.dictionary == &run_time_strings;
}

/* A function and its arguments. At most three arguments of a node are no constants: these are its children. */
struct text_call {
    struct string_call call;
    uint32_t number_count,
        first_number; /* argument call.count + n is numbers[first_number + n] of the call */
    uint32_t arguments[STRINGS_MAX + TEXT_NUMBERS_MAX];
};

/* An argument while a function is computed for rows. */
struct text_argument {
    struct vector vector;
    const struct dictionary *dictionary; /* of strings; NULL: they are views */
    bool constant;
    int64_t value; /* of a constant */
};
struct text_argument text_argument(const struct expression_list *list, uint32_t node, struct vector vector,
                                   const struct dictionary *dictionary);
/* Gives the strings of a row, and sets numbers of the call; false: one is NULL. `buffers` are those of views. */
bool text_arguments_take(const struct text_call *of, const struct text_argument *arguments,
                         const struct string_buffers *buffers, uint32_t row, struct string_call *call,
                         struct string_value *strings);

/* Adds the node; the list takes over the context if the call has `release`, also after an error. */
NODISCARD enum status text_call_add(struct expression_list *list, const struct text_call *call,
                                    uint32_t *index, struct error *error);
/* Frees the calls of a list. */
void text_calls_free(struct expression_list *list);
/* The first failure of a call since the last time that this was asked. */
NODISCARD enum status text_calls_check(const struct expression_list *list, struct error *error);

/* What the calls of one program write to. */
struct text_room {
    struct string_buffers *buffers;
    struct string_writer writer;
    struct string_buffer result; /* of the call that is being computed */
};

NODISCARD enum status text_room_open(struct text_room *room, struct error *error);
void text_room_close(struct text_room *room);

/* The values of all nodes of a list, and the dictionaries of their strings. */
struct text_values {
    const struct vector *vectors;
    const struct dictionary *const *dictionaries;
};

/* Computes a node that is EXPRESSION_TEXT, or EXPRESSION_CHOOSE of strings that have no dictionary. A failure is the
 * list's (expression_check). */
void text_node_run(const struct expression_list *list, const struct expression *node, uint32_t rows,
                   const struct text_values *values, struct text_room *room, struct vector out);

#endif
