"""What an InfiniBand port carries: its lanes' signalling rate less the line code."""

import re

# Data rate of a lane (Gbit/s), from the signalling rate and the code: 8b/10b up to QDR, 64b/66b from FDR10 on
# (InfiniBand Architecture Specification, volume 2); from HDR on the nominal rate is that of the data.
LANES = {
    "SDR": 2.5 * 8 / 10,
    "DDR": 5.0 * 8 / 10,
    "QDR": 10.0 * 8 / 10,
    "FDR10": 10.3125 * 64 / 66,
    "FDR": 14.0625 * 64 / 66,
    "EDR": 25.78125 * 64 / 66,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
USUAL_WIDTH = 4
# Widths that only a port has: "2x EDR" and "8x HDR" are said of so many ports as well as of lanes.
WIDTHS = frozenset({"1", "4", "12"})
# A rate that a description gives is the port's, between that of its data and that of the signals of 8b/10b.
GIVEN_LEAST, GIVEN_MOST = 0.95, 1.3

_KINDS = "SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR"
_NAME = re.compile(r"infini ?band|\bIB\b", re.I)
_DATA_RATE = re.compile(r"\b(?:double|quad(?:ruple)?) data rate\b", re.I)
# The node's bus has lanes, too: "PCIe 3.0 x8", "x16 PCIe Gen4", "Gen3 x8".
_BUS = re.compile(
    r"(?:\b[x×]\d{1,2}[ -]*|\b\d{1,2}[x×][ -]*)?\b(?:PCI[- ]?E(?:xpress)?|Gen(?:eration)?[- ]?\d(?:\.\d)?)\b"
    r"(?:[ .-]*(?:Gen(?:eration)?|v)?[ -]?\d(?:\.\d)?\b)?[ -]*(?:[x×] ?\d{1,2}\b|\b\d{1,2} ?[x×])?",
    re.I,
)
_PORT = re.compile(
    rf"(?:\b(?:(?P<n1>\d+) ?[x×]|[x×] ?(?P<n2>\d+))[ -]*)?\b(?P<kind>{_KINDS})\b"
    r"(?:[ -]*(?:(?P<n3>\d+) ?[x×]|[x×] ?(?P<n4>\d+))(?!\w))?",
    re.I,
)
# What tells of several ports, or of a number of something that nobody can place.
_SEVERAL = re.compile(
    r"\brails?\b|\bports\b|\bHCAs\b|\b(?:adapt[eo]r|card|link|NIC|interface|plane|channel)s\b"
    r"|\b(?:dual|double|twin|two|three|triple|four|quad|eight|multi(?:ple)?|bonded|several)\b"
    r"|\d ?[x×]|[x×] ?\d|(?<![-\w.])[2-9]\d* ?(?:-? ?ports?\b|infini ?band|IB\b)",
    re.I,
)
# "HDR-100" is half of HDR's lanes, "FDR-10" another signal: a figure that is no rate nor width leaves the kind open.
_FIGURE = re.compile(rf"\b(?:{_KINDS})[ -]\d+\b(?! ?(?:G|[x×]))", re.I)
_SINGLE = re.compile(r"\b(?:single|one|1)[- ]?(?:rail|port)\b", re.I)
_GIVEN = re.compile(r"(?<!\d)(?<!\d\.)(\d+(?:\.\d+)?) ?(?:Gbit/s|Gbps|Gb/s|Gbit)(?! ?Ether)", re.I)


def port_rate(text: str) -> float | None:
    """Return the data rate (B/s, one direction) of the port that a description names, None if it names none.

    "InfiniBand 4X QDR" is 4.0e9; without a width it is the usual four lanes. A width stands beside the kind of port;
    nothing is known of what may be several ports, several kinds, or of another rate than its kind has.
    """
    if not _NAME.search(text):
        return None
    own = _SINGLE.sub(" ", _DATA_RATE.sub(" ", _BUS.sub(" ", text)))
    ports = list(_PORT.finditer(own))
    if not ports or len({port["kind"].upper() for port in ports}) > 1 or _SEVERAL.search(_PORT.sub(" ", own)):
        return None
    if _FIGURE.search(own):
        return None
    numbers = {number for port in ports for name in ("n1", "n2", "n3", "n4") if (number := port[name])}
    if len(numbers) > 1 or not numbers <= WIDTHS:
        return None
    gbit_s = int(next(iter(numbers), USUAL_WIDTH)) * LANES[ports[0]["kind"].upper()]
    given_rates = [float(found[1]) for found in _GIVEN.finditer(own)]
    if given_rates and not any(GIVEN_LEAST <= given / gbit_s <= GIVEN_MOST for given in given_rates):
        return None
    return gbit_s * 1e9 / 8
