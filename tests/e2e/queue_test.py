#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""sandcastle-queue: both APIs, what it refuses, and what it never loses."""
import hashlib
import json
import os
import random
import secrets
import socket
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import warnings

from castle import program
from queue_rig import (OTHER, PRODUCER, STRANGER, TOKENS, WORKER, Queue,
                       SmallDisk, at_once)
from sources import Authority
from tap import eventually, main

AUTHORITY = Authority()
MIB = 1024 * 1024


def run(*arguments):
    """The program, expected to end by itself: (status, what it said)."""
    done = subprocess.run([program("sandcastle-queue"), *arguments],
                          stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=10)
    return done.returncode, (done.stdout + done.stderr).decode()


def raw(queue, text, half_close=False, seconds=10):
    """Bytes on a plain socket; gives what came back until the end."""
    got = b""
    with socket.create_connection((queue.host, queue.port), seconds) as s:
        try:
            s.sendall(text)
            if half_close:
                s.shutdown(socket.SHUT_WR)
            while more := s.recv(65536):
                got += more
        except TimeoutError:
            raise
        except OSError:  # reset, or shut before we came to it
            pass
    return got


def head(path, token, *lines, method="POST"):
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: q",
                        f"Authorization: Bearer {token}", *lines, "",
                        ""]).encode()


# -- starting -----------------------------------------------------------


def a_wrong_command_line_says_what_is_wrong():
    cases = [
        ([], "--db FILE is missing"),
        (["--db", "x"], "--tokens FILE is missing"),
        (["--nonsense"], "unknown option"),
        (["--db", "x", "--tokens", "t", "more"], "takes options only"),
        (["--listen", "localhost:80"], "--listen: must be ADDRESS:PORT"),
        (["--listen", "127.0.0.1:65536"], "--listen: must be ADDRESS:PORT"),
        (["--listen", "[::1:80"], "--listen: must be ADDRESS:PORT"),
        (["--hold", "0"], "--hold: must be seconds"),
        (["--hold", "99999"], "--hold: must be seconds"),
        (["--attempts", "-1"], "--attempts: must be 1 to 100"),
        (["--max-body", "65MiB"], "--max-body: must be a size"),
        (["--keep-done", "week"], "--keep-done: must be a duration"),
        (["--db", "x", "--tokens", "t", "--cert", "c"],
         "--cert and --key belong together"),
        (["--db", "x", "--tokens", "t", "--listen", "0.0.0.0:0"],
         "only a loopback address"),
        (["--db", "x", "--tokens", "t", "--listen", "[::]:0"],
         "only a loopback address"),
    ]
    for arguments, text in cases:
        status, said = run(*arguments)
        assert status == 2 and text in said, (arguments, status, said)
    status, said = run("--help")
    assert status == 0 and "--keep-done" in said
    status, said = run("--version")
    assert status == 0 and said.startswith("sandcastle-queue ")


def files_that_cannot_be_used_are_named():
    with tempfile.TemporaryDirectory() as where:
        def at(name, text=None, mode=0o600):
            path = os.path.join(where, name)
            if text is not None:
                with open(path, "w") as f:
                    f.write(text)
                os.chmod(path, mode)
            return path

        def refused(text, *more, tokens=at("good", TOKENS), db=None):
            status, said = run("--listen", "127.0.0.1:0", "--db",
                               db or at("db"), "--tokens", tokens, *more)
            assert status == 1 and text in said, (text, status, said)
            assert WORKER not in said and "short-token" not in said, said

        refused("mode 0644", tokens=at("open", TOKENS, 0o644))
        refused("No such file", tokens=at("absent"))
        refused("has no token", tokens=at("empty", "# nothing\n"))
        refused("bad:2: a token is 16 to 512",
                tokens=at("bad", "# two\nworker x short-token\n"))
        refused("bad:1: the first word", tokens=at("bad", "boss x " + WORKER))
        refused("bad:1: a name is", tokens=at("bad", "worker X! " + WORKER))
        refused("bad:1: must be: worker", tokens=at("bad", "worker x"))
        refused("this token is in use", tokens=at(
            "bad", f"worker x {WORKER}\nproducer y {WORKER}\n"))
        refused("this name has a token", tokens=at(
            "bad", f"worker x {WORKER}\nworker x {OTHER}\n"))
        refused("has a NUL byte", tokens=at("bad", TOKENS + "\0"))
        refused("--cert", "--cert", at("none.pem"), "--key", at("none.key"))
        refused("with this --cert and --key", "--cert", at("c", "no PEM"),
                "--key", at("k", "no PEM"))
        refused("is not a database", db=at("text", "not SQLite at all" * 99))
        sqlite3.connect(at("foreign")).executescript("create table t(x);")
        refused("is not a database of this version", db=at("foreign"))
        refused("No such file", db=at("absent/db"))


def a_second_instance_on_one_database_is_refused():
    with Queue() as queue:
        status, said = run("--listen", "127.0.0.1:0", "--db", queue.at("db"),
                           "--tokens", queue.at("tokens"))
        assert status == 1 and "in use by another" in said, said
        assert f"(process {queue.process.pid})" in said, said
        assert queue.trio()[0].submit()


def it_speaks_on_both_loopbacks_and_over_tls():
    for host in ("127.0.0.1", "::1"):
        for authority in (None, AUTHORITY):
            with Queue(host=host, authority=authority) as queue:
                assert queue.url.startswith("https" if authority else "http")
                producer, worker, _ = queue.trio()
                job = producer.submit()
                assert worker.claim()["id"] == job


