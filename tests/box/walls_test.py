#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Box checks: tried as the driver, as a tool, and outside, where they pass."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from yard import (
    DOCUMENT_TEXT, IMAGE_PREVIEW, PLAIN_UID, PROBE, SILENT, TIME, VERDICT,
    Yard, demote)
import tap

CONFIG = """sources:
  test:
    url: https://source.invalid
    capabilities: [image.preview]
capabilities:
  image.preview:
    program: {{vips: {probe}, vipsheader: {probe}}}
    time_limit: {time}
    memory_limit: 256MiB
    tmp_limit: 1MiB
  document.text: {{enabled: false}}
  image.text: {{enabled: false}}
"""
PLACE = tempfile.mkdtemp(prefix="sandcastle-probe-")
os.chmod(PLACE, 0o755)
TOOL = os.path.join(PLACE, "boxprobe")
shutil.copy2(PROBE, TOOL)

# uretprobe and uprobe: the kernel lets them pass every filter, and ends who
# calls them from anywhere but its own trampolines.
PAST_EVERY_FILTER = {335, 336}

_yards = {}


def yard(time_limit="10s"):
    if time_limit not in _yards:
        _yards[time_limit] = Yard(
            CONFIG.format(probe=TOOL, time=time_limit), driver=PROBE).begin()
        assert _yards[time_limit].list().usable[IMAGE_PREVIEW] == 0, \
            _yards[time_limit].lines()
    return _yards[time_limit]


class Lines:
    """What a check printed: attempt -> "refused EPERM" or "open 0"."""

    def __init__(self, text):
        self.text = text
        self.found = {}
        for line in text.splitlines():
            match = re.match(r"^(.*) (refused \w+|open -?\d+)$", line)
            if match:
                self.found[match.group(1)] = match.group(2)

    def refused(self, *errors, among=None, but=()):
        """Every attempt was refused, by one of these errors."""
        names = [n for n in (among or self.found) if n not in but]
        assert names, self.text
        wrong = {n: self.found.get(n) for n in names
                 if (self.found.get(n) or "").split()[:1] != ["refused"]
                 or errors and self.found[n].split()[1] not in errors}
        assert not wrong, wrong
        return self

    def open(self, among=None, but=()):
        names = [n for n in (among or self.found) if n not in but]
        assert names, self.text
        wrong = {n: self.found.get(n) for n in names
                 if not (self.found.get(n) or "").startswith("open")}
        assert not wrong, wrong
        return self


def in_box(name, time_limit="10s"):
    end = yard(time_limit).run(IMAGE_PREVIEW, name.encode())
    assert end.end == VERDICT, (name, end, end.output)
    return end.output.decode()


def as_driver(name):
    return Lines(in_box(name))


def as_tool(name):
    text = in_box("tool:" + name)
    assert "tool status 0 signal 0" in text, text
    return Lines(text)


def outside(name, **more):
    done = subprocess.run([TOOL, name], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=60,
                          preexec_fn=demote(PLAIN_UID), cwd="/tmp", **more)
    assert done.returncode == 0, (name, done)
    return Lines(done.stdout.decode())


def check_1_no_network():
    outside("network").open()
    as_driver("network").refused("EPERM")
    as_tool("network").refused("EPERM")


def check_13_no_namespaces():
    # unshare in one process: only the first is sure outside; each clone is
    # of its own.
    found = outside("namespaces")
    found.open([n for n in found.found if n.startswith("clone")]
               + ["unshare user", "setns"])
    for inside in (as_driver, as_tool):
        lines = inside("namespaces")
        lines.refused("EPERM", but=("clone3 user",))
        lines.refused("ENOSYS", among=("clone3 user",))


def numbers(text, word):
    return {int(n) for n in re.findall(rf"^{word} (\d+)$", text, re.M)}


def check_23_the_sweep():
    both = in_box("sweep", "60s").split("--\n")
    for name, text in zip(("driver", "tool"), both):
        declared = numbers(text, "declared")
        answers = numbers(text, "answers") - PAST_EVERY_FILTER
        assert declared, text
        print(f"# {name}: {len(answers)} of 480 calls answer")
        assert answers == declared, (
            name, "more", sorted(answers - declared),
            "less", sorted(declared - answers))
    free = numbers(outside("sweep").text.split("--\n")[0], "answers")
    print(f"# outside: {len(free)} of 480 calls answer")
    assert len(free) > len(numbers(both[0], "declared")) + 100, len(free)


# epoll_create, epoll_wait, epoll_ctl: what a tool whose runtime waits by epoll
# may do besides. Of eventfd2 and pipe2, which it also may, the sweep asks for
# flags that it may not.
LOOP = {213, 232, 233}


