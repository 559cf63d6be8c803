#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The yard from outside: its orders, and every way a box can end."""
import base64
import json
import os
import re
import shutil
import signal
import struct
import tempfile
import time

from yard import (
    DOCUMENT_TEXT, FOREIGN, IMAGE_PREVIEW, IMAGE_TEXT, MAKE, MISSING, NO_PROGRAM, NO_WALLS,
    OFF, ORDER, PROBE, SILENT, SOURCE, TICKET, UNMADE, USABLE, VERDICT,
    WALL_ALL, Yard, letter, memory)
import tap

ERROR_BAD_INPUT, ERROR_BAD_CONTENT, ERROR_CRASHED = 1, 4, 11
LANDLOCK = 11
ESTALE, EPERM = 116, 1
PROBED = """sources:
  test:
    url: https://source.invalid
    capabilities: [image.preview]
capabilities:
  image.preview:
    program: {{vips: {tool}, vipsheader: {tool}}}
  document.text: {{enabled: false}}
  image.text:
    program: {{tesseract: /nonexistent/tesseract}}
"""


def probed(directory):
    """A config with the probe as the tool, in a place that all can read."""
    os.chmod(directory, 0o755)
    tool = os.path.join(directory, "tool")
    shutil.copy2(PROBE, tool)
    return PROBED.format(tool=tool)


class Place(tempfile.TemporaryDirectory):
    def __init__(self):
        super().__init__(prefix="sandcastle-place-")


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def begun(yard, contents=b"hang"):
    """Starts a box; gives the pids of its processes."""
    yard.make(IMAGE_PREVIEW, contents)
    return tap.eventually(
        lambda: len(yard.inside()) >= 4 and yard.inside()[2:], 5, "a box")


def every_wall_stands():
    with Yard().begin() as yard:
        listing = yard.list()
        assert listing.walls == WALL_ALL, hex(listing.walls)
        assert listing.error == 0
        assert listing.usable[:3] == (USABLE,) * 3, yard.lines()
        assert listing.missing == (0,) * 8
        assert yard.lines() == "", yard.lines()


def a_job_through_the_real_driver():
    with Yard().begin() as yard:
        end = yard.run(IMAGE_PREVIEW,
                       json.dumps({"data": base64.b64encode(
                           b"\xff\xd8\xff\xe0 no picture").decode()}).encode())
        assert (end.end, end.verdict) == (VERDICT, ERROR_BAD_CONTENT), end
        assert end.output == TICKET, end.output
        assert 0 < end.wall_ms < 10000 and end.peak_kib > 500, end


def a_tool_of_the_real_driver_is_held():
    def verdict(yard, job):
        data = base64.b64encode(b"\xff\xd8\xff\xe0" + job).decode()
        end = yard.run(IMAGE_PREVIEW, json.dumps({"data": data}).encode())
        assert end.end == VERDICT, end
        return end.verdict

    with Place() as place, Yard(probed(place)).begin() as yard:
        assert yard.list().usable[IMAGE_PREVIEW] == USABLE, yard.lines()
        assert verdict(yard, b"try all that is refused") == ERROR_BAD_CONTENT
        # The probe would say so, were anything open.
        assert verdict(yard, b"OPEN") == ERROR_CRASHED


def as_a_dedicated_user():
    if os.geteuid() != 0:
        raise tap.Skip("needs root, to become another user")
    for uid in (1, 12345, 65534):
        with Yard(uid=uid).begin() as yard:
            assert yard.list().walls == WALL_ALL, (uid, yard.lines())


def never_as_root():
    if os.geteuid() != 0:
        raise tap.Skip("needs root, to be refused")
    yard = Yard(uid=0)
    assert yard.process.wait(10) == 1
    assert "does not run as root" in yard.lines(), yard.lines()
    yard.close()


def without_user_namespaces():
    # Inside this one the limit is 0, as on systems that forbid them.
    wrap = ["bwrap", "--dev-bind", "/", "/", "--unshare-user",
            "--disable-userns", "--uid", "1234", "--gid", "1234"]
    with Yard(wrap=wrap) as yard:
        yard.begin()
        listing = yard.list()
        assert listing.walls == 0 and listing.error != 0
        assert listing.usable[:3] == (NO_WALLS,) * 3, listing.usable
        assert "no box can be made: namespaces" in yard.lines(), yard.lines()
        assert "max_user_namespaces" in yard.lines(), yard.lines()
        end = yard.run(IMAGE_PREVIEW, b"{}")
        assert (end.end, end.status) == (UNMADE, EPERM), end


