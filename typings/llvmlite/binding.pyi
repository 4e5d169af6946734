"""Types of the part of llvmlite's binding of LLVM that evercrawl uses."""

from collections.abc import Iterator

class ValueRef:
    """A function or a global variable."""

    name: str
    linkage: str
    is_declaration: bool

class ModuleRef:
    """A module of LLVM's intermediate representation."""

    @property
    def functions(self) -> Iterator[ValueRef]: ...
    @property
    def global_variables(self) -> Iterator[ValueRef]: ...
    def get_function(self, name: str) -> ValueRef: ...
    def link_in(self, other: ModuleRef, preserve: bool = False) -> None: ...

class FeatureMap(dict[str, bool]):
    """What a processor can do."""

    def flatten(self, sort: bool = True) -> str: ...

class TargetData:
    """How a machine lays data out; `str` writes it for an assembly."""

class TargetMachine:
    """What object code is made for."""

    @property
    def triple(self) -> str: ...
    @property
    def target_data(self) -> TargetData: ...
    def emit_object(self, module: ModuleRef) -> bytes: ...

class Target:
    """A family of processors."""

    @classmethod
    def from_triple(cls, triple: str) -> Target: ...
    def create_target_machine(
        self, cpu: str = "", features: str = "", opt: int = 2, reloc: str = "default", codemodel: str = "jitdefault"
    ) -> TargetMachine: ...

class PipelineTuningOptions:
    """How hard to optimise."""

class ModulePassManager:
    """A sequence of passes over a module."""

    def run(self, IR: ModuleRef, pb: PassBuilder) -> None: ...  # noqa: N803

class PassBuilder:
    """What makes pass managers."""

    def getModulePassManager(self) -> ModulePassManager: ...  # noqa: N802

class LLJIT:
    """A linker into memory."""

class ResourceTracker:
    """A library in memory."""

    def __getitem__(self, name: str) -> int: ...

class JITLibraryBuilder:
    """What is to become a library in memory."""

    def add_object_img(self, data: bytes) -> JITLibraryBuilder: ...
    def add_current_process(self) -> JITLibraryBuilder: ...
    def export_symbol(self, name: str) -> JITLibraryBuilder: ...
    def link(self, lljit: LLJIT, library_name: str) -> ResourceTracker: ...

def create_lljit_compiler(
    target_machine: TargetMachine | None = None, *, use_jit_link: bool = False, suppress_errors: bool = False
) -> LLJIT: ...
def create_pass_builder(tm: TargetMachine, pto: PipelineTuningOptions) -> PassBuilder: ...
def create_pipeline_tuning_options(speed_level: int = 2, size_level: int = 0) -> PipelineTuningOptions: ...
def get_default_triple() -> str: ...
def get_host_cpu_features() -> FeatureMap: ...
def get_host_cpu_name() -> str: ...
def get_process_triple() -> str: ...
def initialize_all_asmprinters() -> None: ...
def initialize_all_targets() -> None: ...
def initialize_native_asmprinter() -> None: ...
def initialize_native_target() -> None: ...
def parse_assembly(llvmir: str) -> ModuleRef: ...
