#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The driver with a liar for a yard, and outside any box.

No job here gets as far as its content: outside a box that would be written to
the host's own /tmp.
"""
import fcntl
import os
import select
import signal
import socket
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "e2e"))
import tap
from castle import BUILD

MAGIC = 0x53430001
JOB, TEST, VERDICT, WALLS = 1, 2, 100, 101
CRASHED = 11
F_ADD_SEALS, ALL_SEALS = 1033, 15
LINK, FILTER = 3, 98
ALLOW = struct.pack("<HBBI", 6, 0, 0, 0x7fff0000)
SCRATCH_FILES = ("/tmp/in", "/tmp/wall", "/wall")


def memfd(content=b"", seal=True):
    fd = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.pwrite(fd, content, 0)
    if seal:
        fcntl.fcntl(fd, F_ADD_SEALS, ALL_SEALS)
    return fd


def order(verb=JOB, magic=MAGIC, capability=0, tools=3, n_languages=1,
          languages=b"eng"):
    return struct.pack("<IIIIIIQQII512s", magic, verb, 0, 0, capability,
                       tools, 1 << 20, 1 << 20, 10000, n_languages, languages)


class Driver:
    """A driver outside a box, at the other end of our link."""

    def __init__(self, filter_fd=None):
        self.link, theirs = socket.socketpair(socket.AF_UNIX,
                                              socket.SOCK_SEQPACKET)
        theirs.setblocking(False)
        null = os.open("/dev/null", os.O_RDWR)
        own_filter = memfd(ALLOW) if filter_fd is None else filter_fd
        self.pid = os.fork()
        if self.pid == 0:
            try:
                # Above all they may fall on, before any of them is taken.
                high = [fcntl.fcntl(fd, fcntl.F_DUPFD, 200) for fd in
                        (theirs.fileno(), own_filter, null)]
                os.dup2(high[0], LINK)
                os.dup2(high[1], FILTER)
                for fd in (0, 1, 2):
                    os.dup2(high[2], fd)
                os.closerange(4, FILTER)
                os.closerange(FILTER + 1, 4096)
                os.execve(os.path.join(BUILD, "sandcastle-driver"),
                          ["sandcastle-driver"], {})
            finally:
                os._exit(99)
        theirs.close()
        os.close(null)
        os.close(own_filter)

    def send(self, packet, *fds):
        socket.send_fds(self.link, [packet], list(fds))
        for fd in fds:
            os.close(fd)

    def answer(self):
        """(verb, verdict, walls), or None when it went without a word."""
        if not select.select([self.link], [], [], 20)[0]:
            raise AssertionError("the driver says nothing and stays")
        packet = self.link.recv(4096)
        if not packet:
            return None
        assert len(packet) == 24, len(packet)
        magic, verb, _, _, verdict, walls = struct.unpack("<6I", packet)
        assert magic == MAGIC
        return verb, verdict, walls

    def end(self):
        self.link.close()
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def letters(content=b"{}", seal=True):
    return memfd(b"t" * 32 + content, seal), memfd(b"", False)


NONSENSE = {
    "an empty packet": (b"", 0),
    "a short packet": (order()[:-1], 2),
    "a long packet": (order() + b"x", 2),
    "another version": (order(magic=MAGIC + 1), 2),
    "a verb that is none": (order(verb=3), 2),
    "an answer for an order": (order(verb=VERDICT), 2),
    "a job without letters": (order(), 0),
    "a job with one letter": (order(), 1),
    "a job with three letters": (order(), 3),
    "a test with letters": (order(verb=TEST), 2),
    "a capability that is none": (order(capability=8), 2),
    "a capability far off": (order(capability=0xFFFFFFFF), 2),
    "more tools than there can be": (order(tools=32), 2),
    "more languages than there can be": (order(n_languages=33), 2),
    "a language without an end": (order(languages=b"e" * 16), 2),
    "a language with something behind": (order(languages=b"eng\0x"), 2),
}


def nonsense(packet, n_fds):
    driver = Driver()
    driver.send(packet, *[memfd(b"t" * 32 + b"{}") for _ in range(n_fds)])
    assert driver.answer() is None, "it took that for an order"
    assert driver.end() == 0
    nothing_was_written()


def nothing_was_written():
    for path in SCRATCH_FILES:
        assert not os.path.exists(path), path


def refused_job(letter, filter_fd):
    """The job fails, and its output is nothing but the ticket."""
    driver = Driver(filter_fd)
    output = memfd(b"", False)
    copy = os.dup(output)
    driver.send(order(), letter, output)
    assert driver.answer() == (VERDICT, CRASHED, 0)
    assert driver.end() == 0
    content = os.pread(copy, 4096, 0)
    os.close(copy)
    assert content in (b"", b"t" * 32), content
    nothing_was_written()


def an_input_letter_that_is_not_sealed():
    refused_job(letters(seal=False)[0], None)


def an_input_letter_that_is_too_short():
    refused_job(memfd(b"t" * 31), None)


def a_filter_that_is_not_sealed():
    refused_job(letters()[0], memfd(ALLOW, False))


def a_filter_of_no_length():
    refused_job(letters()[0], memfd(b""))


def a_filter_that_is_cut():
    refused_job(letters()[0], memfd(ALLOW + b"x"))


def a_filter_that_is_too_long():
    refused_job(letters()[0], memfd(ALLOW * 4097))


def outside_a_box_the_walls_are_missing():
    """The control of every test box: what the tries say where nothing is."""
    driver = Driver()
    driver.send(order(verb=TEST))
    verb, verdict, walls = driver.answer()
    assert (verb, verdict) == (WALLS, 0)
    # cgroup and time: nothing to be seen inside, and so said to stand; the
    # user's: who is not root cannot become root here either.
    standing = {i for i in range(15) if walls >> i & 1}
    assert standing <= {0, 6, 7}, standing
    assert driver.end() == 0
    nothing_was_written()


def the_yard_goes_away():
    driver = Driver()
    driver.link.shutdown(socket.SHUT_RDWR)
    assert driver.end() == 0


TESTS = [(name, lambda a=arguments: nonsense(*a))
         for name, arguments in NONSENSE.items()]
TESTS += [
    an_input_letter_that_is_not_sealed, an_input_letter_that_is_too_short,
    a_filter_that_is_not_sealed, a_filter_of_no_length, a_filter_that_is_cut,
    a_filter_that_is_too_long, outside_a_box_the_walls_are_missing,
    the_yard_goes_away,
]

if __name__ == "__main__":
    signal.alarm(300)
    tap.main(TESTS)
