from django.db import migrations

# Triggers, and no services: a name goes in many ways (forms, REST, administrators' pages, updates of many rows,
# cascades, SQL by hand), and one that is forgotten can be read by strangers. The database sees all of them, and
# keeps the name in the same transaction.
FUNCTIONS = """
CREATE FUNCTION results_keep_name(team bigint, kind text, owner bigint, name text, family text DEFAULT '')
RETURNS void LANGUAGE sql AS $$
    -- No host's name and no name of a column here is longer.
    INSERT INTO results_formername (team_id, kind, owner, name, family)
    SELECT one.id, $2, $3, btrim(coalesce($4, '')), btrim(coalesce($5, '')) FROM accounts_team one
    WHERE one.id = $1 AND btrim(concat($4, $5)) <> '' AND length(btrim(coalesce($4, ''))) <= 255
    ON CONFLICT DO NOTHING
$$;

-- Arguments: kind and column, kind and column.
CREATE FUNCTION results_keep_names() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    before jsonb := to_jsonb(OLD);
    after jsonb;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        after := to_jsonb(NEW);
    END IF;
    FOR place IN 0 .. TG_NARGS - 2 BY 2 LOOP
        IF after IS NULL OR before -> 'team_id' <> after -> 'team_id'
        OR before -> TG_ARGV[place + 1] <> after -> TG_ARGV[place + 1] THEN
            PERFORM results_keep_name(OLD.team_id, TG_ARGV[place], OLD.id, before ->> TG_ARGV[place + 1]);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;

CREATE FUNCTION results_keep_address() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF OLD.address = NEW.address AND OLD.node_id = NEW.node_id THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM results_keep_name(team_id, 'address', id, OLD.address) FROM testbeds_node WHERE id = OLD.node_id;
    RETURN NULL;
END $$;

-- A node that goes before its addresses do, or to another team with them.
CREATE FUNCTION results_keep_addresses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM results_keep_name(OLD.team_id, 'address', OLD.id, address)
    FROM testbeds_nodeaddress WHERE node_id = OLD.id;
    IF TG_OP = 'UPDATE' THEN
        PERFORM results_keep_name(NEW.team_id, kind, owner, name) FROM results_formername
        WHERE team_id = OLD.team_id AND owner = OLD.id AND kind IN ('host', 'address', 'interface', 'machine');
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION results_names_in_facts(facts jsonb) RETURNS TABLE (kind text, name text) LANGUAGE sql IMMUTABLE AS $$
    SELECT 'host', facts ->> 'hostname'
    UNION
    SELECT 'machine', one #>> '{}' FROM jsonb_path_query(facts, '$.interfaces[*].mac') one
    UNION
    SELECT 'interface', split_part(one #>> '{}', '/', 1)
    FROM jsonb_path_query(facts, '$.interfaces[*].addresses[*]') one
$$;

-- Snapshots are kept for ever, and never change: what each new one says is kept at once, so that nobody reads them all.
CREATE FUNCTION results_keep_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM results_keep_name(node.team_id, said.kind, node.id, said.name)
    FROM came JOIN testbeds_node node ON node.id = came.node_id, LATERAL results_names_in_facts(came.facts) said;
    RETURN NULL;
END $$;

CREATE FUNCTION results_keep_instances() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM results_keep_name(node.team_id, said.kind, node.id, said.name)
    FROM came JOIN agents_agent agent ON agent.id = came.agent_id JOIN testbeds_node node ON node.id = agent.node_id,
    LATERAL (VALUES ('host', came.host), ('interface', came.address)) said (kind, name);
    RETURN NULL;
END $$;

CREATE FUNCTION results_keep_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        IF (OLD.username, OLD.first_name, OLD.last_name) = (NEW.username, NEW.first_name, NEW.last_name) THEN
            RETURN NULL;
        END IF;
    END IF;
    PERFORM results_keep_name(team_id, 'user', id, OLD.username),
        results_keep_name(team_id, 'person', id, OLD.first_name, OLD.last_name)
    FROM accounts_membership WHERE user_id = OLD.id;
    RETURN NULL;
END $$;

CREATE FUNCTION results_keep_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM results_keep_name(OLD.team_id, 'user', OLD.id, username),
        results_keep_name(OLD.team_id, 'person', OLD.id, first_name, last_name)
    FROM accounts_user WHERE id = OLD.user_id;
    RETURN NULL;
END $$;

-- What its members' going has kept goes with the team itself: nothing of it is left to be hidden.
CREATE FUNCTION results_forget_names() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM results_formername WHERE team_id = OLD.id;
    RETURN NULL;
END $$;
"""
NAMED = {
    "testbeds_node": "'node', 'name'",
    "testbeds_cluster": "'cluster', 'name'",
    "testbeds_filesystem": "'file-system', 'name'",
    "testbeds_testbed": "'testbed', 'name', 'place', 'location'",
    "testbeds_site": "'site', 'name', 'place', 'place'",
    "testbeds_switch": "'switch', 'name'",
    "testbeds_link": "'link', 'name'",
}
# By their names, each with its table, its moment and what it does. Few name columns: one that a trigger names cannot
# be altered.
TRIGGERS = {
    **{
        f"{table}_former": (table, "UPDATE OR DELETE", f"results_keep_names({names})")
        for table, names in NAMED.items()
    },
    "testbeds_node_gone": ("testbeds_node", "UPDATE OF team_id OR DELETE", "results_keep_addresses()"),
    "testbeds_nodeaddress_former": ("testbeds_nodeaddress", "UPDATE OR DELETE", "results_keep_address()"),
    "agents_factsnapshot_names": ("agents_factsnapshot", "INSERT", "results_keep_facts()"),
    "agents_agentinstance_names": ("agents_agentinstance", "INSERT", "results_keep_instances()"),
    "agents_agentinstance_others": ("agents_agentinstance", "UPDATE", "results_keep_instances()"),
    "accounts_user_former": ("accounts_user", "UPDATE OR DELETE", "results_keep_person()"),
    "accounts_membership_former": (
        "accounts_membership",
        "UPDATE OF team_id, user_id OR DELETE",
        "results_keep_member()",
    ),
    "accounts_team_gone": ("accounts_team", "DELETE", "results_forget_names()"),
}
# What agents send is looked at a statement at a time, as it comes in.
ROWS = {
    "results_keep_facts()": "REFERENCING NEW TABLE AS came FOR EACH STATEMENT",
    "results_keep_instances()": "REFERENCING NEW TABLE AS came FOR EACH STATEMENT",
}
CREATE = FUNCTIONS + "".join(
    f"CREATE TRIGGER {name} AFTER {moment} ON {table} {ROWS.get(work, 'FOR EACH ROW')} EXECUTE FUNCTION {work};\n"
    for name, (table, moment, work) in TRIGGERS.items()
)
DROP = (
    "".join(f"DROP TRIGGER {name} ON {table};\n" for name, (table, _moment, _work) in TRIGGERS.items())
    + """
DROP FUNCTION results_keep_names(), results_keep_address(), results_keep_addresses(), results_keep_facts(),
results_keep_instances(), results_keep_person(), results_keep_member(), results_forget_names();
DROP FUNCTION results_names_in_facts(jsonb);
DROP FUNCTION results_keep_name(bigint, text, bigint, text, text);
"""
)


class Migration(migrations.Migration):
    replaces = [("archive", "0003_campaigns_of_imports")]
    dependencies = [("accounts", "0001_tables"), ("agents", "0001_tables"), ("archive", "0001_tables"), ("testbeds", "0001_tables")]

    operations = [
        migrations.RunSQL(CREATE, DROP),
    ]
