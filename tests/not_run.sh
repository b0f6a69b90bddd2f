#!/usr/bin/env bash
# not_run.sh BUILD: says which tests of ctest's last run in that folder this machine could not run, and why. Such a test
# prints a line that begins with [  NOT RUN ] (tests/support/not_run.h) and counts as passed or as skipped.
set -euo pipefail
log=$1/Testing/Temporary/LastTest.log
awk '
    / Testing: / { name = $NF }
    /^\[  NOT RUN \] / {
        reason = substr($0, 14)
        if (!(reason in tests)) order[++reasons] = reason
        tests[reason]++
        if (!((reason, name) in seen)) programs[reason] = programs[reason] (programs[reason] ? ", " : "") name
        seen[reason, name] = 1
    }
    END {
        if (!reasons) { print "No test was left out."; exit }
        print "Left out here, by reason:"
        for (r = 1; r <= reasons; r++) {
            reason = order[r]
            print "  " reason
            print "    " tests[reason] (tests[reason] == 1 ? " test" : " tests") " of " programs[reason]
        }
    }' "$log"
