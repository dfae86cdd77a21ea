from django.db import migrations

# Agents tell names without number, and every public page is written without all of them: of what they tell a node has
# its latest 2,048 of each kind (`apps.agents.facts` keeps no more of one report), a team 32,768. What is told again is
# of the latest, so that no name in force goes before one that was. One statement keeps what a report says.
FUNCTIONS = """
CREATE OR REPLACE FUNCTION results_keep_name(
    team bigint, kind text, owner bigint, name text, family text DEFAULT ''
) RETURNS void LANGUAGE sql AS $$
    INSERT INTO results_formername (team_id, kind, owner, name, family)
    SELECT one.id, $2, $3, left(btrim(coalesce($4, '')), 255), left(btrim(coalesce($5, '')), 150)
    FROM accounts_team one WHERE one.id = $1 AND btrim(concat($4, $5)) <> ''
    ON CONFLICT DO NOTHING
$$;

-- Rows that another transaction forgets at this moment are left to it. Arrays: an index is looked at in any plan.
CREATE OR REPLACE FUNCTION results_forget_told(team bigint, node bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM results_formername WHERE id = ANY(ARRAY(
        SELECT id FROM results_formername WHERE id = ANY(ARRAY(
            SELECT told.id FROM (
                SELECT id, row_number() OVER (PARTITION BY kind ORDER BY id DESC) place FROM results_formername
                WHERE team_id = $1 AND owner = $2 AND kind IN ('host', 'interface', 'machine')
            ) told WHERE told.place > 2048
        )) FOR UPDATE SKIP LOCKED
    ));
    DELETE FROM results_formername WHERE id = ANY(ARRAY(
        SELECT id FROM results_formername WHERE id = ANY(ARRAY(
            SELECT id FROM results_formername
            WHERE team_id = $1 AND kind IN ('host', 'interface', 'machine') ORDER BY id DESC OFFSET 32768
        )) FOR UPDATE SKIP LOCKED
    ));
$$;

CREATE OR REPLACE FUNCTION results_keep_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO results_formername (team_id, kind, owner, name, family)
    SELECT DISTINCT node.team_id, said.kind, node.id, left(btrim(said.name), 255), ''
    FROM came JOIN testbeds_node node ON node.id = came.node_id, LATERAL results_names_in_facts(came.facts) said
    WHERE btrim(said.name) <> ''
    ORDER BY 1, 2, 3, 4
    ON CONFLICT (team_id, kind, owner, name, family) DO UPDATE SET id = EXCLUDED.id;
    PERFORM results_forget_told(node.team_id, node.id)
    FROM (SELECT DISTINCT node_id FROM came) one JOIN testbeds_node node ON node.id = one.node_id;
    RETURN NULL;
END $$;

-- At each sign of life of an agent: it looks for what is too much only where a name is new.
CREATE OR REPLACE FUNCTION results_keep_instances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO results_formername (team_id, kind, owner, name, family)
    SELECT DISTINCT node.team_id, said.kind, node.id, left(btrim(said.name), 255), ''
    FROM came JOIN agents_agent agent ON agent.id = came.agent_id JOIN testbeds_node node ON node.id = agent.node_id,
    LATERAL (VALUES ('host', came.host), ('interface', came.address)) said (kind, name)
    WHERE btrim(said.name) <> ''
    ORDER BY 1, 2, 3, 4
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM results_forget_told(node.team_id, node.id)
        FROM (SELECT DISTINCT agent_id FROM came) one JOIN agents_agent agent ON agent.id = one.agent_id
        JOIN testbeds_node node ON node.id = agent.node_id;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION results_keep_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM results_keep_name(OLD.team_id, 'address', OLD.id, address)
    FROM testbeds_nodeaddress WHERE node_id = OLD.id;
    IF TG_OP = 'UPDATE' THEN
        INSERT INTO results_formername (team_id, kind, owner, name, family)
        SELECT NEW.team_id, kind, owner, name, family FROM results_formername
        WHERE team_id = OLD.team_id AND owner = OLD.id AND kind IN ('host', 'address', 'interface', 'machine')
        ORDER BY id
        ON CONFLICT DO NOTHING;
        PERFORM results_forget_told(NEW.team_id, NEW.id);
    END IF;
    RETURN NULL;
END $$;

SELECT results_forget_told(told.team_id, told.owner) FROM (
    SELECT DISTINCT team_id, owner FROM results_formername WHERE kind IN ('host', 'interface', 'machine')
) told;
"""


class Migration(migrations.Migration):
    dependencies = [("archive", "0007_kept_texts")]

    operations = [
        # The functions before these left the same rows, and more of them.
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
    ]
