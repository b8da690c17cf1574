# SPDX-License-Identifier: Apache-2.0
# more.mk - what takes long: benchmarks, soak, faults, models, other systems; part of the
# Makefile.

# --- benchmarks ---

.PHONY: bench bench-micro bench-peers docs/PERFORMANCE.md
bench: all ## what watching costs, as ratios to the bare command; ROWS='cat git' for some
	@/usr/bin/python3 -B tests/bench/bench.py --json $(BUILD)/bench.json $(ROWS)
	@/usr/bin/python3 -B tests/bench/plot.py $(BUILD)/bench.json $(BUILD)
$(T)/micro: $(BUILD)/tests/bench/micro.o $(TEST_LIB)
	@mkdir -p $(@D); echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
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

# --- attempts to get round a denial, for longer than CI ---

.PHONY: escapes-long
ESCAPES_LONG := tests/e2e/test_sockets.sh tests/e2e/test_gate_calls.sh tests/e2e/test_race_matrix.sh
escapes-long: all ## what takes longer than CI has time for, some minutes each
	@AGENTWATCH=$(PROG) AW_TEST_BUILD=$(abspath $(T)) AW_SOCKETS_PAIR=25 AW_SOCKETS_FOCUS=5000 AW_GATE_ALL=1 AW_MATRIX_MS=60000 AW_MATRIX_FOCUS_MS=6000 \
		tests/run.sh -t 3600 $(ESCAPES_LONG)

# --- soak, faults, models ---

.PHONY: soak soak-threads soak-sanitized model faults docs/FAULTS.md
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
MODEL := tests/model/model.sh
FAULTS_BIN := $(T)/faults/work $(T)/faults/killpoint
$(FAULTS_BIN): $(T)/faults/%: tests/faults/%.c
	@mkdir -p $(@D); echo "  LINK $@"
	$(Q)$(CC) $(BASE) -O2 -o $@ $<
FAULTS_LIB := $(T)/faults/nomem.so
$(FAULTS_LIB): tests/faults/nomem.c
	@mkdir -p $(@D); echo "  LINK $@"
	$(Q)$(CC) $(BASE) -O2 -shared -fPIC -o $@ $<
FAULTS = AGENTWATCH=$(PROG) AW_TEST_BUILD=$(abspath $(T)) /usr/bin/python3 tests/faults/faults.py
FAULTS_PART = --pairs $${FAULTS_PAIRS:-6} --points $${FAULTS_POINTS:-17} --offset $${FAULTS_OFFSET:-0}
model: ## ring and locking in every order that their steps can come in
	@tests/run.sh $(MODEL)
faults: all $(FAULTS_BIN) $(FAULTS_LIB) ## everything that can go wrong, alone, in pairs, and at many system calls
	$(FAULTS) $(FAULTS_PART)
docs/FAULTS.md: all $(FAULTS_BIN) $(FAULTS_LIB) ## write the page of faults anew, from a run of them
	$(FAULTS) $(FAULTS_PART) --page $@.new && mv $@.new $@

# --- other systems ---

.PHONY: aarch64
# what cannot run here must still compile
ARM_BUILD := $(BUILD)/aarch64
ARM := $(MAKE) --no-print-directory CC=aarch64-linux-gnu-gcc BUILD=$(ARM_BUILD) EXTRA='$(EXTRA)'
aarch64: ## compile for aarch64: the shim, agentwatch-enter and all objects
	+@$(ARM) $(ARM_BUILD)/libagentwatch.so $(ARM_BUILD)/agentwatch-enter \
		$(patsubst %.c,$(ARM_BUILD)/%.o,$(PROG_SRC))
PORTABLE_NEEDS := qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-mingw-w64-x86-64-win32 \
	libyaml-dev libcjson-dev uthash-dev
# decides and describes without asking the system: compiles for Windows and macOS, too
PURE_SRC := $(call src,$(POLICY_DIRS) supervisor/net/proto) $(addprefix supervisor/,approval/copy.c audit/line.c \
	$(addprefix cli/,completion.c completion_words.c completion_bash.c completion_fish.c completion_zsh.c help.c options_help.c suggest.c) \
	$(addprefix import/,claude.c codex.c agent_hosts.c mitto.c srt.c toml.c walk.c) \
	$(addprefix learn/,path_variable.c destination.c learner.c looked_up.c memory.c access_need.c preset.c \
	question.c quote.c replay.c root.c secret.c seen.c counter.c tree.c) \
	process/mcp_toml.c process/mcp_words.c lint/findings.c lint/redundant_rules.c audit/read/log_filter.c util/json.c util/sha256.c)
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
