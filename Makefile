# Builds iostudy. `make demo` and `make test` install what is missing by themselves.

VERSION := 0.1.0
ifneq ($(shell uname -m),x86_64)
$(error iostudy knows the system calls of x86_64 only; this is $(shell uname -m))
endif
PREFIX  ?= /usr/local
DESTDIR ?=

# A sanitizer build keeps to itself: make test SANITIZE=address,undefined | thread
SANITIZE ?=
comma := ,
BUILD ?= build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))

CC       ?= cc
CXX      ?= c++
CLANG    ?= clang
BPFTOOL  ?= $(firstword $(shell PATH=$$PATH:/usr/sbin command -v bpftool) /usr/sbin/bpftool)
OPT      ?= -O2 -g
WARN     := -Wall -Wextra -Werror
ALL_CPPFLAGS := -D_GNU_SOURCE -DIOSTUDY_VERSION='"$(VERSION)"' -I. -I$(BUILD) $(CPPFLAGS)
SAN      := $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer) $(if $(findstring thread,$(SANITIZE)),-Wno-tsan)
ALL_CFLAGS := -std=gnu11 $(OPT) $(WARN) $(SAN) -fno-strict-aliasing -pthread $(CFLAGS)
ALL_CXXFLAGS := -std=gnu++17 $(OPT) $(WARN) $(SAN) -pthread $(CXXFLAGS)
LIBS     := -lncursesw -ltinfo -luring -laio -lbpf -lelf -ljansson -linih -lhttp_parser -lzip -lz -lm \
            -l:libboost_context.a -pthread

PACKAGES := gcc g++ libc6-dev clang llvm bpftool bpftrace libbpf-dev libelf-dev liburing-dev libaio-dev \
            libboost-context-dev libncurses-dev libhttp-parser-dev libzip-dev zlib1g-dev \
            libjansson-dev libinih-dev libgtest-dev linux-libc-dev
