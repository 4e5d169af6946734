"""Blocks of sixteen URLs, one zstd frame each, mostly compressed with a dictionary of the crawl's own URLs."""

from collections.abc import Sequence
from typing import Final

import zstandard

BLOCK: Final = 16  # URLs
_LEVEL: Final = 3
_LARGEST_BYTES: Final = 1 << 26  # a frame that states a larger size is damaged
_DICTIONARY_BYTES: Final = 1 << 15
_DICTIONARY_ID: Final = 1 << 15  # the first one free for private use; it takes two bytes of a frame


class BlockCodec:
    """Converts between sixteen URLs and a zstd frame with a checksum; each URL is followed by a newline.

    Parameters
    ----------
    dictionary
        A result of `train`, or b"" for none. Frames made without a dictionary can be decoded with any.

    Raises
    ------
    ValueError
        The dictionary is damaged.

    Examples
    --------
    >>> urls = [f"http://example.org/page/{i}" for i in range(16)]
    >>> frame = BlockCodec().encode(urls)
    >>> len(frame) < 100, BlockCodec().decode(frame) == urls
    (True, True)
    """

    def __init__(self, dictionary: bytes = b"") -> None:
        self.trained = bool(dictionary)
        if not dictionary:
            self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True)
            self._decompressor = zstandard.ZstdDecompressor()
            return
        try:
            loaded = zstandard.ZstdCompressionDict(dictionary, dict_type=zstandard.DICT_TYPE_FULLDICT)
            self._compressor = zstandard.ZstdCompressor(level=_LEVEL, dict_data=loaded, write_checksum=True)
            self._decompressor = zstandard.ZstdDecompressor(dict_data=loaded)
            self._compressor.compress(b"")  # this parses the dictionary
        except zstandard.ZstdError as error:
            raise ValueError(f"it is not a dictionary: {error}") from error

    def encode(self, urls: Sequence[str]) -> bytes:
        """Return the frame of a block of URLs."""
        text = "\n".join(urls) + "\n"
        assert text.count("\n") == BLOCK == len(urls), "sixteen URLs, none with a line break"
        return self._compressor.compress(text.encode())

    def decode(self, frame: bytes) -> list[str]:
        """Return the URLs of a frame.

        Raises
        ------
        ValueError
            The frame is damaged.
        """
        try:
            if zstandard.get_frame_parameters(frame).content_size > _LARGEST_BYTES:
                raise ValueError("it claims to be larger than sixteen URLs can be")
            urls = self._decompressor.decompress(frame).decode().split("\n")
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
        if urls.pop() or len(urls) != BLOCK:
            raise ValueError(f"it holds {len(urls)} URLs")
        return urls


def needs_dictionary(frame: bytes) -> bool:
    """Return whether a frame was made with a dictionary; False for invalid frames."""
    try:
        return zstandard.get_frame_parameters(frame).dict_id != 0
    except zstandard.ZstdError:
        return False


def train(blocks: Sequence[Sequence[str]]) -> bytes:
    """Return a dictionary for URLs like these; b"" if they are too few or too similar to gain from one."""
    samples: list[bytes | bytearray | memoryview] = ["".join(f"{url}\n" for url in urls).encode() for urls in blocks]
    try:
        return zstandard.train_dictionary(_DICTIONARY_BYTES, samples, dict_id=_DICTIONARY_ID).as_bytes()
    except zstandard.ZstdError:
        return b""
