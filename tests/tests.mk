# SPDX-License-Identifier: Apache-2.0
# tests.mk - building and running the tests; part of the Makefile.

T := $(BUILD)/tests
# everything but main(), from which each test links what it needs
TEST_LIB   := $(T)/agentwatch.a
UNIT       := $(patsubst %.c,$(BUILD)/%,$(call src,tests/unit tests/audit))
FUZZ       := $(patsubst tests/fuzz/fuzz_%.c,$(T)/fuzz/replay_%,$(wildcard tests/fuzz/fuzz_*.c))
E2E        := $(sort $(wildcard tests/e2e/test_*.sh))
# scripts in which being root or not makes a difference: run as an ordinary user too
E2E_USER   := $(filter $(addprefix tests/e2e/test_,$(addsuffix .sh,approve ask bwrap \
	calls complete edges env escapes explain fight firejail gate gitconfig held landlock \
	layers learn limits limits_section log musl plan policy_check policy_test presets \
	profiles run tools transparency trust tty)),$(E2E))

$(TEST_LIB): $(call obj,$(filter-out supervisor/main.c,$(PROG_SRC)))
	@mkdir -p $(@D); echo "  AR   $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(UNIT): $(BUILD)/%: $(BUILD)/%.o $(TEST_LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lyaml -lcjson
$(FUZZ): $(T)/fuzz/replay_%: $(T)/fuzz/fuzz_%.o $(T)/fuzz/replay.o $(TEST_LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lyaml -lcjson
# fuzz-ring etc.: fuzz for FUZZ_SECONDS with libFuzzer; afl_ring etc.: the same target for AFL++
FUZZ_SECONDS ?= 60
SEEDS_load := tests/golden/errors examples
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_LIB_SRC := $(call src,policy) $(addprefix supervisor/,kernel/message.c view/lines.c view/log_filter.c \
	view/when.c options.c suggest.c audit/json.c audit/names.c)
fuzz_obj = $(patsubst %.c,$(T)/fuzz/$1/%.o,$(FUZZ_LIB_SRC))
$(T)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(call fuzz_obj,lf)
	@mkdir -p $(@D); echo "  FUZZ $@"
	$(Q)clang $(BASE) -O1 -g -fsanitize=fuzzer,address,undefined -o $@ $^ -lyaml -lcjson
$(T)/fuzz/afl_%: tests/fuzz/fuzz_%.c $(call fuzz_obj,afl)
	@mkdir -p $(@D); echo "  AFL  $@"
	$(Q)AFL_QUIET=1 AFL_USE_ASAN=1 afl-clang-fast $(BASE) -O1 -g -fsanitize=fuzzer -o $@ $^ -lyaml -lcjson
$(T)/fuzz/lf/%.o: %.c
	@mkdir -p $(@D)
	$(Q)clang $(BASE) -O1 -g -fsanitize=fuzzer-no-link,address,undefined -MMD -MP -c -o $@ $<
$(T)/fuzz/afl/%.o: %.c
	@mkdir -p $(@D)
	$(Q)AFL_QUIET=1 AFL_USE_ASAN=1 afl-clang-fast $(BASE) -O1 -g -MMD -MP -c -o $@ $<
$(T)/calls_page: $(T)/calls_page.o $(TEST_LIB)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^
.SECONDARY:

.PHONY: docs/CALLS.md
docs/CALLS.md: $(T)/calls_page ## write the page of calls anew from policy/calls.def
	$(T)/calls_page $$(tests/fast_calls.sh) >$@
.PHONY: docs/KEYS.md
docs/KEYS.md: $(PROG) ## write the page of a policy's keys anew from the parser's tables
	$(PROG) policy schema --format markdown >$@
.PHONY: docs/ESCAPES.md
docs/ESCAPES.md: all ## write the page of escape attempts anew, from a run of them
	AW_TEST_BUILD=$(abspath $(T)) AGENTWATCH=$(PROG) tests/escapes/run --table \
		--users root,awtest --builds glibc --runners exec,landlock,bwrap >$@.new && mv $@.new $@

.PHONY: check unit unit-threads unit-all fuzz-replay fuzz-build fuzz-all bench bench-micro bench-peers docs/PERFORMANCE.md ci quickstart aarch64
check: all $(UNIT) $(FUZZ) $(T)/calls_page ## build and run every test that can run here
	@AGENTWATCH=$(PROG) AW_TEST_BUILD=$(abspath $(T)) AW_TEST_TIMEOUT=$${AW_TEST_TIMEOUT:-1200} \
		tests/check.sh '$(UNIT) $(FUZZ) $(E2E)' '$(E2E_USER)'
unit: $(UNIT) $(FUZZ) ## unit tests and the fuzzers' corpus; SAN=address,undefined to sanitize
	@tests/run.sh $(UNIT) $(FUZZ)
unit-threads: $(BUILD)/tests/unit/test_ring
	@tests/run.sh $^
unit-all: ## the same with every compiler and sanitizer
	@tests/check.sh --unit '$(BUILD)'
fuzz-replay: $(FUZZ) ## the fuzzers' corpus alone
	@tests/run.sh $(FUZZ)
fuzz-build: $(FUZZ_NAMES:%=$(T)/fuzz/fuzz_%) $(if $(shell command -v afl-clang-fast),$(FUZZ_NAMES:%=$(T)/fuzz/afl_%))
fuzz-all: fuzz-build ## fuzz every target for FUZZ_SECONDS, with libFuzzer and AFL++; ends in a table
	@SEEDS_load='$(SEEDS_load)' FUZZ_SECONDS=$(FUZZ_SECONDS) tests/fuzz/all.sh $(T)/fuzz $(FUZZ_NAMES)
fuzz-%: $(T)/fuzz/fuzz_% ## (fuzz-ring, fuzz-load, ...) fuzz for FUZZ_SECONDS
	@mkdir -p $(T)/fuzz/found/$*
	$< -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 $(T)/fuzz/found/$* tests/fuzz/corpus/$* $(SEEDS_$*)
bench: all ## what watching costs, as ratios to the bare command; ROWS='cat git' for some
	@/usr/bin/python3 -B tests/bench/bench.py --json $(BUILD)/bench.json $(ROWS)
	@/usr/bin/python3 -B tests/bench/plot.py $(BUILD)/bench.json $(BUILD)
$(T)/micro: $(BUILD)/tests/bench/micro.o $(TEST_LIB)
	@mkdir -p $(@D); echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lyaml -lcjson
bench-micro: all $(T)/micro ## what single steps cost, in nanoseconds and instructions; STEPS=line for some
	@/usr/bin/python3 -B tests/bench/micro.py --json $(BUILD)/bench-micro.json $(T)/micro $(STEPS)
# what people would use instead; npm's versions are fixed
PEER_NEEDS := valgrind strace bubblewrap firejail fakeroot sudo ripgrep socat gnuplot-nox npm:npm node:nodejs
PEERS := @anthropic-ai/sandbox-runtime@0.0.78 @openai/codex@0.169.0
bench-peers: ## install what `make bench` compares with (apt and npm), into BUILD/peers
	-@.ci/deps $(PEER_NEEDS)
	@mkdir -p $(BUILD)/peers && cd $(BUILD)/peers && { [ -f package.json ] || echo '{"private":true}' >package.json; } && \
		npm install --save-exact --no-audit --no-fund --loglevel=error $(PEERS)
# FIGURES=build/bench.json: of a run that there was
docs/PERFORMANCE.md: ## measure everything and write the page of performance anew
	$(if $(FIGURES),,@$(MAKE) --no-print-directory bench bench-micro)
	@/usr/bin/python3 -B tests/bench/plot.py $(or $(FIGURES),$(BUILD)/bench.json) docs
	/usr/bin/python3 -B tests/bench/page.py $(or $(FIGURES),$(BUILD)/bench.json) docs $$(ls $(BUILD)/bench-micro.json 2>/dev/null) >$@.new && mv $@.new $@
quickstart: ## install what is missing, build, and watch something real
	@.ci/deps $(BUILD_NEEDS) git
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) tests/quickstart.sh
ci: ## everything that CI looks at
	@BUILD=$(BUILD) .ci/steps
