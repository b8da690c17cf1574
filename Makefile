# SPDX-License-Identifier: Apache-2.0
# Makefile - build, test and install; `make help` lists what there is.

-include config.mk
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
AW_AGENTS_DIR ?= $(BUILD)/agents
FETCHED := agents peers portable# below BUILD, by apt and npm
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
SAN    ?=# sanitizers for programs and tests, never for the shim
EXTRA  ?=# more compiler flags; CI says -Werror
LIBS   := -lyaml -lcjson -lresolv
Q      := $(if $(V),,@)
WARN   := -Wall -Wextra -Wshadow -Wno-unknown-warning-option -Wno-format-truncation
BASE   := -std=gnu11 -D_GNU_SOURCE -I. $(WARN)
ALL_CFLAGS = $(BASE) -pthread $(CFLAGS) $(EXTRA) \
	$(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer)
# freestanding: no libc to link with, no stack protector, no sanitizer
SHIM_CFLAGS = $(BASE) -O2 -g $(EXTRA) -fPIC -fvisibility=hidden -fno-stack-protector \
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 -fno-builtin -ftls-model=initial-exec \
	-fno-sanitize=all -DAW_SHIM $(SHIM_ARCH_CFLAGS)
# aarch64's outlined atomics would be functions of a library
SHIM_ARCH_CFLAGS := $(if $(findstring aarch64,$(shell $(CC) -dumpmachine)),-mno-outline-atomics)

