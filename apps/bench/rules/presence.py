"""Which setting is there at present: one that nobody chose, or a fact of the nodes. Others were only tried.

A gain is over what there is. Where that is not known a finding says what was measured between settings tried, and
recommends nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from apps.bench.rules.base import DIAGNOSIS, RECOMMENDATION, Evidence, FindingDraft, Proof
from apps.bench.sweep import setting_names

# What a program does where nobody chooses, by tool. Of a record size, a number of clients, a placement or a file
# system there is no such thing: an application has its own, which no benchmark knows.
SOCKETS: Mapping[str, Any] = {"window": 0, "streams": 1, "congestion": "", "mss": 0, "pace": 0}
TRANSFERS: Mapping[str, Any] = {
    "streams": 1,
    "window": 0,
    "concurrency": 1,
    "pipelining": False,
    "data_nodes": 1,
    "block_size": 0,
}
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "iperf2": SOCKETS,
    "iperf3-tcp": SOCKETS,
    "gridftp": TRANSFERS,
    "gridftp-third-party": TRANSFERS,
}
CONGESTION = "net.ipv4.tcp_congestion_control"


def settle(draft: FindingDraft, evidence: Evidence) -> FindingDraft:
    """Return a finding as what is known of the present setting lets it stand.

    One that compares settings of which none is known to be there becomes a diagnosis: what was its present figure is
    that of the other setting tried, it has a title that says no more, and there is nothing to take back.
    """
    if draft.is_comparison or draft.proof is None or _stands(draft, draft.proof, evidence):
        return replace(draft, compared_title=None) if draft.compared_title else draft
    return replace(
        draft,
        kind=DIAGNOSIS if draft.kind == RECOMMENDATION else draft.kind,
        title=draft.compared_title or draft.title,
        compared_title=None,
        is_comparison=True,
        present=None,
        tried=draft.present,
        undo="",
    )


def _stands(draft: FindingDraft, proof: Proof, evidence: Evidence) -> bool:
    if draft.kind != RECOMMENDATION and draft.present is None:
        return True
    if not is_present(proof, evidence):
        return False
    # A default that nobody measured is no present figure; a setting of the nodes is read off them.
    return draft.present is not None or draft.kind != RECOMMENDATION or not _differing_names(proof)


def is_present(proof: Proof, evidence: Evidence) -> bool:
    """Return whether the setting `now` of a proof is there where nobody chooses, or is told by the nodes."""
    names, usual = _differing_names(proof), DEFAULTS.get(proof.tool, {})
    if any(name not in usual for name in names):
        return False
    if not names - {"congestion"}:
        return not names or _is_own_control(proof.now.get("congestion"), evidence)
    options = {name: value for name, value in proof.now.items() if name in usual and name != "congestion"}
    is_usual = all(_is_usual(value, usual[name]) for name, value in options.items())
    return is_usual and _is_own_control(proof.now.get("congestion"), evidence)


def own_control(evidence: Evidence) -> str:
    """Return the congestion control that the sender's kernel uses by itself, "" where it did not tell."""
    sysctls = evidence.facts.get(evidence.sender, {}).get("sysctls")
    return str(sysctls.get(CONGESTION) or "") if isinstance(sysctls, Mapping) else ""


def _differing_names(proof: Proof) -> set[str]:
    """Return the parameters of the tool in which the two settings differ."""
    names = {*proof.now, *proof.then}
    return {
        name for name in names if not setting_names.is_setting(name) and proof.now.get(name) != proof.then.get(name)
    }


def _is_usual(value: Any, usual: Any) -> bool:
    return value == usual or (not usual and not value)


def _is_own_control(control: Any, evidence: Evidence) -> bool:
    """Return whether a congestion control is the sender's own: none was asked for, or its kernel tells this one."""
    return not control or control == own_control(evidence)
