/* series_kinds.c: see series_kinds.h. */
#include "lab/series/series_kinds.h"

#include "storage/base/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define PI             3.14159265358979323846
#define OUTLYING       0.05 /* of the values, as in the paper's data */
#define CURVE_ROWS     1024u
#define HOURS_12_A_DAY 12u

static int32_t rounded(double value)
{
    return (int32_t)lround(value);
}

static double wave_of(double phase, double centre, double width)
{
    const double distance = (phase - centre) / width;
    return exp(-0.5 * distance * distance);
}

/* ---- Star light curves: brightness over a period, CURVE_ROWS values a star ---- */

struct light_curve {
    bool eclipsing;              /* two dips; else a fast rise and a slow fall */
    double level, height, noise; /* in 0.001 magnitudes */
};

static double light_of(const struct light_curve *curve, double phase)
{
    const double rise = 0.2; /* of the period */
    if (curve->eclipsing)
        return -wave_of(phase, 0.25, 0.03) - 0.4 * wave_of(phase, 0.75, 0.03);
    return phase < rise ? -0.5 * cos(PI * phase / rise) : 0.5 * cos(PI * (phase - rise) / (1 - rise));
}

/* An outlying observation differs by up to eight times its star's height. */
static void fill_light_curves(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random,
                              int32_t *values)
{
    const struct light_curve *const curve = parameters;
    double level = 0, height = 0, shift = 0;
    (void)first;
    for (uint32_t i = 0; i < rows; i++) {
        if (i % CURVE_ROWS == 0) {
            level = curve->level + 500 * random_normal(random);
            height = curve->height * (0.5 + random_unit(random));
            shift = random_unit(random);
        }
        const double phase = fmod(shift + (double)(i % CURVE_ROWS) / CURVE_ROWS, 1);
        double value = level + height * light_of(curve, phase) + curve->noise * random_normal(random);
        if (random_unit(random) < OUTLYING)
            value += 16 * height * (random_unit(random) - 0.5);
        values[i] = rounded(value);
    }
}

/* ---- Quotations: a walk whose steps are larger at some times than at others ---- */

struct quotes {
    double start, step; /* in the last decimal; step: the mean deviation */
    double unchanged;   /* of the quotations repeat the one before */
};

/* The volatility returns to 1 within some hundred steps. 5 % of the steps are eight times as large. A price stays within
 * a quarter and four times its start: a step that would leave is not taken. */
static void fill_quotes(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random,
                        int32_t *values)
{
    const struct quotes *const quotes = parameters;
    double price = quotes->start, heat = 0; /* heat: the logarithm of the volatility */
    (void)first;
    for (uint32_t i = 0; i < rows; i++) {
        heat = 0.99 * heat + 0.07 * random_normal(random);
        double step = random_unit(random) < quotes->unchanged
                          ? 0
                          : quotes->step * exp(heat) * random_normal(random) * price / quotes->start;
        if (random_unit(random) < OUTLYING)
            step *= 8;
        const double next = price + step;
        price = next < quotes->start / 4 || next > quotes->start * 4 ? price : next;
        values[i] = rounded(price);
    }
}

/* ---- Radioactivity in the ground, every two hours ---- */

struct counts {
    double level, day,
        drift;     /* mean count, the height of its daily wave, the deviation of a step of the weather */
    double shower; /* the greatest addition of a rainfall, which halves within four values */
};

/* Counts are normal with the deviation of a Poisson distribution. It rains once in 80 values. */
static void fill_counts(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random,
                        int32_t *values)
{
    const struct counts *const counts = parameters;
    double weather = 0, rain = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const double hour = (double)((first + i) % HOURS_12_A_DAY) / HOURS_12_A_DAY;
        weather = 0.95 * weather + counts->drift * random_normal(random);
        rain = random_unit(random) < 1.0 / 80 ? counts->shower * random_unit(random) : 0.84 * rain;
        const double mean = fmax(1, counts->level + counts->day * sin(2 * PI * hour) + weather + rain);
        values[i] = rounded(fmax(0, mean + sqrt(mean) * random_normal(random)));
    }
}

