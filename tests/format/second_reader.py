#!/usr/bin/env python3
"""A second reader of checkpoint files, made from FORMAT.md alone; what it says is what `elc show` says.

second_reader.py FILE [N]         what `elc show --json FILE` shows, with N as with --values N
second_reader.py --check PROGRAM  runs PROGRAM, which writes NAME.elc and NAME.txt, and compares: the values of the
                                  section `values`, each preceded by its type (int) and count (unsigned hyper) in XDR,
                                  a line for each leaf: place, kind, value"""
import decimal, glob, json, math, os, re, subprocess, sys, tempfile, zlib

KINDS = ("?|bool|char|signed char|unsigned char|short|unsigned short|int|unsigned int|long|unsigned long|long long|"
         "unsigned long long|float|double|long double|float complex|double complex|long double complex|wchar_t|size_t|"
         "ptrdiff_t|int8_t|uint8_t|int16_t|uint16_t|int32_t|uint32_t|int64_t|uint64_t|bytes|pointer|function|FILE *|"
         "MPI_Comm|MPI_Datatype|MPI_Request|MPI_Status|MPI_File|MPI_Win|MPI_Group|MPI_Info|MPI_Op|MPI_Errhandler|MPI_Aint").split("|")
FIXED = {2: 1, 3: 1, 4: 1, 13: 4, 14: 8, 16: 8, 17: 16, 22: 1, 23: 1, 24: 2, 25: 2, 26: 4, 27: 4, 28: 8, 29: 8, 30: 1}
LONG_DOUBLES = (8, 10, 16, 16, 10)
NAMES = ("CHAR|SIGNED_CHAR|UNSIGNED_CHAR|BYTE|PACKED|WCHAR|SHORT|UNSIGNED_SHORT|INT|UNSIGNED|LONG|UNSIGNED_LONG|"
         "LONG_LONG|UNSIGNED_LONG_LONG|FLOAT|DOUBLE|LONG_DOUBLE|C_BOOL|INT8_T|INT16_T|INT32_T|INT64_T|UINT8_T|UINT16_T|"
         "UINT32_T|UINT64_T|C_FLOAT_COMPLEX|C_DOUBLE_COMPLEX|C_LONG_DOUBLE_COMPLEX|AINT|OFFSET|COUNT|FLOAT_INT|"
         "DOUBLE_INT|LONG_INT|2INT|SHORT_INT|LONG_DOUBLE_INT|LB|UB|CXX_BOOL|CXX_FLOAT_COMPLEX|CXX_DOUBLE_COMPLEX|"
         "CXX_LONG_DOUBLE_COMPLEX" + 20 * "|" +
         "CHARACTER|LOGICAL|INTEGER|REAL|DOUBLE_PRECISION|COMPLEX|DOUBLE_COMPLEX|2INTEGER|2REAL|2DOUBLE_PRECISION|"
         "INTEGER1|INTEGER2|INTEGER4|INTEGER8|INTEGER16|REAL4|REAL8|REAL16|COMPLEX8|COMPLEX16|COMPLEX32").split("|")
CONSTRUCTORS = ("?|dup|contiguous|vector|hvector|indexed|hindexed|indexed_block|hindexed_block|struct|subarray|darray|"
                "resized").split("|")
CALLS = ("?|MPI_Test|MPI_Testall|MPI_Testany|MPI_Testsome|MPI_Waitany|MPI_Waitsome|MPI_Iprobe|MPI_Probe|"
         "ELC_ND|MPI_Mprobe|MPI_Improbe").split("|")
WILD = 2 ** 64 - 1
OPERATIONS = "OP_NULL|MAX|MIN|SUM|PROD|LAND|BAND|LOR|BOR|LXOR|BXOR|MAXLOC|MINLOC|REPLACE|NO_OP".split("|")
ERROR_HANDLERS = "ERRHANDLER_NULL|ERRORS_ARE_FATAL|ERRORS_RETURN|ERRORS_ABORT".split("|")
REQUESTS = ("send", "receive", "collective", "persistent", "persistent collective")
STARTED = ["MPI_%s_init" % call for call in (
    "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce Allreduce Reduce_scatter "
    "Reduce_scatter_block Scan Exscan Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv "
    "Neighbor_alltoallw").split()]


class Xdr:
    def __init__(self, data):
        self.data, self.at = data, 0

    def opaque(self, n):
        assert n <= self.left(), "too short"
        self.at += n
        return self.data[self.at - n:self.at]

    def left(self):
        return len(self.data) - self.at

    def uint(self, limit=2 ** 32):
        value = int.from_bytes(self.opaque(4), "big")
        assert value < limit, "a number that is not known: %d" % value
        return value

    def bool(self):
        return self.uint(2) == 1

    def int(self):
        return int.from_bytes(self.opaque(4), "big", signed=True)

    def hyper(self, signed=False):
        return int.from_bytes(self.opaque(8), "big", signed=signed)

    def signed(self):
        return self.hyper(True)

    def bytes(self):
        n = self.hyper()
        data = self.opaque(n)
        assert not any(self.opaque(-n % 4)), "padding"
        return data

    def text(self):
        return self.bytes().decode(errors="replace")

    def list(self, item):
        n = self.hyper()
        assert 4 * n <= self.left(), "a count that cannot be"
        return [item() for _ in range(n)]

    def struct(self, **fields):
        return {name: item() for name, item in fields.items()}

    def end(self):
        assert self.left() == 0, "something behind the end"


