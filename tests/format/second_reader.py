#!/usr/bin/env python3
"""A reader of checkpoint files made from FORMAT.md alone. Shows the values of the section `values`, each preceded by
its type (int) and count (unsigned hyper) in XDR, a line for each leaf: place, kind, value.

second_reader.py FILE             prints them
second_reader.py --check PROGRAM  runs PROGRAM, which writes NAME.elc and NAME.txt, and compares"""
import glob, os, struct, subprocess, sys, tempfile, zlib
from fractions import Fraction

KINDS = ("?|bool|char|signed char|unsigned char|short|unsigned short|int|unsigned int|long|unsigned long|long long|"
         "unsigned long long|float|double|long double|float complex|double complex|long double complex|wchar_t|size_t|"
         "ptrdiff_t|int8_t|uint8_t|int16_t|uint16_t|int32_t|uint32_t|int64_t|uint64_t|bytes|pointer|function|FILE *|"
         "MPI_Comm|MPI_Datatype|MPI_Request|MPI_Status").split("|")


class Xdr:
    def __init__(self, data):
        self.data, self.at = data, 0

    def opaque(self, n):
        assert self.at + n <= len(self.data), "too short"
        self.at += n
        return self.data[self.at - n:self.at]

    def uint(self):
        return int.from_bytes(self.opaque(4), "big")

    def int(self):
        return int.from_bytes(self.opaque(4), "big", signed=True)

    def hyper(self):
        return int.from_bytes(self.opaque(8), "big")

    def bytes(self):
        n = self.hyper()
        data = self.opaque(n)
        assert not any(self.opaque(-n % 4)), "padding"
        return data

    def text(self):
        return self.bytes().decode()


