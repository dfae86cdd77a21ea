import apps.core.names
import apps.reports.models
import django.contrib.postgres.fields
import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("reports", "0001_reports_and_editions"),
        ("reports", "0002_renderings"),
        ("reports", "0003_schedules"),
        ("reports", "0004_incoming_archives"),
        ("reports", "0005_expiry_of_archives"),
        ("reports", "0006_claimed_deliveries"),
        ("reports", "0007_people_may_be_gone"),
        ("reports", "0008_deliveries_that_wait_for_mails"),
        ("reports", "0009_facts_of_archives"),
        ("reports", "0010_to_archive"),
        ("reports", "0011_told_to_who_sees_all_of_it"),
    ]

    dependencies = [
        ('accounts', '0001_tables'),
        ('campaigns', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Edition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(verbose_name='edition')),
                ('permanent_id', models.CharField(default=apps.reports.models.new_permanent_id, max_length=20, unique=True, verbose_name='permanent id')),
                ('title', models.CharField(max_length=250, verbose_name='title')),
                ('language', models.CharField(choices=[('en', 'English'), ('ko', '한국어')], max_length=5, verbose_name='language')),
                ('canonical', models.TextField()),
                ('checksum', models.CharField(max_length=64, verbose_name='checksum')),
                ('rests_on', models.JSONField(default=list)),
                ('note', models.CharField(blank=True, max_length=300, verbose_name='what is new')),
                ('created_at', models.DateTimeField(verbose_name='frozen')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'edition',
                'verbose_name_plural': 'editions',
                'ordering': ['-created_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('of_campaign', models.CharField(blank=True, db_default='', db_index=True, default='', editable=False, max_length=20)),
                ('kind', models.CharField(choices=[('campaign', 'campaign report'), ('management', 'management report')], default='campaign', max_length=10, verbose_name='kind')),
                ('language', models.CharField(choices=[('en', 'English'), ('ko', '한국어')], max_length=5, verbose_name='language')),
                ('title', models.CharField(blank=True, max_length=250, verbose_name='title')),
                ('selection', models.JSONField(blank=True, default=dict, editable=False)),
                ('edits', models.JSONField(blank=True, default=dict, editable=False)),
                ('baseline', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='campaigns.campaign', verbose_name='compared with')),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports', to='campaigns.campaign', verbose_name='campaign')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'report',
                'verbose_name_plural': 'reports',
                'ordering': ['-updated_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Rendering',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('format', models.CharField(choices=[('pdf', 'PDF'), ('xlsx', 'Spreadsheet (XLSX)'), ('pptx', 'Slides (PPTX)'), ('zip', 'Tables (CSV)'), ('json', 'Data (JSON)')], max_length=5, verbose_name='format')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('working', 'in progress'), ('done', 'ready'), ('failed', 'failed')], default='waiting', max_length=8, verbose_name='state')),
                ('progress', models.PositiveSmallIntegerField(default=0, verbose_name='progress')),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('error', models.JSONField(blank=True, null=True)),
                ('name', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('size', models.PositiveBigIntegerField(null=True, verbose_name='size')),
                ('checksum', models.CharField(blank=True, max_length=64, verbose_name='checksum')),
                ('requested_at', models.DateTimeField(verbose_name='asked for')),
                ('started_at', models.DateTimeField(null=True)),
                ('alive_at', models.DateTimeField(null=True)),
                ('finished_at', models.DateTimeField(null=True, verbose_name='finished')),
                ('edition', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='renderings', to='reports.edition')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='renderings', to='reports.report')),
            ],
            options={
                'verbose_name': 'file',
                'verbose_name_plural': 'files',
                'ordering': ['-requested_at', '-pk'],
            },
        ),
        migrations.AddField(
            model_name='edition',
            name='report',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='editions', to='reports.report', verbose_name='report'),
        ),
        migrations.CreateModel(
            name='Schedule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('language', models.CharField(choices=[('en', 'English'), ('ko', '한국어')], max_length=5, verbose_name='language')),
                ('cron', models.CharField(max_length=100, verbose_name='dates (cron expression)')),
                ('cron_timezone', models.CharField(default='UTC', max_length=64, verbose_name='time zone of the cron expression')),
                ('is_active', models.BooleanField(default=True, verbose_name='active')),
                ('next_at', models.DateTimeField(blank=True, null=True, verbose_name='next date')),
                ('formats', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=5), blank=True, default=list, size=None, verbose_name='files')),
                ('recipients', django.contrib.postgres.fields.ArrayField(base_field=models.EmailField(max_length=254), blank=True, default=list, size=None, verbose_name='mailed to')),
                ('report', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='schedules', to='reports.report', verbose_name='management report')),
                ('saved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='report_schedules', to=settings.AUTH_USER_MODEL)),
                ('series', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='report_schedules', to='campaigns.campaign', verbose_name='campaign series')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'report schedule',
                'verbose_name_plural': 'report schedules',
                'ordering': ['name', 'pk'],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('due_at', models.DateTimeField(verbose_name='due')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('rendering', 'files in progress'), ('done', 'delivered'), ('limited', 'held up: mails are used up'), ('unmailed', 'mailed to nobody'), ('skipped', 'nothing new'), ('failed', 'failed')], default='waiting', max_length=9, verbose_name='state')),
                ('note', models.JSONField(blank=True, null=True)),
                ('mailed', django.contrib.postgres.fields.ArrayField(base_field=models.EmailField(max_length=254), blank=True, default=list, size=None)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('look_at', models.DateTimeField()),
                ('claimed_at', models.DateTimeField(null=True)),
                ('ended_at', models.DateTimeField(null=True, verbose_name='ended')),
                ('edition', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='reports.edition')),
                ('schedule', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='reports.schedule')),
            ],
            options={
                'verbose_name': 'delivery',
                'verbose_name_plural': 'deliveries',
                'ordering': ['-due_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='EditionSource',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('of_campaign', models.CharField(db_index=True, max_length=20)),
                ('edition', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sources', to='reports.edition')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('edition', 'of_campaign'), name='each_source_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='report',
            constraint=models.UniqueConstraint(condition=models.Q(('campaign__isnull', False)), fields=('campaign', 'language'), name='one_report_a_campaign_and_language'),
        ),
        migrations.AddIndex(
            model_name='rendering',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'working'])), fields=['requested_at'], name='renderings_open'),
        ),
        migrations.AddConstraint(
            model_name='rendering',
            constraint=models.UniqueConstraint(condition=models.Q(('edition__isnull', False)), fields=('edition', 'format'), name='one_rendering_of_an_edition'),
        ),
        migrations.AddConstraint(
            model_name='rendering',
            constraint=models.UniqueConstraint(condition=models.Q(('edition__isnull', True)), fields=('report', 'format', 'requested_by'), name='one_rendering_of_a_draft'),
        ),
        migrations.AddConstraint(
            model_name='rendering',
            constraint=models.UniqueConstraint(condition=models.Q(('state', 'working')), fields=('state',), name='one_rendering_at_a_time'),
        ),
        migrations.AddConstraint(
            model_name='edition',
            constraint=models.UniqueConstraint(fields=('report', 'number'), name='one_edition_of_a_number'),
        ),
        migrations.AddIndex(
            model_name='schedule',
            index=models.Index(condition=models.Q(('is_active', True)), fields=['next_at'], name='report_schedules_due'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='report_schedule_name_unique_in_team'),
        ),
        migrations.AddConstraint(
            model_name='schedule',
            constraint=models.CheckConstraint(condition=models.Q(('report__isnull', True), ('series__isnull', True), _connector='XOR'), name='schedule_is_of_one_report'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('state__in', ['waiting', 'rendering', 'limited'])), fields=['look_at'], name='deliveries_open'),
        ),
        migrations.AddConstraint(
            model_name='delivery',
            constraint=models.UniqueConstraint(fields=('schedule', 'due_at'), name='one_delivery_a_date'),
        ),
    ]
