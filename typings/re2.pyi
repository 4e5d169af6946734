class error(Exception): ...  # noqa: N801, N818

class Options:
    class Encoding:
        UTF8: Options.Encoding
        LATIN1: Options.Encoding

    encoding: Options.Encoding
    log_errors: bool
    never_capture: bool

class _Regexp:
    def search(self, text: bytes) -> object | None: ...

def compile(pattern: bytes, options: Options | None = None) -> _Regexp: ...  # noqa: A001
