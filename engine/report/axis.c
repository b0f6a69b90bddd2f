/* axis.c: see axis.h. */
#include "engine/report/axis.h"

#include <math.h>

#define MARGIN 0.04 /* of the range, beyond the numbers, if the axis does not end at ticks */

/* A log2 axis up to here has numbers as ticks; beyond, powers ("2^16"). */
#define LOG2_NUMBERS_MAX 4096.0

/* Numbers from 10^-4 to here are written with a prefix or plainly; others as a power of ten. */
#define PREFIXED_MAX 1e15
#define PLAIN_MIN    1e-4

/* A linear axis up to here has no prefixes: "2500", not "2.5 k". */
#define UNPREFIXED_MAX 9999.0

/* Longer log10 axes have no small ticks between the decades. */
#define SMALL_TICKS_DECADES 6

/* With this many parts, a step is always shorter than the axis, so that some tick is on it. */
#define TICKS_MIN 3

#define LABEL_BYTES sizeof((struct axis_tick *)NULL)->label

bool axis_holds(enum chart_scale scale, double number)
{
    if (!isfinite(number) || fabs(number) > AXIS_LARGEST)
        return false;
    return scale == CHART_LINEAR || number >= AXIS_SMALLEST;
}

/* ---- Texts ---- */

/* "1.5×10^-7" */
static void write_power(double number, char *label)
{
    const int exponent = (int)floor(log10(fabs(number)) + 1e-9);
    const double digits = number / pow(10, exponent);
    if (fabs(digits - 1) > 1e-6)
        snprintf(label, LABEL_BYTES, "%.3g×10^%d", digits, exponent);
    else
        snprintf(label, LABEL_BYTES, "10^%d", exponent);
}

/* Writes a number with the digits that distinguish numbers which are `step` apart. `size` decides how, so that
 * numbers of one size look alike: "0.25", "200 M", "10^-7". */
static void write_number(double number, double step, double size, char *label)
{
    static const char *const prefixes[] = {"", " k", " M", " G", " T"};
    int prefix = 0;
    double unit = 1;
    for (; prefix < 4 && size >= 1000 * unit * (1 - 1e-9); prefix++)
        unit *= 1000;
    const int places = (int)ceil(-log10(step / unit) - 1e-9);
    if (number == 0)
        snprintf(label, LABEL_BYTES, "0");
    else if (size >= PREFIXED_MAX || size < PLAIN_MIN)
        write_power(number, label);
    else
        snprintf(label, LABEL_BYTES, "%.*f%s", places > 0 ? places : 0, number / unit, prefixes[prefix]);
}

/* ---- Ranges and ticks ---- */

/* The step of 1, 2 or 5 times a power of ten that divides the range into at most `ticks` parts. */
static double step_of(double range, uint32_t ticks)
{
    static const double steps[] = {1, 2, 5, 10};
    const double rough = range / ticks, power = pow(10, floor(log10(rough)));
    for (int i = 0; i < 4; i++)
        if (steps[i] * power >= rough * (1 - 1e-9))
            return steps[i] * power;
    return 10 * power;
}

/* Adds a tick without a text, which is returned; NULL: there are too many, or it is outside. */
static char *add_tick(struct axis *axis, double value)
{
    const double slack = 1e-9 * (axis->scale == CHART_LINEAR ? axis->high - axis->low : value);
    if (axis->tick_count == AXIS_TICKS_MAX || value < axis->low - slack || value > axis->high + slack)
        return NULL;
    struct axis_tick *const tick = &axis->ticks[axis->tick_count++];
    *tick = (struct axis_tick){.value = value};
    return tick->label;
}

/* Makes an axis of one number wider. */
static void widen_linear(struct axis *axis)
{
    const double size = fmax(fabs(axis->low), fabs(axis->high));
    if (axis->high - axis->low > fmax(1e-9 * size, AXIS_SMALLEST))
        return;
    const double wider = size > 1e10 * AXIS_SMALLEST ? size / 2 : 1;
    axis->low -= axis->low == 0 ? 0 : wider;
    axis->high += wider;
}

static void make_linear(struct axis *axis, uint32_t ticks, bool round)
{
    widen_linear(axis);
    const double step = step_of(axis->high - axis->low, ticks);
    if (round) {
        axis->low = step * floor(axis->low / step + 1e-9);
        axis->high = step * ceil(axis->high / step - 1e-9);
    } else {
        const double margin = MARGIN * (axis->high - axis->low);
        axis->low -= axis->low >= 0 && axis->low < margin ? axis->low : margin;
        axis->high += margin;
    }
    const double size = fmax(fabs(axis->low), fabs(axis->high));
    for (double i = ceil(axis->low / step - 1e-9); i * step <= axis->high + 1e-9 * step; i++) {
        char *const label = add_tick(axis, i * step);
        if (!label)
            break;
        write_number(i * step, step, size > UNPREFIXED_MAX || size < PLAIN_MIN ? size : 1, label);
    }
}

