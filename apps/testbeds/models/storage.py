"""File systems and where clusters mount them."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from apps.core.models import LineField, TimeStamped
from apps.testbeds.models import validators
from apps.testbeds.models.base import InventoryItem
from apps.testbeds.models.machines import Cluster


class FileSystem(InventoryItem):
    """A file system served by a cluster."""

    class Kind(models.TextChoices):
        GPFS = "gpfs", "GPFS"
        LUSTRE = "lustre", "Lustre"
        NFS = "nfs", "NFS"
        GLUSTERFS = "glusterfs", "GlusterFS"
        CEPHFS = "cephfs", "CephFS"
        BEEGFS = "beegfs", "BeeGFS"
        XFS = "xfs", "XFS"
        EXT = "ext", "ext2/3/4"
        OTHER = "other", _("other")

    kind = models.CharField(_("kind"), max_length=16, choices=Kind.choices)
    server_cluster = models.ForeignKey(
        Cluster,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="file_systems_served",
        verbose_name=_("server cluster"),
    )
    mount_path = models.CharField(_("mount path"), max_length=255, validators=[validators.absolute_path])
    block_size_bytes = models.PositiveBigIntegerField(
        _("block size"), null=True, blank=True, validators=validators.POSITIVE
    )
    disks = LineField(_("disks"), max_length=200, blank=True)
    mounted_by = models.ManyToManyField(
        Cluster, through="Mount", related_name="file_systems", verbose_name=_("mounted by")
    )

    class Meta(InventoryItem.Meta):
        verbose_name = _("file system")
        verbose_name_plural = _("file systems")

    @property
    def key(self) -> str:
        """Return the name under which the file system is reserved."""
        return f"fs:{self.pk}"


class Mount(TimeStamped):
    """A cluster that mounts a file system, with its own path if that differs."""

    file_system = models.ForeignKey(FileSystem, on_delete=models.CASCADE, related_name="mounts")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="mounts", verbose_name=_("cluster"))
    path = models.CharField(_("mount path"), max_length=255, blank=True, validators=[validators.absolute_path])

    class Meta:
        constraints = [models.UniqueConstraint(fields=["file_system", "cluster"], name="one_mount_per_cluster")]
        ordering = ["cluster__name"]
        verbose_name = _("mount")
        verbose_name_plural = _("mounts")

    def __str__(self) -> str:
        return f"{self.cluster}: {self.path or self.file_system.mount_path}"

    @property
    def dependent(self) -> FileSystem:
        """Return what breaks if the cluster goes."""
        return self.file_system
