/* install_consumer.c: a program that uses the installed library; built and run by test_install.sh. */
#include "engine/cuda/cuda.h"
#include "storage/codec/codec.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    struct error error = {0};
    const struct codec *codec;
    unsigned gpus;
    if (codec_find("lane-for", &codec, &error) != STATUS_OK || strcmp(codec->name, "lane-for") != 0)
        return 1;
    if (codec_find("no-such-codec", &codec, &error) != STATUS_BAD_INPUT)
        return 1;
    if (cuda_count(&gpus, &error) != STATUS_OK && error.status != STATUS_MACHINE)
        return 1;
    puts("the installed library works");
    return 0;
}
