"""Tells whether bytes are one X.509 certificate that every TLS library accepts (RFC 5280, X.690 DER).

OpenSSL, which Python uses, accepts more than Envoy's BoringSSL: lengths that are not minimal, invalid versions and
dates. `cryptography` is as strict as BoringSSL, but parses each part only when it is accessed. Parameters of unknown
algorithms, which it does not parse, are refused: nothing can be verified with them.
"""

from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

#: A field for extensions without any, in DER.
_NO_EXTENSIONS: Final = b"\xa3\x02\x30\x00"
_INVALID: Final = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.InvalidVersion,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)


def is_certificate(der: bytes) -> bool:
    """Tell whether the bytes are one certificate, whole and nothing else. Its signature and dates are not checked."""
    try:
        found = x509.load_der_x509_certificate(der)
        _ = found.not_valid_before_utc, found.not_valid_after_utc, found.signature_hash_algorithm, found.public_key()
        if not (_is_text(found.subject) and _is_text(found.issuer)):
            return False
        if len(found.extensions):
            return found.version is x509.Version.v3
        return not found.tbs_certificate_bytes.endswith(_NO_EXTENSIONS)
    except _INVALID:
        return False


def _is_text(name: x509.Name) -> bool:
    """Tell whether a name has nothing but characters of Unicode's first plane, surrogates and noncharacters not."""
    texts = (each.value for each in name)
    return all(isinstance(text, str) and all(map(_is_character, text)) for text in texts)


def _is_character(character: str) -> bool:
    return character < "\ud800" or "\ue000" <= character < "\ufdd0" or "\ufdf0" <= character <= "\ufffd"
