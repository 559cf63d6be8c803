#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Where a token is while a silent source holds its courier open: in that
courier, and nowhere else. A scanner looks through the memory, arguments and
environment of every process and through every file; a control shows that it
finds what is there."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import tap
from castle import Castle, modes
from sources import Server
from tap import Skip, eventually
from thread_test import AUTHORITY

MARKER = {"one": "SC-marker-one-4f2a9c11d7", "two": "SC-marker-two-8b03e6f5aa"}


def hold(server, conn, request):
    """Never answers."""
    conn.settimeout(60)
    try:
        while conn.recv(4096):
            pass
    except OSError:
        pass


def memory_holds(pid, needle):
    """Whether any readable mapping of a process holds the bytes."""
    try:
        with open(f"/proc/{pid}/maps") as f:
            maps = f.read().splitlines()
        with open(f"/proc/{pid}/mem", "rb", 0) as memory:
            for line in maps:
                match = re.match(r"([0-9a-f]+)-([0-9a-f]+) r", line)
                if not match or "[v" in line:
                    continue
                begin, end = (int(x, 16) for x in match.groups())
                try:
                    memory.seek(begin)
                    if needle in memory.read(end - begin):
                        return True
                except (OSError, OverflowError, ValueError):
                    continue
    except OSError:
        return False
    return False


def text_holds(pid, needle):
    for name in ("cmdline", "environ"):
        try:
            with open(f"/proc/{pid}/{name}", "rb") as f:
                if needle in f.read():
                    return True
        except OSError:
            pass
    return False


def files_with(directory, needle):
    found = []
    for root, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(root, name)
            try:
                with open(path, "rb") as f:
                    if needle in f.read():
                        found.append(path)
            except OSError:
                pass
    return found


def the_token_is_in_its_courier_only(mode):
    if os.geteuid() != 0:
        raise Skip("needs root, to read the memory of other processes")
    servers = {name: Server(hold, AUTHORITY.context()) for name in MARKER}
    with Castle(mode) as castle:
        castle.configure("sources:\n" + "".join(
            castle.source_config(name, server.url, ["image.preview"],
                                 ca_file=AUTHORITY.ca, poll_interval="1s")
            for name, server in servers.items()))
        for name, token in MARKER.items():
            castle.secret(name, token)
        castle.start()
        eventually(lambda: all(s.requests for s in servers.values()), 20,
                   "both sources were asked")
        couriers = castle.pids("courier")
        assert len(couriers) == 2, couriers
        holders = {name: [pid for pid in castle.pids()
                          if memory_holds(pid, token.encode())]
                   for name, token in MARKER.items()}
        # The control: it is found where it must be …
        for name in MARKER:
            assert len(holders[name]) == 1, (name, holders, couriers)
            assert holders[name][0] in couriers, (name, holders, couriers)
        # … and each courier holds its own only.
        assert holders["one"] != holders["two"]
        for token in MARKER.values():
            needle = token.encode()
            assert not [p for p in castle.pids() if text_holds(p, needle)]
            assert files_with(castle.dir, needle) == []
        # The key opens every secret: it is in no process at all.
        with open(os.path.join(castle.dir, "state/keep/key"), "rb") as f:
            key = f.read()
        assert len(key) == 32
        assert not [p for p in castle.pids() if memory_holds(p, key)]
        assert files_with(castle.dir, key) == [
            os.path.join(castle.dir, "state/keep/key")]
        for server in servers.values():
            server.close()
        castle.stop()
        for token in MARKER.values():
            assert token not in castle.log()


def the_scanner_finds_what_is_in_a_file():
    with Castle() as castle:
        path = os.path.join(castle.dir, "planted")
        with open(path, "wb") as f:
            f.write(b"x" * 5000 + MARKER["one"].encode())
        assert files_with(castle.dir, MARKER["one"].encode()) == [path]


def no_process_listens():
    """While couriers are at work."""
    if os.geteuid() != 0:
        raise Skip("needs root, to see the fds of undumpable processes")
    server = Server(hold, AUTHORITY.context())
    with Castle() as castle:
        castle.configure("sources:\n" + castle.source_config(
            "one", server.url, ["image.preview"], ca_file=AUTHORITY.ca,
            poll_interval="1s"))
        castle.secret("one", MARKER["one"])
        castle.start()
        eventually(lambda: server.requests, 20, "asked")
        inodes = {}
        for name in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6"):
            with open(f"/proc/net/{name}") as f:
                for line in f.read().splitlines()[1:]:
                    fields = line.split()
                    inodes[fields[9]] = (name, fields[1], fields[3])
        seen = []
        for pid in castle.pids():
            for fd in os.listdir(f"/proc/{pid}/fd"):
                try:
                    target = os.readlink(f"/proc/{pid}/fd/{fd}")
                except OSError:
                    continue
                match = re.match(r"socket:\[(\d+)\]", target)
                if match and match.group(1) in inodes:
                    seen.append(inodes[match.group(1)])
        # The control: the courier's own connection is seen.
        assert any(kind == "tcp" and state == "01"
                   for kind, _, state in seen), seen
        assert all(state == "01" for _, _, state in seen), seen
        server.close()
        castle.stop()


def refused(castle, data, words):
    done = castle.command("secret", "set", "one", data=data)
    assert done.returncode != 0, data
    assert words in done.stderr + done.stdout, done
    assert "Traceback" not in done.stderr


def a_token_that_breaks_a_header_is_refused():
    with Castle() as castle:
        castle.configure("sources:\n" + castle.source_config(
            "one", "https://a.example", ["image.preview"]))
        for data in ("a b\n", "a\r\nX-Evil: 1\n", "\n", "a" * 5000, "ä\n",
                     "a\0b\n", "two\nlines\n"):
            refused(castle, data, "token")
        castle.secret("one", "good-token")
        listed = castle.command("secret", "list", check=True)
        assert "one" in listed.stdout and "good-token" not in listed.stdout
        assert castle.command("secret", "check", "one").returncode == 0
        castle.command("secret", "rm", "one", check=True)
        assert castle.command("secret", "check", "one").returncode != 0


def a_secret_cannot_be_re_aimed():
    """Neither by a new url: nor by renaming its file."""
    with Castle() as castle:
        def configure(url):
            castle.configure(
                "sources:\n" +
                castle.source_config("one", url, ["image.preview"]) +
                castle.source_config("two", "https://b.example",
                                     ["image.preview"]))
        configure("https://a.example")
        castle.secret("one", "token-one")
        castle.secret("two", "token-two")
        store = os.path.join(castle.dir, "state/keep/secrets")
        configure("https://evil.example")
        done = castle.command("secret", "check", "one")
        assert done.returncode != 0, done
        assert "secret set one" in done.stdout + done.stderr, done
        configure("https://a.example")
        assert castle.command("secret", "check", "one").returncode == 0
        os.rename(os.path.join(store, "one"), os.path.join(store, "two"))
        assert castle.command("secret", "check", "two").returncode != 0


TESTS = [(f"the token is in its courier only, as {mode}",
          lambda mode=mode: the_token_is_in_its_courier_only(mode))
         for mode in modes()]
TESTS += [the_scanner_finds_what_is_in_a_file, no_process_listens,
          a_token_that_breaks_a_header_is_refused, a_secret_cannot_be_re_aimed]

if __name__ == "__main__":
    tap.main(TESTS)