TEST_PACKAGES := locales iproute2 e2fsprogs xfsprogs btrfs-progs chromium-headless-shell
PAGE_PACKAGES := nodejs npm
LINT_PACKAGES := clang-format mandoc
TIDY_PACKAGES := clang-tidy
sources  = $(wildcard $(1)/*.c)
objects  = $(patsubst %.c,$(BUILD)/%.o,$(1))
LIB_SRC  := $(filter-out %.bpf.c,$(foreach d,engines bench bench/scenario probes analysis,$(call sources,$(d))))
CLI_SRC  := $(call sources,cli)
TEST_SRC := $(call sources,tests)
TEST_CC  := $(wildcard tests/*.cc)
TOOL_SRC := $(wildcard tests/programs/*.c)
SKELETONS := $(patsubst probes/%.bpf.c,$(BUILD)/probes/%.skel.h,$(wildcard probes/*.bpf.c))

.PHONY: all page demo test bench experiments field bench-diff findings lint tidy format install \
        uninstall clean packages lint-packages page-packages tidy-packages
.SECONDARY:
all: $(BUILD)/iostudy

# --- what must be installed ---------------------------------------------------------------------
packages:
	@./.ci/packages $(PACKAGES)

# Wherever they come from. Without them all but the page is built.
page-packages:
	@command -v npm >/dev/null || ./.ci/packages $(PAGE_PACKAGES) || true

lint-packages:
	@./.ci/packages $(LINT_PACKAGES)

tidy-packages:
	@./.ci/packages $(TIDY_PACKAGES)

# --- building -----------------------------------------------------------------------------------
$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.cc Makefile
	@mkdir -p $(@D)
	$(CXX) $(ALL_CPPFLAGS) $(ALL_CXXFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.bpf.o: %.bpf.c Makefile
	@mkdir -p $(@D)
	$(CLANG) -target bpf -mcpu=v3 -ffreestanding -O2 -g -Wall -Werror -D__TARGET_ARCH_x86 -I. \
		-I/usr/include/$(shell $(CC) -print-multiarch) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(BUILD)/%.skel.h: $(BUILD)/%.bpf.o
	@echo '/* NOLINTBEGIN */' > $@.tmp
	$(BPFTOOL) gen skeleton $< name $(*F) >> $@.tmp
	@echo '/* NOLINTEND */' >> $@.tmp && mv $@.tmp $@

$(call objects,$(filter-out %.bpf.c,$(wildcard probes/*.c))): $(SKELETONS)

$(BUILD)/libiostudy.a: $(call objects,$(LIB_SRC)) $(BUILD)/page.o
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/iostudy: $(call objects,$(CLI_SRC)) $(BUILD)/libiostudy.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The page of report -o x.html, one for all builds: the linker lays it into the program. PAGE=FILE
# takes one that was built elsewhere; an empty one is none.
PAGE ?= build/report.html
page_again := [ -s build/report.html ] || rm -f build/report.html
build/report.html: $(wildcard analysis/page/* analysis/page/src/*) analysis/page/.npmrc .ci/page
	@mkdir -p $(@D)
	@.ci/page $@

$(BUILD)/page.o: $(PAGE)
	@mkdir -p $(@D)/page
	@cp $< $(@D)/page/report.html
	cd $(@D)/page && ld -r -b binary -z noexecstack -o ../page.o report.html

# Tries again what an earlier build went without.
page: page-packages
	@$(page_again)
	@$(MAKE) --no-print-directory $(BUILD)/iostudy

# The engine that CONTRIBUTING.md shows, of that very text.
$(BUILD)/tests/example.c: CONTRIBUTING.md
	@mkdir -p $(@D)
	sed -n '/^```c$$/,/^```$$/{/^```/!p}' $< > $@

$(BUILD)/tests/example.o: $(BUILD)/tests/example.c
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tests/run: $(call objects,$(TEST_SRC)) $(patsubst %.cc,$(BUILD)/%.o,$(TEST_CC)) \
                    $(BUILD)/tests/example.o $(BUILD)/libiostudy.a
	$(CXX) $(ALL_CXXFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lgtest

$(BUILD)/tests/programs/%: tests/programs/%.c $(BUILD)/libiostudy.a Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -o $@ $< $(BUILD)/libiostudy.a $(LIBS)

# The program with an engine `null` that works more for each operation: see bench/diff.sh.
HEAVIER_CYCLES ?= 0
.PHONY: heavier
heavier: $(call objects,$(CLI_SRC)) $(BUILD)/libiostudy.a
	@mkdir -p $(BUILD)/tests/heavier
	objcopy --redefine-sym engine_null=engine_null_plain $(BUILD)/engines/null.o \
		$(BUILD)/tests/heavier/plain.o
	$(CC) $(ALL_CPPFLAGS) -DHEAVIER_CYCLES=$(HEAVIER_CYCLES) $(ALL_CFLAGS) $(LDFLAGS) \
		-o $(BUILD)/tests/heavier/iostudy tests/heavier/null.c \
		$(BUILD)/tests/heavier/plain.o $^ $(LIBS)

# The program without its page.
$(BUILD)/tests/pageless: $(call objects,$(CLI_SRC)) $(BUILD)/libiostudy.a
	@mkdir -p $@.page && : > $@.page/report.html
	cd $@.page && ld -r -b binary -z noexecstack -o page.o report.html
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $@.page/page.o $^ $(LIBS)

# One with a decimal comma: no figure may follow it.
LOCALE := $(BUILD)/tests/locale/de_DE.UTF-8
$(LOCALE):
	@mkdir -p $(@D)
	localedef -i de_DE -f UTF-8 $@

TEST_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(TOOL_SRC)) $(BUILD)/tests/pageless

# --- the jobs -----------------------------------------------------------------------------------
test: packages page-packages
	@./.ci/packages $(TEST_PACKAGES)
	@$(page_again)
	@$(MAKE) --no-print-directory $(BUILD)/iostudy $(BUILD)/tests/run $(TEST_PROGRAMS) $(LOCALE)
	@./.ci/test $(BUILD)

# The main job, over all engines; then what computing instead of waiting changes.
DEMO := $(BUILD)/demo
demo: packages
	@$(page_again)
	@$(MAKE) --no-print-directory $(BUILD)/iostudy
	@rm -rf $(DEMO)
	@$(BUILD)/iostudy run --engine all --warmup 200ms --keep -o $(DEMO) >/dev/null
	@$(BUILD)/iostudy run --engine uring --wait compute -o $(DEMO) >/dev/null
	@$(BUILD)/iostudy report $(DEMO) -o $(DEMO)/report.md
	@[ ! -s $(PAGE) ] || $(BUILD)/iostudy report $(DEMO) -o $(DEMO)/report.html
	@$(BUILD)/iostudy show $(DEMO)
	@echo "report: $$(ls $(DEMO)/report.* | tr '\n' ' ')   runs: $(DEMO)/runs.jsonl"

# Ratios against peers doing the same work, each in one run.
bench: packages
	@./.ci/packages fio jq
	@$(MAKE) --no-print-directory $(BUILD)/iostudy $(TEST_PROGRAMS)
	@status=0; for script in bench/floor.sh bench/fio.sh bench/pingpong.sh; do \
		$$script $(BUILD) || status=1; done; exit $$status

# analysis/FINDINGS.md and the README's picture, from a study that is run here: make findings
# STUDY=quick. It goes on where it was interrupted; rm -r build/findings begins anew.
STUDY ?= there-is-no-thread
findings: packages page-packages
	@./.ci/packages jq chromium-headless-shell
	@$(MAKE) --no-print-directory $(BUILD)/iostudy
	@bench/findings.sh $(BUILD) $(STUDY)

# Whether diff finds what is put in, and nothing else: minutes, on a quiet machine.
bench-diff: packages
	@./.ci/packages jq
	@$(MAKE) --no-print-directory $(BUILD)/iostudy
	@bench/diff.sh $(BUILD)
# Real programs, watched: writes docs/field.md anew. Takes minutes, and root.
FIELD_PACKAGES := fio nodejs redis-server redis-tools nginx postgresql curl python3
field: packages
	@./.ci/packages $(FIELD_PACKAGES)
	@$(MAKE) --no-print-directory $(BUILD)/iostudy
	@docs/field.sh $(BUILD) > $(BUILD)/field.md
	@mv $(BUILD)/field.md docs/field.md

# docs/experiments.md and its pictures: every scenario as it was published. Some 20 minutes, on a
# quiet machine.
experiments: packages page-packages
	@./.ci/packages jq
	@$(MAKE) --no-print-directory $(BUILD)/iostudy
	@docs/experiments.sh $(BUILD) $(EXPERIMENTS) > $(BUILD)/experiments.md
	@mv $(BUILD)/experiments.md docs/experiments.md

# The house rules (.ci/lint says which), fast; tidy is slow and needs a build's generated headers.
lint: lint-packages
	@./.ci/lint $(BUILD)

TIDY_SRC = $(filter-out %.bpf.c,$(shell git ls-files '*.c'))
tidy: packages tidy-packages $(SKELETONS)
	@printf '%s\n' $(TIDY_SRC) | xargs -P $$(nproc) -I {} \
		clang-tidy --quiet {} -- $(ALL_CPPFLAGS) -DHEAVIER_CYCLES=1 -std=gnu11 2>/dev/null

format: lint-packages
	clang-format -i $(shell git ls-files '*.c' '*.h' '*.cc')

install: $(BUILD)/iostudy
	install -D -m 755 $(BUILD)/iostudy $(DESTDIR)$(PREFIX)/bin/iostudy
	install -D -m 644 docs/iostudy.1 $(DESTDIR)$(PREFIX)/share/man/man1/iostudy.1
	install -d $(DESTDIR)$(PREFIX)/share/iostudy/studies
	install -m 644 $(wildcard bench/studies/*.study) $(DESTDIR)$(PREFIX)/share/iostudy/studies
	$(foreach f,$(wildcard probes/*.bt),\
		install -m 644 $(f) $(DESTDIR)$(PREFIX)/share/iostudy/$(notdir $(f)) &&) true

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/iostudy $(DESTDIR)$(PREFIX)/share/man/man1/iostudy.1
	rm -rf $(DESTDIR)$(PREFIX)/share/iostudy

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
