"""fio's reports for people and its terse lines, which archives hold."""

import itertools
import re
from collections.abc import Iterator, Sequence

from apps.bench.tools._fio.figures import FioJob, FioRefused, FioWay

KIB = 1024
_NOTHING = FioWay(0.0, 0.0, 0.0, 0.0, 0.0)
# Amounts have three digits.
_ROUNDING = 0.01
# Fields before the first direction, and those of a direction, by the version of the terse format.
_HEAD = 5
_WIDTH = {3: 41, 4: 41, 5: 47}
_TERSE = re.compile(r"^([345]);fio-\d[\w.+-]*;.*$", re.M | re.A)

_JOB = re.compile(
    r"^(?P<name>\S.*): \(groupid=(?P<group>\d{1,6}), jobs=(?P<count>\d{1,5})(?:, [^)\n]{1,200})?\): "
    r"err= ?(?P<error>\d{1,4})(?: \([^\n]{0,500}\))?(?:: pid=(?P<pid>\d{1,10}))?",
    re.M | re.A,
)
# What a job was given: "a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) …, ioengine=psync, iodepth=1";
# until version 2.99 its sizes are "bs=4K-4K/4K-4K/4K-4K".
_GIVEN = re.compile(
    r"^\S.{0,200}: \(g=\d{1,6}\): rw=(?P<pattern>[a-z]{2,12}), bs=(?P<sizes>.{1,120}), "
    r"ioengine=(?P<engine>[\w-]{1,40}), iodepth=(?P<depth>\d{1,6})(?:, .{0,200})?$",
    re.M | re.A,
)
_RANGE = re.compile(r"([\d.]{1,12}[\w]{0,3})-([\d.]{1,12}[\w]{0,3})", re.A)
# A size has three digits: only one without a fraction is what was asked for.
_SIZE = re.compile(r"(\d{1,12})(?:\.0+)?(?:([kKMGTP]i?)?B|([KMGTP]))?", re.A)
# What --unified_rw_reporting has in the place of both directions, or beside them.
_MIXED = re.compile(r"^  mixed ?: (?=IOPS=|io=)", re.M | re.A)
_WAY = re.compile(
    r"^  (?P<way>read|write) ?: IOPS=(?P<iops>[\d.]{1,12}[kM]?), BW=\S+ \(\S+\)"
    r"\((?P<size>[\d.]{1,12})(?P<prefix>[kKMGTP]i?)?B/(?P<time>\d{1,12})msec\)",
    re.M | re.A,
)
# How a direction begins in either; one that no pattern reads is of a form that is not known.
_ANY_WAY = re.compile(r"^  (?:read|write) ?: (?=IOPS=|io=)", re.M | re.A)
# Until version 2.21 a kB was 1024 bytes, and nothing was said twice.
_OLD_WAY = re.compile(
    r"^  (?P<way>read|write) ?: io=(?P<size>[\d.]{1,12})(?P<prefix>[KMGTP]?)B, bw=\S+/s"
    r", iops=(?P<iops>[\d.]{1,12}[kM]?), runt= *(?P<time>\d{1,12})msec",
    re.M | re.A,
)
_LATENCY = re.compile(
    r"^ +lat \((?P<unit>[num]sec|sec)\): min= {0,15}\S+ +max= {0,15}(?P<most>[\d.]{1,15})(?P<k>k?),"
    r" avg= {0,15}(?P<mean>[\d.]{1,15}),",
    re.M | re.A,
)
_PERCENTILES = re.compile(r"^ +clat percentiles \(([num]sec|sec)\):$", re.M | re.A)
_TAIL = re.compile(r"99\.00th=\[ *(\d{1,12})\]", re.A)
_BINARY = {"": 1} | {f"{unit}{i}": KIB**power for power, unit in enumerate("KMGTP", 1) for i in ("", "i")}
_DECIMAL = {unit: 1000**power for power, unit in enumerate(("k", "M", "G", "T", "P"), 1)} | {"K": 1000}
_UNITS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
_THOUSANDS = {"": 1, "k": 1e3, "M": 1e6}


def version_in(text: str) -> str:
    """Return the program's version in a report for people, or ""."""
    match = re.search(r"^fio-(\d[\w.+-]{0,40})$", text, re.M | re.A)
    return match[1] if match else ""


def terse_lines(text: str) -> list[list[str]]:
    """Return the fields of each terse line."""
    return [match[0].split(";") for match in _TERSE.finditer(text)]


def terse_version(lines: Sequence[Sequence[str]]) -> str:
    """Return the program's version of terse lines."""
    return lines[0][1].removeprefix("fio-")[:40]


def read_terse(lines: Sequence[Sequence[str]]) -> Iterator[FioJob]:
    """Yield the job of each line; sizes are in KiB, times in ms, latencies in us (HOWTO of fio, "Terse output")."""
    for fields in lines:
        width = _WIDTH[int(fields[0])]
        ways = {
            way: _terse_way(fields[_HEAD + index * width : _HEAD + (index + 1) * width])
            for index, way in enumerate(("read", "write"))
        }
        name, group = (fields[2], fields[3]) if len(fields) > 3 else ("", "")
        yield FioJob(int(_figure(fields[4:5])), group, ways=ways, name=name)


