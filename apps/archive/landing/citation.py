"""How a campaign is cited."""

import re
from dataclasses import dataclass

from apps.archive.landing.redaction import Names
from apps.campaigns import brought_in
from apps.campaigns.brought_in import BroughtIn
from apps.campaigns.models import Campaign

# What LaTeX reads as anything but itself.
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_"},
}
_SPECIALS = re.compile("[" + re.escape("".join(_SPECIAL)) + "]")


@dataclass(frozen=True)
class Citation:
    """A campaign's reference as plain text and for BibTeX, in English whatever the reader's language."""

    plain: str
    bibtex: str


def cite(campaign: Campaign, names: Names, address: str) -> Citation:
    """Return how to cite the campaign that is found at `address`."""
    arrival = brought_in.read(campaign.brought_in, is_hidden=names.hidden)
    # Who brought in what only an archive tells of made none of it, and whom the archive names did not say so.
    is_told = arrival is not None and not arrival.is_known
    person = None if is_told else campaign.created_by
    maker = person.get_full_name() or person.get_username() if person else ""
    title, team = names.text(campaign.name), campaign.team.name
    year = str((campaign.launched_at or campaign.created_at).year)
    note = f"Fathom campaign {campaign.permanent_id}"
    if campaign.is_published:
        note += ", figures read from a publication"
    elif campaign.is_told:
        note += ", measured as an archive says"
    if arrival is not None and is_told:
        note += f", {_arrival(arrival)}"
    author = f"{maker}, {team}" if maker else team
    licence = f" Licence: {campaign.licence}." if campaign.licence else ""
    # Two authors: the braces keep a team's name from being taken apart.
    authors = " and ".join(f"{{{_latex(name)}}}" for name in (maker, team) if name)
    fields = {
        "author": authors,
        "title": f"{{{_latex(title)}}}",
        "year": year,
        "howpublished": f"\\url{{{address}}}",
        "note": _latex(note + (f", {campaign.licence}" if campaign.licence else "")),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return Citation(
        plain=f"{author} ({year}). {title}. {note}. {address}.{licence}",
        bibtex="\n".join([f"@misc{{fathom-{campaign.permanent_id},", *lines, "}"]),
    )


def _arrival(arrival: BroughtIn) -> str:
    by = f" by {arrival.by}" if arrival.by else ""
    at = f" on {arrival.at:%Y-%m-%d}" if arrival.at else ""
    former_id = f", which calls it {arrival.permanent_id}" if arrival.permanent_id else ""
    return f"brought in{by}{at} from an archive{former_id}"


def _latex(text: str) -> str:
    return _SPECIALS.sub(lambda match: _SPECIAL[match.group()], " ".join(text.split()))
