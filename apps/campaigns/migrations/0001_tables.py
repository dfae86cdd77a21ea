import apps.campaigns.permanent_ids
import apps.core.models
import apps.core.names
import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("campaigns", "0001_initial"),
        ("campaigns", "0002_analysis_and_estimates"),
        ("campaigns", "0003_stages_and_file_systems"),
        ("campaigns", "0004_adaptation"),
        ("campaigns", "0005_origin"),
        ("campaigns", "0006_permanent_ids_and_visibility"),
        ("campaigns", "0007_tags_and_notes"),
        ("campaigns", "0008_imported"),
        ("campaigns", "0009_what_happened_never_changes"),
        ("campaigns", "0010_runs_by_end"),
        ("campaigns", "0011_runs_of_experiments"),
        ("campaigns", "0012_words_of_trial_states"),
        ("campaigns", "0013_bounded_texts"),
        ("campaigns", "0014_fences"),
        ("campaigns", "0015_overlap"),
        ("campaigns", "0016_people_may_be_gone"),
        ("campaigns", "0017_readings_of_runs"),
        ("campaigns", "0018_shares_wait_until_they_are_accepted"),
    ]

    dependencies = [
        ('accounts', '0001_tables'),
        ('testbeds', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=50), blank=True, default=list, size=20, verbose_name='tags')),
                ('permanent_id', models.CharField(default=apps.campaigns.permanent_ids.new, editable=False, max_length=20, unique=True, verbose_name='permanent id')),
                ('visibility', models.CharField(choices=[('private', 'Only whoever made it'), ('team', 'The team'), ('shared', 'The team, and the teams named below once they accept'), ('public', 'Everybody, without signing in')], default='team', max_length=7, verbose_name='who may see it')),
                ('redacted', models.BooleanField(default=True, verbose_name='hide names of nodes and addresses from the public')),
                ('licence', models.CharField(blank=True, choices=[('CC-BY-4.0', 'CC-BY-4.0 (Creative Commons Attribution)'), ('CC-BY-SA-4.0', 'CC-BY-SA-4.0 (Creative Commons Attribution-ShareAlike)'), ('CC-BY-NC-4.0', 'CC-BY-NC-4.0 (Creative Commons Attribution-NonCommercial)'), ('CC0-1.0', 'CC0-1.0 (Creative Commons Zero)'), ('ODbL-1.0', 'ODbL-1.0 (Open Database License)'), ('ODC-By-1.0', 'ODC-By-1.0 (Open Data Commons Attribution)'), ('PDDL-1.0', 'PDDL-1.0 (Open Data Commons Public Domain)')], max_length=20, verbose_name='licence')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('goal', apps.core.models.BoundedTextField(blank=True, max_length=10000, verbose_name='goal')),
                ('state', models.CharField(choices=[('draft', 'draft'), ('scheduled', 'scheduled'), ('running', 'running'), ('paused', 'paused'), ('finished', 'finished'), ('cancelled', 'cancelled')], db_index=True, default='draft', max_length=10, verbose_name='state')),
                ('start_at', models.DateTimeField(blank=True, null=True, verbose_name='start at')),
                ('cron', models.CharField(blank=True, max_length=100, verbose_name='repeat (cron expression)')),
                ('cron_timezone', models.CharField(default='UTC', max_length=64, verbose_name='time zone of the cron expression')),
                ('overlap', models.CharField(choices=[('skip', 'skip the date'), ('queue', 'start it all the same')], db_default='skip', default='skip', max_length=5, verbose_name='if the last date has not ended')),
                ('skipped_dates', models.PositiveIntegerField(db_default=0, default=0, editable=False, verbose_name='skipped dates')),
                ('next_at', models.DateTimeField(blank=True, null=True, verbose_name='next start')),
                ('launched_at', models.DateTimeField(blank=True, null=True, verbose_name='launched')),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished')),
                ('analysed_at', models.DateTimeField(blank=True, null=True)),
                ('origin', models.CharField(choices=[('measured', 'measured here'), ('published', 'published figures'), ('imported', 'imported')], default='measured', max_length=10, verbose_name='origin')),
                ('publication', models.JSONField(blank=True, default=dict, editable=False)),
                ('deleting_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('delete_trials', models.PositiveIntegerField(default=0, editable=False)),
                ('cloned_from', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='clones', to='campaigns.campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='%(class)ss', to=settings.AUTH_USER_MODEL)),
                ('series', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='occurrences', to='campaigns.campaign')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'campaign',
                'verbose_name_plural': 'campaigns',
                'ordering': ['-created_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Experiment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('precision', models.FloatField(blank=True, help_text="Half the width of the mean's interval (95 %) over the mean, for example 0.03; empty repeats as given.", null=True, validators=[django.core.validators.MinValueValidator(0.001), django.core.validators.MaxValueValidator(0.5)], verbose_name='repeat until within')),
                ('most_repetitions', models.PositiveSmallIntegerField(default=20, validators=[django.core.validators.MinValueValidator(3), django.core.validators.MaxValueValidator(1000)], verbose_name='repetitions at most')),
                ('search_factor', models.CharField(blank=True, max_length=100, verbose_name='refine the factor')),
                ('search_goal', models.CharField(choices=[('knee', 'the knee, where more gains nothing'), ('maximum', 'the highest value'), ('minimum', 'the lowest value')], default='knee', max_length=8, verbose_name='near')),
                ('search_budget', models.PositiveSmallIntegerField(default=8, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(200)], verbose_name='further values at most')),
                ('position', models.PositiveSmallIntegerField(default=0)),
                ('name', models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('tool', models.CharField(max_length=50, verbose_name='tool')),
                ('fixed', models.JSONField(blank=True, default=dict, verbose_name='fixed parameters')),
                ('factors', models.JSONField(blank=True, default=list, verbose_name='factors')),
                ('zips', models.JSONField(blank=True, default=list, verbose_name='zipped factors')),
                ('exclusions', models.JSONField(blank=True, default=list, verbose_name='exclusions')),
                ('repetitions', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)], verbose_name='repetitions')),
                ('warmups', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(100)], verbose_name='warm-up runs')),
                ('order', models.CharField(choices=[('as-given', 'as given'), ('randomised', 'randomised within each repetition')], default='randomised', max_length=12, verbose_name='order')),
                ('seed', models.PositiveIntegerField(default=1, verbose_name='seed of the random order')),
                ('max_attempts', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)], verbose_name='attempts at most')),
                ('retry_wait_s', models.PositiveIntegerField(default=5, verbose_name='wait before a retry')),
                ('context', models.BooleanField(default=True, verbose_name='route, RTT and loss before and after each run')),
                ('resolved', models.JSONField(blank=True, default=dict, editable=False)),
                ('printed', models.JSONField(blank=True, default=dict, editable=False)),
                ('expanded_at', models.DateTimeField(blank=True, editable=False, null=True)),
                ('refusal', models.JSONField(blank=True, editable=False, null=True)),
                ('after', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='followers', to='campaigns.experiment', verbose_name='waits for')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='experiments', to='campaigns.campaign')),
                ('file_system', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='experiments', to='testbeds.filesystem', verbose_name='file system')),
            ],
            options={
                'verbose_name': 'experiment',
                'verbose_name_plural': 'experiments',
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='ExperimentRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(max_length=32)),
                ('cluster', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='experiment_roles', to='testbeds.cluster')),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='roles', to='campaigns.experiment')),
                ('node', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='experiment_roles', to='testbeds.node')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Lane',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('roles', models.JSONField()),
                ('resources', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('addresses', models.JSONField(default=list)),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lanes', to='campaigns.experiment')),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('text', models.TextField(max_length=10000, verbose_name='note')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='campaigns.campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='campaign_notes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'note',
                'verbose_name_plural': 'notes',
                'ordering': ['created_at', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('attempt', models.PositiveSmallIntegerField(verbose_name='attempt')),
                ('state', models.CharField(choices=[('starting', 'starting'), ('running', 'running'), ('succeeded', 'succeeded'), ('failed', 'failed'), ('cancelled', 'cancelled')], default='starting', max_length=10, verbose_name='state')),
                ('plan', models.JSONField(blank=True, null=True)),
                ('stage', models.SmallIntegerField(default=-1)),
                ('stopping', models.BooleanField(default=False)),
                ('readings', models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)),
                ('reason', models.JSONField(blank=True, null=True)),
                ('started_at', models.DateTimeField(default=django.utils.timezone.now, editable=False, verbose_name='started')),
                ('ended_at', models.DateTimeField(blank=True, null=True, verbose_name='ended')),
                ('experiment', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='campaigns.experiment')),
            ],
            options={
                'verbose_name': 'run',
                'verbose_name_plural': 'runs',
                'ordering': ['attempt'],
            },
        ),
        migrations.CreateModel(
            name='Reservation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('resource', models.CharField(max_length=40)),
                ('taken_at', models.DateTimeField(auto_now_add=True)),
                ('released_at', models.DateTimeField(blank=True, null=True)),
                ('fenced_until', models.DateTimeField(blank=True, null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reservations', to='campaigns.run')),
            ],
        ),
        migrations.CreateModel(
            name='Share',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.SlugField(verbose_name='short name')),
                ('state', models.CharField(choices=[('offered', 'offered'), ('accepted', 'accepted'), ('declined', 'declined')], default='offered', max_length=8, verbose_name='state')),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='campaigns.campaign')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('offered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='accounts.team')),
            ],
            options={
                'verbose_name': 'offer',
                'verbose_name_plural': 'offers',
                'ordering': ['-created_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='SparedTeam',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.SlugField()),
                ('until', models.DateTimeField()),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.team')),
            ],
        ),
        migrations.CreateModel(
            name='Tombstone',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('permanent_id', models.CharField(default=apps.campaigns.permanent_ids.new, editable=False, max_length=20, unique=True, verbose_name='permanent id')),
                ('visibility', models.CharField(choices=[('private', 'Only whoever made it'), ('team', 'The team'), ('shared', 'The team, and the teams named below once they accept'), ('public', 'Everybody, without signing in')], default='team', max_length=7, verbose_name='who may see it')),
                ('redacted', models.BooleanField(default=True, verbose_name='hide names of nodes and addresses from the public')),
                ('licence', models.CharField(blank=True, choices=[('CC-BY-4.0', 'CC-BY-4.0 (Creative Commons Attribution)'), ('CC-BY-SA-4.0', 'CC-BY-SA-4.0 (Creative Commons Attribution-ShareAlike)'), ('CC-BY-NC-4.0', 'CC-BY-NC-4.0 (Creative Commons Attribution-NonCommercial)'), ('CC0-1.0', 'CC0-1.0 (Creative Commons Zero)'), ('ODbL-1.0', 'ODbL-1.0 (Open Database License)'), ('ODC-By-1.0', 'ODC-By-1.0 (Open Data Commons Attribution)'), ('PDDL-1.0', 'PDDL-1.0 (Open Data Commons Public Domain)')], max_length=20, verbose_name='licence')),
                ('name', models.CharField(max_length=200, verbose_name='name')),
                ('trials', models.PositiveIntegerField(default=0, verbose_name='trials')),
                ('campaign_created_at', models.DateTimeField()),
                ('deleted_by_name', models.CharField(blank=True, max_length=200, verbose_name='deleted by')),
                ('deleted_at', models.DateTimeField(verbose_name='deleted')),
                ('reason', models.TextField(blank=True, max_length=2000, verbose_name='reason')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='%(class)ss', to=settings.AUTH_USER_MODEL)),
                ('deleted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='deleted_campaigns', to=settings.AUTH_USER_MODEL)),
                ('shared_with', models.ManyToManyField(blank=True, related_name='shared_tombstones', to='accounts.team', verbose_name='shared with')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'deleted campaign',
                'verbose_name_plural': 'deleted campaigns',
                'ordering': ['-deleted_at', '-id'],
            },
        ),
        migrations.CreateModel(
            name='Trial',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('position', models.PositiveIntegerField()),
                ('point', models.PositiveIntegerField(verbose_name='point')),
                ('repetition', models.PositiveSmallIntegerField(verbose_name='repetition')),
                ('is_warmup', models.BooleanField(default=False, verbose_name='warm-up')),
                ('parameters', models.JSONField(verbose_name='parameters')),
                ('estimate_s', models.FloatField(default=0, verbose_name='estimated duration')),
                ('state', models.CharField(choices=[('pending', 'waiting'), ('running', 'running'), ('succeeded', 'measured'), ('failed', 'failed'), ('cancelled', 'not measured')], default='pending', max_length=10, verbose_name='state')),
                ('attempts', models.PositiveSmallIntegerField(default=0, verbose_name='attempts')),
                ('attempts_allowed', models.PositiveSmallIntegerField(default=1, verbose_name='attempts at most')),
                ('not_before', models.DateTimeField(blank=True, null=True)),
                ('reason', models.JSONField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True, verbose_name='finished')),
                ('invalid_at', models.DateTimeField(blank=True, editable=False, null=True, verbose_name='marked invalid')),
                ('invalid_reason', models.CharField(blank=True, db_default='', default='', editable=False, max_length=500, verbose_name='reason')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='campaigns.campaign')),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='campaigns.experiment')),
                ('invalid_by', models.ForeignKey(blank=True, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lane', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='campaigns.lane')),
            ],
            options={
                'verbose_name': 'trial',
                'verbose_name_plural': 'trials',
                'ordering': ['position'],
            },
        ),
        migrations.AddField(
            model_name='run',
            name='trial',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='campaigns.trial'),
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('level', models.CharField(choices=[('info', 'information'), ('warning', 'warning'), ('error', 'error')], default='info', max_length=8)),
                ('message', models.JSONField()),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='campaigns.campaign')),
                ('trial', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='events', to='campaigns.trial')),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.AddIndex(
            model_name='campaign',
            index=models.Index(condition=models.Q(('state', 'scheduled')), fields=['next_at'], name='campaigns_due'),
        ),
        migrations.AddIndex(
            model_name='campaign',
            index=models.Index(condition=models.Q(('analysed_at__isnull', True), ('state__in', ['finished', 'cancelled'])), fields=['finished_at'], name='campaigns_to_analyse'),
        ),
        migrations.AddIndex(
            model_name='campaign',
            index=django.contrib.postgres.indexes.GinIndex(fields=['tags'], name='campaigns_by_tag'),
        ),
        migrations.AddIndex(
            model_name='campaign',
            index=models.Index(condition=models.Q(('deleting_at__isnull', False)), fields=['deleting_at'], name='campaigns_to_delete'),
        ),
        migrations.AddIndex(
            model_name='campaign',
            index=models.Index(condition=models.Q(('visibility__in', ['shared', 'public'])), fields=['visibility'], name='campaigns_beyond_their_team'),
        ),
        migrations.AddConstraint(
            model_name='experimentrole',
            constraint=models.CheckConstraint(condition=models.Q(('node__isnull', True), ('cluster__isnull', True), _connector='XOR'), name='role_is_played_by_node_or_cluster'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(fields=['resource', '-taken_at'], name='campaigns_r_resourc_34190f_idx'),
        ),
        migrations.AddIndex(
            model_name='reservation',
            index=models.Index(condition=models.Q(('fenced_until__isnull', False)), fields=['fenced_until'], name='fences'),
        ),
        migrations.AddConstraint(
            model_name='reservation',
            constraint=models.UniqueConstraint(condition=models.Q(('released_at__isnull', True)), fields=('resource',), name='one_holder_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.UniqueConstraint(fields=('campaign', 'name'), name='one_share_per_campaign_and_team'),
        ),
        migrations.AddConstraint(
            model_name='share',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'accepted'), _negated=True), ('team__isnull', False), _connector='OR'), name='who_accepted_a_share_is_known'),
        ),
        migrations.AddConstraint(
            model_name='sparedteam',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='one_spared_team_per_name'),
        ),
        migrations.AddIndex(
            model_name='trial',
            index=models.Index(condition=models.Q(('state', 'pending')), fields=['lane', 'position'], name='pending_trials'),
        ),
        migrations.AddIndex(
            model_name='trial',
            index=models.Index(fields=['campaign', 'state'], name='campaigns_t_campaig_6ec30d_idx'),
        ),
        migrations.AddIndex(
            model_name='trial',
            index=models.Index(fields=['experiment', 'point'], name='campaigns_t_experim_03d015_idx'),
        ),
        migrations.AddConstraint(
            model_name='trial',
            constraint=models.UniqueConstraint(fields=('experiment', 'position'), name='one_trial_per_position'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('state__in', ['starting', 'running'])), fields=['state'], name='open_runs'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(fields=['experiment', 'state'], name='runs_by_experiment'),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('ended_at__isnull', False)), fields=['ended_at', 'id'], name='runs_by_end'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(fields=('trial', 'attempt'), name='one_run_per_attempt'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['starting', 'running'])), fields=('trial',), name='one_open_run_per_trial'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'succeeded')), fields=('trial',), name='one_success_per_trial'),
        ),
        migrations.AddIndex(
            model_name='event',
            index=models.Index(fields=['campaign', '-id'], name='campaigns_e_campaig_6ceb0e_idx'),
        ),
    ]
