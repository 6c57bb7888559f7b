# flopwatch: `make demo` demonstrates it, `make test` runs every test, `make help` lists the other targets.
#
# Every folder of programs becomes one archive; a program is its main.c plus the archives it may use (tests/layers.txt).
# Variants: SANITIZE=1 builds with ASan and UBSan under build/san, UNIT=1 compiles fast and without CUDA under build/unit,
# WERROR=0 lets warnings pass, CC= is another compiler. LIBFUZZER=1 CC=clang-14 builds the fuzzers, under build/fuzz.

MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DEFAULT_GOAL := all

comma    := ,
ifneq ($(COVERAGE)$(LIBFUZZER),)
UNIT     := 1
endif
O        := $(if $(SANITIZE),build/san,$(if $(COVERAGE),build/coverage,$(if $(LIBFUZZER),build/fuzz,$(if $(UNIT),build/unit,build))))
ifeq ($(origin CC),default)
CC       := gcc
endif
# Tests of these variants link each folder's archive as a shared library: a link takes a fifth of the time, and an edit links one
# library again instead of every test.
SHARED   := $(SANITIZE)$(UNIT)
WERROR   ?= 1
PREFIX   ?= /usr
VERSION  := 0.1.0

# Builds that only tests run compile fast, without gcc's warnings about sizes, which are wrong in instrumented code. Under ASan
# nearly all tests take as long without optimisation as with -O1.
CFLAGS   ?= $(if $(LIBFUZZER),-O1,$(if $(SHARED),-O0,-O2)) -g1
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wpointer-arith \
            $(if $(LIBFUZZER),-Wno-unknown-warning-option) $(if $(SHARED),-Wno-format-truncation -Wno-restrict) \
            $(if $(filter 1,$(WERROR)),$(if $(LIBFUZZER),,-Werror))