def tls_refuses_what_is_not_tls():
    with Queue(authority=AUTHORITY) as queue:
        answer = raw(queue, head("/v1/jobs", PRODUCER, method="GET"))
        assert b"HTTP/" not in answer, answer
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(AUTHORITY.ca)
        old.set_ciphers("DEFAULT:@SECLEVEL=0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            old.minimum_version = ssl.TLSVersion.TLSv1
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection((queue.host, queue.port)) as s:
            try:
                old.wrap_socket(s, server_hostname="localhost")
                raise AssertionError("TLS 1.1 was taken")
            except (ssl.SSLError, ConnectionResetError):
                pass
        assert queue.trio()[0].submit()


# -- the two sides ------------------------------------------------------


def a_job_goes_through_its_states():
    with Queue(authority=AUTHORITY) as queue:
        producer, worker, _ = queue.trio()
        job = producer.submit("zwölf")
        seen = producer.job(job)
        assert seen["state"] == "waiting" and seen["attempts"] == 0, seen
        assert seen["capability"] == "image.text", seen
        claimed = worker.claim()
        assert claimed["id"] == job and claimed["input"] == {"d": "zwölf"}
        seen = producer.job(job)
        assert (seen["state"], seen["worker"]) == ("held", "anna"), seen
        reply = worker.succeed(claimed, text="ä")
        assert reply.status == 204 and reply.body == b"", reply
        seen = producer.job(job)
        assert seen["state"] == "succeeded" and seen["attempts"] == 1, seen
        assert seen["output"] == {"text": "ä"}, seen
        assert "worker" not in seen and "error" not in seen, seen
        assert worker.claim() is None


def input_output_and_error_pass_byte_for_byte():
    odd = '{ "n": 1.50e+003, "s":"\\u00e9\\/é", "a":[ ],\t"z":{"z":null} }'
    with Queue() as queue:
        producer, worker, _ = queue.trio()
        reply = producer.call(
            "POST", "/v1/jobs",
            f'{{"extra":[1,{{}}],"input":{odd},"capability":"a.b"}}')
        job = reply.json()["id"]
        reply = worker.call("POST", "/v1/claim", json.dumps({
            "claim_id": "1", "capabilities": ["a.b"], "max_job_seconds": 9}))
        assert reply.body.decode().endswith(f'"input":{odd}}}\n'), reply
        lease = reply.json()["lease"]
        body = (f'{{"id":"{job}","lease":"{lease}","outcome":"succeeded",'
                f'"output":{odd}}}')
        assert worker.call("POST", "/v1/result", body).status == 204
        reply = producer.call("GET", "/v1/jobs/" + job)
        assert reply.body.decode().endswith(f'"output":{odd}}}\n'), reply

        job = producer.submit()
        claimed = worker.claim()
        error = '{ "message":"no","code":"bad_content", "more" : [0] }'
        body = (f'{{"id":"{job}","lease":"{claimed["lease"]}","outcome":'
                f'"failed","error":{error}}}')
        assert worker.call("POST", "/v1/result", body).status == 204
        reply = producer.call("GET", "/v1/jobs/" + job)
        assert reply.json()["state"] == "failed"
        assert reply.body.decode().endswith(f'"error":{error}}}\n'), reply


def the_oldest_job_comes_first_and_only_what_was_named():
    with Queue() as queue:
        producer, worker, other = queue.trio()
        assert worker.claim() is None
        ids = [producer.submit(capability=c) for c in
               ("image.text", "a.b", "image.text", "text.label", "never.asked")]
        assert worker.claim(["x.y"]) is None
        assert worker.claim(["image.preview", "image.text"])["id"] == ids[0]
        assert other.claim(["text.label"])["id"] == ids[3]
        got = worker.claim(["image.text", "a.b", "a.b"])
        assert got["id"] == ids[1] and got["more"] is True, got
        got = worker.claim(["image.text", "a.b"])
        assert got["id"] == ids[2] and "more" not in got, got
        assert worker.claim(["image.text", "a.b", "text.label"]) is None
        assert producer.job(ids[4])["state"] == "waiting"
        ids = [producer.submit(n) for n in range(5)]
        assert [worker.claim()["id"] for _ in ids] == ids


def a_repeated_claim_id_gives_the_same_job():
    with Queue() as queue:
        producer, worker, other = queue.trio()
        first, second, third = (producer.submit(n) for n in "123")
        one = worker.claim(claim_id="same")
        assert one["id"] == first
        assert worker.claim(claim_id="same") == one
        assert other.claim(claim_id="same")["id"] == second
        queue.kill()
        queue.start()
        assert worker.claim(claim_id="same") == {
            k: v for k, v in one.items()}, "after a crash"
        assert worker.succeed(one).status == 204
        assert worker.claim(claim_id="same")["id"] == third
        assert producer.job(first)["attempts"] == 1


def a_claim_repeated_without_the_capability_takes_the_job_back():
    with Queue() as queue:
        producer, worker, other = queue.trio()
        job = producer.submit()
        lost = worker.claim(claim_id="c")
        assert worker.claim(["a.b"], claim_id="c") is None
        seen = producer.job(job)
        assert (seen["state"], seen["attempts"]) == ("waiting", 0), seen
        assert worker.succeed(lost).status == 409
        assert other.claim()["id"] == job


def a_result_counts_once_and_only_from_its_holder():
    with Queue() as queue:
        producer, worker, other = queue.trio()
        job, hidden = producer.submit(), producer.submit()
        held = worker.claim()
        stranger = dict(held, lease="0" * 32)
        assert worker.succeed(stranger).status == 410
        assert other.succeed(held).status == 410
        assert worker.succeed(dict(held, id=hidden)).status == 410
        assert worker.succeed(dict(held, id="f" * 32)).status == 410
        assert producer.job(job)["state"] == "held"
        assert worker.succeed(held, n=1).status == 204
        assert worker.succeed(held, n=1).status == 204, "identical repeat"
        assert worker.succeed(held, n=2).status == 409
        error = {"code": "bad_input", "message": "no"}
        assert worker.result(held, outcome="failed", error=error).status == 409
        assert worker.result(held, outcome="released").status == 409
        assert producer.job(job)["output"] == {"n": 1}

        held = worker.claim()
        for _ in range(2):
            reply = worker.result(held, outcome="failed", error=error)
            assert reply.status == 204, reply
        other_error = dict(error, message="other")
        reply = worker.result(held, outcome="failed", error=other_error)
        assert reply.status == 409, reply
        assert producer.job(hidden)["error"] == error


def released_goes_back_to_the_front_and_counts_nothing():
    with Queue("--attempts", "1") as queue:
        producer, worker, other = queue.trio()
        first, second = producer.submit(), producer.submit()
        for _ in range(12):
            held = worker.claim()
            assert held["id"] == first
            reply = worker.result(held, outcome="released", reason="busy")
            assert reply.status == 204, reply
            again = worker.result(held, outcome="released", reason="busy")
            assert again.status == 204, "repeat"
        held = worker.claim()
        assert worker.result(held, outcome="released",
                             reason="capability_resting",
                             retry_after=2).status == 204
        at = time.monotonic()
        assert other.claim()["id"] == second, "not before retry_after"
        assert other.claim() is None
        eventually(lambda: other.claim() or None, 5, "offered again")
        assert 1.8 < time.monotonic() - at < 3.5
        assert worker.result(held, outcome="released").status == 204
        seen = producer.job(first)
        assert (seen["state"], seen["attempts"]) == ("held", 0), seen


def a_hold_that_runs_out_counts_and_the_last_one_fails_the_job():
    with Queue("--hold", "1", "--attempts", "2") as queue:
        producer, worker, other = queue.trio()
        job = producer.submit()
        first = worker.claim(seconds=1)
        assert other.claim() is None
        eventually(lambda: producer.job(job)["state"] == "waiting", 4)
        assert producer.job(job)["attempts"] == 1
        second = other.claim(seconds=1)
        assert second["id"] == job and second["lease"] != first["lease"]
        assert worker.succeed(first).status == 409, "another one has it"
        eventually(lambda: producer.job(job)["state"] == "failed", 4)
        seen = producer.job(job)
        assert seen["error"]["code"] == "gave_up", seen
        assert seen["attempts"] == 2, seen
        assert other.succeed(second).status == 409
        assert worker.claim() is None


def a_late_result_counts_while_nobody_else_has_the_job():
    with Queue("--hold", "1") as queue:
        producer, worker, other = queue.trio()
        job, again = producer.submit(), producer.submit()
        late = worker.claim(seconds=1)
        eventually(lambda: producer.job(job)["state"] == "waiting", 4)
        assert worker.succeed(late, ok=True).status == 204
        seen = producer.job(job)
        assert (seen["state"], seen["attempts"]) == ("succeeded", 1), seen
        late = worker.claim(seconds=1)
        eventually(lambda: producer.job(again)["state"] == "waiting", 4)
        assert worker.result(late, outcome="released").status == 204
        assert producer.job(again)["attempts"] == 0
        assert other.claim()["id"] == again


def a_hold_is_as_long_as_the_worker_says_and_stands_over_a_restart():
    with Queue("--hold", "1") as queue:
        producer, worker, other = queue.trio()
        job = producer.submit()
        held = worker.claim(seconds=60)
        short = producer.submit()
        assert other.claim(seconds=1)["id"] == short
        assert queue.stop() == 0
        time.sleep(1.5)
        queue.start()
        assert producer.job(short)["state"] == "held", "time stood still"
        eventually(lambda: producer.job(short)["state"] == "waiting", 4)
        assert producer.job(job)["state"] == "held"
        assert worker.succeed(held).status == 204


def workers_that_race_get_each_job_once():
    with Queue(authority=AUTHORITY) as queue:
        producer = queue.client(PRODUCER, keep=True)
        jobs = {producer.submit(n) for n in range(120)}
        taken = []

        def work(token):
            client = queue.client(token, keep=True)
            while (job := client.claim(seconds=60)) is not None:
                taken.append(job["id"])
                assert client.succeed(job, by=job["id"]).status == 204
        at_once([lambda t=t: work(t) for t in (WORKER, OTHER) * 4])
        assert len(taken) == len(jobs) and set(taken) == jobs
        done = producer.jobs("?state=succeeded&limit=1000")
        assert {j["id"] for j in done} == jobs
        assert all(j["attempts"] == 1 for j in done)


def a_producer_lists_and_sees_its_own_jobs_only():
    with Queue() as queue:
        producer, worker, _ = queue.trio()
        stranger = queue.client(STRANGER)
        ids = [producer.submit(n) for n in range(7)]
        foreign = stranger.submit()
        assert [j["id"] for j in producer.jobs()] == ids
        assert [j["id"] for j in stranger.jobs()] == [foreign]
        held = worker.claim()
        assert held["id"] == ids[0]
        assert [j["id"] for j in producer.jobs("?state=held")] == ids[:1]
        assert [j["id"] for j in producer.jobs("?state=waiting&limit=2")] == \
            ids[1:3]
        page = producer.jobs(f"?limit=3&after={ids[2]}")
        assert [j["id"] for j in page] == ids[3:6]
        assert producer.jobs("?state=failed") == []
        assert stranger.call("GET", "/v1/jobs/" + ids[0]).status == 404
        assert producer.call("GET", "/v1/jobs/" + "0" * 32).status == 404
        for query in ("?state=lost", "?limit=0", "?limit=1001", "?limit=x",
                      "?after=" + foreign, "?nonsense=1", "?limit=1&limit=2",
                      "?state", "?after=%00"):
            reply = producer.call("GET", "/v1/jobs" + query)
            assert reply.status == 400 and reply.json()["error"], (query, reply)
        reply = producer.call("GET", f"/v1/jobs/{ids[0]}?limit=1")
        assert reply.status == 400, reply


# -- what is refused ----------------------------------------------------


def every_refusal_has_its_status_and_says_why():
    claim = {"claim_id": "1", "capabilities": ["a.b"], "max_job_seconds": 1}
    post, get = "POST", "GET"
    cases = [  # method, path, token, body, headers, status, text
        (post, "/v1/claim", None, claim, {}, 401, "Bearer TOKEN is missing"),
        (post, "/v1/claim", WORKER[:-1], claim, {}, 401, "no such token"),
        (post, "/v1/claim", WORKER + "x", claim, {}, 401, "no such token"),
        (post, "/v1/claim", "x" * 600, claim, {}, 401, "no such token"),
        (post, "/v1/claim", None, claim, {"Authorization": WORKER}, 401, ""),
        (post, "/v1/claim", None, claim,
         {"Authorization": "Basic " + WORKER}, 401, "no such token"),
        (get, "/v1/jobs", OTHER[::-1], None, {}, 401, "no such token"),
        (post, "/v1/claim", PRODUCER, claim, {}, 403, "for workers"),
        (post, "/v1/result", PRODUCER, claim, {}, 403, "for workers"),
        (post, "/v1/jobs", WORKER, claim, {}, 403, "for producers"),
        (get, "/v1/jobs", WORKER, None, {}, 403, "for producers"),
        (get, "/v1/jobs/" + "a" * 32, WORKER, None, {}, 403, "for producers"),
        (get, "/", WORKER, None, {}, 404, "/v1/claim"),
        (get, "/v1/claims", WORKER, None, {}, 404, "no such path"),
        (post, "/v1/claim/", WORKER, claim, {}, 404, "no such path"),
        (get, "/v1/jobs/../jobs", PRODUCER, None, {}, 404, "no such path"),
        (get, "/v1/jobs/ABC", PRODUCER, None, {}, 404, "no such path"),
        (get, "/v2/claim", WORKER, None, {}, 404, "no such path"),
        (get, "/v1/claim", WORKER, None, {}, 405, "POST"),
        ("PUT", "/v1/result", WORKER, claim, {}, 405, "POST"),
        ("DELETE", "/v1/jobs/" + "a" * 32, PRODUCER, None, {}, 405, "GET"),
        ("PATCH", "/v1/jobs", PRODUCER, None, {}, 405, "GET, POST"),
        (post, "/v1/claim", WORKER, claim, {"Content-Type": None}, 415, ""),
        (post, "/v1/claim", WORKER, claim, {"Content-Type": "text/plain"},
         415, "must be application/json"),
        (post, "/v1/claim", WORKER, claim,
         {"Content-Type": "application/jsonp"}, 415, ""),
        (post, "/v1/claim", WORKER, claim,
         {"Content-Type": "application/json; charset=utf-16"}, 415, ""),
        (post, "/v1/claim", WORKER, claim, {"Content-Encoding": "gzip"}, 415,
         "only plain bodies"),
        (get, "/v1/jobs", PRODUCER, "{}", {}, 400, "takes no body"),
    ]
    with Queue(authority=AUTHORITY) as queue:
        for method, path, token, body, headers, status, text in cases:
            reply = queue.client(token).call(method, path, body, headers)
            case = (method, path, headers, reply)
            assert reply.status == status, case
            assert reply.headers["Content-Type"] == "application/json", case
            if status == 405:
                assert reply.headers["Allow"] == text, case
            else:
                assert text in reply.json()["error"], case
            if status == 401:
                assert reply.headers["WWW-Authenticate"] == "Bearer", case
        fine = queue.client(WORKER).call(
            post, "/v1/claim", claim,
            {"Content-Type": 'Application/JSON ; charset="UTF-8"'})
        assert fine.status == 204, fine


def bodies_are_read_strictly():
    claim = '{"claim_id":"1","capabilities":["a.b"],"max_job_seconds":1}'
    result = '{"id":"1","lease":"1","outcome":%s}'
    deep = '{"capability":"a.b","input":{"a":%s%s}}' % ("[" * 31, "]" * 31)
    keys = ",".join(f'"k{n}":0' for n in range(1100))
    cases = [
        ("/v1/claim", "", "at byte 0"),
        ("/v1/claim", "[]", "must be one object"),
        ("/v1/claim", "{}", "claim_id: is missing"),
        ("/v1/claim", claim + "x", "at byte"),
        ("/v1/claim", claim[:-1], "at byte"),
        ("/v1/claim", claim.replace(":1}", ":01}"), "at byte"),
        ("/v1/claim", claim.replace(":1}", ":0}"), "at least 1"),
        ("/v1/claim", claim.replace(":1}", ":-1}"), "whole seconds"),
        ("/v1/claim", claim.replace(":1}", ":1.0}"), "whole seconds"),
        ("/v1/claim", claim.replace(":1}", ":86401}"), "whole seconds"),
        ("/v1/claim", claim.replace(":1}", ':"1"}'), "whole number"),
        ("/v1/claim", claim.replace('"1"', '""'), "claim_id: must be 1 to"),
        ("/v1/claim", claim.replace('"1"', '"a b"'), "claim_id: must be 1 to"),
        ("/v1/claim", claim.replace('"1"', f'"{"a" * 129}"'), "is too long"),
        ("/v1/claim", claim.replace('"1"', "null"), "must be a string"),
        ("/v1/claim", claim.replace('["a.b"]', "[]"), "at least one"),
        ("/v1/claim", claim.replace('["a.b"]', '"a.b"'), "list of strings"),
        ("/v1/claim", claim.replace('["a.b"]', '["ab"]'), "image.text"),
        ("/v1/claim", claim.replace('["a.b"]', '["a.b",1]'), "be a string"),
        ("/v1/claim", claim.replace('["a.b"]', '[["a.b"]]'), "be a string"),
        ("/v1/claim", claim.replace('["a.b"]', json.dumps(
            ["a." + "b" * n for n in range(1, 70)])), "too "),
        ("/v1/claim", claim[:-1] + ',"claim_id":"2"}', "is there twice"),
        ("/v1/claim", claim[:-1] + ',"cl\\u0061im_id":"2"}', "there twice"),
        ("/v1/claim", claim[:-1] + "," + keys + "}", "more than 1024 keys"),
        ("/v1/claim", claim[:-1] + ',"x":"\\ud800"}', "at byte"),
        ("/v1/claim", claim[:-1] + ',"x":"\\u0000"}', "at byte"),
        ("/v1/claim", claim.encode() + b"\xff", "at byte"),
        ("/v1/claim", b"\xef\xbb\xbf" + claim.encode(), "at byte 0"),
        ("/v1/claim", claim.encode()[:-1] + b',"x":"\xc0\x80"}', "at byte"),
        ("/v1/result", result % '"done"', "succeeded, failed or released"),
        ("/v1/result", result % '"succeeded"', "output: belongs"),
        ("/v1/result", result % '"failed"', "error: belongs"),
        ("/v1/result", result % '"released","output":{}', "output: belongs"),
        ("/v1/result", result % '"succeeded","output":[]', "be an object"),
        ("/v1/result", result % '"failed","error":{}', "code is missing"),
        ("/v1/result", result % '"failed","error":{"code":7}', "be a string"),
        ("/v1/result", result % '"failed","error":{"code":"a b"}', "one word"),
        ("/v1/result", result % '"failed","error":{"code":"a","code":"b"}',
         "code is there twice"),
        ("/v1/result", result % ('"failed","error":{"code":"a","m":"%s"}' %
                                 ("x" * 5000)), "too large"),
        ("/v1/result", result % '"released","retry_after":-1', "seconds"),
        ("/v1/result", '{"id":"1","outcome":"released"}', "lease: is missing"),
        ("/v1/jobs", '{"capability":"a.b"}', "input: is missing"),
        ("/v1/jobs", '{"capability":"a.b","input":"x"}', "be an object"),
        ("/v1/jobs", '{"capability":"A.b","input":{}}', "like image.text"),
        ("/v1/jobs", '{"capability":"a.b.c","input":{}}', "like image.text"),
        ("/v1/jobs", '{"capability":"","input":{}}', "like image.text"),
        ("/v1/jobs", deep, "at byte"),
        ("/v1/jobs", '{"capability":"a.b","input":{},"input":{}}', "twice"),
    ]
    with Queue() as queue:
        producer, worker, _ = queue.trio()
        for path, body, text in cases:
            client = producer if path == "/v1/jobs" else worker
            reply = client.call("POST", path, body)
            assert reply.status == 400, (path, body[:200], reply)
            said = reply.json()["error"]
            assert said.startswith("body: ") and text in said, (body, said)
        assert producer.jobs() == []


def what_is_no_request_harms_nobody():
    claim = b'{"claim_id":"1","capabilities":["a.b"],"max_job_seconds":1}'
    json_type = "Content-Type: application/json"
    with Queue() as queue:
        def post(*lines, path="/v1/claim"):
            return head(path, WORKER, json_type, *lines)

        chunked = post("Transfer-Encoding: chunked", "Connection: close")
        pieces = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(p), p) for p in
                          (claim[:1], claim[1:20], claim[20:])) + b"0\r\n\r\n"
        assert b" 204 " in raw(queue, chunked + pieces)[:20]
        for garbage in (b"zz\r\n", b"-1\r\n{}\r\n", b"5\r\nabc",
                        b"ffffffffffffffffffff\r\n"):
            got = raw(queue, chunked + garbage, half_close=True)
            assert got[:12] in (b"", b"HTTP/1.1 400", b"HTTP/1.1 413"), got
        assert b" 411 " in raw(queue, post("Connection: close"))[:20]
        both = post("Content-Length: 5", "Transfer-Encoding: chunked")
        assert b" 400 " in raw(queue, both + pieces)[:20]
        for length in ("-1", "abc", "1e3", "99999999999999999999999"):
            got = raw(queue, post(f"Content-Length: {length}"))
            assert got[9:12] in (b"400", b"413"), (length, got)
        assert b" 413 " in raw(queue, post("Content-Length: 70000000"))[:20]
        huge = raw(queue, post("X: " + "x" * 100000))
        assert b" 431 " in huge[:20] or b" 413 " in huge[:20], huge[:200]
        many = raw(queue, post(*(f"X{n}: {n}" for n in range(20000))))
        assert b" 431 " in many[:20] or b" 413 " in many[:20], many[:200]
        assert b" 400 " in raw(queue, b"POST /v1/claim HTTP/1.1\r\n\r\n")[:20]
        cut = post(f"Content-Length: {len(claim) + 5}") + claim
        assert raw(queue, cut, half_close=True)[9:12] in (b"", b"400")
        for junk in (b"\0" * 5000, b"\x16\x03\x01\x02\x00\x01" * 50,
                     b"GET\r\n\r\n", b"\r\n" * 2000, os.urandom(4000),
                     b"GET " + b"/" * 200000 + b" HTTP/1.1\r\n\r\n",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                     b"GET /v1/jobs HTTP/1.1\r\nHost: a\r\nA\0B: c\r\n\r\n"):
            got = raw(queue, junk, half_close=True)
            assert b" 2" not in got[:12], (junk[:20], got[:100])
        twice = raw(queue, (post(f"Content-Length: {len(claim)}") + claim) * 2
                    + post("Connection: close", "Content-Length: 2") + b"{}")
        assert twice.count(b"HTTP/1.1 204") == 2, twice
        assert twice.count(b"HTTP/1.1 400") == 1, twice
        producer, worker, _ = queue.trio()
        assert producer.jobs() == [] and worker.claim() is None


