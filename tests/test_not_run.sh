#!/usr/bin/env bash
# test_not_run.sh: what not_run.sh says of a log of ctest; and that no test leaves out anything without a reason.
set -euo pipefail
cd "$(dirname "$0")"
folder=$(mktemp -d "${TMPDIR:-/tmp}/test_not_run.XXXXXX")
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/Testing/Temporary"

log() { cat >"$folder/Testing/Temporary/LastTest.log"; }

log <<'END'
1/3 Testing: test_one
1/3 Test: test_one
[ RUN      ] first
[  NOT RUN ] there is no GPU
[  SKIPPED ] first
[  NOT RUN ] there is no GPU
2/3 Testing: test_two
[  NOT RUN ] groff is not installed
3/3 Testing: test_three
[  NOT RUN ] there is no GPU
END
diff <(./not_run.sh "$folder") - <<'END'
Left out here, by reason:
  there is no GPU
    3 tests of test_one, test_three
  groff is not installed
    1 test of test_two
END

log <<'END'
1/1 Testing: test_one
[       OK ] first
END
diff <(./not_run.sh "$folder") - <<<'No test was left out.'

if grep -rnE '(^|[^_[:alnum:]])skip\(\)' --include='*.[ch]' . | grep -v '^./support/not_run.h:'; then
    echo "these tests are left out without a reason: use not_run (support/not_run.h)"
    exit 1
fi
