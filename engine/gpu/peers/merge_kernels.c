/* merge_kernels.c: see merge_kernels.h. */
#include "engine/gpu/peers/merge_kernels.h"

#include "operators/group/merge_sets.h"

#define MERGE_THREADS 256u
/* Blocks of a multiprocessor: what keeps enough reads of the others' memory in flight. */
#define MERGE_BLOCKS 8u

const char gpu_merge_source[] =
    "#define TILE_CUDA 1\n#include <stdint.h>\n#include \"operators/group/merge_cuda.h\"\n"
    "#define MERGE(name, work_type, call)                                                   \\\n"
    "    extern \"C\" __global__ void __launch_bounds__(256) name(const __grid_constant__ work_type work) "
    "\\\n"
    "    {                                                                                  \\\n"
    "        call(work);                                                                    \\\n"
    "    }\n"
    "MERGE(slots, bound_merge, merge_slots)\n"
    "MERGE(table, bound_absorb, merge_table)\n"
    "MERGE(bits, bound_bits, merge_bits)\n"
    "MERGE(keys, bound_keys, merge_keys)\n";

_Static_assert(sizeof(struct bound_merge) <= 4096 && sizeof(struct bound_keys) <= 4096,
               "the arguments of a kernel");
_Static_assert(MERGE_PEERS_MAX >= PEERS_MAX, "all GPUs have a place");

enum status merge_kernels_open(struct cuda *cuda, struct merge_kernels *kernels, struct error *error)
{
    const struct nvrtc_request request = {
        .name = "merge.cu", .source = gpu_merge_source, .arch = cuda_properties(cuda)->arch};
    struct kernel_binary binary = {0};
    *kernels = (struct merge_kernels){.cuda = cuda};
    RETURN_IF_ERROR(kernel_cache_get(&request, &binary, NULL, error));
    const enum status status = cuda_module_load(cuda, binary.cubin, &kernels->module, error);
    kernel_binary_free(&binary);
    RETURN_IF_ERROR(status);
    RETURN_IF_ERROR(cuda_module_function(cuda, kernels->module, "slots", &kernels->slots, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, kernels->module, "table", &kernels->table, error));
    RETURN_IF_ERROR(cuda_module_function(cuda, kernels->module, "bits", &kernels->bits, error));
    return cuda_module_function(cuda, kernels->module, "keys", &kernels->keys, error);
}

void merge_kernels_close(struct merge_kernels *kernels)
{
    if (kernels->module)
        cuda_module_unload(kernels->cuda, kernels->module);
    *kernels = (struct merge_kernels){0};
}

bool merge_kernels_can(const struct device_run *run)
{
    if (run->plan->shape == PLAN_ROWS || run->known || run->plan->aggregate_count > MERGE_STATES_MAX ||
        run->plan->key_words > ABSORB_KEY_WORDS_MAX)
        return false;
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        if (plan_is_distinct(run->plan, a) && run->kernel.distinct[a] == DISTINCT_BY_PAIRS)
            return false;
    return true;
}

bool merge_kernels_may_fill(const struct device_run *run)
{
    bool may = run->plan->shape == PLAN_HASH;
    for (uint32_t a = 0; a < run->plan->aggregate_count; a++)
        may |= plan_is_distinct(run->plan, a) && run->kernel.distinct[a] == DISTINCT_BY_KEYS;
    return may;
}

/* ---- Arguments ---- */

static uint64_t offset_of(const struct device_run *run, cuda_address piece)
{
    return (piece - run->states) / sizeof(uint64_t);
}

static void fill_slots(struct device_run *const *runs, uint32_t count, struct bound_merge *work)
{
    const struct device_run *own = runs[0];
    *work = (struct bound_merge){.own = own->states,
                                 .peer_count = count - 1,
                                 .slots = (uint32_t)own->slots,
                                 .present = (uint32_t)offset_of(own, own->arguments.present)};
    for (uint32_t r = 1; r < count; r++)
        work->peers[r - 1] = runs[r]->states;
    for (uint32_t a = 0; a < own->plan->aggregate_count; a++)
        if (!plan_is_distinct(own->plan, a))
            work->states[work->state_count++] =
                (struct merge_state){.kind = plan_aggregate_of(own->plan, a)->device.merge,
                                     .offset = (uint32_t)offset_of(own, own->arguments.states[a])};
}

