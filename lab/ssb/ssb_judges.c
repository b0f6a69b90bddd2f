/* ssb_judges.c: see ssb_judges.h. */
#include "lab/ssb/ssb_judges.h"

#include "storage/base/text/text_stream.h"

#include <stdlib.h>
#include <string.h>

enum status ssb_judges_open(struct lab *lab, struct ssb_judges *judges, struct error *error)
{
    judges->options = benchmark_options_default();
    judges->options.verify = VERIFY_PLAIN;
    judges->notes = text_stream(&judges->text, &judges->bytes);
    if (!judges->notes)
        return error_out_of_memory(error, BUFSIZ, "notes");
    for (int order = 0; order < SSB_ORDERS; order++)
        RETURN_IF_ERROR(judge_create(&judges->judges[order], &judges->options, lab->ssb->database[order],
                                     lab->engine, judges->notes, lab->progress, error));
    return STATUS_OK;
}

void ssb_judges_close(struct ssb_judges *judges)
{
    for (int order = 0; order < SSB_ORDERS; order++)
        judge_destroy(&judges->judges[order]);
    if (judges->notes)
        fclose(judges->notes);
    free(judges->text);
    *judges = (struct ssb_judges){0};
}

enum status ssb_judged_run(struct ssb_judges *judges, struct sql_statement *statement, uint32_t q,
                           enum ssb_order order, const char *system, struct run_timing *timing,
                           struct error *error)
{
    struct rowset answer;
    RETURN_IF_ERROR(cancel_check(error));
    RETURN_IF_ERROR(sql_run(statement, &answer, timing, error));
    const enum answer_check check = judge_answer(&judges->judges[order], ssb_queries[q], q, system, &answer);
    rowset_free(&answer);
    if (check != ANSWER_WRONG)
        return STATUS_OK;
    const bool kept = fclose(judges->notes) == 0; /* which completes the text */
    const char *const note = kept ? judges->text : "";
    judges->notes = NULL;
    return error_set(error, STATUS_CHECK_FAILED, "a wrong answer: %.*s", (int)strcspn(note, "\n"), note);
}
