/* device.c: the CPU as a device that runs plans (engine/run/device.h). */
#include "engine/cpu/run_internal.h"
#include "engine/measure/ceiling.h"

#include <stdio.h>
#include <stdlib.h>

struct device {
    unsigned threads;
    char text[64];
};

static enum status cpu_open(const struct device_options *options, struct device **device, struct error *error)
{
    struct device *opened = malloc(sizeof *opened);
    if (!opened)
        return error_out_of_memory(error, sizeof *opened, "the device");
    const unsigned threads = opened->threads = options->threads;
    snprintf(opened->text, sizeof opened->text, "CPU, %u thread%s, %s", threads, threads == 1 ? "" : "s",
             isa_name(isa_level()));
    *device = opened;
    return STATUS_OK;
}

static void cpu_close(struct device *device)
{
    free(device);
}

static const char *cpu_text(const struct device *device)
{
    return device->text;
}

static enum status cpu_read_ceiling(struct device *device, double *bytes_per_second, struct error *error)
{
    return ceiling_cpu(device->threads, bytes_per_second, error);
}

/* `timed` has no effect: every run on a CPU is timed. */
static enum status cpu_prepare(struct device *device, const struct plan *plan,
                               const struct device_share *share, bool timed, struct device_run **run,
                               struct error *error)
{
    (void)timed;
    return cpu_run_open(device->threads, plan, share, run, error);
}

static enum status cpu_load(struct device_run *run, struct run_timing *timing, struct error *error)
{
    timing->compile_ms = timing->load_ms = 0;
    return cpu_run_load(run, error);
}

const struct device_operations cpu_device = {.open = cpu_open,
                                             .close = cpu_close,
                                             .text = cpu_text,
                                             .read_ceiling = cpu_read_ceiling,
                                             .prepare = cpu_prepare,
                                             .load = cpu_load,
                                             .run = cpu_run,
                                             .count = cpu_count,
                                             .release = cpu_run_close};
