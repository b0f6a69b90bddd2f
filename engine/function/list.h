/*
 * list.h: every scalar function of SQL, an entry each. All else follows from the entry: what the binder takes, the
 * suggestions for a name that there is not, completion, the node's type, NULLs and range, EXPLAIN, and the call in a CUDA
 * kernel. docs/adding-a-function.md adds one.
 *
 * ROW(ID, NAMES, takes, text, body, type, nulls, range): computed row by row, by call_`body` of
 * operators/dialect/row_body.h on both devices. It is NULL if an argument is.
 *     NAMES   of SQL; NO_NAME: the binder alone calls it
 *     takes   a letter an argument, at most three: d a double, w a whole number; the binder coerces to them. "" without a name
 *     text    what EXPLAIN writes
 *     type    GIVES_...
 *     nulls   MISSES: the body may give NULL where no argument is; GIVES: it never does
 *     range   the rule in ranges.c by which the values of the result follow from those of the arguments
 *
 * TEXT(NAMES, least, takes, type, body, filler, number): computed once for each string of a dictionary, or for each combination
 * of strings, by `body` of string_body.h. It is NULL if an argument is.
 *     least   arguments; the others may be left out
 *     takes   a letter an argument: t a string, s a string or what becomes text, n a whole number; the body has the strings and the numbers in this order
 *     type    VALUE_STRING, VALUE_INTEGER or VALUE_BOOLEAN
 *     filler  the string for one that is left out
 *     number  for a number that is left out, or one more after them
 *
 * FORMULA(NAMES, least, most, bind, argument): bind_`bind` of engine/sql/functions makes it of other operations; `argument` tells
 * apart those that have one.
 */
#ifndef TESSERA_ENGINE_FUNCTION_LIST_H
#define TESSERA_ENGINE_FUNCTION_LIST_H

#define NAMES(...)          __VA_ARGS__
#define NO_NAME             NULL
#define FUNCTION_VALUES_MAX 16u /* of coalesce, greatest, concat and the like */

