"""Stands in for packages that an engine imports and that are not installed: its parser of arguments needs none of them."""
import importlib.machinery
import sys
from unittest.mock import MagicMock

# Engines take these to mean an accelerator of that kind.
ABSENT = {"amdsmi", "habana_frameworks", "libtpu", "torch_neuronx", "torch_npu", "torch_xla", "tpu_inference"}


class Standin:
    """A finder and loader. Only imports by files of `package` are answered: other packages ask what is installed."""

    def __init__(self, package):
        self.package = package

    def find_spec(self, name, path=None, target=None):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.startswith("<frozen importlib") or frame.f_code.co_name == "import_module":
            frame = frame.f_back
        by = frame.f_globals.get("__name__", "").split(".")[0]
        if by != self.package or name.split(".")[0] in {self.package, *ABSENT, *sys.stdlib_module_names}:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__, module.__name__, module.__version__ = [], spec.name, "99"
        return module

    def exec_module(self, module):
        pass


def stand_in_for(package):
    sys.meta_path.append(Standin(package))
