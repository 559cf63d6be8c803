#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The keep as its operator meets it: `sandcastle secret` at a terminal and in
a pipe, and what the running keep reads."""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import tap
from castle import Castle, program
from sources import Authority, Honest, Server
from tap import Skip, eventually

TOKEN = "SC-typed-by-hand-81c4"


def with_source(castle, name="one", url="https://a.example", **keys):
    castle.configure("sources:\n" + castle.source_config(
        name, url, ["image.preview"], **keys))


class Terminal:
    """`sandcastle secret set one` in front of a terminal of its own."""

    def __init__(self, castle):
        self.master, slave = pty.openpty()
        self.slave = slave
        self.seen = b""
        assert self.echoes()

        def lead():
            # A job in the background of a shell has these ignored.
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP,
                           signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            castle.argv("secret", "set", "one"), stdin=slave, stdout=slave,
            stderr=slave, preexec_fn=lead, cwd="/",
            env={"PATH": os.environ["PATH"]})

    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def read(self, seconds=0.05):
        while select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 4096)
        return self.seen

    def expect(self, text):
        eventually(lambda: text in self.read(), 10, f"{text} in {self.seen}")

    def type(self, text):
        """Once it listens: the prompt comes after the echo went."""
        os.write(self.master, text.encode())

    def ends(self):
        status = self.process.wait(10)
        self.read(0.2)
        return status

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)
        os.close(self.slave)


def at_a_terminal(work):
    with Castle() as castle:
        with_source(castle)
        terminal = Terminal(castle)
        try:
            terminal.expect(b"not shown")
            assert not terminal.echoes()
            work(castle, terminal)
            assert terminal.echoes(), "the terminal is left without echo"
            assert TOKEN.encode() not in terminal.seen, terminal.seen
        finally:
            terminal.close()


def a_token_is_typed_twice_and_never_shown():
    def work(castle, terminal):
        terminal.type(TOKEN + "\n")
        terminal.expect(b"once more")
        assert not terminal.echoes()
        terminal.type(TOKEN + "\n")
        assert terminal.ends() == 0, terminal.seen
        done = castle.command("secret", "check", "one")
        assert done.returncode == 0, done
        assert "ok" in done.stdout and TOKEN not in done.stdout
    at_a_terminal(work)


def both_lines_can_be_pasted_at_once():
    def work(castle, terminal):
        terminal.type(TOKEN + "\n" + TOKEN + "\n")
        assert terminal.ends() == 0, terminal.seen
        castle.command("secret", "check", "one", check=True)
    at_a_terminal(work)


def two_different_tokens_change_nothing():
    def work(castle, terminal):
        terminal.type(TOKEN + "\n")
        terminal.expect(b"once more")
        terminal.type(TOKEN + "x\n")
        assert terminal.ends() == 1, terminal.seen
        assert b"not the same" in terminal.seen
        assert castle.command("secret", "check", "one").returncode == 1
    at_a_terminal(work)


def an_empty_line_changes_nothing():
    def work(castle, terminal):
        terminal.type("\n")
        terminal.expect(b"once more")
        terminal.type("\n")
        assert terminal.ends() == 1, terminal.seen
        assert b"no token" in terminal.seen
    at_a_terminal(work)


def a_token_longer_than_a_terminal_line_is_refused():
    """The terminal cuts it at 4095 bytes, both times alike."""
    def work(castle, terminal):
        terminal.type("a" * 3000)
        time.sleep(0.1)
        terminal.type("a" * 2000 + "\n")
        assert terminal.ends() == 1, terminal.seen
        assert b"too long for a terminal" in terminal.seen, terminal.seen
        assert castle.command("secret", "check", "one").returncode == 1
    at_a_terminal(work)


def control_c_gives_the_echo_back():
    def work(castle, terminal):
        terminal.type("half a tok")
        terminal.type("\x03")
        assert terminal.ends() == -signal.SIGINT, terminal.seen
    at_a_terminal(work)


def control_c_at_the_second_question_does_too():
    def work(castle, terminal):
        terminal.type(TOKEN + "\n")
        terminal.expect(b"once more")
        terminal.type("\x03")
        assert terminal.ends() == -signal.SIGINT, terminal.seen
        assert castle.command("secret", "check", "one").returncode == 1
    at_a_terminal(work)


def every_ending_signal_gives_the_echo_back(number):
    def work(castle, terminal):
        os.kill(terminal.process.pid, number)
        assert terminal.ends() == -number, terminal.seen
    at_a_terminal(work)


def control_z_does_not_stop_it():
    def work(castle, terminal):
        terminal.type("\x1a")
        time.sleep(0.2)
        with open(f"/proc/{terminal.process.pid}/stat") as f:
            assert f.read().rsplit(")", 1)[1].split()[0] == "S"
        terminal.type("\x15" + TOKEN + "\n")
        terminal.expect(b"once more")
        terminal.type(TOKEN + "\n")
        assert terminal.ends() == 0, terminal.seen
    at_a_terminal(work)


def the_longest_token_comes_by_a_pipe():
    with Castle() as castle:
        with_source(castle)
        for token in ("a" * 4096 + "\n", "b" * 4096 + "\r\n", "c" * 4096):
            castle.command("secret", "set", "one", data=token, check=True)
            castle.command("secret", "check", "one", check=True)
        done = castle.command("secret", "set", "one", data="a" * 4097)
        assert done.returncode == 1 and "4096" in done.stderr, done


def a_token_is_no_argument():
    with Castle() as castle:
        with_source(castle)
        done = castle.command("secret", "set", "one", TOKEN, data="")
        assert done.returncode != 0, done
        assert castle.command("secret", "check", "one").returncode == 1


def a_secret_needs_its_source_first():
    with Castle() as castle:
        with_source(castle)
        done = castle.command("secret", "set", "other", data="t\n")
        assert done.returncode == 1 and "add the source first" in done.stderr
        castle.configure("sources:\n" + castle.source_config(
            "a", "https://a.example", ["image.preview"], secret="both") +
            castle.source_config("b", "https://b.example", ["image.preview"],
                                 secret="both"))
        done = castle.command("secret", "set", "both", data="t\n")
        assert done.returncode == 1, done
        assert "https://a.example:443" in done.stderr, done
        assert "https://b.example:443" in done.stderr, done


def a_broken_config_is_named():
    with Castle() as castle:
        castle.configure("sources:\n  one:\n    url: nonsense\n")
        done = castle.command("secret", "set", "one", data="t\n")
        assert done.returncode == 1, done
        assert re.search(r"config\.yaml:3:\d+: ", done.stderr), done


def first_secrets_set_at_once_share_a_key():
    names = [f"s{i}" for i in range(8)]
    with Castle() as castle:
        castle.configure("sources:\n" + "".join(
            castle.source_config(name, "https://a.example",
                                 ["image.preview"]) for name in names))
        running = [subprocess.Popen(
            castle.argv("secret", "set", name), stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd="/",
            env={"PATH": os.environ["PATH"]}) for name in names]
        for process in running:
            process.stdin.write(b"token\n")
            process.stdin.close()
        assert [p.wait(20) for p in running] == [0] * len(names)
        for name in names:
            castle.command("secret", "check", name, check=True)


def list_says_what_is_usable_and_why_not():
    with Castle() as castle:
        store = os.path.join(castle.dir, "state/keep")
        castle.configure("sources:\n" + "".join(
            castle.source_config(name, "https://a.example",
                                 ["image.preview"])
            for name in ("good", "open", "absent", "gone")))
        for name in ("good", "open", "gone"):
            castle.secret(name, TOKEN)
        castle.configure("sources:\n" + "".join(
            castle.source_config(name, "https://a.example",
                                 ["image.preview"])
            for name in ("good", "open", "absent")))
        os.chmod(os.path.join(store, "secrets", "open"), 0o644)
        text = castle.command("secret", "list", check=True).stdout
        rows = {line.split()[0]: line for line in text.splitlines()[1:]}
        assert sorted(rows) == ["absent", "gone", "good", "open"], text
        assert rows["good"].endswith("yes"), text
        assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\dZ", rows["good"]), text
        assert "0644" in rows["open"] and "chmod" in rows["open"], text
        assert "is not set" in rows["absent"], text
        assert "no source uses it" in rows["gone"], text
        assert TOKEN not in text


def check_says_what_to_do():
    with Castle() as castle:
        store = os.path.join(castle.dir, "state/keep")
        secret = os.path.join(store, "secrets", "one")
        key = os.path.join(store, "key")
        with_source(castle)

        def told(*words):
            done = castle.command("secret", "check", "one")
            assert done.returncode == 1, done
            for word in words:
                assert word in done.stdout, (word, done)

        told("is not set", "run: sandcastle secret set one")
        castle.secret("one", TOKEN)
        with_source(castle, url="https://b.example")
        told("https://a.example:443", "https://b.example:443",
             "run: sandcastle secret set one")
        with_source(castle)
        os.chmod(secret, 0o604)
        told(secret, "0604", "chmod 0600")
        os.chmod(secret, 0o600)
        os.chmod(store, 0o770)
        told(store, "0770", "chmod 0700")
        os.chmod(store, 0o700)
        os.chmod(key, 0o644)
        told(key, "0644", "chmod 0600")
        os.chmod(key, 0o600)
        with open(key, "r+b") as f:
            f.truncate(31)
        told(key, "wrong size", "remove it")
        os.unlink(key)
        told(key, "every secret must be set again")
        castle.secret("one", TOKEN)
        castle.command("secret", "check", "one", check=True)


def a_secret_is_replaced_whole_and_removed():
    with Castle() as castle:
        with_source(castle)
        castle.secret("one", TOKEN)
        secrets = os.path.join(castle.dir, "state/keep/secrets")
        before = os.stat(os.path.join(secrets, "one")).st_ino
        castle.secret("one", TOKEN + "2")
        assert os.stat(os.path.join(secrets, "one")).st_ino != before
        assert os.listdir(secrets) == ["one"]
        castle.command("secret", "rm", "one", check=True)
        assert os.listdir(secrets) == []
        done = castle.command("secret", "rm", "one")
        assert done.returncode == 1 and "not set" in done.stderr, done


def root_is_sent_away():
    if os.geteuid() != 0:
        raise Skip("needs root, to be refused as root")
    with Castle() as castle:
        with_source(castle)
        done = subprocess.run(
            [program("sandcastle-keep"), "secret", "set", "one", "--state",
             castle.dir + "/state/keep", "--config",
             castle.dir + "/config.yaml"],
            input="t\n", capture_output=True, text=True, timeout=20)
        assert done.returncode == 2 and "not as root" in done.stderr, done


def the_opener_writes_into_a_pipe_only():
    """Run by hand, with something else as fd 3, it gives nothing away."""
    with Castle() as castle:
        with_source(castle)
        castle.secret("one", TOKEN)
        out = os.path.join(castle.dir, "out")
        prefix = castle.argv()[:-3]
        script = ('exec 3>"$1"; shift; exec "$@"')
        done = subprocess.run(
            prefix + ["sh", "-c", script, "sh", out,
                      program("sandcastle-keep"), "open", "one",
                      "https://a.example:443", "one", "--state",
                      castle.dir + "/state/keep"],
            capture_output=True, timeout=20)
        assert done.returncode == 3, done
        assert os.path.getsize(out) == 0
        done = subprocess.run(
            prefix + ["sh", "-c", '"$@" 3>&1 | cat', "sh",
                      program("sandcastle-keep"), "open", "one",
                      "https://a.example:443", "one", "--state",
                      castle.dir + "/state/keep"],
            capture_output=True, timeout=20)
        assert TOKEN.encode() in done.stdout


def the_main_process_reads_orders_only():
    """No read from a source, a name server or the store: its own files are
    opened to be handed on."""
    if os.geteuid() != 0 or not shutil.which("strace"):
        raise Skip("needs root and strace, to look at the keep")
    authority = Authority()
    server = Server(Honest(), authority.context())
    with Castle() as castle:
        castle.configure("sources:\n" + castle.source_config(
            "one", server.url, ["image.preview"], ca_file=authority.ca,
            poll_interval="200ms"))
        castle.secret("one", TOKEN)
        castle.start()
        keep = castle.pids("keep")[0]
        trace = os.path.join(castle.dir, "trace")
        tracer = subprocess.Popen(
            ["strace", "-qq", "-y", "-p", str(keep), "-o", trace, "-e",
             "trace=read,pread64,readv,preadv,recvfrom,recvmsg,recvmmsg,mmap,"
             "open,openat,socket,connect,bind,listen,accept,accept4,splice,"
             "tee,write,writev,pwrite64,sendto,sendmsg"],
            stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: os.path.exists(trace), 10, "strace")
            asked = len(server.requests)
            eventually(lambda: len(server.requests) >= asked + 5, 20,
                       "five more exchanges")
        finally:
            tracer.terminate()
            tracer.wait()
        castle.stop()
        with open(trace) as f:
            lines = [l for l in f.read().splitlines() if "(" in l and
                     not l.startswith(("---", "+++"))]
    server.close()
    authority.remove()
    calls = {}
    for line in lines:
        calls.setdefault(line.split("(")[0], []).append(line)
    # The control: orders came and answers went.
    assert len(calls.get("recvmsg", [])) >= 10, calls.keys()
    assert set(calls) <= {"recvmsg", "sendmsg", "sendto", "openat"}, {
        name: some[:3] for name, some in calls.items()}
    for line in calls["recvmsg"] + calls.get("sendmsg", []) + calls.get(
            "sendto", []):
        assert re.match(r"\w+\(\d+<(socket|UNIX)", line), line
    for line in calls.get("openat", []):
        assert f'"{authority.ca}"' in line, line


TESTS = [
    a_token_is_typed_twice_and_never_shown,
    both_lines_can_be_pasted_at_once,
    two_different_tokens_change_nothing,
    an_empty_line_changes_nothing,
    a_token_longer_than_a_terminal_line_is_refused,
    control_c_gives_the_echo_back,
    control_c_at_the_second_question_does_too,
] + [
    (f"{signal.Signals(n).name} gives the echo back",
     lambda n=n: every_ending_signal_gives_the_echo_back(n))
    for n in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
] + [
    control_z_does_not_stop_it,
    the_longest_token_comes_by_a_pipe,
    a_token_is_no_argument,
    a_secret_needs_its_source_first,
    a_broken_config_is_named,
    first_secrets_set_at_once_share_a_key,
    list_says_what_is_usable_and_why_not,
    check_says_what_to_do,
    a_secret_is_replaced_whole_and_removed,
    root_is_sent_away,
    the_opener_writes_into_a_pipe_only,
    the_main_process_reads_orders_only,
]

if __name__ == "__main__":
    tap.main(TESTS)
