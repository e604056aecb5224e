"""Tells whether bytes are one X.509 certificate in the form that every TLS library takes (RFC 5280, X.690 DER).

OpenSSL, which Python asks, takes more than Envoy's BoringSSL does: lengths that are not minimal, versions and dates
that do not exist. `cryptography` reads DER as strictly, names and extensions once they are asked for. It takes no
Latin letters in a TeletexString, which Envoy does: such names are older than RFC 3280 of 2002.
"""

from cryptography import x509

#: A field for extensions without any, in DER.
_NO_EXTENSIONS = b"\xa3\x02\x30\x00"
_INVALID = (ValueError, TypeError, x509.InvalidVersion, x509.DuplicateExtension, x509.UnsupportedGeneralNameType)


def is_certificate(der: bytes) -> bool:
    """Tell whether the bytes are one certificate, whole and nothing else. Its signature and dates are not checked."""
    try:
        found = x509.load_der_x509_certificate(der)
        _ = found.subject, found.issuer, found.not_valid_before_utc, found.not_valid_after_utc
        if len(found.extensions):
            return found.version is x509.Version.v3
        return not found.tbs_certificate_bytes.endswith(_NO_EXTENSIONS)
    except _INVALID:
        return False
