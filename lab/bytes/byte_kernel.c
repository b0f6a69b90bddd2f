/* byte_kernel.c: see byte_kernel.h. */
#include "lab/bytes/byte_kernel.h"

const char *const byte_decoder_names[BYTE_DECODERS] = {"as published",     "registers",    "one lane",
                                                       "prefetching warp", "thread block", "ours"};
const char *const byte_decoder_keys[BYTE_DECODERS] = {"published",  "registers", "one_lane",
                                                      "prefetched", "baseline",  "ours"};

/* ---- Texts ---- */

/* The header and the template of a decoder. */
struct decoder_text {
    const char *header, *name;
};
static const struct decoder_text published[BYTE_FORMATS] = {
    {"lab/kernels/bytes_published/orc_rle1_published_cuda.h", "orc_rle1_published"},
    {"lab/kernels/bytes_published/orc_rle2_published_cuda.h", "orc_rle2_published"},
    {"lab/kernels/bytes_published/deflate_published_cuda.h", "deflate_published"},
};
static const struct decoder_text ours[BYTE_FORMATS] = {
    {"operators/decode/bytes/orc_rle1_cuda.h", "orc_rle1_stream"},
    {"operators/decode/bytes/orc_rle2_cuda.h", "orc_rle2_stream"},
    {"operators/decode/bytes/deflate_cuda.h", "deflate_stream"},
};
static const uint32_t baseline_threads[BYTE_FORMATS] = {1024, 1024, 128};

/* How threads are given to blocks of the stream (lab/kernels/byte_streams_cuda.h, byte_blocks_cuda.h). */
struct shape {
    uint32_t threads, resident; /* of a thread block; resident: thread blocks that share a multiprocessor */
    uint32_t blocks;            /* of the stream, of a thread block */
    const char *function, *shared_bytes;
};
#define PREFETCHED_BYTES "(PREFETCH_BYTES + DECODER::TABLE_BYTES)"

static struct shape shape_of(enum byte_decoder decoder, enum byte_format format)
{
    const uint32_t threads = baseline_threads[format];
    if (decoder == BYTE_PREFETCHED)
        return (struct shape){256, 4, 4, "byte_streams_prefetched<DECODER>", "4 * " PREFETCHED_BYTES};
    if (decoder == BYTE_BASELINE)
        return (struct shape){threads, 1024 / threads, 1, "byte_streams_block<DECODER, THREADS>",
                              "BATCH_BYTES + " PREFETCHED_BYTES};
    return (struct shape){256, 4, 8, "lab_decode_blocks<DECODER>", "8 * DECODER::SCRATCH_BYTES"};
}

#define TELL_SHARED "tell_shared"

const char *byte_kernel_name(enum byte_decoder decoder, enum byte_format format,
                             char name[BYTE_KERNEL_NAME_BYTES])
{
    static const char *const formats[BYTE_FORMATS] = {"rle1", "rle2", "deflate"};
    snprintf(name, BYTE_KERNEL_NAME_BYTES, "decode_%s_%s", formats[format], byte_decoder_keys[decoder]);
    return name;
}

