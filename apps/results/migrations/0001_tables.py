import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("results", "0001_initial"),
        ("results", "0002_stage_timings"),
        ("results", "0003_saved_views"),
        ("results", "0004_change_points"),
        ("results", "0005_search"),
        ("results", "0006_imports"),
        ("results", "0007_editions_and_retention"),
        ("results", "0008_figures_never_change"),
        ("results", "0009_expiry_and_sheets_of_imports"),
        ("results", "0010_results_stay"),
        ("results", "0011_results_by_age"),
        ("results", "0012_begun_rules"),
        ("results", "0013_people_may_be_gone"),
        ("results", "0014_former_names"),
        ("results", "0015_samples_count"),
    ]

    dependencies = [
        ('campaigns', '0001_tables'),
    ]

    operations = [
        migrations.CreateModel(
            name='Result',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tool', models.CharField(max_length=50)),
                ('tool_version', models.CharField(blank=True, max_length=100, verbose_name='tool version')),
                ('requested', models.JSONField(default=dict)),
                ('granted', models.JSONField(default=dict)),
                ('observed', models.JSONField(default=dict)),
                ('flags', models.JSONField(default=list)),
                ('start_skew_s', models.FloatField(blank=True, null=True, verbose_name='skew of start')),
                ('recorded_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('edition', models.PositiveSmallIntegerField(db_default=1, default=1, verbose_name='edition')),
                ('edition_reason', models.CharField(blank=True, db_default='', default='', max_length=500, verbose_name='reason')),
                ('edition_at', models.DateTimeField(blank=True, null=True)),
                ('series_dropped_at', models.DateTimeField(blank=True, null=True)),
                ('output_dropped_at', models.DateTimeField(blank=True, null=True)),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='campaigns.experiment')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='result', to='campaigns.run')),
                ('trial', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='results', to='campaigns.trial')),
            ],
            options={
                'verbose_name': 'result',
                'verbose_name_plural': 'results',
            },
        ),
        migrations.CreateModel(
            name='Sample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('metric', models.CharField(max_length=50)),
                ('value', models.FloatField()),
                ('counts', models.BooleanField(db_default=True, default=True, editable=False)),
                ('experiment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='campaigns.experiment')),
                ('result', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='results.result')),
                ('trial', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='campaigns.trial')),
            ],
        ),
        migrations.CreateModel(
            name='Series',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('metric', models.CharField(max_length=50)),
                ('stream', models.CharField(blank=True, max_length=50)),
                ('unit', models.CharField(max_length=10)),
                ('times', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('values', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('packed_z', models.BinaryField(null=True)),
                ('result', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='series', to='results.result')),
            ],
            options={
                'verbose_name_plural': 'series',
            },
        ),
        migrations.CreateModel(
            name='StageTiming',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage', models.PositiveSmallIntegerField()),
                ('name', models.CharField(max_length=50)),
                ('commands', models.PositiveSmallIntegerField()),
                ('started', models.PositiveSmallIntegerField()),
                ('skew_s', models.FloatField(null=True)),
                ('late_s', models.FloatField(null=True)),
                ('overlap', models.FloatField(null=True)),
                ('clock_error_s', models.FloatField(null=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='timings', to='campaigns.run')),
            ],
            options={
                'ordering': ['stage'],
            },
        ),
        migrations.CreateModel(
            name='Superseded',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('edition', models.PositiveSmallIntegerField(verbose_name='edition')),
                ('reading_z', models.BinaryField()),
                ('reason', models.CharField(blank=True, max_length=500, verbose_name='reason')),
                ('made_at', models.DateTimeField()),
                ('superseded_at', models.DateTimeField()),
                ('result', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='earlier', to='results.result')),
            ],
            options={
                'ordering': ['edition'],
            },
        ),
        migrations.AddIndex(
            model_name='result',
            index=models.Index(fields=['recorded_at', 'id'], include=('experiment',), name='results_by_age'),
        ),
        migrations.AddIndex(
            model_name='sample',
            index=models.Index(fields=['experiment', 'metric'], include=('trial', 'value', 'counts'), name='samples_by_metric'),
        ),
        migrations.AddConstraint(
            model_name='sample',
            constraint=models.UniqueConstraint(fields=('result', 'metric'), name='one_sample_per_metric'),
        ),
        migrations.AddConstraint(
            model_name='series',
            constraint=models.UniqueConstraint(fields=('result', 'metric', 'stream'), name='one_series_per_stream'),
        ),
        migrations.AddConstraint(
            model_name='stagetiming',
            constraint=models.UniqueConstraint(fields=('run', 'stage'), name='one_timing_per_stage'),
        ),
        migrations.AddConstraint(
            model_name='superseded',
            constraint=models.UniqueConstraint(fields=('result', 'edition'), name='one_result_per_edition'),
        ),
    ]