def a_body_over_the_cap_is_413_however_it_comes():
    with Queue("--max-body", "1MiB") as queue:
        producer, _, _ = queue.trio()
        big = json.dumps({"capability": "a.b", "input": {"d": "x" * MIB}})
        assert producer.call("POST", "/v1/jobs", big).status == 413

        def pieces(n):
            for at in range(0, n, 65536):
                yield big.encode()[at:at + 65536]
        reply = producer.call("POST", "/v1/jobs", pieces(len(big)))
        assert reply.status == 413, reply
        assert producer.jobs() == []
        start = time.monotonic()
        endless = head("/v1/jobs", PRODUCER, "Transfer-Encoding: chunked",
                       "Content-Type: application/json")
        with socket.create_connection((queue.host, queue.port), 10) as s:
            s.sendall(endless)
            try:
                while time.monotonic() - start < 20:
                    s.sendall(b"10000\r\n" + b" " * 65536 + b"\r\n")
                raise AssertionError("an endless body is read for ever")
            except (BrokenPipeError, ConnectionResetError):
                pass
        assert producer.submit()
        held = sum(1 for _ in os.scandir(f"/proc/{queue.process.pid}/fd"))
        assert held < 20, held


def one_connection_serves_many_requests():
    with Queue(authority=AUTHORITY) as queue:
        producer = queue.client(PRODUCER, keep=True)
        producer.submit()
        sock = producer.conn.sock
        for n in range(50):
            producer.jobs("?limit=1")
        for wrong in ("/v1/jobs?limit=0", "/v1/jobs/" + "0" * 32):
            assert producer.call("GET", wrong).status in (400, 404)
        producer.submit()
        assert producer.conn.sock is not None
        assert sock is not None and sock.fileno() >= 0
        assert len(producer.jobs()) == 2


