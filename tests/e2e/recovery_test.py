#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""kill -9 of each process during a job, and the books of the source after.

The outcome is read from what the source was told, never from our own log.
"""
import base64
import os
import pty
import signal
import sys
import time
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "source")]
import tap
from attacks import noise_png
from castle import Castle
from sources import Honest, Server
from tap import eventually
from thread_test import AUTHORITY, png, start

SMALL = {"data": base64.b64encode(png(60, 40)).decode(), "size": 32}
# About half a second of work in the box.
LARGE = {"data": base64.b64encode(noise_png(2400, 2000)).decode(),
         "size": 4000, "format": "png"}


class Run:
    """A castle, an honest source, and the end of both."""

    def __init__(self, behaviour=None, **keys):
        self.source = behaviour or Honest()
        self.server = Server(self.source, AUTHORITY.context())
        self.castle = Castle()
        self.keys = keys

    def __enter__(self):
        start(self.castle, self.server, **self.keys)
        return self

    def __exit__(self, kind, value, trace):
        self.server.close()
        self.castle.__exit__(kind, value, trace)

    def job(self, name, input):
        self.source.add(id=name, capability="image.preview", input=input)

    def wait_running(self):
        """Not the yard's test box, which has a driver too."""
        return eventually(lambda: self._has_job() and
                          self.castle.pids("driver"), 20, "a box runs")

    def _has_job(self):
        try:
            return self.castle.status()["job"]
        except OSError:
            return None

    def result(self, name, seconds=30):
        return eventually(lambda: self.source.done.get(name), seconds,
                          f"result of {name}")


def kill(pids):
    assert pids, "nothing to kill"
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def killed(part):
    """The part dies while a job runs; the job ends once, and the next one is
    done as if nothing had been."""
    with Run() as run:
        run.job("first", LARGE)
        run.wait_running()
        victims = run.castle.pids(part)
        if part == "yard":
            # The outer process: its end must take the inner one along.
            victims = [min(victims)]
        kill(victims)
        result = run.result("first")
        assert result["outcome"] == "succeeded", result
        run.job("second", SMALL)
        assert run.result("second")["outcome"] == "succeeded"
        assert run.source.conflicts == []
        releases = [r["reason"] for r in run.source.releases]
        if part == "core":
            assert releases == ["restarted"], releases
        elif part in ("yard", "init"):
            assert len(releases) == 1, releases
        assert run.castle.stop() == 0


def kill_the_core():
    killed("core")


def kill_the_keep():
    killed("keep")


def kill_the_yard():
    killed("yard")


def kill_the_box():
    killed("init")


def kill_the_courier():
    """During a claim that hangs: the source is asked again."""
    class Slow(Honest):
        hang = True

        def __call__(self, server, conn, request):
            if self.hang:
                time.sleep(30)
            super().__call__(server, conn, request)
    with Run(Slow()) as run:
        couriers = eventually(lambda: run.castle.pids("courier"), 20,
                              "a courier")
        run.source.hang = False
        kill(couriers)
        run.job("after", SMALL)
        assert run.result("after")["outcome"] == "succeeded"
        assert run.castle.stop() == 0


def kill_the_supervisor():
    """Everything dies with it; the next start says released, then works."""
    with Run() as run:
        run.job("first", LARGE)
        run.wait_running()
        pids = run.castle.pids()
        run.castle.kill()
        eventually(lambda: not any(os.path.exists(f"/proc/{p}")
                                   for p in pids), 5, "all are gone")
        started = time.monotonic()
        run.castle.start()
        eventually(lambda: run.source.releases, 20, "released")
        assert time.monotonic() - started < 5
        assert run.source.releases[0]["reason"] == "restarted"
        assert run.source.releases[0]["id"] == "first"
        assert run.result("first")["outcome"] == "succeeded"
        assert run.castle.stop() == 0


def a_result_survives_a_crash():
    """The source refuses results; all is killed; the result comes later,
    byte for byte, though the job never runs again."""
    with Run() as run:
        run.source.result_status = 503
        run.job("kept", SMALL)
        eventually(lambda: run.server.results(), 20, "a first try")
        first = run.server.results()[0].body
        run.castle.kill()
        run.source.result_status = 200
        run.castle.start()
        run.result("kept")
        assert run.server.results()[-1].body == first
        boxes = [r for r in run.server.results()
                 if r.json()["outcome"] == "succeeded"]
        assert len({r.body for r in boxes}) == 1
        assert not run.source.releases, run.source.releases
        assert run.castle.stop() == 0


