#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Runs the suites and prints the closing line "N passed, N failed, N skipped".

Every suite is a program that speaks TAP ("ok", "not ok", "# SKIP reason").
A suite that ends without its plan, by a signal, or not in time is a failure.
The programs under test are copied to a directory that every user can reach,
so that suites can run them as root, as three users or as a plain user.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
# Suites that start sandcastle as a plain user, and once more as root.
BOTH_WAYS = ("e2e/recovery", "e2e/trouble")
# As meson.build installs them.
UNREADABLE = ("sandcastle-core", "sandcastle-courier", "sandcastle-keep")
TEST_LINE = re.compile(r"^(ok|not ok)\b\s*\d*\s*-?\s*(.*)$")


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.notes = []

    def add(self, suite, output, status, timed_out):
        planned = None
        seen = failed_here = 0
        for line in output.splitlines():
            plan = re.match(r"^1\.\.(\d+)", line)
            if plan:
                planned = int(plan.group(1))
            match = TEST_LINE.match(line)
            if not match:
                continue
            seen += 1
            if match.group(1) == "not ok":
                failed_here += 1
                self.notes.append(f"FAILED  {suite}: {match.group(2)}")
            elif "# skip" in line.lower():
                self.skipped += 1
                self.notes.append(f"skipped {suite}: {match.group(2)}")
            else:
                self.passed += 1
        broken = None
        if timed_out:
            broken = "did not end in time"
        elif planned is None or seen != planned:
            broken = f"{seen} of {planned} planned tests reported"
        elif seen == 0:
            broken = "it tests nothing"
        elif status != 0 and failed_here == 0:
            broken = f"ended with status {status}"
        if broken:
            failed_here += 1
            self.notes.append(f"FAILED  {suite}: {broken}")
        self.failed += failed_here
        return failed_here == 0


def stage(build):
    """A copy of the programs that any user may run, as an installation has
    them."""
    target = tempfile.mkdtemp(prefix="sandcastle-test-")
    os.chmod(target, 0o755)
    for path in glob.glob(os.path.join(build, "sandcastle*")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            shutil.copy2(path, target)
    for name in UNREADABLE:
        path = os.path.join(target, name)
        if os.path.exists(path):
            os.chmod(path, 0o711)
    return target


def suites(build, only):
    found = []
    for path in sorted(glob.glob(f"{build}/tests/unit/test_*")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            name = "unit/" + os.path.basename(path)[5:]
            found.append((name, [path], 120))
    for path in sorted(glob.glob(f"{build}/tests/fuzz/replay_*")):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            name = os.path.basename(path)[7:]
            found.append(("fuzz/" + name,
                          [path, f"{HERE}/fuzz/corpus/{name}"], 120))
    path = f"{build}/tests/simulate/simulate"
    if os.path.exists(path):
        found.append(("core/simulate", [path, "--steps", "10000000"], 300))
    for name in ("layers", "links", "style"):
        path = f"{HERE}/{name}.sh"
        if os.path.exists(path):
            found.append((f"house/{name}", ["sh", path, build], 120))
    for room in ("box", "core", "courier", "e2e", "source"):
        for path in sorted(glob.glob(f"{HERE}/{room}/*_test.py")):
            name = f"{room}/" + os.path.basename(path)[:-8]
            found.append((name, [sys.executable, path], 600))
            if name in BOTH_WAYS and os.geteuid() == 0:
                found.append((name + "-as-root", [
                    "env", "SANDCASTLE_MODE=root", sys.executable, path], 600))
    return [s for s in found if s[0].startswith(tuple(only.split(",")))]


def run(suite, environment):
    name, command, limit = suite
    started = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL, env=environment, cwd=ROOT)
        try:
            status = process.wait(limit)
            timed_out = False
        except subprocess.TimeoutExpired:
            process.kill()
            status = process.wait()
            timed_out = True
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return text, status, timed_out, time.monotonic() - started


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--only", default="",
                        help="beginnings of names of suites, with commas")
    arguments = parser.parse_args()
    build = os.path.abspath(arguments.build)
    staged = stage(build)
    environment = dict(os.environ, SANDCASTLE_BUILD=staged,
                       SANDCASTLE_TESTS=os.path.join(build, "tests"),
                       CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONUNBUFFERED="1",
                       PYTHONDONTWRITEBYTECODE="1")
    tally = Tally()
    chosen = suites(build, arguments.only)
    try:
        for suite in chosen:
            text, status, timed_out, took = run(suite, environment)
            good = tally.add(suite[0], text, status, timed_out)
            print(f"{'ok    ' if good else 'FAILED'} {suite[0]}"
                  f"  ({took:.1f} s)", flush=True)
            if not good:
                print("\n".join("    " + line
                                for line in text.splitlines()[-80:]),
                      flush=True)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    if not chosen:
        tally.failed += 1
        tally.notes.append(f"FAILED  no suite begins with {arguments.only!r}")
    if tally.notes:
        print("\n".join(tally.notes))
    print(f"{tally.passed} passed, {tally.failed} failed, "
          f"{tally.skipped} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
