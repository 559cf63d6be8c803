# SPDX-License-Identifier: ISC
"""A sandcastle-queue under test, and clients of it."""
import http.client
import json
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading

from castle import program
from tap import Skip

WORKER, OTHER, PRODUCER, STRANGER = (
    kind + "-" + secrets.token_hex(16)
    for kind in ("worker", "other", "producer", "stranger"))
TOKENS = (f"# who may ask\nworker anna {WORKER}\nworker bert {OTHER}\n"
          f"\nproducer app {PRODUCER}\nproducer elsewhere {STRANGER}\n")


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.body[:200]!r}>"


class Client:
    """Calls with one token; one connection a call unless it is kept."""

    def __init__(self, queue, token, keep=False):
        self.queue, self.token, self.keep = queue, token, keep
        self.conn = None

    def call(self, method, path, body=None, headers=None, timeout=30):
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        sent = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            sent["Authorization"] = "Bearer " + self.token
        sent.update(headers or {})
        sent = {k: v for k, v in sent.items() if v is not None}
        conn = self.conn or self.queue.connect(timeout)
        self.conn = conn if self.keep else None
        try:
            conn.request(method, path, body, sent)
            answer = conn.getresponse()
            return Reply(answer.status, answer.headers, answer.read())
        finally:
            if not self.keep:
                conn.close()

    def submit(self, data="x", capability="image.text"):
        reply = self.call("POST", "/v1/jobs",
                          {"capability": capability, "input": {"d": data}})
        assert reply.status == 201, reply
        return reply.json()["id"]

    def job(self, job):
        reply = self.call("GET", "/v1/jobs/" + job)
        assert reply.status == 200, reply
        return reply.json()

    def jobs(self, query=""):
        reply = self.call("GET", "/v1/jobs" + query)
        assert reply.status == 200, reply
        return reply.json()["jobs"]

    def claim(self, capabilities=("image.text",), claim_id=None, seconds=1):
        """The reply to a claim; .job is None for 204."""
        reply = self.call("POST", "/v1/claim", {
            "claim_id": claim_id or secrets.token_hex(16),
            "capabilities": list(capabilities), "max_job_seconds": seconds})
        assert reply.status in (200, 204), reply
        assert reply.status == 200 or reply.body == b"", reply
        return reply.json() if reply.status == 200 else None

    def result(self, job, **fields):
        return self.call("POST", "/v1/result", {
            "id": job["id"], "lease": job["lease"], **fields})

    def succeed(self, job, **output):
        return self.result(job, outcome="succeeded", output=output)


class SmallDisk:
    """A tmpfs of a few MiB in a mount namespace that a sleeper keeps."""

    def __init__(self, mib):
        self.dir = tempfile.mkdtemp(prefix="sandcastle-disk-")
        self.sleeper = subprocess.Popen(
            ["unshare", "-rm", "sh", "-c", f"mount -t tmpfs -o size={mib}m "
             f"none {self.dir} && echo ready && exec sleep 60"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if self.sleeper.stdout.readline() != b"ready\n":
            self.remove()
            raise Skip("no tmpfs can be mounted in a namespace of one's own")

    def enter(self):
        return ["nsenter", "-t", str(self.sleeper.pid), "-U", "-m",
                "--preserve-credentials"]

    def grow(self, mib):
        # Its other options name a uid from outside the namespace.
        subprocess.run(self.enter() + [
            "mount", "--options-mode", "ignore", "-o",
            f"remount,size={mib}m", self.dir], check=True)

    def remove(self):
        self.sleeper.kill()
        self.sleeper.wait()
        self.sleeper.stdout.close()
        os.rmdir(self.dir)


class Queue:
    """The program with a directory of its own, over HTTP or HTTPS."""

    def __init__(self, *options, authority=None, host="127.0.0.1",
                 tokens=TOKENS, disk=None):
        self.dir = tempfile.mkdtemp(prefix="sandcastle-queue-")
        self.options, self.authority, self.host = options, authority, host
        self.disk = disk
        self.db = os.path.join(disk.dir if disk else self.dir, "db")
        self.port = 0
        self.process = None
        self.write_tokens(tokens)
        self.start()

    def at(self, name):
        return os.path.join(self.dir, name)

    def write_tokens(self, text, mode=0o600):
        with open(self.at("tokens"), "w") as f:
            f.write(text)
        os.chmod(self.at("tokens"), mode)

    def command(self):
        host = f"[{self.host}]" if ":" in self.host else self.host
        command = (self.disk.enter() if self.disk else []) + [
            program("sandcastle-queue"), "--listen",
                   f"{host}:{self.port}", "--db", self.db, "--tokens",
                   self.at("tokens"), *self.options]
        if self.authority:
            command += ["--cert", os.path.join(self.authority.dir, "good.pem"),
                        "--key", os.path.join(self.authority.dir, "good.key")]
        return command

    def start(self):
        with open(self.at("log"), "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log)
        line = self.process.stdout.readline().decode()
        assert line.startswith("listening on "), (line, self.log())
        self.url = line.split()[-1]
        self.port = int(line.rsplit(":", 1)[1])
        return self

    def connect(self, timeout=30):
        if not self.authority:
            return http.client.HTTPConnection(self.host, self.port,
                                              timeout=timeout)
        context = ssl.create_default_context(cafile=self.authority.ca)
        return http.client.HTTPSConnection(self.host, self.port,
                                           timeout=timeout, context=context)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """SIGTERM; gives the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(20)
        self.process.stdout.close()
        return status

    def log(self):
        with open(self.at("log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def peak_kib(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f
                        if line.startswith("VmHWM"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            status = self.stop()
            assert status == 0, (status, self.log())
        shutil.rmtree(self.dir)

    def client(self, token, keep=False):
        return Client(self, token, keep)

    def trio(self):
        """A producer and two workers."""
        return tuple(self.client(t) for t in (PRODUCER, WORKER, OTHER))


def at_once(functions):
    """Runs functions in threads and raises the first error of any."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
