"""Certificates as servers show them, from files in PEM."""

import ssl

_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def first_of(pem: str) -> bytes:
    """Return the first certificate of a text (DER), of a chain the server's own; ValueError if there is none."""
    begin = pem.index(_BEGIN)
    return ssl.PEM_cert_to_DER_cert(pem[begin : pem.index(_END, begin) + len(_END)])
