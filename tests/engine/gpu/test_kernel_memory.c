/* test_kernel_memory.c: a kernel whose source cannot be written for want of memory is an error, wherever memory
 * ends. No GPU and no compiler are needed. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "engine/gpu/kernel.h"
#include "tests/support/sql/star_plan.h"
#include "tests/support/gpu/query_compile.h"
#include "tests/support/sql/sql_star.h"

#include <dlfcn.h>

static int streams_left = -1; /* then there is no memory for another; below 0: there always is */

/* In place of the C library's, on which text_stream stands. */
FILE *fopencookie(void *cookie, const char *mode, cookie_io_functions_t functions)
{
    FILE *(*real)(void *, const char *, cookie_io_functions_t);
    *(void **)&real = dlsym(RTLD_NEXT, "fopencookie");
    if (streams_left == 0)
        return NULL;
    streams_left -= streams_left > 0;
    return real(cookie, mode, functions);
}

static void no_stream_is_an_error(void **state)
{
    static const char sql[] = "select shop, sum(paid), max(at) from sales where pieces > 0 group by shop";
    struct plan *plan;
    int failed = 0;
    (void)state;
    must(star_plan(star_database, sql, &(struct sql_options){.threads = 1}, &plan, error));
    for (int left = 0;; left++) {
        struct kernel kernel;
        struct error error = {0};
        streams_left = left;
        const enum status status = kernel_make(plan, false, &compile_sm_90->target, &kernel, &error);
        streams_left = -1;
        if (status == STATUS_OK) {
            assert_non_null(strstr(kernel.source, "struct sums_TYPE"));
            assert_non_null(strstr(kernel.source, "#define STATES(X)"));
            kernel_free(&kernel);
            break;
        }
        assert_int_equal(status, STATUS_MACHINE);
        assert_non_null(strstr(error.text, "out of memory"));
        failed++;
    }
    assert_true(failed >= 3);
    plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_stream_is_an_error, star_open, star_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
