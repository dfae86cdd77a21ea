"""What was concluded of a campaign and by whom, in one digest: what comes back is held against it.

Rows are told by their places and names, as `apps.results.digests` has it.
"""

from django.db import connection

from apps.campaigns.models import Campaign

CONCLUSIONS = "conclusions"
_DIGEST = """
WITH named AS (
    SELECT f.id, concat_ws('/', f.rule, e.position, f.details ->> 'subject', (SELECT string_agg(
        format('%%s=%%s', x.value ->> 0, n.name), ',' ORDER BY x.place) FROM jsonb_array_elements(f.ends)
        WITH ORDINALITY x (value, place) JOIN testbeds_node n ON n.id = (x.value ->> 1)::bigint)) AS place,
        jsonb_build_array(f.rule_version, f.kind, f.state, f.state_reason, f.title, f.value, f.unit, f.change, f.undo,
            f.predicted_gain, f.confidence)::text AS line
    FROM tuning_finding f LEFT JOIN campaigns_experiment e ON e.id = f.experiment_id
    WHERE f.campaign_id = %(campaign)s
), lines AS (
    SELECT place, line FROM named
    UNION ALL
    SELECT format('%%s decision %%s', named.place, extract(epoch FROM d.created_at)),
        jsonb_build_array(d.earlier, d.state, d.reason, d.note, u.username, d.told_by)::text
    FROM tuning_decision d JOIN named ON named.id = d.finding_id LEFT JOIN accounts_user u ON u.id = d.user_id
    UNION ALL
    SELECT format('%%s verification %%s', named.place, extract(epoch FROM v.created_at)),
        jsonb_build_array(v.proof, v.unit, v.verdict, v.predicted, v.present, v.realised, v.gain, v.gain_low,
            v.gain_high, v.pairs, extract(epoch FROM v.judged_at), u.username, v.told_by, v.of_campaign)::text
    FROM tuning_verification v JOIN named ON named.id = v.finding_id
    LEFT JOIN accounts_user u ON u.id = v.requested_by_id
)
SELECT encode(sha256(coalesce(string_agg(sha256(convert_to(place || ' ' || line, 'UTF8')), ''::bytea
    ORDER BY place COLLATE "C", line COLLATE "C"), ''::bytea)), 'hex') FROM lines
"""


def conclusions_digest(campaign: Campaign) -> dict[str, str]:
    """Return {CONCLUSIONS: SHA-256 in hexadecimal} of a campaign's findings, decisions and verifications."""
    with connection.cursor() as cursor:
        cursor.execute(_DIGEST, {"campaign": campaign.pk})
        return {CONCLUSIONS: cursor.fetchone()[0]}
