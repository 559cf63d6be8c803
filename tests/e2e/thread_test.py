#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""One job through all processes: claim over TLS, box, tool, result."""
import base64
import os
import struct
import sys
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap
from castle import Castle, modes
from sources import Authority, Honest, Server
from tap import eventually

AUTHORITY = Authority()


def png(width, height):
    """A colourful PNG."""
    rows = b"".join(
        b"\0" + bytes(v for x in range(width)
                      for v in (x & 255, y & 255, (x ^ y) & 255))
        for y in range(height))

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(
            ">I", zlib.crc32(body))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def jpeg_size(data):
    at = 2
    while at + 9 < len(data):
        marker, length = data[at + 1], struct.unpack(">H", data[at + 2:at + 4])[0]
        if marker in (0xC0, 0xC1, 0xC2):
            height, width = struct.unpack(">HH", data[at + 5:at + 9])
            return width, height
        at += 2 + length
    raise AssertionError("no frame in the JPEG")


def start(castle, server, capabilities=("image.preview",), token="TOKEN-photos",
          **keys):
    keys.setdefault("poll_interval", "200ms")
    castle.configure("sources:\n" + castle.source_config(
        "photos", server.url, capabilities, ca_file=AUTHORITY.ca, **keys))
    castle.secret("photos", token)
    return castle.start()


def preview_in(mode, host="127.0.0.1"):
    source = Honest()
    server = Server(source, AUTHORITY.context(), host=host)
    image = base64.b64encode(png(600, 400)).decode()
    source.add(id="job-1", lease="lease-1", capability="image.preview",
               input={"data": image, "size": 100})
    try:
        with Castle(mode) as castle:
            start(castle, server)
            result = eventually(lambda: source.done.get("job-1"), 30, "result")
            assert result["outcome"] == "succeeded", result
            assert result["lease"] == "lease-1", result
            output = result["output"]
            data = base64.b64decode(output["data"])
            assert data[:3] == b"\xff\xd8\xff", data[:8]
            assert jpeg_size(data) == (100, 67), jpeg_size(data)
            assert (output["width"], output["height"]) == (100, 67), output
            assert (output["source_width"], output["source_height"]) == \
                (600, 400), output
            claim = server.claims()[0]
            assert claim.line == "POST /v1/claim HTTP/1.1", claim.line
            assert claim.headers["authorization"] == "Bearer TOKEN-photos"
            assert claim.headers["content-type"] == "application/json"
            body = claim.json()
            assert body["capabilities"] == ["image.preview"], body
            assert len(body["claim_id"]) == 32, body
            assert body["max_job_seconds"] >= 30, body
            assert castle.stop() == 0
    finally:
        server.close()


def a_failed_job():
    source = Honest()
    server = Server(source, AUTHORITY.context())
    source.add(id="cut", capability="image.preview", input={
        "data": base64.b64encode(png(600, 400)[:5000]).decode()})
    source.add(id="odd", capability="image.preview", input={
        "data": base64.b64encode(b"just some text").decode()})
    source.add(id="wrong", capability="image.preview", input={"size": 100})
    try:
        with Castle() as castle:
            start(castle, server)
            eventually(lambda: len(source.done) == 3, 30, "three results")
            codes = {k: v["error"]["code"] for k, v in source.done.items()}
            assert codes == {"cut": "bad_content", "odd": "bad_content",
                             "wrong": "bad_input"}, codes
            assert castle.stop() == 0
    finally:
        server.close()


def polls_at_the_interval():
    source = Honest()
    server = Server(source, AUTHORITY.context())
    try:
        with Castle() as castle:
            start(castle, server, poll_interval="500ms")
            eventually(lambda: len(server.claims()) >= 6, 20, "six claims")
            times = [r.at for r in server.claims()]
            gaps = [b - a for a, b in zip(times, times[1:])]
            assert min(gaps) > 0.4, gaps
            assert sorted(gaps)[len(gaps) // 2] < 0.9, gaps
            ids = {r.json()["claim_id"] for r in server.claims()}
            assert len(ids) == 1, "a claim_id stays until a 200"
            stopping = time.monotonic()
            assert castle.stop() == 0
            assert time.monotonic() - stopping < 2
    finally:
        server.close()


TESTS = [(f"a preview through all processes as {mode}",
          lambda mode=mode: preview_in(mode)) for mode in modes()]
TESTS += [("a preview over IPv6", lambda: preview_in("user", "::1")),
          a_failed_job, polls_at_the_interval]

if __name__ == "__main__":
    tap.main(TESTS)
