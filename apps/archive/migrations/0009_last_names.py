from django.db import migrations

# Who renames a thing without end would have all of its names kept, and every public page is written without all of
# them: of a thing or a person the latest 100 are. What is given up again is of the latest.
FUNCTIONS = """
CREATE OR REPLACE FUNCTION results_keep_name(
    team bigint, kind text, owner bigint, name text, family text DEFAULT ''
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO results_formername (team_id, kind, owner, name, family)
    SELECT one.id, $2, $3, left(btrim(coalesce($4, '')), 255), left(btrim(coalesce($5, '')), 150)
    FROM accounts_team one WHERE one.id = $1 AND btrim(concat($4, $5)) <> ''
    ON CONFLICT (team_id, kind, owner, name, family) DO UPDATE SET id = EXCLUDED.id;
    DELETE FROM results_formername WHERE id = ANY(ARRAY(
        SELECT id FROM results_formername WHERE id = ANY(ARRAY(
            SELECT id FROM results_formername
            WHERE team_id = $1 AND kind = $2 AND owner = $3 ORDER BY id DESC OFFSET 100
        )) FOR UPDATE SKIP LOCKED
    ));
$$;

DELETE FROM results_formername WHERE id = ANY(ARRAY(
    SELECT named.id FROM (
        SELECT id, row_number() OVER (PARTITION BY team_id, kind, owner ORDER BY id DESC) place
        FROM results_formername WHERE kind NOT IN ('host', 'interface', 'machine')
    ) named WHERE named.place > 100
));
"""


class Migration(migrations.Migration):
    dependencies = [("archive", "0008_bounded_names")]

    operations = [
        # The function before this left the same rows, and more of them.
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
    ]
