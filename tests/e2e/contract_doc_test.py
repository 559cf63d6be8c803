#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The examples of docs/source-contract.md, run as they stand: commands in
order, in one shell, against a queue; output compared but for ids and times."""
import os
import re
import subprocess

from queue_rig import PRODUCER, WORKER, Queue
from sources import Authority
from tap import main

PAGE = os.path.join(os.path.dirname(__file__), "..", "..", "docs",
                    "source-contract.md")
ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def blocks(language):
    with open(PAGE, encoding="utf-8") as f:
        return re.findall(rf"```{language}\n(.*?)```", f.read(), re.S)


def examples():
    """(command, its output) of all console blocks, in order."""
    found = []
    for block in blocks("console"):
        for line in block.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append([line[2:], ""])
            else:
                found[-1][1] += line
    return found


def plain(text, names):
    """Each id becomes the number of its first appearance."""
    text = TIME.sub("TIME", text)
    return ID.sub(lambda m: f"ID{names.setdefault(m[0], len(names))}", text)


class Shell:
    def __init__(self, where, environment):
        self.process = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, cwd=where, env=environment, text=True)

    def run(self, command):
        self.process.stdin.write(command.rstrip("\n") + "\necho '<END>'\n")
        self.process.stdin.flush()
        output = ""
        while (line := self.process.stdout.readline()) != "<END>\n":
            assert line, "the shell ended"
            output += line
        return output

    def close(self):
        self.process.stdin.close()
        self.process.wait(5)
        self.process.stdout.close()


def the_examples_of_the_page_do_what_it_says():
    found = examples()
    assert len(found) > 12, len(found)
    authority = Authority()
    with Queue(authority=authority) as queue:
        os.symlink(authority.ca, queue.at("cert.pem"))
        shell = Shell(queue.dir, dict(os.environ, URL=queue.url,
                                      WORKER=WORKER, PRODUCER=PRODUCER))
        shell.run(blocks("sh")[0])
        said, shown = {}, {}
        for command, expected in found:
            output = shell.run(command)
            for name, key in (("JOB", "id"), ("LEASE", "lease")):
                match = re.search(rf'"{key}":"([0-9a-f]{{32}})"', output)
                if match:
                    shell.run(f"{name}={match[1]}")
            assert plain(output, said) == plain(expected, shown), (
                command, output, expected)
        shell.close()
    authority.remove()


if __name__ == "__main__":
    main([the_examples_of_the_page_do_what_it_says])
