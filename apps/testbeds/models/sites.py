"""Sites: places that hold machines."""

from django.utils.translation import gettext_lazy as _

from apps.core.models import LineField
from apps.testbeds.models.base import InventoryItem


class Site(InventoryItem):
    """A centre or campus, e.g. KISTI in Daejeon."""

    place = LineField(_("place"), max_length=200, blank=True)

    class Meta(InventoryItem.Meta):
        verbose_name = _("site")
        verbose_name_plural = _("sites")