#define FUNCTIONS(ROW, TEXT, FORMULA)                                                                        \
    /* numbers */                                                                                            \
    ROW(FLOOR, NO_NAME, "", "floor", floor, GIVES_DOUBLE, GIVES, range_rising)                               \
    ROW(CEIL, NO_NAME, "", "ceil", ceil, GIVES_DOUBLE, GIVES, range_rising)                                  \
    ROW(TRUNC, NO_NAME, "", "trunc", trunc, GIVES_DOUBLE, GIVES, range_rising)                               \
    ROW(ROUND, NO_NAME, "", "round", round, GIVES_DOUBLE, GIVES, range_rising) /* x, 10^n: n digits */       \
    ROW(ROUND_TENS, NO_NAME, "", "round", round_tens, GIVES_DOUBLE, GIVES, range_rising) /* multiples */     \
    FORMULA(NAMES("round"), 1, 2, round, ROUND_NEAREST)                                                      \
    FORMULA(NAMES("floor"), 1, 1, round, ROUND_DOWN)                                                         \
    FORMULA(NAMES("ceil", "ceiling"), 1, 1, round, ROUND_UP)                                                 \
    FORMULA(NAMES("trunc"), 1, 2, round, ROUND_CUT)                                                          \
    FORMULA(NAMES("abs"), 1, 1, abs, 0)                                                                      \
    FORMULA(NAMES("sign"), 1, 1, sign, 0)                                                                    \
    FORMULA(NAMES("mod"), 2, 2, mod, 0)                                                                      \
    FORMULA(NAMES("pi"), 0, 0, pi, 0)                                                                        \
    ROW(POWER, NAMES("power", "pow"), "dd", "power", power, GIVES_DOUBLE, MISSES, range_double)              \
    ROW(SQRT, NAMES("sqrt"), "d", "sqrt", sqrt, GIVES_DOUBLE, MISSES, range_rising) /* NULL for x < 0 */     \
    ROW(EXP, NAMES("exp"), "d", "exp", exp, GIVES_DOUBLE, GIVES, range_rising_nearly)                        \
    ROW(LN, NAMES("ln"), "d", "ln", ln, GIVES_DOUBLE, MISSES, range_rising_nearly) /* NULL for x <= 0 */     \
    ROW(LOG10, NAMES("log10"), "d", "log10", log10, GIVES_DOUBLE, MISSES, range_rising_nearly)               \
    ROW(LOG2, NAMES("log2"), "d", "log2", log2, GIVES_DOUBLE, MISSES, range_rising_nearly)                   \
    FORMULA(NAMES("log"), 1, 2, log, 0)                                                                      \
    ROW(CBRT, NAMES("cbrt"), "d", "cbrt", cbrt, GIVES_DOUBLE, GIVES, range_rising_nearly)                    \
    ROW(DEGREES, NAMES("degrees"), "d", "degrees", degrees, GIVES_DOUBLE, GIVES, range_rising)               \
    ROW(RADIANS, NAMES("radians"), "d", "radians", radians, GIVES_DOUBLE, GIVES, range_rising)               \
    ROW(SIN, NAMES("sin"), "d", "sin", sin, GIVES_DOUBLE, MISSES, range_double) /* NULL for |x| >= 2^45 */   \
    ROW(COS, NAMES("cos"), "d", "cos", cos, GIVES_DOUBLE, MISSES, range_double)                              \
    ROW(TAN, NAMES("tan"), "d", "tan", tan, GIVES_DOUBLE, MISSES, range_double)                              \
    ROW(ASIN, NAMES("asin"), "d", "asin", asin, GIVES_DOUBLE, MISSES, range_double) /* NULL for |x| > 1 */   \
    ROW(ACOS, NAMES("acos"), "d", "acos", acos, GIVES_DOUBLE, MISSES, range_double)                          \
    ROW(ATAN, NAMES("atan"), "d", "atan", atan, GIVES_DOUBLE, GIVES, range_double)                           \
    ROW(ATAN2, NAMES("atan2"), "dd", "atan2", atan2, GIVES_DOUBLE, GIVES, range_double)                      \
    FORMULA(NAMES("isnan"), 1, 1, special, 0)                                                                \
    FORMULA(NAMES("isinf"), 1, 1, special, 1)                                                                \
    FORMULA(NAMES("isfinite"), 1, 1, special, 2)                                                             \
    /* whole numbers and their bits; the parser makes calls of the operators */                              \
    ROW(BITS_AND, NAMES("&"), "ww", "bit and", bits_and, GIVES_WHOLE, GIVES, range_bits_and)                 \
    ROW(BITS_OR, NAMES("|"), "ww", "bit or", bits_or, GIVES_WHOLE, GIVES, range_bits)                        \
    ROW(BITS_XOR, NAMES("xor"), "ww", "xor", bits_xor, GIVES_WHOLE, GIVES, range_bits)                       \
    ROW(BITS_NOT, NAMES("~"), "w", "bit not", bits_not, GIVES_WHOLE, GIVES, range_bits_not)                  \
    ROW(BITS_SET, NAMES("bit_count"), "w", "bit_count", bits_set, GIVES_WHOLE, GIVES, range_bits_set)        \
    ROW(SHIFT_LEFT, NAMES("<<"), "ww", "shift left", shift_left, GIVES_WHOLE, GIVES, range_whole_numbers)    \
    ROW(SHIFT_RIGHT, NAMES(">>"), "ww", "shift right", shift_right, GIVES_WHOLE, GIVES, range_shift_right)   \
    ROW(GCD, NAMES("gcd", "greatest_common_divisor"), "ww", "gcd", gcd, GIVES_WHOLE, MISSES,                 \
        range_not_negative)                                                                                  \
    ROW(LCM, NAMES("lcm", "least_common_multiple"), "ww", "lcm", lcm, GIVES_WHOLE, MISSES,                   \
        range_not_negative)                                                                                  \
    /* values of any type */                                                                                 \
    FORMULA(NAMES("coalesce"), 2, FUNCTION_VALUES_MAX, coalesce, 0)                                          \
    FORMULA(NAMES("ifnull", "nvl"), 2, 2, coalesce, 0)                                                       \
    FORMULA(NAMES("nullif"), 2, 2, nullif, 0)                                                                \
    FORMULA(NAMES("greatest"), 1, FUNCTION_VALUES_MAX, extreme, true)                                        \
    FORMULA(NAMES("least"), 1, FUNCTION_VALUES_MAX, extreme, false)                                          \
    FORMULA(NAMES("hash"), 1, FUNCTION_VALUES_MAX, hash, 0)                                                  \
    FORMULA(NAMES("typeof", "pg_typeof"), 1, 1, typeof, 0)                                                   \
    ROW(HASH, NO_NAME, "", "hash", hash, GIVES_WHOLE, GIVES, range_not_negative) /* unit: the scale */       \
    ROW(HASH_DOUBLE, NO_NAME, "", "hash", hash_double, GIVES_WHOLE, GIVES, range_not_negative)               \
    ROW(HASH_PAIR, NO_NAME, "", "hash", hash_pair, GIVES_WHOLE, GIVES, range_not_negative)                   \
    /* strings */                                                                                            \
    FORMULA(NAMES("concat"), 1, FUNCTION_VALUES_MAX, concat, 0)                                              \
    FORMULA(NAMES("concat_ws"), 2, FUNCTION_VALUES_MAX, concat_ws, 0)                                        \
    TEXT(NAMES("upper", "ucase"), 1, "t", VALUE_STRING, string_upper, NULL, 0)                               \
    TEXT(NAMES("lower", "lcase"), 1, "t", VALUE_STRING, string_lower, NULL, 0)                               \
    TEXT(NAMES("initcap"), 1, "t", VALUE_STRING, string_initcap, NULL, 0)                                    \
    TEXT(NAMES("length", "len", "char_length", "character_length"), 1, "t", VALUE_INTEGER,                   \
         string_characters, NULL, 0)                                                                         \
    TEXT(NAMES("octet_length", "strlen"), 1, "s", VALUE_INTEGER, string_bytes, NULL, 0)                      \
    TEXT(NAMES("left"), 2, "sn", VALUE_STRING, string_left, NULL, 0)                                         \
    TEXT(NAMES("right"), 2, "sn", VALUE_STRING, string_right, NULL, 0)                                       \
    TEXT(NAMES("substr", "substring"), 2, "snn", VALUE_STRING, string_substr, NULL, INT32_MAX)               \
    TEXT(NAMES("replace"), 3, "sss", VALUE_STRING, string_replace, NULL, 0)                                  \
    TEXT(NAMES("translate"), 3, "sss", VALUE_STRING, string_translate, NULL, 0)                              \
    TEXT(NAMES("ascii"), 1, "s", VALUE_INTEGER, string_first_code, NULL, 0)                                  \
    TEXT(NAMES("unicode", "ord"), 1, "s", VALUE_INTEGER, string_first_code, NULL, -1)                        \
    FORMULA(NAMES("chr"), 1, 1, chr, 0)                                                                      \
    TEXT(NAMES("levenshtein"), 2, "ss", VALUE_INTEGER, string_distance, NULL, 0)                             \
    TEXT(NAMES("strpos", "instr"), 2, "ss", VALUE_INTEGER, string_position, NULL, 0)                         \
    FORMULA(NAMES("position"), 2, 2, position, 0)                                                            \
    TEXT(NAMES("split_part"), 3, "ssn", VALUE_STRING, string_split_part, NULL, 0)                            \
    TEXT(NAMES("starts_with", "prefix"), 2, "ss", VALUE_BOOLEAN, string_starts_with, NULL, 0)                \
    TEXT(NAMES("ends_with", "suffix"), 2, "ss", VALUE_BOOLEAN, string_ends_with, NULL, 0)                    \
    TEXT(NAMES("contains"), 2, "ss", VALUE_BOOLEAN, string_contains, NULL, 0)                                \
    TEXT(NAMES("lpad"), 2, "sns", VALUE_STRING, string_pad, " ", 0)                                          \
    TEXT(NAMES("rpad"), 2, "sns", VALUE_STRING, string_pad, " ", 1)                                          \
    TEXT(NAMES("trim"), 1, "ss", VALUE_STRING, string_trim, " ", 3)                                          \
    TEXT(NAMES("ltrim"), 1, "ss", VALUE_STRING, string_trim, " ", 1)                                         \
    TEXT(NAMES("rtrim"), 1, "ss", VALUE_STRING, string_trim, " ", 2)                                         \
    TEXT(NAMES("repeat"), 2, "sn", VALUE_STRING, string_repeat, NULL, 0)                                     \
    TEXT(NAMES("reverse"), 1, "s", VALUE_STRING, string_reverse, NULL, 0)                                    \
    FORMULA(NAMES("regexp_matches"), 2, 3, regular, 0)                                                       \
    FORMULA(NAMES("regexp_extract"), 2, 3, regular, 1)                                                       \
    FORMULA(NAMES("regexp_replace"), 3, 4, regular, 2)                                                       \
    /* JSON in strings; the parser makes calls of the operators */                                           \
    FORMULA(NAMES("->>", "json_extract_string"), 2, 2, json, true)                                           \
    FORMULA(NAMES("->", "json_extract"), 2, 2, json, false)                                                  \
    TEXT(NAMES("json_valid"), 1, "t", VALUE_BOOLEAN, string_json_valid, NULL, 0)                             \
    /* dates and timestamps; a row function's unit of time is the node's `index` */                          \
    ROW(DATE_TRUNC, NO_NAME, "", "date_trunc", date_trunc, GIVES_DATE, GIVES, range_date_trunc)              \
    ROW(TIME_TRUNC, NO_NAME, "", "date_trunc", time_trunc, GIVES_TIMESTAMP, GIVES, range_time_trunc)         \
    FORMULA(NAMES("date_trunc"), 2, 2, date_trunc, 0)                                                        \
    FORMULA(NAMES("date_part", "datepart"), 2, 2, date_part, 0)                                              \
    FORMULA(NAMES("date_diff", "datediff"), 3, 3, date_diff, 0)                                              \
    FORMULA(NAMES("last_day"), 1, 1, last_day, 0)                                                            \
    ROW(MAKE_DATE, NAMES("make_date"), "www", "make_date", make_date, GIVES_DATE, MISSES, range_make_date)   \
    FORMULA(NAMES("strftime"), 2, 2, strftime, 0)                                                            \
    FORMULA(NAMES("to_char"), 2, 2, to_char, 0)                                                              \
    FORMULA(NAMES("strptime"), 2, 2, strptime, false)                                                        \
    FORMULA(NAMES("try_strptime"), 2, 2, strptime, true) /* NULL where the other is an error */              \
    FORMULA(NAMES("monthname"), 1, 1, time_name, CALENDAR_MONTH)                                             \
    FORMULA(NAMES("dayname"), 1, 1, time_name, CALENDAR_DAY)                                                 \
    FORMULA(NAMES("today"), 0, 0, now, true)                                                                 \
    FORMULA(NAMES("now"), 0, 0, now, false)                                                                  \
    FORMULA(NAMES("year", "quarter", "month", "week", "weekofyear", "day"), 1, 1, time_field, 0)             \
    FORMULA(NAMES("dayofmonth", "dayofweek", "weekday", "isodow", "dayofyear", "isoyear"), 1, 1, time_field, \
            0)                                                                                               \
    FORMULA(NAMES("hour", "minute", "second", "epoch"), 1, 1, time_field, 0)                                 \
    FORMULA(NAMES("decade", "century", "millennium", "yearweek", "millisecond", "microsecond"), 1, 1,        \
            time_field, 0)                                                                                   \
    FORMULA(NAMES("epoch_ms", "epoch_us"), 1, 1, time_field, 0)                                              \
    FORMULA(NAMES("to_timestamp"), 1, 1, to_timestamp, 0)                                                    \
    FORMULA(NAMES("timezone"), 2, 2, timezone, 0) /* also written t AT TIME ZONE z */                        \
    FORMULA(NAMES("date"), 1, 1, date, 0)                                                                    \
    /* casts of doubles: x, 10^scale, the most: a number, rounded or cut */                                  \
    ROW(WHOLE, NO_NAME, "", "decimal", whole, GIVES_THIRD, MISSES, range_whole)                              \
    ROW(CUT, NO_NAME, "", "integer", cut, GIVES_THIRD, MISSES, range_whole)                                  \
    /* the cells of sketches (operators/group/sketch.h), which aggregates call by their text */              \
    ROW(SKETCH_REGISTER, NO_NAME, "", "sketch_register", sketch_register, GIVES_WHOLE, GIVES,                \
        range_sketch_register)                                                                               \
    ROW(SKETCH_RANK, NO_NAME, "", "sketch_rank", sketch_rank, GIVES_WHOLE, GIVES, range_sketch_rank)         \
    ROW(SKETCH_BUCKET, NO_NAME, "", "sketch_bucket", sketch_bucket, GIVES_WHOLE, GIVES, range_rising)        \
    ROW(SKETCH_DOUBLE_BUCKET, NO_NAME, "", "sketch_double_bucket", sketch_double_bucket, GIVES_WHOLE, GIVES, \
        range_rising)

#endif