enum status byte_kernel_text(enum byte_decoder decoder, enum byte_format format, uint32_t item_bytes,
                             char **source, struct error *error)
{
    const struct decoder_text *const of = decoder == BYTE_OURS ? &ours[format] : &published[format];
    const struct shape shape = shape_of(decoder, format);
    const uint32_t bits = format == BYTES_DEFLATE ? 8 : 8 * item_bytes;
    struct kernel_text text;
    char name[BYTE_KERNEL_NAME_BYTES];
    RETURN_IF_ERROR(kernel_text_begin(decoder == BYTE_OURS ? "byte_blocks_cuda.h" : "byte_streams_cuda.h",
                                      NULL, &text, error));
    fprintf(text.out,
            "#include \"%s\"\n"
            "#define THREADS %uu\n"
            "typedef %s<uint%u_t%s> DECODER;\n",
            of->header, shape.threads, of->name, bits,
            decoder == BYTE_REGISTERS  ? ", published_registers"
            : decoder == BYTE_ONE_LANE ? ", published_one_lane"
                                       : "");
    fprintf(text.out,
            "extern \"C\" __global__ void __launch_bounds__(THREADS, %u) %s(const byte_block *blocks,\n"
            "    uint32_t count, uint32_t *next, uint32_t *faults)\n"
            "{\n    %s(blocks, count, next, faults);\n}\n"
            "extern \"C\" __global__ void tell_shared(uint32_t *bytes)\n"
            "{\n    *bytes = %s;\n}\n",
            shape.resident, byte_kernel_name(decoder, format, name), shape.function, shape.shared_bytes);
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
    if (format != BYTES_DEFLATE || size == 0) {
        RETURN_IF_ERROR(byte_kernel_text(decoder, (enum byte_format)format, 1u << size, &source, error));
        RETURN_IF_ERROR(lab_text_compile(compiling->lab, source, NULL, error));
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
    cuda_address next; /* the next block to be taken */
};

static enum status decode(void *context, struct error *error)
{
    struct decoding *const decoding = context;
    struct byte_batch *const batch = decoding->batch;
    void *arguments[] = {&batch->list, &batch->count, &decoding->next, &batch->counter};
    RETURN_IF_ERROR(cuda_set_words(batch->lab->cuda, decoding->next, 0, 1, error));
    return lab_kernel_launch(batch->lab, &decoding->kernel, arguments, error);
}

/* Runs the module's other kernel, which writes to `words`. */
static enum status ask_shared(struct cuda *cuda, struct cuda_module *module, cuda_address words,
                              uint32_t *bytes, struct error *error)
{
    struct cuda_function *tell;
    void *arguments[] = {&words};
    RETURN_IF_ERROR(cuda_module_function(cuda, module, TELL_SHARED, &tell, error));
    RETURN_IF_ERROR(cuda_launch(cuda, tell, 1, 1, 0, arguments, error));
    RETURN_IF_ERROR(cuda_copy_to_host(cuda, bytes, words, sizeof *bytes, error));
    return cuda_synchronize(cuda, error);
}

/* The grid fills the device, or has a warp for each block, whichever is less: a grid with more warps than blocks gives them
 * to half of the multiprocessors. Warps take blocks until there are no more. */
static enum status open_kernel(struct decoding *decoding, enum byte_decoder decoder,
                               struct byte_kernel_needs *needs, struct error *error)
{
    const struct byte_streams *const streams = decoding->batch->streams;
    const struct shape shape = shape_of(decoder, streams->format);
    struct lab_kernel *const kernel = &decoding->kernel;
    struct lab *const lab = decoding->batch->lab;
    struct cuda_function_properties properties;
    uint32_t shared_bytes = 0;
    unsigned resident = 0;
    char *source, name[BYTE_KERNEL_NAME_BYTES];
    RETURN_IF_ERROR(cuda_allocate(lab->cuda, sizeof(uint32_t), "a count", &decoding->next, error));
    RETURN_IF_ERROR(
        byte_kernel_text(decoder, streams->format, streams->set->kind->item_bytes, &source, error));
    RETURN_IF_ERROR(lab_kernel_open(lab, source, byte_kernel_name(decoder, streams->format, name),
                                    shape.threads, 0, kernel, error));
    RETURN_IF_ERROR(ask_shared(lab->cuda, kernel->module, decoding->next, &shared_bytes, error));
    RETURN_IF_ERROR(cuda_function_allow_shared(lab->cuda, kernel->function, shared_bytes, error));
    RETURN_IF_ERROR(cuda_function_properties(lab->cuda, kernel->function, &properties, error));
    RETURN_IF_ERROR(
        cuda_function_blocks(lab->cuda, kernel->function, shape.threads, shared_bytes, &resident, error));
    kernel->shared_bytes = shared_bytes;
    const uint32_t fill = resident * cuda_properties(lab->cuda)->multiprocessors,
                   wanted = (decoding->batch->count + shape.blocks - 1) / shape.blocks;
    kernel->blocks = wanted < fill ? wanted : fill;
    if (needs)
        *needs = (struct byte_kernel_needs){.registers = properties.registers,
                                            .local_bytes = properties.local_bytes,
                                            .shared_bytes = shared_bytes / shape.blocks,
                                            .blocks = resident * shape.blocks};
    return resident ? STATUS_OK
                    : error_set(error, STATUS_MACHINE, "%s, %s: a thread block does not fit this GPU",
                                byte_format_names[streams->format], byte_decoder_names[decoder]);
}

enum status byte_kernel_measure(struct byte_batch *batch, enum byte_decoder decoder, struct speed *speed,
                                struct byte_kernel_needs *needs, struct error *error)
{
    struct decoding decoding = {.batch = batch};
    enum status status = open_kernel(&decoding, decoder, needs, error);
    if (status == STATUS_OK)
        status = byte_batch_measure(batch, byte_decoder_names[decoder], decode, &decoding, speed, error);
    lab_kernel_close(batch->lab, &decoding.kernel);
    cuda_free(batch->lab->cuda, decoding.next);
    return status;
}