/* Ticks at powers of two, every power or, on long axes, every second, fourth, ... */
static void make_log2(struct axis *axis, uint32_t ticks, bool round)
{
    double low = log2(axis->low), high = log2(axis->high);
    if (round || floor(high + 1e-9) < ceil(low - 1e-9) || high - low < 1e-9) { /* no tick would be inside */
        low = floor(low + 1e-9);
        high = fmax(ceil(high - 1e-9), low + 1);
    } else {
        const double margin = MARGIN * (high - low);
        low -= margin;
        high += margin;
    }
    double every = 1;
    while ((high - low) / every > ticks)
        every *= 2;
    axis->low = exp2(low);
    axis->high = exp2(high);
    const bool plain = axis->low >= 0.25 && axis->high <= LOG2_NUMBERS_MAX;
    for (double power = every * ceil(low / every); power <= high + 1e-9; power += every) {
        char *const label = add_tick(axis, exp2(power));
        if (label && plain)
            snprintf(label, LABEL_BYTES, "%g", exp2(power));
        else if (label)
            snprintf(label, LABEL_BYTES, "2^%d", (int)power);
    }
}

/* The numbers of a decade that have ticks, and whether these have labels: all decades' 1, and on short axes 2 and 5,
 * too. */
static void add_decade(struct axis *axis, int decade, int every, bool labels)
{
    for (int digit = 1; digit < (every > 1 ? 2 : 10); digit++) {
        const double value = digit * pow(10, decade);
        char *const label = add_tick(axis, value);
        if (label && (digit == 1 ? decade % every == 0 : labels && (digit == 2 || digit == 5)))
            write_number(value, value, value, label);
    }
}

/* The next of 1, 2, 5 times a power of ten, down or up. */
static double round_log(double number, bool up)
{
    static const double steps[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(number) + 1e-9));
    double below = power;
    for (int i = 0; i < 4; i++) {
        if (up && steps[i] * power >= number * (1 - 1e-9))
            return steps[i] * power;
        if (steps[i] * power <= number * (1 + 1e-9))
            below = steps[i] * power;
    }
    return up ? 10 * power : below;
}

static void make_log10(struct axis *axis, uint32_t ticks, bool round)
{
    if (axis->high <= axis->low * (1 + 1e-9)) {
        axis->low = round_log(axis->low / 2, false);
        axis->high = round_log(axis->high * 2, true);
    } else if (round || round_log(axis->low, true) > axis->high) { /* no tick would be inside */
        axis->low = round_log(axis->low, false);
        axis->high = round_log(axis->high, true);
    } else {
        const double margin = pow(axis->high / axis->low, MARGIN);
        axis->low /= margin;
        axis->high *= margin;
    }
    const int first = (int)floor(log10(axis->low)), last = (int)ceil(log10(axis->high));
    int every = last - first > SMALL_TICKS_DECADES ? 2 : 1;
    while ((last - first) / every > (int)ticks)
        every++;
    const bool labels = log10(axis->high / axis->low) < 2;
    for (int decade = first; decade <= last; decade++)
        add_decade(axis, decade, every, labels);
}

void axis_make(struct axis *axis, enum chart_scale scale, double low, double high, uint32_t ticks, bool round)
{
    const bool known = low <= high && axis_holds(scale, low) && axis_holds(scale, high);
    axis->scale = scale;
    axis->low = known ? low : scale != CHART_LINEAR;
    axis->high = known ? high : scale == CHART_LINEAR ? 1 : 10;
    axis->tick_count = 0;
    ticks = ticks < TICKS_MIN ? TICKS_MIN : ticks;
    if (scale == CHART_LINEAR)
        make_linear(axis, ticks, round);
    else if (scale == CHART_LOG2)
        make_log2(axis, ticks, round);
    else
        make_log10(axis, ticks, round);
}

double axis_place(const struct axis *axis, double number)
{
    const double share = axis->scale == CHART_LINEAR ? (number - axis->low) / (axis->high - axis->low)
                                                     : log(number / axis->low) / log(axis->high / axis->low);
    return axis->from + share * (axis->to - axis->from);
}
