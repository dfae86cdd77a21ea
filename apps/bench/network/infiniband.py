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
_KIND = re.compile(r"\b(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b", re.I)
_WIDTH = re.compile(r"\b(1|2|4|8|12)[xX]\b|\b[xX](1|2|4|8|12)\b")
_NAME = re.compile(r"infini ?band|\bIB\b", re.I)


def port_rate(text: str) -> float | None:
    """Return the data rate (B/s, one direction) of the port that a description names, None if it names none.

    "InfiniBand 4X QDR" is 4.0e9; without a width it is the usual four lanes.
    """
    kind = _KIND.search(text)
    if not _NAME.search(text) or not kind:
        return None
    width = _WIDTH.search(text)
    lanes = int(width[1] or width[2]) if width else USUAL_WIDTH
    return lanes * LANES[kind[1].upper()] * 1e9 / 8
