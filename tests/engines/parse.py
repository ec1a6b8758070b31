"""usage: parse.py ENGINE FOLDER   with lines of JSON on standard input, each the words of a command

Gives the words to the argument parser of the engine whose package is in FOLDER, without starting anything. Writes a line of
JSON for each: [] where they are taken, else what is wrong; deprecated options begin with "deprecated".
"""
import argparse
import contextlib
import dataclasses
import importlib
import io
import json
import sys
import tempfile
import typing
import warnings

import tensorrt_parser
from missing import stand_in_for


def first(name, *modules):
    """The attribute `name` of the first of these modules that there is."""
    for module in modules:
        with contextlib.suppress(ModuleNotFoundError, AttributeError):
            return getattr(importlib.import_module(module), name)
    raise ImportError(f"{name}: in none of {modules}")


def words_of(config, given):
    """Complaints about the keys of a JSON object for a dataclass, and about its `method`, if that is a Literal."""
    fields = {each.name: each.type for each in dataclasses.fields(config)}
    wrong = [f"{config.__name__} has no {key}" for key in given if key not in fields]
    methods = literals(typing.get_type_hints(config).get("method"))
    if methods and given.get("method") not in methods:
        wrong.append(f"method {given.get('method')!r}: {config.__name__} takes {', '.join(sorted(methods))}")
    return wrong


def literals(kind):
    if typing.get_origin(kind) is typing.Literal:
        return set(typing.get_args(kind))
    return {each for part in typing.get_args(kind) for each in literals(part)}


def vllm():
    """The parser of `vllm serve`. Its default device is asked of the platform; here that is a card without a name."""
    platforms = importlib.import_module("vllm.platforms")
    interface = importlib.import_module("vllm.platforms.interface")
    platforms._current_platform = type("Card", (interface.UnspecifiedPlatform,), {"device_type": "cuda"})()
    kind = first("FlexibleArgumentParser", "vllm.utils.argparse_utils", "vllm.utils")
    make = first("make_arg_parser", *(f"vllm.entrypoints.{each}.cli_args" for each in ("common", "launchers", "openai")))
    parser, speculative = make(kind()), importlib.import_module("vllm.config").SpeculativeConfig

    def parse(words):
        given = parser.parse_args(words[2:]).speculative_config  # after "vllm serve"
        return words_of(speculative, given) if given else []

    return parse


def sglang():
    server_args = importlib.import_module("sglang.srt.server_args")
    parser = argparse.ArgumentParser()
    server_args.ServerArgs.add_cli_args(parser)

    def parse(words):
        parser.parse_args(words[3:])  # after "python3 -m sglang.launch_server"
        return []

    return parse


class Parsed(Exception):
    pass


def mlx_lm():
    """Runs main() of the command until it has parsed."""
    own = argparse.ArgumentParser.parse_args

    def parse_args(self, *rest, **more):
        own(self, *rest, **more)
        raise Parsed

    def parse(words):
        argparse.ArgumentParser.parse_args, sys.argv = parse_args, words
        with contextlib.suppress(Parsed):
            importlib.import_module(words[0]).main()  # mlx_lm.server, mlx_lm.convert
        return []

    return parse


def tensorrt_llm():
    """After "trtllm-serve" come words; that of --extra_llm_api_options is the file's text."""
    serve = tensorrt_parser.parser(sys.path[0])

    def parse(words):
        words = words[1:]
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            if "--extra_llm_api_options" in words:
                at = words.index("--extra_llm_api_options") + 1
                file.write(words[at])
                file.flush()
                words[at] = file.name
            serve(words)
        return []

    return parse


def deepspeed():
    """The words are the file's kind and its text."""
    training = importlib.import_module("deepspeed.runtime.config").DeepSpeedConfig
    inference = importlib.import_module("deepspeed.inference.config").DeepSpeedInferenceConfig

    def parse(words):
        given = json.loads(words[1])
        if words[0] == "deepspeed-inference":
            inference(**given)
        else:
            training(given, mpu=type("One", (), {"get_data_parallel_world_size": lambda self: 1})())
        return []

    return parse


def answer(parse, words):
    said = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        warnings.simplefilter("always")
        try:
            wrong = parse(words)
        except SystemExit:
            wrong = [said.getvalue().strip().split("\n")[-1]]
        except Exception as error:
            wrong = [f"{type(error).__name__}: {error}".split("\n")[0]]
    words = [str(each.message) for each in caught] + said.getvalue().split("\n")
    return wrong or sorted({f"deprecated: {each}" for each in words if "is deprecated" in each})


def main(engine, folder):
    out = sys.stdout
    sys.path.insert(0, folder)
    with contextlib.redirect_stdout(sys.stderr):
        if engine != "deepspeed":  # which is installed with all that it needs
            stand_in_for(engine)
        parse = globals()[engine]()
    for line in sys.stdin:
        print(json.dumps(answer(parse, json.loads(line))), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
