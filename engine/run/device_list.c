/* device_list.c: see device_list.h. */
#include "engine/run/device_list.h"

#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 1024u /* ordinals are below it; the driver knows which of them exist */

static enum status refuse(const char *text, struct error *error)
{
    return error_set(error, STATUS_BAD_INPUT,
                     "'%.80s' is no device; use auto, cpu, cuda, cuda:N, or several: cuda:0,1 or cuda:all",
                     text);
}

/* Reads the number of a GPU up to the end or a comma. */
static bool read_ordinal(const char *word, unsigned *ordinal)
{
    char *end;
    if (*word < '0' || *word > '9')
        return false;
    const unsigned long number = strtoul(word, &end, 10);
    *ordinal = (unsigned)number;
    return number < GPUS_MAX && (*end == '\0' || *end == ',');
}

static bool is_word(const char *word, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(word, name, length) == 0 && (word[length] == '\0' || word[length] == ',');
}

/* Reads one item of a list. A number alone, after "cuda:", is a GPU's. */
static bool read_item(const char *word, bool numbers, const struct device_operations **operations,
                      unsigned *ordinal)
{
    *ordinal = 0;
    *operations = is_word(word, "cpu") ? &cpu_device : &cuda_device;
    if (*operations == &cpu_device || is_word(word, "cuda"))
        return true;
    if (strncmp(word, "cuda:", 5) == 0)
        return read_ordinal(word + 5, ordinal);
    return numbers && read_ordinal(word, ordinal);
}

static enum status add(struct device_list *list, const char *text, const struct device_operations *operations,
                       unsigned ordinal, struct error *error)
{
    if (list->count == DEVICES_MAX)
        return error_set(error, STATUS_BAD_INPUT, "'%.80s' names more than %u devices", text, DEVICES_MAX);
    if (list->count && operations != list->operations)
        return error_set(error, STATUS_BAD_INPUT,
                         "'%.80s' names a CPU and a GPU: a statement is planned for one kind of device; name "
                         "GPUs only, or cpu",
                         text);
    for (uint32_t d = 0; operations == &cuda_device && d < list->count; d++)
        if (list->ordinals[d] == ordinal)
            return error_set(error, STATUS_BAD_INPUT, "'%.80s' names GPU %u twice", text, ordinal);
    list->operations = operations;
    list->ordinals[list->count++] = ordinal;
    return STATUS_OK;
}

static enum status add_all_gpus(struct device_list *list, const char *text, struct error *error)
{
    unsigned gpus;
    RETURN_IF_ERROR(cuda_device.number(&gpus, error));
    for (unsigned ordinal = 0; ordinal < gpus; ordinal++)
        RETURN_IF_ERROR(add(list, text, &cuda_device, ordinal, error));
    return STATUS_OK;
}

enum status device_list_read(const char *text, struct device_list *list, struct error *error)
{
    bool numbers = false;
    *list = (struct device_list){0};
    if (strcmp(text, "cuda:all") == 0)
        return add_all_gpus(list, text, error);
    for (const char *word = text; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
        const struct device_operations *operations;
        unsigned ordinal;
        if (!read_item(word, numbers, &operations, &ordinal))
            return refuse(text, error);
        RETURN_IF_ERROR(add(list, text, operations, ordinal, error));
        numbers = strncmp(word, "cuda:", 5) == 0 || numbers;
    }
    return STATUS_OK;
}