def _terse_way(fields: Sequence[str]) -> FioWay:
    size, rate, iops, runtime = (_figure(fields[index : index + 1]) for index in range(4))
    maximum, mean = _figure(fields[33:34]), _figure(fields[34:35])
    tail = next((text for text in fields[12:32] if text.startswith("99.000000%=")), "=0").partition("=")[2]
    return FioWay(
        size * KIB, runtime / 1e3, rate * KIB, iops, iops * runtime / 1e3,
        *(value / 1e6 if value else None for value in (mean, _figure([tail]), maximum)),
    )  # fmt: skip


def _figure(texts: Sequence[str]) -> float:
    """Return the number of a field, 0 if it is missing or none."""
    return float(texts[0]) if texts and re.fullmatch(r"\d{1,18}(\.\d{1,18})?", texts[0], re.ASCII) else 0.0


def read_jobs(text: str, base: int) -> list[FioJob]:
    """Return the jobs of a report for people (FioRefused where a direction's form is not known).

    `base` is what a K is in old ones, which do not say it.
    """
    heads = list(_JOB.finditer(text))
    jobs = []
    for head, following in itertools.zip_longest(heads, heads[1:]):
        body = text[head.end() : following.start() if following else len(text)]
        ways = {"read": _NOTHING, "write": _NOTHING} | dict(_ways(body, base))
        name, pid = head["name"], head["pid"] or ""
        jobs.append(FioJob(int(head["error"]), head["group"], int(head["count"]), ways, name, pid, _ROUNDING))
    return jobs


def options_in(text: str, jobs: Sequence[FioJob]) -> dict[str, str]:
    """Return the options that a report for people prints of its jobs, by fio's names, as far as they are alike."""
    values_by_option: dict[str, set[str]] = {}
    for match in _GIVEN.finditer(text):
        own = {"rw": match["pattern"], "ioengine": match["engine"], "iodepth": match["depth"]}
        for name, value in (own | {"bs": _block_size(match["sizes"], match["pattern"])}).items():
            values_by_option.setdefault(name, set()).add(value)
    alike = {name: values.pop() for name, values in values_by_option.items() if len(values) == 1}
    options = {name: value for name, value in alike.items() if value}
    return options | ({"numjobs": str(sum(job.count for job in jobs))} if values_by_option else {})


def _block_size(sizes: str, pattern: str) -> str:
    """Return the one size of blocks that a pattern moves, "" if it has several: of reads, of writes, of both."""
    ranges = _RANGE.findall(sizes)[:2]
    sizes_of_pattern = ranges[:1] if pattern in ("read", "randread") else ranges[1:] or ranges
    if pattern in ("rw", "randrw", "readwrite"):
        sizes_of_pattern = ranges
    ends = {end for pair in sizes_of_pattern for end in pair}
    match = _SIZE.fullmatch(ends.pop()) if len(ends) == 1 else None
    if match is None:
        return ""
    return str(int(match[1]) * (_BINARY | _DECIMAL)[match[2] or ""] * _BINARY[match[3] or ""])


def _ways(body: str, base: int) -> Iterator[tuple[str, FioWay]]:
    sections = list(_WAY.finditer(body))
    # With kb_base=1000 newer programs print sizes in powers of ten.
    scales = _BINARY | (_DECIMAL if sections or base == 1000 else {})
    sections = sections or list(_OLD_WAY.finditer(body))
    if not sections and _MIXED.search(body):
        raise FioRefused("ways-together", said="mixed")
    if len(sections) < len(_ANY_WAY.findall(body)):
        raise FioRefused
    for match, following in itertools.zip_longest(sections, sections[1:]):
        part = body[match.end() : following.start() if following else len(body)]
        iops, size = _scaled(match["iops"]), _number(match["size"]) * scales[match["prefix"] or ""]
        seconds = int(match["time"]) / 1e3
        latency = _LATENCY.search(part)
        scale = _UNITS[latency["unit"]] if latency else 1.0
        yield (
            match["way"],
            FioWay(
                size,
                seconds,
                size / seconds if seconds else 0.0,
                iops,
                iops * seconds,
                _number(latency["mean"]) * scale if latency else None,
                _tail(part),
                _number(latency["most"]) * scale * (1e3 if latency["k"] else 1) if latency else None,
            ),
        )


def _tail(part: str) -> float | None:
    unit, match = _PERCENTILES.search(part), _TAIL.search(part)
    return int(match[1]) * _UNITS[unit[1]] if unit and match else None


def _scaled(text: str) -> float:
    letter = text[-1] if text[-1] in _THOUSANDS else ""
    return _number(text.removesuffix(letter)) * _THOUSANDS[letter]


def _number(text: str) -> float:
    return float(text) if re.fullmatch(r"\d+(\.\d*)?", text, re.ASCII) else 0.0