def a_bad_config_is_refused():
    with Yard(config="sources: 7\n") as yard:
        refusal = yard.configure()
        assert refusal and refusal.startswith("config.yaml:1:"), refusal


def one_config_in_a_life():
    with Yard().begin() as yard:
        refusal = yard.configure()
        assert refusal and "one config" in refusal, refusal
        assert yard.list().walls == WALL_ALL


def what_is_missing_is_listed():
    with Place() as place:
        config = probed(place)
        with Yard(config, driver=PROBE).begin() as yard:
            listing = yard.list()
            assert listing.usable[:3] == (USABLE, OFF, NO_PROGRAM), \
                listing.usable
            assert listing.missing[:3] == (0, 0, 0b10), listing.missing
            assert "/nonexistent/tesseract" in yard.lines(), yard.lines()
            end = yard.run(IMAGE_TEXT, b"usable")
            assert end.end == UNMADE, end


def an_optional_program_may_be_missing():
    with Place() as place:
        config = probed(place).replace(
            "document.text: {enabled: false}",
            "document.text: {program: {pandoc: /nonexistent/pandoc}}")
        with Yard(config, driver=PROBE).begin() as yard:
            listing = yard.list()
            assert listing.usable[DOCUMENT_TEXT] == USABLE, yard.lines()
            assert listing.missing[DOCUMENT_TEXT] == 1 << 4, listing.missing
            end = yard.run(DOCUMENT_TEXT, b"usable")
            assert end.end == VERDICT, end


def what_is_no_program_opens_nothing():
    def directories(yard):
        inner = yard.inside()[1]
        return [os.readlink(f"/proc/{inner}/fd/{fd}")
                for fd in os.listdir(f"/proc/{inner}/fd")
                if os.path.isdir(f"/proc/{inner}/fd/{fd}")]

    with Place() as place:
        config = probed(place)
        tool = os.path.join(place, "tool")
        with Yard(config, driver=PROBE).begin() as yard:
            assert yard.list().usable[IMAGE_PREVIEW] == USABLE
            usual = len(directories(yard))
        script = os.path.join(place, "script")
        with open(script, "w", encoding="ascii") as file:
            file.write("#!/bin/sh\nexec vips\n")
        os.chmod(script, 0o755)
        for path, why in (("/etc/passwd", "Permission denied"),
                          (script, "Exec format error")):
            with Yard(config.replace(tool, path),
                      driver=PROBE).begin() as yard:
                assert yard.list().usable[IMAGE_PREVIEW] == NO_PROGRAM, path
                assert f"{path}: {why}" in yard.lines(), yard.lines()
                assert len(directories(yard)) == usual - 2, (
                    path, directories(yard))
        # What one may run and not read is a program.
        os.chmod(tool, 0o711)
        with Yard(config, driver=PROBE).begin() as yard:
            end = yard.run(IMAGE_PREVIEW, b"tool:usable")
            assert b"tool status 0" in end.output, end.output
        # One that becomes a script is missing.
        with Yard(config, driver=PROBE).begin() as yard:
            os.rename(script, tool)
            assert yard.run(IMAGE_PREVIEW, b"usable").end == MISSING


def a_program_that_vanishes():
    with Place() as place:
        config = probed(place)
        tool = os.path.join(place, "tool")
        with Yard(config, driver=PROBE).begin() as yard:
            assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT
            os.rename(tool, tool + ".old")
            assert yard.run(IMAGE_PREVIEW, b"usable").end == MISSING
            # A directory, a file that is not executable, a link: no program.
            os.mkdir(tool)
            assert yard.run(IMAGE_PREVIEW, b"usable").end == MISSING
            os.rmdir(tool)
            shutil.copy(PROBE, tool)
            os.chmod(tool, 0o644)
            assert yard.run(IMAGE_PREVIEW, b"usable").end == MISSING
            os.unlink(tool)
            os.symlink("tool.old", tool)
            assert yard.run(IMAGE_PREVIEW, b"usable").end == MISSING
            os.unlink(tool)
            # An upgraded one is there for the next box.
            shutil.copy2("/bin/true", tool)
            end = yard.run(IMAGE_PREVIEW, b"tool:usable")
            assert b"tool status 0" in end.output, end.output
            assert b"thread" not in end.output, end.output


def killed_by_order():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        pids = begun(yard)
        yard.kill()
        end = yard.ended(5)
        assert end.end == ORDER, end
        assert not any(alive(p) for p in pids), pids
        # A kill that comes late hits nothing.
        yard.kill()
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT


