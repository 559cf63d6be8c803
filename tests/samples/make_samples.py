#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Makes the sample files from nothing but Python and the Debian tools.

All but other_thumbnail.heic: a piece of page.png by heif-enc -t 96, with the
thumbnail of its negative in place of its own.

make_samples.py DIR           the small ones, that stand in files/
make_samples.py --large DIR   those too large to keep; made when a test runs
"""
import hashlib
import math
import os
import random
import struct
import subprocess
import sys
import zipfile
import zlib

LEDGER = [
    "Harbour Office, Quay Street 14",
    "",
    "Dear Mr Lindqvist,",
    "",
    "the grain barge arrived on 3 March with 412 sacks.",
    "Nine sacks were wet and have been set aside.",
    "Please send somebody with a dry cart before Friday.",
    "",
    "The rope you ordered costs 38 crowns a coil.",
    "",
    "With kind regards",
    "A. Thorsen, harbour master",
]
MORE = [
    "Postscript",
    "",
    "The lantern on the north pier is mended.",
    "M\u00fcller\u2019s bill for the glass is enclosed: 12 \u20ac.",
]


# -- PDF ---------------------------------------------------------------------

class Pdf:
    """Objects numbered from 1, written with a plain cross-reference table."""

    def __init__(self):
        self.objects = []

    def add(self, body=b""):
        self.objects.append(body)
        return len(self.objects)

    def stream(self, data, entries=b""):
        return self.add(b"<</Length %d%s>>stream\n%s\nendstream" %
                        (len(data), entries, data))

    def write(self, root, extra=b""):
        out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
        places = []
        for number, body in enumerate(self.objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        table = b"".join(b"%010d 00000 n \n" % place for place in places)
        return out + b"xref\n0 %d\n0000000000 65535 f \n%s" % (
            len(places) + 1, table) + (
            b"trailer<</Size %d/Root %d 0 R%s>>\nstartxref\n%d\n%%%%EOF\n" %
            (len(places) + 1, root, extra, len(out)))


def pdf_string(text):
    raw = text.encode("cp1252")
    for c in (b"\\", b"(", b")"):
        raw = raw.replace(c, b"\\" + c)
    return b"(" + raw + b")"


def lines_of(lines, size=16, top=780):
    shown = b" ".join(pdf_string(line) + b" '" for line in lines)
    return b"BT /F1 %d Tf %d TL 70 %d Td %s ET" % (
        size, max(size, size * 2 - 6), top, shown)


def text_pdf(pages, title=None, count=None, box=b"0 0 595 842", lock=None,
             **form):
    """One text page for each list of lines; lock: a function on streams."""
    pdf = Pdf()
    root = pdf.add()
    tree = pdf.add()
    font = pdf.add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica"
                   b"/Encoding/WinAnsiEncoding>>")
    kids = []
    for lines in pages:
        data = lines_of(lines, **form)
        number = len(pdf.objects) + 1
        content = pdf.stream(lock(number, data) if lock else data)
        kids.append(pdf.add(
            b"<</Type/Page/Parent %d 0 R/MediaBox[%s]/Resources<</Font"
            b"<</F1 %d 0 R>>>>/Contents %d 0 R>>" % (tree, box, font, content)))
    pdf.objects[root - 1] = b"<</Type/Catalog/Pages %d 0 R>>" % tree
    pdf.objects[tree - 1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (
        len(kids) if count is None else count,
        b" ".join(b"%d 0 R" % kid for kid in kids))
    extra = b""
    if title:
        extra = b"/Info %d 0 R" % pdf.add(b"<</Title%s>>" % pdf_string(title))
    return pdf, root, extra


def image_pdf(jpegs, box=b"0 0 595 842"):
    """A page for each JPEG of (bytes, width, height), and no text."""
    pdf = Pdf()
    root = pdf.add()
    tree = pdf.add()
    kids = []
    for data, width, height in jpegs:
        image = pdf.stream(data, b"/Type/XObject/Subtype/Image/Width %d/Height"
                           b" %d/ColorSpace/DeviceGray/BitsPerComponent 8"
                           b"/Filter/DCTDecode" % (width, height))
        content = pdf.stream(b"q %s 0 0 %s 0 0 cm /I Do Q" %
                             tuple(box.split()[2:]))
        kids.append(pdf.add(
            b"<</Type/Page/Parent %d 0 R/MediaBox[%s]/Resources<</XObject"
            b"<</I %d 0 R>>>>/Contents %d 0 R>>" %
            (tree, box, image, content)))
    pdf.objects[root - 1] = b"<</Type/Catalog/Pages %d 0 R>>" % tree
    pdf.objects[tree - 1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (
        len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    return pdf.write(root)


def noise_pdf(side):
    """One picture that no format makes smaller."""
    pdf = Pdf()
    root = pdf.add()
    image = pdf.stream(random.Random(4).randbytes(side * side * 3),
                       b"/Type/XObject/Subtype/Image/Width %d/Height %d"
                       b"/ColorSpace/DeviceRGB/BitsPerComponent 8" %
                       (side, side))
    content = pdf.stream(b"q %d 0 0 %d 0 0 cm /I Do Q" % (side, side))
    page = pdf.add()
    tree = pdf.add(b"<</Type/Pages/Count 1/Kids[%d 0 R]>>" % page)
    pdf.objects[page - 1] = (
        b"<</Type/Page/Parent %d 0 R/MediaBox[0 0 %d %d]/Resources<</XObject"
        b"<</I %d 0 R>>>>/Contents %d 0 R>>" %
        (tree, side, side, image, content))
    pdf.objects[root - 1] = b"<</Type/Catalog/Pages %d 0 R>>" % tree
    return pdf.write(root)


PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e80"
                    "2f0ca9fe6453697a")


def rc4(key, data):
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) & 255
        box[i], box[j] = box[j], box[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) & 255
        j = (j + box[i]) & 255
        box[i], box[j] = box[j], box[i]
        out.append(byte ^ box[(box[i] + box[j]) & 255])
    return bytes(out)


def locked_pdf(user, owner):
    """The standard security handler, version 1: 40-bit RC4 (ISO 32000 7.6)."""
    document = hashlib.md5(b"sample").digest()
    permissions = struct.pack("<i", -64)
    users = (user + PAD)[:32]
    of_owner = rc4(hashlib.md5((owner + PAD)[:32]).digest()[:5], users)
    key = hashlib.md5(users + of_owner + permissions + document).digest()[:5]

    def lock(number, data):
        each = hashlib.md5(key + struct.pack("<I", number)[:3] + b"\0\0")
        return rc4(each.digest()[:10], data)

    pdf, root, _ = text_pdf([LEDGER], lock=lock)
    handler = pdf.add(
        b"<</Filter/Standard/V 1/R 2/O<%s>/U<%s>/P -64>>" %
        (of_owner.hex().encode(), rc4(key, PAD).hex().encode()))
    identity = document.hex().encode()
    return pdf.write(root, b"/Encrypt %d 0 R/ID[<%s><%s>]" %
                     (handler, identity, identity))


# -- images ------------------------------------------------------------------

def png(width, height, depth, colour, rows):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(
            ">I", zlib.crc32(body))

    squeeze = zlib.compressobj(9)
    data = b"".join(squeeze.compress(b"\0" + row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(
        ">IIBBBBB", width, height, depth, colour, 0, 0, 0)) +
            chunk(b"IDAT", data + squeeze.flush()) + chunk(b"IEND", b""))


def seascape(width, height):
    """Something like a photograph: a sun over moving water, with grain."""
    grain = random.Random(14)
    for y in range(height):
        row = bytearray()
        for x in range(width):
            if y < height * 0.55:
                near = math.hypot(x - width * 0.7, y - height * 0.35)
                glow = max(0.0, 1 - near / (height * 0.5))
                r, g, b = 90 + 160 * glow, 130 + 90 * glow, 190 - 60 * glow
            else:
                wave = math.sin(x / 9 + y * y / 300) * 14
                r, g, b = 20 + wave, 60 + wave, 95 + 2 * wave
            noise = grain.randint(-6, 6)
            row += bytes(min(255, max(0, int(v) + noise)) for v in (r, g, b))
        yield bytes(row)


def exif(orientation, latitude, longitude):
    """A big-endian TIFF with an orientation, a maker and a GPS directory."""
    def degrees(value):
        whole = int(value)
        minutes = (value - whole) * 60
        seconds = round((minutes - int(minutes)) * 60 * 100)
        return struct.pack(">IIIIII", whole, 1, int(minutes), 1, seconds, 100)

    maker = b"Quay Optical Works\0\0"
    first = 8
    gps = first + 2 + 12 * 3 + 4
    values = gps + 2 + 12 * 4 + 4
    maker_at, north_at, east_at = (values, values + len(maker),
                                   values + len(maker) + 24)

    def entry(tag, kind, count, value):
        return struct.pack(">HHI", tag, kind, count) + value

    return (b"MM\0*" + struct.pack(">I", first) + struct.pack(">H", 3) +
            entry(0x010F, 2, len(maker) - 1, struct.pack(">I", maker_at)) +
            entry(0x0112, 3, 1, struct.pack(">HH", orientation, 0)) +
            entry(0x8825, 4, 1, struct.pack(">I", gps)) + struct.pack(">I", 0) +
            struct.pack(">H", 4) +
            entry(1, 2, 2, b"N\0\0\0") +
            entry(2, 5, 3, struct.pack(">I", north_at)) +
            entry(3, 2, 2, b"E\0\0\0") +
            entry(4, 5, 3, struct.pack(">I", east_at)) + struct.pack(">I", 0) +
            maker + degrees(latitude) + degrees(longitude))


def with_exif(jpeg, tiff):
    """EXIF, XMP and a comment, as cameras and programs leave them."""
    assert jpeg[:2] == b"\xff\xd8"
    xmp = (b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'>"
           b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
           b"<rdf:Description xmlns:dc='http://purl.org/dc/elements/1.1/' "
           b"dc:creator='A. Thorsen'/></rdf:RDF></x:xmpmeta>")
    segments = [(0xE1, b"Exif\0\0" + tiff), (0xE1, xmp),
                (0xFE, b"taken by A. Thorsen")]
    return jpeg[:2] + b"".join(
        struct.pack(">BBH", 255, marker, len(body) + 2) + body
        for marker, body in segments) + jpeg[2:]


# -- the sets ----------------------------------------------------------------

class Room:
    def __init__(self, path):
        self.path = path
        os.makedirs(path, exist_ok=True)

    def at(self, name):
        return os.path.join(self.path, name)

    def put(self, name, data):
        with open(self.at(name), "wb") as f:
            f.write(data)

    def get(self, name):
        with open(self.at(name), "rb") as f:
            return f.read()

    def run(self, *command):
        subprocess.run(command, check=True, cwd=self.path)

    def drop(self, *names):
        for name in names:
            os.unlink(self.at(name))


def make_documents(room):
    pdf, root, extra = text_pdf([LEDGER, MORE], "Letter of the harbour office")
    room.put("note.pdf", pdf.write(root, extra))
    room.put("encrypted.pdf", locked_pdf(b"sesame", b"owner"))
    room.put("owner_locked.pdf", locked_pdf(b"", b"owner"))
    pdf, root, _ = text_pdf([LEDGER], box=b"0 0 200000 200000")
    room.put("huge_page.pdf", pdf.write(root))
    pdf, root, _ = text_pdf([LEDGER], count=2000000000)
    room.put("lying_count.pdf", pdf.write(root))
    # Says it is "x" and shows something else, in a font that the file lacks.
    shown = (b"/Span<</ActualText(x)>>BDC BT /F1 40 Tf 70 600 Td "
             b"(Rope is cheap today) Tj ET EMC")
    pdf, root, _ = text_pdf([[]], lock=lambda number, data: shown)
    room.put("other_words.pdf", pdf.write(root))
    room.put("truncated.pdf", room.get("note.pdf")[:300])
    room.put("fake.pdf", b"This is a letter about %s, and no PDF at all.\n" %
             b"a grain barge")


def make_markup(room):
    """The letter by pandoc; RTF as Word writes it."""
    letter = "\n\n".join(filter(None, LEDGER))
    room.put("note.md", ("---\ntitle: Letter of the harbour office\n---\n\n"
                         "# Ledger\n\n%s\n\n%s\n\n| rope | price |\n|---|---|\n"
                         "| coil | 38 |\n" % (letter, MORE[-1])).encode())
    # No date of today.
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    for kind in ("docx", "odt", "epub", "html"):
        room.run("pandoc", "-s", "note.md", "-o", "note." + kind,
                 "--metadata=identifier:urn:uuid:"
                 "7d0f2c1e-52e4-4f0e-9d5b-0c8b1c2e9a11")
    room.drop("note.md")
    room.put("note.rtf", b"{\\rtf1\\ansi\\ansicpg1252{\\info{\\title x}}\n"
             b"the grain barge arrived with 412 sacks.\\par\n"
             b"M\\u252\\'fcller\\rquote s bill is 12 \\'80.\\par}\n")
    room.put("letter.html", b"<p>412 sacks, M\xfcller\n")
    room.put("truncated.docx", room.get("note.docx")[:5000])
    room.put("fake.docx", b"PK\3\4 [Content_Types].xml word/ is no document.")
    # Names that a reader may be tempted to follow.
    room.put("links.html", b"<head><title>Links</title></head><p>begin"
             b"<iframe src='/etc/passwd'></iframe>"
             b"<img src='file:///etc/passwd' alt='picture'>"
             b"<object data='file:///etc/passwd'>inside</object>"
             b"<script>document.write('script')</script><p>end\n")


def make_scans(room):
    room.run("pdftoppm", "-q", "-r", "100", "-gray", "-singlefile", "-f", "1",
             "-l", "1", "note.pdf", "scan")
    room.run("vips", "copy", "scan.pgm", "scan.jpg[Q=40,strip]")
    for name in ("page.png[strip]", "page.tiff[compression=deflate]",
                 "page.webp[Q=60,strip]", "page.gif", "page.heic[Q=40]",
                 "page.avif[Q=40]"):
        room.run("vips", "copy", "scan.pgm", name)
    width, height = struct.unpack(">II", room.get("page.png")[16:24])
    scan = room.get("scan.jpg")
    room.put("scan.pdf", image_pdf([(scan, width, height)]))
    room.put("truncated.jpg", scan[:len(scan) // 2])
    # As a camera held upright writes it: lying down, and a note to turn it.
    room.run("vips", "rot", "scan.pgm", "lying.jpg[Q=40,strip]", "d270")
    room.put("turned.jpg", with_exif(room.get("lying.jpg"),
                                     exif(6, 59.9094, 10.7461)))
    room.drop("scan.pgm", "lying.jpg")


def make_pictures(room):
    width, height = 480, 320
    room.put("sea.ppm", b"P6\n%d %d\n255\n" % (width, height) +
             b"".join(seascape(width, height)))
    room.run("vips", "copy", "sea.ppm", "sea.jpg[Q=75,strip]")
    room.put("photo.jpg", with_exif(room.get("sea.jpg"),
                                    exif(6, 59.9094, 10.7461)))
    room.drop("sea.ppm", "sea.jpg")
    # Black on nothing: legible only on white.
    room.run("pdftoppm", "-q", "-r", "100", "-mono", "-singlefile", "-f", "1",
             "-l", "1", "note.pdf", "ink")
    lines = room.get("ink.pbm").split(b"\n", 2)
    width, height = map(int, lines[1].split())
    stride = (width + 7) // 8
    room.put("transparent.png", png(width, height, 8, 4, (
        b"".join(b"\0\xff" if lines[2][y * stride + x // 8] >> (7 - x % 8) & 1
                 else b"\0\0" for x in range(width)) for y in range(height))))
    room.drop("ink.pbm")
    room.put("dot.png", png(1, 1, 8, 0, [b"\0"]))


def make_hostile(room):
    room.put("fake.jpg", b"This text is called .jpg, but that makes no image.")
    room.put("empty.bin", b"")
    room.put("random.bin", random.Random(9).randbytes(4096))
    # tesseract reads whatever is no image as a list of files to open.
    room.put("list.txt", b"/etc/hostname\n/etc/passwd\n")
    room.put("drawing.svg", b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3"
             b".org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink'>"
             b"<image xlink:href='file:///etc/passwd'/></svg>\n")
    room.put("bitmap.bmp", b"BM" + struct.pack(
        "<IIIIiiHHIIiiII", 58, 0, 54, 40, 1, 1, 1, 24, 0, 4, 2835, 2835, 0,
        0) + b"\0\0\xff\0")


def make_layers(room, small):
    """TIFFs with smaller copies of their page, behind it and below it."""
    room.put("page.png", small.get("page.png"))
    for name, more in (("layers.tiff", ()), ("layers_below.tiff",
                                             ("--subifd",))):
        room.run("vips", "tiffsave", "page.png", name, "--tile", "--pyramid",
                 "--compression", "deflate", *more)
    room.drop("page.png")


def make_misfit(room, small):
    """A grey JPEG with a profile for red, green and blue."""
    room.put("sea.jpg", small.get("photo.jpg"))
    room.run("vips", "icc_transform", "sea.jpg", "colours.jpg", "srgb",
             "--input-profile", "srgb")
    room.run("vips", "colourspace", "sea.jpg", "grey.jpg[strip]", "b-w")
    colours, grey = room.get("colours.jpg"), room.get("grey.jpg")
    at = colours.index(b"ICC_PROFILE\0") - 4
    profile = colours[at:at + 2 + struct.unpack(">H", colours[at + 2:at + 4])[0]]
    room.put("misfit.jpg", grey[:2] + profile + grey[2:])
    room.drop("sea.jpg", "colours.jpg", "grey.jpg")


def make_bombs(room, small):
    """Tags within tags, more than is taken, 200 MB in a small file."""
    room.put("deep.html", b"<div>" * 20000 + b"bottom")
    room.put("wide.html", b"<p>" + b"rope " * 420000)
    with zipfile.ZipFile(os.path.join(small.path, "note.docx")) as docx, \
            zipfile.ZipFile(room.at("bomb.docx"), "w",
                            zipfile.ZIP_DEFLATED) as bomb:
        for name in docx.namelist():
            data = docx.read(name)
            if name == "word/document.xml":
                at = data.index(b"<w:body>") + 8
                data = (data[:at] + b"<w:p><w:r><w:t>" + b"A" * 200000000 +
                        b"</w:t></w:r></w:p>" + data[at:])
            bomb.writestr(name, data)


def make_large(room):
    room.put("bomb.png", png(30000, 30000, 1, 0,
                             (b"\0" * 3750 for _ in range(30000))))
    pdf, root, _ = text_pdf([LEDGER] * 200)
    room.put("pages200.pdf", pdf.write(root))
    small = Room(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                              "files"))
    make_layers(room, small)
    make_misfit(room, small)
    room.put("crop.jpg", small.get("scan.jpg"))
    room.run("vips", "crop", "crop.jpg", "line.jpg[Q=60,strip]", "0", "0",
             "827", "240")
    # More pages than are read by OCR; each is quick.
    room.put("scans.pdf", image_pdf([(room.get("line.jpg"), 827, 260)] * 22,
                                    b"0 0 595 187"))
    room.drop("crop.jpg", "line.jpg")
    pdf, root, _ = text_pdf([[]], box=b"0 0 200000 200000")
    room.put("huge_blank.pdf", pdf.write(root))
    room.put("noise.pdf", noise_pdf(2048))
    make_bombs(room, small)
    # Wide curves from edge to edge: seconds for each hundred.
    rand = random.Random(5)
    curves = b"90 w 1 J " + b" ".join(
        b"%d %d m %d %d %d %d %d %d c S" % tuple(
            rand.randrange(800) for _ in range(8)) for _ in range(20000))
    pdf, root, _ = text_pdf([[]], lock=lambda number, data: curves)
    room.put("slow.pdf", pdf.write(root))
    # 5 MiB of text: more than one job gives back.
    page = [("%05d " % i) + "barge " * 200 for i in range(900)]
    pdf, root, _ = text_pdf([page] * 5, box=b"0 0 4000 9000", size=6, top=8900)
    room.put("long.pdf", pdf.write(root))


def main():
    if sys.argv[1:2] == ["--large"] and len(sys.argv) == 3:
        make_large(Room(sys.argv[2]))
    elif len(sys.argv) == 2 and not sys.argv[1].startswith("-"):
        room = Room(sys.argv[1])
        for make in (make_documents, make_markup, make_scans, make_pictures, make_hostile):
            make(room)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
