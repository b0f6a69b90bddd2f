/* ordered_output.c: see ordered_output.h. */
#include "engine/answer/print/ordered_output.h"

#include "storage/base/execution/execution.h"

#include <errno.h>
#include <string.h>

/* The most bytes of one write. */
#define WRITE_BYTES (128u << 10)

struct ordered_output ordered_output_to(FILE *out)
{
    return (struct ordered_output){
        .out = out, .lock = PTHREAD_MUTEX_INITIALIZER, .turned = PTHREAD_COND_INITIALIZER};
}

void ordered_output_close(struct ordered_output *output)
{
    pthread_cond_destroy(&output->turned);
    pthread_mutex_destroy(&output->lock);
}

bool ordered_output_wait(struct ordered_output *output, uint64_t part)
{
    pthread_mutex_lock(&output->lock);
    while (output->turn != part && !output->stopped)
        pthread_cond_wait(&output->turned, &output->lock);
    const bool mine = !output->stopped;
    pthread_mutex_unlock(&output->lock);
    return mine;
}

void ordered_output_end(struct ordered_output *output, bool stop)
{
    pthread_mutex_lock(&output->lock);
    output->turn++;
    output->stopped |= stop;
    pthread_cond_broadcast(&output->turned);
    pthread_mutex_unlock(&output->lock);
}

/* Writes in pieces: a reader may be slow, and Ctrl-C must not wait for it. */
enum status ordered_output_write(struct ordered_output *output, const void *bytes, size_t count,
                                 struct error *error)
{
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < WRITE_BYTES ? count - done : WRITE_BYTES;
        RETURN_IF_ERROR(cancel_check(error));
        errno = 0;
        if (fwrite((const char *)bytes + done, 1, some, output->out) != some)
            return error_set(error, STATUS_MACHINE,
                             "the answer could not be written: %s; what was printed is not complete",
                             strerror(errno));
        output->bytes += some;
    }
    return STATUS_OK;
}
