# SPDX-License-Identifier: ISC
"""Drives the real sandcastle-courier.

The rig plays core, keep, opener and dialer: it hands the courier its four
fds, the packets of src/wire, and a connected socket when it asks for one.
"""
import fcntl
import hashlib
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time

MAGIC = 0x53430001
CLAIM, RESULT, ANSWER = 1, 2, 100
DIAL_ORDER, DIAL, DIALED = 1, 2, 3
SUCCEEDED, FAILED, RELEASED = 1, 2, 3
(JOB, NOTHING, BAD_JOB, STORED, GONE, MISMATCH, ANSWERED, NOT_CONTRACT,
 UNREACHABLE) = range(1, 10)
(NO_TROUBLE, NAME, FORBIDDEN, REFUSED, NO_ROUTE, TIMEOUT, TLS, CERTIFICATE,
 CERTIFICATE_TIME, CLOSED, PROTOCOL, HEADERS, TOO_LARGE, MEDIA_TYPE, JSON,
 CONTRACT, LOCAL) = range(17)
ERROR_TOO_LARGE, ERROR_BAD_JOB, ERROR_BAD_OUTPUT = 2, 17, 18
NO_CAPABILITY = 0xFFFFFFFF
SEALS = 1 | 2 | 4 | 8  # F_SEAL_SEAL, SHRINK, GROW, WRITE
F_ADD_SEALS = 1033
TICKET = 32

TOKEN = "SC-marker-0123456789abcdef"
KEY = bytes(range(32))
HOLD = object()  # a token that the test itself writes, later
CLAIM_ID = "0123456789abcdef0123456789abcdef"


def ticket(job_id, key=KEY):
    return hashlib.blake2b(job_id.encode(), key=key, digest_size=32).digest()


def head(verb, sequence=7, generation=3):
    return struct.pack("<IIII", MAGIC, verb, sequence, generation)


def dial_order(url, host, port, is_tls, max_body):
    return (head(DIAL_ORDER, 0) +
            struct.pack("<512s256sIIII", url.encode(), host.encode(), port,
                        is_tls, 1, 0) + bytes(20 * 8) +
            struct.pack("<Q", max_body))


def order(verb, claim_id="", capabilities=0, seconds=0, job_id="", lease="",
          outcome=0, error=0, reason=0, retry_after=0, capability=0,
          of_ticket=bytes(TICKET), deadline_ms=60000):
    return (head(verb) +
            struct.pack("<36sII132s132sIIIII32sI", claim_id.encode(),
                        capabilities, seconds, job_id.encode(),
                        lease.encode(), outcome, error, reason, retry_after,
                        capability, of_ticket, deadline_ms))


def token_message(token=TOKEN, key=KEY):
    return struct.pack("<II32s4104s", MAGIC, len(token), key, token.encode())


