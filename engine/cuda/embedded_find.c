/* embedded_find.c: finds a kernel source by its include path, with a walk over about 50 names, once per
 * compilation. */
#include "engine/cuda/embedded.h"

#include <stddef.h>
#include <string.h>

const char *embedded_find(const char *name)
{
    for (const struct embedded_file *file = embedded_files; file->name; file++)
        if (strcmp(file->name, name) == 0)
            return file->text;
    return NULL;
}
