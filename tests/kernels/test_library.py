"""Kernels compiled, kept and loaded again, in a package that is made for each test."""

import itertools
import os
import stat
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

from evercrawl.kernels import Library, address_table, build, jit, library, missing, pointer, warm
from evercrawl.kernels.cache import VARIABLE

KERNEL = """
import numpy as np
from evercrawl.kernels.build import compiled, entry, f64, i64, pointer, u64, view
from {package}.more import STEP

@compiled
def _sum(values):
    total = 0
    for value in values:
        total += value * STEP
    return total

@entry(i64, pointer(np.int64), i64)
def total(values, n):
    return _sum(view(values, n))

@entry(f64, f64, u64, i64)
def mixed(a, b, c):
    return a + np.float64(b) * np.float64(c)
"""
SUM = "import numpy as np, sys\nfrom evercrawl.kernels import Library, pointer\n"
SUM += "print(Library({module!r})['total'](pointer(np.arange(5)), 5), 'numba' in sys.modules)"
count = itertools.count()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A new package with one kernel module, alone in a folder; nothing is kept of it yet, and home is elsewhere."""
    package = tmp_path / f"made{next(count)}"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "more.py").write_text("STEP = 1\n")
    (package / "kernel.py").write_text(KERNEL.format(package=package.name))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(Library, "named", [])
    return package


def module(folder):
    return f"{folder.name}.kernel"


def total(made):
    return made["total"](pointer(np.arange(5)), 5)


def kept(folder):
    return sorted(folder.rglob("*.kernels"))


def elsewhere(folder):
    """Ask another process for the sum; return it, and whether numba was needed."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder.parent), *sys.path])}
    code = SUM.format(module=module(folder))
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)


def answer(process):
    out = process.communicate(timeout=100)[0]
    assert process.returncode == 0
    return out.split()


def test_compiled_once_then_loaded_without_numba(folder):
    made = Library(module(folder))
    assert missing()
    assert warm()
    assert not missing()
    assert total(made) == 10
    assert made["mixed"](0.5, 2**63, -2) == 0.5 - 2.0**64
    assert len(kept(folder)) == 1
    assert answer(elsewhere(folder)) == ["10", "False"]


def test_two_processes_compile_at_once(folder):
    both = [elsewhere(folder), elsewhere(folder)]
    assert [answer(process)[0] for process in both] == ["10", "10"]
    assert answer(elsewhere(folder)) == ["10", "False"]
    assert [path.suffix for path in (folder / "__pycache__").iterdir() if path.suffix != ".pyc"] == [".kernels"]


def two_modules(folder):
    (folder / "second.py").write_text((folder / "kernel.py").read_text())
    return [Library(module(folder)), Library(f"{folder.name}.second")]


def test_several_modules_are_compiled_beside_each_other(folder, monkeypatch):
    made = two_modules(folder)
    monkeypatch.delattr(build, "build")
    assert warm(2)
    assert [total(one) for one in made] == [10, 10]
    assert len(kept(folder)) == 2
    assert not jit()


def test_where_other_processes_die_this_one_compiles(folder):
    dies = "\nimport multiprocessing, os\nif multiprocessing.parent_process():\n    os._exit(3)\n"
    (folder / "kernel.py").write_text((folder / "kernel.py").read_text() + dies)
    made = two_modules(folder)
    assert warm(2)
    assert [total(one) for one in made] == [10, 10]
    assert len(kept(folder)) == 2


def test_a_damaged_file_is_made_anew(folder):
    Library(module(folder)).load()
    path = kept(folder)[0]
    whole = path.read_bytes()
    for at in [0, 40, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert not Library(module(folder)).found()
        path.write_bytes(whole[:at])
        assert not Library(module(folder)).found()
    assert total(Library(module(folder))) == 10
    assert kept(folder) == [path]
    assert Library(module(folder)).found()


@pytest.mark.parametrize("name", ["kernel.py", "more.py"])
def test_a_changed_source_is_compiled_anew(folder, name):
    Library(module(folder)).load()
    assert Library(module(folder)).found()
    with (folder / name).open("a") as file:
        file.write("# changed\n")
    assert not Library(module(folder)).found()


def test_another_processor_has_a_file_of_its_own(folder, monkeypatch):
    Library(module(folder)).load()
    monkeypatch.setattr(library, "_target", lambda: ("another",))
    assert not Library(module(folder)).found()
    assert total(Library(module(folder))) == 10
    assert len(kept(folder)) == 2


def test_the_users_cache_serves_where_the_package_cannot_be_written(folder):
    (folder / "__pycache__").touch()  # no folder can be made of it, not even by root
    assert Library(module(folder)).load()
    home = folder.parent / "home" / "evercrawl"
    assert len(kept(home)) == 1
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert answer(elsewhere(folder)) == ["10", "False"]
    home.chmod(0o777)
    assert not Library(module(folder)).found()


@pytest.mark.parametrize("mode", [0o664, 0o646, 0o622])
def test_what_others_could_have_written_is_not_loaded_and_made_anew(folder, mode):
    Library(module(folder)).load()
    (path,) = kept(folder)
    path.chmod(mode)
    assert not Library(module(folder)).found()
    assert total(Library(module(folder))) == 10
    assert not stat.S_IMODE(path.stat().st_mode) & 0o022
    assert Library(module(folder)).found()


def test_what_belongs_to_a_stranger_is_not_loaded(folder, monkeypatch):
    Library(module(folder)).load()
    real = os.fstat

    def others(descriptor: int) -> os.stat_result:
        about = list(real(descriptor))
        about[stat.ST_UID] = real(descriptor).st_uid + 4_000
        return os.stat_result(about)

    monkeypatch.setattr(os, "fstat", others)
    assert not Library(module(folder)).found()
    monkeypatch.undo()


def test_a_link_to_elsewhere_is_not_followed(folder):
    Library(module(folder)).load()
    (path,) = kept(folder)
    path.rename(folder / "elsewhere")
    path.symlink_to(folder / "elsewhere")
    assert not Library(module(folder)).found()


def test_what_cannot_be_kept_works_and_says_so(folder, monkeypatch):
    (folder / "__pycache__").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "more.py"))
    made = Library(module(folder))
    assert not warm()
    assert total(made) == 10


