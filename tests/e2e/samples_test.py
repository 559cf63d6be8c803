#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Every sample file through a real box, by `sandcastle try`.

tests/samples/expected.tsv says what must become of each. What must hold of an
output, there:
  equal            fields with exactly these values
  words, absent    strings that the text has, and has not
  pages            how many entries `pages` has
  bytes_at_most    of all pages together
  confidence_above
  lacks            strings that the bytes of `data` do not have
  mean_above, mean_below
                   average brightness of the picture in `data`
Of every picture: its first bytes are those of its format, and it has the size
that the output says.
"""
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap
from castle import Castle

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                       "samples")
MAGIC = {"jpeg": b"\xff\xd8\xff", "png": b"\x89PNG\r\n\x1a\n",
         "webp": b"RIFF"}


def read_expected():
    with open(os.path.join(SAMPLES, "expected.tsv"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                name, capability, options, outcome, checks = \
                    line.rstrip("\n").split("\t")
                yield (name, capability,
                       [] if options == "-" else options.split(), outcome,
                       {} if checks == "-" else json.loads(checks))


class Room:
    """One castle for all samples, and the samples where its user reads them."""

    def __init__(self):
        self.castle = Castle()
        self.files = os.path.join(self.castle.dir, "samples")
        shutil.copytree(os.path.join(SAMPLES, "files"), self.files)
        subprocess.run([sys.executable,
                        os.path.join(SAMPLES, "make_samples.py"), "--large",
                        os.path.join(self.files, "large")], check=True)
        self.configure()

    def configure(self, capabilities=""):
        text = "sources:\n" + self.castle.source_config(
            "test", "https://source.invalid", ["image.preview"])
        if capabilities:
            text += "capabilities:\n" + capabilities
        self.castle.configure(text)

    def attempt(self, capability, name, options=()):
        """Gives "succeeded" and the output, or the error code and None."""
        arguments = ["try", capability, "--data",
                     os.path.join(self.files, name)]
        for option in options:
            arguments += ["--set", option]
        done = self.castle.command(*arguments)
        assert done.returncode in (0, 1), (done.returncode, done.stderr)
        answer = json.loads(done.stdout)
        if done.returncode == 0:
            return "succeeded", answer
        assert set(answer) == {"code", "message"}, answer
        return answer["code"], None


ROOM = None


def room():
    global ROOM
    if ROOM is None:
        ROOM = Room()
    return ROOM


def field(path, name):
    return subprocess.run(["vipsheader", "-f", name, path],
                          capture_output=True, text=True).stdout.strip()


def check_picture(output, checks):
    data = base64.b64decode(output["data"], validate=True)
    assert data.startswith(MAGIC[output["format"]]), data[:16]
    for text in checks.get("lacks", []):
        assert text.encode() not in data, text
    with tempfile.NamedTemporaryFile() as f:
        f.write(data)
        f.flush()
        size = (int(field(f.name, "width")), int(field(f.name, "height")))
        assert size == (output["width"], output["height"]), size
        # Upright already: nothing is left to turn it by.
        assert field(f.name, "orientation") in ("", "1")
        if "mean_above" in checks or "mean_below" in checks:
            mean = float(subprocess.run(["vips", "avg", f.name], check=True,
                                        capture_output=True, text=True).stdout)
            assert checks.get("mean_above", -1) < mean < \
                checks.get("mean_below", 256), mean


def check_output(output, checks):
    for name, value in checks.get("equal", {}).items():
        assert output[name] == value, (name, output[name])
    text = "\n".join(output.get("pages", [])) or output.get("text", "")
    for words in checks.get("words", []):
        assert words in text, (words, text[:500])
    for words in checks.get("absent", []):
        assert words not in text, words
    if "pages" in checks:
        assert len(output["pages"]) == checks["pages"], len(output["pages"])
    if "bytes_at_most" in checks:
        size = sum(len(page.encode()) for page in output["pages"])
        assert 0 < size <= checks["bytes_at_most"], size
    if "confidence_above" in checks:
        assert checks["confidence_above"] < output["confidence"] <= 100
    if "format" in output:
        check_picture(output, checks)


def sample(name, capability, options, outcome, checks):
    got, output = room().attempt(capability, name, options)
    assert got == outcome, (got, output)
    if output is not None:
        check_output(output, checks)


def there_is_metadata_to_remove():
    """The control of "lacks": the photo has what its preview must not."""
    with open(os.path.join(SAMPLES, "files", "photo.jpg"), "rb") as f:
        photo = f.read()
    assert b"Exif" in photo and b"Quay Optical" in photo
    assert photo.count(b"Thorsen") == 2
    path = os.path.join(SAMPLES, "files", "photo.jpg")
    assert field(path, "exif-ifd3-GPSLatitude").startswith("59/1 54/1")
    assert field(path, "orientation") == "6"


def limited(settings, capability, name, options, outcome):
    room().configure(settings)
    try:
        got, _ = room().attempt(capability, name, options)
    finally:
        room().configure()
    assert got == outcome, got


def with_limits(capability, **keys):
    return f"  {capability}:\n" + "".join(
        f"    {key}: {value}\n" for key, value in keys.items())


LIMITS = [
    ("a box that runs out of time",
     with_limits("image.preview", time_limit="1s"),
     "image.preview", "large/bomb.png", [], "timeout"),
    ("a box that runs out of memory",
     with_limits("image.preview", memory_limit="200MiB"),
     "image.preview", "large/bomb.png", [], "too_heavy"),
    ("a page that takes too long to draw",
     with_limits("document.preview", time_limit="1s"),
     "document.preview", "large/slow.pdf", ["type=pdf", "size=2048"],
     "timeout"),
    ("an input larger than the operator allows",
     with_limits("image.preview", max_input="4KiB"),
     "image.preview", "photo.jpg", [], "too_large"),
    ("a document whose program is not there",
     with_limits("document.text", program="{pandoc: /nonexistent}"),
     "document.text", "note.docx", ["type=docx"], "unsupported_type"),
    ("a PDF, where a program for others is not there",
     with_limits("document.text", program="{pandoc: /nonexistent}"),
     "document.text", "note.pdf", ["type=pdf"], "succeeded"),
    ("a document that needs more memory than there is",
     with_limits("document.text", memory_limit="256MiB"),
     "document.text", "note.docx", ["type=docx"], "too_heavy"),
    ("a language that is allowed and not installed",
     with_limits("image.text", languages="[eng, xyz]"),
     "image.text", "scan.jpg", ["languages=xyz"], "unsupported_language"),
    ("a language that is installed and not allowed",
     with_limits("image.text", languages="[xyz]"),
     "image.text", "scan.jpg", ["languages=eng"], "unsupported_language"),
]


def all_tests():
    for name, capability, options, outcome, checks in read_expected():
        yield (" ".join([capability, name, *options, "->", outcome]),
               lambda a=(name, capability, options, outcome, checks):
               sample(*a))
    yield there_is_metadata_to_remove
    for title, settings, capability, name, options, outcome in LIMITS:
        yield (title, lambda a=(settings, capability, name, options, outcome):
               limited(*a))


if __name__ == "__main__":
    tap.main(list(all_tests()))
