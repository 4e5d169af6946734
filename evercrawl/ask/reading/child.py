"""The child process that reads bodies, so that a harmful body cannot harm the parent.

It reads a length of 4 bytes and a `ReadRequest`, and answers in the same format, until its input ends.
"""

import resource
import struct
import sys
from typing import BinaryIO, Final

import msgspec

from evercrawl.ask.reading.readable import ReadContent, ReadRequest, read
from evercrawl.errors import EvercrawlError

MOST_MEMORY: Final = 2 << 30
"""Maximum address space of the process, in bytes."""

LENGTH: Final = struct.Struct("<I")


def main(source: BinaryIO, target: BinaryIO) -> None:
    """Answer requests until the input ends."""
    decoder, encoder = msgspec.msgpack.Decoder(ReadRequest), msgspec.msgpack.Encoder()
    while len(head := source.read(LENGTH.size)) == LENGTH.size:
        request = decoder.decode(source.read(LENGTH.unpack(head)[0]))
        try:
            answer = encoder.encode(read(request))
        except EvercrawlError as error:
            answer = encoder.encode(ReadContent(error=str(error)))
        except MemoryError:
            answer = encoder.encode(ReadContent(error=f"it takes more than {MOST_MEMORY >> 30} GiB of memory"))
        except (ValueError, TypeError, LookupError, RecursionError, RuntimeError) as error:
            answer = encoder.encode(ReadContent(error=f"{type(error).__name__}: {error}"))
        target.write(LENGTH.pack(len(answer)) + answer)
        target.flush()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main(sys.stdin.buffer, sys.stdout.buffer)
