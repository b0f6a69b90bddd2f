/*
 * compiler.cpp: NVRTC's functions for the emulated GPU: g++ compiles the kernels of a statement, with the headers that the engine
 * gives, to a module that driver.cpp loads. TESSERA_NVRTC names it. What those headers have as assembly of a GPU is replaced by
 * the same in C++. Warps' lanes are fibers that come apart at any branch, so __activemask tells of no others.
 */
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

namespace
{

#define WORDS "operators/decode/bytes/warp_words_cuda.h"
#define ORS   "operators/index/shared_or_cuda.h"
#define SUM                                                              \
    "for (uint32_t by = 1; by < 32; by *= 2) {\n"                        \
    "    const uint32_t below = __shfl_up_sync(FULL_WARP, value, by);\n" \
    "    value += threadIdx.x % 32 >= by ? below : 0;\n"                 \
    "}\nreturn value;"

/* A function of a header, and what its body becomes. */
const struct {
    const char *file, *head, *body;
} replaced[] = {
    {"operators/decode/unpack_cuda.h", "TILE_INLINE uint32_t load_shared(",
     "return *reinterpret_cast<uint32_t *>(tile_shared + address);"},
    {"operators/decode/unpack_cuda.h", "TILE_INLINE void copy_lines(",
     "for (uint32_t at = first * 32 + lane; at < end * 32; at += 32)\n"
     "    reinterpret_cast<uint32_t *>(tile_shared + to)[at] = load(from + at);"},
    {"operators/decode/unpack_cuda.h", "TILE_INLINE uint32_t load_copied(",
     "return *reinterpret_cast<uint32_t *>(tile_shared + address);"},
    {"operators/decode/unpack_cuda.h", "TILE_INLINE uint32_t load_shared_if(",
     "return condition ? *reinterpret_cast<uint32_t *>(tile_shared + address) : 0;"},
    {"operators/decode/unpack_cuda.h", "TILE_INLINE uint32_t load_if(", "return condition ? load(from) : 0;"},
    {"operators/dialect/tile_cuda.h", "TILE_INLINE uint32_t copied_at(",
     "return (uint32_t)__cvta_generic_to_shared(of);"},
    {"operators/group/states_cuda.h", "TILE_INLINE uint64_t state_clock(", "return 0;"},
    {WORDS, "TILE_INLINE uint32_t load_shared_byte(", "return tile_shared[address];"},
    {WORDS, "TILE_INLINE uint32_t load_shared_word(",
     "return *reinterpret_cast<uint32_t *>(tile_shared + address);"},
    {WORDS, "TILE_INLINE uint32_t load_shared_half(",
     "return *reinterpret_cast<uint16_t *>(tile_shared + address);"},
    {WORDS, "TILE_INLINE uint2 load_shared_pair(",
     "return *reinterpret_cast<uint2 *>(tile_shared + address);"},
    {WORDS, "TILE_INLINE void store_shared_byte(", "tile_shared[address] = (uint8_t)byte;"},
    {WORDS, "TILE_INLINE void store_shared_half(",
     "*reinterpret_cast<uint16_t *>(tile_shared + address) = (uint16_t)half;"},
    {WORDS, "TILE_INLINE void store_shared_word(",
     "*reinterpret_cast<uint32_t *>(tile_shared + address) = word;"},
    {WORDS, "TILE_INLINE void store_shared_pair(",
     "*reinterpret_cast<uint2 *>(tile_shared + address) = pair;"},
    {WORDS, "TILE_INLINE void store_shared_four(",
     "*reinterpret_cast<uint4 *>(tile_shared + address) = words;"},
    {WORDS, "TILE_INLINE uint32_t shift_left_or_zero(", "return by > 31 ? 0 : word << by;"},
    {WORDS, "TILE_INLINE uint32_t add_halves_up_to(",
     "const uint32_t low = min((a + b) & 0xffff, most & 0xffff), high = min(((a >> 16) + (b >> 16)) & "
     "0xffff, most >> 16);\n"
     "return high << 16 | low;"},
    {WORDS, "TILE_INLINE uint32_t sum_lanes_up_to(", SUM},
    {ORS, "TILE_INLINE uint32_t kept_lane(", "return threadIdx.x % 32;"},
    {ORS, "TILE_INLINE uint32_t sum_up_to(", SUM},
    {ORS, "TILE_INLINE void or_literal(uint32_t address, uint32_t low",
     "uint32_t *const words = reinterpret_cast<uint32_t *>(tile_shared + address);\n"
     "if ((int32_t)high >= 0) {\n"
     "    words[0] |= low;\n"
     "    words[DISTANCE / 4] |= high;\n"
     "}"},
    {ORS, "TILE_INLINE void or_literal(uint32_t address, uint32_t half",
     "if ((int32_t)half >= 0)\n"
     "    *reinterpret_cast<uint32_t *>(tile_shared + address) |= half;"}};

/* Pieces of a header from one text to the end of another, and what takes their place: the sum whose carry a range test moves into
 * its mask; and the mask's shared memory, which has a name of its own there. */
const struct {
    const char *file, *from, *to, *by;
} pieces[] = {{"operators/decode/lane_for_cuda.h", "asm(\"{\\n\"", ": \"r\"(top - first), \"r\"(over));",
               "outside = outside << 1 | (uint32_t)((uint64_t)(top - first) + over >> 32);"},
              {"operators/index/mask_cuda.h", "extern __shared__ __align__(16) uint32_t mask_shared[]", ";",
               "static uint32_t *const mask_shared = reinterpret_cast<uint32_t *>(tile_shared);"}};

const char before[] =
    "#include \"tests/emulator/warp.h\"\n"
    "extern unsigned char tile_shared[232448];\n"
    "#define __cvta_generic_to_shared(of) ((size_t)((const unsigned char *)(of) - tile_shared))\n"
    "#define __activemask() 0u\n"
    "#define stage_shared tile_shared\n"
    "#define __funnelshift_rc __funnelshift_r\n";

/* The kernels that a source may have, what tells that it has them, and the types of their parameters. */
const struct {
    const char *name, *told_by, *types[5];
} kernels[] = {{"prepare", "prepare(", {}},
               {"scan", nullptr, {"tile_bound", "bound_scan"}}, /* a statement has it */
               {"mask_wah64", "MASK(mask_wah64", {"bound_mask"}},
               {"mask_wah32", "MASK(mask_wah32", {"bound_mask"}},
               {"mask_flat", "MASK(mask_flat", {"bound_mask"}},
               {"collect", "collect(", {"uint64_t", "uint64_t", "uint64_t"}},
               {"complete", "complete(", {}},
               {"first_choose", "first_rows_cuda.h", {"first_choice"}},
               {"first_tighten", "first_rows_cuda.h", {}},
               {"list_heads", "list_heads(", {"uint64_t", "uint64_t", "uint64_t", "uint32_t", "uint32_t"}},
               {"list_edges", "list_edges(", {"uint64_t", "uint64_t", "uint64_t", "uint64_t"}},
               {"list_groups", "list_groups(", {"uint64_t", "uint64_t", "uint64_t"}},
               {"first", ") first()", {}},
               {"second", ") second()", {}},
               {"read_all", "read_all(", {"uint4 *", "unsigned long long", "unsigned *"}}};

void replace(std::string &text, size_t from, size_t to, const std::string &by)
{
    if (from != std::string::npos && to != std::string::npos)
        text.replace(from, to - from, by);
}

std::string header(const std::string &name, std::string text)
{
    for (const auto &of : replaced)
        if (name == of.file) {
            const size_t begin = text.find("\n{", text.find(of.head));
            replace(text, begin, text.find("\n}", begin), std::string("\n{\n") + of.body);
        }
    for (const auto &of : pieces)
        if (name == of.file) {
            const size_t begin = text.find(of.from), end = text.find(of.to, begin);
            replace(text, begin, end + strlen(of.to), of.by);
        }
    return text;
}

/* The kernels of columns that are decoded before a scan, decode_COLUMN_PASS (engine/gpu/decode.c). */
void write_decoders(const std::string &source, std::ostringstream &functions, std::ostringstream &list)
{
    size_t at = 0;
    while ((at = source.find("    decode_", at)) != std::string::npos) {
        const std::string name = source.substr(at + 4, source.find('(', at) - at - 4),
                          parameters = source.substr(at, source.find(')', at) - at);
        const bool tells = parameters.find("fault") != std::string::npos;
        functions << "static void run_" << name << "(void **p)\n{\n    " << name
                  << "(*static_cast<const bound_chunk **>(p[0]), *static_cast<const bound_chunk **>(p[1]), "
                     "*static_cast<const uint4 **>(p[2]), *static_cast<uint32_t *>(p[3])"
                  << (tells ? ", *static_cast<unsigned long long **>(p[4])" : "") << ");\n}\n";
        list << "{\"" << name << "\", run_" << name << ", " << (tells ? 5 : 4) << ", {8, 8, 8, 4, 8}},\n";
        at += name.size();
    }
}

/* What tells the driver of the kernels (warp.h: emulated_module). */
std::string module_text(const std::string &source)
{
    std::ostringstream functions, list;
    const bool decodes = source.find("stage_cuda.h") != std::string::npos,
               of_statement = !decodes && source.find("MASK(mask_") == std::string::npos &&
                              source.find("operators/") != std::string::npos;
    if (decodes)
        write_decoders(source, functions, list);
    for (const auto &kernel : kernels) {
        uint32_t count = 0;
        if (decodes || !(kernel.told_by ? source.find(kernel.told_by) != std::string::npos : of_statement))
            continue;
        functions << "static void run_" << kernel.name << "(void **p)\n{\n    " << kernel.name << "(";
        for (; count < 5 && kernel.types[count]; count++)
            functions << (count ? ", " : "") << "*static_cast<" << kernel.types[count] << " *>(p[" << count
                      << "])";
        functions << ");\n}\n";
        list << "{\"" << kernel.name << "\", run_" << kernel.name << ", " << count << ", {";
        for (uint32_t p = 0; p < count; p++)
            list << "sizeof(" << kernel.types[p] << "), ";
        list << "}},\n";
    }
    return functions.str() + "extern \"C\" emulated_module emulated_statement;\n" +
           "emulated_module emulated_statement = {\"emulated_statement\", " +
           (of_statement ? "&arguments, sizeof arguments" : "nullptr, 0") + ", {\n" + list.str() +
           "}\n#ifdef TILE_COUNT_SECTORS\n, tile_counted, sizeof tile_counted\n#endif\n};\n";
}

std::string read(const std::string &path)
{
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

void write(const std::string &path, const std::string &text)
{
    std::ofstream(path, std::ios::binary) << text;
}

} // namespace

struct program {
    std::string folder, log, module;
};

enum { SUCCESS = 0, INTERNAL_ERROR = 11, COMPILATION = 6 };

extern "C" {

int nvrtcVersion(int *major, int *minor)
{
    *major = 12;
    *minor = 0;
    return SUCCESS;
}
const char *nvrtcGetErrorString(int)
{
    return "the emulated GPU's compiler has failed";
}
int nvrtcCreateProgram(program **made, const char *source, const char *, int headers,
                       const char *const *texts, const char *const *names)
{
    const char *const temporary = getenv("TMPDIR");
    std::string folder = std::string(temporary ? temporary : "/tmp") + "/tessera_emulator.XXXXXX";
    if (!mkdtemp(&folder[0]))
        return INTERNAL_ERROR;
    *made = new program{folder, "", ""};
    for (int h = 0; h < headers; h++) {
        const std::string name = names[h];
        const size_t slash = name.rfind('/');
        if (slash == std::string::npos)
            continue; /* the compiler has its own <stdint.h> */
        if (system(("mkdir -p '" + folder + "/" + name.substr(0, slash) + "'").c_str()) != 0)
            return INTERNAL_ERROR;
        write(folder + "/" + name, header(name, texts[h]));
    }
    write(folder + "/statement.cpp", before + std::string(source) + module_text(source));
    return SUCCESS;
}
int nvrtcCompileProgram(program *of, int count, const char *const *options)
{
    std::string defined;
    for (int o = 0; o < count; o++)
        if (strncmp(options[o], "-DTILE_", 7) == 0)
            defined += std::string(" ") + options[o];
    const std::string command = "cd '" + of->folder + "' && " EMULATOR_CXX + defined +
                                " -std=c++17 -O1 -fPIC -shared -Wl,-Bsymbolic -w -ffp-contract=off "
                                "-fno-strict-aliasing -I. -I'" EMULATOR_SOURCE
                                "' statement.cpp -o statement.so > log 2>&1";
    const int result = system(command.c_str());
    of->log = read(of->folder + "/log");
    of->module = read(of->folder + "/statement.so");
    return result ? COMPILATION : SUCCESS;
}
int nvrtcGetProgramLogSize(program *of, size_t *bytes)
{
    *bytes = of->log.size() + 1;
    return SUCCESS;
}
int nvrtcGetProgramLog(program *of, char *text)
{
    strcpy(text, of->log.c_str());
    return SUCCESS;
}
int nvrtcGetCUBINSize(program *of, size_t *bytes)
{
    *bytes = of->module.size();
    return SUCCESS;
}
int nvrtcGetCUBIN(program *of, char *to)
{
    memcpy(to, of->module.data(), of->module.size());
    return SUCCESS;
}
int nvrtcGetPTXSize(program *, size_t *)
{
    return INTERNAL_ERROR;
}
int nvrtcGetPTX(program *, char *)
{
    return INTERNAL_ERROR;
}
int nvrtcDestroyProgram(program **of)
{
    const int result = system(("rm -rf '" + (*of)->folder + "'").c_str());
    delete *of;
    *of = nullptr;
    return result ? INTERNAL_ERROR : SUCCESS;
}
int nvrtcGetNumSupportedArchs(int *count)
{
    *count = 1;
    return SUCCESS;
}
int nvrtcGetSupportedArchs(int *archs)
{
    *archs = 90;
    return SUCCESS;
}
}
