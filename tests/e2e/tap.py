# SPDX-License-Identifier: ISC
"""Test functions, run one after another and reported as TAP."""
import sys
import time
import traceback


class Skip(Exception):
    """Raised by a test that cannot run on this machine, with the reason."""


def main(tests):
    """Runs functions or (name, function) pairs; exits 1 if one failed.

    Arguments on the command line choose tests by a part of their name.
    """
    wanted = sys.argv[1:]
    chosen = []
    for test in tests:
        name, function = test if isinstance(test, tuple) else (
            test.__name__.replace("_", " "), test)
        if not wanted or any(w in name for w in wanted):
            chosen.append((name, function))
    print(f"1..{len(chosen)}")
    failed = 0
    for number, (name, function) in enumerate(chosen, 1):
        started = time.monotonic()
        try:
            function()
            line = f"ok {number} - {name}"
        except Skip as reason:
            line = f"ok {number} - {name} # SKIP {reason}"
        except BaseException:
            failed += 1
            line = f"not ok {number} - {name}"
            for text in traceback.format_exc().splitlines():
                print("# " + text)
        print(f"{line}" if "# SKIP" in line else
              f"{line} ({time.monotonic() - started:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


def eventually(condition, seconds=10.0, what="condition"):
    """Waits until condition() is true; gives its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.02)
