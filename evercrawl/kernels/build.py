"""Compilation of kernels in Python to object code that runs without Python and numba.

A kernel module has functions marked `compiled`, which work on arrays, and functions marked `entry`, which take C
types (pointers, integers, floats), convert them to arrays with `view`, and call the others. numba compiles each entry
as a C callback. This module links the callbacks of a module, hides all other symbols, and lets LLVM drop what is
unreachable: numba's error reports, reference counts and Python wrappers. None of these may remain, so kernels must
neither allocate nor raise.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, ParamSpec, TypeVar

import llvmlite.binding as llvm
import numba
from numba.extending import intrinsic
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS: Final[dict[str, Any]] = {"nogil": True, "error_model": "numpy", "boundscheck": False}
_FROM_LIBC: Final = {"memcpy", "memmove", "memset"}
_NO_COUNTING: Final = """
; arrays are views of what is not theirs, so nobody counts who holds them
define void @NRT_incref(ptr %array) { ret void }
define void @NRT_decref(ptr %array) { ret void }
"""
_numba: Any = numba
_types: Any = _numba.types
_intrinsic: Any = intrinsic
_ir: Any = importlib.import_module("llvmlite.ir")

i64: Final = _types.int64
u64: Final = _types.uint64
f64: Final = _types.float64
_LETTERS: Final = {i64: "q", u64: "Q", f64: "d"}

view: Callable[[Any, Any], NDArray[Any]] = _numba.carray
"""In an entry, view(pointer, shape) is an array over the memory at the pointer."""


def _trailing_zeros(_typing: Any, number: Any) -> Any:
    """Return the intrinsic's signature, and its code generator."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], _ir.IntType(1)(0))

    return number(number), generate


trailing_zeros: Callable[[Any], int] = _intrinsic(_trailing_zeros)
"""In compiled functions, the number of trailing zero bits of an unsigned number; 64 for zero."""


@dataclass(frozen=True)
class KernelEntry:
    """A function that can be called from outside, and the numba types of its result and arguments."""

    function: Callable[..., Any]
    result: Any
    arguments: tuple[Any, ...]

    @property
    def letters(self) -> str:
        """The types of the result and of the arguments, one letter each: P, or the letter of the struct module."""
        return "".join(_LETTERS.get(kind, "P") for kind in (self.result, *self.arguments))


def pointer(to: Any) -> Any:
    """Return the type of a pointer to a numpy type or dtype."""
    return _types.CPointer(_numba.from_dtype(to))


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function as callable from entries and other compiled functions only."""
    inner: Callable[P, R] = _numba.njit(**_OPTIONS, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)
    return inner


def entry(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], KernelEntry]:
    """Mark a function as callable from outside."""
    return lambda function: KernelEntry(function, result, arguments)


def build(
    module: str, machine: llvm.TargetMachine | None = None, symbol: Callable[[str], str] = str
) -> tuple[dict[str, str], bytes]:
    """Return the entries of `module`, name -> type letters, and their object code.

    Parameters
    ----------
    module
        Full name of a kernel module.
    machine
        The target; by default this processor with all its features. numba's own code must fit it too: set the
        environment variable `NUMBA_CPU_NAME` of the process to a processor without further features.
    symbol
        Maps an entry to its symbol in the object code.
    """
    made, machine = callbacks(module), machine or _this_machine()
    whole = llvm.parse_assembly(_for(machine, _NO_COUNTING))
    for name, (_, callback) in made.items():
        part = llvm.parse_assembly(_for(machine, callback.inspect_llvm()))
        part.get_function(callback.native_name).name = symbol(name)
        whole.link_in(part)
    _reduce(whole, {symbol(name) for name in made}, machine)
    return {name: letters for name, (letters, _) in made.items()}, machine.emit_object(whole)


def callbacks(module: str) -> dict[str, tuple[str, Any]]:
    """Return the entries of `module`, name -> type letters and numba's callback, which has an `address`."""
    entries = {name: e for name, e in vars(importlib.import_module(module)).items() if isinstance(e, KernelEntry)}
    return {
        name: (one.letters, _numba.cfunc(one.result(*one.arguments), **_OPTIONS)(one.function))
        for name, one in entries.items()
    }


def _reduce(module: llvm.ModuleRef, keep: set[str], machine: llvm.TargetMachine) -> None:
    """Optimise `module` as a whole, with only the functions of `keep` visible from outside."""
    for part in (*module.functions, *module.global_variables):
        if not part.is_declaration and part.name not in keep:
            part.linkage = "internal"
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    outside = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    assert outside <= _FROM_LIBC, f"kernels must not allocate or raise, yet these need {sorted(outside - _FROM_LIBC)}"


def machine_for(triple: str, processor: str, features: str = "") -> llvm.TargetMachine:
    """Return a target, in LLVM's terms, for position-independent code."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(cpu=processor, features=features, opt=3, reloc="pic", codemodel="small")


def _this_machine() -> llvm.TargetMachine:
    features = llvm.get_host_cpu_features().flatten()
    return machine_for(llvm.get_default_triple(), llvm.get_host_cpu_name(), features)


def _for(machine: llvm.TargetMachine, text: str) -> str:
    """Return an assembly for `machine`; numba writes it for the machine on which it runs."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("target "))
    return f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.target_data}"\n{body}'
