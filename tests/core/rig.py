# SPDX-License-Identifier: ISC
"""Drives the real sandcastle-core.

The rig plays its supervisor, the keep with its couriers, and the yard, over
the packets of src/wire. Sources and boxes are Python functions.
"""
import array
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

MAGIC = 0x53430001
CONFIG, COMMIT, LINK, STOP = 1, 2, 3, 4
OK, REFUSED = 100, 101
PEER_KEEP, PEER_YARD = 2, 3
KEEP_OPEN, KEEP_DROP, KEEP_OPENED = 1, 2, 100
CLAIM, RESULT, ANSWER = 1, 2, 100
(JOB, NOTHING, BAD_JOB, STORED, GONE, MISMATCH, ANSWERED, NOT_CONTRACT,
 UNREACHABLE) = range(1, 10)
LIST, MAKE, KILL, LISTED, ENDED = 1, 2, 3, 100, 101
(VERDICT, SILENT, TIME, MEMORY, ORDER, FOREIGN, UNMADE,
 MISSING) = range(1, 9)
SUCCEEDED, FAILED, RELEASED = 1, 2, 3
ERRORS = {3: "unsupported_type", 4: "bad_content", 9: "timeout",
          10: "too_heavy", 11: "crashed", 12: "output_too_large",
          15: "gave_up", 16: "not_asked", 17: "bad_job", 18: "bad_output",
          19: "crashed_worker"}
REASONS = {1: "capability_resting", 2: "stopping", 3: "restarted", 4: "busy"}
PREVIEW, DOCUMENT, IMAGE_TEXT = 0, 1, 2
NO_CAPABILITY = 0xFFFFFFFF
TICKET = 32
ALL_SEALS = 1 | 2 | 4 | 8
F_ADD_SEALS, F_GET_SEALS = 1033, 1034
EMPTY = bytes(TICKET)


def head(verb, sequence=0, generation=0):
    return struct.pack("<IIII", MAGIC, verb, sequence, generation)


