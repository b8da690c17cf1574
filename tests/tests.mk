# SPDX-License-Identifier: Apache-2.0
# tests.mk - building and running the tests; part of the Makefile.

T := $(BUILD)/tests
# everything but main(), from which each test links what it needs
TEST_LIB   := $(T)/agentwatch.a
UNIT       := $(patsubst %.c,$(BUILD)/%,$(call src,tests/unit tests/audit))
FUZZ       := $(patsubst tests/fuzz/fuzz_%.c,$(T)/fuzz/replay_%,$(wildcard tests/fuzz/fuzz_*.c))
# several run at a time, so those that take longest begin
E2E_LONG   := $(patsubst %,tests/e2e/test_%.sh,transparency escapes agents mcp presets fight)
E2E        := $(E2E_LONG) $(filter-out $(E2E_LONG),$(sort $(wildcard tests/e2e/test_*.sh)))
# scripts in which being root or not makes a difference: run as an ordinary user too
E2E_USER   := $(filter $(addprefix tests/e2e/test_,$(addsuffix .sh, \
	approve ask bwrap calls complete edges env escapes explain fight firejail forward \
	gate gitconfig held landlock layers learn limits limits_section log lookups musl \
	names outside plan policy_check policy_test presets profiles programs proxy relay run \
	tools transparency trust tty unix_sockets)),$(E2E))

$(TEST_LIB): $(call obj,$(filter-out supervisor/main.c,$(PROG_SRC)))
	@mkdir -p $(@D); echo "  AR   $@"
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(UNIT): $(BUILD)/%: $(BUILD)/%.o $(TEST_LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lyaml -lcjson -lresolv
$(FUZZ): $(T)/fuzz/replay_%: $(T)/fuzz/fuzz_%.o $(T)/fuzz/replay.o $(TEST_LIB)
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lyaml -lcjson -lresolv
# fuzz-ring etc.: fuzz for FUZZ_SECONDS with libFuzzer
FUZZ_SECONDS ?= 60
SEEDS_load := tests/golden/errors examples
FUZZ_LIB_SRC := $(wildcard policy/*.c)
$(T)/fuzz/fuzz_%: tests/fuzz/fuzz_%.c $(FUZZ_LIB_SRC)
	@mkdir -p $(@D); echo "  FUZZ $@"
	$(Q)clang $(BASE) -O1 -g -fsanitize=fuzzer,address,undefined -o $@ $^ -lyaml
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

.PHONY: soak soak-threads soak-sanitized
.PHONY: check unit unit-threads unit-all fuzz-replay bench ci quickstart aarch64
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
fuzz-%: $(T)/fuzz/fuzz_% ## (fuzz-ring, fuzz-load, ...) fuzz for FUZZ_SECONDS
	@mkdir -p $(T)/fuzz/found/$*
	$< -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 $(T)/fuzz/found/$* tests/fuzz/corpus/$* $(SEEDS_$*)
bench: all ## what watching costs, as ratios to the bare command
	@/usr/bin/python3 tests/bench/bench.py $(ROWS)
# a sanitized supervisor in a folder of its own; shim and agentwatch-enter are never sanitized
SOAK = AGENTWATCH=$(PROG) AW_TEST_BUILD=$(abspath $(T)) SOAK_FIGURES=$(abspath $(T))/soak.figures \
	tests/run.sh -t $$(($${SOAK_SECONDS:-120} + 300)) tests/soak/soak.sh; rc=$$?; cat $(T)/soak.figures; exit $$rc
soak: all ## saturate a supervisor for SOAK_SECONDS (120) and account for every event
	@mkdir -p $(T); rm -f $(T)/soak.figures
	@$(SOAK)
soak-threads: ## the same under the thread sanitizer, for SOAK_SECONDS (20)
	@$(MAKE) --no-print-directory SAN=thread BUILD=$(BUILD)/tsan-load soak-sanitized
soak-sanitized: all
	@mkdir -p $(T); rm -f $(T)/soak.figures
	@export SOAK_SANITIZED=1 SOAK_SECONDS=$${SOAK_SECONDS:-20}; $(SOAK)
quickstart: ## install what is missing, build, and watch something real
	@.ci/deps $(BUILD_NEEDS) git
	@$(MAKE) --no-print-directory all
	@BUILD=$(BUILD) tests/quickstart.sh
ci: ## everything that CI looks at
	@BUILD=$(BUILD) .ci/steps
# what cannot run here must still compile
ARM := $(MAKE) --no-print-directory CC=aarch64-linux-gnu-gcc BUILD=$(BUILD)/aarch64 EXTRA='$(EXTRA)'
aarch64: ## compile for aarch64: the shim, agentwatch-enter and all objects
	@$(ARM) $(BUILD)/aarch64/libagentwatch.so $(BUILD)/aarch64/agentwatch-enter \
		$(patsubst %.c,$(BUILD)/aarch64/%.o,$(PROG_SRC))
# --- what takes long, or looks at everything ---
MODEL := tests/model/model.sh
FAULTS_BIN := $(T)/faults/work $(T)/faults/killpoint
$(FAULTS_BIN): $(T)/faults/%: tests/faults/%.c
	@mkdir -p $(@D); echo "  LINK $@"
	$(Q)$(CC) $(BASE) -O2 -o $@ $<
FAULTS = AGENTWATCH=$(PROG) AW_TEST_BUILD=$(abspath $(T)) /usr/bin/python3 tests/faults/faults.py
.PHONY: model faults docs/FAULTS.md
model: ## ring and locking in every order that their steps can come in
	@tests/run.sh $(MODEL)
faults: all $(FAULTS_BIN) ## everything that can go wrong, alone, in pairs, and at many system calls
	$(FAULTS) --pairs $${FAULTS_PAIRS:-3} --points $${FAULTS_POINTS:-17}
docs/FAULTS.md: all $(FAULTS_BIN) ## write the page of faults anew, from a run of them
	$(FAULTS) --pairs $${FAULTS_PAIRS:-3} --points $${FAULTS_POINTS:-17} --page $@.new && mv $@.new $@
