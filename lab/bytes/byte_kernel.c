/* byte_kernel.c: see byte_kernel.h. */
#include "lab/bytes/byte_kernel.h"

#include "engine/cuda/embedded.h"

const char *const byte_decoder_names[BYTE_DECODERS] = {"as published", "ours"};
const char *const byte_decoder_keys[BYTE_DECODERS] = {"published", "ours"};

/* ---- Texts ---- */

/* The header and the template of a decoder. */
struct decoder_text {
    const char *header, *name;
};
static const struct decoder_text texts[BYTE_DECODERS][BYTE_FORMATS] = {
    [BYTE_PUBLISHED] = {{"operators/decode/bytes/published/orc_rle1_published_cuda.h", "orc_rle1_published"},
                        {"operators/decode/bytes/published/orc_rle2_published_cuda.h", "orc_rle2_published"},
                        {"operators/decode/bytes/published/deflate_published_cuda.h", "deflate_published"}},
    [BYTE_OURS] = {{"operators/decode/bytes/orc_rle1_cuda.h", "orc_rle1_stream"},
                   {"operators/decode/bytes/orc_rle2_cuda.h", "orc_rle2_stream"},
                   {"operators/decode/bytes/deflate_cuda.h", "deflate_stream"}},
};

bool byte_kernel_is_there(enum byte_decoder decoder, enum byte_format format)
{
    return texts[decoder][format].header && embedded_find(texts[decoder][format].header);
}

/* Four thread blocks share a multiprocessor, which bounds the registers to 64. */
static const char kernels[] =
    "extern \"C\" __global__ void __launch_bounds__(32 * LAB_BLOCK_WARPS, 4) decode_blocks(\n"
    "    const byte_block *blocks, uint32_t count, uint32_t *faults)\n"
    "{\n    lab_decode_blocks<DECODER>(blocks, count, faults);\n}\n"
    "extern \"C\" __global__ void tell_launch(uint32_t *launch)\n"
    "{\n"
    "    launch[0] = 32 * LAB_BLOCK_WARPS;\n"
    "    launch[1] = LAB_BLOCK_WARPS;\n"
    "    launch[2] = LAB_BLOCK_WARPS * DECODER::SCRATCH_BYTES;\n"
    "}\n";
#define TELL_LAUNCH "tell_launch"

/* How a kernel is launched, as tell_launch writes it. */
struct launch {
    uint32_t threads, blocks, shared_bytes; /* of a thread block; `blocks` are the stream's */
};

enum status byte_kernel_text(enum byte_decoder decoder, enum byte_format format, uint32_t item_bytes,
                             char **source, struct error *error)
{
    const struct decoder_text *const of = &texts[decoder][format];
    const uint32_t bits = format == BYTES_DEFLATE ? 8 : 8 * item_bytes;
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("byte_blocks_cuda.h", NULL, &text, error));
    fprintf(text.out, "#include \"%s\"\ntypedef %s<uint%u_t> DECODER;\n%s", of->header, of->name, bits,
            kernels);
    return kernel_text_close(&text, source, error);
}

enum status byte_kernel_compare(char **source, struct error *error)
{
    struct kernel_text text;
    RETURN_IF_ERROR(kernel_text_begin("byte_blocks_cuda.h", NULL, &text, error));
    fputs("extern \"C\" __global__ void compare_copies(const uint64_t *words, const uint64_t *expected,\n"
          "    uint64_t copy_words, uint64_t stride, uint32_t copies, uint64_t rest, uint32_t *wrong)\n"
          "{\n    lab_compare_copies(words, expected, copy_words, stride, copies, rest, wrong);\n}\n",
          text.out);
    return kernel_text_close(&text, source, error);
}

/* ---- Compiling ---- */

#define ITEM_SIZES 4u /* 1, 2, 4 and 8 bytes */

struct compiling {
    struct lab *lab;
    _Atomic uint64_t done;
};