def check_23_the_sweep_with_an_event_loop():
    tools = ("pdftotext", "pdfinfo", "pdftoppm", "tesseract", "pandoc")
    config = CONFIG.format(probe=TOOL, time="10s").replace(
        "document.text: {enabled: false}",
        "document.text: {time_limit: 60s, program: {%s}}" %
        ", ".join(f"{name}: {TOOL}" for name in tools))
    with Yard(config, driver=PROBE).begin() as looped:
        end = looped.run(DOCUMENT_TEXT, b"sweep")
    assert end.end == VERDICT, end
    for text in end.output.decode().split("--\n"):
        more = (numbers(text, "answers") - PAST_EVERY_FILTER
                - numbers(text, "declared"))
        assert more == LOOP, more


def check_37_no_well_known_path():
    found = outside("paths")
    there = [n for n, answer in found.found.items()
             if answer.startswith("open")]
    for must in ("/proc/self/exe", "/etc/passwd", "/dev/null", "/bin/sh",
                 "../../../../etc/passwd"):
        assert must in there, found.text
    as_driver("paths").refused("ENOENT")
    as_tool("paths").refused("ENOENT")


def check_39_no_descriptor():
    directory = os.open("/", os.O_RDONLY)
    found = outside("descriptors", pass_fds=(directory,))
    assert f"fd {directory} directory" in found.found, found.text
    os.close(directory)
    lines = as_tool("descriptors")
    assert set(lines.found) == {"fd 0", "fd 1", "fd 2"}, lines.text
    assert "cwd /tmp\n" in lines.text, lines.text
    expected = {
        "fd 0", "fd 1", "fd 2", "fd 3", "fd 98", "fd 100", "fd 101"}
    lines = as_driver("descriptors")
    assert set(lines.found) == expected, lines.text
    # Not even what somebody let the yard inherit, wherever it stands.
    for number in (50, 97, 102, 300):
        with Yard(CONFIG.format(probe=TOOL, time="10s"), driver=PROBE,
                  leak=number).begin() as leaky:
            inner = leaky.inside()[1]
            assert os.readlink(f"/proc/{inner}/fd/{number}") == "/", number
            end = leaky.run(IMAGE_PREVIEW, b"descriptors")
            assert set(Lines(end.output.decode()).found) == expected, (
                number, end.output)


def check_42_nothing_written_is_run():
    outside("execution").open()
    as_driver("execution").refused("EPERM", "EACCES")
    as_tool("execution").refused("EPERM", "EACCES")