def a_box_goes_first_where_memory_ends():
    def rank(pid):
        with open(f"/proc/{pid}/oom_score_adj") as file:
            return int(file.read())

    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        pids = begun(yard)
        mine = rank("self")
        assert [rank(p) for p in pids] == [max(500, mine)] * len(pids), pids
        # The yard, whose memory the box had until it became one, does not.
        outer = [p for p in yard.inside() if p not in pids]
        assert [rank(p) for p in outer] == [mine] * 2, outer


def killed_from_outside():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        pids = begun(yard)
        os.kill(pids[0], signal.SIGKILL)
        assert yard.ended(5).end == FOREIGN
        # The driver too: init says so by its status.
        assert yard.run(IMAGE_PREVIEW, b"self:killed").end == FOREIGN
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT


def ends_with_its_core():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        pids = begun(yard)
        yard.core.close()
        tap.eventually(lambda: not any(alive(p) for p in pids), 5, "its end")
        yard.connect()
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT
        # A new core in place of the old one ends the old one's box.
        pids = begun(yard)
        yard.connect()
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT
        assert not any(alive(p) for p in pids)


def ends_with_the_yard():
    # Whichever of the yard's two processes is hit.
    for which in (0, 1):
        with Place() as place, \
                Yard(probed(place), driver=PROBE).begin() as yard:
            begun(yard)
            pids = yard.inside()
            assert len(pids) >= 4, pids
            os.kill(pids[which], signal.SIGKILL)
            tap.eventually(
                lambda: not any(alive(p) for p in pids[1:]), 5, "its end")
            assert yard.process.wait(5) == -signal.SIGKILL


def stops_after_its_box():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        pids = begun(yard)
        yard.stop()
        time.sleep(0.3)
        assert yard.process.poll() is None and alive(pids[0])
        yard.kill()
        assert yard.ended(5).end == ORDER
        assert yard.process.wait(5) == 0


def stops_at_once_when_urgent():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        begun(yard)
        yard.stop(urgent=True)
        assert yard.ended(5).end == ORDER
        assert yard.process.wait(5) == 0


def another_generation_is_stale():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        yard.make(IMAGE_PREVIEW, b"usable", generation=2)
        end = yard.ended()
        assert (end.end, end.status) == (UNMADE, ESTALE), end


def nonsense_costs_the_link():
    def unsealed():
        return [memory(TICKET + b"usable"), memory()]

    def writable_input():
        return [memory(TICKET + b"usable", sealed=True), memory()]

    def sealed_output():
        return [letter(b"usable"), memory(sealed=True)]

    def readonly_output():
        fd = memory()
        return [letter(b"usable"),
                os.open(f"/proc/self/fd/{fd}", os.O_RDONLY)]

    def no_memory():
        return [letter(b"usable"), os.open("/dev/null", os.O_RDWR)]

    def one():
        return [letter(b"usable")]

    def short():
        fd = memory(b"x", sealed=True)
        return [os.open(f"/proc/self/fd/{fd}", os.O_RDONLY), memory()]

    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        for fds in (unsealed, writable_input, sealed_output, readonly_output,
                    no_memory, one, short):
            yard.send(yard.core, MAKE, struct.pack("<2I", IMAGE_PREVIEW, 0),
                      fds())
            assert yard.core.recv(4096) == b"", fds.__name__
            yard.connect()
        for body in (struct.pack("<2I", 8, 0), b"", b"x" * 9):
            yard.send(yard.core, MAKE, body, [letter(b""), memory()])
            assert yard.core.recv(4096) == b"", body
            yard.connect()
        # A second order while a box is on.
        begun(yard)
        yard.make(IMAGE_PREVIEW, b"usable")
        assert yard.core.recv(4096) == b""
        yard.connect()
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT


def a_box_cannot_say_more_than_a_verdict():
    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        for what in (b"self:says released", b"self:says gave_up",
                     b"self:says walls", b"self:says half",
                     b"self:says twice"):
            end = yard.run(IMAGE_PREVIEW, what)
            assert end.end == SILENT, (what, end)
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT


def many_boxes_leave_nothing():
    def counts(pid):
        with open(f"/proc/{pid}/mountinfo") as file:
            mounts = len(file.readlines())
        return (len(os.listdir(f"/proc/{pid}/fd")), mounts)

    with Place() as place, Yard(probed(place), driver=PROBE).begin() as yard:
        assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT
        inner = yard.inside()[1]
        before = counts(inner)
        for _ in range(50):
            assert yard.run(IMAGE_PREVIEW, b"usable").end == VERDICT
        assert counts(inner) == before, (before, counts(inner))
        assert len(yard.inside()) == 2