class Machine:
    """How values are represented: byte order, format of long double, widths and signs of the kinds."""
    def __init__(self, order, long_double, words):
        assert order < 2 and long_double < 5, "a machine that is not known"
        self.order, self.long_double = ("little", "big")[order], long_double
        self.width, self.signed = [w & 255 for w in words], [w >> 8 == 1 for w in words]

    def __str__(self):
        return "%s-endian, int %d, long %d, pointer %d, wchar_t %d, char %s, long double %s" % (
            self.order, self.width[7], self.width[9], self.width[31], self.width[19],
            "signed" if self.signed[2] else "unsigned",
            ("double", "x87", "IEEE quad", "two doubles", "68k")[self.long_double])

    def integer(self, stream, width, signed=False):
        return int.from_bytes(stream.opaque(width), self.order, signed=signed)

    def real(self, stream, width):
        """Sign, numerator and power of two, of a finite number; sign and words of another."""
        exponents, bits = {4: (8, 23), 8: (11, 52), 10: (15, 63), 16: (15, 112)}[width]
        number, leading = self.integer(stream, width), width == 10  # the leading one is stored
        sign, significand = number >> 8 * width - 1, number & (1 << bits + leading) - 1
        exponent, fraction = number >> bits + leading & (1 << exponents) - 1, number & (1 << bits) - 1
        if exponent == (1 << exponents) - 1:
            return sign, "nan(0x%x)" % fraction if fraction else "inf", 0
        if exponent and not leading:
            significand |= 1 << bits
        if exponent == 0 and not (width == 10 and self.long_double == 4):
            exponent = 1
        return sign, significand, exponent - ((1 << exponents - 1) - 1) - bits

    def real_text(self, stream, kind):
        """As printf's %.9g, %.17g, %.21Lg, %.33Lg or %.36Lg; a NaN with the bits of its fraction."""
        width = 4 if kind == 13 else 8 if kind == 14 else LONG_DOUBLES[self.long_double]
        two = kind == 15 and self.long_double == 3
        sign, number, power = self.real(stream, 8 if two else width)
        if two:
            other, low, low_power = self.real(stream, 8)
            if isinstance(number, int) and isinstance(low, int) and low:
                least = min(power, low_power)
                number = (-1) ** sign * (number << power - least) + (-1) ** other * (low << low_power - least)
                sign, number, power = number < 0, abs(number), least
        sign = "-" * sign
        if not number or isinstance(number, str):
            return sign + str(number)
        digits = 33 if two else {4: 9, 8: 17, 10: 21, 16: 36}[width]
        context = decimal.Context(prec=digits, rounding=decimal.ROUND_HALF_EVEN, Emin=-99999, Emax=99999)
        value = context.divide(decimal.Decimal(number << max(power, 0)), decimal.Decimal(1 << max(-power, 0)))
        text, power = "".join(map(str, value.as_tuple().digits)).rstrip("0"), value.adjusted()
        if power < -4 or power >= digits:
            return sign + text[0] + "." * (len(text) > 1) + text[1:] + "e%+03d" % power
        if power < 0:
            return sign + "0." + "0" * (-power - 1) + text
        return sign + text[:power + 1].ljust(power + 1, "0") + "." * (len(text) > power + 1) + text[power + 1:]

    def scalar(self, stream, kind):
        if 13 <= kind <= 15:
            return self.real_text(stream, kind)
        if kind == 31:
            return pointer(self.integer(stream, 8), self.integer(stream, 8))
        if kind == 44:
            block, position = self.integer(stream, 8), self.integer(stream, 8)
            return pointer(block, position) if block else str(position - (position >> 63 << 64))
        if kind == 37:
            source, tag, error = (self.integer(stream, 4, True) for _ in range(3))
            self.integer(stream, 4)
            count, _ = self.integer(stream, 8), self.integer(stream, 8)
            return "source %d tag %d error %d bytes %d" % (source, tag, error, count)
        if kind > 31:
            return str(self.integer(stream, 8))
        value = self.integer(stream, self.width[kind], self.signed[kind])
        return ("false", "true")[value != 0] if kind == 1 else "0x%02x" % value if kind == 30 else str(value)


def indices(index, extents):
    text = ""
    for extent in reversed(extents):
        text, index = "[%d]%s" % (index % extent, text), index // extent
    return text


def pointer(block, position):
    leaf, extra = position & 2 ** 56 - 1, position >> 56
    if block in (0, WILD):
        return "NULL" if block == 0 else "wild 0x%x" % position
    if block >= 2**64 - 3:
        return "%s %d" % ("stream" if block == 2**64 - 2 else "function", position)
    by_id = block >= 2 ** 63
    if leaf >= 2 ** 55:
        assert by_id and extra == 0
        return "heap block %d - %d" % (block - 2 ** 63, 2 ** 56 - leaf)
    return "%sblock %d + %s" % ("heap " * by_id, block - by_id * 2 ** 63, leaf if extra == 0 else "end of %d" % leaf if extra == 255 else
                                "%d and %d bytes" % (leaf, extra))


def machine_of(code):
    """The machine that the code of a message stands for."""
    def take(bits):
        nonlocal code
        code, value = code >> bits, code & (1 << bits) - 1
        return value
    order, long_double, _ = take(1), take(3), take(5)
    b, s, i, l, ll, z, p, w = (take(4) for _ in range(8))
    char, wide = 256 * take(1), 256 * take(1)
    assert code == 1 << 20, "the code of no machine"
    words = [0, b, 1 | char, 257, 1, s | 256, s, i | 256, i, l | 256, l, ll | 256, ll, 4, 8, 0, 8, 16, 0, w | wide, z,
             p | 256, 257, 1, 258, 2, 260, 4, 264, 8, 1, z]
    words[15], words[18] = LONG_DOUBLES[long_double], 2 * LONG_DOUBLES[long_double]
    return Machine(order, long_double, words)