HARDEN   := $(if $(SHARED),-fPIC,-fPIE -fstack-protector-strong -D_FORTIFY_SOURCE=2)
SAN      := $(if $(COVERAGE),--coverage) $(if $(LIBFUZZER),-fsanitize=fuzzer-no-link) \
            $(if $(SANITIZE)$(LIBFUZZER),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
# What a fuzzer adds in the build in which it searches; elsewhere it is a test that replays inputs.
SEARCH   := $(if $(LIBFUZZER),-DFUZZ_SEARCH -fsanitize=fuzzer)
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE -DFW_VERSION='"$(VERSION)"' -Idaemon -I. -Ibuild $(CFLAGS) $(WARNINGS) $(HARDEN) $(SAN)
# gold halves the link time of binaries that only tests run.
GOLD     := $(if $(LIBFUZZER),,$(if $(SHARED),$(if $(shell command -v ld.gold),-fuse-ld=gold)))
LINK     := $(SAN) -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(GOLD)

# One short line a step; V=1 shows the commands.
say      = $(if $(V),,@echo "  $(1)  $(patsubst build/%,%,$(2))" && )

# ---- CUDA, where a toolkit works -----------------------------------------------------------------------------------
# Goals that install packages first, or build nothing, must not search for CUDA before they run.
ifneq ($(filter-out help clean format deps check check-% unit integration test demo bench dist deb uninstall,$(or $(MAKECMDGOALS),all)),)
ifndef UNIT
include build/cuda.mak
endif
endif
build/cuda.mak: etc/find-cuda.sh
	@mkdir -p $(@D)
	@etc/find-cuda.sh >$@.new && mv $@.new $@
NVCC_ARCH := -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
CUDA_DEF := $(if $(NVCC),-DFW_HAVE_CUDA -I$(CUDA_DIR)/include)
CUDA_LIB := $(if $(NVCC),-L$(CUDA_LIBRARIES) -lcudart_static -lrt)

# ---- sources -------------------------------------------------------------------------------------------------------
src      = $(filter-out $(1)/main.c,$(sort $(shell find $(1) -name node_modules -prune -o -name '*.$(or $(2),c)' -print)))
# Sanitizers do not apply to CUDA sources, so both variants link one object of each.
obj      = $(patsubst $(O)/obj/%.cu.o,build/obj/%.cu.o,$(patsubst %,$(O)/obj/%.o,$(1)))
LIB_SRC     := $(call src,daemon/lib)
STATS_SRC   := $(call src,daemon/stats)
# A folder below daemon/families is a family. All programs link its shapes; only the runner links its reference.
FAMILIES    := $(notdir $(patsubst %/,%,$(sort $(wildcard daemon/families/*/))))
REFERENCES  := $(sort $(wildcard daemon/families/*/reference*.c))
MODEL_SRC   := $(call src,daemon/model) $(filter-out $(REFERENCES),$(sort $(wildcard daemon/families/*/*.c)))
READERS_SRC := $(call src,daemon/readers)
PROFILE_SRC := $(call src,daemon/profile)
VERDICT_SRC := $(call src,daemon/verdict)
PROTOCOL_SRC := $(call src,daemon/protocol)
GIT_SRC     := $(call src,daemon/git)
WORKER_SRC  := $(call src,daemon/worker)
RUNNER_SRC  := $(call src,daemon/runner) $(REFERENCES) \
               $(if $(NVCC),$(call src,daemon/runner,cu) $(sort $(wildcard daemon/families/*/reference*.cu)))
SEND_SRC    := $(call src,daemon/send)
CLI_SRC     := $(call src,daemon/cli)
DAEMON_SRC  := $(call src,daemon/flopwatchd)
DB_SRC      := $(call src,db)
WEB_SRC     := $(call src,web)
NPM        := build/npm/uplot.js build/npm/uplot.css
EMBED      := $(sort $(wildcard db/schema.sql db/migrations/*.sql) $(wildcard web/static/* web/openapi/*) doc/glossary.md doc/troubleshooting.md daemon/worker/comments.py $(NPM))

lib      = $(O)/lib/lib$(1).a
CORE     := protocol verdict profile readers model stats lib
LIBS     := $(CORE) git worker runner send cli flopwatchd db web
PROGRAMS := flopwatchd flopwatch-git flopwatch-worker flopwatch-runner flopwatch-send flopwatch
BIN      := $(addprefix $(O)/bin/,$(PROGRAMS))

# Worker, runner and CLI link these statically, so that a GPU host needs no packages.
SECCOMP  := $(if $(SANITIZE),-lseccomp,-Wl$(comma)-Bstatic -lseccomp -Wl$(comma)-Bdynamic)
STATIC   := $(if $(SANITIZE),-lnettle -lyaml -ljansson -llz4,-Wl$(comma)-Bstatic -lnettle -lyaml -ljansson -llz4 -Wl$(comma)-Bdynamic)

.PHONY: all
all: $(BIN) ## the programs, into build/bin; the default target

$(call lib,lib):    $(call obj,$(LIB_SRC))
$(call lib,stats):  $(call obj,$(STATS_SRC))
$(call lib,model):  $(call obj,$(MODEL_SRC))
$(call lib,readers): $(call obj,$(READERS_SRC))
$(call lib,profile): $(call obj,$(PROFILE_SRC))
$(call lib,verdict): $(call obj,$(VERDICT_SRC))
$(call lib,protocol): $(call obj,$(PROTOCOL_SRC))
$(call lib,git):    $(call obj,$(GIT_SRC))
$(call lib,worker): $(call obj,$(WORKER_SRC) $(filter daemon/worker/%,$(EMBED)))
$(call lib,runner): $(call obj,$(RUNNER_SRC))
$(call lib,send):   $(call obj,$(SEND_SRC))
$(call lib,cli):    $(call obj,$(CLI_SRC))
$(call lib,flopwatchd): $(call obj,$(DAEMON_SRC))
$(call lib,db):     $(call obj,$(DB_SRC) $(filter db/%,$(EMBED)))
$(call lib,web):    $(call obj,$(WEB_SRC) $(filter web/% doc/% build/npm/%,$(EMBED)) doc/reference.html)

$(O)/lib/lib%.a:
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,ar ,$@)ar qcsD $@ $(filter %.o,$^)

$(LIBS:%=$(O)/lib/lib%.so): %.so: %.a
	$(call say,ld ,$@)$(CC) $(SAN) -shared -Wl,-Bsymbolic $(GOLD) -o $@ -Wl,--whole-archive $< -Wl,--no-whole-archive -Wl,--as-needed $(TEST_LIBS)

program = $(call say,ld ,$@)$(CC) $(LINK) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group

$(O)/bin/flopwatchd: $(call obj,daemon/flopwatchd/main.c) $(call lib,flopwatchd) $(call lib,web) $(call lib,db) $(foreach l,$(CORE),$(call lib,$(l)))
	@mkdir -p $(@D)
	$(program) -lsqlite3 -llz4 -lzstd -lz -lmicrohttpd -lgnutls -ljansson -lyaml -lnettle -lm
$(O)/bin/flopwatch-git: $(call obj,daemon/git/main.c) $(call lib,git) $(call lib,lib)
	@mkdir -p $(@D)
	$(program) -lgit2 -lnettle -lyaml -lm
$(O)/bin/flopwatch-worker: $(call obj,daemon/worker/main.c) $(call lib,worker) $(foreach l,$(CORE),$(call lib,$(l)))
	@mkdir -p $(@D)
	$(program) $(STATIC) $(SECCOMP) -lm
$(O)/bin/flopwatch-runner: $(call obj,daemon/runner/main.c) $(call lib,runner) $(foreach l,$(CORE),$(call lib,$(l)))
	@mkdir -p $(@D)
	$(program) $(STATIC) $(CUDA_LIB) $(if $(NVCC),-Wl$(comma)-Bstatic -lstdc++ -Wl$(comma)-Bdynamic) -fopenmp -ldl -lpthread -lm
$(O)/bin/flopwatch-send: $(call obj,daemon/send/main.c) $(call lib,send) $(foreach l,$(CORE),$(call lib,$(l)))
	@mkdir -p $(@D)
	$(program) $(STATIC) -lcurl -lcrypto -lm
$(O)/bin/flopwatch: $(call obj,daemon/cli/main.c) $(call lib,cli) $(foreach l,$(CORE),$(call lib,$(l)))
	@mkdir -p $(@D)
	$(program) $(STATIC) -lcurl -lzstd -lm

$(O)/obj/%.c.o: %.c
	@mkdir -p $(@D)
	$(call say,cc ,$<)$(CC) $(ALL_CFLAGS) $(EXTRA) -MMD -MP -c -o $@ $<
build/obj/%.cu.o: %.cu
	@mkdir -p $(@D)
	$(call say,nvcc,$<)$(NVCC) -O3 -std=c++17 $(NVCC_ARCH) -DFW_HAVE_CUDA -Idaemon -I. -Xcompiler -fPIC,-Wall,-Wno-unknown-pragmas -MD -MP -MF $(@:.o=.d) -c -o $@ $<
# Assets become objects whose symbols carry their path: _binary_db_schema_sql_start.
define embed_rule
$(O)/obj/$(1).o: $(1)
	@mkdir -p $$(@D)
	$$(call say,ld ,$(1))ld -r -b binary -z noexecstack -o $$@ $$<
endef
$(foreach file,$(EMBED),$(eval $(call embed_rule,$(file))))

# The chart library, if npm installed it (`make npm`); empty without it, and pages have the charts that the server draws.
build/npm/uplot.%: $(wildcard web/node_modules/.package-lock.json)
	@mkdir -p $(@D)
	@cp web/node_modules/uplot/dist/$(if $(filter js,$*),uPlot.iife.min.js,uPlot.min.css) $@ 2>/dev/null && touch $@ || : >$@

# The reference that pages show; empty without python3. Builds that only tests run have no pages of verbs, which need the program.
REFERENCE_PROGRAM := $(if $(SHARED),,build/bin/flopwatch)
$(O)/doc/reference.html: etc/reference.py $(wildcard etc/man/*.scd) $(REFERENCE_PROGRAM)
	@mkdir -p $(@D)
	@if command -v python3 >/dev/null; then etc/reference.py $@ $(REFERENCE_PROGRAM); else : >$@; fi
$(O)/obj/doc/reference.html.o: $(O)/doc/reference.html
	@mkdir -p $(@D)
	$(call say,ld ,$<)cd $(O) && ld -r -b binary -z noexecstack -o obj/doc/reference.html.o doc/reference.html

$(O)/obj/daemon/runner/%.c.o $(O)/obj/daemon/families/%.c.o: EXTRA = $(CUDA_DEF) -fopenmp
ifdef SANITIZE
# References and estimators compute for most of the time of their tests, and inputs are drawn for most of that of the runner's.
$(call obj,$(REFERENCES)): EXTRA = $(CUDA_DEF) -fopenmp -O2
$(call obj,daemon/model/inputs.c): EXTRA = -O2
$(call obj,$(STATS_SRC)): EXTRA = -O2
endif

# The table of families, FAMILY(name) a line, written again if a folder is added or removed.
$(shell mkdir -p build && for f in $(FAMILIES); do echo "FAMILY($$f)"; done | cmp -s - build/families.h || for f in $(FAMILIES); do echo "FAMILY($$f)"; done >build/families.h)

-include $(shell find $(O)/obj $(O)/tests -name '*.d' 2>/dev/null) $(if $(SANITIZE),$(shell find build/obj -name '*.cu.d' 2>/dev/null))

# ---- tests ---------------------------------------------------------------------------------------------------------
TESTS    := $(patsubst tests/%.c,$(O)/tests/%,$(sort $(wildcard tests/*/test_*.c)))
FUZZ     := $(patsubst tests/%.c,$(O)/tests/%,$(sort $(wildcard tests/*/fuzz_*.c)))

# A test links its program's libraries, as archives or shared: an edit in the daemon links no test of the runner again.
LIBS_lib      := lib
LIBS_stats    := stats lib
LIBS_model    := model stats lib
LIBS_readers  := readers model stats lib
LIBS_profile  := $(CORE)
LIBS_verdict  := verdict readers model stats lib
LIBS_protocol := protocol verdict readers model stats lib
LIBS_families := runner $(CORE)
LIBS_git      := git lib
LIBS_send     := send lib
LIBS_cli      := cli $(CORE)
LIBS_worker   := worker $(CORE)
LIBS_runner   := runner $(CORE)
LIBS_db       := db $(CORE)
LIBS_web      := flopwatchd web db $(CORE)
LIBS_flopwatchd := flopwatchd worker web db $(CORE)
TEST_LIBS := -lseccomp -lgit2 -lcurl -lcrypto -lsqlite3 -lmicrohttpd -lgnutls -ljansson -lyaml -lnettle -llz4 -lzstd -lz $(CUDA_LIB) $(if $(NVCC),-lstdc++) $(if $(LIBFUZZER),,-fopenmp) -ldl -lpthread -lm
archives = $(foreach l,$(or $(LIBS_$(1)),$(LIBS)),$(call lib,$(l)))
define test_rule
$(O)/tests/$(1)/%: tests/$(1)/%.c $(if $(SHARED),| $(patsubst %.a,%.so,$(call archives,$(1))),$(call archives,$(1)))
	@mkdir -p $$(@D)
	$$(call say,cc ,$$<)$$(CC) $$(ALL_CFLAGS) $$(if $$(SANITIZE),$$(TEST_O)) $$(CUDA_DEF) -Itests/support -MMD -MP $$(LINK) $$(SEARCH) -o $$@ $$< \
	  $$(if $$(filter %.a,$$^),-Wl$$(comma)--start-group $$(filter %.a,$$^) -Wl$$(comma)--end-group,-Wl$$(comma)-rpath$$(comma)$(abspath $(O)/lib) -Wl$$(comma)--no-as-needed $$| -Wl$$(comma)--as-needed) -lcmocka $(TEST_LIBS)
endef
$(foreach folder,$(sort $(patsubst tests/%/,%,$(dir $(wildcard tests/*/*.c)))),$(eval $(call test_rule,$(folder))))

