"""The settings of a node that bear on measurements, and which values they take."""

import re
from dataclasses import dataclass

from apps.bench.text import Message, _

MTU, QDISC = "mtu", "qdisc"
# As agents take them: no interface's and no process's own, nothing with a path in it.
_SYSCTL = re.compile(r"(?:net|vm|sunrpc|fs)(?:\.[a-z0-9_]+){1,6}")
_VALUE = re.compile(r"[A-Za-z0-9_.:%+-]+(?: [A-Za-z0-9_.:%+-]+){0,15}")
_LONGEST = 200
# Below it the kernel takes IPv6, addresses and all, off the interface (RFC 8200, section 5); the most IP can say.
LEAST_MTU, MOST_MTU = 1280, 65536
QDISCS = ("bfifo", "cake", "codel", "fq", "fq_codel", "netem", "pfifo", "pfifo_fast", "sfq", "tbf")


@dataclass(frozen=True)
class Setting:
    """One setting: `kind` is integer, boolean, triple (minimum, default, maximum in order), word or qdisc."""

    key: str
    kind: str
    label: str
    least: int = 0
    most: int = 2**31 - 1
    example: str = ""


def _whole(key: str, label: str, example: str, minimum: int = 0, maximum: int = 2**31 - 1) -> Setting:
    return Setting(key, "integer", label, minimum, maximum, example)


def _triple(key: str, label: str, example: str) -> Setting:
    return Setting(key, "triple", label, example=example)


def _switch(key: str, label: str, maximum: int = 1) -> Setting:
    return Setting(key, "boolean", label, 0, maximum, "1")


CATALOGUE: tuple[Setting, ...] = (
    Setting(MTU, "integer", _("MTU of the data-plane interface (B)"), LEAST_MTU, MOST_MTU, "9000"),
    Setting(QDISC, "qdisc", _("Queue discipline of the data-plane interface"), example="fq"),
    Setting("net.ipv4.tcp_congestion_control", "word", _("Congestion control of TCP"), example="cubic"),
    _triple("net.ipv4.tcp_rmem", _("TCP receive buffer: min, default, max (B)"), "4096 131072 8388608"),
    _triple("net.ipv4.tcp_wmem", _("TCP send buffer: min, default, max (B)"), "4096 16384 8388608"),
    _whole("net.core.rmem_max", _("Largest receive buffer a program may ask for (B)"), "8388608", 2304),
    _whole("net.core.wmem_max", _("Largest send buffer a program may ask for (B)"), "8388608", 4608),
    _whole("net.core.rmem_default", _("Receive buffer of sockets that do not ask (B)"), "212992", 2304),
    _whole("net.core.wmem_default", _("Send buffer of sockets that do not ask (B)"), "212992", 4608),
    _whole("net.core.netdev_max_backlog", _("Packets that may wait for a processor"), "5000", 1),
    Setting("net.core.default_qdisc", "word", _("Queue discipline of new interfaces"), example="fq"),
    _switch("net.ipv4.tcp_window_scaling", _("TCP window scaling")),
    _switch("net.ipv4.tcp_timestamps", _("TCP timestamps"), 2),
    _switch("net.ipv4.tcp_sack", _("Selective acknowledgements of TCP")),
    _switch("net.ipv4.tcp_ecn", _("Explicit congestion notification of TCP"), 5),
    _switch("net.ipv4.tcp_moderate_rcvbuf", _("TCP tunes its receive buffer by itself")),
    _switch("net.ipv4.tcp_no_metrics_save", _("TCP forgets what it learnt of a path")),
    _switch("net.ipv4.tcp_slow_start_after_idle", _("TCP starts slowly after a pause")),
    _switch("net.ipv4.ip_no_pmtu_disc", _("The path's MTU is not discovered"), 3),
    _switch("net.ipv4.tcp_mtu_probing", _("TCP probes the path's MTU"), 2),
    Setting("net.ipv4.tcp_adv_win_scale", "integer", _("Share of a TCP buffer that counts as window"), -31, 31, "1"),
    _whole("net.ipv4.tcp_limit_output_bytes", _("Bytes of a TCP connection waiting at the interface"), "1048576"),
    _whole("net.ipv4.tcp_notsent_lowat", _("Unsent bytes up to which TCP asks for more"), "131072"),
    _triple("net.ipv4.udp_mem", _("Memory of all UDP sockets: low, pressure, high (pages)"), "190000 250000 380000"),
    _whole("vm.dirty_ratio", _("Dirty memory from which programs must write (%)"), "20", 0, 100),
    _whole("vm.dirty_background_ratio", _("Dirty memory from which the kernel writes (%)"), "10", 0, 100),
    _whole("vm.swappiness", _("Readiness to swap"), "60", 0, 200),
)
_BY_KEY = {setting.key: setting for setting in CATALOGUE}


def find(key: str) -> Setting | None:
    """Return what is known of a key, None of one that only the kernel knows."""
    return _BY_KEY.get(key)


def normalise(value: str) -> str:
    """Return a value with its words one blank apart."""
    return " ".join(value.split())


def check_key(key: str) -> Message | None:
    """Return why a key can not be set, or None."""
    if key in _BY_KEY or _SYSCTL.fullmatch(key):
        return None
    text = _("%(key)s is no setting that can be set: give mtu, qdisc, or a key such as net.ipv4.tcp_rmem.")
    return Message(text, {"key": key})


def check_value(key: str, value: str) -> Message | None:
    """Return why a value makes no sense for a key, or None."""
    value = normalise(value)
    if not value:
        return Message(_("Give a value for %(key)s."), {"key": key})
    if len(value) > _LONGEST or not _VALUE.fullmatch(value):
        return Message(_("%(key)s takes plain words and numbers only."), {"key": key})
    setting = find(key)
    return _CHECKS[setting.kind](setting, value.split()) if setting else None


def _check_whole(setting: Setting, words: list[str]) -> Message | None:
    if len(words) != 1 or not _is_within(words[0], setting.least, setting.most):
        text = _("%(key)s takes one whole number from %(least)s to %(most)s.")
        return Message(text, {"key": setting.key, "least": setting.least, "most": setting.most})
    return None


def _check_triple(setting: Setting, words: list[str]) -> Message | None:
    if len(words) != 3 or not all(_is_within(word, 0, 2**31 - 1) for word in words):
        text = _("%(key)s takes three whole numbers, for example %(example)s.")
        return Message(text, {"key": setting.key, "example": setting.example})
    minimum, usual, maximum = (int(word) for word in words)
    if not minimum <= usual <= maximum:
        return Message(_("%(key)s must not fall: min, default and max in this order."), {"key": setting.key})
    return None


def _check_word(setting: Setting, words: list[str]) -> Message | None:
    if len(words) != 1 or not re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", words[0]):
        return Message(
            _("%(key)s takes one name, for example %(example)s."), {"key": setting.key, "example": setting.example}
        )
    return None


def _check_qdisc(setting: Setting, words: list[str]) -> Message | None:
    if words[0] not in QDISCS:
        return Message(
            _("%(key)s must begin with one of: %(known)s."), {"key": setting.key, "known": ", ".join(QDISCS)}
        )
    return None


def _is_within(word: str, minimum: int, maximum: int) -> bool:
    return re.fullmatch(r"-?[0-9]{1,12}", word) is not None and minimum <= int(word) <= maximum


_CHECKS = {
    "integer": _check_whole,
    "boolean": _check_whole,
    "triple": _check_triple,
    "word": _check_word,
    "qdisc": _check_qdisc,
}
