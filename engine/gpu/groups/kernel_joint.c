/* kernel_joint.c: see kernel_joint.h. */
#include "engine/gpu/groups/kernel_joint.h"

static enum merge_kind merge_of(const struct plan *plan, uint32_t a)
{
    return plan_aggregate_of(plan, a)->device.merge;
}

static enum state_value value_of(const struct plan *plan, uint32_t a)
{
    return plan_aggregate_of(plan, a)->device.value;
}

/* ---- Which aggregates ---- */

/* The bits that a sum of all rows may have; 64 or more: it does not fit beside another. */
static uint32_t sum_bits(const struct plan *plan, uint32_t a)
{
    const struct plan_aggregate *const of = &plan->aggregates[a];
    const bool counts = value_of(plan, a) == STATE_OF_ROW;
    if (!counts && (of->low < 0 || of->low > of->high))
        return 64;
    const unsigned __int128 most =
        (unsigned __int128)plan->scan.kept_rows * (counts ? 1 : (uint64_t)of->high);
    return most >> 63 ? 64 : most ? 64 - (uint32_t)__builtin_clzll((uint64_t)most) : 1;
}

/* Values have numbers of 32 bits, from 1 on. */
static bool is_narrow(const struct plan *plan, uint32_t a)
{
    const struct plan_aggregate *const of = &plan->aggregates[a];
    return of->low <= of->high && (uint64_t)of->high - (uint64_t)of->low < UINT32_MAX;
}

/* The bits of the aggregate in a joint word; 0: it has none. */
static uint32_t joint_bits(const struct plan *plan, uint32_t a)
{
    if (plan_is_distinct(plan, a) || plan_aggregate_of(plan, a)->words != 1)
        return 0;
    if (merge_of(plan, a) == MERGE_GREATEST)
        return is_narrow(plan, a) ? 32 : 0;
    const uint32_t bits = merge_of(plan, a) == MERGE_ADD ? sum_bits(plan, a) : 64;
    return bits < 64 ? bits : 0;
}

/* Gives the aggregates after `first` that fit beside it their places in its word. */
static void fill_word(const struct plan *plan, uint32_t first, struct kernel_joint *joint)
{
    uint32_t used = joint_bits(plan, first), members = 1;
    for (uint32_t a = first + 1; a < plan->aggregate_count && used; a++) {
        const uint32_t bits = joint_bits(plan, a);
        if (joint->first[a] != KERNEL_JOINT_NONE || !bits || used + bits > 64 ||
            merge_of(plan, a) != merge_of(plan, first))
            continue;
        joint->first[a] = first;
        joint->shift[a] = (uint8_t)used;
        used += bits;
        members++;
    }
    if (members > 1) {
        joint->first[first] = first;
        joint->shift[first] = 0;
        joint->used = true;
    }
}

/* Whether the state is 0 only of groups without rows. */
static bool marks(const struct plan *plan, uint32_t a)
{
    const struct plan_aggregate *const of = &plan->aggregates[a];
    if (plan_is_distinct(plan, a) || plan_argument_is_nullable(plan, a) ||
        plan_aggregate_of(plan, a)->words != 1)
        return false;
    if (merge_of(plan, a) == MERGE_GREATEST)
        return of->low > INT64_MIN && of->high < INT64_MAX;
    return merge_of(plan, a) == MERGE_ADD && (value_of(plan, a) == STATE_OF_ROW || of->low > 0);
}

void kernel_joint_choose(const struct plan *plan, struct kernel *kernel)
{
    struct kernel_joint *const joint = &kernel->joint;
    joint->mark = KERNEL_JOINT_NONE;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        joint->first[a] = KERNEL_JOINT_NONE;
    if (kernel->hand || plan->shape != PLAN_DENSE || kernel->place != STATES_GLOBAL)
        return;
    for (uint32_t a = 0; a < plan->aggregate_count; a++) {
        if (joint->first[a] == KERNEL_JOINT_NONE)
            fill_word(plan, a, joint);
        if (joint->mark == KERNEL_JOINT_NONE && marks(plan, a))
            joint->mark = a;
    }
    joint->used |= joint->mark != KERNEL_JOINT_NONE;
}

bool kernel_joint_has(const struct kernel *kernel, uint32_t a)
{
    return kernel->joint.used && kernel->joint.first[a] != KERNEL_JOINT_NONE;
}

bool kernel_joint_begins(const struct kernel *kernel, uint32_t a)
{
    return kernel_joint_has(kernel, a) && kernel->joint.first[a] == a;
}

/* ---- Text ---- */

void kernel_joint_write_row(FILE *out, const struct plan *plan, const struct kernel *kernel, uint32_t a,
                            void (*write)(void *context, uint32_t a), void *context)
{
    const bool greatest = merge_of(plan, a) == MERGE_GREATEST;
    fprintf(out, "    joint_%s(%u, slot", greatest ? "raise" : "add", a);
    for (uint32_t member = a; member < plan->aggregate_count; member++) {
        if (kernel->joint.first[member] != a)
            continue;
        if (greatest)
            fprintf(out, ", joint_code(%u, %u, ", member, value_of(plan, member));
        else
            fputs(member == a ? ", " : " | ", out);
        write(context, member);
        if (greatest)
            fputs(")", out);
        else
            fprintf(out, " << %u", kernel->joint.shift[member]);
    }
    fputs(");\n", out);
}

/* A member's state, of the joint word j. */
static void write_state(FILE *out, const struct plan *plan, const struct kernel *kernel, uint32_t a)
{
    const uint32_t shift = kernel->joint.shift[a];
    fprintf(out, "    joint_word(%u, slot) = ", a);
    if (merge_of(plan, a) == MERGE_GREATEST)
        fprintf(out, "joint_state(%u, %u, (uint32_t)(j%u >> %u));\n", a, value_of(plan, a),
                kernel->joint.first[a], shift);
    else
        fprintf(out, "j%u >> %u & %lluull;\n", kernel->joint.first[a], shift,
                (unsigned long long)(UINT64_MAX >> (64 - joint_bits(plan, a))));
}

void kernel_joint_write_kernel(FILE *out, const struct plan *plan, const struct kernel *kernel)
{
    const struct kernel_joint *const joint = &kernel->joint;
    fputs("extern \"C\" __global__ void __launch_bounds__(256) complete()\n{\n"
          "    joint_complete([&](uint64_t slot) {\n",
          out);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (kernel_joint_begins(kernel, a))
            fprintf(out, "    const uint64_t j%u = joint_word(%u, slot);\n", a, a);
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (kernel_joint_has(kernel, a))
            write_state(out, plan, kernel, a);
    if (joint->mark != KERNEL_JOINT_NONE)
        fprintf(out, "    return joint_word(%u, slot) != 0;\n    });\n}\n", joint->mark);
    else
        fputs("    return reinterpret_cast<const uint32_t *>(arguments.present)[slot] != 0;\n    });\n}\n",
              out);
}
