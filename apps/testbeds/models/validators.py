"""What may stand in the fields of the inventory."""

import ipaddress
import math
import re

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# RFC 791: every IPv4 host handles 68 octets; 65535 is the largest length an IP header can state.
MTU = [MinValueValidator(68), MaxValueValidator(65535)]
POSITIVE = [MinValueValidator(1)]
# More connections than a server's ports can tell apart are none.
STREAMS = [MinValueValidator(1), MaxValueValidator(65535)]
# Offered load is measured up to some multiples of a link's capacity; a larger share is a slip of the point.
LARGEST_SHARE = 10
# A round trip longer than this is a slip of the unit: light goes to Mars and back in less.
LONGEST_RTT_S = 3600
# In 1 ns light goes 15 cm and back. What is shorter, but for none at all, is a slip; rates by it would overflow.
LEAST_RTT_S = 1e-9

_HOST_LABEL = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(?<!-)")
_LONGEST_HOST = 253

# Node names stand in lists and patterns ("kgfs[01-04], hexa01"), so they hold neither brackets, commas nor blanks.
node_name = RegexValidator(
    r"^\w[\w.-]*\Z",
    gettext_lazy("Use letters, digits, “.”, “-” and “_” only, and begin with a letter or a digit."),
)
interface_name = RegexValidator(
    r"^[A-Za-z0-9][A-Za-z0-9_.:@-]*\Z",
    gettext_lazy("This is no name of a network interface; use one such as eth0 or bond0."),
)
absolute_path = RegexValidator(
    r"^/[^\x00-\x1f\x7f]*\Z", gettext_lazy("Write the whole path, beginning with “/”, such as /gpfs.")
)


def rtt(value: float) -> None:
    """Refuse what is no round-trip time in seconds."""
    if not math.isfinite(value) or (value != 0 and not LEAST_RTT_S <= value <= LONGEST_RTT_S):
        raise ValidationError(_("A round-trip time is 0, or between 1 ns and 1 h: write for example 4.8 ms."))


def share(value: float) -> None:
    """Refuse what is no share of a link's capacity, 1 being all of it."""
    if not math.isfinite(value) or not 0 <= value <= LARGEST_SHARE:
        raise ValidationError(_("A share is between 0 and 10, where 1 is the whole capacity: write for example 0.8."))


def host_address(value: str) -> None:
    """Refuse what is neither an IP address nor a host name; it becomes an argument of the tools."""
    try:
        ipaddress.ip_address(value)
    except ValueError:
        labels = value.removesuffix(".").split(".")
        is_name = len(value) <= _LONGEST_HOST and all(_HOST_LABEL.fullmatch(label) for label in labels)
        # "10.0.0" and "10.0.0.300" are slips, not names: a name's last part is never a number (RFC 3696, section 2).
        if is_name and not labels[-1].isdigit():
            return
        raise ValidationError(
            _("“%(value)s” is neither an IP address nor a host name; write for example 10.0.0.1 or n1.example.org."),
            params={"value": value},
        ) from None
