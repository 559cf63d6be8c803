#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The whole of sandcastle at work, in a directory of its own.

Starts sandcastle-queue on loopback over TLS with a throw-away CA, puts jobs
with real files into it, runs sandcastle against it, and prints each result as
it comes. Nothing is left running; the directory stays, with the previews, until
you remove it.
"""
import base64
import json
import os
import secrets
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = os.path.join(os.path.dirname(HERE), "tests", "samples", "files")
# As root, sandcastle would want its three system users. A demo leaves no
# users behind: it runs as this number, which owns nothing.
DEMO_UID = 64321

JOBS = [
    ("a PDF", "document.text", "note.pdf", {"type": "pdf"}),
    ("a scanned page", "image.text", "scan.jpg", {}),
    ("a photo with GPS", "image.preview", "photo.jpg", {"size": 320}),
    ("the scan, small", "image.preview", "scan.jpg",
     {"size": 200, "format": "webp"}),
    ("half a JPEG", "image.preview", "truncated.jpg", {}),
    ("a text file called .pdf", "document.text", "fake.pdf", {"type": "pdf"}),
    ("a job that is not allowed", "document.pdf", "note.pdf",
     {"type": "docx"}),
]


class Demo:
    def __init__(self, build):
        self.dir = tempfile.mkdtemp(prefix="sandcastle-demo-")
        os.chmod(self.dir, 0o755)
        self.bin = os.path.abspath(build)
        self.prefix = []
        self.running = []
        self.token = {"worker": secrets.token_urlsafe(32),
                      "producer": secrets.token_urlsafe(32)}
        if os.geteuid() == 0:
            self._become_nobody()

    def _become_nobody(self):
        """The programs go where that user can run them, too."""
        self.bin = os.path.join(self.dir, "bin")
        os.mkdir(self.bin)
        for name in os.listdir(sys.argv[1]):
            path = os.path.join(sys.argv[1], name)
            if name.startswith("sandcastle") and os.path.isfile(path):
                shutil.copy2(path, self.bin)
        os.chown(self.dir, DEMO_UID, DEMO_UID)
        self.prefix = ["setpriv", f"--reuid={DEMO_UID}",
                       f"--regid={DEMO_UID}", "--clear-groups",
                       "--inh-caps=-all"]
        print(f"(as root: the demo runs as uid {DEMO_UID}, which owns "
              "nothing)")

    def at(self, *parts):
        return os.path.join(self.dir, *parts)

    def run(self, *command, data=None):
        return subprocess.run(self.prefix + list(command), input=data,
                              text=True, check=True, cwd="/",
                              capture_output=True).stdout

    def start(self, log, *command):
        with open(self.at(log), "wb") as f:
            process = subprocess.Popen(self.prefix + list(command), stdout=f,
                                       stderr=f, stdin=subprocess.DEVNULL,
                                       cwd="/")
        self.running.append(process)
        return process

    def write(self, name, text):
        path = self.at(name)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o600)
        if self.prefix:
            os.chown(path, DEMO_UID, DEMO_UID)
        return path

    def make_certificates(self):
        openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                   "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        self.run(*openssl, "-subj", "/CN=demo CA", "-keyout",
                 self.at("ca.key"), "-out", self.at("ca.pem"))
        self.run("openssl", "req", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=queue",
                 "-keyout", self.at("queue.key"), "-out",
                 self.at("queue.csr"))
        self.write("queue.ext", "subjectAltName=IP:127.0.0.1\n")
        self.run("openssl", "x509", "-req", "-in", self.at("queue.csr"),
                 "-CA", self.at("ca.pem"), "-CAkey", self.at("ca.key"),
                 "-CAcreateserial", "-days", "2", "-extfile",
                 self.at("queue.ext"), "-out", self.at("queue.pem"))

    def start_queue(self):
        tokens = self.write("tokens", "".join(
            f"{role} demo {token}\n" for role, token in self.token.items()))
        self.start("queue.log", os.path.join(self.bin, "sandcastle-queue"),
                   "--listen", "127.0.0.1:0", "--cert", self.at("queue.pem"),
                   "--key", self.at("queue.key"), "--db",
                   self.at("queue.db"), "--tokens", tokens)
        self.url = self.wait_for("queue.log", "listening on ").split()[-1]

    def wait_for(self, log, text, seconds=20):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with open(self.at(log), errors="replace") as f:
                for line in f:
                    if text in line:
                        return line.strip()
            time.sleep(0.05)
        with open(self.at(log), errors="replace") as f:
            sys.exit(f"no {text!r} in {log}:\n{f.read()}")

    def call(self, method, path, body=None):
        request = urllib.request.Request(
            self.url + path, method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + self.token["producer"],
                     "Content-Type": "application/json"})
        context = ssl.create_default_context(cafile=self.at("ca.pem"))
        with urllib.request.urlopen(request, context=context,
                                    timeout=20) as answer:
            return json.load(answer)

    def submit(self):
        submitted = []
        for title, capability, name, fields in JOBS:
            with open(os.path.join(FILES, name), "rb") as f:
                data = base64.b64encode(f.read()).decode()
            job = self.call("POST", "/v1/jobs",
                            {"capability": capability,
                             "input": dict(fields, data=data)})
            submitted.append((job["id"], title, capability))
        return submitted

    def castle(self, *arguments, data=None):
        return self.run(os.path.join(self.bin, "sandcastle"), "--dir",
                        self.at("castle"), *arguments, data=data)

    def start_castle(self):
        self.castle("init")
        self.write("castle/config.yaml", f"""\