/* One kernel of all; formats of bytes have one item's size. */
static enum status compile_one(void *context, uint64_t item, unsigned thread, struct error *error)
{
    struct compiling *const compiling = context;
    const uint32_t size = item % ITEM_SIZES, format = (uint32_t)(item / ITEM_SIZES % BYTE_FORMATS);
    const enum byte_decoder decoder = (enum byte_decoder)(item / ITEM_SIZES / BYTE_FORMATS);
    char *source;
    (void)thread;
    RETURN_IF_ERROR(cancel_check(error));
    const bool is_needed = format != BYTES_DEFLATE || size == 0;
    if (is_needed && byte_kernel_is_there(decoder, (enum byte_format)format)) {
        RETURN_IF_ERROR(byte_kernel_text(decoder, (enum byte_format)format, 1u << size, &source, error));
        RETURN_IF_ERROR(lab_text_compile(compiling->lab, source, error));
    }
    progress_report(compiling->lab->progress, "compiling kernels", "kernels", ++compiling->done,
                    BYTE_DECODERS * BYTE_FORMATS * ITEM_SIZES);
    return STATUS_OK;
}

enum status byte_kernel_compile(struct lab *lab, struct error *error)
{
    struct compiling compiling = {.lab = lab};
    return parallel_for(lab->threads, BYTE_DECODERS * BYTE_FORMATS * ITEM_SIZES, compile_one, &compiling,
                        error);
}

/* ---- Measuring ---- */

struct decoding {
    struct byte_batch *batch;
    struct lab_kernel kernel;
};

static enum status decode(void *context, struct error *error)
{
    struct decoding *const decoding = context;
    struct byte_batch *const batch = decoding->batch;
    void *arguments[] = {&batch->list, &batch->count, &batch->counter};
    return lab_kernel_launch(batch->lab, &decoding->kernel, arguments, error);
}

static enum status ask_launch(struct byte_batch *batch, struct cuda_module *module, struct launch *launch,
                              struct error *error)
{
    struct cuda *const cuda = batch->lab->cuda;
    struct cuda_function *tell;
    cuda_address words = 0;
    void *arguments[] = {&words};
    RETURN_IF_ERROR(cuda_module_function(cuda, module, TELL_LAUNCH, &tell, error));
    RETURN_IF_ERROR(cuda_allocate(cuda, sizeof *launch, "a kernel's launch", &words, error));
    enum status status = cuda_launch(cuda, tell, 1, 1, 0, arguments, error);
    if (status == STATUS_OK)
        status = cuda_copy_to_host(cuda, launch, words, sizeof *launch, error);
    if (status == STATUS_OK)
        status = cuda_synchronize(cuda, error);
    cuda_free(cuda, words);
    return status;
}

static enum status open_kernel(struct decoding *decoding, enum byte_decoder decoder,
                               struct byte_kernel_needs *needs, struct error *error)
{
    struct byte_batch *const batch = decoding->batch;
    struct lab_kernel *const kernel = &decoding->kernel;
    struct cuda *const cuda = batch->lab->cuda;
    struct cuda_function_properties properties;
    struct launch launch = {0};
    unsigned resident = 0;
    char *source;
    RETURN_IF_ERROR(byte_kernel_text(decoder, batch->streams->format, batch->streams->set->kind->item_bytes,
                                     &source, error));
    RETURN_IF_ERROR(lab_kernel_open(batch->lab, source, BYTE_KERNEL, 32, 0, kernel, error));
    RETURN_IF_ERROR(ask_launch(batch, kernel->module, &launch, error));
    kernel->threads = launch.threads;
    kernel->shared_bytes = launch.shared_bytes;
    kernel->blocks = (batch->count + launch.blocks - 1) / launch.blocks;
    RETURN_IF_ERROR(cuda_function_allow_shared(cuda, kernel->function, launch.shared_bytes, error));
    RETURN_IF_ERROR(cuda_function_properties(cuda, kernel->function, &properties, error));
    RETURN_IF_ERROR(
        cuda_function_blocks(cuda, kernel->function, launch.threads, launch.shared_bytes, &resident, error));
    if (needs)
        *needs = (struct byte_kernel_needs){
            .registers = properties.registers,
            .local_bytes = properties.local_bytes,
            .shared_bytes = (launch.shared_bytes + properties.static_shared_bytes) / launch.blocks,
            .blocks = resident * launch.blocks};
    return STATUS_OK;
}

enum status byte_kernel_measure(struct byte_batch *batch, enum byte_decoder decoder, struct speed *speed,
                                struct byte_kernel_needs *needs, struct error *error)
{
    struct decoding decoding = {.batch = batch};
    enum status status = open_kernel(&decoding, decoder, needs, error);
    if (status == STATUS_OK)
        status = byte_batch_measure(batch, byte_decoder_names[decoder], decode, &decoding, speed, error);
    lab_kernel_close(batch->lab, &decoding.kernel);
    return status;
}
