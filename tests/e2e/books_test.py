#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""A stream of jobs through the real queue, while processes are killed.

In the end the queue's books must balance: every job in exactly one final
state, the right one, and no attempt counted for what was no job's fault.
"""
import base64
import os
import random
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "source")]
import tap
from attacks import noise_png
from castle import Castle
from queue_rig import PRODUCER, WORKER, Client, Queue
from tap import eventually
from thread_test import AUTHORITY, png

SEED = int(os.environ.get("SEED", random.randrange(1 << 32)))
PARTS = ("core", "keep", "yard", "init", "driver", "courier", "dialer")
KILLS = 24
# What becomes of a job that was killed three times, though it is innocent.
GIVEN_UP = ("gave_up", "crashed_worker")

GOOD = {"data": base64.b64encode(noise_png(500, 400)).decode(),
        "size": 300, "format": "png"}
BROKEN = {"data": base64.b64encode(png(60, 40)[:200]).decode()}


def kill_one(castle, random_source):
    """SIGKILL to a process of a random part that is there just now."""
    parts = list(PARTS)
    random_source.shuffle(parts)
    for part in parts:
        pids = castle.pids(part)
        if pids:
            try:
                os.kill(random_source.choice(pids), signal.SIGKILL)
            except ProcessLookupError:
                continue
            return part
    return None


def the_books_balance():
    print(f"# SEED={SEED}")
    chance = random.Random(SEED)
    killed = []
    with Queue("--attempts", "3", authority=AUTHORITY) as queue, \
            Castle() as castle:
        producer = Client(queue, PRODUCER)
        castle.configure("sources:\n" + castle.source_config(
            "queue", f"https://127.0.0.1:{queue.port}", ["image.preview"],
            ca_file=AUTHORITY.ca, poll_interval="100ms"))
        castle.secret("queue", WORKER)
        castle.start()
        jobs = {}
        for number in range(30):
            broken = number % 5 == 4
            reply = producer.call("POST", "/v1/jobs", {
                "capability": "image.preview",
                "input": BROKEN if broken else GOOD})
            assert reply.status == 201, reply
            jobs[reply.json()["id"]] = "failed" if broken else "succeeded"
        for number in range(KILLS):
            time.sleep(chance.uniform(0.05, 0.6))
            if number % 8 == 7:
                castle.kill()
                castle.start()
                killed.append("all")
            else:
                killed.append(kill_one(castle, chance))
        print(f"# killed: {killed}")

        def states():
            return {j: producer.job(j) for j in jobs}
        final = eventually(
            lambda: all(s["state"] in ("succeeded", "failed")
                        for s in states().values()) and states(),
            120, "every job is in a final state")
        given_up = 0
        for job, wanted in jobs.items():
            assert final[job]["attempts"] == 1, final[job]
            code = final[job].get("error", {}).get("code")
            if code in GIVEN_UP:
                given_up += 1
                continue
            assert final[job]["state"] == wanted, (wanted, code, job)
            assert code == (None if wanted == "succeeded" else
                            "bad_content"), (code, job)
        # Three kills of its box, or three of the core, end a job.
        assert given_up <= len(killed) // 3, given_up
        assert castle.stop() == 0
    assert len([k for k in killed if k]) > KILLS / 2, killed


if __name__ == "__main__":
    tap.main([the_books_balance])
