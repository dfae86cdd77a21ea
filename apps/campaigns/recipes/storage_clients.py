"""Storage: IOzone's rates by record size and number of clients that start together."""

from collections.abc import Sequence

from apps.bench.text import _
from apps.bench.toolkit import Parameter
from apps.campaigns.recipes.base import REPETITIONS, Recipe, RecipeChoice, RecipePart, Step

CLIENTS = RecipePart("client", _("Clients"), several=True)
FILE_SIZE = Parameter(
    "file_size",
    "size",
    _("File size of a client"),
    help=_("Larger than the client's memory, or its cache is measured instead."),
    default=1024**3,
    unit="B",
    minimum=1024,
)
RECORDS = Parameter(
    "records",
    "text",
    _("Record sizes"),
    help=_("Values or a range: 64KiB..16MiB x4. The file size is a multiple of each."),
    default="64KiB..16MiB x4",
)


def steps(choice: RecipeChoice) -> Sequence[Step]:
    """Return the one experiment: from one client to all of them, doubling."""
    count = choice.counts["client"]
    clients = sorted({min(2**power, count) for power in range(count.bit_length() + 1)})
    return (
        Step(
            name="Record size and clients",
            tool="iozone",
            roles={"client": "client"},
            fixed={"file_size": choice.text(FILE_SIZE)},
            factors={"record_size": choice.values["records"], "clients": ", ".join(map(str, clients))},
            repetitions=choice.values["repetitions"],
        ),
    )


RECIPE = Recipe(
    slug="storage-clients",
    name=_("Storage: record size and clients"),
    summary=_("Write and read rates of a file system by record size, from one client to all chosen at once."),
    parts=(CLIENTS,),
    parameters=(FILE_SIZE, RECORDS, REPETITIONS),
    steps=steps,
    needs_file_system=True,
)
