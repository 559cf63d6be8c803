#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The real courier against honest sources and against liars.

Every exchange is bounded: by the courier's own deadline, and by a limit at
which the rig, in the keep's place, kills it. After each one its peak memory is
looked at. TAP.
"""
import os
import shutil
import signal
import socket
import ssl
import struct
import sys
import tempfile
import time
import warnings

import rig
from rig import Courier, claim_order
from servers import (Flood, JSON_TYPE, Server, cuts, drips, floods, holds, job,
                     reply, reset, resets, says, wait)

RSS_KIB = 64 * 1024
CAP = 1 << 20
OK = b"HTTP/1.1 200 OK\r\n"
OK_JSON = OK + JSON_TYPE
CHUNKED = OK_JSON + b"Transfer-Encoding: chunked\r\n\r\n"

report = rig.Report()
directory = tempfile.mkdtemp(prefix="courier-test-")
authority = rig.Authority(directory)
good = authority.issue("good")


def server_context(pair=good):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    return context


GOOD = server_context()


def tls(handle, context=GOOD, **more):
    return Server(handle, context, **more)


def courier(server, host="localhost", **more):
    shown = f"[{host}]" if ":" in host else host
    scheme = "https" if more.get("is_tls", True) else "http"
    more.setdefault("connect", server.address)
    more.setdefault("ca", authority.ca)
    more.setdefault("max_body", CAP)
    return Courier(f"{scheme}://{shown}:{server.port}", host, server.port,
                   **more)


def outcome(answer):
    return answer and (answer.status, answer.trouble)


def claim(server, name, wanted, within=3.0, deadline_ms=60000, limit=20.0,
          check=None, **more):
    """One claim; asserts what the core is told, how soon, and the memory."""
    letter = rig.letter()
    with server, courier(server, **more) as c:
        answer = c.exchange(claim_order(deadline_ms=deadline_ms), [letter],
                            limit)
        is_good = outcome(answer) == wanted and c.took <= within
        is_good = is_good and c.status == 0 and 0 < c.rss_kib <= RSS_KIB
        if is_good and check is not None:
            is_good = check(answer, letter, server, c)
        report.check(is_good, name,
                     f"{answer} took={c.took:.2f} status={c.status} "
                     f"rss={c.rss_kib} requests={len(server.requests)}")
        report.figures(c)
    os.close(letter)
    return answer, c


def deliver(server, name, wanted, packet, letter=None, within=3.0,
            limit=20.0, check=None, **more):
    with server, courier(server, **more) as c:
        answer = c.exchange(packet, [] if letter is None else [letter], limit)
        is_good = outcome(answer) == wanted and c.took <= within
        is_good = is_good and c.status == 0 and 0 < c.rss_kib <= RSS_KIB
        if is_good and check is not None:
            is_good = check(answer, server, c)
        report.check(is_good, name,
                     f"{answer} took={c.took:.2f} status={c.status} "
                     f"rss={c.rss_kib} "
                     f"requests={[r[-300:] for r in server.requests]}")
        report.figures(c)
    if letter is not None:
        os.close(letter)


def result(job_id="j1", outcome=rig.SUCCEEDED, of_ticket=None, **more):
    if of_ticket is None:
        of_ticket = rig.ticket(job_id)
    return rig.order(rig.RESULT, job_id=job_id, outcome=outcome,
                     of_ticket=of_ticket, **more)


def output(data="QUJD"):
    return ('{"data":"%s","format":"jpeg","width":1,"height":2,'
            '"source_width":3,"source_height":4}' % data).encode()


def output_letter(content, job_id="j1", is_sealed=True):
    return rig.letter(content, rig.ticket(job_id), is_sealed)


# -- honest sources ----------------------------------------------------------

def has_job(body, lease="", more=0):
    def check(answer, letter, server, _c):
        wanted = body[body.index(b'"input":') + 8:]
        wanted = wanted[:answer.input_bytes]
        size = os.fstat(letter).st_size
        held = os.pread(letter, size, 0)
        return (answer.id == "j1" and answer.lease == lease and
                answer.more == more and answer.http == 200 and
                answer.capability == 0 and answer.error == 0 and
                answer.ticket == rig.ticket("j1") and
                held == rig.ticket("j1") + wanted and
                wanted.startswith(b'{"data":') and wanted.endswith(b"}") and
                server.connections == 1)
    return check


def request_is(path, server):
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    port = server.port
    return head == (
        f"POST {path} HTTP/1.1\r\nHost: localhost:{port}\r\n"
        f"Authorization: Bearer {rig.TOKEN}\r\n"
        "Content-Type: application/json\r\nAccept: application/json\r\n"
        f"User-Agent: sandcastle/1\r\nContent-Length: {len(body)}"
    ).encode()


def chunks(body, size):
    pieces = [body[i:i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + \
        b"0\r\n\r\n"


def honest_claims():
    nothing = (rig.NOTHING, 0)
    a_job = (rig.JOB, 0)
    claim(tls(says(reply(204))), "204 is nothing", nothing,
          check=lambda a, l, s, c: request_is("/v1/claim", s) and
          s.requests[0].endswith(
              b'\r\n\r\n{"claim_id":"' + rig.CLAIM_ID.encode() +
              b'","capabilities":["image.preview"],"max_job_seconds":180}'))
    body = job(extra=',"lease":"L-1","more":true,"url":"https://x/"')
    claim(tls(says(reply(200, body))), "a job with a length", a_job,
          check=has_job(body, "L-1", 1))
    claim(tls(says(CHUNKED + chunks(body, 1))), "a job in chunks of one byte",
          a_job, check=has_job(body, "L-1", 1))
    big = job(data="QUJD" * 240000)
    claim(tls(says(reply(200, big))), "a job just below the cap", a_job,
          check=has_job(big))
    claim(tls(says(b"HTTP/1.0 200 OK\r\n" + JSON_TYPE + b"\r\n" + body)),
          "a job that ends with the connection", a_job,
          check=has_job(body, "L-1", 1))
    claim(tls(says(reply(200, body, b"content-type: Application/JSON; "
                         b"charset=utf-8"))),
          "a type with parameters", a_job, check=has_job(body, "L-1", 1))
    claim(tls(says(b"HTTP/1.1 100 Continue\r\n\r\n" + reply(200, body))),
          "an interim response before a job", a_job,
          check=has_job(body, "L-1", 1))
    claim(tls(says(reply(200, body)), family=socket.AF_INET6),
          "a job over IPv6, from a literal", a_job, host="::1",
          check=has_job(body, "L-1", 1))
    claim(tls(says(reply(200, body))), "a job from a literal of IPv4", a_job,
          host="127.0.0.1", check=has_job(body, "L-1", 1))
    claim(Server(says(reply(200, body))), "a job over plain HTTP", a_job,
          is_tls=False, host="127.0.0.1", check=has_job(body, "L-1", 1))
    context = server_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    claim(tls(says(reply(200, body)), context), "a job over TLS 1.2", a_job,
          check=has_job(body, "L-1", 1))
    claim(tls(says(reply(200, job(capability="no.such")))),
          "a capability nobody knows is told as none", a_job,
          check=lambda a, l, s, c: a.capability == rig.NO_CAPABILITY)
    claim(tls(says(reply(200, job()))),
          "among the system's certificates", a_job, ca=whole_bundle())


def whole_bundle():
    """The system's certificates and the test's: as long as real ones."""
    path = os.path.join(directory, "all.pem")
    with open(path, "wb") as out, open(authority.ca, "rb") as own:
        system = "/etc/ssl/certs/ca-certificates.crt"
        if os.path.exists(system):
            with open(system, "rb") as bundle:
                out.write(bundle.read())
        out.write(own.read())
    return path


def other_answers():
    for status in (400, 401, 403, 404, 429, 500, 503, 201, 202, 304):
        claim(tls(says(reply(status, b"", b"Retry-After: 7"))),
              f"{status} to a claim is told as it is", (rig.ANSWERED, 0),
              check=lambda a, l, s, c, status=status:
              a.http == status and a.retry_after == 7)
    claim(tls(says(reply(503, b"x" * 200000, b"Content-Type: text/html",
                         b"Retry-After: 99999"))),
          "a long page with a status", (rig.ANSWERED, 0),
          check=lambda a, l, s, c: (a.http, a.retry_after) == (503, 600))
    claim(tls(resets(b"HTTP/1.1 503 No\r\nContent-Length: 99\r\n\r\nxx")),
          "a status whose page is cut off is a status", (rig.ANSWERED, 0))


# -- results -----------------------------------------------------------------

def honest_results():
    stored = (rig.STORED, 0)
    whole = b'{"id":"j1","lease":"L","outcome":"succeeded","output":'
    content = output("QUJD" * 300000)

    def is_whole(answer, server, _c):
        body = server.requests[0].partition(b"\r\n\r\n")[2]
        return (request_is("/v1/result", server) and answer.error == 0 and
                body == whole + content + b"}")
    deliver(tls(says(reply(200, b"{}"))), "a result of a megabyte, whole",
            stored, result(lease="L"), output_letter(content),
            check=is_whole)
    for status in (201, 202, 204):
        deliver(tls(says(reply(status))), f"{status} means stored", stored,
                result(), output_letter(output()))
    deliver(tls(says(reply(200, b"{" + b" " * 500000 + b"}"))),
            "a long answer to a result is not read to its end", stored,
            result(), output_letter(output()))
    deliver(tls(says(reply(200))), "failed", stored,
            result(outcome=rig.FAILED, error=5), check=lambda a, s, c:
            s.requests[0].endswith(
                b'\r\n\r\n{"id":"j1","outcome":"failed","error":{"code":'
                b'"encrypted","message":"the document needs a password"}}')
            or b'"code":"encrypted"' in s.requests[0])
    deliver(tls(says(reply(200))), "released", stored,
            result(outcome=rig.RELEASED, reason=1, retry_after=60),
            check=lambda a, s, c: s.requests[0].endswith(
                b'{"id":"j1","outcome":"released","reason":'
                b'"capability_resting","retry_after":60}'))
    deliver(tls(says(reply(200)), family=socket.AF_INET6),
            "a result over IPv6", stored, result(), output_letter(output()),
            host="::1")
    for status in (409, 410):
        deliver(tls(says(reply(status))), f"{status} means gone",
                (rig.GONE, 0), result(), output_letter(output()))
    for status in (200, 201):
        deliver(tls(says(reply(status, b"<p>", b"Content-Type: text/html"))),
                f"a portal's page with {status} is not stored",
                (rig.NOT_CONTRACT, rig.MEDIA_TYPE), result(),
                output_letter(output()))
    for status in (203, 301, 400, 401, 413, 422, 500):
        deliver(tls(says(reply(status))), f"{status} to a result",
                (rig.ANSWERED, 0), result(), output_letter(output()),
                check=lambda a, s, c, status=status: a.http == status)


def early_answers():
    content = output("QUJD" * 5000000)
    deliver(tls(holds(reply(200)), whole=False),
            "200 before the upload is read, and held",
            (rig.UNREACHABLE, rig.TIMEOUT), result(deadline_ms=4000),
            output_letter(content), within=2.6)
    deliver(tls(says(reply(200, b"", b"Connection: close")), whole=False),
            "200 before the upload is read, and closed",
            (rig.UNREACHABLE, rig.CLOSED), result(), output_letter(content))

    def too_large(connection, _request):
        connection.sendall(reply(413, b"", b"Connection: close"))
        time.sleep(0.2)
        reset(connection)
    deliver(tls(too_large, whole=False), "413 early, then a reset",
            (rig.ANSWERED, 0), result(), output_letter(content),
            check=lambda a, s, c: a.http == 413)
    deliver(tls(holds(), whole=False), "an upload that nobody reads",
            (rig.UNREACHABLE, rig.TIMEOUT), result(deadline_ms=4000),
            output_letter(content), within=2.6)
    deliver(tls(resets(b""), whole=False), "a reset during the upload",
            (rig.UNREACHABLE, rig.CLOSED), result(), output_letter(content))


def replaced_outputs():
    def says_bad(answer, server, _c):
        body = server.requests[0].partition(b"\r\n\r\n")[2]
        return (answer.error == rig.ERROR_BAD_OUTPUT and
                body.startswith(b'{"id":"j1","outcome":"failed","error":'
                                b'{"code":"bad_output"'))
    for name, content in (
            ("no JSON", b"{"), ("empty", b""), ("an array", b"[]"),
            ("a field too many", output()[:-1] + b',"x":1}'),
            ("a field missing", b'{"data":"QUJD"}'),
            ("an object that ends early", output() + b'},"evil":{"a":1'),
            ("a second object", output() + output()),
            ("broken base64", output("Q*JD")),
            ("a wrong choice", output().replace(b"jpeg", b"bmpx"))):
        deliver(tls(says(reply(200))), f"an output that is wrong: {name}",
                (rig.STORED, 0), result(), output_letter(content),
                check=says_bad)


def mismatches():
    for name, packet, letter in (
            ("the order's ticket is another id's",
             result(of_ticket=rig.ticket("j2")), output_letter(output())),
            ("the letter's ticket is another id's", result(),
             output_letter(output(), "j2")),
            ("a failed result under another id's ticket",
             result(outcome=rig.FAILED, error=5, of_ticket=rig.ticket("j2")),
             None),
            ("a ticket of another source's key",
             result(of_ticket=rig.ticket("j1", bytes(32))),
             output_letter(output())),
            ("a letter shorter than a ticket", result(),
             rig.letter(is_sealed=True))):
        deliver(tls(says(reply(200))), f"nothing is sent: {name}",
                (rig.MISMATCH, 0), packet, letter,
                check=lambda a, s, c: s.connections == 0 and c.dials == 0)
    deliver(tls(says(reply(200))), "nothing is sent: an unsealed letter",
            (rig.UNREACHABLE, rig.LOCAL), result(),
            output_letter(output(), is_sealed=False),
            check=lambda a, s, c: s.connections == 0 and c.dials == 0)


# -- connections and TLS -----------------------------------------------------

def token_never_came(_answer, _letter, server, _c):
    return not server.requests


def certificates():
    unreachable = rig.UNREACHABLE
    own = (os.path.join(directory, "self.pem"),
           os.path.join(directory, "self.key"))
    rig.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-keyout", own[1], "-out",
             own[0], "-subj", "/CN=localhost", "-addext",
             "subjectAltName=DNS:localhost", "-days", "2"])
    nothing = says(reply(204))
    for name, pair, trouble in (
            ("a self-signed certificate", own, rig.CERTIFICATE),
            ("a certificate of another name",
             authority.issue("elsewhere", "DNS:elsewhere.example"),
             rig.CERTIFICATE),
            ("an expired certificate",
             authority.issue_between("old", "200101000000Z",
                                     "210101000000Z"), rig.CERTIFICATE_TIME),
            ("a certificate of the future",
             authority.issue_between("new", "400101000000Z",
                                     "410101000000Z"),
             rig.CERTIFICATE_TIME)):
        claim(tls(nothing, server_context(pair)), name,
              (unreachable, trouble), check=token_never_came)
    claim(tls(nothing), "an address that the certificate lacks",
          (unreachable, rig.CERTIFICATE), host="127.0.0.2",
          check=token_never_came)
    claim(tls(nothing), "no authority at all",
          (unreachable, rig.CERTIFICATE), ca="/dev/null",
          check=token_never_came)
    old = server_context()
    warnings.simplefilter("ignore", DeprecationWarning)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    claim(tls(nothing, old), "TLS 1.1 only", (unreachable, rig.TLS),
          check=token_never_came)
    claim(Server(raw=long_chain), "a chain of three hundred certificates",
          (unreachable, rig.TLS))


def long_chain(connection):
    path = os.path.join(directory, "chain.pem")
    with open(good[0], "rb") as one, open(path, "wb") as out:
        out.write(one.read())
        with open(authority.ca, "rb") as ca:
            out.write(ca.read() * 300)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path, good[1])
    context.wrap_socket(connection, server_side=True)


def connections():
    unreachable = rig.UNREACHABLE
    heard = []

    def plain(connection):
        heard.append(connection.recv(65536))
        connection.sendall(reply(204))
    claim(Server(raw=plain), "plain HTTP where TLS was asked for",
          (unreachable, rig.TLS),
          check=lambda a, l, s, c: rig.TOKEN.encode() not in heard[0] and
          heard[0][:1] == b"\x16")
    claim(Server(raw=wait),
          "silence in the handshake", (unreachable, rig.TIMEOUT),
          deadline_ms=4000, within=2.6)
    claim(Server(raw=wait),
          "silence in the handshake, and a long deadline",
          (unreachable, rig.TIMEOUT), within=10.6)

    def drip_handshake(connection):
        record = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"
        for byte in record + b"\x03" * 1000:
            connection.sendall(bytes([byte]))
            time.sleep(0.3)
    claim(Server(raw=drip_handshake), "a handshake of two bytes a second",
          (unreachable, rig.TIMEOUT), deadline_ms=4000, within=2.6)
    claim(tls(holds()), "silence after the request",
          (unreachable, rig.TIMEOUT), deadline_ms=4000, within=2.6)
    claim(Server(raw=reset), "a reset in the handshake",
          (unreachable, rig.TLS))
    claim(Server(raw=reset), "a socket that was reset before it came",
          (unreachable, rig.CLOSED), dial_pause=0.1)
    claim(tls(resets(b"")), "a reset instead of an answer",
          (unreachable, rig.CLOSED))
    claim(tls(says(b"")), "no answer at all", (unreachable, rig.CLOSED))
    claim(tls(resets(OK_JSON + b"Content-Length: 500\r\n\r\n" + job()[:40])),
          "a reset in mid body", (unreachable, rig.CLOSED))
    claim(tls(says(OK_JSON + b"Content-Length: 500\r\n\r\n" + job())),
          "a body shorter than its length", (unreachable, rig.CLOSED))
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context = server_context()
        context.maximum_version = version
        claim(tls(cuts(OK_JSON + b"\r\n" + job()[:60]), context),
              f"{version.name} cut without goodbye in mid body",
              (unreachable, rig.CLOSED))


def dialing():
    for result_code, trouble in ((1, rig.NAME), (2, rig.FORBIDDEN),
                                 (3, rig.REFUSED), (4, rig.NO_ROUTE),
                                 (5, rig.TIMEOUT), (6, rig.LOCAL)):
        claim(tls(says(reply(204))), f"a dialer's result {result_code}",
              (rig.UNREACHABLE, trouble), dial_result=result_code,
              check=lambda a, l, s, c: s.connections == 0)
    with Server(says(reply(204))) as elsewhere:
        claim(tls(says(reply(204))), "a socket to another port is not used",
              (rig.UNREACHABLE, rig.CLOSED), connect=elsewhere.address,
              check=lambda a, l, s, c: not elsewhere.requests)


def redirects():
    with Server(says(reply(204))) as trap:
        places = [f"http://127.0.0.1:{trap.port}/", "file:///etc/passwd",
                  f"//127.0.0.1:{trap.port}/"]
        for status in (300, 301, 302, 303, 305, 307, 308):
            for place in places if status == 302 else places[:1]:
                claim(tls(says(reply(status, b"", b"Location: " +
                                     place.encode()))),
                      f"{status} to {place.partition(':')[0]}",
                      (rig.ANSWERED, 0), check=lambda a, l, s, c:
                      s.connections == 1 and c.dials == 1)
        report.check(trap.connections == 0, "nothing came to the trap")


def floods_of_tls():
    for mode in ("update", "request"):
        server = Flood(*good, mode)
        with server, courier(server) as c:
            answer = c.exchange(claim_order(deadline_ms=4000), [rig.letter()],
                                limit=4.0)
            cpu = c.usage.ru_utime + c.usage.ru_stime
            report.check(
                (answer is None or outcome(answer) in (
                    (rig.UNREACHABLE, rig.TIMEOUT),
                    (rig.NOT_CONTRACT, rig.TOO_LARGE))) and c.took <= 4.5 and
                c.rss_kib <= RSS_KIB and cpu <= 4.5,
                f"a flood of KeyUpdate ({mode}) ends by the keep's kill",
                f"{answer} took={c.took:.2f} cpu={cpu:.2f} rss={c.rss_kib}")
            report.figures(c)
    server = Flood(*good, "update")
    with server, courier(server) as c:
        c.exchange(claim_order(deadline_ms=2500), [rig.letter()], limit=25)
        cpu = c.usage.ru_utime + c.usage.ru_stime
        report.check(cpu <= 10.6 and c.rss_kib <= RSS_KIB,
                     "and without a keep by its own limits",
                     f"took={c.took:.2f} cpu={cpu:.2f} rss={c.rss_kib}")
        report.figures(c)
    claim(Flood(*good, "hello"), "a flood of HelloRequest",
          (rig.UNREACHABLE, rig.TIMEOUT), deadline_ms=4000, within=3.0)


# -- HTTP --------------------------------------------------------------------

def broken_headers():
    lie = (rig.NOT_CONTRACT, rig.PROTOCOL)
    body = job()
    length = b"Content-Length: %d\r\n" % len(body)
    for name, answer in (
            ("two equal lengths", OK_JSON + length * 2 + b"\r\n" + body),
            ("two different lengths", OK_JSON + b"Content-Length: 5\r\n" +
             length + b"\r\n" + body),
            ("a length and chunks", OK_JSON + length +
             b"Transfer-Encoding: chunked\r\n\r\n" + chunks(body, 20)),
            ("chunks and a length", OK_JSON +
             b"Transfer-Encoding: chunked\r\n" + length + b"\r\n" +
             chunks(body, 20)),
            ("a negative length", OK_JSON + b"Content-Length: -5\r\n\r\n" +
             body),
            ("a length of 10^22", OK_JSON + b"Content-Length: 1" + b"0" * 22 +
             b"\r\n\r\n" + body),
            ("lines without CR", reply(200, body).replace(b"\r\n", b"\n")),
            ("a folded field", OK_JSON + b"X: a\r\n b\r\n" + length +
             b"\r\n" + body),
            ("NUL in a field", OK_JSON + b"X: a\0b\r\n" + length + b"\r\n" +
             body),
            ("a field without colon", OK_JSON + b"X\r\n" + length + b"\r\n" +
             body),
            ("Content-Encoding: gzip", reply(200, body,
                                             b"Content-Encoding: gzip")),
            ("Transfer-Encoding: gzip, chunked",
             OK_JSON + b"Transfer-Encoding: gzip, chunked\r\n\r\n" +
             chunks(b"\x1f\x8b" + b"x" * 100, 50)),
            ("Transfer-Encoding: br", OK_JSON +
             b"Transfer-Encoding: br\r\n\r\n" + body),
            ("HTTP/0.9", body),
            ("HTTP/2 on HTTP/1", reply(200, body).replace(
                b"HTTP/1.1 ", b"HTTP/2 ")),
            ("HTTP/1.7", reply(200, body).replace(b"HTTP/1.1", b"HTTP/1.7")),
            ("status 000", reply("000", body)),
            ("status 600", reply(600, body)),
            ("status 999", reply(999, body)),
            ("status 2000", reply(2000, body)),
            ("101 unasked", b"HTTP/1.1 101 Switch\r\nUpgrade: x\r\n\r\n"),
            ("a chunk size with 0x", CHUNKED + b"0x3\r\n{}\r\n"),
            ("a trailer", CHUNKED + chunks(body, 20)[:-2] + b"X: y\r\n\r\n"),
    ):
        claim(tls(says(answer)), name, lie,
              check=lambda a, l, s, c: s.connections == 1)
    claim(tls(says(CHUNKED + b"ffffffffffffffff\r\n" + body)),
          "a chunk of 2^64 - 1", (rig.UNREACHABLE, rig.CLOSED))


def http_floods():
    lie, protocol = rig.NOT_CONTRACT, rig.PROTOCOL
    early = b'{"id":"j1","capability":"image.preview","input":{"data":"'
    late = b'{"capability":"image.preview","input":{"data":"'
    filler = b"QUJD" * 16384
    told = dict(check=lambda a, l, s, c: a.id == "j1" and a.error ==
                rig.ERROR_TOO_LARGE and a.ticket == rig.ticket("j1"))
    ten_gb = OK_JSON + b"Content-Length: 10000000000\r\n\r\n"
    claim(tls(floods(ten_gb + early, filler)), "10 GB, its id first",
          (rig.BAD_JOB, 0), within=1.0, **told)
    claim(tls(floods(ten_gb + late, filler)), "10 GB, no id yet",
          (lie, rig.TOO_LARGE))
    piece = b"%x\r\n%s\r\n" % (len(filler), filler)
    claim(tls(floods(CHUNKED + b"%x\r\n%s\r\n" % (len(early), early), piece)),
          "endless chunks, its id first", (rig.BAD_JOB, 0), **told)
    claim(tls(floods(CHUNKED + b"%x\r\n%s\r\n" % (len(late), late), piece)),
          "endless chunks", (lie, rig.TOO_LARGE))
    claim(tls(floods(OK_JSON + b"\r\n" + late, filler)),
          "a body without an end", (lie, rig.TOO_LARGE))
    claim(tls(floods(ten_gb + early, filler)), "10 GB above a cap of 64 MiB",
          (rig.BAD_JOB, 0), max_body=64 << 20, **told)
    claim(tls(floods(OK_JSON + b"\r\n" + late, filler)),
          "no end, above a cap of 64 MiB", (lie, rig.TOO_LARGE),
          max_body=64 << 20, within=8.0)
    claim(tls(floods(OK_JSON + b"\r\n{\"id\":\"j1\",\"input\":{\"a\":[",
                     b"[],{},1," * 8192)),
          "a body of little values above a cap of 64 MiB", (rig.BAD_JOB, 0),
          max_body=64 << 20, within=8.0, **told)
    claim(tls(floods(OK_JSON, b"X: y\r\n" * 1000)), "endless headers",
          (lie, rig.HEADERS))
    claim(tls(floods(OK_JSON + b"X: ", b"y" * 65536)),
          "one endless header line", (lie, rig.HEADERS))
    claim(tls(floods(b"HTTP/1.1 200 ", b"y" * 65536)),
          "one endless status line", (lie, rig.HEADERS))
    claim(tls(floods(b"", b"HTTP/1.1 100 Go\r\n\r\n" * 1000)),
          "endless 100 Continue", (lie, rig.HEADERS))
    claim(tls(floods(b"", b"HTTP/1.1 103 E\r\nLink: </x>\r\n\r\n" * 1000)),
          "endless 103 Early Hints", (lie, rig.HEADERS))
    claim(tls(drips(b"", b"HTTP/1.1 102 P\r\n\r\n", 0.2)),
          "102 Processing for ever", (lie, rig.HEADERS))
    claim(tls(floods(CHUNKED + chunks(job(), 20)[:-2], b"X: y\r\n" * 1000)),
          "endless trailers", (lie, protocol))
    claim(tls(floods(CHUNKED + b"1;", b"a" * 65536)),
          "an endless chunk extension", (lie, rig.TOO_LARGE))
    claim(tls(floods(CHUNKED + b"1;", b"a" * 65536)),
          "an endless chunk extension above a cap of 64 MiB",
          (lie, rig.TOO_LARGE), max_body=64 << 20, within=4.0,
          check=lambda a, l, s, c: c.usage.ru_utime + c.usage.ru_stime < 1.5)
    claim(tls(floods(CHUNKED, b"1;%s\r\n{\r\n" % (b"a" * 8000))),
          "chunk extensions on every byte", (rig.NOT_CONTRACT, rig.JSON))
    for name, first, byte in (
            ("a status line", b"HTTP/1.1 200 ", b"y"), ("a header", OK_JSON + b"X:", b"y"),
            ("a body", OK_JSON + b"\r\n", b" ")):
        claim(tls(drips(first, byte, 0.5)), f"{name} of two bytes a second",
              (rig.UNREACHABLE, rig.TIMEOUT), deadline_ms=5000, within=3.6)
    claim(tls(holds(OK_JSON + b"Content-Length: 9\r\n\r\n{")),
          "a stalled body, and a long deadline",
          (rig.UNREACHABLE, rig.TIMEOUT), within=14.0)


def one_request_only():
    offers = (b"WWW-Authenticate: Negotiate", b"WWW-Authenticate: NTLM",
              b'WWW-Authenticate: Digest realm="x", nonce="y"',
              b'WWW-Authenticate: Basic realm="x"')
    with Server(says(reply(204))) as trap:
        trap_url = b"http://127.0.0.1:%d/" % trap.port
        for name, answer in (
                ("401 with every scheme", reply(401, b"", *offers)),
                ("407", reply(407, b"", b"Proxy-Authenticate: Negotiate")),
                ("417", reply(417)),
                ("Alt-Svc, Refresh, Link and cookies",
                 reply(200, job(), b'Alt-Svc: h2="127.0.0.1:%d"' % trap.port,
                       b"Refresh: 0; url=" + trap_url,
                       b"Link: <" + trap_url + b">; rel=preload",
                       b"Set-Cookie: a=b", b"Strict-Transport-Security: "
                       b"max-age=99999999", b"Content-Location: " + trap_url,
                       b"Location: " + trap_url))):
            wanted = (rig.JOB, 0) if name.startswith("Alt") else \
                (rig.ANSWERED, 0)
            claim(tls(says(answer)), f"{name}: one request", wanted,
                  check=lambda a, l, s, c: s.connections == 1 and
                  len(s.requests) == 1 and c.dials == 1)
        report.check(trap.connections == 0, "none of it led to the trap")


# -- JSON and the contract ---------------------------------------------------

def bad_bodies():
    lie, bad = rig.NOT_CONTRACT, (rig.BAD_JOB, 0)
    for name, body, wanted in (
            ("no JSON", b"hello", (lie, rig.JSON)),
            ("half of it", job()[:50], (lie, rig.JSON)),
            ("two objects", job() + job(), bad),
            ("an array", b"[" + job() + b"]", (lie, rig.CONTRACT)),
            ("null", b"null", (lie, rig.CONTRACT)),
            ("no id", b'{"capability":"image.preview","input":{}}',
             (lie, rig.CONTRACT)),
            ("an id that is a number", b'{"id":1,"capability":"a",'
             b'"input":{}}', (lie, rig.CONTRACT)),
            ("an id with a path", job("../x"), (rig.JOB, 0)),
            ("an id with a newline", job("a\\nb"), (lie, rig.CONTRACT)),
            ("an id with an escape", job("\\u001b[31m"), (lie, rig.CONTRACT)),
            ("an id with %n", job("%n"), (lie, rig.CONTRACT)),
            ("an id of 129 bytes", job("x" * 129), (lie, rig.CONTRACT)),
            ("an input that is no object",
             b'{"id":"j1","capability":"a","input":[]}', bad),
            ("no capability", b'{"id":"j1","input":{}}', bad),
            ("a BOM", b"\xef\xbb\xbf" + job(), (lie, rig.JSON)),
            ("a wrong lease", job(extra=',"lease":"a b"'), bad),
            ("depth of a hundred thousand", b'{"input":' + b"[" * 100000,
             (lie, rig.JSON)),
    ):
        claim(tls(says(reply(200, body))), f"a body that is wrong: {name}",
              wanted, within=1.0,
              check=lambda a, l, s, c: a.error ==
              (rig.ERROR_BAD_JOB if a.status == rig.BAD_JOB else 0))
    claim(tls(says(reply(200, job(), b"Content-Type: text/plain"))),
          "a job of another type", (lie, rig.MEDIA_TYPE))
    claim(tls(says(OK + b"Content-Length: 2\r\n\r\n{}")),
          "a job of no type", (lie, rig.MEDIA_TYPE))


# -- the process -------------------------------------------------------------

def proc(pid, name):
    with open(f"/proc/{pid}/{name}") as file:
        return dict(line.split(":", 1) for line in file if ":" in line)


def wait_until(condition, seconds=5.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def check_fds(pid):
    """Root sees what it holds; its own user may not even look."""
    try:
        held = sorted(int(fd) for fd in os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        report.check(os.geteuid() != 0, "its own user cannot look into it")
        return
    report.check(os.geteuid() == 0 and held == [0, 1, 2, 3, 4, 5],
                 "it holds null, two links and the token's pipe", held)


def walls_come_before_the_token():
    with tls(says(reply(204))) as server, \
            courier(server, token=b"") as c:
        # An empty pipe that is closed: no token ever comes.
        code = os.waitpid(c.process, 0)[1]
        c.status = code
        report.check(os.waitstatus_to_exitcode(code) == 1,
                     "without a token it ends", code)
    with tls(says(reply(204))) as server:
        c = courier(server, token=rig.HOLD)
        with c:
            is_walled = wait_until(lambda: proc(
                c.process, "status").get("Seccomp", "").strip() == "2")
            status = proc(c.process, "status")
            report.check(is_walled and status["NoNewPrivs"].strip() == "1",
                         "it is walled in before it has the token")
            report.check(status["Threads"].strip() == "1",
                         "it is one thread")
            check_fds(c.process)
            os.write(c.token_write, rig.token_message())
            os.close(c.token_write)
            answer = c.exchange(claim_order(), [rig.letter()], 5)
            report.check(outcome(answer) == (rig.NOTHING, 0),
                         "and goes on when the token comes", answer)


def environment_is_not_believed():
    keys = os.path.join(directory, "tls.keys")
    with Server(says(reply(204))) as trap:
        environment = {
            "SSLKEYLOGFILE": keys, "OPENSSL_CONF": "/nonexistent",
            "https_proxy": f"http://127.0.0.1:{trap.port}",
            "ALL_PROXY": f"http://127.0.0.1:{trap.port}",
            "SSL_CERT_FILE": "/dev/null", "HOME": directory}
        claim(tls(says(reply(204))), "its environment changes nothing",
              (rig.NOTHING, 0), environment=environment,
              check=lambda a, l, s, c: trap.connections == 0 and
              not os.path.exists(keys))


def odd_peers():
    place = rig.dial_order("https://localhost:1", "localhost", 1, 1, CAP)
    for name, packet in (
            ("a short dial order", place[:-1]),
            ("a dial order with a wrong magic", b"XXXX" + place[4:]),
            ("a URL of another scheme", rig.dial_order(
                "http://localhost:1", "localhost", 1, 1, CAP)),
            ("a cap above the contract's", rig.dial_order(
                "https://localhost:1", "localhost", 1, 1, 1 << 40)),
            ("nothing", b"")):
        with Server(says(b"")) as server, \
                courier(server, place=packet) as c:
            ended = wait_until(lambda: rig.has_ended(c))
            report.check(ended and os.waitstatus_to_exitcode(c.status) == 1,
                         f"it ends on {name}", c.status)
    bad_token = rig.token_message(token="a b\r\nX: y")
    with tls(says(reply(204))) as server, \
            courier(server, token=bad_token) as c:
        ended = wait_until(lambda: rig.has_ended(c))
        report.check(ended and os.waitstatus_to_exitcode(c.status) == 1,
                     "it ends on a token with a line break", c.status)
    for name, packet, fds in (
            ("of a wrong size", claim_order()[:-4], 1),
            ("without a letter", claim_order(), 0),
            ("with two letters", claim_order(), 2),
            ("of no capability", claim_order(capabilities=0), 1),
            ("with a claim_id of another alphabet",
             rig.order(rig.CLAIM, claim_id='"' * 32, capabilities=1,
                       seconds=1), 1),
            ("with an id of another alphabet",
             result(job_id='a"b', outcome=rig.FAILED, error=5), 0),
            ("of an unknown verb", rig.order(9), 0)):
        with tls(says(reply(204))) as server, courier(server) as c:
            letters = [rig.letter() for _ in range(fds)]
            answer = c.exchange(packet, letters, 5)
            for letter in letters:
                os.close(letter)
            report.check(answer is None and c.dials == 0 and c.took < 2 and
                         os.waitstatus_to_exitcode(c.status) == 0,
                         f"an order {name} is not followed", answer)
    with tls(says(reply(204))) as server, courier(server) as c:
        c.core.close()
        report.check(wait_until(lambda: rig.has_ended(c)),
                     "it ends when the core's link does")
    with tls(says(reply(204))) as server, courier(server, dial_silently=True) \
            as c:
        answer = c.exchange(claim_order(deadline_ms=3000), [rig.letter()], 5)
        report.check(outcome(answer) == (rig.UNREACHABLE, rig.TIMEOUT) and
                     c.took < 1.6, "a keep that does not answer", answer)


def it_ends_with_the_keep():
    """The process that spawned it goes, its links stay open elsewhere."""
    core, core_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    keep, keep_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    token_read, token_write = os.pipe()
    ca = os.open(authority.ca, os.O_RDONLY)
    fds = [core_end.fileno(), keep_end.fileno(), token_read, ca]
    told, tell = os.pipe()
    go, let_go = os.pipe()
    parent = os.fork()
    if parent == 0:
        pid = Courier.spawn(fds, (), {})
        os.write(tell, struct.pack("<i", pid))
        os.close(let_go)
        os.read(go, 1)
        os._exit(0)
    pid = struct.unpack("<i", os.read(told, 4))[0]
    keep.send(rig.dial_order("https://localhost:1", "localhost", 1, 1, CAP))
    is_walled = wait_until(lambda: proc(pid, "status").get(
        "Seccomp", "").strip() == "2")
    os.close(let_go)
    os.waitpid(parent, 0)
    is_gone = wait_until(lambda: not os.path.exists(f"/proc/{pid}/fd") or
                         proc(pid, "status")["State"].strip()[0] in "ZX")
    report.check(is_walled and is_gone, "it is killed when its parent ends")
    if not is_gone:
        os.kill(pid, signal.SIGKILL)
    for each in (core, core_end, keep, keep_end):
        each.close()
    for fd in (token_read, token_write, ca, told, tell, go):
        os.close(fd)


def main():
    only = sys.argv[1:]
    for suite in (honest_claims, other_answers, honest_results, early_answers,
                  replaced_outputs, mismatches, certificates, connections,
                  dialing, redirects, broken_headers, http_floods,
                  one_request_only, bad_bodies, walls_come_before_the_token,
                  environment_is_not_believed, odd_peers,
                  it_ends_with_the_keep, floods_of_tls):
        if not only or suite.__name__ in only:
            suite()
    shutil.rmtree(directory, ignore_errors=True)
    report.close()


main()