def letter(content=b"", of_ticket=None, is_sealed=False):
    fd = os.memfd_create("letter", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    if of_ticket is not None:
        os.pwrite(fd, of_ticket, 0)
    if content:
        os.pwrite(fd, content, TICKET)
    if is_sealed:
        fcntl.fcntl(fd, F_ADD_SEALS, SEALS)
    return fd


class Answer:
    """What the core gets, taken apart."""
    SIZE = 16 + 32 + 2 * 132 + 32 + 8

    def __init__(self, data):
        (magic, self.verb, self.sequence, self.generation, self.status,
         self.trouble, self.http, self.retry_after, self.capability,
         self.more, self.error, reserved, job_id, lease, self.ticket,
         self.input_bytes) = struct.unpack("<12I132s132s32sQ", data)
        assert magic == MAGIC and reserved == 0 and self.verb == ANSWER
        assert (self.sequence, self.generation) == (7, 3)
        self.id = job_id.rstrip(b"\0").decode()
        self.lease = lease.rstrip(b"\0").decode()

    def __repr__(self):
        return (f"Answer(status={self.status} trouble={self.trouble} "
                f"http={self.http} id={self.id!r} error={self.error} "
                f"input={self.input_bytes} retry={self.retry_after})")


def program(name="sandcastle-courier"):
    return os.path.join(os.environ.get("SANDCASTLE_BUILD", "build"), name)


def peak_kib(pid):
    """VmHWM; getrusage's figure would count what Python had at the fork."""
    try:
        with open(f"/proc/{pid}/status") as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


class Courier:
    """One courier; a context manager that leaves no process behind."""

    def __init__(self, url, host, port, ca, max_body=1 << 20, is_tls=True,
                 token=None, place=None, dial_result=0, dial_silently=False,
                 dial_pause=0, connect=None, environment=None, wrapper=()):
        self.target = connect or (host, port)
        self.dial_result, self.dial_silently = dial_result, dial_silently
        self.dial_pause = dial_pause
        self.dials = 0
        self.rss_kib = 0
        self.usage = self.status = None
        self.core, core_end = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.keep, keep_end = socket.socketpair(
            socket.AF_UNIX, socket.SOCK_SEQPACKET)
        token_read, self.token_write = os.pipe()
        ca_fd = os.open(ca, os.O_RDONLY)
        fds = [core_end.fileno(), keep_end.fileno(), token_read, ca_fd]
        self.started = time.monotonic()
        self.process = self.spawn(fds, wrapper, environment or {})
        core_end.close()
        keep_end.close()
        os.close(token_read)
        os.close(ca_fd)
        if place is None:
            place = dial_order(url, host, port, int(is_tls), max_body)
        if place:
            self.keep.send(place)
        else:
            self.keep.shutdown(socket.SHUT_RDWR)
        if token is not HOLD:
            try:
                os.write(self.token_write,
                         token_message() if token is None else token)
            except BrokenPipeError:
                pass
            os.close(self.token_write)

    @staticmethod
    def spawn(fds, wrapper, environment):
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in fds]
        null = os.open("/dev/null", os.O_RDWR)
        arguments = list(wrapper) + [program()]
        pid = os.fork()
        if pid == 0:
            try:
                for fd in (0, 1, 2):
                    os.dup2(null, fd)
                for index, fd in enumerate(high):
                    os.dup2(fd, 3 + index, inheritable=True)
                os.closerange(7, 1000)
                os.execve(arguments[0], arguments, environment)
            finally:
                os._exit(127)
        for fd in high:
            os.close(fd)
        os.close(null)
        return pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self.core.close()
        self.keep.close()

    def kill(self):
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)
            self.reap()

    def reap(self):
        self.note_memory()
        _, self.status, self.usage = os.wait4(self.process, 0)

    def note_memory(self):
        self.rss_kib = max(self.rss_kib, peak_kib(self.process))

    def give(self, packet, fds=()):
        self.note_memory()
        socket.send_fds(self.core, [packet], list(fds))

    def dial(self):
        self.dials += 1
        if self.dial_silently:
            return
        result, fds, held = self.dial_result, [], None
        if result == 0:
            held = socket.create_connection(self.target, timeout=5)
            held.settimeout(None)
            fds = [held.fileno()]
            time.sleep(self.dial_pause)
        packet = (struct.pack("<IIII", MAGIC, DIALED, 1, 0) +
                  struct.pack("<II", result, 0) + bytes(20 * 8))
        socket.send_fds(self.keep, [packet], fds)
        if held is not None:
            held.close()

    def exchange(self, packet, fds=(), limit=30.0):
        """The answer, or None: the courier ended or was killed at limit."""
        self.give(packet, fds)
        self.began = time.monotonic()
        answer = None
        while True:
            left = limit - (time.monotonic() - self.began)
            if left <= 0:
                break
            ready, _, _ = select.select(
                [self.core, self.keep], [], [], min(left, 0.02))
            self.note_memory()
            if self.keep in ready:
                asked = self.keep.recv(4096)
                if asked:
                    assert asked[4:8] == struct.pack("<I", DIAL), asked
                    self.dial()
                elif self.core not in ready:
                    break
            if self.core in ready:
                try:
                    data = self.core.recv(4096)
                except ConnectionResetError:  # it left the order unread
                    data = b""
                if data:
                    assert len(data) == Answer.SIZE, len(data)
                    answer = Answer(data)
                break
        self.took = time.monotonic() - self.began
        if answer is None and left <= 0:
            self.kill()
        else:
            deadline = time.monotonic() + 2
            while time.monotonic() < deadline:
                pid, self.status, self.usage = os.wait4(
                    self.process, os.WNOHANG)
                if pid:
                    break
                self.status = None
                time.sleep(0.005)
            if self.status is None:
                self.kill()
        self.wall = time.monotonic() - self.started
        return answer


