"""How many bytes a column takes, asked of the database without reading them."""

from django.db.models import Func, IntegerField


class OctetLength(Func):
    """The bytes of a text or of bytes, as they are stored; NULL of nothing."""

    function = "octet_length"
    output_field = IntegerField()
