/* lineorder.c: see lineorder.h. */
#include "lab/ssb/lineorder.h"

#define PIECE_ROWS 8192u /* of wide numbers, 64 KiB of stack */

void fill_lineorder(const void *parameters, uint64_t first, uint32_t rows, uint64_t *random, int32_t *values)
{
    const struct lineorder_column *const of = parameters;
    int64_t wide[PIECE_ROWS];
    void *columns[SSB_COLUMNS_MAX] = {NULL};
    (void)random;
    if (!ssb_table_info(SSB_LINEORDER)->columns[of->column].wide) {
        columns[of->column] = values;
        ssb_generate_lineorder(of->generator, first, rows, columns);
        return;
    }
    columns[of->column] = wide;
    for (uint32_t done = 0; done < rows; done += PIECE_ROWS) {
        const uint32_t piece = rows - done < PIECE_ROWS ? rows - done : PIECE_ROWS;
        ssb_generate_lineorder(of->generator, first + done, piece, columns);
        for (uint32_t i = 0; i < piece; i++)
            values[done + i] = (int32_t)wide[i];
    }
}

enum status lineorder_generator(const struct lab *lab, struct ssb_generator **generator, struct error *error)
{
    const struct ssb_options options = {.scale_factor =
                                            LINEORDER_SCALE_FACTOR * (lab->scale > 1 ? lab->scale : 1)};
    return ssb_generator_create(&options, lab->threads, generator, error);
}

uint64_t lineorder_rows(const struct lab *lab, const struct ssb_generator *generator)
{
    const double all = (double)ssb_rows(generator, SSB_LINEORDER),
                 rows = all * (lab->scale < 1 ? lab->scale : 1);
    return rows < 1 ? 1 : (uint64_t)rows;
}