# -- large and many -----------------------------------------------------


def a_job_of_30_mib_passes_and_memory_does_not_grow():
    noise = secrets.token_hex(15 * MIB)
    with Queue(authority=AUTHORITY) as queue:
        producer, worker, _ = queue.trio()
        producer.submit()
        before = queue.peak_kib()
        small = worker.claim()
        job = producer.submit(noise)
        held = worker.claim()
        assert held["id"] == job
        assert held["input"]["d"] == noise
        assert worker.succeed(held, d=noise).status == 204
        assert worker.succeed(held, d=noise).status == 204, "repeat"
        other = noise[:-1] + ("0" if noise[-1] != "0" else "1")
        assert worker.succeed(held, d=other).status == 409
        assert producer.job(job)["output"]["d"] == noise
        grown = queue.peak_kib() - before
        print(f"# 30 MiB in and out: peak memory grew by {grown} KiB")
        # A sanitizer keeps what is freed.
        with open(f"/proc/{queue.process.pid}/maps") as maps:
            is_sanitized = "libasan" in maps.read()
        assert grown < 8 * 1024 or is_sanitized, grown
        assert worker.succeed(small).status == 204
        assert not any(name.startswith(".spool")
                       for name in os.listdir(queue.dir))


def served(client):
    try:
        return client.submit()
    except ConnectionError:
        return None


