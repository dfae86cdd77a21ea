import apps.core.names
import apps.testbeds.models.validators
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # What a database of before the first release has instead.
    replaces = [
        ("testbeds", "0001_initial"),
        ("testbeds", "0002_limits_and_setting_grants"),
        ("testbeds", "0003_people_may_be_gone"),
    ]

    dependencies = [
        ('accounts', '0001_tables'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Cluster',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'cluster',
                'verbose_name_plural': 'clusters',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='FileSystem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('kind', models.CharField(choices=[('gpfs', 'GPFS'), ('lustre', 'Lustre'), ('nfs', 'NFS'), ('glusterfs', 'GlusterFS'), ('cephfs', 'CephFS'), ('beegfs', 'BeeGFS'), ('xfs', 'XFS'), ('ext', 'ext2/3/4'), ('other', 'other')], max_length=16, verbose_name='kind')),
                ('mount_path', models.CharField(max_length=255, validators=[django.core.validators.RegexValidator('^/[^\\x00-\\x1f\\x7f]*\\Z', 'Write the whole path, beginning with “/”, such as /gpfs.')], verbose_name='mount path')),
                ('block_size_bytes', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='block size')),
                ('disks', models.CharField(blank=True, max_length=200, verbose_name='disks')),
                ('server_cluster', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='file_systems_served', to='testbeds.cluster', verbose_name='server cluster')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'file system',
                'verbose_name_plural': 'file systems',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Mount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('path', models.CharField(blank=True, max_length=255, validators=[django.core.validators.RegexValidator('^/[^\\x00-\\x1f\\x7f]*\\Z', 'Write the whole path, beginning with “/”, such as /gpfs.')], verbose_name='mount path')),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='mounts', to='testbeds.cluster', verbose_name='cluster')),
                ('file_system', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mounts', to='testbeds.filesystem')),
            ],
            options={
                'verbose_name': 'mount',
                'verbose_name_plural': 'mounts',
                'ordering': ['cluster__name'],
            },
        ),
        migrations.AddField(
            model_name='filesystem',
            name='mounted_by',
            field=models.ManyToManyField(related_name='file_systems', through='testbeds.Mount', to='testbeds.cluster', verbose_name='mounted by'),
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('name', models.CharField(max_length=100, validators=[django.core.validators.RegexValidator('^\\w[\\w.-]*\\Z', 'Use letters, digits, “.”, “-” and “_” only, and begin with a letter or a digit.')], verbose_name='name')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'node',
                'verbose_name_plural': 'nodes',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='cluster',
            name='nodes',
            field=models.ManyToManyField(blank=True, related_name='clusters', to='testbeds.node', verbose_name='nodes'),
        ),
        migrations.CreateModel(
            name='NodeAddress',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('address', models.CharField(max_length=255, validators=[apps.testbeds.models.validators.host_address], verbose_name='address')),
                ('interface', models.CharField(blank=True, max_length=32, validators=[django.core.validators.RegexValidator('^[A-Za-z0-9][A-Za-z0-9_.:@-]*\\Z', 'This is no name of a network interface; use one such as eth0 or bond0.')], verbose_name='interface')),
                ('position', models.PositiveSmallIntegerField(default=0, verbose_name='order')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='addresses', to='testbeds.node', verbose_name='node')),
            ],
            options={
                'verbose_name': 'data-plane address',
                'verbose_name_plural': 'data-plane addresses',
                'ordering': ['position', 'id'],
            },
        ),
        migrations.CreateModel(
            name='SettingGrant',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('pattern', models.CharField(max_length=120, verbose_name='setting')),
                ('values', models.JSONField(blank=True, default=list, verbose_name='values allowed')),
                ('revoked_at', models.DateTimeField(blank=True, null=True, verbose_name='withdrawn')),
                ('granted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='allowed by')),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='setting_grants', to='testbeds.node', verbose_name='node')),
                ('revoked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL, verbose_name='withdrawn by')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='setting_grants', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'allowed setting',
                'verbose_name_plural': 'allowed settings',
                'ordering': ['pattern', '-created_at', 'id'],
            },
        ),
        migrations.CreateModel(
            name='Site',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('place', models.CharField(blank=True, max_length=200, verbose_name='place')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'site',
                'verbose_name_plural': 'sites',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='SitePair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('rtt_s', models.FloatField(validators=[apps.testbeds.models.validators.rtt], verbose_name='RTT')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('site_a', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='testbeds.site', verbose_name='site A')),
                ('site_b', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='testbeds.site', verbose_name='site B')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'end-to-end RTT',
                'verbose_name_plural': 'end-to-end RTTs',
                'ordering': ['site_a__name', 'site_b__name'],
            },
        ),
        migrations.CreateModel(
            name='Switch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('site', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='switches', to='testbeds.site', verbose_name='site')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'switch',
                'verbose_name_plural': 'switches',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Link',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('capacity_bps', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='capacity')),
                ('rtt_s', models.FloatField(blank=True, null=True, validators=[apps.testbeds.models.validators.rtt], verbose_name='RTT')),
                ('mtu', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(68), django.core.validators.MaxValueValidator(65535)], verbose_name='MTU')),
                ('udp_share_limit', models.FloatField(default=1.0, validators=[apps.testbeds.models.validators.share], verbose_name='max UDP rate, as a share of the capacity')),
                ('udp_limit_bps', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='max UDP rate')),
                ('streams_limit', models.PositiveIntegerField(default=64, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)], verbose_name='max streams')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
                ('a_node', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='links_a', to='testbeds.node', verbose_name='end A: node')),
                ('b_node', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='links_b', to='testbeds.node', verbose_name='end B: node')),
                ('a_switch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='links_a', to='testbeds.switch', verbose_name='end A: switch')),
                ('b_switch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='links_b', to='testbeds.switch', verbose_name='end B: switch')),
            ],
            options={
                'verbose_name': 'link',
                'verbose_name_plural': 'links',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Testbed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('updated_at', models.DateTimeField(auto_now=True, verbose_name='changed')),
                ('name', models.CharField(max_length=100, validators=[apps.core.names.check_seen], verbose_name='name')),
                ('notes', models.TextField(blank=True, max_length=10000, verbose_name='notes')),
                ('cpu', models.CharField(blank=True, max_length=200, verbose_name='CPU')),
                ('cores_per_node', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='cores per node')),
                ('ram_bytes', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='RAM')),
                ('os', models.CharField(blank=True, max_length=200, verbose_name='operating system')),
                ('nic', models.CharField(blank=True, max_length=200, verbose_name='network interfaces')),
                ('nic_count', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='number of interfaces')),
                ('nic_bps', models.PositiveBigIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(1)], verbose_name='rate of an interface')),
                ('bonding', models.CharField(blank=True, max_length=100, verbose_name='bonding')),
                ('mtu', models.PositiveIntegerField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(68), django.core.validators.MaxValueValidator(65535)], verbose_name='MTU')),
                ('interconnect', models.CharField(blank=True, max_length=200, verbose_name='interconnect')),
                ('location', models.CharField(blank=True, max_length=200, verbose_name='location')),
                ('site', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='testbeds', to='testbeds.site', verbose_name='site')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='%(class)ss', to='accounts.team', verbose_name='team')),
            ],
            options={
                'verbose_name': 'testbed',
                'verbose_name_plural': 'testbeds',
                'ordering': ['name'],
                'abstract': False,
            },
        ),
        migrations.AddField(
            model_name='node',
            name='testbed',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='nodes', to='testbeds.testbed', verbose_name='testbed'),
        ),
        migrations.AddConstraint(
            model_name='mount',
            constraint=models.UniqueConstraint(fields=('file_system', 'cluster'), name='one_mount_per_cluster'),
        ),
        migrations.AddConstraint(
            model_name='filesystem',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='filesystem_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='cluster',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='cluster_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='nodeaddress',
            constraint=models.UniqueConstraint(fields=('node', 'address'), name='address_unique_on_node'),
        ),
        migrations.AddConstraint(
            model_name='settinggrant',
            constraint=models.UniqueConstraint(condition=models.Q(('revoked_at__isnull', True)), fields=('node', 'team', 'pattern'), name='one_open_grant_per_pattern', violation_error_message='This is allowed already: withdraw that first to allow other values.'),
        ),
        migrations.AddConstraint(
            model_name='site',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='site_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='sitepair',
            constraint=models.UniqueConstraint(django.db.models.functions.comparison.Least('site_a', 'site_b'), django.db.models.functions.comparison.Greatest('site_a', 'site_b'), name='one_rtt_per_site_pair', violation_error_message='These two sites already have an end-to-end RTT: change that one.'),
        ),
        migrations.AddConstraint(
            model_name='sitepair',
            constraint=models.CheckConstraint(condition=models.Q(('site_a', models.F('site_b')), _negated=True), name='site_pair_is_two_sites', violation_error_message='Choose two different sites.'),
        ),
        migrations.AddConstraint(
            model_name='switch',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='switch_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='link_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.CheckConstraint(condition=models.Q(('a_node__isnull', True), ('a_switch__isnull', True), _connector='XOR'), name='link_end_a_is_node_or_switch', violation_error_message='End A is either a node or a switch: choose one.'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.CheckConstraint(condition=models.Q(('b_node__isnull', True), ('b_switch__isnull', True), _connector='XOR'), name='link_end_b_is_node_or_switch', violation_error_message='End B is either a node or a switch: choose one.'),
        ),
        migrations.AddConstraint(
            model_name='link',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('a_node', models.F('b_node')), _negated=True), models.Q(('a_switch', models.F('b_switch')), _negated=True)), name='link_joins_two_things', violation_error_message='A link joins two different things: choose another end B.'),
        ),
        migrations.AddConstraint(
            model_name='testbed',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='testbed_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
        migrations.AddConstraint(
            model_name='node',
            constraint=models.UniqueConstraint(fields=('team', 'name'), name='node_name_unique_in_team', violation_error_message='The team already has one of this name: choose another name.'),
        ),
    ]
