"""The parameters of an imaginary tool, for the tests of sweeps."""

from apps.bench.toolkit import Parameter

_CONTROLS = (("", "the system's"), ("cubic", "CUBIC"), ("bbr", "BBR"))

PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("window", "size", "Window", minimum=1024, maximum=512 * 2**20, unit="B"),
        Parameter("streams", "integer", "Streams", minimum=1, maximum=128),
        Parameter("duration", "duration", "Duration", minimum=1, maximum=86400, unit="s"),
        Parameter("pause", "duration", "Pause", unit="s"),
        Parameter("load", "rate", "Offered load", unit="bit/s"),
        Parameter("disk", "byte-rate", "Disk rate", unit="B/s"),
        Parameter("share", "float", "Share"),
        Parameter("reverse", "boolean", "Reverse"),
        Parameter("control", "choice", "Congestion control", choices=_CONTROLS),
        Parameter("note", "text", "Note"),
        Parameter("level", "integer", "Level"),
    )
}
