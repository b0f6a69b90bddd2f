/* decode.c: see decode.h. */
#include "lab/bench/decode.h"

#include "storage/base/clock.h"

struct speed speed_of(double *ms, uint32_t count)
{
    struct speed speed = {.median = clock_median(ms, count)};
    speed.least = ms[0];
    speed.most = ms[count - 1];
    return speed;
}

enum status decode_measure(struct lab *lab, const struct dataset *dataset, const struct encoded *encoded,
                           struct decode_result *result, struct error *error)
{
    *result = (struct decode_result){0};
    return lab->cuda ? decode_measure_cuda(lab, dataset, encoded, result, error)
                     : decode_measure_cpu(lab, dataset, encoded, result, error);
}
