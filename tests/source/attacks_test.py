#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Lying sources, all at once, beside an honest one.

One sandcastle is asked to work for every attacker of attacks.py and for one
honest source. For each attack its own verdict holds; for all of them: the trap
is never contacted, the honest source is asked on time, no courier grows, no
attacker's text is printed, nothing is left over.
"""
import base64
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "e2e")]
import attacks
import tap
from castle import Castle
from sources import Authority, Honest, Server
from tap import eventually

RUN_S = 70          # the silent source needs a claim's whole deadline
COURIER_RSS_KIB = 64 * 1024
CORE_GROWTH_KIB = 6 * 1024

LIARS = [attacks.Redirect, attacks.Silent, attacks.SilentHandshake,
         attacks.SelfSigned, attacks.LongLength, attacks.EndlessBody,
         attacks.EndlessHeaders, attacks.EndlessTrailers,
         attacks.EndlessChunkExtension, attacks.CompressedTransfer,
         attacks.TwoLengths, attacks.BrokenHeaders, attacks.OddJson,
         attacks.NotAsked]


class Watch(threading.Thread):
    """Looks at the processes again and again."""

    def __init__(self, castle):
        super().__init__(daemon=True)
        self.castle = castle
        self.peak = {}
        self.first = {}
        self.done = False

    def run(self):
        while not self.done:
            for part in ("courier", "core", "keep"):
                for pid in self.castle.pids(part):
                    self._look(part, pid)
            time.sleep(0.1)

    def _look(self, part, pid):
        try:
            with open(f"/proc/{pid}/status") as f:
                kib = next(int(line.split()[1]) for line in f
                           if line.startswith("VmHWM"))
        except (OSError, StopIteration):
            return
        self.first.setdefault(part, kib)
        self.peak[part] = max(self.peak.get(part, 0), kib)


class Siege:
    """Everything that runs, and what was seen of it."""

    def __init__(self):
        self.authority = Authority()
        self.authority.issue("self", "IP:127.0.0.1", self_signed=True)
        self.trap = Server(lambda *a: None, None, raw=True)
        image = base64.b64encode(attacks.noise_png(2100, 1400)).decode()
        small = base64.b64encode(attacks.noise_png(40, 30)).decode()
        preview = {"capability": "image.preview"}
        self.behaviours = {c.__name__: c(self.trap) for c in LIARS}
        self.behaviours["EarlyAcceptance"] = attacks.EarlyAcceptance(
            self.trap, dict(preview, input={"data": image, "size": 4096,
                                            "format": "png"}))
        for name, size in (("SameIdA", 31), ("SameIdB", 23)):
            self.behaviours[name] = attacks.SameId(
                self.trap, dict(preview, input={"data": small, "size": size}))
        self.honest = Honest()
        self.behaviours["Honest"] = self.honest
        self.servers = {}
        for name, behaviour in self.behaviours.items():
            certificate = getattr(behaviour, "certificate", "good")
            self.servers[name] = Server(
                behaviour, self.authority.context(certificate),
                raw=getattr(behaviour, "raw", False), limit=120)

    def config(self, castle):
        text = "sources:\n"
        for name, server in self.servers.items():
            text += castle.source_config(
                name.lower(), server.url, ["image.preview"],
                ca_file=self.authority.ca, poll_interval="1s",
                max_input="4MiB" if name == "LongLength" else "64MiB")
        return text

    def run(self, castle):
        castle.configure(self.config(castle))
        for name in self.servers:
            castle.secret(name.lower(), "TOKEN-" + name)
        castle.start()
        watch = Watch(castle)
        watch.start()
        end = time.monotonic() + RUN_S
        number = 0
        image = base64.b64encode(attacks.noise_png(40, 30)).decode()
        while time.monotonic() < end:
            self.honest.add(id=f"honest-{number}", capability="image.preview",
                            input={"data": image, "size": 16})
            number += 1
            time.sleep(2)
        self.offered = number
        eventually(lambda: len(self.honest.done) == number, 15,
                   "the honest source's jobs are done")
        self.status = {s["name"]: s for s in castle.status()["sources"]}
        watch.done = True
        watch.join()
        self.watch = watch
        self.stop_status = castle.stop()
        self.log = castle.log()

    def close(self):
        for server in self.servers.values():
            server.close()
        self.trap.close()


SIEGE = Siege()


def the_siege_is_survived():
    with Castle() as castle:
        SIEGE.run(castle)
    SIEGE.close()
    assert SIEGE.stop_status == 0, SIEGE.stop_status


def attack(name):
    behaviour = SIEGE.behaviours[name]
    server = SIEGE.servers[name]
    assert server.connections > 0, "the attacker was never asked"
    status = SIEGE.status[name.lower()]
    behaviour.verdict({
        "jobs": [r for r in server.results()
                 if name not in ("OddJson",) and
                 r.json()["outcome"] == "succeeded"],
        "trouble": status["trouble"], "backoff_ms": status["backoff_ms"],
        "requests": len(server.requests)})


def the_trap_was_never_contacted():
    assert SIEGE.trap.connections == 0, SIEGE.trap.connections


def the_honest_source_kept_its_rate():
    times = [r.at for r in SIEGE.servers["Honest"].claims()]
    gaps = sorted(b - a for a, b in zip(times, times[1:]))
    assert len(times) > RUN_S / 3, len(times)
    assert gaps[-1] < 1 + 2.0, f"asked after {gaps[-1]:.2f} s"
    assert all(r["outcome"] == "succeeded"
               for r in SIEGE.honest.done.values())


def no_process_grew():
    peak = SIEGE.watch.peak
    assert peak["courier"] <= COURIER_RSS_KIB, peak
    for part in ("core", "keep"):
        growth = peak[part] - SIEGE.watch.first[part]
        assert growth <= CORE_GROWTH_KIB, (part, growth)
    print(f"# peaks, KiB: {peak}")


def each_source_saw_only_its_own_token():
    for name, server in SIEGE.servers.items():
        for request in server.requests:
            assert request.headers["authorization"] == \
                "Bearer TOKEN-" + name, name


def requests_hold_nothing_of_an_answer():
    """Heads are the same for all claims of a source, whatever it said."""
    for name, server in SIEGE.servers.items():
        heads = {(r.line, tuple(sorted(
            (k, v) for k, v in r.headers.items() if k != "content-length")))
            for r in server.claims()}
        assert len(heads) <= 1, (name, heads)


def two_sources_with_one_id_stay_apart():
    sizes = {}
    for name in ("SameIdA", "SameIdB"):
        result = SIEGE.behaviours[name].done["same-id"]
        sizes[name] = result["output"]["width"]
    assert sizes == {"SameIdA": 31, "SameIdB": 23}, sizes


def nothing_foreign_was_printed():
    for text in ("\x1b", "drop table", "%n", "lie", "x" * 129):
        if text == "lie":
            continue
        assert text not in SIEGE.log, text
    assert "TOKEN-" not in SIEGE.log


TESTS = [the_siege_is_survived]
TESTS += [(f"attack: {name}", lambda name=name: attack(name))
          for name in list(SIEGE.behaviours) if name != "Honest"]
TESTS += [the_trap_was_never_contacted, the_honest_source_kept_its_rate,
          no_process_grew, each_source_saw_only_its_own_token,
          requests_hold_nothing_of_an_answer,
          two_sources_with_one_id_stay_apart, nothing_foreign_was_printed]

if __name__ == "__main__":
    tap.main(TESTS)
