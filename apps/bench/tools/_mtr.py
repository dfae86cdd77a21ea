"""mtr's report in each of its forms: JSON, XML, CSV, the table for people, and raw lines."""

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.bench.outputs.documents import dig, number, objects

Json = dict[str, Any]

NOBODY = "???"
# The report for people has one decimal of ms.
TABLE_STEP_S = 1e-4
_HEADER = re.compile(r"^HOST: \S+ +(\S[^\n]*)$", re.M)
_ROW = re.compile(r"^ *(\d{1,3})\.(?:\|--)? +(\S[^\n]*)$", re.M)
_AS_NUMBER = re.compile(r"AS(?:\?\?\?|\d{1,10})$")
_BRACKETS = re.compile(r"\((\S{1,60})\)$")
_CSV_HEADER = "Mtr_Version,"
_XML = re.compile(r"<MTR\s([^>]{1,1000})>", re.I)
_XML_HUB = re.compile(r"<HUB\s([^>]{1,1000})>(.*?)</HUB>", re.I | re.S)
_XML_FIELD = re.compile(r"<([A-Za-z]{1,12}%?)>\s*([^<\s]{1,40})\s*</")
_XML_ATTRIBUTE = re.compile(r'([A-Z]{1,12})="([^"]{0,255})"')
_RAW_HOST = re.compile(r"^h (\d{1,3}) (\S{1,60})$", re.M)
_RAW_PING = re.compile(r"^p (\d{1,3}) (\d{1,9})(?: \d+)?$", re.M)
_RAW_SENT = re.compile(r"^x (\d{1,3}) \d+$", re.M)
_DECIMAL = re.compile(r"\d{1,9}(?:\.\d{1,6})?", re.ASCII)
# The columns that figures come from, by the names in every form.
_TIMES = ("Best", "Avg", "Wrst", "StDev")


@dataclass(frozen=True)
class MtrReport:
    """The hops in base units, empty if a row is damaged; the target ("" if not told), and what was asked for.

    Times are printed in steps of `step_s`, 0 where these are too fine to matter.
    """

    hops: tuple[Json, ...]
    target: str = ""
    count: str = ""
    size: str = ""
    step_s: float = 0.0


def read_report(text: str, data: Json | None) -> MtrReport:
    """Return what a text tells, `data` being its JSON document if it is one."""
    if data is not None:
        return _of_json(data)
    if head := _XML.search(text):
        return _of_xml(head, text)
    if _CSV_HEADER in text:
        return _of_csv(text)
    table = tuple(_of_table(text))
    return MtrReport(table, step_s=TABLE_STEP_S) if table else MtrReport(tuple(_of_raw(text)))


def _of_json(data: Json) -> MtrReport:
    def word(key: str) -> str:
        value = dig(data, "report", "mtr", key)
        figure = number(data, "report", "mtr", key)
        value = f"{figure:g}" if figure is not None else value
        return value[:100] if isinstance(value, str) and value.isprintable() else ""

    hops = []
    for hub in objects(dig(data, "report", "hubs")):
        count, host = number(hub, "count"), hub.get("host")
        if not isinstance(host, str) or (row := _hop(count, host, {key: number(hub, key) for key in hub})) is None:
            return MtrReport((), word("dst"))
        hops.append(row)
    return MtrReport(tuple(hops), word("dst"), word("tests"), word("psize"))


def _of_xml(head: re.Match[str], text: str) -> MtrReport:
    attributes = dict(_XML_ATTRIBUTE.findall(head[1]))
    rows = []
    for hub_match in _XML_HUB.finditer(text):
        hub = dict(_XML_ATTRIBUTE.findall(hub_match[1]))
        figures = {"Loss%" if key == "Loss" else key: value for key, value in _XML_FIELD.findall(hub_match[2])}
        rows.append((hub.get("COUNT", ""), hub.get("HOST", ""), figures))
    return MtrReport(
        _all_or_none(rows), attributes.get("DST", ""), attributes.get("TESTS", ""), attributes.get("PSIZE", "")
    )