# They include a kernel or a reference, which computes for most of their time.
$(O)/tests/runner/test_accept $(O)/tests/kernels/test_linear_cpu: TEST_O := -O2
# A call inside a folder can be replaced only in its archive.
$(O)/tests/bench/bench_page: LINK += -Wl,--wrap=emit_rawf
$(O)/tests/bench/bench_page: $(call archives,bench)
$(O)/tests/runner/test_problem: LINK += -Wl,--wrap=family_find
$(O)/tests/runner/test_problem: $(call archives,runner)
$(O)/tests/cli/test_plain: LINK += -Wl,--wrap=realloc
$(O)/tests/cli/test_plain: $(call archives,cli)
$(O)/tests/cli/test_client: LINK += -Wl,--wrap=curl_easy_perform
$(O)/tests/cli/test_client: $(call archives,cli)
$(O)/tests/flopwatchd/test_session: LINK += -Wl,--wrap=realloc
$(O)/tests/flopwatchd/test_session: $(call archives,flopwatchd)
$(O)/tests/flopwatchd/test_without_memory: LINK += -Wl,--wrap=realloc -Wl,--wrap=yaml_parser_initialize -Wl,--wrap=yaml_parser_parse
$(O)/tests/flopwatchd/test_without_memory: $(call archives,flopwatchd)
$(O)/tests/db/test_archived: LINK += -Wl,--wrap=fdatasync
$(O)/tests/db/test_archived: $(call archives,db)

