/*
 * engine/run/engine.h: answer star queries from a database's compressed columns, on the CPU or on one GPU.
 *
 * engine_open once; engine_prepare binds a query to a database and makes everything ready (encodings that are
 * missing, code arrays, compiled kernels, columns in the device's memory); engine_run answers it, any number
 * of times. For many queries the steps of engine_prepare can be had apart, which compiles on all threads:
 * engine_bind each, engine_compile all, and engine_load one when its turn comes.
 */
#ifndef TESSERA_ENGINE_RUN_ENGINE_H
#define TESSERA_ENGINE_RUN_ENGINE_H

#include "engine/plan/query.h"
#include "engine/answer/result.h"
#include "storage/database/database.h"

struct engine;
struct prepared;

/* `device`: "cpu"; "cuda" or "cuda:N", which fail with STATUS_MACHINE where that GPU cannot be used; "auto",
 * which takes the first GPU if it can and else the CPU. threads: 0 for all. */
NODISCARD enum status engine_open(const char *device, unsigned threads, struct engine **engine,
                                  struct error *error);
void engine_close(struct engine *engine);

/* "NVIDIA H200 (cuda:0)" or "CPU, 2 threads, avx512"; if "auto" took the CPU, engine_why_cpu says why, else
 * it is NULL. */
const char *engine_device_text(const struct engine *engine);
const char *engine_why_cpu(const struct engine *engine);
bool engine_is_cuda(const struct engine *engine);
unsigned engine_threads(const struct engine *engine);

/* Binds `query` to the database; nothing is on the device yet. `codec`: for the fact columns: NULL for each
 * column's own encoding, one name for all, or COLUMN=CODEC,... ; what is missing is encoded and kept. Unknown
 * names, a database without the tables, sums that might overflow: STATUS_BAD_INPUT. The database must stay
 * open until engine_close. */
NODISCARD enum status engine_bind(struct engine *engine, struct database *database,
                                  const struct star_query *query, const char *codec,
                                  struct prepared **prepared, struct error *error);

/* Compiles the kernels of all `count` queries at once, on all threads (a kernel takes 0.3 to 2 seconds of
 * one), `counting`: also those of prepared_bytes_read. They are kept in memory until they are loaded, and in
 * the cache of kernels if there is one. Never needed: what is not compiled is compiled when it is loaded. On
 * a CPU there is nothing to do. */
NODISCARD enum status engine_compile(struct engine *engine, struct prepared *const *prepared, uint32_t count,
                                     bool counting, struct progress *progress, struct error *error);

/* Makes a bound query ready to run: its kernel and its columns go into the device's memory. Once. */
NODISCARD enum status engine_load(struct prepared *prepared, struct error *error);

/* engine_bind and engine_load. */
NODISCARD enum status engine_prepare(struct engine *engine, struct database *database,
                                     const struct star_query *query, const char *codec,
                                     struct prepared **prepared, struct error *error);
void prepared_destroy(struct prepared *prepared);

/* Milliseconds; total: from the first operation (dimension filters) to the sums complete on the device;
 * then the steps that it consists of. On a CPU they add up to the total. On a GPU they are launched by
 * themselves, and what lies between two kernels is in the total only. */
struct query_timing {
    double total_ms;
    double filter_ms; /* dimension filters and cleared sums */
    double kernel_ms; /* the scan of the fact table */
    double merge_ms;  /* the threads' sums added up; 0 on a GPU */
};

/* What does not change from run to run; rows and bytes are known once the query is bound, the rest once it is
 * loaded. */
struct prepared_info {
    uint64_t fact_rows;
    uint64_t tiles;                       /* of the fact table */
    uint64_t tiles_skipped, rows_skipped; /* that are not scanned: statistics say that none can pass */
    double skip_ms;                       /* that finding these took when the query was bound */
    uint64_t filter_rows;                 /* of the dimensions that are filtered */
    uint64_t filter_bytes; /* their attributes in the filters as arrays, the bitmaps, the cleared sums */
    uint64_t merge_rows;   /* groups that merging adds up: those of every thread but one, 0 on a GPU */
    uint64_t merge_bytes;  /* their sums */
    double compile_ms;     /* of its kernel alone, 0 if it came from the cache or the device is the CPU */
    uint32_t registers;    /* a thread, on a GPU */
    uint32_t local_bytes;  /* a thread, on a GPU: 0 unless registers were too few */
    uint32_t shared_bytes; /* a block, on a GPU */
};
const struct prepared_info *prepared_info(const struct prepared *prepared);

/* Bytes of the fact table that the kernel needs. On a GPU counted by running it once more, with every 32-byte
 * sector that is touched counted once (compiles a second kernel, kept in the cache); on a CPU the encoded
 * size of the columns it uses, by the share of their tiles that are scanned. */
NODISCARD enum status prepared_bytes_read(struct prepared *prepared, uint64_t *bytes, struct error *error);

/* How fast this device can read memory, in bytes a second: measured by the first call (a fraction of a
 * second). */
NODISCARD enum status engine_read_ceiling(struct engine *engine, double *bytes_per_second,
                                          struct error *error);

/* Answers the query: `result` is filled (result_destroy it) unless NULL. */
NODISCARD enum status engine_run(struct prepared *prepared, struct query_timing *timing,
                                 struct result *result, struct error *error);

#endif
