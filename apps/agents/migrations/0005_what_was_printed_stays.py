from django.db import migrations

from apps.core.immutability import KeepRows


class Migration(migrations.Migration):
    dependencies = [("agents", "0004_what_happened_never_changes")]

    operations = [
        KeepRows("agents_job", "a job goes only with what it was of"),
        KeepRows("agents_joboutput", "what a job printed goes only by retention or with its job"),
        KeepRows("agents_jobfile", "a file that a job gave back goes only by retention or with its job"),
    ]
