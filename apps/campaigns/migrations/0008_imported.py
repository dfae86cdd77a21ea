from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0007_tags_and_notes")]

    operations = [
        migrations.AlterField(
            model_name="campaign",
            name="origin",
            field=models.CharField(
                choices=[
                    ("measured", "measured here"),
                    ("published", "published figures"),
                    ("imported", "imported"),
                ],
                default="measured",
                max_length=10,
                verbose_name="origin",
            ),
        ),
    ]
