# SPDX-License-Identifier: ISC
"""A real yard, with the test as its supervisor and its core."""
import fcntl
import os
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))

BUILD = os.environ.get("SANDCASTLE_BUILD") or os.path.join(
    HERE, "..", "..", "build")
TESTS = os.environ.get("SANDCASTLE_TESTS") or os.path.join(
    HERE, "..", "..", "build", "tests")
PROBE = os.path.join(TESTS, "box", "boxprobe")
PLAIN_UID = 64321

MAGIC = 0x53430001
CONFIG, COMMIT, LINK, STOP, OK, REFUSED = 1, 2, 3, 4, 100, 101
PEER_CORE = 1
LIST, MAKE, KILL, LISTED, ENDED = 1, 2, 3, 100, 101
(VERDICT, SILENT, TIME, MEMORY, ORDER, FOREIGN, UNMADE,
 MISSING) = range(1, 9)
USABLE, OFF, NO_PROGRAM, NO_WALLS = range(4)
IMAGE_PREVIEW, DOCUMENT_TEXT, IMAGE_TEXT = range(3)
WALLS = 15
WALL_ALL = (1 << WALLS) - 1
TICKET = b"T" * 32
SEALS = 0x1 | 0x2 | 0x4 | 0x8

SOURCE = """sources:
  test:
    url: https://source.invalid
    capabilities: [image.preview]
"""


def memory(contents=b"", sealed=False):
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, contents)
    if sealed:
        fcntl.fcntl(fd, 1033, SEALS)
    return fd


def letter(contents):
    """A sealed letter, as a read-only fd."""
    fd = memory(TICKET + contents, sealed=True)
    again = os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    os.close(fd)
    return again


def demote(uid):
    def narrow():
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
    return narrow


class End:
    """A YARD_ENDED."""

    def __init__(self, packet, output):
        (self.capability, self.end, self.verdict, self.signal, self.status,
         self.wall_ms, self.cpu_ms, self.peak_kib) = struct.unpack(
             "<8I", packet[88:120])
        self.output = output

    def __repr__(self):
        return (f"end {self.end} verdict {self.verdict} signal {self.signal} "
                f"status {self.status} wall {self.wall_ms} ms "
                f"cpu {self.cpu_ms} ms peak {self.peak_kib} KiB")


class Listing:
    def __init__(self, packet):
        self.walls, self.error = struct.unpack("<2I", packet[16:24])
        self.usable = struct.unpack("<8I", packet[24:56])
        self.missing = struct.unpack("<8I", packet[56:88])


class Yard:
    """A yard that runs as a plain user; as who runs the test if that is one.

    driver: a program that stands in for sandcastle-driver.
    leak: a number at which the yard inherits the directory / as well.
    """

    def __init__(self, config=SOURCE, driver=None, uid=PLAIN_UID, wrap=(),
                 leak=None):
        self.dir = tempfile.mkdtemp(prefix="sandcastle-yard-")
        os.chmod(self.dir, 0o755)
        for name in ("yard", "init", "driver"):
            shutil.copy2(os.path.join(BUILD, "sandcastle-" + name), self.dir)
        if driver:
            shutil.copy2(driver, os.path.join(self.dir, "sandcastle-driver"))
        self.super, theirs = self.pair()
        self.core = None
        self.sequence = 0
        self.log = tempfile.TemporaryFile()
        place = theirs.fileno()
        if leak:
            directory = os.open("/", os.O_RDONLY)
            os.dup2(directory, leak)
            os.close(directory)

        def narrow():
            # fd 3 is the link, whatever it was here.
            os.dup2(place, 3)
            demote(uid)()
        self.process = subprocess.Popen(
            [*wrap, os.path.join(self.dir, "sandcastle-yard")], env={},
            pass_fds={place, 3, leak or 3},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.log, preexec_fn=narrow, cwd="/")
        theirs.close()
        if leak:
            os.close(leak)
        self.config = config

    @staticmethod
    def pair():
        return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def send(self, link, verb, body, fds=(), generation=1):
        self.sequence += 1
        packet = struct.pack("<4I", MAGIC, verb, self.sequence,
                             generation) + body
        socket.send_fds(link, [packet], list(fds))

    @staticmethod
    def receive(link, size, seconds=30):
        ready, _, _ = select.select([link], [], [], seconds)
        assert ready, "the yard does not answer"
        packet = link.recv(4096)
        assert packet, "the yard closed its link"
        assert len(packet) == size, len(packet)
        return packet

    def configure(self):
        """SUPER_CONFIG; gives None or the refusal."""
        fd = memory(self.config.encode(), sealed=True)
        self.send(self.super, CONFIG, struct.pack("<4I", 0, 0, 0, 0), [fd])
        os.close(fd)
        packet = self.receive(self.super, 528)
        if struct.unpack("<I", packet[4:8])[0] == OK:
            return None
        return packet[16:].rstrip(b"\0").decode()

    def begin(self):
        refusal = self.configure()
        assert refusal is None, refusal
        self.send(self.super, COMMIT, struct.pack("<4I", 0, 0, 0, 0))
        self.receive(self.super, 528)
        self.connect()
        return self

    def connect(self):
        self.core, theirs = self.pair()
        self.send(self.super, LINK, struct.pack("<4I", PEER_CORE, 0, 0, 0),
                  [theirs.fileno()])
        theirs.close()

    def list(self):
        self.send(self.core, LIST, struct.pack("<2I", 0, 0))
        packet = self.receive(self.core, 120)
        assert struct.unpack("<I", packet[4:8])[0] == LISTED
        return Listing(packet)

    def make(self, capability, contents, generation=1):
        """YARD_MAKE; the output letter stays in self.output."""
        source = letter(contents)
        self.output = memory()
        self.send(self.core, MAKE, struct.pack("<2I", capability, 0),
                  [source, self.output], generation)
        os.close(source)

    def ended(self, seconds=60):
        packet = self.receive(self.core, 120, seconds)
        assert struct.unpack("<I", packet[4:8])[0] == ENDED
        size = os.fstat(self.output).st_size
        output = os.pread(self.output, size, 0)
        os.close(self.output)
        return End(packet, output)

    def run(self, capability, contents, seconds=60):
        self.make(capability, contents)
        return self.ended(seconds)

    def kill(self):
        self.send(self.core, KILL, struct.pack("<2I", 0, 0))

    def stop(self, urgent=False):
        self.send(self.super, STOP, struct.pack("<4I", 0, int(urgent), 0, 0))

    def lines(self):
        self.log.seek(0)
        return self.log.read().decode()

    def inside(self):
        """Pids of the yard and of all below it, seen from outside."""
        found = [self.process.pid]
        for pid in found:
            try:
                with open(f"/proc/{pid}/task/{pid}/children") as file:
                    found += [int(p) for p in file.read().split()]
            except OSError:
                pass
        return found

    def close(self):
        self.super.close()
        if self.core:
            self.core.close()
        try:
            status = self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