def one_address_cannot_take_all_seats():
    with Queue() as queue:
        idle = [socket.create_connection((queue.host, queue.port), 10)
                for _ in range(64)]
        eventually(lambda: len(os.listdir(
            f"/proc/{queue.process.pid}/fd")) > 64, 5)
        beside = socket.create_connection(
            (queue.host, queue.port), 10, ("127.0.0.7", 0))
        beside.sendall(head("/v1/jobs", PRODUCER, method="GET"))
        assert b" 200 " in beside.recv(100), "another address has a seat"
        beside.close()
        late = [socket.create_connection((queue.host, queue.port), 10)
                for _ in range(100)]
        time.sleep(0.3)
        held = len(os.listdir(f"/proc/{queue.process.pid}/fd"))
        assert held < 64 + 20, held
        for s in idle + late:
            s.close()
        eventually(lambda: served(queue.trio()[0]), 2)


def a_full_house_opens_again_at_once():
    with Queue() as queue:
        crowd = [socket.create_connection((queue.host, queue.port), 10,
                                          (f"127.0.0.{n}", 0))
                 for n in range(2, 8) for _ in range(50)]
        eventually(lambda: len(os.listdir(
            f"/proc/{queue.process.pid}/fd")) > 256, 5)
        producer = queue.trio()[0]
        try:
            producer.call("GET", "/v1/jobs", timeout=0.5)
            raise AssertionError("more than 256 are served")
        except (TimeoutError, ConnectionError):
            pass
        for s in crowd:
            s.close()
        eventually(lambda: served(producer), 2)


