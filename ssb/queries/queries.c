/* queries.c: see queries.h. */
#include "ssb/queries/queries.h"

#include "ssb/queries/query.h"
#include "storage/base/words/word.h"

#include <ctype.h>
#include <stddef.h>

/* The engine fills the parameters by position: columns, dimensions and sums, in this order, without gaps. */
_Static_assert(offsetof(struct tile_parameters, date) % sizeof(struct tile_column) == 0 &&
                   (offsetof(struct tile_parameters, sums) - offsetof(struct tile_parameters, date)) %
                           sizeof(struct tile_dimension) ==
                       0,
               "tile parameters are packed");

const struct kernel_names ssb_names = TILE_PARAMETER_NAMES;

const struct ssb_query *const ssb_queries[SSB_QUERIES] = {&q11, &q12, &q13, &q21, &q22, &q23, &q31,
                                                          &q32, &q33, &q34, &q41, &q42, &q43};

const struct ssb_query *ssb_query_by_name(const char *name)
{
    if (word_letter(name[0]) != 'q' || !isdigit((unsigned char)name[1]))
        return NULL;
    const char *second = name[2] == '.' ? name + 3 : name + 2;
    if (second[0] == '\0' || second[1] != '\0')
        return NULL;
    for (size_t i = 0; i < SSB_QUERIES; i++)
        if (ssb_queries[i]->name[1] == name[1] && ssb_queries[i]->name[3] == second[0])
            return ssb_queries[i];
    return NULL;
}
