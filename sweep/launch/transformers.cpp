// Python for transformers.
#include <fmt/format.h>

#include "sweep/launch/launch.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

std::string max_memory(const LaunchPoint& point) {
  std::string text;
  for (const auto& [device, mib] : max_memory_mib(point))
    text += fmt::format("    {}: \"{}MiB\",\n", device == "cpu" ? "\"cpu\"" : device, mib);
  return text;
}

std::string_view torch_type(const model::Scheme& scheme) {
  if (scheme.name == "fp32") return "torch.float32";
  if (scheme.name == "fp16") return "torch.float16";
  return "torch.bfloat16";
}

/// `extra`: arguments of from_pretrained beside the usual ones, whole lines.
std::string script(const LaunchPoint& point, std::string_view imports, std::string_view extra) {
  const model::Estimate& e = point.estimate();
  return fmt::format(
      R"(# {0} on {1}: {2} (sure: {3}).
# Expected: ready after {4}, first token after {5}, {6:.3g} tokens/s.
import os

# Fewer fragments: allocations may grow in place.
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer{7}

MODEL = {8}
OFFLOAD = "./offload"
# What each device may hold of the weights; the rest of a card is for the KV cache and activations.
MAX_MEMORY = {{
{9}}}


def load():
    os.makedirs(OFFLOAD, exist_ok=True)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return AutoModelForCausalLM.from_pretrained(
        MODEL,
        dtype={10},
        device_map="auto",
        max_memory=MAX_MEMORY,
        offload_folder=OFFLOAD,
        offload_state_dict=True,
{11}    )


if __name__ == "__main__":
    model = load()
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    inputs = tokenizer("Hello", return_tensors="pt").to(model.device)
    print(tokenizer.decode(model.generate(**inputs, max_new_tokens={12}{13})[0]))
    print(model.hf_device_map)
)",
      point.model().name, point.scenario.machine->name, model::name_of(e.verdict),
      model::name_of(e.sure), duration(e.load.value()), duration(e.ttft.value()), e.tokens_s,
      imports, python_quoted(point.model().name), max_memory(point), torch_type(point.scheme()),
      extra, point.scenario.output_tokens, point.scenario.kv_cache ? "" : ", use_cache=False");
}

}  // namespace

std::string transformers_script(const LaunchPoint& point) {
  if (point.scheme().family == model::SchemeFamily::gguf)
    throw std::invalid_argument(
        "transformers unpacks GGUF files to 16 bit: choose another precision");
  if (point.scheme().name == "int8") return transformers_8bit_script(point);
  if (point.scheme().family == model::SchemeFamily::bitsandbytes)
    return script(
        point, ", BitsAndBytesConfig",
        fmt::format("        quantization_config=BitsAndBytesConfig(load_in_4bit=True, "
                    "bnb_4bit_quant_type=\"{}\",\n            "
                    "bnb_4bit_use_double_quant={}, bnb_4bit_compute_dtype=torch.bfloat16),\n",
                    point.scheme().name.starts_with("fp4") ? "fp4" : "nf4",
                    point.scheme().name.ends_with("-double") ? "True" : "False"));
  return script(point, "", "");
}

std::string transformers_8bit_script(const LaunchPoint& point) {
  return script(point, ", BitsAndBytesConfig",
                "        quantization_config=BitsAndBytesConfig(load_in_8bit=True),\n");
}

}  // namespace headroom::sweep