# -- never lost ---------------------------------------------------------


class Flood:
    """Producers and workers that repeat until they are answered, and keep
    their own books."""

    def __init__(self, queue, seed):
        self.queue, self.random = queue, random.Random(seed)
        self.taken, self.outputs, self.failed = {}, {}, {}
        self.is_over = False
        self.lock = threading.Lock()

    def insist(self, call):
        while True:
            try:
                return call()
            except (OSError, EOFError, ConnectionError):
                time.sleep(0.01)
            except Exception as error:
                if "http.client" not in type(error).__module__:
                    raise
                time.sleep(0.01)

    def produce(self, n):
        client = self.queue.client(PRODUCER)
        for at in range(n):
            size = self.random.choice((10, 1000, 200_000))
            text = f"{n}-{at}-" + "x" * size
            try:
                job = client.submit(text)
            except Exception:
                time.sleep(0.01)
                continue  # not acknowledged: may be there or not
            with self.lock:
                self.taken[job] = text

    def work(self, token):
        client = self.queue.client(token)
        while not self.is_over:
            claim_id = secrets.token_hex(16)
            job = self.insist(lambda: client.claim(
                claim_id=claim_id, seconds=600))
            if job is None:
                time.sleep(0.02)
                continue
            digest = hashlib.sha256(job["input"]["d"].encode()).hexdigest()
            fate = self.random.random()
            if fate < 0.2:
                fields = {"outcome": "released", "reason": "busy"}
            elif fate < 0.4:
                fields = {"outcome": "failed",
                          "error": {"code": "bad_input", "message": digest}}
            else:
                fields = {"outcome": "succeeded", "output": {"sha": digest}}
            reply = self.insist(lambda: client.result(job, **fields))
            assert reply.status == 204, (reply, job["id"], fields)
            if fields["outcome"] == "released":
                continue  # by now another one may have done it
            with self.lock:
                assert job["id"] not in self.outputs, "done twice"
                assert job["id"] not in self.failed, "done twice"
                done = (self.outputs if fields["outcome"] == "succeeded"
                        else self.failed)
                done[job["id"]] = digest


