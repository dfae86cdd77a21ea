from django.db import migrations

# Who makes and deletes things without end would have all of their names kept, and every public page is written without
# all of them: of what people name a team has the latest 16,384. That is looked at once in 256 names, for it takes all
# of them to be read.
FUNCTIONS = """
CREATE OR REPLACE FUNCTION results_forget_named(team bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM results_formername WHERE id = ANY(ARRAY(
        SELECT id FROM results_formername WHERE id = ANY(ARRAY(
            SELECT id FROM results_formername
            WHERE team_id = $1 AND kind NOT IN ('host', 'interface', 'machine') ORDER BY id DESC OFFSET 16384
        )) FOR UPDATE SKIP LOCKED
    ));
$$;

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
    SELECT results_forget_named($1) WHERE 0 = (
        SELECT max(id) % 256 FROM results_formername WHERE team_id = $1 AND kind = $2 AND owner = $3
    );
$$;

SELECT results_forget_named(id) FROM accounts_team;
"""


class Migration(migrations.Migration):
    dependencies = [("archive", "0009_last_names")]

    operations = [
        # The function before this left the same rows, and more of them.
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
    ]
