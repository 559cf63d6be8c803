# SPDX-License-Identifier: ISC
"""A sandcastle under test: its directory, its processes, its end."""
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

from tap import Skip, eventually

BUILD = os.environ.get("SANDCASTLE_BUILD") or os.path.abspath(
    os.path.join(os.path.dirname(__file__), "..", "..", "build"))
PLAIN_UID = 64321
PARTS = ("core", "keep", "yard", "supervisor", "courier", "dialer", "init",
         "driver")


def program(name):
    return os.path.join(BUILD, name)


def modes():
    """How sandcastle can be run here: as a plain user; as root, which gives
    each part its own user."""
    return ["user", "root"] if os.geteuid() == 0 else ["user"]


def need_three_users():
    if os.geteuid() != 0:
        raise Skip("needs root, to run as three users")
    subprocess.run(["sh", os.path.join(os.path.dirname(__file__), "..", "..",
                                       "tools", "users.sh")],
                   check=True, stdout=subprocess.DEVNULL)


class Castle:
    """One `--dir` directory and what runs from it.

    mode "user": one plain user (dropped to when the tests run as root);
    mode "root": started as root, three users; by default as the environment
    says in SANDCASTLE_MODE, or "user".
    """

    def __init__(self, mode=None, build=None):
        mode = mode or os.environ.get("SANDCASTLE_MODE", "user")
        self.mode = mode
        self.build = build or BUILD
        if mode == "root":
            need_three_users()
        self.dir = tempfile.mkdtemp(prefix="sandcastle-dir-")
        os.chmod(self.dir, 0o755)
        if mode == "user" and os.geteuid() == 0:
            os.chown(self.dir, PLAIN_UID, PLAIN_UID)
        self.process = None
        self.core_uid = PLAIN_UID
        if mode == "root":
            self.core_uid = users()["sandcastle"]
        self.log_path = os.path.join(self.dir, "log")
        self.command("init", check=True)

    def _prefix(self):
        if self.mode == "user" and os.geteuid() == 0:
            return ["setpriv", f"--reuid={PLAIN_UID}", f"--regid={PLAIN_UID}",
                    "--clear-groups", "--inh-caps=-all"]
        return []

    def argv(self, *arguments):
        return self._prefix() + [os.path.join(self.build, "sandcastle"),
                                 "--dir", self.dir, *arguments]

    def command(self, *arguments, data=None, check=False, timeout=120):
        """Runs a verb; gives the finished process with text output."""
        done = subprocess.run(
            self.argv(*arguments), input=data, capture_output=True,
            text=True, timeout=timeout, cwd="/", env={"PATH": os.environ["PATH"]})
        if check and done.returncode != 0:
            raise AssertionError(f"{arguments}: status {done.returncode}\n"
                                 f"{done.stdout}{done.stderr}")
        return done

    def configure(self, text):
        path = os.path.join(self.dir, "config.yaml")
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, 0o644)

    def source_config(self, name, url, capabilities, **keys):
        lines = [f"  {name}:", f"    url: {url}",
                 f"    capabilities: [{', '.join(capabilities)}]"]
        lines += [f"    {key}: {value}" for key, value in keys.items()]
        return "\n".join(lines) + "\n"

    def secret(self, name, token):
        self.command("secret", "set", name, data=token + "\n", check=True)

    def start(self, wait=True):
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            self.argv("run"), stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, cwd="/", env={"PATH": os.environ["PATH"]})
        log.close()
        if wait:
            eventually(lambda: "running, generation" in self.log() or
                       self.process.poll() is not None, 30, "started")
            assert self.process.poll() is None, self.log()
        return self

    def log(self):
        try:
            with open(self.log_path, errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def status(self):
        with open(os.path.join(self.dir, "run", "status.json")) as f:
            return json.load(f)

    def pids(self, part=None):
        """pids of this castle's processes, by the name of the program."""
        children = {}
        names = {}
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                with open(f"/proc/{entry}/stat") as f:
                    stat = f.read()
                name = stat[stat.index("(") + 1:stat.rindex(")")]
                parent = int(stat[stat.rindex(")") + 2:].split()[1])
            except (OSError, ValueError):
                continue
            children.setdefault(parent, []).append(int(entry))
            names[int(entry)] = name
        found = []
        todo = [self.process.pid]
        while todo:
            pid = todo.pop()
            found.append(pid)
            todo += children.get(pid, [])
        if part is None:
            return found
        wanted = ("sandcastle-" + part)[:15]
        return [pid for pid in found if names.get(pid) == wanted]

    def stop(self, timeout=90):
        """SIGTERM, wait; gives the exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("did not stop\n" + self.log()[-4000:])
        self.process = None
        return status

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def remove(self):
        if self.process is not None:
            self.kill()
        time.sleep(0.05)
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print("# log of the castle:")
            for line in self.log().splitlines()[-40:]:
                print("#   " + line)
        self.remove()


def users():
    return {name: pwd.getpwnam(name).pw_uid
            for name in ("sandcastle", "sandcastle-keep", "sandcastle-yard")}
