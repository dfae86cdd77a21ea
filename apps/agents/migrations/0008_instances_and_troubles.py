import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("agents", "0007_bounded_texts"),
        ("testbeds", "0002_limits_and_setting_grants"),
    ]

    operations = [
        migrations.CreateModel(
            name="AgentInstance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("updated_at", models.DateTimeField(auto_now=True, verbose_name="changed")),
                ("key", models.UUIDField(editable=False)),
                ("machine", models.CharField(blank=True, max_length=64)),
                ("boot", models.CharField(blank=True, max_length=64)),
                ("folder", models.CharField(blank=True, max_length=64)),
                ("host", models.CharField(blank=True, max_length=253, verbose_name="host")),
                ("address", models.CharField(blank=True, max_length=64, verbose_name="address")),
                ("version", models.CharField(blank=True, max_length=32, verbose_name="version")),
                ("admitted_at", models.DateTimeField(blank=True, null=True)),
                ("replaced_at", models.DateTimeField(blank=True, null=True)),
                ("left_at", models.DateTimeField(blank=True, null=True)),
                ("refused_at", models.DateTimeField(blank=True, null=True)),
                ("refused_last_at", models.DateTimeField(blank=True, null=True)),
                ("refused_reports", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["-created_at"],
            },
        ),
        migrations.AddField(
            model_name="agent",
            name="set_aside_at",
            field=models.DateTimeField(blank=True, null=True, verbose_name="set aside"),
        ),
        migrations.AddField(
            model_name="agent",
            name="troubles",
            field=models.JSONField(blank=True, default=list, verbose_name="troubles"),
        ),
        migrations.AddField(
            model_name="job",
            name="instance",
            field=models.UUIDField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="may_run_until",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="presumed_ended_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="job",
            name="taken_at_poll",
            field=models.BigIntegerField(db_default=0, default=0, editable=False),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("may_run_until__isnull", False)),
                fields=["node", "may_run_until"],
                name="leftovers_by_node",
            ),
        ),
        migrations.AddField(
            model_name="agentinstance",
            name="agent",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="instances", to="agents.agent"
            ),
        ),
        migrations.AddField(
            model_name="agent",
            name="instance",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="agents.agentinstance",
            ),
        ),
        migrations.AddConstraint(
            model_name="agentinstance",
            constraint=models.UniqueConstraint(fields=("agent", "key"), name="one_row_per_instance"),
        ),
    ]
