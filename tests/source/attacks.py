# SPDX-License-Identifier: ISC
"""What lying sources do to a worker: one class per attack.

Each attack is a source of its own. `serve` answers one connection (raw ones
get the TCP socket, the others the TLS socket and the request); `verdict` is
called at the end with what was seen and asserts.
"""
import json
import os
import struct
import time

from sources import Honest, answer

CHUNK = b"A" * 65536
HEAD = (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
JOB = {"id": "lie", "capability": "image.preview", "input": {"data": "AAAA"}}


class Attack:
    """A source that lies about one thing."""
    raw = False
    certificate = "good"
    token = None            # set by the suite
    number = 0              # in the catalogue

    def __init__(self, trap):
        self.trap = trap
        self.sent = []          # bytes that one flood got rid of
        self.durations = []     # seconds that one connection lived

    def __call__(self, server, conn, request):
        started = time.monotonic()
        try:
            self.serve(server, conn, request)
        finally:
            self.durations.append(time.monotonic() - started)

    def flood(self, conn, first, piece, limit=1 << 30):
        """Sends first, then piece for ever; notes how much was taken."""
        sent = len(first)
        try:
            conn.sendall(first)
            while sent < limit:
                conn.sendall(piece)
                sent += len(piece)
        except OSError:
            pass
        self.sent.append(sent)

    def verdict(self, seen):
        assert not seen["jobs"], f"a lie became a job: {seen['jobs']}"
        assert seen["trouble"], "no trouble in status"
        assert seen["backoff_ms"] > 0, seen


def wait_for_close(conn, seconds=30):
    conn.settimeout(seconds)
    try:
        while conn.recv(65536):
            pass
    except OSError:
        pass


class Redirect(Attack):
    """1: every redirect leads to a trap."""
    codes = (301, 302, 303, 307, 308, 300, 305)

    def serve(self, server, conn, request):
        code = self.codes[len(server.requests) % len(self.codes)]
        answer(conn, code, {}, [("Location", self.trap.url + "/v1/claim"),
                                ("Refresh", "0; url=" + self.trap.url)])


class Silent(Attack):
    """4: accepts, takes the request, says nothing."""

    def serve(self, server, conn, request):
        wait_for_close(conn, 120)

    def verdict(self, seen):
        super().verdict(seen)
        assert max(self.durations) <= 62, self.durations


class SilentHandshake(Attack):
    """5: accepts, never speaks TLS."""
    raw = True

    def serve(self, server, conn, request):
        wait_for_close(conn, 60)

    def verdict(self, seen):
        super().verdict(seen)
        assert max(self.durations) <= 12, self.durations


class SelfSigned(Attack):
    """9: a certificate that no CA of ours signed; not one HTTP byte."""
    certificate = "self"

    def serve(self, server, conn, request):
        answer(conn, 200, JOB)

    def verdict(self, seen):
        super().verdict(seen)
        assert seen["requests"] == 0, "the token went to a stranger"
        assert "certificate" in seen["trouble"], seen["trouble"]


class Flood(Attack):
    most = 70 << 20

    def verdict(self, seen):
        super().verdict(seen)
        assert self.sent, "the flood was never asked for"
        assert max(self.sent) <= self.most, self.sent


class LongLength(Flood):
    """18: Content-Length of 10 GB, and the bytes follow."""
    most = 8 << 20

    def serve(self, server, conn, request):
        self.flood(conn, HEAD + b"Content-Length: 10000000000\r\n\r\n", CHUNK)


class EndlessBody(Flood):
    """20: no length, no end."""

    def serve(self, server, conn, request):
        self.flood(conn, HEAD + b"\r\n{\"x\":\"", CHUNK)


class EndlessHeaders(Flood):
    """21"""
    most = 8 << 20

    def serve(self, server, conn, request):
        self.flood(conn, HEAD, b"X-Filler: " + b"a" * 1000 + b"\r\n")


class EndlessTrailers(Flood):
    """27"""
    most = 8 << 20

    def serve(self, server, conn, request):
        body = json.dumps(JOB).encode()
        self.flood(conn, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" +
                   b"%x\r\n%s\r\n0\r\n" % (len(body), body),
                   b"X-Trailer: " + b"t" * 1000 + b"\r\n")


class EndlessChunkExtension(Flood):
    """28"""
    most = 90 << 20

    def serve(self, server, conn, request):
        self.flood(conn, HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;x=",
                   CHUNK)


class CompressedTransfer(Attack):
    """30: a gzip bomb that was not asked for."""

    def serve(self, server, conn, request):
        import gzip
        bomb = gzip.compress(b"{" + b" " * (8 << 20) +
                             json.dumps(JOB).encode()[1:])
        conn.sendall(HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" +
                     b"%x\r\n" % len(bomb) + bomb + b"\r\n0\r\n\r\n")


class TwoLengths(Attack):
    """33"""

    def serve(self, server, conn, request):
        body = json.dumps(JOB).encode()
        conn.sendall(HEAD + b"Content-Length: 5\r\nContent-Length: %d\r\n\r\n"
                     % len(body) + body)


class BrokenHeaders(Attack):
    """36: bare LF, fold, NUL, no colon, in turn."""
    kinds = (b"X-A: b\n", b"X-A: b\r\n  folded\r\n", b"X-A: b\0c\r\n",
             b"no colon here\r\n")

    def serve(self, server, conn, request):
        body = json.dumps(JOB).encode()
        kind = self.kinds[(len(server.requests) - 1) % len(self.kinds)]
        conn.sendall(HEAD + kind + b"Content-Length: %d\r\n\r\n" % len(body) +
                     body)


class OddJson(Attack):
    """46, 47, 50: bodies that are no job."""
    bodies = [
        b'{"id":"a","id":"b","capability":"image.preview","input":{}}',
        b'{"id":"a","i\\u0064":"b","capability":"image.preview","input":{}}',
        b'{"id":7,"capability":"image.preview","input":{}}',
        b'{"id":"","capability":"image.preview","input":{}}',
        b'{"id":"' + b"x" * 129 + b'","capability":"image.preview","input":{}}',
        b'{"id":"../x y","capability":"image.preview","input":{}}',
        b'{"id":"a\\nb","capability":"image.preview","input":{}}',
        b'{"id":"\\u001b[31mred","capability":"image.preview","input":{}}',
        b'{"id":"%n%n","capability":"image.preview","input":{}}',
        b'{"id":"\'; drop table","capability":"image.preview","input":{}}',
        b'{"id":"a\\u0000","capability":"image.preview","input":{}}',
        b'{"capability":"image.preview","input":{}}',
        b"[" * 100000,
        b'{"x":1e999999,"id":',
        b'{"n":' + b"1" * 400 + b',"id":"n","capability":',
        b'{"id":"\\ud800","capability":"image.preview","input":{}}',
        b'{"id":"\xc0\x80","capability":"image.preview","input":{}}',
        b'\xef\xbb\xbf{"id":"bom","capability":"image.preview","input":{}}',
        b'[{"id":"a"},{"id":"b"}]',
        b"null",
        b"",
    ]

    def serve(self, server, conn, request):
        if not request.path.endswith("/v1/claim"):
            answer(conn, 200)
            return
        body = self.bodies[(len(server.claims()) - 1) % len(self.bodies)]
        answer(conn, 200, body)


class NotAsked(Honest):
    """48: capabilities that were not asked for, unknown, in wrong case."""
    raw = False
    certificate = "good"
    names = ("document.text", "shell.run", "IMAGE.PREVIEW", "image.preview ")

    def __init__(self, trap):
        super().__init__([
            {"id": f"wrong-{i}", "capability": name, "input": {},
             "force": True} for i, name in enumerate(self.names)])
        self.durations = []

    def verdict(self, seen):
        codes = {k: v.get("error", {}).get("code")
                 for k, v in self.done.items()}
        assert codes == {f"wrong-{i}": "not_asked"
                         for i in range(len(self.names))}, codes


class EarlyAcceptance(Honest):
    """43: says 200 to a result before it has been read; then is honest.

    The output is larger than what socket buffers swallow.
    """
    raw = False
    certificate = "good"

    def __init__(self, trap, big_job):
        super().__init__([dict(big_job, id="early")])
        self.lies = 0
        self.durations = []

    def on_head(self, conn, line):
        """The first result is 'stored' before a byte of it was read."""
        if "/v1/result" not in line or self.lies:
            return False
        self.lies += 1
        conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        time.sleep(3)
        return True

    def verdict(self, seen):
        assert self.lies == 1, "the lie was never told"
        assert self.done["early"]["outcome"] == "succeeded", \
            "an early 200 counted as stored"


class SameId(Honest):
    """53: two sources offer the same id at once, with inputs of their own."""
    raw = False
    certificate = "good"

    def __init__(self, trap, marker_job):
        super().__init__([dict(marker_job, id="same-id")])
        self.durations = []

    def verdict(self, seen):
        assert self.done["same-id"]["outcome"] == "succeeded", self.done


def noise_png(width, height):
    """A PNG that does not compress."""
    import zlib
    rows = b"".join(b"\0" + os.urandom(3 * width) for _ in range(height))

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(
            ">I", zlib.crc32(body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) +
        chunk(b"IDAT", zlib.compress(rows, 0)) + chunk(b"IEND", b""))