def the_yard_has_left_the_host():
    with Yard().begin() as yard:
        inner = yard.inside()[1]
        with open(f"/proc/{inner}/mountinfo") as file:
            points = [line.split()[4] for line in file]
        for point in points:
            assert point in ("/", "/proc") or re.match(
                r"^/trees/\d/(usr/lib|usr/share|etc/fonts|etc/|var/cache/)",
                point), point
        for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup",
                     "time"):
            assert os.readlink(f"/proc/{inner}/ns/{kind}") != \
                os.readlink(f"/proc/self/ns/{kind}"), kind
        with open(f"/proc/{inner}/status") as file:
            status = file.read()
        assert re.search(r"^NSpid:\s+\d+\s+1$", status, re.M), status


def injected(call, error="EPERM"):
    """Runs the yard with one system call failing in it and its boxes."""
    return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call,
            "-e", f"inject={call}:error={error}"]


def a_box_with_a_failed_step_runs_nothing():
    for call, step in (("setsid", "its session"),
                       ("sethostname", "its session"),
                       ("capset", "dropping privileges"),
                       ("landlock_restrict_self", "Landlock"),
                       ("close_range", "its descriptors"),
                       ("prlimit64", "its limits"),
                       ("execveat", "starting init")):
        with Yard(wrap=injected(call)).begin() as yard:
            listing = yard.list()
            assert (listing.walls, listing.error) == (0, EPERM), (
                call, listing.walls, listing.error, yard.lines())
            assert listing.usable[:3] == (NO_WALLS,) * 3, call
            assert f"no box can be made: {step}: " in yard.lines(), \
                (call, yard.lines())
            assert yard.run(IMAGE_PREVIEW, b"{}").end == UNMADE


def a_yard_that_cannot_leave_makes_no_box():
    for call, word in (("pivot_root", "pivot_root"),
                       ("unshare", "namespaces"),
                       ("fsopen", "tmpfs"),
                       ("open_tree", "sandcastle-init"),
                       ("move_mount", "a tree of its own")):
        with Yard(wrap=injected(call)).begin() as yard:
            listing = yard.list()
            assert (listing.walls, listing.error) == (0, EPERM), call
            assert listing.usable[:3] == (NO_WALLS,) * 3, call
            assert word in yard.lines(), (call, yard.lines())


def a_wall_is_done_without_only_when_accepted():
    absent = injected("landlock_create_ruleset", "ENOSYS")
    with Yard(wrap=absent).begin() as yard:
        listing = yard.list()
        assert listing.walls == WALL_ALL & ~(1 << LANDLOCK), listing.walls
        assert listing.usable[:3] == (NO_WALLS,) * 3, listing.usable
        assert "has no Landlock: nothing is run" in yard.lines(), yard.lines()
    with Yard(SOURCE + "accept_missing: [landlock]\n",
              wrap=absent).begin() as yard:
        listing = yard.list()
        assert listing.walls == WALL_ALL & ~(1 << LANDLOCK), listing.walls
        assert listing.usable[:3] == (USABLE,) * 3, listing.usable
        assert "has no Landlock (accept_missing)" in yard.lines()
        end = yard.run(IMAGE_PREVIEW, b"{}")
        assert (end.end, end.verdict) == (VERDICT, ERROR_BAD_INPUT), end


def main():
    tap.main([
        every_wall_stands, a_job_through_the_real_driver,
        a_tool_of_the_real_driver_is_held, as_a_dedicated_user, never_as_root, without_user_namespaces,
        a_bad_config_is_refused, one_config_in_a_life,
        what_is_missing_is_listed, an_optional_program_may_be_missing,
        what_is_no_program_opens_nothing,
        a_program_that_vanishes,
        a_box_goes_first_where_memory_ends, killed_by_order,
        killed_from_outside, ends_with_its_core,
        ends_with_the_yard, stops_after_its_box, stops_at_once_when_urgent,
        another_generation_is_stale, nonsense_costs_the_link,
        a_box_cannot_say_more_than_a_verdict, many_boxes_leave_nothing,
        the_yard_has_left_the_host, a_box_with_a_failed_step_runs_nothing,
        a_yard_that_cannot_leave_makes_no_box,
        a_wall_is_done_without_only_when_accepted,
    ])


if __name__ == "__main__":
    main()
