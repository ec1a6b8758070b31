"""Tokens of images by transformers' own functions: prints data/image_tokens.csv.

usage: python image_tokens.py VLLM > data/image_tokens.csv   (transformers 5.23; needs no torchvision)

VLLM is the source folder of vLLM 0.33, whose functions for InternVL are used.
"""
import ast
import math
import pathlib
import random
import sys
import transformers

models = pathlib.Path(transformers.__file__).parent / "models"


def function(file, name, **names):
    """The function `name` of a module that cannot be imported without torchvision or torch."""
    tree = ast.parse((models / file).read_text())
    body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    scope = {"math": math, **names}
    exec(compile(ast.Module(body, []), file, "exec", flags=0x1000000), scope)  # annotations as text
    return scope[name]


smart_resize = function("qwen2_vl/image_processing_qwen2_vl.py", "smart_resize")
count = function("pixtral/image_processing_pixtral.py", "_num_image_tokens")
resize = function("pixtral/image_processing_pixtral.py", "get_resize_output_image_size",
                  _num_image_tokens=count, get_image_size=lambda image, _: image)

internvl = pathlib.Path(sys.argv[1]).resolve() / "transformers_utils/processors/internvl.py"
ratios = function(internvl, "get_internvl_target_ratios")(1, 12)
targets = function(internvl, "calculate_internvl_targets",
                   find_closest_aspect_ratio=function(internvl, "find_closest_aspect_ratio"))

random.seed(7)
sizes = [(224, 224), (1080, 1920), (1, 1), (42, 70), (14, 14), (4000, 3000), (8000, 8000), (1540, 1540)]
sizes += [(random.randint(1, 6000), random.randint(30, 6000)) for _ in range(60)]
print("rule,height,width,tokens,patches")
for height, width in sizes:
    for rule, factor, least, most in [("qwen2_5_vl", 28, 3136, 12845056), ("qwen3_vl", 32, 65536, 16777216)]:
        try:
            h, w = smart_resize(height, width, factor, least, most)
            tokens = h // factor * (w // factor)
            print(f"{rule},{height},{width},{tokens},{tokens * 4}")
        except ValueError:
            print(f"{rule},{height},{width},,")
    h, w = resize((height, width), (1540, 1540), (28, 28))
    print(f"mistral3,{height},{width},{h // 28 * (w // 28 + 1)},{h // 28 * (w // 28) * 4}")
    tiles, _, _ = targets(orig_width=width, orig_height=height, target_ratios=ratios, image_size=448,
                          use_thumbnail=True)
    print(f"internvl_chat,{height},{width},{tiles * 256},{tiles * 1024}")
    try:
        h, w = smart_resize(height, width, 28, 3136, 11289600)
        print(f"dots_ocr,{height},{width},{h // 28 * (w // 28)},{h // 28 * (w // 28) * 4}")
    except ValueError:
        print(f"dots_ocr,{height},{width},,")