def delivery_comes_before_claiming():
    with Run() as run:
        run.source.result_status = 503
        run.job("one", SMALL)
        eventually(lambda: run.server.results(), 20, "a try")
        run.job("two", SMALL)
        time.sleep(2)
        after = [r for r in run.server.claims()
                 if r.at > run.server.results()[0].at]
        assert not after, "asked for more while a result is undelivered"
        run.source.result_status = 200
        run.result("two", 60)
        assert run.castle.stop() == 0


def a_lost_answer_costs_nothing():
    """The source commits a claim, the answer is cut; the same claim_id brings
    the same job at the next ask."""
    class Cutting(Honest):
        cuts = 0

        def __call__(self, server, conn, request):
            if request.path.endswith("/v1/claim") and self.waiting and \
                    self.cuts < 1:
                self.cuts += 1
                self._claim(request.json())
                conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: "
                             b"application/json\r\nContent-Length: 5000\r\n"
                             b"\r\n{\"id\":\"cut\",")
                return
            super().__call__(server, conn, request)
    with Run(Cutting()) as run:
        run.job("cut", SMALL)
        assert run.result("cut")["outcome"] == "succeeded"
        assert run.source.cuts == 1
        assert run.castle.stop() == 0


def gone_is_final():
    with Run() as run:
        run.source.result_status = 409
        run.job("stolen", SMALL)
        eventually(lambda: run.server.results(), 20, "a try")
        run.source.result_status = 200
        run.job("next", SMALL)
        run.result("next")
        tries = [r for r in run.server.results()
                 if r.json()["id"] == "stolen"]
        assert len(tries) == 1, len(tries)
        assert run.castle.stop() == 0


def drain_finishes_the_job():
    with Run() as run:
        run.job("last", LARGE)
        run.wait_running()
        run.job("never", SMALL)
        assert run.castle.stop() == 0
        assert run.source.done["last"]["outcome"] == "succeeded"
        assert "never" not in run.source.done


def a_second_signal_releases_now():
    with Run() as run:
        run.job("broken-off", LARGE)
        run.wait_running()
        run.castle.process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        assert run.castle.stop() == 0
        if "broken-off" in run.source.done:
            return  # it was quicker than the signal
        assert run.source.releases[0]["reason"] == "stopping", \
            run.source.releases


def drains_at_a_terminal(act):
    """Runs in front of a terminal; act(terminal) happens during a job, which
    must not notice."""
    with Run() as run:
        run.castle.stop()
        run.job("last", LARGE)
        pid, terminal = pty.fork()
        if pid == 0:
            for number in (signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            argv = run.castle.argv("run")
            os.execvpe(argv[0], argv, {"PATH": os.environ["PATH"]})
        run.castle.process = types.SimpleNamespace(
            pid=pid, kill=lambda: os.kill(pid, signal.SIGKILL),
            wait=lambda: None)
        run.wait_running()
        act(terminal)

        def ended():
            which, status = os.waitpid(pid, os.WNOHANG)
            return which and (status,)
        status, = eventually(ended, 30, "it stops")
        run.castle.process = None
        assert os.waitstatus_to_exitcode(status) == 0, status
        assert run.source.done["last"]["outcome"] == "succeeded", \
            run.source.releases


def an_interrupt_from_the_terminal_drains():
    """^C reaches all in front of the terminal."""
    def interrupt(terminal):
        os.write(terminal, b"\x03")
        try:
            while os.read(terminal, 4096):
                pass
        except OSError:
            pass
    drains_at_a_terminal(interrupt)


def a_terminal_that_goes_away_drains():
    drains_at_a_terminal(os.close)


def the_hour_survives_a_crash():
    with Run(max_jobs_per_hour=2) as run:
        for i in range(4):
            run.job(f"job-{i}", SMALL)
        run.result("job-1")
        run.castle.kill()
        run.castle.start()
        time.sleep(3)
        assert set(run.source.done) == {"job-0", "job-1"}, run.source.done
        state = run.castle.status()["sources"][0]
        assert state["state"] == "hour_full", state
        assert run.castle.stop() == 0


TESTS = [kill_the_core, kill_the_keep, kill_the_yard, kill_the_box,
         kill_the_courier, kill_the_supervisor, a_result_survives_a_crash,
         delivery_comes_before_claiming, a_lost_answer_costs_nothing,
         gone_is_final, drain_finishes_the_job, a_second_signal_releases_now,
         an_interrupt_from_the_terminal_drains,
         a_terminal_that_goes_away_drains, the_hour_survives_a_crash]

if __name__ == "__main__":
    tap.main(TESTS)
