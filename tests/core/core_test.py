#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The real core between a supervisor, a keep, couriers and a yard that the
rig plays: what it asks, runs, delivers, keeps and gives back."""
import ctypes
import mmap
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
import rig as r  # noqa: E402
from rig import Rig  # noqa: E402
from tap import Skip, main  # noqa: E402

BUILD = os.environ.get("SANDCASTLE_BUILD") or os.path.join(
    HERE, "..", "..", "build")
CORE = os.path.join(BUILD, "sandcastle-core")


def config(*names, interval="100ms", extra="", top="",
           capabilities="[image.preview]", host="example.org"):
    lines = ["sources:"]
    for name in names:
        lines += [f"  {name}:", f"    url: https://{name}.{host}",
                  f"    capabilities: {capabilities}",
                  f"    poll_interval: {interval}"]
        if extra:
            lines.append("    " + extra)
    return "\n".join(lines) + "\n" + top


class Source:
    """Hands out the jobs of a list, stores every result."""

    def __init__(self, rig, *jobs):
        self.rig, self.jobs = rig, list(jobs)
        self.reply = lambda claim: claim.stored()
        rig.source = self

    def __call__(self, claim):
        if claim.verb == r.RESULT:
            self.reply(claim)
        elif self.jobs:
            job = self.jobs.pop(0)
            claim.job(job) if isinstance(job, str) else job(claim)
        else:
            claim.nothing()


class castle:
    """A rig that is closed at the end, whatever happens."""

    def __init__(self, text=None, state=None):
        self.rig = Rig(text or config("photos"), CORE, state)

    def __enter__(self):
        return self.rig

    def __exit__(self, *_):
        self.rig.close()


def results(rig, n, seconds=10):
    rig.until(lambda: len(rig.results) >= n, seconds, f"{n} results")
    return [claim.said() for claim in rig.results]


def a_job_goes_through():
    with castle() as rig:
        Source(rig, lambda c: c.job("job-1", b'{"a":1}', lease="L"))
        seen = []
        rig.run = lambda box: (seen.append(box.content),
                               box.end(output=b'{"out":1}'))
        rig.start()
        assert results(rig, 1) == ["succeeded"]
        result = rig.results[0]
        assert seen == [b'{"a":1}'], seen
        assert result.id == "job-1" and result.lease == "L"
        assert result.ticket == b"job-1".ljust(32, b"#")
        assert result.output == result.ticket + b'{"out":1}'
        assert result.deadline_ms == 30000
        first = rig.claims[0]
        assert re.fullmatch("[0-9a-f]{32}", first.claim_id)
        assert first.capabilities == 1 and first.seconds > 60
        n = len(rig.claims)
        rig.until(lambda: len(rig.claims) >= n + 3)
        ids = [claim.claim_id for claim in rig.claims]
        assert ids[1] != ids[0], "a new claim_id after a 200"
        assert len(set(ids[1:])) == 1, "the same one after a 204"
        gaps = [b.at - a.at for a, b in zip(rig.claims[1:], rig.claims[2:])]
        assert min(gaps) > 0.09, gaps


def an_unreachable_source_is_asked_later_each_time():
    with castle() as rig:
        rig.source = lambda c: c.answer(r.UNREACHABLE, trouble=3)
        rig.start()
        rig.until(lambda: len(rig.claims) == 5, 10)
        at = [claim.at for claim in rig.claims]
        gaps = [b - a for a, b in zip(at, at[1:])]
        for n, gap in enumerate(gaps, 1):
            most = 0.1 * 2 ** n
            assert 0.79 * most < gap < most + 0.15, (n, gaps)
        assert len({claim.claim_id for claim in rig.claims}) == 1
        time.sleep(0.3)
        rig.turn()
        source = rig.status()["sources"][0]
        assert source["state"] == "backoff", source
        assert source["backoff_ms"] > 2000, source
        assert source["trouble"] == "it refuses the connection", source
        assert rig.log_text().count("refuses the connection") == 1
        rig.source = lambda c: c.nothing()
        rig.until(lambda: "answers again" in rig.log_text(), 5)


def no_valid_job_is_answered_and_never_run():
    with castle() as rig:
        Source(rig,
               lambda c: c.answer(r.BAD_JOB, http=200, error=17, job_id="bad",
                                  capability=r.NO_CAPABILITY),
               lambda c: c.answer(r.BAD_JOB, http=200, error=2, job_id="big",
                                  capability=r.NO_CAPABILITY),
               lambda c: c.job("other", capability=r.DOCUMENT),
               lambda c: c.job("unknown", capability=r.NO_CAPABILITY))
        rig.start()
        said = results(rig, 4)
        assert said == ["failed bad_job", "failed 2", "failed not_asked",
                        "failed not_asked"], said
        assert [x.id for x in rig.results] == ["bad", "big", "other",
                                               "unknown"]
        assert rig.boxes == 0
        assert len({c.claim_id for c in rig.claims[:4]}) == 4


def how_a_box_ended_is_the_outcome():
    ends = [(r.VERDICT, 4, "failed bad_content"), (r.SILENT, 0,
            "failed crashed"), (r.TIME, 0, "failed timeout"),
            (r.MEMORY, 0, "failed too_heavy"), (r.FOREIGN, 0,
            "released restarted")]
    with castle() as rig:
        Source(rig, *[f"job-{i}" for i in range(len(ends))])
        waiting = list(ends)

        def run(box):
            how, verdict, _ = waiting.pop(0)
            box.end(how, verdict)

        rig.run = run
        rig.start()
        assert results(rig, len(ends)) == [e[2] for e in ends]


def a_box_that_cannot_be_made_rests_its_capability():
    with castle(config("photos", capabilities="[image.preview, image.text]")
                ) as rig:
        Source(rig, "job-1")
        rig.run = lambda box: box.end(r.UNMADE)
        rig.start()
        assert results(rig, 1) == ["released capability_resting"]
        assert 50 <= rig.results[0].retry_after <= 60
        n = len(rig.claims)
        rig.until(lambda: len(rig.claims) > n + 1)
        assert rig.claims[-1].capabilities == 1 << r.IMAGE_TEXT
        rig.pause(0.3)
        state = rig.status()["capabilities"][0]
        assert not state["usable"] and 50 < state["resting_for"] <= 60, state


def a_missing_program_rests_until_a_reload():
    with castle() as rig:
        Source(rig, "job-1")
        rig.run = lambda box: box.end(r.MISSING)
        rig.start()
        assert results(rig, 1) == ["released capability_resting"]
        n = len(rig.claims)
        rig.pause(0.5)
        assert len(rig.claims) == n, "asked for what cannot be run"
        rig.configure(rig.config)
        rig.link(r.PEER_YARD)
        rig.until(lambda: len(rig.claims) > n)


def the_third_suspect_release_is_the_last():
    with castle() as rig:
        Source(rig, "poison", "fine", "poison", "poison")
        rig.run = lambda box: box.end(
            *(() if box.ticket.startswith(b"fine") else (r.FOREIGN,)),
            output=b"{}")
        rig.start()
        said = results(rig, 4)
        assert said == ["released restarted", "succeeded",
                        "released restarted", "failed gave_up"], said


def killed_while_a_job_runs_it_is_given_back_first():
    with castle() as rig:
        Source(rig, "job-1")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        rig.kill()
        began = time.monotonic()
        rig.start(has_crashed=True)
        rig.until(lambda: rig.results)
        assert time.monotonic() - began < 1
        assert not rig.claims, "asked before it delivered"
        result = rig.results[0]
        assert (result.id, result.said()) == ("job-1", "released restarted")
        assert result.ticket == b"job-1".ljust(32, b"#")
        assert rig.status()["sources"][0]["hour_used"] == 1


def the_third_crash_with_a_job_is_its_last():
    with castle() as rig:
        said = []
        for crash in range(4):
            Source(rig, *["job-1"] * (crash < 3))
            rig.run = lambda box: None
            rig.start(has_crashed=crash > 0)
            if crash:
                said += results(rig, 1)
            if crash < 3:
                rig.until(lambda: rig.box)
                rig.kill()
        assert said == ["released restarted", "released restarted",
                        "failed crashed_worker"], said


def a_result_is_resent_byte_for_byte_until_it_is_stored():
    with castle() as rig:
        output = os.urandom(300000)
        source = Source(rig, "job-1")
        source.reply = lambda c: None
        rig.run = lambda box: box.end(output=output)
        rig.start()
        rig.until(lambda: rig.results)
        rig.kill()
        source.reply = lambda c: c.answer(r.ANSWERED, http=503)
        rig.start()
        rig.until(lambda: rig.results)
        rig.pause(0.3)
        assert rig.status()["sources"][0]["outbox"] == 1
        assert not rig.claims
        rig.kill()
        source.reply = lambda c: c.stored()
        rig.start()
        rig.until(lambda: rig.results and rig.claims)
        result = rig.results[0]
        assert result.said() == "succeeded" and result.id == "job-1"
        assert result.output == b"job-1".ljust(32, b"#") + output
        assert len(rig.results) == 1
        rig.kill()
        rig.start()
        rig.until(lambda: rig.claims)
        rig.pause(0.3)
        assert not rig.results, "sent again after it was stored"


def what_a_source_says_to_a_result():
    with castle() as rig:
        source = Source(rig, "big", "refused", "gone", "odd", "mixed")
        told = {"big": [(r.ANSWERED, 413), (r.STORED, 200)],
                "refused": [(r.ANSWERED, 400)],
                "gone": [(r.ANSWERED, 401), (r.NOT_CONTRACT, 200),
                         (r.GONE, 409)],
                "odd": [(r.ANSWERED, 429), (r.ANSWERED, 413),
                        (r.ANSWERED, 413)],
                "mixed": [(r.MISMATCH, 0)]}
        source.reply = lambda c: c.answer(
            told[c.id][0][0], http=told[c.id].pop(0)[1])
        rig.start()
        said = list(zip(results(rig, 10, 20),
                        [x.id for x in rig.results]))
        assert said == [("succeeded", "big"),
                        ("failed output_too_large", "big"),
                        ("succeeded", "refused"), ("succeeded", "gone"),
                        ("succeeded", "gone"), ("succeeded", "gone"),
                        ("succeeded", "odd"), ("succeeded", "odd"),
                        ("failed output_too_large", "odd"),
                        ("succeeded", "mixed")], said
        rig.until(lambda: rig.status()["sources"][0]["parked"] == 3)
        assert "NOT sent" in rig.log_text()
        rig.kill()
        rig.start()
        rig.until(lambda: rig.claims)
        assert not rig.results, "a parked result was sent"
        rig.pause(0.4)
        assert rig.status()["sources"][0]["parked"] == 3


def a_bad_output_is_recorded_as_such():
    with castle() as rig:
        source = Source(rig, "job-1")
        source.reply = lambda c: c.answer(r.STORED, http=200, error=18)
        rig.start()
        results(rig, 1)
        rig.until(lambda: "failed bad_output" in rig.log_text())
        rig.pause(0.3)
        jobs = rig.status()["sources"][0]["jobs"]
        assert jobs == {"succeeded": 0, "failed": 1, "released": 0}, jobs


def an_unusable_secret_has_no_growing_delay():
    with castle(config("good", "bad")) as rig:
        rig.opened = {"bad": 7}
        rig.start()
        rig.pause(1.5)
        source = [s for s in rig.status()["sources"] if s["name"] == "bad"][0]
        assert source["state"] == "no_secret", source
        assert source["backoff_ms"] == 0
        assert "secret cannot be used" in source["trouble"], source
        asked = [c.at for c in rig.claims if c.source == "good"]
        assert len(asked) >= 10, [a - asked[0] for a in asked]
        rig.opened = {}
        n = len(rig.claims)
        rig.until(lambda: any(c.source == "bad" for c in rig.claims[n:]), 0.5)


def without_a_keep_nothing_fails():
    with castle() as rig:
        source = Source(rig, "job-1")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        rig.end_keep()
        rig.box.end(output=b"{}")
        rig.pause(0.4)
        assert rig.status()["keep"] == "down"
        rig.link(r.PEER_KEEP)
        assert results(rig, 1, 1) == ["succeeded"]
        # With a claim in flight: lost, and asked again without a delay.
        source.jobs = [lambda c: None]
        n = len(rig.claims)
        rig.until(lambda: len(rig.claims) > n and rig.open)
        rig.end_keep()
        rig.pause(0.05)
        rig.link(r.PEER_KEEP)
        n = len(rig.claims)
        rig.until(lambda: len(rig.claims) > n, 1)
        rig.pause(0.3)
        assert rig.status()["sources"][0]["backoff_ms"] == 0


def slow_sources_hold_nobody_back():
    names = [f"slow-{i}" for i in range(5)]
    with castle(config(*names, "good")) as rig:
        rig.source = lambda c: c.source == "good" and c.nothing()
        rig.start()
        rig.until(lambda: len(rig.open) == 5, 5)
        first = [c for c in rig.claims if c.source == "good"]
        assert not first or first[0].at - rig.claims[0].at < 1.3
        rig.pause(2)
        times = [c.at for c in rig.claims if c.source == "good"]
        gaps = [b - a for a, b in zip(times, times[1:])]
        assert len(times) > 12 and max(gaps) < 0.3, gaps
        # The jobs of the late come while one runs: one at a time.
        rig.run = lambda box: None
        late = list(rig.open)
        for claim in late:
            claim.job("of-" + claim.source)
        rig.open = []
        rig.until(lambda: rig.box)
        while len(rig.results) < 5:
            rig.until(lambda: rig.box or len(rig.results) == 5)
            if rig.box:
                rig.box.end(output=b"{}")
            rig.source = lambda c: (c.stored() if c.verb == r.RESULT
                                    else c.nothing())
        assert sorted(x.id for x in rig.results) == \
            sorted("of-" + name for name in names)
        assert all(x.id == "of-" + x.source for x in rig.results)


def the_hour_is_full_also_after_a_restart():
    with castle(config("photos", extra="max_jobs_per_hour: 3")) as rig:
        Source(rig, *[f"job-{i}" for i in range(9)])
        rig.start()
        results(rig, 3)
        n = len(rig.claims)
        rig.pause(0.6)
        assert len(rig.claims) == n == 3
        rig.kill()
        rig.start()
        rig.pause(0.6)
        assert not rig.claims, "a restart does not empty the hour"
        source = rig.status()["sources"][0]
        assert source["state"] == "hour_full" and source["hour_used"] == 3
        assert 3500000 < source["next_ask_in_ms"] <= 3601000, source


def idle_it_ends_at_once():
    with castle() as rig:
        rig.source = lambda c: None  # a claim is in flight
        rig.start()
        rig.until(lambda: rig.open)
        began = time.monotonic()
        rig.stop()
        assert rig.ended() == 0
        assert time.monotonic() - began < 0.1, time.monotonic() - began


def it_finishes_and_delivers_before_it_ends():
    with castle() as rig:
        Source(rig, "job-1", "job-2")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        rig.stop()
        rig.pause(0.3)
        assert rig.process.poll() is None
        assert rig.status()["state"] == "draining"
        rig.box.end(output=b"{}")
        assert rig.ended() == 0
        assert [x.said() for x in rig.results] == ["succeeded"]
        assert len(rig.claims) == 1


def after_drain_timeout_the_job_is_given_back():
    with castle(config("photos", top="drain_timeout: 1s\n")) as rig:
        Source(rig, "job-1")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        began = time.monotonic()
        rig.stop()
        assert rig.ended() == 0
        assert 0.9 < time.monotonic() - began < 2
        assert [x.said() for x in rig.results] == ["released stopping"]


def told_twice_it_gives_back_at_once():
    with castle() as rig:
        Source(rig, "job-1")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        rig.stop()
        rig.pause(0.1)
        began = time.monotonic()
        rig.stop(urgent=True)
        assert rig.ended() == 0
        assert time.monotonic() - began < 1
        assert [x.said() for x in rig.results] == ["released stopping"]


def a_reload_interrupts_nothing():
    with castle(config("photos", "gone")) as rig:
        Source(rig, "job-1")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        of = rig.results
        owner = rig.claims[-1].source
        other = "gone" if owner == "photos" else "photos"
        rig.configure(config("new", owner))
        rig.link(r.PEER_YARD)
        rig.pause(0.3)
        assert rig.box, "the box was interrupted"
        rig.box.end(output=b"{}")
        rig.until(lambda: of)
        assert of[0].said() == "succeeded" and of[0].source == owner
        rig.until(lambda: any(c.source == "new" for c in rig.claims))
        n = len(rig.claims)
        rig.pause(0.5)
        assert not any(c.source == other for c in rig.claims[n:])
        assert any(c.source == owner for c in rig.claims[n:])


def the_result_of_a_removed_source_is_kept():
    with castle(config("photos", "other")) as rig:
        Source(rig, lambda c: c.job("kept") if c.source == "photos"
               else c.nothing())
        source = rig.source
        source.jobs *= 2
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        rig.configure(config("other"))
        rig.link(r.PEER_YARD)
        rig.box.end(output=b"{}")
        rig.pause(0.5)
        assert not rig.results
        # The name comes back for another place: nothing is sent there.
        rig.configure(config("photos", "other", host="elsewhere.org"))
        rig.pause(0.5)
        assert not rig.results
        assert "kept and not sent to https://photos.elsewhere.org" in \
            rig.log_text(), rig.log_text()
        rig.configure(config("photos", "other"))
        assert results(rig, 1) == ["succeeded"]
        assert rig.results[0].source == "photos"


def a_courier_that_lies_harms_only_its_source():
    def nonsense(claim):
        r.send(claim.link, b"x" * 436)
        claim.close()

    def wrong_size(claim):
        os.pwrite(claim.letter, bytes(100), 0)
        claim.answer(r.JOB, job_id="a", size=5)

    def wrong_verb(claim):
        claim.answer(r.STORED, http=200)

    def bad_id(claim):
        claim.answer(r.JOB, job_id="a\nb", size=0)

    def cut(claim):
        claim.close()

    with castle(config("liar", "good")) as rig:
        lies = [nonsense, wrong_size, wrong_verb, bad_id, cut]

        def source(claim):
            if claim.source == "good":
                claim.nothing()
            elif lies:
                lies.pop(0)(claim)
            else:
                claim.nothing()

        rig.source = source
        rig.start()
        rig.until(lambda: not lies, 15)
        assert rig.process.poll() is None and not rig.boxes
        times = [c.at for c in rig.claims if c.source == "good"]
        gaps = [b - a for a, b in zip(times, times[1:])]
        assert max(gaps) < 0.3, gaps
        assert not rig.results


def a_letter_that_someone_can_still_write_is_not_believed():
    with castle() as rig:
        maps = []

        def keep_mapped(claim):
            os.ftruncate(claim.letter, 4096)
            maps.append(mmap.mmap(claim.letter, 4096))
            claim.answer(r.JOB, http=200, job_id="a", size=4096 - 32)

        Source(rig, keep_mapped)
        rig.start()
        rig.until(lambda: maps)
        rig.pause(0.5)
        assert not rig.boxes and not rig.results
        trouble = rig.status()["sources"][0]["trouble"]
        assert trouble in ("", "the exchange failed on this side")
        assert "failed on this side" in rig.log_text()


def a_dead_yard_costs_its_job_one_suspicion():
    with castle() as rig:
        Source(rig, "job-1", "job-2")
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        rig.box.is_over = True
        rig.box = None
        rig.links.pop(r.PEER_YARD).close()
        assert results(rig, 1) == ["released restarted"]
        n = len(rig.claims)
        rig.pause(0.4)
        assert len(rig.claims) == n, "asked while there is no yard"
        rig.run = lambda box: box.end(output=b"{}")
        rig.link(r.PEER_YARD)
        assert results(rig, 2)[1] == "succeeded"


def a_yard_that_left_before_its_job_came():
    """The core finds out when it hands the job over; or just before, and
    then holds the job for a yard that does not come."""
    with castle() as rig:
        def leave(claim):
            claim.job("job-1")
            rig.links.pop(r.PEER_YARD).close()

        Source(rig, leave)
        rig.start()
        assert results(rig, 1, 40)[0] in ("released restarted",
                                          "released busy")
        assert not rig.boxes and rig.process.poll() is None


def letters_of(rig):
    """MiB of the letters that the core holds."""
    if os.geteuid() != 0:
        raise Skip("needs root, to see the fds of an undumpable process")
    total = 0
    for fd in os.listdir(f"/proc/{rig.process.pid}/fd"):
        path = f"/proc/{rig.process.pid}/fd/{fd}"
        try:
            if "/memfd:" in os.readlink(path):
                total += os.stat(path).st_blocks * 512
        except FileNotFoundError:
            pass
    return total >> 20


def a_source_that_takes_no_result_holds_no_memory():
    """Its job has its outcome; what else it had is let go of, or any number
    of sources could each keep 64 MiB for days."""
    content = b'{"a":"' + b"x" * (40 << 20) + b'"}'
    handed = set()
    with castle(config("a", "b", "c")) as rig:
        def source(claim):
            if claim.verb == r.RESULT:
                claim.answer(r.ANSWERED, http=500)
            elif claim.source in handed:
                claim.nothing()
            else:
                handed.add(claim.source)
                claim.job("not-asked", content, capability=r.DOCUMENT)

        rig.source = source
        rig.start()
        rig.until(lambda: {c.source for c in rig.results} == {"a", "b", "c"})
        rig.pause(0.2)
        assert letters_of(rig) == 0, letters_of(rig)
        assert {c.said() for c in rig.results} == {"failed not_asked"}


def a_result_that_waits_waits_on_disk():
    output = b'{"a":"' + b"y" * (20 << 20) + b'"}'
    with castle() as rig:
        source = Source(rig, "job-1")
        source.reply = lambda c: c.answer(r.UNREACHABLE, trouble=3)
        rig.run = lambda box: box.end(output=output)
        rig.start()
        rig.until(lambda: len(rig.results) == 2)
        rig.pause(0.1)
        assert letters_of(rig) == 0, letters_of(rig)
        source.reply = lambda c: c.stored()
        rig.until(lambda: len(rig.results) == 3)
        assert [c.output == c.ticket + output for c in rig.results] == [
            True] * 3
        claims = len(rig.claims)
        rig.until(lambda: len(rig.claims) > claims, 5, "asked again")


def a_box_that_others_end_is_not_the_jobs_fault():
    with castle() as rig:
        Source(rig, "job-1")
        rig.run = lambda box: box.end(r.ORDER)
        rig.start()
        assert results(rig, 1) == ["released stopping"]


def a_stale_or_busy_keep_is_asked_again_soon():
    with castle(config("photos", interval="5s")) as rig:
        rig.opened = {"photos": 2}
        rig.start()
        rig.pause(0.2)
        rig.opened = {}
        rig.until(lambda: rig.claims, 2)


def journal_of(rig):
    return os.path.join(rig.directory, "state", "journal.db")


def start_refused(rig):
    ended = subprocess.run(
        [CORE, "--state", rig.directory + "/state", "--run",
         rig.directory + "/run"], capture_output=True, text=True, timeout=20,
        env={})
    return ended.returncode, ended.stderr


def a_journal_that_cannot_be_used_is_said_so():
    with castle() as rig:
        path = journal_of(rig)
        with open(path, "wb") as file:
            file.write(b"this is no database, " * 1000)
        status, said = start_refused(rig)
        assert status == 1 and path in said and "cannot be" in said, said
        os.unlink(path)
        rig.start()
        rig.until(lambda: rig.claims)
        assert os.stat(path).st_mode & 0o777 == 0o600
        rig.kill()
        book = sqlite3.connect(path)
        book.execute("PRAGMA user_version=99")
        book.close()
        status, said = start_refused(rig)
        assert status == 1 and "version 99" in said, said
    with castle() as rig:
        os.rmdir(rig.directory + "/state")
        status, said = start_refused(rig)
        assert status == 1 and rig.directory + "/state" in said, said


def nothing_deleted_stays_in_the_journal():
    with castle() as rig:
        Source(rig, "job-1")
        marker = b"MARKER-OF-AN-OUTPUT" * 1000
        rig.run = lambda box: box.end(output=marker)
        rig.start()
        results(rig, 1)
        rig.pause(1.6)
        for name in os.listdir(rig.directory + "/state"):
            with open(f"{rig.directory}/state/{name}", "rb") as file:
                assert b"MARKER-OF-AN-OUTPUT" not in file.read(), name


def no_input_is_ever_written_down():
    with castle() as rig:
        marker = b"MARKER-OF-AN-INPUT" * 1000
        Source(rig, lambda c: c.job("job-1", marker))
        rig.run = lambda box: None
        rig.start()
        rig.until(lambda: rig.box)
        for name in os.listdir(rig.directory + "/state"):
            with open(f"{rig.directory}/state/{name}", "rb") as file:
                assert b"MARKER-OF-AN-INPUT" not in file.read(), name
        rig.box.end(output=b"{}")
        results(rig, 1)


def a_full_disk_loses_nothing():
    if os.geteuid() != 0:
        raise Skip("needs root, to mount a small tmpfs")
    libc = ctypes.CDLL(None, use_errno=True)
    directory = tempfile.mkdtemp(prefix="core-full-")
    state = directory + "/state"
    os.mkdir(state)
    if libc.mount(b"tmpfs", state.encode(), b"tmpfs", 0, b"size=3m"):
        shutil.rmtree(directory)
        raise Skip("cannot mount a tmpfs")
    try:
        with castle(state=directory) as rig:
            output = os.urandom(4 << 20)
            with open(state + "/filler", "wb") as file:
                file.write(bytes(1536 << 10))
            source = Source(rig, "small", "large")
            rig.run = lambda box: box.end(
                output=b"{}" if box.ticket.startswith(b"small") else output)
            told = []

            def reply(claim):
                told.append(claim.id)
                if claim.id == "large" and told.count("large") < 3:
                    claim.answer(r.ANSWERED, http=503)
                else:
                    claim.stored()

            source.reply = reply
            rig.start()
            # It does not fit: delivered from memory meanwhile.
            said = results(rig, 4, 20)
            assert said == ["succeeded"] * 4, said
            assert rig.results[3].output[32:] == output
            assert "journal cannot be written" in rig.log_text()
            rig.until(lambda: len(rig.claims) > 2, 15)
            assert "can be written again" in rig.log_text()
            rig.kill()
            book = sqlite3.connect(journal_of(rig))
            assert book.execute("PRAGMA integrity_check").fetchone() == \
                ("ok",)
            assert book.execute("SELECT count(*) FROM outbox").fetchone() \
                == (0,)
            book.close()
            # Full to the last block: what runs was written down before.
            source.jobs = [f"job-{i}" for i in range(40)]
            held = []

            def run(box):
                book = sqlite3.connect(journal_of(rig))
                held.append(book.execute(
                    "SELECT id, is_running FROM held").fetchall())
                book.close()
                assert len(held[-1]) == 1 and held[-1][0][1] == 1, held
                box.end(output=output[:100000])

            rig.run = run
            before = len(rig.log_text())
            rig.start()
            rig.until(lambda: "cannot be written" in
                      rig.log_text()[before:], 15)
            rig.until(lambda: rig.results, 5)
            assert rig.process.poll() is None
            os.unlink(state + "/filler")
            n = len(held)
            rig.until(lambda: len(held) > n + 3, 25)
    finally:
        libc.umount2(state.encode(), 2)
        shutil.rmtree(directory, ignore_errors=True)


def it_never_reads_or_maps_an_input():
    if os.geteuid() != 0:
        raise Skip("needs root, to name the fds of an undumpable process")
    if not shutil.which("strace"):
        raise Skip("needs strace")
    with castle() as rig:
        size = 30 << 20
        Source(rig, lambda c: c.job("job-1", bytes(size)))
        rig.run = lambda box: box.end(output=b"{}" * 500)
        trace = rig.directory + "/trace"
        rig.start(wrap=["strace", "-f", "-y", "-o", trace])
        results(rig, 1, 30)
        rig.stop()
        rig.ended(20)
        with open(trace, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
        named = [line for line in lines if "/memfd:input" in line]
        calls = {re.match(r"\d+ +(\w+)", line).group(1) for line in named}
        assert named, "the trace shows no input"
        harmless = {"memfd_create", "fcntl", "fstat", "newfstatat", "statx",
                    "close", "sendmsg", "openat", "recvmsg"}
        assert calls <= harmless, calls - harmless
        output = [line for line in lines if "pread64" in line and
                  "/memfd:output" in line]
        assert output, "the control: it does read the output"


def behind_its_walls():
    with castle() as rig:
        rig.start()
        rig.until(lambda: rig.claims)
        pid = rig.process.pid
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            status = dict(line.split(":\t", 1) for line in file
                          if ":\t" in line)
        assert status["NoNewPrivs"].strip() == "1"
        assert status["Seccomp"].strip() == "2"
        with open(f"/proc/{pid}/limits", encoding="ascii") as file:
            limits = file.read()
        assert re.search(r"Max core file size\s+0\s+0", limits), limits
        # Undumpable: its files under /proc belong to root.
        assert os.stat(f"/proc/{pid}/environ").st_uid == 0
        assert resource.prlimit(pid, resource.RLIMIT_NPROC) == (0, 0)


if __name__ == "__main__":
    main([a_job_goes_through,
          an_unreachable_source_is_asked_later_each_time,
          no_valid_job_is_answered_and_never_run,
          how_a_box_ended_is_the_outcome,
          a_box_that_cannot_be_made_rests_its_capability,
          a_missing_program_rests_until_a_reload,
          the_third_suspect_release_is_the_last,
          killed_while_a_job_runs_it_is_given_back_first,
          the_third_crash_with_a_job_is_its_last,
          a_result_is_resent_byte_for_byte_until_it_is_stored,
          what_a_source_says_to_a_result,
          a_bad_output_is_recorded_as_such,
          an_unusable_secret_has_no_growing_delay,
          without_a_keep_nothing_fails,
          slow_sources_hold_nobody_back,
          the_hour_is_full_also_after_a_restart,
          idle_it_ends_at_once,
          it_finishes_and_delivers_before_it_ends,
          after_drain_timeout_the_job_is_given_back,
          told_twice_it_gives_back_at_once,
          a_reload_interrupts_nothing,
          the_result_of_a_removed_source_is_kept,
          a_courier_that_lies_harms_only_its_source,
          a_letter_that_someone_can_still_write_is_not_believed,
          a_dead_yard_costs_its_job_one_suspicion,
          a_yard_that_left_before_its_job_came,
          a_source_that_takes_no_result_holds_no_memory,
          a_result_that_waits_waits_on_disk,
          a_box_that_others_end_is_not_the_jobs_fault,
          a_stale_or_busy_keep_is_asked_again_soon,
          a_journal_that_cannot_be_used_is_said_so,
          nothing_deleted_stays_in_the_journal,
          no_input_is_ever_written_down,
          a_full_disk_loses_nothing,
          it_never_reads_or_maps_an_input,
          behind_its_walls])
