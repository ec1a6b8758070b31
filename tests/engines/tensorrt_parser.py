"""The parser of `trtllm-serve` and the class of its options, LlmArgs, from TensorRT-LLM's source alone.

Only the two files that define them are TensorRT-LLM's; what they import of its other files, and its compiled part, is stood in for.
"""
import enum
import importlib
import importlib.machinery
import sys
import types
from unittest.mock import MagicMock

import pydantic

# Packages whose files are looked up, and modules that are read. Each other module of tensorrt_llm is stood in for.
PACKAGES = {"tensorrt_llm", "tensorrt_llm.commands", "tensorrt_llm.llmapi"}
READ = {"tensorrt_llm.commands.serve", "tensorrt_llm.logger", "tensorrt_llm.llmapi.llm_args"}


class Kind(type):
    __members__ = {}  # as an enumeration of the compiled part

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=name)

    def __iter__(cls):
        return iter(())


class Module(types.ModuleType):
    """Each name that is asked for is a class, which can be a type of a field, be called, and has any attribute."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, Kind(name, (), {"__init__": lambda self, *words, **named: None, "__module__": self.__name__}))
        return self.__dict__[name]


class OfTensorrt:
    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "tensorrt_llm" or name in READ:
            return None
        spec = importlib.machinery.ModuleSpec(name, self, is_package=True)
        if name in PACKAGES:
            spec.submodule_search_locations = [f"{self.folder}/{name.replace('.', '/')}"]
        return spec

    def create_module(self, spec):
        return Module(spec.name)

    def exec_module(self, module):
        module.__path__ = module.__spec__.submodule_search_locations or []


def parser(folder):
    """A function from words after `trtllm-serve` to nothing, which raises what TensorRT-LLM does."""
    sys.meta_path.insert(0, OfTensorrt(folder))
    sys.modules.setdefault("strenum", enum)
    pydantic.BaseModel.model_config["arbitrary_types_allowed"] = True  # types that are stood in for
    serve = importlib.import_module("tensorrt_llm.commands.serve")
    arguments = importlib.import_module("tensorrt_llm.llmapi.llm_args")
    serve.KvCacheConfig, serve.update_llm_args_with_extra_dict = arguments.KvCacheConfig, arguments.update_llm_args_with_extra_dict
    serve.device_count = lambda: 8
    serve.parse_metadata_server_config_file = lambda file: None
    taken = []

    def launch_server(host, port, llm_args, *rest):
        for key in ("build_config", "scheduler_config"):
            llm_args.pop(key)
        taken.append(arguments.TorchLlmArgs(**llm_args))

    serve.launch_server = launch_server

    def parse(words):
        taken.clear()
        serve.serve.main(args=words, standalone_mode=False)
        return taken[0]

    return parse
