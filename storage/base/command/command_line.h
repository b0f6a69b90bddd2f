/*
 * command_line.h: reads a command's options, which are a table of names, texts for --help, and the fields
 * that get the values.
 *
 * Values are written to the command's own struct of arguments, which has the defaults before.
 */
#ifndef TESSERA_STORAGE_BASE_COMMAND_COMMAND_LINE_H
#define TESSERA_STORAGE_BASE_COMMAND_COMMAND_LINE_H

#include "storage/base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Reads a value that no other kind can read. After a failure the error text is for the user. */
typedef enum status option_reader(void *arguments, const char *text, struct error *error);

enum option_kind { OPTION_TEXT, OPTION_FLAG, OPTION_NUMBER, OPTION_WORD, OPTION_OWN, OPTION_ANOTHER_NAME };

struct command_option {
    const char *name;  /* "db" for --db; NULL ends a table */
    int letter;        /* 'd' for -d; 0: none */
    const char *value; /* the value's name in --help; NULL: the option has no value */
    const char *help;
    enum option_kind kind;
    size_t offset, bytes; /* the place and size of the field in the arguments */
    uint64_t least, most; /* the range of a number */
    const char *words;    /* "table|csv|json" */
    option_reader *read;
    const char *missing; /* the error text if a required text is not given; NULL: it is optional */
};

/* The kinds of options, for the end of a row of the table. A text is a const char * and is not copied; a flag
 * is a bool; a number has 4 or 8 bytes; a word is given as its position in `list`, "a|b|c", in an enum or a
 * bool; an option of its own kind is read by `function`. */
#define TO_TEXT(type, field)       .kind = OPTION_TEXT, .offset = offsetof(type, field)
#define TO_FLAG(type, field)       .kind = OPTION_FLAG, OPTION_FIELD(type, field)
#define BY_FUNCTION(function)      .kind = OPTION_OWN, .read = (function)
#define TO_WORD(type, field, list) .kind = OPTION_WORD, OPTION_FIELD(type, field), .words = (list)
#define TO_NUMBER(type, field, minimum, maximum) \
    .kind = OPTION_NUMBER, OPTION_FIELD(type, field), .least = (minimum), .most = (maximum)
#define OPTION_FIELD(type, field) .offset = offsetof(type, field), .bytes = sizeof(((type *)NULL)->field)

struct command_line {
    const struct command_option *options;
    const struct command_option *shared; /* another table, or NULL */
    const char *words_help, *help;       /* as args_doc and doc of argp */
    option_reader *word;                 /* reads an argument that is not an option; NULL: not allowed */
    option_reader *finish;               /* checks all arguments at the end (its text is NULL); or NULL */
};

/* Reads argv. STATUS_BAD_INPUT, or the status of a reader, if a value is wrong. --help and unknown options
 * print a text and end the process, as in argp. */
NODISCARD enum status command_line_read(const struct command_line *line, int argc, char **argv,
                                        void *arguments, struct error *error);

/* Asks for a command's table instead of running it: from now on command_line_read gives its table to `visitor`, reads
 * nothing, and returns STATUS_INTERRUPTED, so that the command ends. NULL: it reads again. For one thread. */
typedef void command_line_visitor(void *context, const struct command_line *line);
void command_line_visit(command_line_visitor *visitor, void *context);

#endif
