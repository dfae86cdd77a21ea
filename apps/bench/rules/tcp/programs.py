"""Commands that a person starts by hand, whole: the program, its options, and which side starts it."""

# Stands for the other end's name or address, which rules do not know.
SERVER = "SERVER"


def iperf3(*, window: int = 0, streams: int = 1, more: str = "") -> str:
    """Return the client's command line with a window (B; 0: the kernel's own) and so many streams."""
    return " ".join(["iperf3", "-c", SERVER, *_options(window, streams), *([more] if more else [])]) + "\n"


def words(*, window: int = 0, streams: int = 1) -> str:
    """Return the options as a title has them, "iperf3" alone where there are none."""
    return " ".join(["iperf3", *_options(window, streams)])


def _options(window: int, streams: int) -> list[str]:
    return [*(["-w", str(window)] if window else []), *(["-P", str(streams)] if streams > 1 else [])]
