# The front door: everything here is a line or two of CMake (docs/building.md).

SF ?= 1
DB ?= ssb-data/sf$(SF)
CODECS ?= plain,gpu-star,auto
JOBS ?= $(shell nproc)

RELEASE = build/release
TESSERA = $(RELEASE)/tessera
# Ninja where it is installed; a folder that is configured already keeps what it has.
generator = $(if $(wildcard build/$(1)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja))

.PHONY: help setup build check ssb sanitize format clean

help:
	@echo 'make build     build the program, $(TESSERA)'
	@echo 'make check     build, and pass all tests (no GPU needed); hostile input once more under AddressSanitizer'
	@echo 'make ssb       the Star Schema Benchmark: generate, load, run the 13 queries, check every answer'
	@echo '               SF=1 scale factor (0.1, 1, 10, ...), DB=$(DB) database folder,'
	@echo '               CODECS=$(CODECS) what to compare'
	@echo 'make sanitize  all tests with AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make format    clang-format over the sources'
	@echo 'make clean     remove build/'

setup:
	@cmake/setup.sh

build: setup
	@cmake --preset release $(call generator,release) >/dev/null
	@cmake --build $(RELEASE) -j $(JOBS)

check: build
	@ctest --test-dir $(RELEASE) -j $(JOBS) --output-on-failure
	@cmake --preset sanitize $(call generator,sanitize) >/dev/null
	@cmake --build build/sanitize -j $(JOBS) --target test_hostile
	@ctest --test-dir build/sanitize -R '^test_hostile$$' --output-on-failure

ssb: build
	@test -e '$(DB)/catalogue' || { mkdir -p '$(dir $(DB))' && $(TESSERA) ssb load --sf $(SF) --db '$(DB)'; }
	@$(TESSERA) ssb compare --db '$(DB)' --codecs $(CODECS)

sanitize: setup
	@cmake --preset sanitize $(call generator,sanitize) >/dev/null
	@cmake --build build/sanitize -j $(JOBS)
	@ctest --test-dir build/sanitize -j $(JOBS) --output-on-failure

format:
	@find storage operators engine loader ssb tests -name '*.[ch]' -exec clang-format -i {} +

clean:
	@rm -rf build