/* ---- Electrocardiograms: five waves a beat (after McSharry et al., IEEE Trans. Biomed. Eng., 2003) ---- */

struct heart {
    double rate;    /* values a second */
    double gain;    /* steps of the converter a millivolt */
    double noise;   /* in steps */
    double wander;  /* of the base line by breathing, in millivolts */
    double beat_ms; /* its mean length */
};

static double beat_of(double seconds, double length)
{
    static const struct {
        double centre, width, millivolts; /* seconds from the R wave */
    } waves[] = {{-0.17, 0.025, 0.15},
                 {-0.035, 0.010, -0.12},
                 {0, 0.012, 1.2},
                 {0.035, 0.010, -0.25},
                 {0.26, 0.045, 0.3}};
    double sum = 0;
    for (uint32_t w = 0; w < sizeof waves / sizeof *waves; w++)
        sum += waves[w].millivolts * wave_of(seconds - 0.35 * length, waves[w].centre, waves[w].width);
    return sum;
}

static void fill_heart(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random,
                       int32_t *values)
{
    const struct heart *const heart = parameters;
    double begin = 0, length = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const double now = i / heart->rate;
        if (now >= begin + length) {
            begin = now;
            length = heart->beat_ms * 1e-3 * (1 + 0.05 * random_normal(random));
        }
        const double breath = heart->wander * sin(2 * PI * 0.25 * (double)(first + i) / heart->rate);
        values[i] = rounded(heart->gain * (beat_of(now - begin, length) + breath) +
                            heart->noise * random_normal(random));
    }
}

/* ---- The eight ---- */

const struct series_kind series_kinds[SERIES_KINDS] = {
    {"TR1", "pulsating stars, 0.001 mag", 3, fill_light_curves,
     &(const struct light_curve){.level = 15000, .height = 800, .noise = 4}},
    {"TR2", "eclipsing stars, 0.001 mag", 3, fill_light_curves,
     &(const struct light_curve){.eclipsing = true, .level = 17000, .height = 500, .noise = 12}},
    {"IN1", "AUDJPY, every minute, 0.001", 3, fill_quotes,
     &(const struct quotes){.start = 80000, .step = 8, .unchanged = 0.1}},
    {"IN2", "EURUSD, every minute, 0.00001", 5, fill_quotes,
     &(const struct quotes){.start = 130000, .step = 12, .unchanged = 0.05}},
    {"TS1", "a bank's share, every day, 0.01", 2, fill_quotes,
     &(const struct quotes){.start = 1500, .step = 25}},
    {"TS2", "radioactivity, every 2 hours, counts", 0, fill_counts,
     &(const struct counts){.level = 300, .day = 20, .drift = 4, .shower = 300}},
    {"PH1", "ECG, 360 Hz, 200 steps a mV", 0, fill_heart,
     &(const struct heart){.rate = 360, .gain = 200, .noise = 1.5, .wander = 0.1, .beat_ms = 800}},
    {"PH2", "ECG, 1000 Hz, 2000 steps a mV", 0, fill_heart,
     &(const struct heart){.rate = 1000, .gain = 2000, .noise = 6, .wander = 0.1, .beat_ms = 700}},
};

/* ---- Text ---- */

enum status series_text(const struct dataset *dataset, uint32_t decimals, char **text, uint64_t *bytes,
                        struct error *error)
{
    int64_t unit = 1;
    RETURN_IF_ERROR(memory_take(text, dataset->rows * SERIES_LINE_BYTES + 1, "a time series as text", error));
    for (uint32_t d = 0; d < decimals; d++)
        unit *= 10;
    char *at = *text;
    for (uint64_t row = 0; row < dataset->rows; row++) {
        const int64_t value = dataset->values[row], size = llabs(value);
        at += sprintf(at, "%s%" PRId64, value < 0 ? "-" : "", size / unit);
        at += decimals ? sprintf(at, ".%0*" PRId64 "\n", (int)decimals, size % unit) : sprintf(at, "\n");
    }
    *bytes = (uint64_t)(at - *text);
    return STATUS_OK;
}
