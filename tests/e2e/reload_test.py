#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Reloads and stops at bad moments: no job is lost or blamed, all parts end
up in one generation, and the supervisor sleeps."""
import base64
import os
import shutil
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "source"))
import tap
from attacks import noise_png
from castle import BUILD, Castle
from sources import Honest, Server
from tap import Skip, eventually
from thread_test import AUTHORITY, start

# For some seconds of OCR.
LONG = {"data": base64.b64encode(noise_png(1900, 1900)).decode()}

# A core that would not put a second generation in force.
STUBBORN_CORE = """#!/usr/bin/python3
import socket, struct
link = socket.socket(fileno=3)
link.setblocking(True)
first = None
while True:
    order, fds, _, _ = socket.recv_fds(link, 32, 2)
    if not order:
        break
    magic, verb, sequence, generation = struct.unpack("<4I", order[:16])
    first = first or generation
    if verb == 2 and generation != first:
        break
    if verb < 3:
        link.send(struct.pack("<4I512x", magic, 100, sequence, generation))
"""


def running(castle):
    try:
        return castle.status()["job"]
    except OSError:
        return None


def with_a_long_job(test):
    source = Honest()
    source.add(id="long", capability="image.text", input=LONG)
    server = Server(source, AUTHORITY.context())
    with Castle() as castle:
        start(castle, server, capabilities=("image.text",))
        eventually(lambda: running(castle), 20, "running")
        test(castle, source)
    server.close()


def many_reloads_end_no_job():
    def test(castle, source):
        for generation in (2, 3, 4):
            castle.command("reload", check=True)
            eventually(lambda: f"generation {generation} is in force" in
                       castle.log(), 30, "reloaded")
        eventually(lambda: "long" in source.done, 60, "the job's end")
        assert source.done["long"]["outcome"] == "succeeded", source.done
        assert source.releases == []
        # One yard, and its process outside.
        eventually(lambda: len(castle.pids("yard")) == 2, 20, "old yards end")
        assert castle.stop() == 0
    with_a_long_job(test)


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def a_keep_that_ends_during_a_stop_costs_nothing():
    def test(castle, source):
        # However quick the machine, the job is not over before the test is.
        drivers = castle.pids("driver")
        for pid in drivers:
            os.kill(pid, signal.SIGSTOP)
        castle.process.send_signal(signal.SIGTERM)
        eventually(lambda: "draining" in castle.log(), 10, "draining")
        for pid in castle.pids("keep"):
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.3)
        before = processor_seconds(castle.process.pid)
        time.sleep(1)
        spent = processor_seconds(castle.process.pid) - before
        assert spent < 0.1, f"{spent} s of a second"
        for pid in drivers:
            os.kill(pid, signal.SIGCONT)
        assert castle.stop() == 0
    with_a_long_job(test)


def a_core_that_hangs_cannot_keep_it_from_stopping():
    with Castle() as castle:
        castle.configure("sources:\n" + castle.source_config(
            "photos", "https://127.0.0.1:9", ["image.preview"]))
        castle.start()
        for pid in castle.pids("core"):
            os.kill(pid, signal.SIGSTOP)
        castle.process.send_signal(signal.SIGTERM)
        eventually(lambda: "finishing" in castle.log(), 5, "the first signal")
        castle.process.send_signal(signal.SIGTERM)
        assert castle.process.wait(25) == 0
        assert "sandcastle-core does not end" in castle.log(), castle.log()


def a_part_that_does_not_commit_is_started_again():
    build = tempfile.mkdtemp(prefix="sandcastle-build-")
    os.chmod(build, 0o755)
    for name in os.listdir(BUILD):
        if name.startswith("sandcastle") and \
                os.path.isfile(os.path.join(BUILD, name)):
            shutil.copy(os.path.join(BUILD, name), build)
    with open(os.path.join(build, "sandcastle-core"), "w") as f:
        f.write(STUBBORN_CORE)
    os.chmod(os.path.join(build, "sandcastle-core"), 0o755)
    with Castle(build=build) as castle:
        castle.configure("sources:\n" + castle.source_config(
            "photos", "https://127.0.0.1:9", ["image.preview"]))
        castle.start()
        castle.command("reload", check=True)
        eventually(lambda: "sandcastle-core runs again" in castle.log(), 20,
                   "a core of the new generation")
        log = castle.log()
        assert "generation 2 is in force" in log, log
        assert "nothing changed" not in log, log
        eventually(lambda: len(castle.pids("yard")) == 2, 20, "old yard ends")
    shutil.rmtree(build)


def a_reload_during_the_start_is_no_end():
    """From the moment in which the lock is held, a reload is heard."""
    strace = shutil.which("strace")
    if strace is None:
        raise Skip("needs strace")
    with Castle() as castle:
        castle.configure("sources:\n" + castle.source_config(
            "photos", "https://127.0.0.1:9", ["image.preview"]))
        prefix = castle._prefix
        castle._prefix = lambda: prefix() + [
            strace, "-qq", "-o", "/dev/null", "-e", "trace=flock", "-e",
            "inject=flock:signal=SIGHUP:when=1"]
        castle.start()
        eventually(lambda: "generation 2 is in force" in castle.log(), 20,
                   "the reload")
        # strace would leave it alive.
        for pid in castle.pids("supervisor"):
            os.kill(pid, signal.SIGTERM)
        assert castle.process.wait(20) == 0


if __name__ == "__main__":
    tap.main([many_reloads_end_no_job,
              a_keep_that_ends_during_a_stop_costs_nothing,
              a_core_that_hangs_cannot_keep_it_from_stopping,
              a_part_that_does_not_commit_is_started_again,
              a_reload_during_the_start_is_no_end])
