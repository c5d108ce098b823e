# Thin: each target is one or two commands that can also be typed by hand (CONTRIBUTING.md).
BUILD := build
PROGRAM := $(BUILD)/flashdiffusion
BENCH := $(BUILD)/flashdiffusion-bench
JOBS ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu 2>/dev/null || echo 2)
PREFIX ?= /usr/local
SECONDS_EACH ?= 60# of `make fuzz`, a target

.PHONY: all setup ready configure build cuda demo test test-gpu bench python wheel sanitize fuzz format install clean
.NOTPARALLEL:

all: build

setup:
	@tools/setup --tests

ready:
	@tools/setup --check || tools/setup

configure: ready
	@cmake --preset release --log-level=WARNING

build: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target flashdiffusion_program flashdiffusion_bench

# With the back-end for NVIDIA GPUs; nvcc comes from PyPI where the system has none.
cuda: ready
	@cmake --preset release --log-level=WARNING -DFD_CUDA=ON -DFD_NVCC=$$(tools/cuda $(BUILD))
	@cmake --build $(BUILD) --parallel $(JOBS) --target flashdiffusion_program flashdiffusion_bench

demo: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target flashdiffusion_program
	@$(PROGRAM) demo --output $(BUILD)

# What the Python tests import is fetched while the compiler works; ctest takes it from there. One test more than cores: some of them wait, for a
# browser, a clock or another process.
test: configure
	@tools/setup --tests --check || tools/setup --tests || echo "the report is not tested in a browser"
	@tools/python $(BUILD) packages >$(BUILD)/python-packages.log 2>&1 & cmake --build $(BUILD) --parallel $(JOBS); built=$$?; wait; exit $$built
	@ctest --test-dir $(BUILD) --output-on-failure --parallel $$(($(JOBS) + 1))

test-gpu: configure
	@cmake --build $(BUILD) --parallel $(JOBS)
	@tools/test-gpu $(BUILD)

bench: build
	@$(BENCH) xgemm

python wheel: configure
	@cmake --build $(BUILD) --parallel $(JOBS) --target libflashdiffusion.a
	@tools/python $(BUILD) $(filter wheel,$@)

sanitize: ready
	@tools/sanitize asan $(JOBS)
	@tools/sanitize tsan $(JOBS)

fuzz: configure
	@JOBS=$(JOBS) tools/fuzz $(SECONDS_EACH)

format:
	@tools/format

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf $(BUILD)
