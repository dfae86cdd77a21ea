"""The lines that people paste to make a change: the forms that they have, and no other is shown, whoever wrote it.

What agents, archives and definitions tell goes into such lines, which often are root's. So each has one of the forms
below as a whole: a value in it holds no sign that a shell reads, and no word more than its place has.
"""

import re
from collections.abc import Mapping
from typing import Any

from apps.bench.text import Message, _

LEFT_OUT = _("The lines to paste are left out: what was told for them has no usual form.")

# What a client has mounted at "$at", and with which options, but for those that its kernel adds.
MOUNT_SOURCE = 'source=$(findmnt -no SOURCE "$at")'
MOUNT_OPTIONS = (
    'options=$(findmnt -no OPTIONS "$at" | sed -E'
    " 's/,(addr|clientaddr|local_lock|mountaddr|mountport|mountproto|mountvers|namlen)=[^,]*//g')"
)

_COUNT = r"[0-9]{1,20}"
_INTERFACE = r"[A-Za-z0-9_.][A-Za-z0-9_.-]{0,14}"
_WORD = r"[a-z][a-z0-9_-]{0,14}"
_FILE = r"/etc/sysctl\.d/90-fathom-[a-z-]{1,30}"
_KEY = r"net\.(?:core|ipv4|ipv6)(?:\.[a-z0-9_]{1,40}){1,4}"
_COMMENT = r"#(?: [A-Za-z0-9,.:+=_/-]{1,60}){1,40}"
# The one that has a sign of the shell's, within a file that the shell only copies.
_NOTE = r"# Fathom tcp-path-mtu: discover the path's MTU"
_PLACE = r"(?:/[A-Za-z0-9_./:@-]{0,199}|MOUNTPOINT)"
_SETTING = r"[A-Za-z]{1,40}=[A-Za-z0-9]{1,20}"
_HINTS = r" > romio-hints && export ROMIO_HINTS=\$PWD/romio-hints"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}"

_FORMS = (
    _COMMENT,
    # Kernel settings.
    rf"\[ -e {_FILE}\.before \] \|\| sysctl(?: {_KEY}){{1,20}} > {_FILE}\.before",
    rf"cat > {_FILE}\.conf <<'END'\n(?:(?:{_COMMENT}|{_NOTE}|{_KEY}=[a-z0-9][a-z0-9 _-]{{0,60}})\n){{0,40}}END",
    rf"set -- \$\(sysctl -n {_KEY}\); \[ \"\$[1-9]\" -ge {_COUNT} \] \|\| "
    rf'echo "{_KEY}=(?:\$[1-9] ){{0,3}}{_COUNT}" >> {_FILE}\.conf',
    rf"sysctl -p {_FILE}\.conf",
    rf"sysctl -p {_FILE}\.before && rm {_FILE}\.before",
    rf"sysctl -w '{_KEY}=[a-z0-9][a-z0-9 _-]{{0,60}}'",
    rf"rm -f {_FILE}\.conf",
    # Interfaces and paths.
    rf"ethtool {_INTERFACE}",
    rf"ip link set dev {_INTERFACE} mtu {_COUNT}",
    rf"tc qdisc (?:replace dev {_INTERFACE} root fq maxrate {_COUNT}mbit|del dev {_INTERFACE} root)",
    rf"ping -c 10 -M do -s {_COUNT} SERVER",
    rf"iperf3 -c SERVER(?: -[wPMb] {_COUNT}| -C {_WORD}){{0,5}}(?: -R| --bidir)?",
    rf"globus-url-copy -vb(?: -(?:p|tcp-bs|bs|cc) {_COUNT}| -pp| -stripe){{0,6}} SOURCE DESTINATION",
    # File systems.
    rf"at={_PLACE}",
    re.escape(MOUNT_SOURCE),
    re.escape(MOUNT_OPTIONS),
    rf'umount "\$at" && mount -t nfs -o "\$options(?:,(?:nconnect|rsize|wsize)={_COUNT}){{1,3}}" "\$source" "\$at"',
    rf"mmchconfig {_SETTING}(?:,{_SETTING}){{0,10}}",
    rf"mmcrfs FILE_SYSTEM -F STANZA_FILE -B {_COUNT}",
    rf"lctl set_param osc\.\*\.max_rpcs_in_flight={_COUNT}",
    rf"iozone(?: -e -c -I| -r {_COUNT})",
    rf"fio (?:--direct=1 --end_fsync=1|--bs={_COUNT})",
    rf"ior (?:-e --posix\.odirect|-t {_COUNT})",
    # Parallel programs.
    r"mpirun --map-by slot --hostfile NEAR_FIRST",
    r"mpirun --map-by (?:node|slot)",
    r"mpirun --map-by (?:core|socket) --bind-to core",
    r"mpirun --bind-to (?:none|core --map-by (?:core|socket|numa))",
    r"mpiexec\.hydra -bind-to core -map-by (?:core|socket)",
    r"srun --cpu-bind=cores --distribution=block:(?:block|cyclic)",
    r"sbatch --switches=(?:0|1@60)",
    rf"make bt SUBTYPE={_NAME}",
    rf"export OMPI_MCA_io_ompio_num_aggregators={_COUNT}|unset OMPI_MCA_io_ompio_num_aggregators",
    rf"echo cb_buffer_size {_COUNT}{_HINTS}",
    rf"printf '%s\\n'(?: '(?:cb_buffer_size|striping_unit) {_COUNT}'){{1,2}}{_HINTS}",
)
_FORM = re.compile(rf"(?:{'|'.join(_FORMS)})(?:\n|\Z)")


def are_usual(*texts: str) -> bool:
    """Return whether each line of all texts has a form that a rule writes; no line has, too."""
    return all(map(_is_usual, texts))


def _is_usual(text: str) -> bool:
    place = 0
    while place < len(text):
        match = _FORM.match(text, place)
        if match is None:
            return False
        place = match.end()
    return True


def with_usual(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finding's record (as stored: `FindingDraft.as_json`) without lines of other forms, which it then says.

    The same holds of its parts.
    """
    sound = dict(record)
    if not are_usual(*(record.get(name) or "" for name in ("change", "undo"))):
        limits = [*(record.get("limits") or ()), Message(LEFT_OUT).as_json()]
        sound |= {"change": "", "undo": "", "limits": limits}
    if record.get("parts"):
        sound["parts"] = [with_usual(part) for part in record["parts"]]
    return sound