def daemons():
    """Pids of the probe's daemons outside: found without other programs."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
        except OSError:
            continue
        if words[:2] == [TOOL.encode(), b"daemon"]:
            found.append(int(pid))
    return found


def check_49_nothing_is_left_for_the_next_box():
    # Flags and offset of every file that is not the box's own.
    for name in ("traces", "tool:traces"):
        found = [in_box(name).split("tool status")[0] for _ in range(2)]
        assert "trace 0 flags" in found[0], found[0]
        assert found[1] == found[0], found
    assert "trace 98 flags" in in_box("traces")
    # Outside the second of two that share a file sees what the first left.
    null = os.open("/dev/null", os.O_RDWR)
    found = [outside("traces", stdin=null).text for _ in range(2)]
    assert "trace 0 flags" in found[0] and found[1] != found[0], found
    os.close(null)


def calls_that_tools_use_do_nothing_else():
    for name in ("advices", "inheriting futexes"):
        for inside in (as_driver, as_tool):
            inside(name).refused("EPERM")
    as_driver("machine").refused(
        "EPERM", but=("free space", "free space of a file"))
    as_tool("machine").refused("EPERM")
    outside("machine").open()
    outside("inheriting futexes").open(["futex, try to lock"])
    outside("advices").open(but=("poison",))
    for inside in (outside, as_driver, as_tool):
        inside("kept").open()


def check_56_a_daemon_ends_with_its_box():
    assert len(yard().inside()) == 2
    text = in_box("daemon")
    assert "left" in text, text
    assert len(yard().inside()) == 2, yard().inside()
    # Outside it lives on, when its parents have ended.
    outside("daemon")
    try:
        tap.eventually(lambda: len(daemons()) == 1, 5, daemons())
        time.sleep(0.2)
        assert len(daemons()) == 1, daemons()
    finally:
        for pid in daemons():
            os.kill(pid, signal.SIGKILL)


def check_59_stopped_processes_meet_the_deadline():
    limited = yard("1s")
    end = limited.run(IMAGE_PREVIEW, b"self:stop")
    assert end.end == TIME, end
    assert 1000 <= end.wall_ms < 2500, end
    assert len(limited.inside()) == 2
    process = subprocess.Popen([TOOL, "stop"], preexec_fn=demote(PLAIN_UID),
                               start_new_session=True)
    time.sleep(1.2)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.1)
    assert process.poll() is None
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def check_65_memory_ends():
    outside("memory").open(["next"])
    for inside in (as_driver, as_tool):
        lines = inside("memory").refused("ENOMEM")
        mapped = int(re.search(r"mapped (\d+) MiB", lines.text).group(1))
        assert 128 <= mapped <= 256, mapped


def check_81_a_crash_is_a_failure():
    for name, number in (("segfault", signal.SIGSEGV),
                         ("abort", signal.SIGABRT),
                         ("foreign", signal.SIGSYS)):
        end = yard().run(IMAGE_PREVIEW, b"self:" + name.encode())
        assert (end.end, end.signal) == (SILENT, number), (name, end)
        text = in_box("tool:" + name)
        assert f"tool status -1 signal {int(number)}\n" in text, (name, text)
    end = yard().run(IMAGE_PREVIEW, b"self:seven")
    assert (end.end, end.status, end.signal) == (SILENT, 7, 0), end
    for name, number in (("segfault", signal.SIGSEGV),
                         ("abort", signal.SIGABRT)):
        done = subprocess.run([TOOL, name], preexec_fn=demote(PLAIN_UID))
        assert done.returncode == -number, (name, done)


def foreign_calls_are_refused_or_kill():
    as_tool("unknown").refused("ENOSYS")
    text = in_box("tool:x32")
    assert "signal 31" in text, text
    outside("foreign").open()


def identity_is_nobodys():
    for inside in (as_driver, as_tool):
        text = inside("identity").text
        assert "uid 1000 gid 1000\n" in text, text
        assert "host box\n" in text, text
        assert int(re.search(r"uptime (\d+)", text).group(1)) < 600, text
        Lines(text).refused("EPERM")
    text = as_driver("identity").text
    assert "caps 0 0 0\n" in text and "bounding 0 no_new_privs 1\n" in text, \
        text
    text = outside("identity").text
    assert "bounding 1 no_new_privs 0\n" in text, text


def a_tool_can_still_work():
    as_tool("usable").open()
    as_driver("usable").open()


def a_tool_makes_no_process():
    as_tool("processes").refused("EPERM")
    outside("processes").open(["fork", "vfork", "clone"])


def scratch_space_is_bounded():
    for inside in (as_driver, as_tool):
        lines = inside("full").refused("ENOSPC")
        wrote = int(re.search(r"wrote (\d+) KiB", lines.text).group(1))
        files = int(re.search(r"made (\d+) files", lines.text).group(1))
        assert 900 <= wrote <= 1024 and 900 <= files <= 1024, lines.text


def no_second_program():
    for name in ("by path", "by execve", "by fd", "by memory"):
        as_tool(name).refused("EPERM", "EINVAL", "ENOENT", "EACCES")
    outside("by path").open(["loader by path", "loader, an fd before it"])
    outside("by execve").open()
    outside("by fd").open()
    outside("by memory").open(["memfd", "shared memory", "/proc/self/fd"])


def no_way_back_to_the_page():
    lines = as_tool("by page")
    lines.refused()
    assert lines.found["execveat as the filter wants it"] == \
        "refused EFAULT", lines.text
    as_tool("by exhaustion").refused()
    # Outside each of the plain ways leads there.
    outside("by page").open([
        "mmap, a wish", "mmap, fixed", "mmap, fixed, not replacing",
        "mmap, from below", "mremap, fixed", "mremap, left behind",
        "a stack that grows"])


def the_page_is_what_it_hangs_on():
    # With a path in the page the filter lets the loader be run: all the
    # attempts above were for something.
    text = in_box("page")
    assert "tool status 0 signal 0" in text and "dl_platform" in text, text


def the_yards_end_with_their_tests():
    for each in _yards.values():
        assert each.close() == 0, each.lines()
        assert each.lines() == "", each.lines()
    shutil.rmtree(PLACE)


def main():
    tap.main([
        check_1_no_network, check_13_no_namespaces, check_23_the_sweep,
        check_23_the_sweep_with_an_event_loop,
        check_37_no_well_known_path, check_39_no_descriptor,
        check_42_nothing_written_is_run,
        check_49_nothing_is_left_for_the_next_box,
        calls_that_tools_use_do_nothing_else,
        check_56_a_daemon_ends_with_its_box,
        check_59_stopped_processes_meet_the_deadline,
        check_65_memory_ends, check_81_a_crash_is_a_failure,
        foreign_calls_are_refused_or_kill, identity_is_nobodys,
        a_tool_can_still_work, a_tool_makes_no_process,
        scratch_space_is_bounded, no_second_program,
        no_way_back_to_the_page, the_page_is_what_it_hangs_on,
        the_yards_end_with_their_tests,
    ])


if __name__ == "__main__":
    main()
