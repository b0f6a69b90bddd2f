/*
 * test_bitmaps.c: `tessera lab bitmaps` (lab/bitmaps): the kernels on bitmap indexes compile without a GPU.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "lab/bitmaps/bitmap_kernel.h"
#include "tests/support/compile_targets.h"

#include <stdlib.h>

static struct error error;

static void kernels_compile(void **state)
{
    char *source;
    (void)state;
    need_compile_targets();
    assert_int_equal(bitmap_kernel_text(&source, &error), STATUS_OK);
    for (size_t t = 0; t < compile_target_count; t++)
        if (compile_source("bitmaps", source, compile_targets[t]->arch, NULL, &error) != STATUS_OK)
            fail_msg("%s: %s", compile_targets[t]->arch, error.text);
    free(source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_compile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