def kill_9_at_any_moment_loses_nothing():
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print(f"# SEED={seed}")
    with Queue("--attempts", "2", authority=AUTHORITY) as queue:
        flood = Flood(queue, seed)

        def kill():
            chance = random.Random(seed + 1)
            for _ in range(12):
                time.sleep(chance.uniform(0.02, 0.5))
                queue.kill()
                queue.start()
            producer = queue.client(PRODUCER)
            for thread in producers:
                thread.join()
            eventually(lambda: not producer.jobs("?state=waiting&limit=1")
                       and not producer.jobs("?state=held&limit=1"), 30)
            flood.is_over = True

        producers = [threading.Thread(target=flood.produce, args=(n,))
                     for n in (60, 61, 62)]
        for thread in producers:
            thread.start()
        at_once([kill] + [lambda t=t: flood.work(t) for t in
                          (WORKER, OTHER, WORKER, OTHER)])
        producer = queue.client(PRODUCER)
        books = {j["id"]: j for j in producer.jobs("?limit=1000")}
        assert set(flood.taken) <= set(books), "an acknowledged job is gone"
        assert set(books) == set(flood.outputs) | set(flood.failed)
        for job, digest in flood.outputs.items():
            assert producer.job(job)["output"] == {"sha": digest}
            assert books[job]["attempts"] == 1, books[job]
        for job, digest in flood.failed.items():
            assert producer.job(job)["error"]["message"] == digest
        for job, text in flood.taken.items():
            digest = hashlib.sha256(text.encode()).hexdigest()
            assert digest in (flood.outputs.get(job), flood.failed.get(job))
        with sqlite3.connect(queue.at("db")) as db:
            assert db.execute("pragma integrity_check").fetchone() == ("ok",)
            pieces = db.execute("select count(*) from piece where part=1")
            assert pieces.fetchone() == (0,), "inputs of finished jobs"
        print(f"# {len(books)} jobs, {len(flood.outputs)} succeeded, "
              f"{len(flood.failed)} failed, 12 kills")


def nothing_is_answered_before_it_is_on_the_disk():
    with Queue() as queue:
        producer, worker, _ = queue.trio()
        trace = queue.at("trace")
        with open(queue.at("strace"), "w") as said:
            strace = subprocess.Popen(
                ["strace", "-p", str(queue.process.pid), "-o", trace, "-e",
                 "trace=accept4,fsync,fdatasync,send,sendto,sendmsg,writev"],
                stderr=said)
        eventually(lambda: "attached" in open(queue.at("strace")).read(), 5)
        job = producer.submit()
        held = worker.claim()
        assert worker.result(held, outcome="released").status == 204
        held = worker.claim()
        assert worker.succeed(held).status == 204
        assert worker.claim() is None
        assert producer.job(job)["state"] == "succeeded"
        strace.send_signal(2)
        strace.wait(5)
        with open(trace) as f:
            calls = [line.split("(")[0] for line in f if "= -1" not in line]
        answers = " ".join(calls).split("accept4 ")[1:]
        synced = ["sync " in a.split("send")[0].split("writev")[0]
                  for a in answers]
        assert synced == [True] * 5 + [False] * 2, calls


def a_full_disk_is_507_and_nothing_is_lost():
    disk = SmallDisk(8)
    with Queue("--hold", "300", disk=disk) as queue:
        producer, worker, other = queue.trio()
        jobs = [producer.submit("x" * 1000) for _ in range(3)]
        held = worker.claim()
        bodies = [{"capability": "a.b", "input": {"d": "x" * n * MIB}}
                  for n in (9, 1, 1, 1, 1, 1, 1, 1, 1)]
        replies = [producer.call("POST", "/v1/jobs", b) for b in bodies]
        assert replies[0].status == 507, replies[0]
        statuses = [r.status for r in replies]
        assert statuses[-1] == 507 and statuses.count(201) > 1, statuses
        assert set(statuses) == {201, 507}, statuses
        assert "no room" in replies[-1].json()["error"]
        reply = worker.succeed(held, d="x" * 2 * MIB)
        assert reply.status == 507, reply
        seen = producer.jobs()
        assert [j["id"] for j in seen][:3] == jobs
        assert len(seen) == 3 + statuses.count(201)
        assert seen[0]["state"] == "held", seen[0]
        queue.kill()
        queue.start()
        assert producer.jobs() == seen, "after a crash on a full disk"
        disk.grow(64)
        assert worker.succeed(held, d="x" * 2 * MIB).status == 204
        assert other.claim()["id"] == jobs[1]
        assert producer.submit()
    disk.remove()


def finished_jobs_are_dropped_in_time_and_room_is_given_back():
    with Queue("--keep-done", "5s", "--hold", "300") as queue:
        producer, worker, _ = queue.trio()
        waiting = producer.submit(capability="a.b")
        for _ in range(4):
            producer.submit("x" * 24 * MIB)
            held = worker.claim()
            assert worker.succeed(held, d="x" * 24 * MIB).status == 204
        assert os.path.getsize(queue.at("db")) > 64 * MIB
        eventually(lambda: len(producer.jobs()) == 1, 15, "dropped")
        assert producer.jobs()[0]["id"] == waiting
        assert producer.call("GET", "/v1/jobs/" + held["id"]).status == 404
        assert worker.succeed(held).status == 410
        eventually(lambda: producer.jobs() and
                   os.path.getsize(queue.at("db")) < 48 * MIB, 10,
                   "room given back")


# -- signals ------------------------------------------------------------


