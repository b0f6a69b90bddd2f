/* test_near_word.c: what mistyped words are taken to mean. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "storage/base/words/near_word.h"

#include <stdio.h>
#include <string.h>

/* The nearest of a list of words, with blanks between them; "" for none. */
static const char *nearest(const char *typed, const char *list)
{
    static char words[256], kept[64];
    struct near_word near = near_word_begin(typed);
    snprintf(words, sizeof words, "%s", list);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        near_word_try(&near, word);
    snprintf(kept, sizeof kept, "%s", near.nearest ? near.nearest : "");
    return kept;
}

static void mistyped_words_are_near(void **state)
{
    (void)state;
    assert_string_equal(nearest("coutn", "sum count mount"), "count");
    assert_string_equal(nearest("CITI", "city name"), "city");
    assert_string_equal(nearest("categories", "category cat"), "category");
    assert_string_equal(nearest("x", "y z"), "");
    assert_string_equal(nearest("", "y __"), "");
}

static void parts_are_meant_if_nothing_is_mistyped(void **state)
{
    (void)state;
    assert_string_equal(nearest("cust", "customer_address customer_id name"), "customer_id");
    assert_string_equal(nearest("date", "late_fee order_date"), "order_date");
    assert_string_equal(nearest("dates", "order_date data"), "data");
    assert_string_equal(nearest("name_de", "id name"), "name");
    assert_string_equal(nearest("id", "customer_id order_id"), "");
    assert_string_equal(nearest("tome", "customer"), "");
    assert_string_equal(nearest("_ab", "_abc _"), "_abc");
    char longest[80];
    memset(longest, 'a', 79);
    longest[79] = '\0';
    assert_string_equal(nearest(longest, "aaa"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistyped_words_are_near),
        cmocka_unit_test(parts_are_meant_if_nothing_is_mistyped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