src = $(sort $(foreach d,$1,$(wildcard $d/*.c)))
obj = $(patsubst %.c,$(BUILD)/%.o,$1)

# every folder with sources; docs/ARCHITECTURE.md says what is in each
POLICY_DIRS  := policy $(addprefix policy/,compile git image load load/sections load/text shared)
PRELOAD_DIRS := preload preload/linux
PROG_DIRS    := supervisor $(addprefix supervisor/,approval audit audit/read cli commands commands/policy decide \
	git import launch learn lint linux linux/calls linux/emulate linux/netns linux/seccomp linux/sockets \
	linux/target net net/dns net/egress net/proto net/proxy net/relay process sandbox session util)
ENTER_DIRS   := supervisor/linux/enter
DIRS         := $(POLICY_DIRS) $(PRELOAD_DIRS) $(PROG_DIRS) $(ENTER_DIRS)

# what the shim may use of policy/: no libc but a few string functions of its own
SHARED_SRC := $(addprefix policy/,calls.c decide.c verdict.c path.c glob.c shared/ring.c \
	$(addprefix image/,image.c image_check.c image_walk.c image_exec.c image_net.c))
SHIM_SRC   := $(call src,$(PRELOAD_DIRS))
# agentwatch-enter: a program of its own
ENTER_SRC  := $(call src,$(ENTER_DIRS)) supervisor/linux/landlock_apply.c
PROG_SRC   := $(call src,$(POLICY_DIRS) $(PROG_DIRS))
SHIM_OBJ   := $(patsubst %.c,$(BUILD)/shim/%.o,$(SHIM_SRC) $(SHARED_SRC))
PROG  := $(BUILD)/agentwatch
ENTER := $(BUILD)/agentwatch-enter
SHIM  := $(BUILD)/libagentwatch.so
SCHEMA := $(BUILD)/policy.schema.json
PRESETS := $(patsubst data/%,$(BUILD)/%,$(wildcard data/presets/*.yaml))

.PHONY: all
all: $(PROG) $(ENTER) $(SHIM) $(PRESETS) $(SCHEMA) ## build the program, the shim and agentwatch-enter

$(PROG): $(call obj,$(PROG_SRC))
	@echo "  LINK $@"
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
$(ENTER): $(ENTER_SRC) supervisor/linux/enter/enter.h $(wildcard supervisor/linux/landlock_*.h)
	@mkdir -p $(@D); echo "  LINK $@"
	$(Q)$(CC) $(BASE) -Os $(EXTRA) -static -s -o $@ $(ENTER_SRC)
$(SHIM): $(SHIM_OBJ)
	@echo "  LINK $@"
	$(Q)$(CC) $(LDFLAGS) -shared -nostdlib -Wl,-z,now,-z,noseparate-code,-z,norelro -Wl,-z,noexecstack \
		-Wl,--exclude-libs,ALL -Wl,-soname,libagentwatch.so -o $@ $^
$(SCHEMA): $(PROG)
	$(Q)$(PROG) policy schema >$@.new && mv $@.new $@
$(PRESETS): $(BUILD)/%: data/%
	$(Q)install -Dm644 $< $@
$(BUILD)/shim/%.o: %.c
	@mkdir -p $(@D); echo "  CC   $< (shim)"
	$(Q)$(CC) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/%.o: %.c
	@mkdir -p $(@D); echo "  CC   $<"
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# --- what is needed ("command:package" is installed when the command is missing) ---

BUILD_NEEDS := gcc make libc6-dev libyaml-dev libcjson-dev uthash-dev
TEST_NEEDS  := clang-14 libclang-rt-14-dev clang:clang clang-format-14 clang-tidy-14 \
	cppcheck binutils musl-tools gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-i686-linux-gnu \
	libc6-dev-i386-cross git jq \
	strace gdb sqlite3 tmux screen chromium psql:postgresql spin faketime iproute2 attr groff-base tar python3 python3-venv \
	libpython3.11-testsuite python3-jsonschema python3-yaml util-linux procps passwd bsdutils bubblewrap \
	firejail ssh-agent:openssh-client openssh-server openssl curl wget node:nodejs npm:npm go:golang-go

.PHONY: deps deps-build agents
deps: ## install what build and tests need (apt)
	@.ci/deps $(BUILD_NEEDS) $(TEST_NEEDS)
deps-build: ## install what the build needs
	@.ci/deps $(BUILD_NEEDS)
agents: ## install real agents and MCP servers, at fixed versions, into AW_AGENTS_DIR (npm)
	tests/agents/install.sh $(AW_AGENTS_DIR)

# --- install ---

BASH_COMPLETION := $(PREFIX)/share/bash-completion/completions/agentwatch
ZSH_COMPLETION  := $(PREFIX)/share/zsh/site-functions/_agentwatch
FISH_COMPLETION := $(PREFIX)/share/fish/vendor_completions.d/agentwatch.fish
DOC := $(PREFIX)/share/doc/agentwatch

.PHONY: install uninstall
install: all ## install below PREFIX, in DESTDIR
	install -Dm755 $(PROG) $(DESTDIR)$(PREFIX)/bin/agentwatch
	install -Dm755 $(ENTER) $(DESTDIR)$(PREFIX)/libexec/agentwatch/agentwatch-enter
	install -Dm755 $(SHIM) $(DESTDIR)$(PREFIX)/lib/agentwatch/libagentwatch.so
	install -d $(DESTDIR)$(PREFIX)/share/agentwatch/presets
	install -m644 data/presets/*.yaml $(DESTDIR)$(PREFIX)/share/agentwatch/presets
	install -m644 $(SCHEMA) $(DESTDIR)$(PREFIX)/share/agentwatch
	rm -rf $(BUILD)/man && $(PROG) manual --man $(BUILD)/man
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(DOC)
	install -m644 $(BUILD)/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	for s in bash zsh fish; do $(PROG) completion $$s >$(BUILD)/completion.$$s || exit 1; done
	install -Dm644 $(BUILD)/completion.bash $(DESTDIR)$(BASH_COMPLETION)
	install -Dm644 $(BUILD)/completion.zsh $(DESTDIR)$(ZSH_COMPLETION)
	install -Dm644 $(BUILD)/completion.fish $(DESTDIR)$(FISH_COMPLETION)
	install -m644 README.md LICENSE docs/*.md $(wildcard docs/*.svg) $(DESTDIR)$(DOC)
	cp -R examples $(DESTDIR)$(DOC)/
uninstall: ## take away what install put there
	rm -f $(addprefix $(DESTDIR),$(PREFIX)/bin/agentwatch $(BASH_COMPLETION) \
		$(ZSH_COMPLETION) $(FISH_COMPLETION)) $(DESTDIR)$(PREFIX)/share/man/man1/agentwatch.1 \
		$(DESTDIR)$(PREFIX)/share/man/man1/agentwatch-*.1
	rm -rf $(addprefix $(DESTDIR)$(PREFIX)/,libexec/agentwatch lib/agentwatch \
		share/agentwatch) $(DESTDIR)$(DOC)

# --- keep it in shape ---

SOURCES = $(wildcard $(DIRS:%=%/*.[ch]) tests/*/*.[ch] tests/*/*/*.[ch])
.PHONY: format check-format check-layers check-cycles check-names check-exports lint analyze distclean clean help
format: ## lay the sources out (clang-format 14)
	@clang-format-14 -i $(SOURCES)
check-format: ## nothing would be laid out anew
	@clang-format-14 --dry-run -Werror $(SOURCES)
# an include line is an arrow between folders: tests/layers.arrows has those that are allowed
check-layers: ## no folder uses what it may not
	@tests/layers.sh .
check-cycles: $(call obj,$(PROG_SRC)) ## no more than three source files call each other in a circle
	@python3 -B tests/cycles.py $^
check-names: $(PROG) ## calls by a name are made at what was judged
	@tests/by_name.sh $(BUILD)
check-exports: $(SHIM) ## the shim exports its calls alone and needs nothing
	@tests/exports.sh $(SHIM)
# ctuuninitvar: system calls fill variables in that cppcheck takes for uninitialised
lint: ## cppcheck and clang-tidy find nothing
	$(Q)cppcheck -j"$$(nproc)" --quiet --error-exitcode=1 --enable=warning,performance,portability \
		--inline-suppr --std=c11 -I. -D_GNU_SOURCE -D__x86_64__ --include=tests/cppcheck.h \
		--suppress=ctuuninitvar \
		policy preload supervisor
	$(Q)printf '%s\n' $(SHIM_SRC) $(call src,$(ENTER_DIRS)) \
		$(filter-out policy/error.c,$(PROG_SRC)) | xargs -P"$$(nproc)" -n8 sh -c \
		'clang-tidy-14 --quiet --warnings-as-errors="*" "$$@" -- $(BASE) -include tests/analyzer.h 2>/dev/null' tidy
# of gcc 12; with -O1 it finds leaks that it does not with -O0, in less time than with -O2
ANALYZE := -O1 -g0 -fanalyzer -Werror -Wno-unused-value -include tests/analyzer.h -include tests/gcc_analyzer.h
ANALYZED := $(patsubst %.o,%.s,$(patsubst $(BUILD)/%,$(BUILD)/analyzed/%,$(SHIM_OBJ) \
	$(call obj,$(call src,$(ENTER_DIRS)) $(filter-out policy/error.c,$(PROG_SRC)))))
analyze: $(ANALYZED) ## gcc's analyzer finds nothing
$(BUILD)/analyzed/shim/%.s: %.c
	@mkdir -p $(@D); echo "  AN   $< (shim)"
	$(Q)gcc $(SHIM_CFLAGS) $(ANALYZE) -MMD -MP -S -o $@ $<
$(BUILD)/analyzed/%.s: %.c
	@mkdir -p $(@D); echo "  AN   $<"
	$(Q)gcc $(ALL_CFLAGS) $(ANALYZE) -MMD -MP -S -o $@ $<
clean: ## remove what was built, but not what was fetched: agents, peers, foreign toolchains
	find $(BUILD) -mindepth 1 -maxdepth 1 $(foreach d,$(FETCHED),! -name $d) -exec rm -rf {} +
distclean: ## remove the build folder and config.mk
	rm -rf $(BUILD) config.mk
help: ## this list
	@awk -F ':.*## ' '/^[A-Za-z0-9/.%-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Variables: BUILD PREFIX DESTDIR CC CFLAGS SAN EXTRA AW_AGENTS_DIR V=1; config.mk may set them."

include tests/tests.mk
include tests/more.mk
-include $(shell find $(BUILD) $(foreach d,$(FETCHED),-path $(BUILD)/$d -prune -o) -name '*.d' -print 2>/dev/null)
