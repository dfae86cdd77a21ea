import apps.core.expiry
import apps.core.names
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("archive", "0001_from_results_and_reports"),
        ("archive", "0002_origin_of_findings"),
    ]

    dependencies = [
        ('accounts', '0001_tables'),
        ('campaigns', '0001_tables'),
        ('testbeds', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Import',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('of_campaign', models.CharField(blank=True, db_default='', db_index=True, default='', editable=False, max_length=20)),
                ('name', models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('kind', models.CharField(choices=[('outputs', 'raw outputs'), ('table', 'table')], max_length=7, verbose_name='kind')),
                ('state', models.CharField(choices=[('waiting', 'waiting to be read'), ('reading', 'being read'), ('mapping', 'columns to be named'), ('ready', 'to be looked at'), ('storing', 'being stored'), ('done', 'imported'), ('refused', 'refused'), ('expired', 'expired')], default='waiting', max_length=8, verbose_name='state')),
                ('uploads', models.JSONField(default=list)),
                ('measured_on', models.DateField(blank=True, null=True, verbose_name='measured on')),
                ('sheet', models.JSONField(default=dict)),
                ('mapping', models.JSONField(default=dict)),
                ('groups', models.JSONField(default=list)),
                ('choices', models.JSONField(default=dict)),
                ('total', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('leave_out', models.BooleanField(default=False)),
                ('stuck', models.PositiveSmallIntegerField(default=0)),
                ('reason', models.JSONField(blank=True, null=True)),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='imports', to='campaigns.campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='imports', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'import',
                'verbose_name_plural': 'imports',
                'db_table': 'results_import',
                'ordering': ['-created_at', '-pk'],
            },
            bases=(apps.core.expiry.Expiring, models.Model),
        ),
        migrations.CreateModel(
            name='ImportItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('file', models.CharField(max_length=300, verbose_name='file')),
                ('place', models.PositiveIntegerField(default=1)),
                ('group', models.CharField(blank=True, max_length=400)),
                ('tool', models.CharField(blank=True, max_length=50, verbose_name='tool')),
                ('told', models.JSONField(default=dict)),
                ('values', models.JSONField(default=dict)),
                ('roles', models.JSONField(default=dict)),
                ('repetition', models.PositiveIntegerField(null=True)),
                ('measured_at', models.DateTimeField(null=True)),
                ('digest', models.CharField(blank=True, max_length=64)),
                ('command', models.JSONField(default=dict)),
                ('stdout_z', models.BinaryField(default=bytes)),
                ('stderr_z', models.BinaryField(default=bytes)),
                ('refusal', models.JSONField(null=True)),
                ('problem', models.JSONField(null=True)),
                ('reading', models.JSONField(null=True)),
                ('is_duplicate', models.BooleanField(default=False)),
                ('source', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='archive.import')),
                ('trial', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='imported_from', to='campaigns.trial')),
            ],
            options={
                'db_table': 'results_importitem',
                'ordering': ['position'],
            },
        ),
        migrations.CreateModel(
            name='IncomingArchive',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('of_campaign', models.CharField(blank=True, db_default='', db_index=True, default='', editable=False, max_length=20)),
                ('name', models.CharField(max_length=200, verbose_name='file')),
                ('size', models.PositiveBigIntegerField(verbose_name='size')),
                ('state', models.CharField(choices=[('waiting', 'waiting to be looked through'), ('checking', 'being looked through'), ('ready', 'to be decided'), ('agreed', 'waiting to be stored'), ('storing', 'being stored'), ('done', 'imported'), ('refused', 'refused'), ('expired', 'expired')], default='waiting', max_length=8, verbose_name='state')),
                ('preview', models.JSONField(default=dict)),
                ('choices', models.JSONField(default=dict)),
                ('total', models.PositiveIntegerField(default=0)),
                ('done', models.PositiveIntegerField(default=0)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('alive_at', models.DateTimeField(null=True)),
                ('reason', models.JSONField(null=True)),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='incoming_archives', to='campaigns.campaign', verbose_name='campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'archive',
                'verbose_name_plural': 'archives',
                'db_table': 'reports_incomingarchive',
                'ordering': ['-created_at', '-pk'],
            },
            bases=(apps.core.expiry.Expiring, models.Model),
        ),
        migrations.CreateModel(
            name='RetentionRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('kind', models.CharField(choices=[('series', 'time series of results'), ('output', 'raw output, collected files and what the kernel said')], max_length=6, verbose_name='what')),
                ('days', models.PositiveIntegerField(validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='days after the run')),
                ('action', models.CharField(choices=[('pack', 'pack: smaller, and read as before'), ('drop', 'drop for good')], default='pack', max_length=4, verbose_name='what happens to it')),
                ('begun_at', models.DateTimeField(editable=False, null=True)),
                ('done_at', models.DateTimeField(editable=False, null=True)),
                ('done_run', models.BigIntegerField(default=0, editable=False)),
                ('runs_done', models.PositiveBigIntegerField(default=0, editable=False)),
                ('bytes_freed', models.PositiveBigIntegerField(default=0, editable=False)),
                ('changed_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'retention rule',
                'verbose_name_plural': 'retention rules',
                'db_table': 'results_retentionrule',
                'ordering': ['kind'],
            },
        ),
        migrations.CreateModel(
            name='SavedSearch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('query', models.TextField(max_length=8000, verbose_name='search')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='saved_searches', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'saved search',
                'verbose_name_plural': 'saved searches',
                'db_table': 'results_savedsearch',
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='SearchEntry',
            fields=[
                ('experiment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='search_entry', serialize=False, to='campaigns.experiment')),
                ('trials', models.PositiveIntegerField(default=0)),
                ('first_at', models.DateTimeField(null=True)),
                ('last_at', models.DateTimeField(null=True)),
                ('words', django.contrib.postgres.search.SearchVectorField(null=True)),
                ('of', models.DateTimeField()),
                ('indexed_at', models.DateTimeField()),
                ('nodes', models.ManyToManyField(related_name='search_entries', to='testbeds.node')),
            ],
            options={
                'verbose_name': 'entry of the archive',
                'verbose_name_plural': 'entries of the archive',
                'db_table': 'results_searchentry',
            },
        ),
        migrations.CreateModel(
            name='SearchEnd',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('a', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='testbeds.node')),
                ('b', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='testbeds.node')),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ends', to='archive.searchentry')),
            ],
            options={
                'db_table': 'results_searchend',
            },
        ),
        migrations.CreateModel(
            name='SearchMetric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=50)),
                ('n', models.PositiveIntegerField()),
                ('low', models.FloatField()),
                ('high', models.FloatField()),
                ('low_mean', models.FloatField()),
                ('high_mean', models.FloatField()),
                ('flagged', models.PositiveIntegerField(db_default=0, default=0)),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='metrics', to='archive.searchentry')),
            ],
            options={
                'db_table': 'results_searchmetric',
            },
        ),
        migrations.CreateModel(
            name='SearchValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('number', models.FloatField(null=True)),
                ('text', models.CharField(blank=True, max_length=200)),
                ('entry', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='values', to='archive.searchentry')),
            ],
            options={
                'db_table': 'results_searchvalue',
            },
        ),
        migrations.CreateModel(
            name='ColumnMapping',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('tool', models.CharField(max_length=50, verbose_name='tool')),
                ('columns', models.JSONField()),
                ('sheets', models.JSONField(default=list)),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'mapping of columns',
                'verbose_name_plural': 'mappings of columns',
                'db_table': 'results_columnmapping',
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='column_mapping_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.')],
            },
        ),
        migrations.CreateModel(
            name='FormerName',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('node', 'Node'), ('host', 'Host'), ('address', 'Address'), ('interface', 'Interface'), ('machine', 'Machine'), ('cluster', 'Cluster'), ('file-system', 'File System'), ('testbed', 'Testbed'), ('site', 'Site'), ('switch', 'Switch'), ('link', 'Link'), ('place', 'Place'), ('user', 'User'), ('person', 'Person')], max_length=16)),
                ('owner', models.BigIntegerField()),
                ('name', models.CharField(blank=True, max_length=255)),
                ('family', models.CharField(blank=True, max_length=150)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='former_names', to='accounts.team')),
            ],
            options={
                'db_table': 'results_formername',
                'ordering': ['-id'],
                'constraints': [models.UniqueConstraint(fields=('team', 'kind', 'owner', 'name', 'family'), name='former_name_once_per_thing')],
            },
        ),
        migrations.AddIndex(
            model_name='import',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'reading', 'storing'])), fields=['claimed_at'], name='imports_to_do'),
        ),
        migrations.AddIndex(
            model_name='importitem',
            index=models.Index(condition=models.Q(('trial__isnull', False)), fields=['digest'], name='imported_digests'),
        ),
        migrations.AddConstraint(
            model_name='importitem',
            constraint=models.UniqueConstraint(fields=('source', 'position'), name='one_item_per_position'),
        ),
        migrations.AddIndex(
            model_name='incomingarchive',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'checking', 'agreed', 'storing'])), fields=['alive_at'], name='archives_to_do'),
        ),
        migrations.AddConstraint(
            model_name='retentionrule',
            constraint=models.UniqueConstraint(fields=('team', 'kind'), name='one_retention_rule_per_kind'),
        ),
        migrations.AddConstraint(
            model_name='savedsearch',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='saved_search_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddIndex(
            model_name='searchentry',
            index=django.contrib.postgres.indexes.GinIndex(fields=['words'], name='search_words'),
        ),
        migrations.AddConstraint(
            model_name='searchend',
            constraint=models.UniqueConstraint(fields=('entry', 'a', 'b'), name='one_search_end_per_pair'),
        ),
        migrations.AddIndex(
            model_name='searchmetric',
            index=models.Index(fields=['name', 'high'], include=('low',), name='search_metrics'),
        ),
        migrations.AddConstraint(
            model_name='searchmetric',
            constraint=models.UniqueConstraint(fields=('entry', 'name'), name='one_search_metric_per_name'),
        ),
        migrations.AddIndex(
            model_name='searchvalue',
            index=models.Index(fields=['name', 'number'], name='search_numbers'),
        ),
        migrations.AddIndex(
            model_name='searchvalue',
            index=models.Index(fields=['name', 'text'], name='search_texts'),
        ),
    ]
