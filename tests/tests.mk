# SPDX-License-Identifier: Apache-2.0
# tests.mk - building and running the tests; part of the Makefile.

T := $(BUILD)/tests
# everything but main(), from which each test links what it needs
TEST_LIB   := $(T)/agentwatch.a
UNIT       := $(patsubst %.c,$(BUILD)/%,$(call src,tests/unit tests/audit))
FUZZ       := $(patsubst tests/fuzz/fuzz_%.c,$(T)/fuzz/replay_%,$(wildcard tests/fuzz/fuzz_*.c))
# several run at a time, so those that take longest begin
E2E_LONG   := $(patsubst %,tests/e2e/test_%.sh,transparency escapes agents mcp same presets fight)
E2E        := $(E2E_LONG) $(filter-out $(E2E_LONG),$(sort $(wildcard tests/e2e/test_*.sh)))
# scripts in which being root or not makes a difference: run as an ordinary user too
E2E_USER   := $(filter $(addprefix tests/e2e/test_,$(addsuffix .sh, \
	approve ask bwrap calls complete edges env escapes exec_race explain fight firejail forward \
	gate gitconfig guarded held landlock layers learn limits limits_section log lookups musl \
	names outside outsiders plan policy_check policy_test presets profiles programs proxy relay run terminals \
	tools transparency trust truth tty unix_sockets untrusted)),$(E2E))

$(TEST_LIB): $(call obj,$(filter-out supervisor/main.c,$(PROG_SRC)))
	@mkdir -p $(@D); echo "  AR   $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(UNIT): $(BUILD)/%: $(BUILD)/%.o $(TEST_LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
# a part of the library
$(BUILD)/tests/unit/test_session_map: $(BUILD)/shim/preload/linux/session_map.o
$(FUZZ): $(T)/fuzz/replay_%: $(T)/fuzz/fuzz_%.o $(T)/fuzz/replay.o $(TEST_LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
# fuzz-ring etc.: fuzz for FUZZ_SECONDS with libFuzzer; afl_ring etc.: the same target for AFL++
FUZZ_SECONDS ?= 60
SEEDS_load := tests/golden/errors examples
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_LIB_SRC := $(call src,$(POLICY_DIRS) supervisor/net/proto) $(addprefix supervisor/,linux/sockets/message.c \
	audit/read/lines.c audit/read/log_filter.c audit/log_words.c cli/when.c cli/options.c cli/suggest.c util/json.c)
fuzz_obj = $(patsubst %.c,$(T)/fuzz/$1/%.o,$(FUZZ_LIB_SRC))
$(T)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(call fuzz_obj,lf)
	@mkdir -p $(@D); echo "  FUZZ $@"
	$(Q)clang $(BASE) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ -lyaml -lcjson
$(T)/fuzz/afl_%: tests/fuzz/fuzz_%.c $(call fuzz_obj,afl)
	@mkdir -p $(@D); echo "  AFL  $@"
	$(Q)AFL_QUIET=1 AFL_USE_ASAN=1 afl-clang-fast $(BASE) -O1 -g -fsanitize=fuzzer -o $@ $^ -lyaml -lcjson
$(T)/fuzz/lf/%.o: %.c
	@mkdir -p $(@D)
	$(Q)clang $(BASE) -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -MMD -MP -c -o $@ $<
$(T)/fuzz/afl/%.o: %.c
	@mkdir -p $(@D)
	$(Q)AFL_QUIET=1 AFL_USE_ASAN=1 afl-clang-fast $(BASE) -O1 -g -MMD -MP -c -o $@ $<
$(T)/calls_page: $(T)/calls_page.o $(TEST_LIB)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^
.SECONDARY:

.PHONY: docs/CALLS.md
docs/CALLS.md: $(T)/calls_page ## write the page of calls anew from policy/calls.def
	$(T)/calls_page $$(tests/fast_calls.sh) >$@
.PHONY: tests/README.md
tests/README.md: ## write the map of tests anew from their comments and includes
	@python3 tests/map.py >$@.new && mv $@.new $@
.PHONY: docs/INVENTORY.md
docs/INVENTORY.md: $(T)/unit/test_inventory ## write the page of what is not watched anew from policy/inventory.def
	$(T)/unit/test_inventory --page >$@
.PHONY: docs/KEYS.md
docs/KEYS.md: $(PROG) ## write the page of a policy's keys anew from the parser's tables
	$(PROG) policy schema --format markdown >$@
.PHONY: docs/ESCAPES.md
docs/ESCAPES.md: all ## write the page of escape attempts anew, from a run of them
	AW_TEST_BUILD=$(abspath $(T)) AGENTWATCH=$(PROG) tests/escapes/run --table \
		--users root,awtest --builds glibc --runners exec,landlock,bwrap >$@.new && mv $@.new $@

.PHONY: check unit unit-threads unit-all fuzz-replay fuzz-build fuzz-all ci quickstart
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
quickstart: ## install what is missing, build, and watch something real
	@.ci/deps $(BUILD_NEEDS) git
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) tests/quickstart.sh
ci: ## everything that CI looks at
	@BUILD=$(BUILD) .ci/steps
