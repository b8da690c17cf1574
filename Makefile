# SPDX-License-Identifier: Apache-2.0
# Makefile - build, test and install; `make help` lists what there is.

-include config.mk
BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
SAN     ?=
WARN    := -Wall -Wextra -Wshadow -Wno-format-truncation
CFLAGS  ?= -O2 -g
ALL_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. -pthread $(WARN) $(CFLAGS) $(EXTRA)

src = $(sort $(foreach d,$1,$(wildcard $d/*.c)))
obj = $(patsubst %.c,$(BUILD)/%.o,$1)

# what the shim may use of policy/: no libc but a few string functions of its own
SHARED_SRC := $(addprefix policy/,calls.c ring.c verdict.c path.c glob.c image.c \
	image_walk.c image_exec.c image_net.c)
SHIM_SRC   := $(call src,preload)
PROG_SRC   := $(filter-out supervisor/enter.c,$(call src,policy supervisor \
	supervisor/audit supervisor/kernel supervisor/runner supervisor/view))
PROG  := $(BUILD)/agentwatch
ENTER := $(BUILD)/agentwatch-enter
SHIM  := $(BUILD)/libagentwatch.so

SHIM_CFLAGS = -std=gnu11 -D_GNU_SOURCE -I. $(WARN) -O2 -g $(EXTRA) -fPIC \
	-fvisibility=hidden -fno-stack-protector -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=0 \
	-fno-builtin -ftls-model=initial-exec -fno-sanitize=all -DAW_SHIM

.PHONY: all
all: $(PROG) $(ENTER) $(SHIM)

$(PROG): $(call obj,$(PROG_SRC))
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ -lyaml -lcjson
$(ENTER): supervisor/enter.c supervisor/enter.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE -I. $(WARN) -Os $(EXTRA) -static -s -o $@ $<
$(SHIM): $(patsubst %.c,$(BUILD)/shim/%.o,$(SHIM_SRC) $(SHARED_SRC))
	$(CC) $(LDFLAGS) -shared -nostdlib -Wl,-z,now -Wl,--exclude-libs,ALL \
		-Wl,-soname,libagentwatch.so -o $@ $^
$(BUILD)/shim/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(SHIM_CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

include $(wildcard tests/tests.mk)
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