sources:
  demo:
    url: {self.url}
    ca_file: {self.at("ca.pem")}
    capabilities: [document.text, image.text, image.preview]
    poll_interval: 200ms
""")
        self.castle("secret", "set", "demo", data=self.token["worker"] + "\n")
        process = self.start(
            "castle.log", os.path.join(self.bin, "sandcastle"), "--dir",
            self.at("castle"), "run")
        self.wait_for("castle.log", "running")
        return process

    def show(self, title, capability, job):
        print(f"\n{title} — {capability}: {job['state']}")
        if job["state"] == "failed":
            print(f"    {job['error']['code']}: {job['error']['message']}")
            return
        output = job["output"]
        if "data" in output:
            path = self.at(title.replace(" ", "-").replace(",", "") + "." +
                           output["format"])
            with open(path, "wb") as f:
                f.write(base64.b64decode(output["data"]))
            print(f"    {output['source_width']} × {output['source_height']}"
                  f" → {output['width']} × {output['height']}, "
                  f"{os.path.getsize(path)} bytes\n    {path}")
            return
        text = output.get("text", "\n".join(output.get("pages", [])))
        for line in [t for t in text.splitlines() if t.strip()][:4]:
            print("    | " + line[:70])

    def collect(self, submitted):
        waiting = list(submitted)
        deadline = time.monotonic() + 60
        while len(waiting) > 1 and time.monotonic() < deadline:
            for entry in list(waiting):
                job = self.call("GET", "/v1/jobs/" + entry[0])
                if job["state"] in ("succeeded", "failed"):
                    self.show(entry[1], entry[2], job)
                    waiting.remove(entry)
            time.sleep(0.1)
        for name, title, capability in waiting:
            job = self.call("GET", "/v1/jobs/" + name)
            print(f"\n{title} — {capability}: still {job['state']}, "
                  "never claimed")
        return waiting

    def wait_until_delivered(self, seconds=10):
        """The queue has the last result before sandcastle knows that."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            status = json.loads(self.castle("status", "--json"))
            if not any(s["outbox"] for s in status["sources"]):
                return
            time.sleep(0.1)

    def stop(self):
        for process in reversed(self.running):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        if self.prefix:
            shutil.rmtree(self.bin)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: demo.py BUILD")
    started = time.monotonic()
    demo = Demo(sys.argv[1])
    try:
        print(f"Directory: {demo.dir}")
        demo.make_certificates()
        demo.start_queue()
        print(f"A source listens on {demo.url}, with a certificate of a "
              "throw-away CA.")
        submitted = demo.submit()
        print(f"{len(submitted)} jobs wait there. Starting sandcastle, which "
              "listens nowhere.")
        castle = demo.start_castle()
        waiting = demo.collect(submitted)
        demo.wait_until_delivered()
        print("\n$ sandcastle status")
        print(demo.castle("status"))
        castle.send_signal(signal.SIGTERM)
        status = castle.wait(60)
        print(f"Drained and stopped (exit status {status}). "
              f"{time.monotonic() - started:.0f} s.\nPreviews and logs are in "
              f"{demo.dir}; rm -r it when you have seen enough.")
        if len(waiting) != 1 or waiting[0][2] != "document.pdf" or status:
            sys.exit("this is not how the demo should end")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stdout}{error.stderr}")
    except urllib.error.HTTPError as error:
        sys.exit(f"{error}: {error.read().decode(errors='replace')}")
    finally:
        demo.stop()


if __name__ == "__main__":
    main()
