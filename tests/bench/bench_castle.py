#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Figures of a whole castle, as lines "metric NAME VALUE"."""
import base64
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "e2e"), os.path.join(HERE, "..", "source")]
from castle import Castle
from sources import Authority, Honest, Server
from tap import eventually

TICK = os.sysconf("SC_CLK_TCK")
AUTHORITY = Authority()


def cpu_s(castle):
    """CPU of all processes, those that have ended included."""
    total = 0
    for pid in castle.pids():
        try:
            with open(f"/proc/{pid}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(int(x) for x in fields[11:15])
    return total / TICK


def memory_kib(castle, part, key):
    pids = castle.pids(part) if part else castle.pids()
    total = 0
    for pid in pids:
        path = f"/proc/{pid}/" + (
            "smaps_rollup" if key == "Pss" else "status")
        try:
            with open(path) as f:
                total += next(int(line.split()[1]) for line in f
                              if line.startswith(key + ":"))
        except (OSError, StopIteration):
            pass
    return total


def begin(castle, sources, **keys):
    castle.configure("sources:\n" + "".join(
        castle.source_config(name, server.url, ["image.preview"],
                             ca_file=AUTHORITY.ca, **keys)
        for name, server in sources.items()))
    for name in sources:
        castle.secret(name, "TOKEN")
    castle.start()


def polls():
    print("# poll.cold_cpu_ms: CPU of all processes of sandcastle for one "
          "empty poll over a new TLS connection on loopback, mean over about "
          "150 polls; the server's own CPU is not in it.")
    server = Server(Honest(), AUTHORITY.context())
    with Castle() as castle:
        begin(castle, {"one": server}, poll_interval="100ms")
        eventually(lambda: len(server.requests) > 10, 30, "warmed up")
        before, asked = cpu_s(castle), len(server.requests)
        time.sleep(20)
        used, asked = cpu_s(castle) - before, len(server.requests) - asked
        print(f"metric poll.cold_cpu_ms {1000 * used / asked:.1f}")
        castle.stop()
    server.close()


def idle():
    print("# idle.*: three sources asked every 30 s; PSS of all processes, "
          "median of 20 looks between polls; CPU over 40 s.")
    servers = {f"s{i}": Server(Honest(), AUTHORITY.context())
               for i in range(3)}
    with Castle() as castle:
        begin(castle, servers, poll_interval="30s")
        eventually(lambda: all(s.requests for s in servers.values()), 30,
                   "all were asked")
        time.sleep(2)
        looks, before, started = [], cpu_s(castle), time.monotonic()
        for _ in range(20):
            looks.append(memory_kib(castle, None, "Pss"))
            time.sleep(2)
        seconds = time.monotonic() - started
        print(f"metric idle.pss_mib {statistics.median(looks) / 1024:.1f}")
        print("metric idle.cpu_s_per_min "
              f"{60 * (cpu_s(castle) - before) / seconds:.3f}")
        castle.stop()
    for server in servers.values():
        server.close()


def input_growth():
    print("# core.input_growth_kib: what one job with a 30 MiB input adds to "
          "the peak memory (VmHWM) of core and keep.")
    source = Honest()
    server = Server(source, AUTHORITY.context())
    data = base64.b64encode(os.urandom(22 << 20)).decode()
    with Castle() as castle:
        begin(castle, {"one": server}, poll_interval="200ms")
        eventually(lambda: len(server.requests) > 3, 30, "warmed up")
        before = {p: memory_kib(castle, p, "VmHWM") for p in ("core", "keep")}
        source.add(id="large", capability="image.preview",
                   input={"data": data})
        result = eventually(lambda: source.done.get("large"), 60, "a result")
        assert result["error"]["code"] == "bad_content", result
        growth = sum(memory_kib(castle, p, "VmHWM") - before[p]
                     for p in before)
        print(f"metric core.input_growth_kib {growth}")
        castle.stop()
    server.close()


if __name__ == "__main__":
    chosen = sys.argv[1:] or ["polls", "idle", "input_growth"]
    for name in chosen:
        globals()[name]()
    sys.stdout.flush()
    os._exit(0)
