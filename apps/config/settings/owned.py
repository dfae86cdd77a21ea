"""How many rows of a kind an owner may have: the one table of it, which core.limits.owned reads.

Generous, for they hold off a flood and no user: what one account makes without end would be paid by all, in each
list, search and backup. Whatever is in no limit here is in UNLIMITED with the reason.
"""

from dataclasses import replace

from apps.config.settings.environment import Environment
from apps.core.limits.owned_limit import OwnedLimit

_USUAL = {
    "AGENTS_PER_TEAM": OwnedLimit("agents.Agent", "node__team", 10_000, {"retired_at": None}),
    "NODES_PER_TEAM": OwnedLimit("testbeds.Node", "team", 20_000),
    "LINKS_PER_TEAM": OwnedLimit("testbeds.Link", "team", 60_000),
    "SWITCHES_PER_TEAM": OwnedLimit("testbeds.Switch", "team", 20_000),
    "CLUSTERS_PER_TEAM": OwnedLimit("testbeds.Cluster", "team", 10_000),
    "SITES_PER_TEAM": OwnedLimit("testbeds.Site", "team", 5_000),
    "SITE_PAIRS_PER_TEAM": OwnedLimit("testbeds.SitePair", "team", 50_000),
    "TESTBEDS_PER_TEAM": OwnedLimit("testbeds.Testbed", "team", 5_000),
    "FILE_SYSTEMS_PER_TEAM": OwnedLimit("testbeds.FileSystem", "team", 5_000),
    "GRANTS_PER_NODE": OwnedLimit("testbeds.SettingGrant", "node", 1_000, {"revoked_at": None}),
    "DRAFTS_PER_TEAM": OwnedLimit("campaigns.Campaign", "team", 5_000, {"state": "draft"}),
    "CAMPAIGNS_PER_TEAM": OwnedLimit("campaigns.Campaign", "team", 100_000),
    "EXPERIMENTS_PER_CAMPAIGN": OwnedLimit("campaigns.Experiment", "campaign", 2_000),
    "NOTES_PER_CAMPAIGN": OwnedLimit("campaigns.Note", "campaign", 500),
    "TOOLS_PER_TEAM": OwnedLimit("toolbox.TeamTool", "team", 100),
    "VERSIONS_PER_TOOL": OwnedLimit("toolbox.ToolVersion", "tool", 100),
    "VIEWS_PER_TEAM": OwnedLimit("comparison.SavedView", "team", 10_000),
    "SEARCHES_PER_TEAM": OwnedLimit("archive.SavedSearch", "team", 10_000),
    "MAPPINGS_PER_TEAM": OwnedLimit("archive.ColumnMapping", "team", 2_000),
    "REPORTS_PER_TEAM": OwnedLimit("reports.Report", "team", 50_000),
    "EDITIONS_PER_REPORT": OwnedLimit("reports.Edition", "report", 10_000),
    "SCHEDULES_PER_TEAM": OwnedLimit("reports.Schedule", "team", 2_000),
    "MEMBERS_PER_TEAM": OwnedLimit("accounts.Membership", "team", 10_000),
    "TEAMS_PER_PERSON": OwnedLimit("accounts.Membership", "user", 1_000),
    "TOKENS_PER_PERSON": OwnedLimit("accounts.ApiToken", "user", 1_000, {"revoked_at": None}),
}


def from_environment(environment: Environment) -> dict[str, OwnedLimit]:
    """Return {the setting's name: the limit}."""
    return {name: replace(usual, most=environment.number(name, usual.most)) for name, usual in _USUAL.items()}


# Why these have none; each is made by the service itself, or by a door that has another bound.
UNLIMITED = {
    "a person is made by the administrator, and a team has at least a member, of whom TEAMS_PER_PERSON is asked": (
        "accounts.User",
        "accounts.Team",
    ),
    "those that are open are bounded, for reasons of their own (accounts.quotas, campaigns.services.offers)": (
        "accounts.Invitation",
        "campaigns.Share",
        "campaigns.SparedTeam",
    ),
    "how many may be asked for in a time is bounded (accounts.mail_quotas)": (
        "accounts.MailAddress",
        "accounts.MailConsent",
    ),
    "one for each kind, of a team, a thing, a team's name, a machine's start or an hour": (
        "accounts.TeamUsage",
        "accounts.MailUsage",
        "archive.RetentionRule",
        "core.WorkerTime",
        "core.ClockLead",
        "core.LastChange",
        "core.SetAside",
        "agents.LateHeartbeat",
        "agents.Listener",
    ),
    "how many may be made in a time is bounded (RATE_OF_ENROLMENTS)": ("agents.EnrolmentToken",),
    "how many are sent in a time is bounded (RATE_OF_UPLOADS), and what is stored of them (QUOTA_STORED_BYTES)": (
        "archive.Import",
        "archive.ImportItem",
        "archive.IncomingArchive",
    ),
    "comes whole, with what it is a part of, in one form or body, which has a length": (
        "testbeds.NodeAddress",
        "testbeds.Mount",
        "campaigns.ExperimentRole",
    ),
    "made by a launch or a measurement, which QUOTA_STORED_BYTES ends; a sweep has a most of points": (
        "campaigns.Lane",
        "campaigns.Trial",
        "campaigns.Run",
        "campaigns.Reservation",
        "agents.Job",
        "agents.JobOutput",
        "agents.JobFile",
        "results.Result",
        "results.Sample",
        "results.Series",
        "results.StageTiming",
        "results.Superseded",
        "agents.OwedRemoval",
    ),
    "told by an agent, of which a team has so many; how many facts in a time is bounded (RATE_OF_FACTS)": (
        "agents.AgentInstance",
        "agents.FactSnapshot",
    ),
    "written by the service of what there is, which is bounded": (
        "archive.KeptText",
        "archive.SearchEntry",
        "archive.SearchEnd",
        "archive.SearchValue",
        "archive.SearchMetric",
        "comparison.ChangePoint",
        "tuning.Analysis",
        "tuning.RuleFailure",
        "tuning.Finding",
        "reports.EditionSource",
        "campaigns.ForeignNames",
    ),
    "of each thing and person the latest hundred are kept, of what agents tell the latest too": (
        "archive.FormerName",
    ),
    "a verification is a campaign, of which a team has so many; each format of an edition is stored twice at most": (
        "tuning.Verification",
        "reports.Rendering",
    ),
    "a line of history: says who did what, one for each deed": (
        "campaigns.Event",
        "toolbox.ToolEvent",
        "tuning.Decision",
        "campaigns.Tombstone",
        "reports.Delivery",
    ),
}