static void fill_table(const struct device_run *own, const struct device_run *other,
                       struct bound_absorb *work)
{
    const struct plan *plan = own->plan;
    *work = (struct bound_absorb){.own = own->states,
                                  .other = other->states,
                                  .own_slots = own->slots,
                                  .other_slots = other->slots,
                                  .own_keys = offset_of(own, own->arguments.keys),
                                  .other_keys = offset_of(other, other->arguments.keys),
                                  .key_words = plan->key_words,
                                  .full = offset_of(own, own->arguments.full),
                                  .found = offset_of(own, own->arguments.groups_found)};
    if (plan->key_words > 1) {
        work->own_numbers = offset_of(own, own->arguments.key_words);
        work->other_numbers = offset_of(other, other->arguments.key_words);
    }
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (!plan_is_distinct(own->plan, a))
            work->states[work->state_count++] =
                (struct absorb_state){.kind = plan_aggregate_of(plan, a)->device.merge,
                                      .own = offset_of(own, own->arguments.states[a]),
                                      .other = offset_of(other, other->arguments.states[a])};
}

static void fill_bits(const struct device_run *own, const struct device_run *other, uint32_t a,
                      struct bound_bits *work)
{
    const uint64_t domain = own->arguments.sets[a].last + 1;
    *work = (struct bound_bits){.own = own->arguments.sets[a].table,
                                .other = other->arguments.sets[a].table,
                                .words = (own->slots * domain + 31) / 32,
                                .domain = domain,
                                .counts = own->arguments.states[a]};
}

static void fill_keys(const struct device_run *own, const struct device_run *other, uint32_t a,
                      struct bound_keys *work)
{
    const struct set_argument *set = &own->arguments.sets[a], *from = &other->arguments.sets[a];
    const bool hashed = own->plan->shape == PLAN_HASH;
    *work = (struct bound_keys){.table = {.own = own->states,
                                          .other = other->states,
                                          .own_slots = set->capacity,
                                          .other_slots = from->capacity,
                                          .own_keys = offset_of(own, set->table),
                                          .other_keys = offset_of(other, from->table),
                                          .key_words = 1,
                                          .full = offset_of(own, own->arguments.full)},
                                .domain = set->last + 1,
                                .counts = own->arguments.states[a],
                                .group_keys = hashed ? own->arguments.keys : 0,
                                .group_slots = hashed ? own->slots : 0};
}

/* ---- Launches ---- */

static enum status launch(const struct merge_kernels *kernels, struct cuda_function *kernel, uint64_t items,
                          void *work, struct error *error)
{
    void *arguments[] = {work};
    const uint64_t most = MERGE_BLOCKS * cuda_properties(kernels->cuda)->multiprocessors,
                   blocks = (items + MERGE_THREADS - 1) / MERGE_THREADS;
    return cuda_launch(kernels->cuda, kernel, (unsigned)(blocks < most ? blocks : most), MERGE_THREADS, 0,
                       arguments, error);
}

static enum status merge_set(const struct merge_kernels *kernels, const struct device_run *own,
                             const struct device_run *other, uint32_t a, struct error *error)
{
    if (own->kernel.distinct[a] == DISTINCT_BY_BITS) {
        struct bound_bits bits;
        fill_bits(own, other, a, &bits);
        return launch(kernels, kernels->bits, bits.words, &bits, error);
    }
    struct bound_keys keys;
    fill_keys(own, other, a, &keys);
    return launch(kernels, kernels->keys, keys.table.other_slots, &keys, error);
}

enum status merge_kernels_queue(const struct merge_kernels *kernels, struct device_run *const *runs,
                                uint32_t count, struct error *error)
{
    const struct plan *plan = runs[0]->plan;
    if (count > 1 && plan->shape != PLAN_HASH) {
        struct bound_merge work;
        fill_slots(runs, count, &work);
        RETURN_IF_ERROR(launch(kernels, kernels->slots, merge_items(&work), &work, error));
    }
    for (uint32_t r = 1; r < count; r++) {
        if (plan->shape == PLAN_HASH) {
            struct bound_absorb work;
            fill_table(runs[0], runs[r], &work);
            RETURN_IF_ERROR(launch(kernels, kernels->table, work.other_slots, &work, error));
        }
        for (uint32_t a = 0; a < plan->aggregate_count; a++)
            if (plan_is_distinct(runs[0]->plan, a))
                RETURN_IF_ERROR(merge_set(kernels, runs[0], runs[r], a, error));
    }
    return STATUS_OK;
}

uint64_t merge_kernels_bytes(const struct device_run *run)
{
    const struct plan *plan = run->plan;
    const bool hashed = plan->shape == PLAN_HASH;
    uint64_t words = hashed && plan->key_words > 1 ? plan->key_words : 0, bytes = 0;
    for (uint32_t a = 0; a < plan->aggregate_count; a++)
        if (!plan_is_distinct(run->plan, a))
            words += run->kernel.state_words[a];
        else if (run->kernel.distinct[a] == DISTINCT_BY_BITS)
            bytes += run->slots * (run->arguments.sets[a].last + 1) / 8;
        else
            bytes += run->arguments.sets[a].capacity * sizeof(uint64_t);
    if (hashed)
        return bytes + (run->slots + cuda_states_found(run) * words) * sizeof(uint64_t);
    return bytes + run->slots * (words * sizeof(uint64_t) + sizeof(uint32_t));
}
