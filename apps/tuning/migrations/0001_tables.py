import apps.core.models
import apps.tuning.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("tuning", "0001_initial"),
        ("tuning", "0002_verification"),
        ("tuning", "0003_analyses"),
        ("tuning", "0004_bounded_texts"),
        ("tuning", "0005_people_may_be_gone"),
        ("tuning", "0006_record_field"),
        ("tuning", "0007_imported_from"),
        ("tuning", "0008_campaigns_of_verifications"),
        ("tuning", "0009_names_of_verified_campaigns"),
    ]

    dependencies = [
        ('accounts', '0001_tables'),
        ('campaigns', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('subject', models.CharField(blank=True, max_length=200)),
                ('ends', models.JSONField(blank=True, default=list)),
                ('rule', models.CharField(max_length=50)),
                ('rule_version', models.PositiveSmallIntegerField(default=1)),
                ('kind', models.CharField(choices=[('recommendation', 'recommendation'), ('diagnosis', 'diagnosis'), ('no-change', 'no change needed'), ('doubt', 'doubt')], default='recommendation', max_length=14, verbose_name='kind')),
                ('state', models.CharField(choices=[('new', 'new'), ('accepted', 'accepted'), ('verified', 'verified'), ('refuted', 'refuted'), ('dismissed', 'dismissed')], default='new', max_length=10, verbose_name='state')),
                ('state_reason', apps.core.models.BoundedTextField(blank=True, max_length=2000, verbose_name='reason')),
                ('title', models.JSONField()),
                ('details', apps.tuning.fields.RecordField()),
                ('value', models.FloatField(blank=True, null=True)),
                ('unit', models.CharField(blank=True, max_length=10)),
                ('change', apps.core.models.BoundedTextField(blank=True, max_length=20000)),
                ('undo', apps.core.models.BoundedTextField(blank=True, max_length=20000)),
                ('predicted_gain', models.FloatField(blank=True, null=True, verbose_name='predicted gain')),
                ('confidence', models.FloatField()),
                ('imported_from', models.CharField(blank=True, db_default='', default='', editable=False, max_length=200, verbose_name='imported from')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='campaigns.campaign')),
                ('experiment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='campaigns.experiment')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
                ('trials', models.ManyToManyField(related_name='findings', to='campaigns.trial')),
            ],
            options={
                'verbose_name': 'finding',
                'verbose_name_plural': 'findings',
                'ordering': ['-created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='RuleFailure',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('rule', models.CharField(max_length=50, verbose_name='rule')),
                ('rule_version', models.PositiveSmallIntegerField(verbose_name='version')),
                ('error', models.CharField(max_length=300, verbose_name='error')),
                ('subject', models.CharField(blank=True, max_length=200)),
                ('places', models.PositiveIntegerField(default=1)),
                ('first_at', models.DateTimeField(verbose_name='first failed')),
                ('last_at', models.DateTimeField(verbose_name='last failed')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='rule_failures', to='campaigns.campaign')),
            ],
            options={
                'verbose_name': 'failed rule',
                'verbose_name_plural': 'failed rules',
                'ordering': ['rule'],
            },
        ),
        migrations.CreateModel(
            name='Verification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('of_campaign', models.CharField(blank=True, db_default='', db_index=True, default='', editable=False, max_length=20)),
                ('proof', models.JSONField()),
                ('unit', models.CharField(blank=True, max_length=10)),
                ('higher_is_better', models.BooleanField(blank=True, null=True)),
                ('predicted', models.FloatField(blank=True, null=True)),
                ('predicted_gain', models.FloatField(blank=True, null=True, verbose_name='predicted gain')),
                ('verdict', models.CharField(choices=[('open', 'under way'), ('verified', 'verified'), ('refuted', 'refuted'), ('undecided', 'undecided')], default='open', max_length=10, verbose_name='verdict')),
                ('present', models.FloatField(blank=True, null=True)),
                ('realised', models.FloatField(blank=True, null=True)),
                ('gain', models.FloatField(blank=True, null=True, verbose_name='realised gain')),
                ('gain_low', models.FloatField(blank=True, null=True)),
                ('gain_high', models.FloatField(blank=True, null=True)),
                ('pairs', models.PositiveSmallIntegerField(default=0, verbose_name='pairs')),
                ('judged_at', models.DateTimeField(blank=True, null=True)),
                ('imported_from', models.CharField(blank=True, db_default='', default='', editable=False, max_length=200, verbose_name='imported from')),
                ('campaign', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='verification', to='campaigns.campaign')),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verifications', to='tuning.finding')),
                ('requested_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'verification',
                'verbose_name_plural': 'verifications',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('earlier', models.CharField(choices=[('new', 'new'), ('accepted', 'accepted'), ('verified', 'verified'), ('refuted', 'refuted'), ('dismissed', 'dismissed')], max_length=10)),
                ('state', models.CharField(choices=[('new', 'new'), ('accepted', 'accepted'), ('verified', 'verified'), ('refuted', 'refuted'), ('dismissed', 'dismissed')], max_length=10, verbose_name='state')),
                ('reason', apps.core.models.BoundedTextField(blank=True, max_length=2000, verbose_name='reason')),
                ('note', models.JSONField(blank=True, null=True)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('finding', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='tuning.finding')),
                ('verification', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='decisions', to='tuning.verification')),
            ],
            options={
                'verbose_name': 'decision',
                'verbose_name_plural': 'decisions',
                'ordering': ['-id'],
            },
        ),
        migrations.CreateModel(
            name='Analysis',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('began_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(blank=True, null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('asked_with', models.CharField(blank=True, max_length=60)),
                ('has_failed', models.BooleanField(default=False)),
                ('error', models.JSONField(blank=True, null=True)),
                ('next_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='analysis', to='campaigns.campaign')),
            ],
            options={
                'verbose_name': 'analysis',
                'verbose_name_plural': 'analyses',
                'ordering': ['-began_at', '-pk'],
                'indexes': [models.Index(condition=models.Q(('has_failed', True)), fields=['campaign'], name='tuning_failed_analyses')],
            },
        ),
        migrations.AddConstraint(
            model_name='finding',
            constraint=models.UniqueConstraint(fields=('campaign', 'experiment', 'subject', 'rule'), name='one_finding_per_rule_and_subject', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='rulefailure',
            constraint=models.UniqueConstraint(fields=('campaign', 'rule'), name='one_failure_per_rule'),
        ),
        migrations.AddConstraint(
            model_name='verification',
            constraint=models.UniqueConstraint(condition=models.Q(('verdict', 'open')), fields=('finding',), name='one_open_verification'),
        ),
    ]
