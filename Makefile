# The front door: everything here is a line or two of CMake (docs/building.md).

SF ?= 1
DB ?= ssb-data/sf$(SF)
CODECS ?= plain,gpu-star,auto
JOBS ?= $(shell nproc)
HOURS ?= 1
SEED ?= 0
CAMPAIGNS ?=
FUZZ_HOURS ?= 1
FUZZ_SEED ?= 0

RELEASE = build/release
TESSERA = $(RELEASE)/tessera
# Ninja where it is installed; a folder that is configured already keeps what it has.
generator = $(if $(wildcard build/$(1)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja))
# What .ci/run sets: WERROR=ON; KERNEL_CACHE, a folder of compiled kernels that outlives the clone; and AHEAD_ARCHS, of which
# architectures kernels are compiled ahead.
options = $(if $(WERROR),-DTESSERA_WERROR=$(WERROR)) $(if $(KERNEL_CACHE),-DTESSERA_TEST_KERNEL_CACHE=$(KERNEL_CACHE)) \
    $(if $(AHEAD_ARCHS),-DTESSERA_AHEAD_ARCHS='$(AHEAD_ARCHS)')
configure = cmake --preset $(1) $(call generator,$(1)) $(options) >/dev/null
# Tests wait for disks half of the time; where memory has room for their files (2 GB are in use at most), they stay there.
test_jobs = $(shell expr 2 \* $(JOBS))
test_folder = $(if $(TMPDIR),,$(shell [ -w /dev/shm ] && [ "$$(df -k --output=avail /dev/shm | tail -1)" -gt 4000000 ] \
    && echo TMPDIR=/dev/shm))
# Where the machine has no NVRTC, the one that tests/peers.sh fetched.
test_nvrtc = $(if $(TESSERA_NVRTC),,$(addprefix TESSERA_NVRTC=$(CURDIR)/,$(shell ls build/peers/nvidia/*/lib/libnvrtc.so.1[0-9] \
    2>/dev/null)))
# Tests of hostile input, which `make check` also runs with sanitizers; they need the library alone, which is soon built.
hostile_tests = test_hostile test_orc_rle_fuzz test_columnar_fuzz test_corpora
ctest = $(test_folder) $(test_nvrtc) ctest --test-dir $(1) -j $(test_jobs) --output-on-failure

.PHONY: help setup setup-tests program build tests check check/release check/hostile packages trust fuzz ssb sanitize format clean

help:
	@echo 'make build     build the program, $(TESSERA), the library and the driver'
	@echo 'make check     build, and pass all tests (no GPU needed); hostile input once more under AddressSanitizer'
	@echo 'make trust     the long forms of all tests that make things fail or ask at random, side by side (docs/trust.md)'
	@echo '               HOURS=1 how long, CAMPAIGNS=regex which ones, SEED=0 from the clock'
	@echo 'make fuzz      of these, random SQL compared with SQLite, and hostile input under AddressSanitizer'
	@echo '               FUZZ_HOURS=1 how long, FUZZ_SEED=0 from the clock'
	@echo 'make ssb       the Star Schema Benchmark: generate, load, run the 13 queries, check every answer'
	@echo '               SF=1 scale factor (0.1, 1, 10, ...), DB=$(DB) database folder,'
	@echo '               CODECS=$(CODECS) what to compare'
	@echo 'make packages  .deb (where dpkg-deb is), .rpm (where rpmbuild is) and a .tar.gz, in build/release'
	@echo 'make sanitize  all tests with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make format    clang-format over the sources'
	@echo 'make clean     remove build/'

setup:
	@cmake/setup.sh

setup-tests:
	@cmake/setup.sh tests

program: setup
	@$(call configure,release)
	@cmake --build $(RELEASE) -j $(JOBS) --target tessera_program

build: setup
	@$(call configure,release)
	@cmake --build $(RELEASE) -j $(JOBS) --target tessera_product

tests: setup-tests
	@$(call configure,release)
	@cmake --build $(RELEASE) -j $(JOBS)
	@tests/peers.sh $(TESSERA)

# The tests with sanitizers, of which one takes a minute, run beside the others, and are shown after them: by make, since Ctrl-C
# does not reach what a shell runs in the background. What could not run is said in any case, and last.
beside = $(MAKE) --no-print-directory -k -j 2
check: tests build/sanitize/hostile
	@$(beside) check/release check/hostile; status=$$?; cat build/sanitize/hostile.log; \
	tests/not_run.sh $(RELEASE); exit $$status

check/release:
	@$(call ctest,$(RELEASE))

check/hostile:
	@$(call ctest,build/sanitize) -R "^($$(echo $(hostile_tests) | tr ' ' '|'))\$$" >build/sanitize/hostile.log 2>&1

packages: build
	@cd $(RELEASE) && cpack

# What the campaigns need is built first, in each preset that one has.
trust: setup-tests
	@$(MAKE) --no-print-directory $$(tests/trust.sh --presets '$(CAMPAIGNS)' | sed 's|.*|build/&/trust|')
	@$(test_folder) tests/trust.sh '$(HOURS)' '$(CAMPAIGNS)' '$(SEED)'

build/%/trust:
	@$(call configure,$*)
	@cmake --build build/$* -j $(JOBS) --target $$(tests/trust.sh --targets $* '$(CAMPAIGNS)')

fuzz:
	@$(MAKE) --no-print-directory trust HOURS='$(FUZZ_HOURS)' SEED='$(FUZZ_SEED)' CAMPAIGNS='^(sql|hostile|columnar)$$'

.PHONY: build/sanitize/hostile
build/sanitize/hostile: setup-tests
	@$(call configure,sanitize)
	@cmake --build build/sanitize -j $(JOBS) --target $(hostile_tests)

ssb: program
	@test -e '$(DB)/catalogue' || { mkdir -p '$(dir $(DB))' && $(TESSERA) ssb load --sf $(SF) --db '$(DB)'; }
	@$(TESSERA) ssb compare --db '$(DB)' --codecs $(CODECS)

sanitize: setup-tests
	@$(call configure,sanitize)
	@cmake --build build/sanitize -j $(JOBS)
	@$(call ctest,build/sanitize)

format:
	@find storage operators engine loader ssb lab tests docs -name '*.[ch]' -exec clang-format -i {} +

clean:
	@rm -rf build
