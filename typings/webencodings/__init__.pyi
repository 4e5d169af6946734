"""Types of the part of webencodings that evercrawl uses."""

from codecs import CodecInfo

class Encoding:
    """An encoding of the WHATWG table: its name, and the Python codec that comes nearest."""

    name: str
    codec_info: CodecInfo

def lookup(label: str) -> Encoding | None:
    """Return the encoding that `label` names, None for an unknown label."""