def communicator(identity):
    return {0: "MPI_COMM_NULL", 1: "MPI_COMM_WORLD", 2: "MPI_COMM_SELF"}.get(identity, "%016x" % identity)


def datatype(number):
    if number == 0:
        return "MPI_DATATYPE_NULL"
    return "MPI_" + NAMES[number - 1] if number <= len(NAMES) and NAMES[number - 1] else "datatype %d" % number


def function(kind, number):
    names, what = (OPERATIONS, "operation") if kind == 42 else (ERROR_HANDLERS, "error handler")
    return "MPI_" + names[number] if number < len(names) else "%s %d of the set-up" % (what, number - 256)


class File:
    def __init__(self, data, base=None):
        """`base` gives the bytes of the file of the same rank in another line. Without it, what is there is not read."""
        start = Xdr(data)
        assert start.opaque(8) == b"\x89ELC\r\n\x1a\n", "magic"
        self.major, self.minor, size = start.uint(), start.uint(), start.uint()
        assert self.major == 1, "version %d of the format, and this reader knows version 1" % self.major
        assert 24 <= size <= min(65536, len(data) - 36), "size of the header"
        assert int.from_bytes(data[size - 4:size], "big") == zlib.crc32(data[:size - 4]), "header"
        start.data = data[:size - 4]
        order, long_double, kinds = start.uint(), start.uint(), start.uint()
        assert 37 <= kinds <= 253, "kinds"
        self.machine = m = Machine(order, long_double, [0] + [start.uint(512) for _ in range(kinds)])
        assert all(m.width[kind] == width for kind, width in FIXED.items()), "widths"
        assert m.width[15] == LONG_DOUBLES[long_double] and m.width[18] == 2 * m.width[15], "widths"
        assert all(m.width[k] in (1, 2, 4, 8) for k in (1, *range(5, 13), 19, 20, 21)), "widths"
        assert not any(m.width[33:38]), "widths"
        end = Xdr(data[-36:])
        assert end.uint() == 0x454c4374 and zlib.crc32(data[-36:-4]) == int.from_bytes(data[-4:], "big"), "trailer"
        at, length, whole, checksum = end.hyper(), end.hyper(), end.hyper(), end.uint()
        assert whole == len(data) and at + length == len(data) - 36, "sizes"
        assert zlib.crc32(data[at:at + length]) == checksum, "index"
        self.size, self.offset, index = whole, size, Xdr(data[at:at + length])
        self.sections, self.stored, self.chunks = {}, {}, []
        assert index.uint() == 0x454c4369, "index"
        number = index.hyper()
        assert number <= 4096, "sections"
        for number in range(number):
            self.read_section(data[:at], index, number)
        index.end()
        assert self.offset == at, "chunks do not tile the file"
        self.index_checksum = checksum
        self.find_elsewhere(base)
        types = Xdr(self.sections["types"])
        self.types = []
        types.list(lambda: self.add_type(**types.struct(
            kind=types.uint, name=types.text, bytes=types.hyper,
            fields=lambda: types.list(lambda: (types.text(), types.int(), types.hyper())))))
        types.end()

    def read_section(self, data, index, number):
        name, raw_size, chunks, start = index.text(), index.hyper(), [], self.offset
        assert 1 <= len(name) <= 63 and all("!" <= c <= "~" for c in name) and name not in self.sections, "name"
        for i in range(index.hyper()):
            place = index.hyper()
            stored, raw, flags, checksum = entry = [index.uint() for _ in range(4)]
            assert flags & ~16 in (0, 1, 3, 5, 9), "section %s is stored in a way that is not known" % name
            assert 1 <= stored <= 2 ** 20 and 1 <= raw <= min(2 ** 20, 1032 * stored), "lengths"
            assert flags & ~16 or stored == raw, "lengths"
            if flags & 16:
                assert name not in ("types", "bases", "label"), "section %s is in another file" % name
                chunks.append((entry, (place >> 48, place >> 32 & 0xffff, place & 0xffffffff)))
                continue
            assert place == self.offset, "chunks do not tile the file"
            chunk = Xdr(data[self.offset:self.offset + 36 + stored])
            assert [chunk.uint(), chunk.uint(), chunk.hyper()] == [0x454c4363, number, i], "chunk"
            assert [chunk.uint() for _ in range(4)] == entry, "chunk"
            assert chunk.uint() == zlib.crc32(chunk.data[:32]), "chunk"
            payload = chunk.opaque(stored)
            assert zlib.crc32(payload) == checksum, "payload"
            payload = zlib.decompress(payload) if flags else payload
            assert len(payload) == raw, "payload"
            if flags > 1:
                width = flags - 1
                whole = raw // width * width
                planes = [payload[j * (raw // width):(j + 1) * (raw // width)] for j in range(width)]
                payload = bytes(byte for group in zip(*planes) for byte in group) + payload[whole:]
            chunks.append((entry, payload))
            self.offset += 36 + stored
        assert sum(raw for (_, raw, _, _), _ in chunks) == raw_size, "section"
        self.chunks.append(chunks)
        self.sections[name], self.stored[name] = None, self.offset - start

    def find_elsewhere(self, base):
        """What the sections hold, with the chunks that are in other files."""
        bases, files, self.relies_on = [], {}, set()
        for (name, _), chunks in zip(list(self.sections.items()), self.chunks):
            if all(isinstance(content, bytes) for _, content in chunks):
                self.sections[name] = b"".join(content for _, content in chunks)
        if "bases" in self.sections:
            listed = Xdr(self.sections["bases"])
            assert listed.uint() == 1, "layout of bases"
            bases = listed.list(lambda: (listed.hyper(), listed.hyper(), listed.uint()))
            listed.end()
        for (name, whole), chunks in zip(list(self.sections.items()), self.chunks):
            if whole is not None or base is None:
                continue
            content = []
            for (stored, raw, flags, checksum), place in chunks:
                if isinstance(place, bytes):
                    content.append(place)
                    continue
                number, section, chunk = place
                self.relies_on.add(bases[number][0])
                if number not in files:
                    line, size, index_checksum = bases[number]
                    files[number] = File(base(line))
                    assert (files[number].size, files[number].index_checksum) == (size, index_checksum), "another file"
                    assert vars(files[number].machine) == vars(self.machine), "another machine"
                there, payload = files[number].chunks[section][chunk]
                assert there == [stored, raw, flags & ~16, checksum], "another chunk"
                content.append(payload)
            self.sections[name] = b"".join(content)

    def add_type(self, kind, name, bytes, fields):
        assert kind in (254, 255) and fields, "a kind of type that is not known: %d" % kind
        for text in [name] + [field[0] for field in fields]:
            assert text and not any(c < " " or c == "\x7f" for c in text), "name"
        leaves = depth = 0
        for _, type, count in fields:
            self.known(type)
            made = self.types[type - 256] if type >= 256 else {"leaves": 1 + (16 <= type <= 18), "depth": 0}
            leaves, depth = leaves + made["leaves"] * count, max(depth, made["depth"] + 1)
            assert count >= 1, "no elements"
        assert leaves < 2 ** 56 and depth <= 64, "too large"
        self.types.append({"kind": kind, "name": name, "bytes": bytes, "fields": fields, "leaves": leaves,
                           "depth": depth})

    def known(self, type):
        assert 1 <= type <= 44 or 256 <= type < 256 + len(self.types), "a type that is not known: %d" % type
        return type

    def type_text(self, type, count):
        name = KINDS[self.known(type)] if type < 256 else self.types[type - 256]["name"]
        return name if count == 1 else "%s[%d]" % (name, count)

    def bytes_of(self, type):  # in the writer's memory, as far as the file says
        if type >= 256:
            return self.types[type - 256]["bytes"]
        return self.machine.width[type] or {37: 32, 44: 16}.get(type, 8)

    def leaves(self, stream, type, count, path=""):
        self.known(type)
        for i in range(count):
            place = path + ("[%d]" % i if count != 1 else "")
            if type >= 256:
                fields = self.types[type - 256]["fields"]
                if self.types[type - 256]["kind"] == 255:
                    active = self.machine.integer(stream, 4)
                    fields = [] if active == 0xffffffff else [fields[active]]
                for name, inner, n in fields:
                    yield from self.leaves(stream, inner, n, place + "." + name)
            elif 16 <= type <= 18:
                for part in (".re", ".im"):
                    yield place + part, type - 3, self.machine.scalar(stream, type - 3)
            else:
                yield place, type, self.machine.scalar(stream, type)

    def sample(self):
        stream = Xdr(self.sections["values"])
        while stream.left():
            for place, kind, text in self.leaves(stream, stream.int(), stream.hyper()):
                yield "%s %s %s" % (place, KINDS[kind], text)

    def section(self, name, newest=1):  # behind its layout
        stream = Xdr(self.sections[name])
        stream.layout = stream.uint()
        assert 1 <= stream.layout <= newest, "section %s has layout %d, and this reader reads up to %d" % (
            name, stream.layout, newest)
        return stream


class RankFile(File):
    """The sections of libELC; `most` as in `elc show --values`."""
    def __init__(self, data, most, base=None):
        super().__init__(data, base)
        self.most, self.streams, self.functions, self.variables = most, [], [], 0

    def facts(self):
        facts = {"bytes": self.size, "format": "%d.%d" % (self.major, self.minor),
                 "representation": str(self.machine), "relies_on": sorted(self.relies_on),
                 "sections": [{"name": name, "bytes": len(content), "stored": self.stored[name]}
                              for name, content in self.sections.items()],
                 "types": [{"name": t["name"], "kind": "struct" if t["kind"] == 254 else "union", "bytes": t["bytes"],
                            "fields": [{"name": f, "type": self.type_text(type, n)} for f, type, n in t["fields"]]}
                           for t in self.types]}
        for name in ("label", "files", "vars", "heap", "mpi", "setup", "line"):
            if name in self.sections:
                facts.update(getattr(self, name)())
        return facts

    def first(self, **lists):
        return {name: all[:self.most] for name, all in lists.items()} if self.most else {}

    def label(self):
        x = Xdr(self.sections["label"])
        facts = x.struct(line=x.hyper, run=x.hyper, rank=x.uint, ranks=x.uint)
        assert facts["rank"] < facts["ranks"], "rank"
        return facts

    def files(self):
        x = self.section("files")
        terminals = [x.struct(name=x.text, flags=x.hyper, characters=lambda: [x.uint() for _ in range(11)])
                     if x.bool() else None for _ in range(3)]
        self.streams = x.list(lambda: x.struct(path=x.text, mode=x.text, kind=lambda: x.uint(4), offset=x.hyper,
                                               length=x.hyper))
        for s in self.streams:
            s["kind"] = ("read", "append", "write", "special")[s["kind"]]
            if s["mode"][0] in "012":
                s["standard"] = ("input", "output", "error")[int(s["mode"][0])]
                s["mode"] = s["mode"][1:]
            s["mode"] = s["mode"].partition("#")[0]
            s["at_end"] = s["mode"].endswith("$")
            s["unappended"] = s["mode"].endswith("-")
            s["mode"] = s["mode"].rstrip("$-")
            content = x.opaque(s["length"]) if s["kind"] == "write" else None
            if self.most and content is not None:
                s["content"] = content[:self.most].hex()
        x.end()
        return {"terminals": terminals, "streams": self.streams}

    def handle(self, kind, text):
        """What the number of a handle means."""
        number = int(text)
        if kind > 33 and abs(number - (2**64 - 4098)) <= 4095:
            return "the number %d" % (number - (2**64 - 4098))
        if kind > 33 and number >= 2**64 - 2:
            return "0, not set" if number == 2**64 - 1 else "of what is gone"
        if kind == 36:
            return "request %d" % number if number else "MPI_REQUEST_NULL"
        if kind == 38:
            return "file %x" % number if number else "MPI_FILE_NULL"
        if kind == 39:
            return "window " + communicator(number) if number else "MPI_WIN_NULL"
        if kind in (40, 41):
            short, only = ("GROUP", "EMPTY") if kind == 40 else ("INFO", "ENV")
            return "MPI_%s_%s" % (short, ("NULL", only)[number]) if number < 2 else "%s %d" % (short.lower(), number - 2)
        if kind in (42, 43):
            return function(kind, number)
        if kind > 33:
            return (communicator if kind == 34 else datatype)(number)
        streams = ["stdin", "stdout", "stderr"] + [s["path"] for s in self.streams]
        names = ["NULL"] + (self.functions if kind == 32 else streams)
        return names[number] if number < len(names) else "unknown"

    def values(self, x, type, count):
        shown, cut = [], False
        for place, kind, text in self.leaves(x, type, count):
            cut = len(shown) >= self.most
            if not cut:
                shown.append({"place": place, "value": self.handle(kind, text) if 32 <= kind <= 36 or 38 <= kind < 44 else text})
        return {"values": shown, "cut": cut} if self.most else {}

    def vars(self):
        x = self.section("vars")
        frames = x.list(lambda: x.struct(function=x.text, label=x.int))
        self.functions = x.list(x.text)
        variables = x.list(lambda: (x.uint(len(frames) + 1), x.text(), x.int(), x.hyper()))
        assert [v[0] for v in variables] == sorted(v[0] for v in variables), "frames descend"
        assert len({v[:2] for v in variables}) == len(variables), "a name twice"
        self.variables = len(variables)
        declared = self.declared(variables)
        facts = [{"block": n, "name": name, "owner": frames[frame - 1]["function"] if frame else "",
                  "type": self.type_text(type, count), "bytes": self.bytes_of(type) * count,
                  "static": declared.get(n - 1, (0, []))[0] == 1, **self.values(x, type, count)}
                 for n, (frame, name, type, count) in enumerate(variables, 1)]
        x.end()
        for n, (_, extents) in declared.items():
            if extents:
                _, _, type, count = variables[n]
                facts[n]["type"] = self.type_text(type, 1) + "".join("[%d]" % e for e in extents)
                for value in facts[n].get("values", []) if count != 1 else []:
                    index, rest = value["place"][1:].split("]", 1)
                    value["place"] = indices(int(index), extents) + rest
        return {"frames": frames, "functions": self.functions, "variables": facts}

    def declared(self, variables):
        """Flags and extents of the variables, by number."""
        if "declared" not in self.sections:
            return {}
        x = self.section("declared")
        all = x.list(lambda: (x.hyper(), x.uint(2), x.list(x.hyper)))
        x.end()
        assert [n for n, _, _ in all] == sorted({n for n, _, _ in all}), "variables ascend"
        for n, flags, extents in all:
            frame, _, _, count = variables[n]
            assert not flags or frame == 0, "a static in a frame"
            assert not extents or 2 <= len(extents) <= 16 and math.prod(extents) == count, "extents"
        return {n: (flags, extents) for n, flags, extents in all}

    def heap(self):
        x = self.section("heap", 2)
        next_id, shapes, blocks, id = x.hyper(), {}, [], 0
        for run in x.list(lambda: x.struct(first_id=x.hyper, blocks=x.hyper, type=x.int, count=x.hyper, rest=x.hyper)):
            assert id < run["first_id"] and run["first_id"] + run["blocks"] <= next_id, "ids"
            assert run["blocks"] == 1 or run["count"] + run["rest"] > 0 < run["blocks"], "blocks"
            id = run["first_id"] + run["blocks"] - 1
            shape = self.type_text(run["type"], run["count"]), self.bytes_of(run["type"]) * run["count"] + run["rest"]
            shapes[shape] = shapes.get(shape, 0) + run["blocks"]
            blocks += [(run, run["first_id"] + i, shape) for i in range(run["blocks"])]
        facts = []
        for n, (run, id, shape) in enumerate(blocks, self.variables + 1):
            facts.append({**({"block": n} if x.layout == 1 else {}), "id": id, "type": shape[0], "bytes": shape[1],
                          **self.values(x, run["type"], run["count"])})
            if run["rest"]:
                facts[-1]["rest"] = x.opaque(run["rest"])[:self.most].hex()
        x.end()
        return {"heap": [{"type": type, "bytes": size, "blocks": n} for (type, size), n in sorted(shapes.items())],
                **self.first(blocks=facts)}

    def topology(self, x, members):
        kind = x.uint(5)
        if kind == 0:
            return {}
        lists = [x.list(x.int) for _ in range(4)]
        ranks = lists[:2] if kind > 2 else lists[1:2] if kind == 2 else []
        assert all((-1 if kind > 2 else 0) <= r < members for r in sum(ranks, []))
        if kind == 1:
            product = 1
            for extent in lists[0]:
                assert extent > 0
                product *= extent
            assert product == members and len(lists[0]) == len(lists[1]) and set(lists[1]) <= {0, 1}
        elif kind == 2:
            assert len(lists[0]) == members and lists[0] == sorted(lists[0]) and ([0] + lists[0])[-1] == len(lists[1])
            assert all(n >= 0 for n in lists[0])
        assert [len(l) for l in lists[2:]] == ([len(l) for l in lists[:2]] if kind == 4 else [0, 0])
        names = {1: ("dimensions", "periodic"), 2: ("index", "edges"), 3: ("sources", "destinations"),
                 4: ("sources", "destinations", "source_weights", "destination_weights")}[kind]
        return {"topology": {"kind": ("cartesian", "graph", "distributed graph", "distributed graph")[kind - 1],
                             **self.first(**dict(zip(names, lists)))}}

    def communicator(self, x, layout):
        ranks = Xdr(self.sections["label"][20:24]).uint()
        facts = x.struct(communicator=x.hyper, parent=x.hyper, operation=x.hyper, colour=x.signed,
                         members=lambda: x.list(lambda: x.uint(ranks)))
        members = facts.pop("members")
        for name in ("communicator", "parent"):
            facts[name] = communicator(facts[name])
        topology = {} if layout == 1 else self.topology(x, len(members))
        own = [] if layout < 3 else x.list(lambda: x.uint(ranks))
        assert not own or (members and not topology and len(set(members + own)) == len(members + own))
        handler, name, attributes = (0, "", []) if layout < 3 else (x.hyper(), x.text(), x.list(lambda: self.attribute(x)))
        facts.update(size=len(members + own), **topology, **self.first(members=members, **({"own": own} if own else {})))
        facts.update(**({"name": name} if name else {}), **({"error_handler": function(43, handler)} if handler else {}),
                     **({"attributes": attributes} if attributes else {}))
        return facts

    @staticmethod
    def attribute(x):
        keyval, block, position = x.hyper(), x.hyper(), x.hyper()
        assert keyval > 0 and (block > 0 or position < 65536)
        value = str(position) if block == 0 else "of the set-up" if block == 2**64 - 1 else pointer(block, position)
        return {"key": keyval, "value": value}

    @staticmethod
    def datatype(t, limit):
        d = t.struct(number=t.hyper, constructor=lambda: t.uint(13), flags=lambda: t.uint(limit), lower=t.signed, extent=t.signed,
                     integers=lambda: t.list(t.int), addresses=lambda: t.list(t.signed), types=lambda: t.list(t.hyper))
        if d["flags"] & 4:
            addresses = d.pop("addresses")
            assert CONSTRUCTORS[d["constructor"]] in ("hindexed", "hindexed_block", "struct") and addresses and not any(addresses)
            d["places"] = [pointer(t.hyper(), t.hyper()) for _ in addresses]
        if d["flags"] & 8:
            assert d["flags"] & 4
            d["origin"] = pointer(t.hyper(), t.hyper())
        return d

    def mpi(self):
        x = self.section("mpi", 5)
        site = ("ELC_Checkpoint", "ELC_Checkpoint_now", "a labelled MPI call")[x.uint(3)]
        communicators, t = x.list(lambda: self.communicator(x, x.layout)), Xdr(x.bytes())
        next_type, memory = t.hyper(), t.list(lambda: (t.uint(65), t.uint(65)))
        types = t.list(lambda: self.datatype(t, 4 if x.layout < 5 else 16))
        t.end()
        numbers = [d["number"] for d in types]
        assert len(memory) >= 30 and numbers == sorted(set(numbers)) and all(256 <= n < next_type for n in numbers)
        for d in types:
            flags, lists = d.pop("flags"), {name: d.pop(name) for name in ("integers", "addresses", "places", "types") if name in d}
            assert d["constructor"] > 0 and all(n < 256 or n in numbers and n < d["number"] for n in lists["types"])
            lists["types"] = [datatype(n) for n in lists["types"]]
            d.update(constructor=CONSTRUCTORS[d["constructor"]], committed=flags & 1 == 1, freed=flags & 2 == 2,
                     **self.first(**lists))
        last, requests = x.hyper(), x.list(lambda: self.request(x, (2, 4, 4, 5, 5)[x.layout - 1]))
        files = x.list(lambda: self.file(x)) if x.layout > 2 else []
        windows = x.list(lambda: self.window(x)) if x.layout > 2 else []
        assert sorted({w["window"] for w in windows}) == [w["window"] for w in windows]
        ranks = Xdr(self.sections["label"][20:24]).uint()
        local = {"groups": [], "infos": [], "operations": 0, "error_handlers": 0, "keyvals": 0}
        if x.layout > 2:
            groups, infos = x.list(lambda: x.list(lambda: x.uint(ranks))), x.list(lambda: self.hints(x))
            local = {"groups": [{"size": len(g), **self.first(members=g)} for g in groups],
                     "infos": [{"size": len(i), **self.first(hints=i)} for i in infos],
                     "operations": x.hyper(), "error_handlers": x.hyper(), "keyvals": x.hyper()}
        x.end()
        return {"mpi": {"site": site, "communicators": communicators, "datatypes": types, "last_request": last,
                        "requests": requests, "files": files, "windows": windows, "local": local}}

    def file(self, x):
        ranks = Xdr(self.sections["label"][20:24]).uint()
        facts = x.struct(file=x.hyper, communicator=lambda: communicator(x.hyper()), operation=x.hyper, colour=x.signed,
                         members=lambda: x.list(lambda: x.uint(ranks)), path=x.text)
        members, flags = facts.pop("members"), x.uint(128)
        facts.update(mode="write" if flags & 1 else "read", append=flags & 2 > 0, unique=flags & 4 > 0,
                     atomic=flags & 8 > 0, of_set_up=flags & 32 > 0, numbers=x.hyper() != 0, length=x.hyper(),
                     pointer=x.signed())
        assert members and facts["path"] and facts["length"] < 2 ** 63 and facts["pointer"] >= 0
        if flags & 16:
            facts["view"] = x.struct(displacement=x.signed, etype=lambda: datatype(x.hyper()),
                                     filetype=lambda: datatype(x.hyper()), representation=x.text)
            assert facts["view"]["displacement"] >= 0
        return {**facts, "size": len(members), **self.first(members=members, hints=self.hints(x))}

    def hints(self, x):
        return x.list(lambda: x.struct(key=x.text, value=x.text))

    def window(self, x):
        facts = x.struct(window=lambda: communicator(x.hyper()), parent=lambda: communicator(x.hyper()), operation=x.hyper)
        ranks = Xdr(self.sections["label"][20:24]).uint()
        members, place = x.list(lambda: x.uint(ranks)), pointer(x.hyper(), x.hyper())
        facts.update(size=len(members), memory=place, bytes=x.hyper(), unit=x.int(), epoch=("none", "open", "closed")[x.uint(3)])
        facts["of_set_up"], code = x.uint(2) == 1, x.hyper()
        assert facts["unit"] > 0 and code > 0 and (facts["of_set_up"] or members)
        return {**facts, **self.first(members=members)}

    def setup(self):
        x = self.section("setup", 2)

        def request():
            number, kind, count, type, comm, peer, tag = (x.hyper(), x.uint(1 + x.layout), x.int(), x.hyper(), communicator(x.hyper()),
                                                          x.int(), x.int())
            if kind == 2:
                assert count >= 0 and tag == 0
                return {"request": number, "kind": STARTED[count], "communicator": comm, "made": type, "root": peer}
            return {"request": number, "kind": ("send", "receive")[kind], "count": count, "datatype": datatype(type),
                    "communicator": comm, "peer": peer, "tag": tag}

        made, requests = x.list(x.hyper), x.list(request)
        x.end()
        assert all(r["request"] >= 2 ** 63 for r in requests)
        return {"setup": {"communicators": [communicator(c) for c in made], "requests": requests}}

    def request(self, x, kinds):
        def region():
            place, count = pointer(x.hyper(), x.hyper()), x.int()
            assert count >= 0
            return {"buffer": place, "count": count, "datatype": datatype(x.hyper())}

        facts = x.struct(request=x.hyper, kind=lambda: REQUESTS[x.uint(kinds)], uses=x.uint)
        assert facts["uses"] > 0
        if facts["kind"] == "receive":
            posting, begin = x.hyper(), x.at
            facts.update(posting=posting, **region())
            nothing = posting == 0 and not any(x.data[begin:x.at])
            comm = x.hyper()
            assert comm != 0 or nothing
            facts.update(communicator=communicator(comm))
        elif facts["kind"] == "collective":
            facts.update(communicator=communicator(x.hyper()), operation=x.hyper(), writes=x.list(region))
        elif facts["kind"] == "persistent":
            facts.update(mode=("receive", "send", "buffered send", "synchronous send")[x.uint(4)], **region())
            facts.update(communicator=communicator(x.hyper()), peer=x.int(), tag=x.int(), active=x.bool(), posting=x.hyper())
        elif facts["kind"] == "persistent collective":
            def side():
                return {"in_place": x.bool(), "base": pointer(x.hyper(), x.hyper()), "blocks": x.list(region)}

            facts.update(call=STARTED[x.uint(len(STARTED))], communicator=communicator(x.hyper()), made=x.hyper(), root=x.int(),
                         op=x.hyper(), counts=x.list(x.int))
            facts.update({"from": side(), "to": side()}, writes=x.list(region), active=x.bool(), operation=x.hyper())
            assert facts["made"] > 0 and facts["root"] >= -3 and facts["root"] != -1 and all(c >= 0 for c in facts["counts"])
            assert facts["active"] or facts["operation"] == 0
        assert facts["kind"].startswith("persistent") or facts["request"] < 2 ** 63
        return facts

    def line(self):
        x = self.section("line")
        comm = lambda: communicator(x.hyper())
        facts = x.struct(line=x.uint, points=x.hyper, calls=x.hyper, postings=x.hyper, replay=x.bool)
        del facts["line"]
        operations = x.list(lambda: x.struct(communicator=comm, operations=x.hyper, size=x.uint, freed=x.bool))
        residues = x.list(lambda: x.struct(source=x.int, communicator=comm, tag=x.int, residue=x.signed))
        queue = x.list(lambda: self.message(x))
        receives = x.list(lambda: x.struct(posting=x.hyper, communicator=comm, source=x.int, tag=x.int,
                                           answer=lambda: self.message(x) if x.bool() else None))
        crossing, pending = x.list(lambda: self.result(x)), x.list(lambda: self.result(x))
        outcomes = x.list(lambda: self.outcome(x))
        received = x.list(lambda: x.struct(posting=x.hyper, source=x.int, tag=x.int))
        x.end()
        envelopes = {}
        for m in queue + [r["answer"] for r in receives if r["answer"]]:
            e = envelopes.setdefault((m["communicator"], m["source"], m["tag"]), {"messages": 0, "bytes": 0})
            e.update(messages=e["messages"] + 1, bytes=e["bytes"] + m["bytes"])
        return {"messages": {
            "in_transit": [{"communicator": c, "source": s, "tag": t, **e} for (c, s, t), e in envelopes.items()],
            "orphans": [{"communicator": r["communicator"], "source": r["source"], "tag": r["tag"],
                         "messages": -r["residue"]} for r in residues if r["residue"] < 0],
            "pending_receives": len(receives), "crossing_results": len(crossing),
            "logged_outcomes": len(outcomes) + len(received), "communicators": len(operations), **facts,
            **self.first(operations=operations, residues=residues, queue=queue, receives=receives, crossing=crossing,
                         pending=pending, outcomes=outcomes, received=received)}}

    def message(self, x):
        facts = x.struct(communicator=lambda: communicator(x.hyper()), source=lambda: x.uint(2 ** 31),
                         tag=lambda: x.uint(2 ** 31), counted=x.bool, machine=lambda: str(machine_of(x.hyper())))
        content = x.bytes()
        return {**facts, "bytes": len(content), "content": content[:self.most].hex()}

    def result(self, x):
        facts, content = x.struct(communicator=lambda: communicator(x.hyper()), operation=x.hyper), Xdr(x.bytes())
        kind = content.uint(6) if content.left() else None
        if kind:
            facts["made"] = self.communicator(content, kind)
            content.end()
        elif kind == 0:
            facts["machine"] = str(machine_of(content.hyper()))
            facts.update(bytes=content.left(), content=content.opaque(content.left())[:self.most].hex())
        return facts

    def outcome(self, x):
        call, times, value = CALLS[x.uint(len(CALLS))], x.uint(), Xdr(x.bytes())
        facts = {"call": call, "times": times}
        if call == "ELC_ND":
            machine, type, count = machine_of(value.hyper()), value.int(), value.hyper()
            assert 1 <= type <= 30, "type"
            facts.update(machine=str(machine), type=self.type_text(type, count))
            values = [machine.scalar(value, type - 3 if 16 <= type <= 18 else type)
                      for _ in range(2 * count if 16 <= type <= 18 else count)]
        else:
            values = [value.int() for _ in range(value.left() // 4)]
        value.end()
        return {**facts, "values": values[:self.most]}


def whole(path):
    with open(path, "rb") as file:
        return file.read()


def content(path):
    """Of the file of a rank, or of what it has written to one of several."""
    number = re.fullmatch(r"rank-(\d{6,})\.elc", os.path.basename(path))
    if os.path.exists(path) or not number:
        return whole(path)
    rank = int(number.group(1))
    for other in glob.glob(os.path.join(os.path.dirname(path), "ranks-*-*.elc")):
        first, last, step = [int(n) for n in re.findall(r"\d+", os.path.basename(other)) + ["1"]][:3]
        if rank in range(first, last + 1, step):
            return from_several(whole(other), [first, last, step], (rank - first) // step)
    raise FileNotFoundError(path)


def from_several(data, ranks, slot):
    x = Xdr(data)
    assert x.uint() == 0x454c4341 and x.uint() == 1, "no file of several ranks"
    assert [x.uint() for _ in range(3)] == ranks, "other ranks"
    assert x.uint() == zlib.crc32(data[:20]), "the checksum of the beginning"
    x.opaque(24 * slot)
    entry = x.data[x.at:x.at + 20]
    at, whole_size, size, checksum = x.hyper(), x.hyper(), x.uint(), x.uint()
    assert at and zlib.crc32(data[at:at + size], zlib.crc32(entry)) == checksum, "the checksum of a table"
    table = Xdr(data[at:at + size])
    pieces = table.list(lambda: (table.hyper(), table.hyper()))
    table.end()
    assert all(size > 0 and begin + size <= at for begin, size in pieces), "a piece that is not there"
    assert sum(size for _, size in pieces) == whole_size, "not all pieces"
    return b"".join(data[begin:begin + size] for begin, size in pieces)


def base_of(path):
    """The file of the same rank in another line of the directory."""
    place, name = os.path.split(path)
    return lambda line: content(os.path.join(place, "..", "line-%06d" % line, name))


def read(path, most=0):
    return {"file": path, **RankFile(content(path), most, base_of(path)).facts()}


def check(program):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.path.abspath(program)], cwd=folder, check=True)
        samples = sorted(glob.glob(os.path.join(folder, "*.elc")))
        assert samples, "no samples"
        for sample in samples:
            with open(sample[:-4] + ".txt") as file, open(sample, "rb") as data:
                expected, found = file.read().splitlines(), list(File(data.read()).sample())
            for a, b in zip(expected, found):
                assert a == b, "%s: libELC says «%s», this reader «%s»" % (os.path.basename(sample), a, b)
            assert len(expected) == len(found) and expected, sample
            print("%s: %d leaves agree" % (os.path.basename(sample), len(found)))


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        check(sys.argv[2])
    else:
        print(json.dumps(read(sys.argv[1], int((sys.argv + [0])[2])), indent=2))
