import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("agents", "0001_initial"),
        ("agents", "0002_listener"),
        ("agents", "0003_collected_files_and_telemetry"),
        ("agents", "0004_what_happened_never_changes"),
        ("agents", "0005_what_was_printed_stays"),
        ("agents", "0006_jobs_by_age"),
        ("agents", "0007_bounded_texts"),
        ("agents", "0008_instances_and_troubles"),
        ("agents", "0009_reports_on_their_way"),
        ("agents", "0010_longer_ready_patterns"),
        ("agents", "0011_people_may_be_gone"),
    ]

    dependencies = [
        ('testbeds', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Job',
            fields=[
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('run_ref', models.BigIntegerField(blank=True, db_index=True, null=True)),
                ('role', models.CharField(max_length=32, verbose_name='role')),
                ('stage', models.PositiveSmallIntegerField(default=0, verbose_name='stage')),
                ('argv', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=4096), size=None, verbose_name='command')),
                ('background', models.BooleanField(default=False)),
                ('ready_pattern', models.CharField(blank=True, max_length=1000)),
                ('optional', models.BooleanField(default=False)),
                ('files', models.JSONField(blank=True, default=list)),
                ('collect', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=100), blank=True, default=list, size=None)),
                ('environment', models.JSONField(blank=True, default=list)),
                ('time_limit_s', models.FloatField()),
                ('output_limit_bytes', models.PositiveBigIntegerField(default=16777216)),
                ('start_at', models.DateTimeField(blank=True, null=True)),
                ('state', models.CharField(choices=[('queued', 'queued'), ('delivered', 'delivered'), ('running', 'running'), ('ready', 'ready'), ('ended', 'ended'), ('lost', 'lost')], default='queued', max_length=10, verbose_name='state')),
                ('delivered_at', models.DateTimeField(blank=True, null=True)),
                ('stop_requested_at', models.DateTimeField(blank=True, null=True)),
                ('started_at', models.DateTimeField(blank=True, null=True, verbose_name='started')),
                ('ready_at', models.DateTimeField(blank=True, null=True)),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended')),
                ('exit_code', models.IntegerField(blank=True, null=True, verbose_name='exit status')),
                ('signal', models.IntegerField(blank=True, null=True, verbose_name='signal')),
                ('timed_out', models.BooleanField(default=False, verbose_name='timed out')),
                ('fault', models.CharField(blank=True, max_length=32, verbose_name='fault')),
                ('fault_detail', models.TextField(blank=True, max_length=4000)),
                ('clock_offset_s', models.FloatField(blank=True, null=True, verbose_name='clock offset')),
                ('clock_error_s', models.FloatField(blank=True, null=True)),
                ('instance', models.UUIDField(blank=True, editable=False, null=True)),
                ('taken_at_poll', models.BigIntegerField(db_default=0, default=0, editable=False)),
                ('may_run_until', models.DateTimeField(blank=True, editable=False, null=True)),
                ('presumed_ended_at', models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                'verbose_name': 'job',
                'verbose_name_plural': 'jobs',
                'ordering': ['stage', 'created_at'],
            },
        ),
        migrations.CreateModel(
            name='Listener',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('listening_since', models.DateTimeField()),
                ('heard_until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Agent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('prefix', models.CharField(max_length=16, unique=True)),
                ('digest', models.CharField(max_length=64)),
                ('version', models.CharField(blank=True, max_length=32, verbose_name='version')),
                ('last_seen_at', models.DateTimeField(blank=True, null=True, verbose_name='last seen')),
                ('retired_at', models.DateTimeField(blank=True, null=True, verbose_name='retired')),
                ('clock_offset_s', models.FloatField(blank=True, null=True, verbose_name='clock offset')),
                ('clock_error_s', models.FloatField(blank=True, null=True, verbose_name='uncertainty of the clock offset')),
                ('unsent_since', models.DateTimeField(blank=True, null=True, verbose_name='oldest unsent report')),
                ('troubles', models.JSONField(blank=True, default=list, verbose_name='troubles')),
                ('set_aside_at', models.DateTimeField(blank=True, null=True, verbose_name='set aside')),
                ('node', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='agent', to='testbeds.node', verbose_name='node')),
            ],
            options={
                'verbose_name': 'agent',
                'verbose_name_plural': 'agents',
                'ordering': ['node__name'],
            },
        ),
        migrations.CreateModel(
            name='AgentInstance',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('key', models.UUIDField(editable=False)),
                ('machine', models.CharField(blank=True, max_length=64)),
                ('boot', models.CharField(blank=True, max_length=64)),
                ('folder', models.CharField(blank=True, max_length=64)),
                ('host', models.CharField(blank=True, max_length=253, verbose_name='host')),
                ('address', models.CharField(blank=True, max_length=64, verbose_name='address')),
                ('version', models.CharField(blank=True, max_length=32, verbose_name='version')),
                ('admitted_at', models.DateTimeField(blank=True, null=True)),
                ('replaced_at', models.DateTimeField(blank=True, null=True)),
                ('left_at', models.DateTimeField(blank=True, null=True)),
                ('refused_at', models.DateTimeField(blank=True, null=True)),
                ('refused_last_at', models.DateTimeField(blank=True, null=True)),
                ('refused_reports', models.PositiveIntegerField(default=0)),
                ('agent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='instances', to='agents.agent')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.AddField(
            model_name='agent',
            name='instance',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agents.agentinstance'),
        ),
        migrations.CreateModel(
            name='EnrolmentToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('prefix', models.CharField(max_length=16, unique=True)),
                ('digest', models.CharField(max_length=64)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='enrolment_tokens', to='testbeds.node')),
            ],
            options={
                'ordering': ['-created_at'],
            },
        ),
        migrations.CreateModel(
            name='FactSnapshot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('digest', models.CharField(max_length=64)),
                ('facts', models.JSONField()),
                ('archive_ref', models.CharField(blank=True, db_default='', default='', editable=False, max_length=20)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='fact_snapshots', to='testbeds.node')),
            ],
            options={
                'ordering': ['-created_at'],
                'get_latest_by': 'created_at',
            },
        ),
        migrations.AddField(
            model_name='agent',
            name='facts',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='agents.factsnapshot'),
        ),
        migrations.CreateModel(
            name='JobOutput',
            fields=[
                ('job', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='output', serialize=False, to='agents.job')),
                ('stdout_z', models.BinaryField()),
                ('stderr_z', models.BinaryField()),
                ('stdout_bytes', models.PositiveBigIntegerField(default=0)),
                ('stderr_bytes', models.PositiveBigIntegerField(default=0)),
                ('truncated', models.BooleanField(default=False)),
                ('cut_on_way', models.BooleanField(db_default=False, default=False)),
                ('telemetry_z', models.BinaryField(default=bytes)),
            ],
        ),
        migrations.AddField(
            model_name='job',
            name='facts',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='jobs', to='agents.factsnapshot'),
        ),
        migrations.AddField(
            model_name='job',
            name='node',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='jobs', to='testbeds.node', verbose_name='node'),
        ),
        migrations.CreateModel(
            name='JobFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('content_z', models.BinaryField()),
                ('size', models.PositiveBigIntegerField()),
                ('truncated', models.BooleanField(default=False)),
                ('cut_on_way', models.BooleanField(db_default=False, default=False)),
                ('job', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='collected', to='agents.job')),
            ],
            options={
                'verbose_name': 'collected file',
                'verbose_name_plural': 'collected files',
                'ordering': ['name'],
            },
        ),
        migrations.AddConstraint(
            model_name='agentinstance',
            constraint=models.UniqueConstraint(fields=('agent', 'key'), name='one_row_per_instance'),
        ),
        migrations.AddIndex(
            model_name='factsnapshot',
            index=models.Index(fields=['node', '-created_at'], name='agents_fact_node_id_9c0299_idx'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['-created_at', 'id'], include=('node',), name='jobs_by_age'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['started_at', 'id'], include=('node',), name='jobs_by_start'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(fields=['node', '-created_at', 'id'], name='jobs_of_node_by_age'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('state__in', ['queued', 'delivered', 'running', 'ready'])), fields=['node'], name='open_jobs_by_node'),
        ),
        migrations.AddIndex(
            model_name='job',
            index=models.Index(condition=models.Q(('may_run_until__isnull', False)), fields=['node', 'may_run_until'], name='leftovers_by_node'),
        ),
        migrations.AddConstraint(
            model_name='jobfile',
            constraint=models.UniqueConstraint(fields=('job', 'name'), name='one_file_of_a_name_per_job'),
        ),
    ]