# Modules that misbehave on purpose, and simple good ones, for the tests of worker and runner. -O1 with vectors is as fast as -O2
# in their loops, and compiles in half the time.
MODULES  := $(patsubst tests/modules/%.c,build/tests/modules/%.so,$(sort $(wildcard tests/modules/*.c)))
build/tests/modules/honest_openmp.so build/tests/modules/honest_settings.so build/tests/modules/honest_locals.so build/tests/modules/cheat_omp.so: MODULE_FLAGS := -fopenmp
build/tests/modules/cheat_watching.so build/tests/modules/cheat_known.so: MODULE_FLAGS := -Idaemon
build/tests/modules/cheat_plan_answer.so: MODULE_FLAGS := -Idaemon daemon/model/inputs.c
build/tests/modules/cheat_task.so: MODULE_FLAGS := -Idaemon $(addprefix daemon/,$(addprefix families/attention/,reference.c reference_mask.c area.c pages.c pattern.c) model/inputs.c lib/err.c lib/mem.c)
build/tests/modules/fake_cudnn.so: MODULE_FLAGS := -Wl,-soname,libcudnn.so.9
build/tests/modules/fake_nvml.so: MODULE_FLAGS := -Wl,-soname,libnvidia-ml.so.1
build/tests/modules/fake_cupti.so: MODULE_FLAGS := -Wl,-soname,libcupti.so.13
build/tests/modules/fake_cupti.so: $(wildcard daemon/runner/*_abi.h)
build/tests/modules/long_tail.so: tests/modules/long.c
build/tests/modules/%.so: tests/modules/%.c tests/modules/good.c $(wildcard tests/modules/*.h kernels/fw_*.h)
	@mkdir -p $(@D)
	$(call say,cc ,$<)$(CC) -std=c17 -D_GNU_SOURCE -O1 -ftree-vectorize -fPIC -shared -fvisibility=hidden -I. -o $@ $< $(MODULE_FLAGS) -lm

# The kernels of this checkout, whose modules for CPUs several tests need.
.PHONY: test-kernels
test-kernels:
	@mkdir -p build/tests/kernels
	@find build/tests/kernels -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
	@find kernels -mindepth 1 -maxdepth 1 ! -name build -exec cp -rpt build/tests/kernels {} +
	@$(MAKE) --no-print-directory -s -C build/tests/kernels DEVICE=cpu all build/cpu/liblayernorm.so

.PHONY: test-programs fuzzers modules
test-programs: $(TESTS) $(FUZZ) $(O)/tests/browser/pages_demo
fuzzers: $(FUZZ)
modules: $(MODULES)

.PHONY: test deps check unit integration coverage check-layers check-format format
# A killed make cannot stop its children: the run ends with its parent.
RUN_TESTS := setpriv --pdeathsig TERM tests/run.sh
test: ## install missing packages, build, run every test; T="history test_stats" those whose names contain one of these
	@$(MAKE) --no-print-directory deps
	@$(RUN_TESTS) $(T)
deps: ## install the packages for building and testing: Debian packages, npm packages for the browser tests
	@etc/install-dependencies.sh test
	@etc/install-browser.sh
check: ## build and run every test, those in C with sanitizers; T= as above
	@$(RUN_TESTS) $(T)
unit: ## build fast and run the tests in C that take less than a second; T=stats all whose names contain it
	@$(RUN_TESTS) unit $(T)
integration: ## build the programs and run the test scripts; T=push those whose names contain it
	@$(RUN_TESTS) integration $(T)
.PHONY: campaign
campaign: all modules ## the reliability campaign: PART="kill power fuzz", HOURS=2 in all (0.5); rows in tests/data/campaign.csv, continued by the next
	@HOURS=$(HOURS) tests/campaign/run.sh $(PART)
coverage: ## build the tests in C with gcov, run them, and report the share of lines and branches that ran, which fails nothing; T= as above, OF="model db" lists the others. ALL=1 also runs the scripts, whose daemons and workers count too
	@mkdir -p build/coverage && find build/coverage -name '*.gcda' -delete
	@$(RUN_TESTS) $(if $(ALL),whole-)coverage $(T); status=$$?; tests/coverage.py build/coverage $(OF) && exit $$status
check-layers: ## the includes of folders against tests/layers.txt; tests/layers.py --figures prints them
	@tests/layers.py
check-format: ## clang-format 14
	@tests/check-format.sh
format: ## reformat the sources
	@tests/check-format.sh --fix
compile_commands.json: Makefile ## for clangd and clang-tidy: how each source is compiled
	@$(MAKE) -Bn V=1 all 2>/dev/null | etc/compile-commands.py >$@.new && mv $@.new $@
.PHONY: tidy
tidy: compile_commands.json ## clang-tidy 14 with .clang-tidy; T=worker/ the sources whose path contains it. Ten minutes on two cores
	@git ls-files 'daemon/*.c' 'db/*.c' 'web/*.c' | grep -F -- "$(T)" | xargs -P "$$(nproc)" -n 4 clang-tidy-14 --quiet -p . 2>/dev/null
.PHONY: analyze
analyze: all compile_commands.json ## gcc -fanalyzer, one source at a time; T= as above. etc/analyze.txt lists suppressed findings
	@etc/analyze.py $(T)
.PHONY: hooks
hooks: ## install etc/commit-msg, which checks the subjects of commits, as a hook of this clone
	@install -m 755 etc/commit-msg "$$(git rev-parse --git-path hooks)/commit-msg"

# ---- running it ----------------------------------------------------------------------------------------------------
.PHONY: npm screenshots picture
npm: ## the chart library and the modules of the browser tests, from npm; then make again
	@etc/install-browser.sh
screenshots: ## every page at three widths, light and dark, under build/screenshots; PAGES="job queue"; OF=../old of that checkout, for comparison
	@etc/install-browser.sh
	@$(MAKE) --no-print-directory -j2 $(if $(OF),-C $(OF)) build/tests/browser/pages_demo
	@OF=$(OF) tests/browser/screenshots.sh $(PAGES)
picture: ## doc/comparison.svg, drawn from a recorded comparison
	@$(MAKE) --no-print-directory -j2 build/tests/web/test_picture
	@PICTURE=doc/comparison.svg build/tests/web/test_picture
.PHONY: demo bench gpu-bench gpu-verdicts gpu-demo gpu-check gpu-linear gpu-linear-fp8 gpu-linear-peers gpu-integrity gpu-modules gpu-interleave gpu-prime gpu-package bundle reference install uninstall clean help
demo: ## a daemon, a pushed regression, a harmless push, a dashboard; DEMO_EXIT=1 ends by itself
	@etc/install-dependencies.sh demo
	@$(MAKE) --no-print-directory -j2 all
	@etc/demo.sh
bench: ## print the program's results on this machine, one a line
	@etc/install-dependencies.sh test
	@$(MAKE) --no-print-directory -j2 all
	@tests/bench/bench.sh
gpu-bench: ## our kernels against PyTorch's on this GPU, one table; results under tests/data/gpu. MODULE=x.so PEERS="options of peers.py"
	@[ -n "$(MODULE)" ] || $(MAKE) --no-print-directory -C kernels DEVICE=cuda
	@tests/gpu/peers.py $(or $(MODULE),kernels/build/cuda/libattention.so) --out build/gpu-bench $(PEERS)
	@cp build/gpu-bench/* tests/data/gpu/
gpu-verdicts: bundle ## the daemon judges equal and slower kernels on this GPU; results under tests/data/gpu. MODULES=folder of built ones
	@MODULES=$(MODULES) tests/gpu/verdicts.sh build/bundle build/gpu-verdicts
	@cp build/gpu-verdicts/*.jsonl tests/data/gpu/
gpu-interleave: bundle ## interleaved programs on this GPU, against the pairs of one process; results under tests/data/gpu. PYTHON=one with PyTorch and Triton
	@tests/gpu/interleave.sh build/bundle build/gpu-interleave
	@for file in interleave.jsonl interleave.txt; do cp build/gpu-interleave/$$file tests/data/gpu/$$(date +%F)-$$file; done
gpu-prime: ## plain and primed times of host-bound calls on this GPU; within 120 s. PYTHON=one with PyTorch and Triton
	@tests/gpu/prime.sh build/gpu-prime
gpu-demo: bundle ## the daemon builds and judges real pushes on this GPU
	@tests/gpu/daemon.sh build/bundle build/gpu-demo
gpu-package: bundle ## daemon and worker as two users, by the ExecStart of their units, judge a push on this GPU. As root; within 120 s
	@tests/gpu/package.sh build/bundle build/gpu-package
gpu-check: build/gpu/attention_check build/gpu/linear_check build/gpu/layernorm_check ## every CUDA provider against the fp64 reference, on this GPU
	@$(MAKE) --no-print-directory -C kernels DEVICE=cuda
	@build/gpu/attention_check kernels/build/cuda/libattention.so
	@build/gpu/linear_check kernels/build/cuda/liblinear.so
	@build/gpu/layernorm_check kernels/build/cuda/liblayernorm.so
build/gpu/attention_check: $(wildcard tests/gpu/*.cuh) daemon/model/inputs.c
build/gpu/linear_check build/gpu/layernorm_check: tests/support/linear_reference.h
build/gpu/%: tests/gpu/%.cu $(wildcard kernels/fw_*.h)
	@[ -n "$(NVCC)" ] || { echo "no CUDA toolkit that compiles a program was found" >&2; exit 1; }
	@mkdir -p $(@D)
	$(call say,nvcc,$<)$(NVCC) -O3 -std=c++17 $(NVCC_ARCH) -Idaemon -I. -Xcompiler -fopenmp$(if $(filter x86_64,$(shell uname -m)),$(comma)-march=x86-64-v3) -o $@ $< -ldl
gpu-linear: build/gpu/linear_bench ## the linear providers against fp64 and cuBLASLt, on this GPU
	@$(MAKE) --no-print-directory -C kernels DEVICE=cuda build/cuda/liblinear.so
	@build/gpu/linear_bench kernels/build/cuda/liblinear.so check
	@build/gpu/linear_bench kernels/build/cuda/liblinear.so time all hopper cublaslt
gpu-linear-fp8: build/gpu/linear_fp8 ## the cells of suite linear-fp8 against provider cpu, with rates, on this GPU; within 60 s
	@$(MAKE) --no-print-directory -C kernels DEVICE=cuda build/cuda/liblinear.so
	@$(MAKE) --no-print-directory -C kernels build/cpu/liblinear.so
	@build/gpu/linear_fp8 kernels/build/cuda/liblinear.so kernels/build/cpu/liblinear.so
gpu-linear-peers: ## our linear kernels against cuBLASLt's and PyTorch's on this GPU, one table. PEERS="options of linear_peers.py"
	@$(MAKE) --no-print-directory -C kernels DEVICE=cuda build/cuda/liblinear.so
	@tests/gpu/linear_peers.py kernels/build/cuda/liblinear.so $(PEERS)
build/gpu/linear_bench: tests/gpu/linear_bench.cu tests/gpu/linear_problem.cuh kernels/fw_kernel.h kernels/fw_linear.h
	@[ -n "$(NVCC)" ] || { echo "no CUDA toolkit that compiles a program was found" >&2; exit 1; }
	@mkdir -p $(@D)
	$(call say,nvcc,$<)$(NVCC) -O2 -std=c++17 $(NVCC_ARCH) -Ikernels -o $@ $< -ldl
gpu-integrity: bundle gpu-modules ## modules that cheat on this GPU are detected, honest ones are not, and the cost of changing K and V. BASE=module
	@MODULES=build/gpu/modules tests/gpu/integrity.sh build/bundle build/gpu-integrity
gpu-modules: $(patsubst tests/gpu/modules/%.cu,build/gpu/modules/%.so,$(wildcard tests/gpu/modules/*.cu)) ## the modules of gpu-integrity; building them needs no GPU
build/gpu/modules/%.so: tests/gpu/modules/%.cu $(wildcard tests/gpu/modules/*.cuh) tests/modules/forgery.h $(wildcard kernels/fw_*.h)
	@[ -n "$(NVCC)" ] || { echo "no CUDA toolkit that compiles a program was found" >&2; exit 1; }
	@mkdir -p $(@D)
	$(call say,nvcc,$<)$(NVCC) -O2 -std=c++17 $(NVCC_ARCH) -I. -Xcompiler -fPIC$(comma)-fvisibility=hidden$(comma)-Wall -shared -o $@ $<
	@strip -s $@
bundle: all ## build/bundle and its tarball: programs with their libraries, licences and SBOM, for another machine
	@VERSION=$(VERSION) STATIC="$(patsubst -l%,%,$(filter -l%,$(STATIC) $(SECCOMP))) $(if $(NVCC),stdc++ cudart_static)" CUDA_LIBRARIES=$(CUDA_LIBRARIES) \
	  etc/bundle.sh build/bundle
reference: build/bin/flopwatch ## build/doc/reference: the man pages and the verbs as Markdown
	@etc/reference.py build/doc/reference build/bin/flopwatch
install: all ## into DESTDIR, FHS paths
	@PREFIX=$(PREFIX) etc/install.sh
uninstall: ## from DESTDIR, the files of make install; a changed file, the state and the users stay
	@PREFIX=$(PREFIX) etc/uninstall.sh

# ---- packages ------------------------------------------------------------------------------------------------------
.PHONY: dist deb check-deb check-container check-images first-hour images
dist: ## build/dist/flopwatch-VERSION.tar.gz: the last commit, the same bytes each time
	@VERSION=$(VERSION) etc/dist.sh
deb: dist ## build/deb/flopwatch_VERSION_ARCH.deb, of that tarball, and its SBOM; it measures on a GPU if a CUDA toolkit works during the build
	@VERSION=$(VERSION) etc/deb.sh
	@VERSION=$(VERSION) SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) etc/sbom.py deb build/deb/flopwatch_$(VERSION)_*.deb
check-deb: deb ## lintian on the package; in a bare Debian that boots: install, measure, upgrade and purge it. As root, with lintian and mmdebstrap
	@tests/lint/deb_in_bare_root.sh
first-hour: ## tests/data/first-hour.md: the commands of README in that bare Debian, until three repositories have a verdict. As root
	@tests/lint/first_hour_in_bare_root.sh >build/first-hour.md && mv build/first-hour.md tests/data/first-hour.md
check-container: ## build etc/Containerfile on the bare Debian of check-deb, and request a page. As root, with buildah
	@tests/lint/container_runs.sh
images: bundle ## build/images: container images of daemon and worker with their SBOM; SIGN_KEY= signs it. With mmdebstrap
	@VERSION=$(VERSION) SIGN_KEY=$(SIGN_KEY) etc/images.sh
check-images: ## build the images twice: the same bytes; both run and judge a push. As root, with mmdebstrap
	@$(MAKE) --no-print-directory bundle
	@tests/lint/images_run.sh
clean: ## remove build/
	rm -rf build
help: ## this list
	@sed -nE 's/^([a-z-]+):.*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 16
