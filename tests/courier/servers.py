# SPDX-License-Identifier: ISC
"""Sources for one courier each: honest ones and liars, on loopback."""
import os
import socket
import ssl
import struct
import subprocess
import threading
import time

JSON_TYPE = b"Content-Type: application/json\r\n"


def wait(connection):
    """Until the other side, or the end of the test, closes."""
    while connection.recv(65536):
        pass


def reply(status, body=b"", *fields):
    """A whole, honest answer."""
    lines = [b"HTTP/1.1 " + str(status).encode() + b" X\r\n"]
    lines += [field + b"\r\n" for field in fields]
    if body and not any(f.lower().startswith(b"content-type")
                        for f in fields):
        lines.append(JSON_TYPE)
    if body:
        lines.append(b"Content-Length: %d\r\n" % len(body))
    return b"".join(lines) + b"\r\n" + body


def job(job_id="j1", capability="image.preview", data="QUJD", extra=""):
    return ('{"id":"%s","capability":"%s","input":{"data":"%s"}%s}' %
            (job_id, capability, data, extra)).encode()


def reset(connection):
    time.sleep(0.03)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          struct.pack("ii", 1, 0))
    connection.close()


class Server:
    """Counts connections, keeps requests, and lets one function answer.

    handle(connection, request) gets the TLS (or plain) connection after a
    whole request; raw(connection) instead gets the bare TCP connection.
    """

    def __init__(self, handle=None, context=None, raw=None,
                 family=socket.AF_INET, whole=True):
        self.handle, self.context, self.raw = handle, context, raw
        self.whole = whole
        self.requests, self.connections, self.errors = [], 0, []
        self.socket = socket.socket(family)
        self.socket.bind(("127.0.0.1" if family == socket.AF_INET else "::1",
                          0))
        self.socket.listen(8)
        self.address = self.socket.getsockname()[:2]
        self.port = self.address[1]
        self.is_open = True
        self.alive = []
        self.threads = []
        self.start(self.accept)

    def start(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments,
                                  daemon=True)
        self.threads.append(thread)
        thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Shut first and closed only when no thread is left: a number that is
        # free again would be another test's link.
        self.is_open = False
        for each in [self.socket] + self.alive:
            try:
                socket.socket.shutdown(each, socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.threads:
            thread.join(5)
            if thread.is_alive():
                raise RuntimeError("a source does not end")
        self.socket.close()

    def accept(self):
        while self.is_open:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            self.alive.append(connection)
            self.start(self.serve, connection)

    def serve(self, connection):
        connection.settimeout(20)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            if self.raw is not None:
                self.raw(connection)
                return
            if self.context is not None:
                connection = self.context.wrap_socket(connection,
                                                      server_side=True)
                self.alive.append(connection)
            request = self.read_request(connection)
            if request:
                self.requests.append(request)
            self.handle(connection, request)
        except (OSError, ValueError) as error:
            self.errors.append(error)
        finally:
            try:
                connection.close()
            except OSError:
                pass

    def read_request(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = connection.recv(65536)
            if not piece:
                return data
            data += piece
        head, _, body = data.partition(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        parts = [body]
        got = len(body)
        while self.whole and got < length:
            piece = connection.recv(1 << 16)
            if not piece:
                break
            parts.append(piece)
            got += len(piece)
        return head + b"\r\n\r\n" + b"".join(parts)


def says(answer):
    """Sends one answer and closes properly."""
    def handle(connection, _request):
        connection.sendall(answer)
        if isinstance(connection, ssl.SSLSocket):
            connection.unwrap()
    return handle


def cuts(answer):
    """Sends and cuts TLS off: no close_notify."""
    def handle(connection, _request):
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_RDWR)
    return handle


def resets(answer):
    def handle(connection, _request):
        connection.sendall(answer)
        time.sleep(0.05)
        reset(connection)
    return handle


def floods(first, piece):
    """Sends first, then piece for ever. taken counts what got through."""
    def handle(connection, _request):
        connection.sendall(first)
        while True:
            connection.sendall(piece)
    return handle


def drips(first, piece, seconds):
    def handle(connection, _request):
        connection.sendall(first)
        while True:
            connection.sendall(piece)
            time.sleep(seconds)
    return handle


def holds(first=b""):
    """Says something and then nothing, without closing."""
    def handle(connection, _request):
        if first:
            connection.sendall(first)
        wait(connection)
    return handle


class Flood:
    """tests/source/tls_flood.c as a server."""

    def __init__(self, certificate, key, mode):
        path = os.path.join(
            os.environ.get("SANDCASTLE_TESTS", "build/tests"),
            "source", "tls_flood")
        self.process = subprocess.Popen(
            [path, certificate, key, mode], stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())
        self.address = ("127.0.0.1", self.port)
        self.connections = None
        self.requests = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