# what cannot run here must still compile
ARM_BUILD := $(BUILD)/aarch64
ARM := $(MAKE) --no-print-directory CC=aarch64-linux-gnu-gcc BUILD=$(ARM_BUILD) EXTRA='$(EXTRA)'
aarch64: ## compile for aarch64: the shim, agentwatch-enter and all objects
	+@$(ARM) $(ARM_BUILD)/libagentwatch.so $(ARM_BUILD)/agentwatch-enter \
		$(patsubst %.c,$(ARM_BUILD)/%.o,$(PROG_SRC))

# --- the portable bottom: docs/HACKING.md ---

PORTABLE_NEEDS := qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mingw-w64-x86-64-win32 \
	libyaml-dev libcjson-dev uthash-dev
# decides and describes without asking the system: compiles for Windows and macOS, too
PURE_SRC := $(call src,policy) $(addprefix supervisor/,ask/copy.c audit/json.c audit/line.c \
	completion.c completion_bash.c completion_fish.c completion_zsh.c help.c options_help.c \
	$(addprefix import/,claude.c codex.c hosts.c mitto.c srt.c toml.c walk.c) \
	$(addprefix learn/,anchor.c destination.c learner.c lookup.c memory.c need.c preset.c \
	question.c quote.c replay.c root.c secret.c seen.c tally.c tree.c) \
	mcp_toml.c mcp_words.c policy/findings.c policy/idle.c suggest.c view/log_filter.c)
ARM_UNIT := $(patsubst $(BUILD)/%,$(ARM_BUILD)/%,$(UNIT) $(FUZZ))
ARM_LIBS := $(abspath $(BUILD))/portable/aarch64/usr/lib/aarch64-linux-gnu
.PHONY: portable portable-deps
portable-deps:
	-@.ci/deps $(PORTABLE_NEEDS)
	-@tests/portable/fetch.sh $(BUILD)/portable aarch64
portable: portable-deps ## policy/ and pure parts elsewhere: aarch64 under qemu, Windows and macOS compiled
	-+@! command -v aarch64-linux-gnu-gcc >/dev/null || $(ARM) -k LDFLAGS=-L$(ARM_LIBS) \
		$(ARM_BUILD)/agentwatch $(ARM_BUILD)/agentwatch-enter $(ARM_BUILD)/libagentwatch.so $(ARM_UNIT)
	@AW_PORTABLE=$(abspath $(BUILD))/portable AW_AARCH64=$(ARM_BUILD) AW_PURE='$(PURE_SRC)' \
		AW_UNITS='$(ARM_UNIT)' tests/run.sh -t 600 tests/portable/run.sh
