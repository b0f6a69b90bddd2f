/* function.c: see function.h. Compiled without fused multiplications and additions (storage/base/number/real.h). */
#include "engine/function/function.h"

#include "operators/dialect/row_body.h"

/* ---- Names ---- */

#define LETTERS(takes) (sizeof(takes) - 1)
#define ROW_ENTRY(id, listed, letters, ...) \
    {.names = {listed},                     \
     .form = FUNCTION_ROW,                  \
     .least = LETTERS(letters),             \
     .most = LETTERS(letters),              \
     .takes = letters,                      \
     .row = ROW_##id},
#define TEXT_ENTRY(listed, fewest, letters, type, of, fill, last) \
    {.names = {listed},                                           \
     .form = FUNCTION_TEXT,                                       \
     .least = fewest,                                             \
     .most = LETTERS(letters),                                    \
     .takes = letters,                                            \
     .text = {.kind = type, .body = of, .filler = fill, .number = last}},
#define FORMULA_ENTRY(listed, fewest, greatest, bind, value) \
    {.names = {listed}, .form = FUNCTION_FORMULA, .least = fewest, .most = greatest, .argument = value},

static const struct function functions[] = {FUNCTIONS(ROW_ENTRY, TEXT_ENTRY, FORMULA_ENTRY)};
#define FUNCTION_COUNT (sizeof functions / sizeof *functions)

/* Those that the parser knows. */
static const char *const worded[] = {"cast", "try_cast", "extract", "if", "iif"};

const struct function *function_find(const char *name, size_t *place)
{
    for (size_t f = 0; f < FUNCTION_COUNT; f++)
        for (uint32_t n = 0; n < FUNCTION_NAMES_MAX && functions[f].names[n]; n++)
            if (strcmp(functions[f].names[n], name) == 0) {
                *place = f;
                return &functions[f];
            }
    return NULL;
}

/* False for an operator. */
static bool is_word(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z';
}

const char *function_name(size_t index)
{
    for (size_t f = 0; f < FUNCTION_COUNT; f++)
        for (uint32_t n = 0; n < FUNCTION_NAMES_MAX && functions[f].names[n]; n++)
            if (is_word(functions[f].names[n]) && index-- == 0)
                return functions[f].names[n];
    return index < sizeof worded / sizeof *worded ? worded[index] : NULL;
}

/* ---- Row functions ---- */

#define GIVES_DOUBLE    VALUE_DOUBLE, false
#define GIVES_WHOLE     VALUE_INTEGER, false
#define GIVES_DATE      VALUE_DATE, false
#define GIVES_TIMESTAMP VALUE_TIMESTAMP, false
#define GIVES_THIRD     VALUE_INTEGER, true
#define GIVES           false
#define MISSES          true
#define ROW_DESCRIPTION(id, listed, letters, text, body, type, misses, range) \
    [ROW_##id] = {text, "call_" #body, call_##body, type, misses, range},
#define NO_DESCRIPTION(...)

static const struct row_description rows[] = {FUNCTIONS(ROW_DESCRIPTION, NO_DESCRIPTION, NO_DESCRIPTION)};
_Static_assert(ROW_FUNCTION_COUNT <= UINT8_MAX, "a node's field holds the number");

const struct row_description *row_function(enum row_function function)
{
    return &rows[function];
}

enum row_function row_function_named(const char *text)
{
    uint32_t function = 0;
    while (function < ROW_FUNCTION_COUNT && strcmp(rows[function].text, text) != 0)
        function++;
    return (enum row_function)function;
}
