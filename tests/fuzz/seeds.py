#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Writes the texts and structs from which a corpus was grown: seeds.py DIR
makes DIR/TARGET/seed-NN. What was found from there stands in corpus/."""
import base64
import glob
import os
import struct
import sys
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(HERE), "samples", "files")
MAGIC = 0x53430001
IMAGE = base64.b64encode(b"\xff\xd8\xff\xe0 picture").decode()

JSON = [
    '{"id":"a1","capability":"image.preview","input":{"data":"AAAA"},'
    '"lease":"l-1","more":true}',
    '{"id":"x","id":"y","capability":"none.such","input":{}}',
    '[1,-0,0.5,1e9,1E-2,12345678901234567890]',
    '{"a":[[[{"b":null}]],true,false],"\\u00e9\\ud83d\\ude00":"\\n\\"\\\\/"}',
    '"\u00e4\u20ac\U0001f600\\ud83d"', '{"k":"\\u0000"}', ' {} ', '{,}',
    '{"input":{"data":"AA==","a":{"b":[1,2]}},"id":"z","capability":"b"}',
]
SHAPES = {
    0: [f'{{"data":"{IMAGE}","size":256,"format":"webp"}}',
        f'{{"data":"{IMAGE}"}}', '{"data":"AA="}',
        '{"data":"AAAA","data":"AAAA"}', '{"data":"AAAA","size":1e2}'],
    1: ['{"data":"AAAA","format":"jpeg","width":1,"height":2,'
        '"source_width":10,"source_height":20}', '{}'],
    2: ['{"type":"pdf","data":"JVBERi0=","languages":["eng","deu"],'
        '"ocr":true,"max_pages":3}', '{"type":"pdf","data":"","ocr":1}'],
    3: ['{"pages":["a","","\\u00fc"],"page_count":3,"ocr_pages":[1,2],'
        '"title":null,"truncated":false}',
        '{"pages":[],"page_count":0,"ocr_pages":[],"title":"t",'
        '"truncated":true}'],
    4: [f'{{"data":"{IMAGE}","languages":["eng","chi_sim"]}}'],
    5: ['{"text":"a\\nb","confidence":93.4,"width":2,"height":3}'],
}
CONFIGS = [
    "sources:\n  home:\n    url: https://example.org/q\n    secret: home\n"
    "    capabilities: [image.preview, document.text]\n"
    "    poll_interval: 10s\n    max_input: 8MiB\n"
    "    addresses: [127.0.0.1, '::1']\n",
    "capabilities:\n  image.text:\n    languages: [eng, deu]\n"
    "    time_limit: 60s\n    memory_limit: 1GiB\n"
    "    program: { vips: /usr/bin/vips, tesseract: /usr/bin/tesseract }\n"
    "sources: { a: { url: 'http://localhost:1', allow_http: true } }\n",
    "accept_missing: [landlock]\nresult_ttl: 7d\ndrain_timeout: 5m\n",
    "a: &x [1]\nb: *x\n", "{[", "\t", "%YAML 9.9\n---\n", "a: !!int 3\n",
    "sources:\n  a:\n    url: \"\\x07\u202e\"\n    ulr: 1\n  a: {}\n", "",
]
URLS = ["https://example.org", "https://EXAMPLE.org:443/a/b/",
        "http://127.0.0.1:8080/x", "https://[::1]:99/", "127.0.0.1",
        "fe80::1", "https://u:p@h/", "https://h/?q", "http://localhost",
        "https://a.b-c.d/%41", "https://h:65536", "::ffff:1.2.3.4",
        "https://0x7f.1/", "https://xn--bcher-kva.example/\u00fc"]
TEXTS = ["0", "01", "18446744073709551615", "18446744073709551616", "250ms",
         "10s", "7d", "64KiB", "1GiB", "99999999999999999d", "name_1-b",
         "-x", "job:1~a@b+c/d=", "\u00e4\u200b\u202e\x07\\\x1b[0m"]
HEADS = [
    "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
    "Content-Length: 12\r\n\r\n",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n"
    "Retry-After: 30\r\n\r\n",
    "HTTP/1.0 503\r\nretry-after: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nX: trailer\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
    "HTTP/1.1 200\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
    "HTTP/2 200\r\n", "HTTP/1.1 101 S\r\n", "HTTP/1.1 200 x\n",
    "HTTP/1.1 200 OK\r\n folded\r\n", "HTTP/1.1 200 OK\r\nContent-Encoding:"
    " gzip\r\n",
] + ["HTTP/1.1 200 OK\r\n" + "A: b\r\n" * 110]
BODIES = {
    0: ['{"claim_id":"0123456789abcdef0123456789abcdef",'
        '"capabilities":["image.text","a.b"],"max_job_seconds":900}'],
    1: ['{"id":"a","lease":"b","outcome":"succeeded","output":{"x":[{}]}}',
        '{"id":"a","lease":"b","outcome":"failed",'
        '"error":{"code":"bad_input","message":"m"}}',
        '{"id":"a","lease":"b","outcome":"released","reason":"busy",'
        '"retry_after":30}'],
    2: ['{"capability":"image.text","input":{"data":"AA=="}}'],
}
TSV = ("level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\t"
       "width\theight\tconf\ttext\n1\t1\t0\t0\t0\t0\t0\t0\t9\t9\t-1\t\n"
       "5\t1\t1\t1\t1\t1\t1\t1\t9\t9\t96.38\tHello\n"
       "5\t1\t1\t1\t1\t2\t1\t1\t9\t9\t80\tworld\n"
       "5\t1\t1\t2\t1\t1\t1\t1\t9\t9\t7.5\t\u00fcber\n")
PROSE = [TSV, "Title:  A title\nPages:          3\nTitle: x\n",
         "page one\fpage two \n\f\f\x01\x02three\t ", "Pages: 99999999\n"]
STATUS = [
    '{"version":1,"pid":9,"written_at":1,"generation":1,"state":"running",'
    '"keep":"ok","yard":"ok","journal":"ok","job":{"source":"a","id":"b",'
    '"capability":"image.text","since":1},"capabilities":[{"name":"a.b",'
    '"usable":true,"reason":"r","resting_for_s":3}],"sources":[{"name":"a",'
    '"state":"ok","last_ok":1,"next_ask_in_ms":2}]}',
    '{"version":2}', '{"state":"\\u001b[31m"}', '[]', '',
]


def head(verb):
    return struct.pack("<4I", MAGIC, verb, 1, 1)


def text(value, size):
    return value.encode().ljust(size, b"\0")


def messages():
    yield 0, 1, head(1) + struct.pack("<4I", 0, 0, 1, 0)
    yield 0, 1, head(3) + struct.pack("<4I", 1, 0, 0, 0)
    yield 0, 0, head(4) + struct.pack("<4I", 0, 1, 0, 0)
    yield 1, 0, head(101) + text("config.yaml:1:1: no", 512)
    yield 2, 1, head(1) + struct.pack("<2I", 255, 0)
    yield 2, 0, head(100) + struct.pack("<2I", 3, 13)
    yield 2, 1, head(1) + struct.pack("<2I", 256, 0)
    yield 2, 0, head(100) + struct.pack("<2I", 256, 13)
    yield 2, 0, head(100) + struct.pack("<2I", 255, 14)
    yield 3, 2, head(2) + struct.pack("<2I", 1, 0)
    yield 4, 0, head(100) + struct.pack("<18I", 0x7fff, 0, *[1] * 16)
    yield 4, 0, head(101) + bytes(72) + struct.pack("<8I", 1, 1, 4, 0, 0, 5,
                                                    5, 5)
    yield 4, 0, head(101) + bytes(72) + struct.pack("<8I", 1, 2, 0, 9, 1, 5,
                                                    5, 5)
    yield 5, 2, head(1) + struct.pack("<2I2Q2I", 2, 3, 9, 9, 1000, 2) + \
        text("eng", 16) + text("deu", 16)
    yield 5, 0, head(2)
    yield 6, 0, head(100) + struct.pack("<2I", 4, 0)
    yield 6, 0, head(101) + struct.pack("<2I", 0, 0x7fff)
    order = text("0" * 32, 36) + struct.pack("<2I", 7, 900)
    yield 7, 1, head(1) + order + bytes(264 + 52) + struct.pack("<I", 60000)
    ids = text("job-1", 132) + text("lease", 132)
    for outcome, error, reason, n_fds in ((1, 0, 0, 1), (2, 4, 0, 0),
                                          (3, 0, 2, 0)):
        yield 7, n_fds, head(2) + bytes(44) + ids + struct.pack(
            "<5I", outcome, error, reason, 30, 1) + bytes(32) + \
            struct.pack("<I", 30000)
    yield 8, 0, head(100) + struct.pack("<8I", 1, 0, 200, 0, 1, 1, 0, 0) + \
        ids + bytes(32) + struct.pack("<Q", 99)
    yield 8, 0, head(100) + struct.pack(
        "<8I", 3, 0, 200, 0, 0xffffffff, 0, 17, 0) + ids + bytes(40)
    yield 8, 0, head(100) + struct.pack("<8I", 8, 14, 200, 5, 0, 0, 0, 0)
    address = struct.pack("<I16s", 2, b"\x7f\0\0\1")
    yield 9, 0, head(1) + text("https://h", 512) + text("h", 256) + \
        struct.pack("<4I", 443, 1, 0, 1) + address + bytes(140) + \
        struct.pack("<Q", 1024)
    yield 10, 0, head(2)
    yield 10, 1, head(3) + struct.pack("<2I", 0, 1) + address
    yield 11, 0, struct.pack("<2I", MAGIC, 5) + bytes(32) + b"abc=="


def webp(*chunks):
    body = b"WEBP"
    for name, content in chunks:
        body += name + struct.pack("<I", len(content)) + content + \
            bytes(len(content) & 1)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def png(*chunks):
    out = b"\x89PNG\r\n\x1a\n"
    for name, content in chunks:
        out += struct.pack(">I", len(content)) + name + content + \
            struct.pack(">I", zlib.crc32(name + content))
    return out


def jpeg(*segments):
    return b"\xff\xd8" + b"".join(
        b"\xff" + bytes([marker]) + struct.pack(">H", len(content) + 2) +
        content for marker, content in segments)


def tiff(order, *directories):
    out = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(
        order + "I", 8)
    for i, tags in enumerate(directories):
        end = len(out) + 2 + 12 * len(tags) + 4
        out += struct.pack(order + "H", len(tags))
        for tag in tags:
            out += struct.pack(order + "HHII", tag, 4, 1, 8)
        out += struct.pack(
            order + "I", end if i + 1 < len(directories) else 0)
    return out


def pictures():
    yield webp((b"VP8X", bytes([0x2c]) + bytes(9)), (b"ICCP", b"icc"),
               (b"ALPH", b"a"), (b"VP8 ", b"pixels"), (b"EXIF", b"where"),
               (b"XMP ", b"<x/>"))
    yield webp((b"VP8L", b"abc"))
    yield webp((b"VP8X", b""), (b"VP8 ", b"pixels"))
    yield png((b"IHDR", bytes(13)), (b"IDAT", b"abc"), (b"IEND", b""))
    yield png((b"IHDR", bytes(13)), (b"eXIf", b"abc"), (b"IEND", b""))
    yield png((b"IHDR", bytes(13)), (b"IEND", b""), (b"tEXt", b"a\0b"))
    scan = (0xDA, b"\1\1\0\0\x3f\0")
    tables = [(0xE0, b"JFIF\0\1\1\0\0\1\0\1\0\0"), (0xDB, bytes(65)),
              (0xC0, bytes(9)), (0xC4, bytes(20))]
    yield jpeg(*tables, scan) + b"data\xff\0\xff\xd0data\xff\xd9"
    yield jpeg((0xE1, b"Exif\0\0"), *tables, scan) + b"data\xff\xd9"
    yield jpeg(*tables, scan) + b"data" + \
        jpeg((0xC4, bytes(4)), scan)[2:] + b"more\xff\xd9"
    yield jpeg(*tables, scan) + b"data" + \
        jpeg((0xE1, b"Exif\0\0"), scan)[2:] + b"more\xff\xd9"
    for order in "<>":
        yield tiff(order, [256, 257, 330], [256], [257])
    yield b"II+\0\x08\0\0\0" + struct.pack("<QQ", 16, 1) + struct.pack(
        "<HHQQ", 330, 4, 1, 8) + struct.pack("<Q", 16) + bytes(8)


def magics():
    yield from pictures()
    yield b"P5\n2 2\n255\nabcd"
    yield from (b"%PDF-1.7", b"<svg>", b"\0\0\0\x18ftypheic", b"GIF89a",
                b"  %PDF-1.4", b"PK\3\4", b"\xef\xbb\xbf<?xml?><svg")
    for path in sorted(glob.glob(SAMPLES + "/*")):
        with open(path, "rb") as file:
            yield file.read(64)


def seeds():
    for i, value in enumerate(JSON):
        value = value.encode()
        yield "scan", bytes([i, 32]) + value
        yield "claim", bytes([i]) + value
    for which, values in SHAPES.items():
        for value in values:
            yield "shape", bytes([which, 3, 0]) + value.encode()
    for value in ("", "AA==", "AAA=", "AAAA", "AB==", "A===", "+/+/", "AAAA="):
        yield "base64", b"\1\x08" + value.encode()
    for value in ("0", "-0", "1.0", "100", "100.0", "1e2", "1000e-1", "1e99",
                  "0.1e3", "-7", "9223372036854775807", "9223372036854775808",
                  "0.000001e8", "99.99999999999999999999"):
        yield "number", struct.pack(">ii", -7, 100) + value.encode()
    for value in TEXTS:
        yield "text", b"\x20" + value.encode()
    for which, n_fds, packet in messages():
        yield "messages", bytes([which, n_fds]) + packet
    for value in CONFIGS:
        yield "config", value.encode()
    with open(os.path.join(HERE, "../../etc/config.yaml"), "rb") as file:
        yield "config", file.read()
    for value in URLS:
        yield "url", value.encode()
    for value in HEADS:
        yield "header", value.encode()
    for value in magics():
        yield "magic", value
    for value in pictures():
        yield "picture", value
    for value in PROSE:
        yield "prose", b"\xff\x07" + value.encode()
    for which, values in BODIES.items():
        for value in values:
            yield "body", bytes([which, 3]) + value.encode()
    for value in ("worker a 0123456789abcdef\nproducer a 0123456789abcdeF\n",
                  "# note\n\nworker a short\n", "x", "worker a b c\n", ""):
        yield "tokens", value.encode()
    for value in STATUS:
        yield "status", value.encode()


def main():
    counts = {}
    for target, content in seeds():
        n = counts[target] = counts.get(target, 0) + 1
        os.makedirs(os.path.join(sys.argv[1], target), exist_ok=True)
        with open(os.path.join(sys.argv[1], target, f"seed-{n:02}"),
                  "wb") as file:
            file.write(content)


if __name__ == "__main__":
    main()