def sigterm_lets_a_request_finish():
    with Queue() as queue:
        body = b'{"capability":"a.b","input":{}}'
        with socket.create_connection((queue.host, queue.port), 10) as s:
            s.sendall(head("/v1/jobs", PRODUCER, f"Content-Length: "
                           f"{len(body)}", "Content-Type: application/json")
                      + body[:5])
            time.sleep(0.3)
            queue.process.terminate()
            time.sleep(0.3)
            try:
                socket.create_connection((queue.host, queue.port), 2).close()
                raise AssertionError("still listens")
            except ConnectionRefusedError:
                pass
            s.sendall(body[5:])
            assert b" 201 " in s.recv(1000)[:20]
        assert queue.stop() == 0
        queue.start()
        assert len(queue.trio()[0].jobs()) == 1


def sighup_reads_the_tokens_again():
    with Queue() as queue:
        producer, worker, other = queue.trio()
        held = worker.claim() if producer.submit() else None
        fresh = "fresh-" + secrets.token_hex(16)
        queue.write_tokens(f"worker anna {fresh}\nproducer app {PRODUCER}\n")
        assert worker.claim() is None
        queue.process.send_signal(1)
        eventually(lambda: "read again" in queue.log(), 5)
        reply = worker.call("POST", "/v1/claim", "{}")
        assert reply.status == 401, "the old token"
        assert queue.client(fresh).succeed(held).status == 204, "same worker"
        queue.write_tokens("worker anna nonsense\n")
        queue.process.send_signal(1)
        eventually(lambda: "the old tokens stay" in queue.log(), 5)
        assert queue.client(fresh).claim() is None
        assert producer.jobs()


def tokens_are_in_no_file_log_or_argument():
    with Queue() as queue:
        producer, worker, _ = queue.trio()
        producer.submit("needle-in-the-books")
        worker.call("POST", "/v1/claim", {"x": 1})
        queue.client(WORKER[:-1]).call("GET", "/v1/jobs")
        everything = b""
        for name in os.listdir(queue.dir):
            if name != "tokens":
                with open(queue.at(name), "rb") as f:
                    everything += f.read()
        for name in ("cmdline", "environ"):
            with open(f"/proc/{queue.process.pid}/{name}", "rb") as f:
                everything += f.read()
        assert b"needle-in-the-books" in everything, "positive control"
        for token in (WORKER, OTHER, PRODUCER, STRANGER):
            assert token.encode() not in everything
            assert token[:-1].encode() not in everything


# -- slow clients -------------------------------------------------------


class Slow:
    """Clients that send a byte a second, started before all other tests and
    looked at after them."""

    def __init__(self):
        self.queue = Queue()
        self.ended = {}
        body = head("/v1/jobs", PRODUCER, "Content-Length: 1000",
                    "Content-Type: application/json")
        cases = {"silent": b"", "head": b"GET /v1/jobs HTTP/1.1\r\nX: ",
                 "body": body + b'{"a":"'}
        self.threads = [threading.Thread(target=self._drip, args=case,
                                         daemon=True)
                        for case in cases.items()]
        self.started = time.monotonic()
        for thread in self.threads:
            thread.start()

    def _drip(self, name, start):
        queue = self.queue
        with socket.create_connection((queue.host, queue.port)) as s:
            s.settimeout(1)
            try:
                s.sendall(start)
                while True:
                    try:
                        if s.recv(100) == b"":
                            break
                    except socket.timeout:
                        pass
                    if start:
                        s.sendall(b"x")
            except (BrokenPipeError, ConnectionResetError):
                pass
        self.ended[name] = time.monotonic() - self.started

    def are_cut(self):
        with self.queue:
            assert self.queue.trio()[0].submit(), "others are served"
            for thread in self.threads:
                thread.join(45 - (time.monotonic() - self.started))
            print(f"# cut after {self.ended}")
            assert 15 < self.ended["silent"] < 25, self.ended
            assert 15 < self.ended["head"] < 25, self.ended
            assert 25 < self.ended["body"] < 38, self.ended


DRIP = "clients that drip are cut"

if __name__ == "__main__":
    # The tests end in a child, in their own way: what they share is removed
    # here.
    child = os.fork()
    if child != 0:
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        AUTHORITY.remove()
        sys.exit(status != 0)
    is_wanted = not sys.argv[1:] or any(w in DRIP for w in sys.argv[1:])
    slow = Slow() if is_wanted else None
    main([
        a_wrong_command_line_says_what_is_wrong,
        files_that_cannot_be_used_are_named,
        a_second_instance_on_one_database_is_refused,
        it_speaks_on_both_loopbacks_and_over_tls,
        tls_refuses_what_is_not_tls,
        a_job_goes_through_its_states,
        input_output_and_error_pass_byte_for_byte,
        the_oldest_job_comes_first_and_only_what_was_named,
        a_repeated_claim_id_gives_the_same_job,
        a_claim_repeated_without_the_capability_takes_the_job_back,
        a_result_counts_once_and_only_from_its_holder,
        released_goes_back_to_the_front_and_counts_nothing,
        a_hold_that_runs_out_counts_and_the_last_one_fails_the_job,
        a_late_result_counts_while_nobody_else_has_the_job,
        a_hold_is_as_long_as_the_worker_says_and_stands_over_a_restart,
        workers_that_race_get_each_job_once,
        a_producer_lists_and_sees_its_own_jobs_only,
        every_refusal_has_its_status_and_says_why,
        bodies_are_read_strictly,
        what_is_no_request_harms_nobody,
        a_body_over_the_cap_is_413_however_it_comes,
        one_connection_serves_many_requests,
        a_job_of_30_mib_passes_and_memory_does_not_grow,
        one_address_cannot_take_all_seats,
        a_full_house_opens_again_at_once,
        kill_9_at_any_moment_loses_nothing,
        nothing_is_answered_before_it_is_on_the_disk,
        a_full_disk_is_507_and_nothing_is_lost,
        finished_jobs_are_dropped_in_time_and_room_is_given_back,
        sigterm_lets_a_request_finish,
        sighup_reads_the_tokens_again,
        tokens_are_in_no_file_log_or_argument,
        (DRIP, lambda: slow.are_cut()),
    ])
