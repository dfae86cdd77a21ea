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


def tables_of(material: Material) -> list[Block]:
    """Return the tables of the nodes that measured of which facts are known; none where no agent told any."""
    facts_by_node = facts_of(material)
    facts_by_name = {material.nodes[pk].name: facts for pk, facts in facts_by_node.items()}
    tables = [_software(facts_by_name), _settings(facts_by_name)]
    return [table for table in tables if table]


def facts_of(material: Material) -> dict[int, Facts]:
    """Return {node: its facts when the measurements ended}, those that came first where all came later.

    They are of the nodes whose facts the reader, and each member of the report's team, may read; of a campaign that
    an archive brought, its own are told.
    """
    if all(campaign.is_published for campaign in material.campaigns):
        return {}
    last = material.period[1]
    own = [pk for pk, node in material.nodes.items() if material.is_own(node)]
    snapshots = of_own_nodes(FactSnapshot.objects.filter(node__in=own), material.user)
    brought = snapshots.filter(archive_ref=material.main.permanent_id)
    rows = brought if brought.exists() else snapshots.filter(archive_ref="")
    if last:
        before = rows.filter(created_at__lte=last).order_by("node_id", "-created_at", "-pk").distinct("node_id")
        by_node = dict(before.values_list("node_id", "facts"))
    else:
        by_node = {}
    missing = [pk for pk in material.nodes if pk not in by_node]
    if missing:
        after = rows.filter(node__in=missing).order_by("node_id", "created_at", "pk").distinct("node_id")
        by_node |= dict(after.values_list("node_id", "facts"))
    return {node: sound(facts) for node, facts in by_node.items()}


def _software(facts_by_name: Mapping[str, Facts]) -> Table | None:
    """Return kernel, compiler, MPI, scheduler and caches of the nodes, without columns of which nothing is known."""
    columns: list[tuple[str, Callable[[Facts], str]]] = [
        (_("Kernel"), lambda facts: str(_part(facts, "kernel").get("release") or "")),
        (_("Compiler"), lambda facts: _versions(facts, COMPILERS)),
        (_("MPI"), lambda facts: _versions(facts, MPI)),
        (_("Scheduler"), lambda facts: _versions(facts, SCHEDULERS)),
        (_("Processor's caches"), _caches),
    ]
    rows: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, facts in facts_by_name.items():
        rows[tuple(reader(facts) for _title, reader in columns)].append(name)
    places = [place for place in range(len(columns)) if any(texts[place] for texts in rows)]
    if not places:
        return None
    heads = (Column(_("Nodes")), *(Column(columns[place][0]) for place in places))
    cells = [
        (patterns.compress_names(names), *(texts[place] or None for place in places)) for texts, names in rows.items()
    ]
    return Table("software", _("Software and caches of the nodes that measured"), heads, cells)


def _settings(facts_by_name: Mapping[str, Facts]) -> Table | None:
    """Return the kernel settings that bear on measurements: one row for each value that a setting had anywhere."""
    values: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, facts in facts_by_name.items():
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
    part = facts.get(name)
    return part if isinstance(part, Mapping) else {}


def _versions(facts: Facts, programs: Iterable[str]) -> str:
    """Return the versions of those programs that the agent may run, each once."""
    versions = (_named(program, _version(_part(facts, "tools").get(program))) for program in programs)
    return "; ".join(dict.fromkeys(text for text in versions if text))


def _named(program: str, text: str) -> str:
    """Return a version with whose it is: some programs print the number alone, or "Version:" before it."""
    number = _NUMBER.match(text)
    return f"{program} {number[1]}" if number else text


def _version(program: object) -> str:
    """Return a program's version as its agent told it."""
    text = program.get("version") if isinstance(program, Mapping) else program
    lines = str(text or "").strip().splitlines()
    return lines[0].strip() if lines else ""


def _caches(facts: Facts) -> str:
    """Return "L1d 32 KiB, L2 1 MiB, L3 22 MiB" of what is known of a processor's caches."""
    caches = _part(facts, "cpu").get("caches")
    if not isinstance(caches, Mapping):
        return ""
    return ", ".join(
        f"{name} {units.format_quantity(size, 'B') if isinstance(size, int) else size}"
        for name, size in sorted(caches.items())
    )
