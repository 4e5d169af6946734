"""Packages are held against what was locked: another version, a changed file and an unknown package are found."""

import base64
import hashlib
import importlib.util
import re
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
WHEEL = "0" * 64


@pytest.fixture(scope="module")
def locking() -> ModuleType:
    spec = importlib.util.spec_from_file_location("locking", ROOT / ".ci" / "lock.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def install(folder: Path, name: str, version: str, *needs: str) -> None:
    about = folder / f"{name}-{version}.dist-info"
    about.mkdir(parents=True)
    (folder / f"{name}.py").write_text(f"VERSION = {version!r}\n")
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + "".join(f"Requires-Dist: {n}\n" for n in needs)
    )
    (about / "INSTALLER").write_text("pip\n")
    rows = []
    for path in (folder / f"{name}.py", about / "METADATA", about / "INSTALLER"):
        digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
        rows.append(f"{path.relative_to(folder)},sha256={digest},{path.stat().st_size}\n")
    (about / "RECORD").write_text("".join(rows) + f"{about.name}/RECORD,,\n")


@pytest.fixture
def installed(tmp_path, locking) -> tuple[Path, Path]:
    """Return a folder with packages, and the lock of them."""
    site = tmp_path / "site"
    install(site, "evercrawl", "0.1", "one>=1", 'two[more]; extra == "dev"', 'no; extra == "lab"')
    install(site, "one", "1.5")
    install(site, "two", "2.0", 'three; extra == "more"')
    install(site, "three", "3.0")
    install(site, "other", "9.0")
    lines = []
    for package in locking.metadata.distributions(path=[str(site)]):
        if package.name in ("one", "two", "three"):
            digest = locking.list_digest(package)
            lines.append(f"{package.name}=={package.version} --hash=sha256:{WHEEL}  # files sha256:{digest}\n")
    lock = tmp_path / "lock.txt"
    lock.write_text("# comment\n" + "".join(sorted(lines)))
    return site, lock


def test_what_is_as_it_was_locked_is_fine(installed, locking):
    site, lock = installed
    assert locking.needed([str(site)]) == {"one", "two", "three"}
    assert locking.check(lock, [str(site)]) == []
    (site / "one-1.5.dist-info" / "INSTALLER").write_text("another\n")  # says nothing of the package
    assert locking.check(lock, [str(site)]) == []


def test_a_changed_file_is_found_also_where_the_list_was_changed_with_it(installed, locking):
    site, lock = installed
    (site / "two.py").write_text("VERSION = 'evil'\n")
    (sentence,) = locking.check(lock, [str(site)])
    assert sentence.startswith("two 2.0: two.py was changed")
    record = site / "two-2.0.dist-info" / "RECORD"
    digest = base64.urlsafe_b64encode(hashlib.sha256((site / "two.py").read_bytes()).digest()).rstrip(b"=").decode()
    record.write_text(re.sub(r"two\.py,sha256=[^,]*", f"two.py,sha256={digest}", record.read_text()))
    (sentence,) = locking.check(lock, [str(site)])
    assert sentence.startswith("two 2.0 has other files")


def test_other_versions_missing_and_unknown_packages_are_found(installed, locking, tmp_path):
    site, lock = installed
    text = lock.read_text()
    lock.write_text(text.replace("one==1.5", "one==1.6"))
    assert "one 1.5 is installed, and 1.6 is locked" in locking.check(lock, [str(site)])[0]
    lock.write_text(text.replace("one==1.5", "gone==1.5"))
    wrong = locking.check(lock, [str(site)])
    assert "gone 1.5 is locked and not installed" in wrong[0]
    assert "one is not locked; run: make lock" in wrong[1]
    assert "nothing is locked" in locking.check(tmp_path / "none", [str(site)])[0]
    lock.write_text("one==1.5\n")
    with pytest.raises(ValueError, match="no line of a lock"):
        locking.check(lock, [str(site)])


def test_a_locked_file_that_is_another_ends_the_installation_and_one_that_cannot_be_had_does_not(tmp_path, locking):
    """With the real pip, without a network: a wheel in a folder, whose hash is right, wrong, or of no file there."""
    wheel = tmp_path / "one-1.5-py3-none-any.whl"
    about = "one-1.5.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("one.py", "")
        file.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: one\nVersion: 1.5\n")
        file.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{about}/RECORD", "")
    offline = ["--isolated", "install", "--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "site")]
    pip = tmp_path / "pip.py"
    pip.write_text(
        "import subprocess, sys\n"
        f"asked = {offline!r} + sys.argv[sys.argv.index('install') + 1:]\n"
        "sys.exit(subprocess.run([sys.executable, '-m', 'pip', '--no-cache-dir', *asked]).returncode)\n"
    )
    digest, lock = hashlib.sha256(wheel.read_bytes()).hexdigest(), tmp_path / "lock.txt"
    for version, given, code in (("1.5", WHEEL, 1), ("1.6", digest, 0), ("1.5", digest, 0)):
        assert not (tmp_path / "site" / "one.py").exists()
        lock.write_text(f"one=={version} --hash=sha256:{given}  # files sha256:{WHEEL}\n")
        assert locking.install(lock, [sys.executable, str(pip)]) == code
    assert (tmp_path / "site" / "one.py").exists()
    assert locking.install(tmp_path / "none", ["false"]) == 0


def test_setup_installs_what_is_locked_first(locking):
    steps = (ROOT / "Makefile").read_text(encoding="utf-8").partition(".venv/ready: pyproject.toml\n")[2]
    lines = steps.partition("\n\n")[0].splitlines()
    (at,) = [number for number, line in enumerate(lines) if line == "\t$(BIN)/python .ci/lock.py install"]
    (then,) = [number for number, line in enumerate(lines) if "--editable" in line]
    assert at < then


def test_the_lock_that_is_kept_can_be_read_and_names_no_place_on_a_network(locking):
    kept = sorted((ROOT / ".ci").glob("lock-*.txt"))
    assert kept
    for lock in kept:
        text = lock.read_text(encoding="utf-8")
        assert len(locking.locked(text)) > 40
        assert "://" not in text
        assert {"numpy", "pycurl", "tantivy"} <= set(locking.locked(text))