def test_who_has_no_home_can_do_without(folder, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", classmethod(lambda _: Path("~nobody-at-all").expanduser()))
    assert total(Library(module(folder))) == 10
    assert Library(module(folder)).found()


@pytest.mark.parametrize("line", ["return len(np.empty(n, np.int64)[:n])", "raise ValueError"])
def test_kernels_neither_allocate_nor_raise(folder, line):
    (folder / "kernel.py").write_text(
        "import numpy as np\nfrom evercrawl.kernels.build import entry, i64\n"
        f"@entry(i64, i64)\ndef bad(n):\n    if n > 0:\n        {line}\n    return 0\n"
    )
    with pytest.raises(AssertionError, match="must not allocate or raise"):
        build.build(module(folder))
    with pytest.warns(RuntimeWarning, match="AssertionError: kernels must not allocate or raise"):
        assert Library(module(folder))["bad"](0) == 0


FAILURES = [
    ("llvmlite.binding.create_lljit_compiler", RuntimeError("no such\nprocessor")),
    ("llvmlite.binding.get_host_cpu_name", AttributeError("moved")),
    ("evercrawl.kernels.build._reduce", AttributeError("moved")),
    ("evercrawl.kernels.cache.keep", ImportError("private")),
]


@pytest.mark.parametrize(("broken", "error"), FAILURES)
def test_where_compiling_ahead_fails_numba_compiles_for_the_process(folder, monkeypatch, broken, error):
    """It is said once, to whoever asks first, and not by processes that are started from there."""

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(broken, fails)
    library._linker.cache_clear()
    library._target.cache_clear()
    made, other = Library(module(folder)), Library(module(folder))
    with pytest.warns(RuntimeWarning, match="each process compiles its inner loops anew") as said:
        assert warm()
    assert [str(one.message).count("\n") for one in said] == [0]
    assert jit()
    for one in (made, other):
        assert total(one) == 10
        assert one["mixed"](0.5, 2**63, -2) == 0.5 - 2.0**64
    assert not missing()
    assert answer(elsewhere(folder)) == ["10", "True"]


def test_who_asks_for_it_gets_kernels_of_this_process_alone(folder, monkeypatch):
    Library(module(folder)).load()
    monkeypatch.setenv(VARIABLE, "jit")
    made = Library(module(folder))
    assert not made.found()
    assert made.load()
    assert total(made) == 10
    assert len(kept(folder)) == 1
    assert answer(elsewhere(folder)) == ["10", "True"]


def test_pointers_lead_to_whatever_lies_side_by_side(folder):
    made = Library(module(folder))
    fixed = np.arange(4)
    fixed.flags.writeable = False
    assert made["total"](pointer(fixed), 4) == 6
    assert made["total"](fixed.tobytes(), 4) == 6
    assert made["total"](pointer(np.empty(0, np.int64)), 0) == 0
    with pytest.raises(AssertionError, match="contiguous"):
        pointer(np.arange(6)[::2])


def test_addresses_keep_their_arrays():
    array = np.arange(5)
    where, alive = address_table(np.zeros(3), array), weakref.ref(array)
    assert list(where)[1] == array.ctypes.data
    del array
    assert alive() is not None
    del where
    assert alive() is None
    with pytest.raises(AssertionError, match="contiguous"):
        address_table(np.arange(6)[::2])


def test_every_library_of_a_crawl_is_warmed():
    code = "import evercrawl.crawl.session as s; from evercrawl.kernels import Library\n"
    code += "print(*sorted(one.module.removeprefix('evercrawl.') for one in Library.named))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    named = [
        "arrays._numbering_kernel", "arrays._siphash_kernel", "model.web._near_kernel", "parse._scan_kernel",
        "parse._simhash_kernel",
        "schedule.clocks._exposure_kernel", "schedule.clocks._learn_kernel", "schedule.frontier._entries",
        "schedule.policies.price._kernel", "search._anchors_kernel", "search._condense_kernel",
        "store.journal._codec_kernels", "store.table._entries",
    ]  # fmt: skip
    assert done.stdout.split() == named
