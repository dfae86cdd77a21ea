import apps.core.names
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [("toolbox", "0001_initial")]

    dependencies = [
        ('accounts', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='TeamTool',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('slug', models.CharField(error_messages={'unique': 'This short name is not free: choose another.'}, max_length=40, unique=True, validators=[django.core.validators.RegexValidator('\\A[a-z][a-z0-9]*(-[a-z0-9]+)*\\Z', 'Use small letters, digits and single hyphens, and begin with a letter, for example site-stream.')], verbose_name='short name')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('summary', models.CharField(blank=True, max_length=200, verbose_name='summary')),
                ('archived_at', models.DateTimeField(blank=True, null=True, verbose_name='archived')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'tool',
                'verbose_name_plural': 'tools',
                'ordering': ['name', 'id'],
            },
        ),
        migrations.CreateModel(
            name='ToolEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('message', models.JSONField()),
                ('tool', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='toolbox.teamtool')),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='ToolVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField(verbose_name='version')),
                ('definition', models.JSONField(verbose_name='definition')),
                ('note', models.CharField(blank=True, max_length=300, verbose_name='what is new')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='tool_versions', to=settings.AUTH_USER_MODEL)),
                ('tool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='toolbox.teamtool')),
            ],
            options={
                'verbose_name': 'tool version',
                'verbose_name_plural': 'tool versions',
                'ordering': ['tool', '-number'],
                'constraints': [models.UniqueConstraint(fields=('tool', 'number'), name='one_version_of_a_number')],
            },
        ),
    ]
