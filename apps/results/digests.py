"""What a campaign measured, in a few digests: what comes back under its permanent id is held against them.

Rows are told by their places and names, and not by their numbers, which are others when a campaign comes back.
"""

from django.db import connection

from apps.campaigns.models import Campaign
from apps.results.record_digests import OUTPUT, SERIES, record_digests_of

# Lines of a campaign by what they are of, each with what sorts it.
_LINES = {
    "experiments": """
        SELECT e.position::text AS place, jsonb_build_array(e.name, e.tool, e.fixed, e.factors, e.zips,
            e.exclusions, e.repetitions, e.warmups, f.name, c.origin, c.publication,
            extract(epoch FROM c.launched_at), extract(epoch FROM c.finished_at))::text AS line
        FROM campaigns_experiment e JOIN campaigns_campaign c ON c.id = e.campaign_id
        LEFT JOIN testbeds_filesystem f ON f.id = e.file_system_id WHERE e.campaign_id = %(campaign)s""",
    "trials": """
        SELECT format('%%s/%%s', e.position, t.position) AS place,
            jsonb_build_array(t.point, t.repetition, t.is_warmup, t.parameters, t.state,
            extract(epoch FROM t.finished_at), extract(epoch FROM t.invalid_at), t.invalid_reason, l.nodes)::text
            AS line
        FROM campaigns_trial t JOIN campaigns_experiment e ON e.id = t.experiment_id
        JOIN (SELECT w.id, (SELECT jsonb_agg(jsonb_build_array(r.key, (SELECT jsonb_agg(n.name ORDER BY x.place)
                FROM jsonb_array_elements_text(r.value) WITH ORDINALITY x (pk, place)
                JOIN testbeds_node n ON n.id = x.pk::bigint)) ORDER BY r.key) FROM jsonb_each(w.roles) r) AS nodes
            FROM campaigns_lane w JOIN campaigns_experiment v ON v.id = w.experiment_id
            WHERE v.campaign_id = %(campaign)s) l ON l.id = t.lane_id
        WHERE t.campaign_id = %(campaign)s""",
    "results": """
        SELECT format('%%s/%%s/%%s', e.position, t.position, u.attempt) AS place, jsonb_build_array(
            r.tool, r.tool_version, r.requested, r.granted, r.flags, r.edition,
            extract(epoch FROM r.recorded_at), s.samples)::text AS line
        FROM results_result r JOIN campaigns_trial t ON t.id = r.trial_id
        JOIN campaigns_experiment e ON e.id = t.experiment_id JOIN campaigns_run u ON u.id = r.run_id
        LEFT JOIN (SELECT result_id, jsonb_object_agg(metric, value) AS samples FROM results_sample
            WHERE experiment_id IN (SELECT id FROM campaigns_experiment WHERE campaign_id = %(campaign)s)
            GROUP BY result_id) s ON s.result_id = r.id
        WHERE t.campaign_id = %(campaign)s""",
    # What people and the service wrote of it, and who marked and made what.
    "words": """
        SELECT format('note %%s', extract(epoch FROM n.created_at)) AS place,
            jsonb_build_array(n.text, u.username)::text AS line
        FROM campaigns_note n LEFT JOIN accounts_user u ON u.id = n.created_by_id WHERE n.campaign_id = %(campaign)s
        UNION ALL
        SELECT format('event %%s', extract(epoch FROM v.at)), jsonb_build_array(v.level, v.message)::text
        FROM campaigns_event v WHERE v.campaign_id = %(campaign)s
        UNION ALL
        SELECT format('mark %%s/%%s', e.position, t.position), jsonb_build_array(u.username)::text
        FROM campaigns_trial t JOIN campaigns_experiment e ON e.id = t.experiment_id
        JOIN accounts_user u ON u.id = t.invalid_by_id WHERE t.campaign_id = %(campaign)s
        UNION ALL
        SELECT 'campaign', jsonb_build_array(c.name, c.goal, c.tags, u.username)::text
        FROM campaigns_campaign c LEFT JOIN accounts_user u ON u.id = c.created_by_id WHERE c.id = %(campaign)s""",
}
# In the order in which a reader is told of what differs.
MEASURED = ("experiments", "trials", "results", SERIES, OUTPUT)
WORDS = "words"
_DIGEST = """
SELECT encode(sha256(coalesce(string_agg(sha256(convert_to(place || ' ' || line, 'UTF8')), ''::bytea
    ORDER BY place COLLATE "C", line COLLATE "C"), ''::bytea)), 'hex') FROM ({lines}) rows
"""


def digests_of(campaign: Campaign) -> dict[str, str]:
    """Return {part: SHA-256 in hexadecimal} of a campaign as it stands in the database: MEASURED and WORDS."""
    digests: dict[str, str] = {}
    with connection.cursor() as cursor:
        for part, lines in _LINES.items():
            cursor.execute(_DIGEST.format(lines=lines), {"campaign": campaign.pk})
            digests[part] = cursor.fetchone()[0]
    return digests | record_digests_of(campaign)
