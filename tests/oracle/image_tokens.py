"""Tokens of images by transformers' own functions: prints data/image_tokens.csv.

usage: python image_tokens.py > data/image_tokens.csv   (transformers 5.23; needs no torchvision)
"""
import ast
import math
import pathlib
import random
import transformers

models = pathlib.Path(transformers.__file__).parent / "models"


def function(file, name, **names):
    """The function `name` of a module that cannot be imported without torchvision."""
    tree = ast.parse((models / file).read_text())
    body = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    scope = {"math": math, **names}
    exec(compile(ast.Module(body, []), file, "exec", flags=0x1000000), scope)  # annotations as text
    return scope[name]


smart_resize = function("qwen2_vl/image_processing_qwen2_vl.py", "smart_resize")
count = function("pixtral/image_processing_pixtral.py", "_num_image_tokens")
resize = function("pixtral/image_processing_pixtral.py", "get_resize_output_image_size",
                  _num_image_tokens=count, get_image_size=lambda image, _: image)

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
