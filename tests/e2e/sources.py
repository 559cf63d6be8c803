# SPDX-License-Identifier: ISC
"""Sources for tests: servers on loopback, honest or lying.

A Server accepts connections (TLS by a throw-away CA unless told otherwise),
reads one request at a time and hands it to a behaviour, which answers on the
socket as it likes. Everything that arrives is recorded. All sockets have a
time limit and end with close().
"""
import atexit
import base64
import json
import os
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time


class Authority:
    """A CA and the certificates it signs, in a directory of its own."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="sandcastle-ca-")
        atexit.register(self.remove)
        os.chmod(self.dir, 0o755)
        self._key("ca")
        self._run("req", "-x509", "-new", "-key", self._at("ca.key"), "-days",
                  "2", "-subj", "/CN=test authority", "-out",
                  self._at("ca.pem"))
        self.ca = self._at("ca.pem")
        self.issue("good", "IP:127.0.0.1,IP:::1,DNS:localhost")

    def _at(self, name):
        return os.path.join(self.dir, name)

    def _run(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def _key(self, name):
        self._run("genpkey", "-algorithm", "EC", "-pkeyopt",
                  "ec_paramgen_curve:P-256", "-out", self._at(name + ".key"))

    def issue(self, name, names, self_signed=False):
        """A certificate for subjectAltName entries; gives (cert, key)."""
        self._key(name)
        with open(self._at(name + ".ext"), "w") as f:
            f.write(f"subjectAltName={names}\n")
        self._run("req", "-new", "-key", self._at(name + ".key"), "-subj",
                  "/CN=" + name, "-out", self._at(name + ".csr"))
        signer = (["-signkey", self._at(name + ".key")] if self_signed else
                  ["-CA", self._at("ca.pem"), "-CAkey", self._at("ca.key"),
                   "-CAcreateserial"])
        self._run("x509", "-req", "-in", self._at(name + ".csr"), *signer,
                  "-days", "2", "-extfile", self._at(name + ".ext"), "-out",
                  self._at(name + ".pem"))
        return self._at(name + ".pem"), self._at(name + ".key")

    def context(self, name="good"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self._at(name + ".pem"),
                                self._at(name + ".key"))
        return context

    def remove(self):
        shutil.rmtree(self.dir, ignore_errors=True)


class Request:
    def __init__(self, line, headers, body):
        self.line, self.headers, self.body = line, headers, body
        self.at = time.monotonic()
        self.path = line.split(" ")[1] if line.count(" ") >= 2 else ""

    def json(self):
        return json.loads(self.body)


def read_request(conn, on_head=None):
    """One request; None when the peer closed, or when on_head(line), called
    before the body is read, says that it has dealt with it."""
    data = b""
    while b"\r\n\r\n" not in data:
        more = conn.recv(65536)
        if not more:
            return None
        data += more
        if len(data) > 1 << 20:
            raise ValueError("headers too long")
    head, _, body = data.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    if on_head and on_head(lines[0]):
        return None
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    length = int(headers.get("content-length", "0"))
    chunks = [body]
    got = len(body)
    while got < length:
        more = conn.recv(min(1 << 20, length - got))
        if not more:
            return None
        chunks.append(more)
        got += len(more)
    return Request(lines[0], headers, b"".join(chunks))


def answer(conn, status, body=None, headers=(), reason="OK"):
    """A plain, correct HTTP answer; body is an object or bytes."""
    data = b""
    lines = [f"HTTP/1.1 {status} {reason}"]
    if body is not None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        lines.append("Content-Type: application/json")
    if status != 204:
        lines.append(f"Content-Length: {len(data)}")
    lines += [f"{name}: {value}" for name, value in headers]
    lines.append("Connection: close")
    conn.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + data)


class Server:
    """Listens on loopback; every connection in a thread of its own."""

    def __init__(self, behaviour, context=None, host="127.0.0.1",
                 raw=False, limit=60):
        self.behaviour = behaviour
        self.context = context
        self.raw = raw          # hand over the TCP socket as accepted
        self.limit = limit
        self.requests = []
        self.connections = 0
        self.errors = []
        self.wire = []          # every body and head that arrived, as bytes
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.socket(family, socket.SOCK_STREAM)
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.listener.bind((host, 0))
        self.listener.listen(64)
        self.port = self.listener.getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        scheme = "https" if context else "http"
        self.url = f"{scheme}://{shown}:{self.port}"
        self.open = set()
        self.lock = threading.Lock()
        self.closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while not self.closed:
            try:
                conn, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with self.lock:
                self.open.add(conn)
            threading.Thread(target=self._serve, args=(conn,),
                             daemon=True).start()

    def _serve(self, conn):
        tcp = conn
        try:
            conn.settimeout(self.limit)
            if self.raw:
                self.behaviour(self, conn, None)
                return
            if self.context:
                conn = self.context.wrap_socket(conn, server_side=True)
            on_head = getattr(self.behaviour, "on_head", None)
            request = read_request(
                conn, on_head and (lambda line: on_head(conn, line)))
            if request is not None:
                self.requests.append(request)
                self.behaviour(self, conn, request)
            if self.context:
                conn.unwrap()
        except (OSError, ValueError) as error:
            self.errors.append(repr(error))
        finally:
            with self.lock:
                self.open.discard(tcp)
            conn.close()

    def close(self):
        self.closed = True
        self.listener.close()
        with self.lock:
            for conn in list(self.open):
                try:
                    conn.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def claims(self):
        return [r for r in self.requests if r.path.endswith("/v1/claim")]

    def results(self):
        return [r for r in self.requests if r.path.endswith("/v1/result")]


class Honest:
    """The behaviour of a source that keeps the contract."""

    def __init__(self, jobs=(), hold_results=False):
        self.lock = threading.Lock()
        self.waiting = list(jobs)   # dicts: id, capability, input
        self.handed = {}            # claim_id → answer
        self.done = {}              # id → result as sent
        self.repeats = 0
        self.conflicts = []
        self.releases = []
        self.result_status = 200

    def add(self, **job):
        with self.lock:
            self.waiting.append(job)

    def __call__(self, server, conn, request):
        body = request.json()
        if request.path.endswith("/v1/claim"):
            status, reply = self._claim(body)
        elif request.path.endswith("/v1/result"):
            status, reply = self._result(body)
        else:
            status, reply = 404, {"error": "no such path"}
        answer(conn, status, reply)

    def _claim(self, body):
        with self.lock:
            repeat = self.handed.get(body["claim_id"])
            if repeat is not None and repeat["id"] not in self.done:
                return 200, repeat
            for job in self.waiting:
                if job["capability"] in body["capabilities"] or \
                        job.get("force"):
                    self.waiting.remove(job)
                    reply = {k: v for k, v in job.items() if k != "force"}
                    self.handed[body["claim_id"]] = reply
                    return 200, reply
        return 204, None

    def _result(self, body):
        with self.lock:
            if self.result_status != 200:
                return self.result_status, None
            if body["outcome"] == "released":
                self.releases.append(body)
                for claim, job in list(self.handed.items()):
                    if job["id"] == body["id"]:
                        del self.handed[claim]
                        self.waiting.insert(0, job)
                return 200, None
            known = self.done.get(body["id"])
            if known is not None:
                self.repeats += 1
                if known != body:
                    self.conflicts.append((known, body))
                    return 409, None
                return 200, None
            self.done[body["id"]] = body
            return 200, None


def file_input(path, **fields):
    with open(path, "rb") as f:
        data = base64.b64encode(f.read()).decode()
    return dict(fields, data=data)