class File:
    def __init__(self, data):
        start = Xdr(data)
        assert start.opaque(8) == b"\x89ELC\r\n\x1a\n", "magic"
        major, _, size = start.uint(), start.uint(), start.uint()
        assert major == 1, "version"
        assert int.from_bytes(data[size - 4:size], "big") == zlib.crc32(data[:size - 4]), "header"
        self.order = ("little", "big")[start.uint()]
        self.long_double = start.uint()
        words = [0] + [start.uint() for _ in range(start.uint())]
        self.width = [w & 255 for w in words]
        self.signed = [w >> 8 == 1 for w in words]
        end = Xdr(data[-36:])
        assert end.uint() == 0x454c4374 and zlib.crc32(data[-36:-4]) == int.from_bytes(data[-4:], "big"), "trailer"
        at, length, whole, checksum = end.hyper(), end.hyper(), end.hyper(), end.uint()
        assert whole == len(data) and at + length == len(data) - 36, "sizes"
        assert zlib.crc32(data[at:at + length]) == checksum, "index"
        self.sections, offset, index = {}, size, Xdr(data[at:at + length])
        assert index.uint() == 0x454c4369, "index"
        for number in range(index.hyper()):
            name, raw_size, content = index.text(), index.hyper(), b""
            for i in range(index.hyper()):
                assert index.hyper() == offset, "chunks do not tile the file"
                entry = [index.uint() for _ in range(4)]
                chunk = Xdr(data[offset:offset + 36])
                assert [chunk.uint(), chunk.uint(), chunk.hyper()] == [0x454c4363, number, i], "chunk"
                assert [chunk.uint() for _ in range(4)] == entry, "chunk"
                assert chunk.uint() == zlib.crc32(data[offset:offset + 32]), "chunk"
                stored, raw, flags, checksum = entry
                payload = data[offset + 36:offset + 36 + stored]
                assert zlib.crc32(payload) == checksum and flags in (0, 1), "payload"
                payload = zlib.decompress(payload) if flags == 1 else payload
                assert len(payload) == raw, "payload"
                content += payload
                offset += 36 + stored
            assert len(content) == raw_size, "section"
            self.sections[name] = content
        assert offset == at, "chunks do not tile the file"
        types, self.types = Xdr(self.sections["types"]), []
        for _ in range(types.hyper()):
            kind, _, _ = types.uint(), types.text(), types.hyper()
            self.types.append((kind, [(types.text(), types.int(), types.hyper()) for _ in range(types.hyper())]))

    def integer(self, stream, width, signed=False):
        return int.from_bytes(stream.opaque(width), self.order, signed=signed)

    def real(self, stream, kind):
        """The number as a Fraction or a float, and the digits to show."""
        letter = "<" if self.order == "little" else ">"
        if kind == 13:
            return struct.unpack(letter + "f", stream.opaque(4))[0], 9
        if kind == 14 or self.long_double == 0:
            return struct.unpack(letter + "d", stream.opaque(8))[0], 17
        width, bits = (16, 112) if self.long_double == 2 else (10, 64)
        number = self.integer(stream, width)
        sign, exponent, significand = number >> bits + 15, number >> bits & 32767, number & (1 << bits) - 1
        assert exponent != 32767, "not in the sample"
        if width == 16:
            significand |= (exponent != 0) << 112
        scale = exponent if exponent or self.long_double == 4 else 1
        value = Fraction(significand) * Fraction(2) ** (scale - 16383 - (112 if width == 16 else 63))
        return -float(value) if sign else float(value), 21  # the sample's are exact as double

    def show(self, stream, type, count, path):
        for i in range(count):
            place = path + ("[%d]" % i if count != 1 else "")
            if type >= 256:
                kind, fields = self.types[type - 256]
                if kind == 255:
                    active = self.integer(stream, 4)
                    fields = [] if active == 0xffffffff else [fields[active]]
                for name, inner, n in fields:
                    yield from self.show(stream, inner, n, place + "." + name)
            elif 16 <= type <= 18:
                for part in (".re", ".im"):
                    yield from self.show(stream, type - 3, 1, place + part)
            else:
                yield "%s %s %s" % (place, KINDS[type], self.scalar(stream, type))

    def scalar(self, stream, kind):
        if 13 <= kind <= 15:
            value, digits = self.real(stream, kind)
            return "%.*g" % (digits, value)
        if kind == 31:
            block, position = self.integer(stream, 8), self.integer(stream, 8)
            return "NULL" if block == 0 else "block %d + %d" % (block, position)
        if kind == 37:
            source, tag, error = (self.integer(stream, 4, True) for _ in range(3))
            self.integer(stream, 4)
            count, _ = self.integer(stream, 8), self.integer(stream, 8)
            return "source %d tag %d error %d bytes %d" % (source, tag, error, count)
        if kind > 31:
            return str(self.integer(stream, 8))
        value = self.integer(stream, self.width[kind], self.signed[kind])
        return ("false", "true")[value != 0] if kind == 1 else "0x%02x" % value if kind == 30 else str(value)

    def lines(self):
        stream = Xdr(self.sections["values"])
        while stream.at < len(stream.data):
            type, count = stream.int(), stream.hyper()
            yield from self.show(stream, type, count, "")


def read(path):
    with open(path, "rb") as file:
        return "".join(line + "\n" for line in File(file.read()).lines())


if sys.argv[1] != "--check":
    sys.stdout.write(read(sys.argv[1]))
    sys.exit()
program = os.path.abspath(sys.argv[2])
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([program], cwd=folder, check=True)
    samples = sorted(glob.glob(os.path.join(folder, "*.elc")))
    assert samples, "no samples"
    for sample in samples:
        with open(sample[:-4] + ".txt") as file:
            expected = file.read()
        found = read(sample)
        for a, b in zip(expected.split("\n"), found.split("\n")):
            assert a == b, "%s: libELC says «%s», this reader «%s»" % (os.path.basename(sample), a, b)
        assert expected == found and expected, sample
        print("%s: %d leaves agree" % (os.path.basename(sample), expected.count("\n")))
