# SPDX-License-Identifier: ISC
# Thin, over meson. `make` builds into build/; the programs there run as they
# stand.
#
#   make            build
#   make demo       the whole thing at work, in a directory of its own
#   make test       all tests        make test SANITIZE=1   unit tests, ASan+UBSan
#   make fuzz       a minute of each fuzz target, with clang
#   make bench      measurements     make install           as a system service

# Counts when build/ is made.
PREFIX = /usr/local
# Debian's own: another python in PATH may lack meson.
MESON = $(shell command -v /usr/bin/meson || echo meson)
PYTHON = /usr/bin/python3

all: build/build.ninja
	@ninja -C build

build/build.ninja:
	@sh tools/depends.sh build
	@$(MESON) setup build --prefix $(PREFIX) >/dev/null || \
		{ tail -n 20 build/meson-logs/meson-log.txt >&2; exit 1; }

demo:
	@sh tools/depends.sh build run demo
	@$(MAKE) --no-print-directory all
	@$(PYTHON) demo/demo.py build

ifdef SANITIZE
test:
	@sh tools/depends.sh build
	@test -f build-sanitized/build.ninja || $(MESON) setup build-sanitized \
		-Db_sanitize=address,undefined -Db_lundef=false >/dev/null
	@ninja -C build-sanitized
	@$(PYTHON) tests/run.py --build build-sanitized --only unit,fuzz
else
test:
	@sh tools/depends.sh build run test
	@$(MAKE) --no-print-directory all
	@$(PYTHON) tests/run.py --build build $(if $(ONLY),--only $(ONLY))
endif

fuzz:
	@sh tools/depends.sh build
	@sh tests/fuzz/run.sh

bench:
	@sh tools/depends.sh build run test
	@$(MAKE) --no-print-directory all
	@sh tests/bench/run.sh build

install: all
	sh tools/users.sh
	$(MESON) install -C build --no-rebuild

clean:
	rm -rf build build-fuzz build-sanitized

.PHONY: all demo test fuzz bench install clean
