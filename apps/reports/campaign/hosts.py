"""What agents know of the nodes that measured: kernel settings, programs and caches that figures depend on."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from apps.agents.facts import sound
from apps.agents.models import FactSnapshot
from apps.bench import units
from apps.reports.campaign.material import Material
from apps.reports.document import Block, Column, Table
from apps.testbeds import patterns
from apps.testbeds.queries.readers import of_own_nodes

Facts = Mapping[str, Any]
# So many settings are listed; the nodes' own pages have all.
MOST_SETTINGS = 60
# What a program prints that does not say its own name.
_NUMBER = re.compile(r"(?:version\s*[:=]?\s*)?(v?[0-9]\S*.*)", re.IGNORECASE)
MPI = ("mpirun", "mpiexec", "mpiexec.hydra")
COMPILERS = ("mpicc", "gcc", "cc", "icx", "icc", "clang", "nvc")
SCHEDULERS = ("srun", "sbatch", "qsub", "bsub")


def tables_of(made: Material) -> list[Block]:
    """Return the tables of the nodes that measured of which facts are known; none where no agent told any."""
    known = facts_of(made)
    named = {made.nodes[pk].name: facts for pk, facts in known.items()}
    tables = [_software(named), _settings(named)]
    return [table for table in tables if table]


def facts_of(made: Material) -> dict[int, Facts]:
    """Return {node: its facts when the measurements ended}, those that came first where all came later.

    They are of the nodes whose facts the reader may read; of a campaign that an archive brought, its own are told.
    """
    if all(campaign.is_published for campaign in made.campaigns):
        return {}
    last = made.period[1]
    told = of_own_nodes(FactSnapshot.objects.filter(node__in=made.nodes), made.user)
    brought = told.filter(archive_ref=made.main.permanent_id)
    rows = brought if brought.exists() else told.filter(archive_ref="")
    if last:
        before = rows.filter(created_at__lte=last).order_by("node_id", "-created_at", "-pk").distinct("node_id")
        found = dict(before.values_list("node_id", "facts"))
    else:
        found = {}
    missing = [pk for pk in made.nodes if pk not in found]
    if missing:
        after = rows.filter(node__in=missing).order_by("node_id", "created_at", "pk").distinct("node_id")
        found |= dict(after.values_list("node_id", "facts"))
    return {node: sound(facts) for node, facts in found.items()}


def _software(named: Mapping[str, Facts]) -> Table | None:
    """Return kernel, compiler, MPI, scheduler and caches of the nodes, without columns of which nothing is known."""
    columns: list[tuple[str, Callable[[Facts], str]]] = [
        (_("Kernel"), lambda facts: str(_part(facts, "kernel").get("release") or "")),
        (_("Compiler"), lambda facts: _versions(facts, COMPILERS)),
        (_("MPI"), lambda facts: _versions(facts, MPI)),
        (_("Scheduler"), lambda facts: _versions(facts, SCHEDULERS)),
        (_("Processor's caches"), _caches),
    ]
    rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, facts in named.items():
        rows[tuple(read(facts) for _title, read in columns)].append(name)
    used = [place for place in range(len(columns)) if any(texts[place] for texts in rows)]
    if not used:
        return None
    heads = (Column(_("Nodes")), *(Column(columns[place][0]) for place in used))
    cells = [
        (patterns.compress_names(names), *(texts[place] or None for place in used)) for texts, names in rows.items()
    ]
    return Table("software", _("Software and caches of the nodes that measured"), heads, cells)


def _settings(named: Mapping[str, Facts]) -> Table | None:
    """Return the kernel settings that bear on measurements: one row for each value that a setting had anywhere."""
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, facts in named.items():
        for setting, value in sorted(_part(facts, "sysctls").items()):
            if value not in (None, ""):
                values[setting, " ".join(str(value).split())].append(name)
    if not values:
        return None
    rows = [(setting, value, patterns.compress_names(names)) for (setting, value), names in sorted(values.items())]
    columns = Column(_("Setting")), Column(_("Value")), Column(_("Nodes"))
    total = len(rows) if len(rows) > MOST_SETTINGS else 0
    note = _("As the agents told them when the measurements ended; sizes in B.")
    title = _("Kernel settings of the nodes that measured")
    return Table("kernel-settings", title, columns, rows[:MOST_SETTINGS], note=note, total=total)


def _part(facts: Facts, name: str) -> Facts:
    found = facts.get(name)
    return found if isinstance(found, Mapping) else {}


def _versions(facts: Facts, programs: Iterable[str]) -> str:
    """Return the versions of those programs that the agent may run, each once."""
    found = (_named(program, _version(_part(facts, "tools").get(program))) for program in programs)
    return "; ".join(dict.fromkeys(text for text in found if text))


def _named(program: str, text: str) -> str:
    """Return a version with whose it is: some programs print the number alone, or "Version:" before it."""
    number = _NUMBER.match(text)
    return f"{program} {number[1]}" if number else text


def _version(told: object) -> str:
    """Return a program's version as its agent told it."""
    text = told.get("version") if isinstance(told, Mapping) else told
    lines = str(text or "").strip().splitlines()
    return lines[0].strip() if lines else ""


def _caches(facts: Facts) -> str:
    """Return "L1d 32 KiB, L2 1 MiB, L3 22 MiB" of what is known of a processor's caches."""
    found = _part(facts, "cpu").get("caches")
    if not isinstance(found, Mapping):
        return ""
    return ", ".join(
        f"{name} {units.format_quantity(size, 'B') if isinstance(size, int) else size}"
        for name, size in sorted(found.items())
    )