def receive(link, size):
    """(bytes, fds), or None when the peer has gone."""
    space = socket.CMSG_SPACE(2 * 4)
    try:
        data, control, _, _ = link.recvmsg(size + 1, space)
    except ConnectionResetError:
        return None
    fds = array.array("i")
    for level, kind, content in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(content[:len(content) // 4 * 4])
    if not data:
        return None
    assert len(data) == size, (len(data), size)
    return data, list(fds)


def send(link, data, fds=()):
    try:
        socket.send_fds(link, [data], list(fds))
    except (BrokenPipeError, ConnectionResetError):
        pass


def text(field):
    return field.split(b"\0", 1)[0].decode()


class Claim:
    """What the core asks a courier; answer it with the methods."""

    def __init__(self, rig, source, link, data, fds):
        self.rig, self.source, self.link = rig, source, link
        self.head = data[:16]
        self.at = time.monotonic()
        self.verb = struct.unpack("<I", data[4:8])[0]
        (claim_id, self.capabilities, self.seconds, job_id, lease,
         self.outcome, self.error, self.reason, self.retry_after,
         self.capability, self.ticket,
         self.deadline_ms) = struct.unpack("<36sII132s132sIIIII32sI",
                                           data[16:])
        self.claim_id, self.id, self.lease = map(text,
                                                 (claim_id, job_id, lease))
        self.letter = fds[0] if fds else None
        self.output = None
        if self.verb == RESULT and self.letter is not None:
            seals = fcntl.fcntl(self.letter, F_GET_SEALS)
            assert seals & ALL_SEALS == ALL_SEALS, seals
            self.output = os.pread(self.letter, 1 << 26, 0)

    def answer(self, status, trouble=0, http=0, retry_after=0,
               capability=0, more=0, error=0, job_id="", lease="",
               ticket=EMPTY, size=0):
        body = struct.pack("<8I132s132s32sQ", status, trouble, http,
                           retry_after, capability, more, error, 0,
                           job_id.encode(), lease.encode(), ticket, size)
        magic, _, sequence, generation = struct.unpack("<IIII", self.head)
        send(self.link, head(ANSWER, sequence, generation) + body)
        self.close()

    def close(self):
        if self.letter is not None:
            os.close(self.letter)
            self.letter = None
        self.link.close()

    def job(self, job_id, content=b"{}", capability=PREVIEW, lease="",
            ticket=None):
        ticket = ticket or job_id.encode().ljust(TICKET, b"#")[:TICKET]
        os.pwrite(self.letter, ticket + content, 0)
        self.answer(JOB, http=200, capability=capability, job_id=job_id,
                    lease=lease, ticket=ticket, size=len(content))

    def nothing(self):
        self.answer(NOTHING, http=204)

    def stored(self):
        self.answer(STORED, http=200)

    def said(self):
        """The result as a word: "succeeded", "failed x", "released y"."""
        if self.outcome == SUCCEEDED:
            return "succeeded"
        if self.outcome == FAILED:
            return "failed " + ERRORS.get(self.error, str(self.error))
        return "released " + REASONS[self.reason]


class Box:
    def __init__(self, rig, link, order, fds):
        self.rig, self.link = rig, link
        _, _, self.sequence, self.generation = struct.unpack("<IIII",
                                                             order[:16])
        self.capability = struct.unpack("<I", order[16:20])[0]
        self.input, self.output = fds
        assert fcntl.fcntl(self.input, fcntl.F_GETFL) & os.O_ACCMODE == 0
        seals = fcntl.fcntl(self.input, F_GET_SEALS)
        assert seals & ALL_SEALS == ALL_SEALS
        whole = os.pread(self.input, 1 << 26, 0)
        self.ticket, self.content = whole[:TICKET], whole[TICKET:]
        self.is_over = False

    def end(self, how=VERDICT, verdict=0, output=None):
        if self.is_over:
            return
        self.is_over = True
        if output is not None:
            os.pwrite(self.output, self.ticket + output, 0)
        os.close(self.input)
        os.close(self.output)
        send(self.link, head(ENDED, self.sequence, self.generation) +
             bytes(72) + struct.pack("<8I", self.capability, how, verdict, 0,
                                     0, 12, 10, 2000))
        self.rig.box = None


class Rig:
    """One core and its peers. `source` and `run` are called with a Claim and
    a Box; a claim that is not answered stays open, a box that is not ended
    goes on."""

    def __init__(self, config, program, state=None):
        self.program = program
        self.config = config
        self.directory = state or tempfile.mkdtemp(prefix="core-rig-")
        os.makedirs(self.directory + "/state", exist_ok=True)
        os.makedirs(self.directory + "/run", exist_ok=True)
        self.log = open(self.directory + "/log", "ab")
        self.process = self.supervisor = None
        self.generation = 0
        self.names = []
        self.usable = [0] * 8
        self.opened = {}     # source name → keep result
        self.source = lambda claim: claim.nothing()
        self.run = lambda box: box.end(output=b'{"ok":true}')
        self.claims = []     # every CLAIM
        self.results = []    # every RESULT
        self.open = []       # claims and results without an answer yet
        self.box = None
        self.boxes = 0
        self.drops = 0
        self.links = {}
        self.couriers = {}

    def start(self, has_crashed=False, wrap=(), preexec=None):
        ours, theirs = socket.socketpair(socket.AF_UNIX,
                                         socket.SOCK_SEQPACKET)
        fd = theirs.fileno()

        def child():
            os.dup2(fd, 3)
            if preexec:
                preexec()

        self.process = subprocess.Popen(
            [*wrap, self.program, "--state", self.directory + "/state",
             "--run", self.directory + "/run"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.log, env={}, preexec_fn=child, close_fds=False)
        theirs.close()
        self.supervisor = ours
        self.claims, self.results, self.open = [], [], []
        self.box = None
        self.generation = 0
        self.configure(self.config, has_crashed)
        self.link(PEER_KEEP)
        self.link(PEER_YARD)
        return self

    def ask(self, verb, fds=(), has_crashed=0, generation=None):
        send(self.supervisor, head(verb, 1, generation or self.generation) +
             struct.pack("<4I", 0, 0, has_crashed, 0), fds)
        got = receive(self.supervisor, 528)
        assert got, "the core has gone: " + self.log_text()
        return struct.unpack("<I", got[0][4:8])[0], text(got[0][16:])

    def configure(self, config, has_crashed=False):
        self.config = config
        generation = self.generation + 1
        fd = os.memfd_create("config", os.MFD_ALLOW_SEALING)
        os.write(fd, config.encode())
        fcntl.fcntl(fd, F_ADD_SEALS, ALL_SEALS)
        said = self.ask(CONFIG, [fd], int(has_crashed), generation)
        os.close(fd)
        assert said == (OK, ""), said
        said = self.ask(COMMIT, generation=generation)
        assert said == (OK, ""), said
        self.generation = generation
        self.names = [line.strip().rstrip(":") for line in config.split("\n")
                      if line.startswith("  ") and line[2] not in " #" and
                      line.rstrip().endswith(":")]

    def link(self, peer):
        ours, theirs = socket.socketpair(socket.AF_UNIX,
                                         socket.SOCK_SEQPACKET)
        old = self.links.get(peer)
        if old and not (peer == PEER_YARD and self.box):
            old.close()
        send(self.supervisor, head(LINK, 1, self.generation) +
             struct.pack("<4I", peer, 0, 0, 0), [theirs.fileno()])
        theirs.close()
        self.links[peer] = ours

    def stop(self, urgent=False):
        send(self.supervisor, head(STOP, 1, self.generation) +
             struct.pack("<4I", 0, int(urgent), 0, 0))

    def end_keep(self):
        for claim in self.open:
            claim.close()
        self.open = []
        self.links.pop(PEER_KEEP).close()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.forget()

    def forget(self):
        if self.supervisor:
            self.supervisor.close()
        for link in self.links.values():
            link.close()
        self.links = {}
        for claim in self.open:
            claim.close()
        self.open = []

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.forget()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    # -- the peers at work

    def on_keep(self, link):
        got = receive(link, 24)
        if got is None:
            self.links.pop(PEER_KEEP, None)
            return
        data, fds = got
        _, verb, sequence, generation, source, _ = struct.unpack("<6I", data)
        if verb == KEEP_DROP:
            self.drops += 1
            return
        name = self.names[source] if source < len(self.names) else None
        result = 1 if generation != self.generation else \
            self.opened.get(name, 0)
        courier = socket.socket(fileno=fds[0])
        if result == 0:
            self.couriers[courier] = name
            self.links[courier] = courier
        else:
            courier.close()
        send(link, head(KEEP_OPENED, sequence, generation) +
             struct.pack("<II", source, result))

    def on_courier(self, link):
        del self.links[link]
        name = self.couriers.pop(link)
        got = receive(link, 380)
        if got is None:
            link.close()
            return
        claim = Claim(self, name, link, *got)
        (self.claims if claim.verb == CLAIM else self.results).append(claim)
        self.open.append(claim)
        self.source(claim)
        self.open = [c for c in self.open if c.link.fileno() >= 0]

    def on_yard(self, link):
        got = receive(link, 24)
        if got is None:
            self.links.pop(PEER_YARD, None)
            return
        data, fds = got
        _, verb, sequence, generation = struct.unpack("<IIII", data[:16])
        if verb == LIST:
            send(link, head(LISTED, sequence, generation) +
                 struct.pack("<II", 0x7FFF, 0) +
                 struct.pack("<8I", *self.usable) + bytes(64))
        elif verb == MAKE:
            assert self.box is None, "two boxes at once"
            self.boxes += 1
            self.box = Box(self, link, data, fds)
            self.run(self.box)
        elif verb == KILL and self.box:
            self.box.end(ORDER)

    def turn(self, seconds=0.02):
        links = {link.fileno(): link for link in self.links.values()}
        if self.box and self.box.link not in links.values():
            links[self.box.link.fileno()] = self.box.link
        ready, _, _ = select.select(list(links), [], [], seconds)
        for fd in ready:
            link = links[fd]
            if link is self.links.get(PEER_KEEP):
                self.on_keep(link)
            elif link in self.links:
                self.on_courier(link)
            elif link is self.links.get(PEER_YARD) or \
                    self.box and link is self.box.link:
                self.on_yard(link)

    def until(self, condition, seconds=10.0, what="condition"):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s: {what}\n" +
                                     self.log_text())
            if self.process.poll() is not None and not condition():
                raise AssertionError(
                    f"the core ended with {self.process.returncode}\n" +
                    self.log_text())
            self.turn()

    def pause(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.turn(min(0.02, max(0, end - time.monotonic())))

    def ended(self, seconds=10.0):
        """Serves until the core has ended; gives its exit status."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, "the core does not end\n" + \
                self.log_text()
            self.turn(0.005)
        return self.process.returncode

    def status(self):
        with open(self.directory + "/run/status.json") as file:
            return json.load(file)

    def log_text(self):
        with open(self.directory + "/log", encoding="utf-8") as file:
            return file.read()