def has_ended(courier):
    """Reaps it when it has."""
    pid, status, usage = os.wait4(courier.process, os.WNOHANG)
    if pid:
        courier.status, courier.usage = status, usage
    return bool(pid)


def claim_order(capabilities=1, seconds=180, deadline_ms=60000):
    return order(CLAIM, claim_id=CLAIM_ID, capabilities=capabilities,
                 seconds=seconds, deadline_ms=deadline_ms)


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


CA_CONFIG = """
[ca]
default_ca = own
[own]
database = {directory}/ca.db
new_certs_dir = {directory}
default_md = sha256
policy = any
unique_subject = no
rand_serial = yes
[any]
commonName = supplied
"""


class Authority:
    """A throw-away CA and what it signs; files in one directory."""

    def __init__(self, directory):
        self.directory = directory
        self.ca = self.path("ca.pem")
        self.key = self.path("ca.key")
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.key,
             "-out", self.ca, "-subj", "/CN=throw-away CA", "-days", "2"])

    def path(self, name):
        return os.path.join(self.directory, name)

    def issue_between(self, name, start, end):
        """As issue(), valid between two times, YYMMDDHHMMSSZ."""
        certificate, key = self.issue(name)
        database = self.path("ca.db")
        open(database, "w").close()
        with open(self.path("ca.cnf"), "w") as out:
            out.write(CA_CONFIG.format(directory=self.directory))
        run(["openssl", "ca", "-batch", "-config", self.path("ca.cnf"),
             "-cert", self.ca, "-keyfile", self.key, "-in",
             self.path(name + ".csr"), "-out", certificate, "-startdate",
             start, "-enddate", end, "-notext", "-extfile",
             self.path(name + ".ext")])
        return certificate, key

    def issue(self, name, names="DNS:localhost,IP:127.0.0.1,IP:::1",
              days=2):
        certificate, key = self.path(name + ".pem"), self.path(name + ".key")
        request, extra = self.path(name + ".csr"), self.path(name + ".ext")
        run(["openssl", "req", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
             request, "-subj", "/CN=" + name])
        with open(extra, "w") as out:
            out.write("subjectAltName=" + names + "\n")
        run(["openssl", "x509", "-req", "-in", request, "-CA", self.ca,
             "-CAkey", self.key, "-CAcreateserial", "-out", certificate,
             "-extfile", extra, "-days", str(days)])
        return certificate, key


class Report:
    """TAP, one line a check."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, good, name, note=""):
        self.count += 1
        if not good:
            self.failed += 1
        print(f"{'ok' if good else 'not ok'} {self.count} - {name}"
              f"{'' if good or not note else ' # ' + str(note)}", flush=True)
        return good

    def figures(self, courier):
        """For people: RIG_FIGURES=1 shows what each exchange cost."""
        if os.environ.get("RIG_FIGURES") and courier.usage is not None:
            usage = courier.usage
            print(f"# {courier.took * 1e3:.0f} ms, cpu "
                  f"{(usage.ru_utime + usage.ru_stime) * 1e3:.0f} ms, peak "
                  f"{courier.rss_kib} KiB", flush=True)

    def close(self):
        print(f"1..{self.count}", flush=True)
        sys.exit(1 if self.failed else 0)
