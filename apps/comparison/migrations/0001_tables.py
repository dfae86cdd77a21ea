import apps.core.names
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [("comparison", "0001_from_results")]

    dependencies = [
        ('accounts', '0001_tables'),
        ('campaigns', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ChangePoint',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('key', models.CharField(max_length=40)),
                ('tool', models.CharField(max_length=50, verbose_name='tool')),
                ('metric', models.CharField(max_length=50, verbose_name='metric')),
                ('roles', models.JSONField()),
                ('parameters', models.JSONField()),
                ('before', models.FloatField()),
                ('after', models.FloatField()),
                ('state', models.CharField(choices=[('confirmed', 'confirmed'), ('explained', 'explained'), ('dismissed', 'dismissed')], max_length=10, verbose_name='state')),
                ('explanation', models.TextField(blank=True, max_length=2000, verbose_name='explanation')),
                ('decided_at', models.DateTimeField()),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='change_points', to='campaigns.campaign')),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='change_points', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'change-point',
                'verbose_name_plural': 'change-points',
                'db_table': 'results_changepoint',
                'ordering': ['decided_at', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('team', 'key', 'campaign'), name='one_decision_per_change_point')],
            },
        ),
        migrations.CreateModel(
            name='SavedView',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=200, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('query', models.TextField(max_length=8000, verbose_name='view')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='saved_views', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'saved view',
                'verbose_name_plural': 'saved views',
                'db_table': 'results_savedview',
                'ordering': ['name', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='saved_view_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.')],
            },
        ),
    ]