def _of_csv(text: str) -> MtrReport:
    lines = list(csv.reader(text[text.index(_CSV_HEADER) :].splitlines()))
    names, target, rows = lines[0], "", []
    for fields in lines[1:]:
        if len(fields) < len(names) - 1 or not fields[0].startswith("MTR."):
            continue
        row = dict(zip(names, fields, strict=False))
        target = row.get("Host", "")
        rows.append((row.get("Hop", ""), row.get("Ip", ""), row))
    return MtrReport(_all_or_none(rows), target)


def _of_table(text: str) -> Sequence[Json]:
    """Return the hops of the report for people, whose times have one digit, by the columns that its head names."""
    head = _HEADER.search(text)
    if not head:
        return ()
    names = head[1].split()
    rows = []
    for match in _ROW.finditer(text, head.end()):
        words = match[2].split()
        host, values = words[: -len(names)], words[-len(names) :]
        if host and _AS_NUMBER.match(host[0]):
            host = host[1:]
        # Both the name and the address are there with -b.
        address = _BRACKETS.match(host[1]) if len(host) == 2 else None
        rows.append(
            (match[1], address[1] if address else host[0] if host else "", dict(zip(names, values, strict=False)))
        )
    return _all_or_none(rows)


def _of_raw(text: str) -> Sequence[Json]:
    """Return the hops of the raw lines (x sent, h host, p time in µs), up to the first host that comes again."""
    hosts = {int(index): host for index, host in _RAW_HOST.findall(text)}
    sent_hops = [int(index) for index in _RAW_SENT.findall(text)]
    times: dict[int, list[float]] = {}
    for index, micros in _RAW_PING.findall(text):
        times.setdefault(int(index), []).append(int(micros) / 1000)
    hops: list[Json] = []
    for index in sorted(hosts):
        if (
            index not in times
            or not sent_hops.count(index)
            or any(hop["addresses"] == [hosts[index]] for hop in hops)
        ):
            break
        values, tries = times[index], sent_hops.count(index)
        mean = sum(values) / len(values)
        spread = (sum((value - mean) ** 2 for value in values) / max(len(values) - 1, 1)) ** 0.5
        loss = 100 * max(0.0, 1 - len(values) / tries)
        figures = {
            "Loss%": loss,
            "Snt": tries,
            "Best": min(values),
            "Avg": mean,
            "Wrst": max(values),
            "StDev": spread,
        }
        if (hop := _hop(index + 1, hosts[index], figures)) is None:
            return ()
        hops.append(hop)
    return hops


def _all_or_none(rows: Iterable[tuple[str, str, Mapping[str, str]]]) -> tuple[Json, ...]:
    """Return the hops of rows (number, host, columns); none if one is damaged."""
    hops = []
    for count, host, columns in rows:
        figures = {name: _float(text.removesuffix("%")) for name, text in columns.items()}
        hop = _hop(_float(count), host, figures)
        if hop is None:
            return ()
        hops.append(hop)
    return tuple(hops)


def _hop(count: float | None, host: str, figures: Mapping[str, float | None]) -> Json | None:
    """Return a hop in base units from a loss in per cent and times in ms; None if its row is damaged.

    The number, the addresses and rtt_s are what traceroute tells of a hop, too.
    """
    probes, loss = figures.get("Snt"), figures.get("Loss%")
    if not count or count > 255 or probes is None or loss is None or loss > 100 or not host or not host.isprintable():
        return None
    times = [figures.get(name) for name in _TIMES]
    minimum, mean, maximum, deviation = (time / 1000 if time is not None else None for time in times)
    addresses = [] if host == NOBODY else [host[:100]]
    values = {"rtt_min": minimum, "rtt_mean": mean, "rtt_max": maximum, "rtt_deviation": deviation}
    return {"hop": int(count), "addresses": addresses, "rtt_s": minimum, "sent": probes, "loss": loss / 100, **values}


def _float(text: str) -> float | None:
    return float(text) if _DECIMAL.fullmatch(text) else None
