// Python for transformers.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/answer/placement/strategy.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "sweep/launch/checkpoint.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"
#include "sweep/place/place.hpp"
#include "sweep/screen/verdict_text.hpp"

namespace headroom::sweep {
namespace {

using model::SchemeFamily;

/// The value of a device in Python: 0, "mps", "cpu", "disk".
std::string device_in_python(const LaunchPoint& point, const std::string& device) {
  if (device == "cpu" || device == "disk") return '"' + device + '"';
  return point.scenario.machine->devices.front().vendor == "apple" ? "\"mps\"" : device;
}

/// True if the mappers of accelerate (transformers 4) and of transformers 5 write one placement for
/// `made.memory`.
bool both_write(const LaunchPoint& point, const model::Mapped& made) {
  const model::Model& model = point.model();
  const auto type = model::mapper_dtype(point.scheme().name);
  const model::ModuleTree as_cast(model.part, type);
  const model::ModuleTree as_loaded(model.part, std::nullopt, type->element,
                                    model::Counting::transformers);
  try {
    for (const auto mapper : {model::Mapper::accelerate, model::Mapper::transformers}) {
      const auto& tree = mapper == model::Mapper::accelerate ? as_cast : as_loaded;
      const auto map = model::infer_device_map(tree, made.memory,
                                               {.mapper = mapper, .no_split = model.part.no_split});
      if (!(model::assignment_of(model, map) == made.assignment)) return false;
    }
  } catch (const std::exception&) {
    return false;  // the mapper itself fails, or splits a layer
  }
  return true;
}

/// True if the limits leave host memory what the process takes. The mapper keeps room for a layer
/// that is streamed, so a limit that fills the memory may be above it.
bool leaves_process_room(const LaunchPoint& point, const model::Mapped& made) {
  const model::Scenario& s = point.scenario;
  const model::MaxMemory shares = model::weights_share(s, model::place(s, 1.0));
  const auto of_cpu = [](const model::MaxMemory& memory) {
    return std::ranges::find(memory, "cpu", &model::DeviceMemory::device);
  };
  const auto asked = of_cpu(made.memory), room = of_cpu(shares);
  return asked == made.memory.end() || room == shares.end() || asked->limit <= room->limit;
}

/// How the placement of the estimate is passed on.
struct Passed {
  std::string definition;  ///< lines of Python
  std::string arguments;   ///< of from_pretrained
};

/// max_memory where that is enough; the map itself where the mappers would make another, or where a
/// quantiser changes what they measure.
Passed passed_on(const LaunchPoint& point) {
  const model::ModuleTree tree = model::held_tree(*point.scenario.weights);
  const auto made = model::as_map(point.scenario, tree, {.no_split = point.model().part.no_split});
  if (!made) throw std::invalid_argument("this runtime takes no device map");
  Passed out;
  const bool plain = point.scheme().family == SchemeFamily::plain;
  if (made->written && plain && leaves_process_room(point, *made) && both_write(point, *made)) {
    out.definition =
        "# What each device may hold of the weights: filled in order, these make the placement\n"
        "# above. The rest of a card is for the KV cache and activations.\nMAX_MEMORY = {\n";
    for (const auto& each : made->memory)
      if (each.given)
        out.definition += fmt::format("    {}: \"{}MiB\",\n", device_in_python(point, each.device),
                                      each.limit / 8 >> 20);
    out.arguments = "        device_map=\"sequential\",\n        max_memory=MAX_MEMORY,\n";
  } else {
    out.definition =
        fmt::format("# Where each module goes: the placement above; {}.\nDEVICE_MAP = {{\n",
                    names_note(point.model(), made->map));
    for (const auto& [module, device] : made->map)
      out.definition +=
          fmt::format("    {}: {},\n", python_quoted(module), device_in_python(point, device));
    out.arguments = "        device_map=DEVICE_MAP,\n";
  }
  out.definition += "}\n";
  return out;
}

/// Contents of each device, as comments.
std::string placement_of(const LaunchPoint& point) {
  std::string text;
  for (const auto& use : point.explained.devices)
    if (use.total > Bytes(0))
      text += comment(fmt::format("  {}: {} of {}{}{}", use.name, to_text(use.total),
                                  to_text(use.budget), use.layers.empty() ? "" : ", layers ",
                                  use.layers));
  return text;
}

std::string_view torch_type_of(const model::Scheme& scheme) {
  if (scheme.name == "fp32") return "torch.float32";
  if (scheme.name == "fp16") return "torch.float16";
  return "torch.bfloat16";
}

/// Python code for adapters, draft model and images: classes to import, lines after the model is
/// loaded, construction of a prompt, and arguments of generate.
struct ServedCode {
  std::string model_class = "AutoModelForCausalLM", reader_class = "AutoTokenizer", imports, setup,
              inputs, generate;
};

ServedCode served_code(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  ServedCode out;
  out.inputs = s.batch > 1 ? fmt::format("reader([\"Hello\"] * {}, return_tensors=\"pt\")", s.batch)
                           : "reader(\"Hello\", return_tensors=\"pt\")";
  if (s.images.count > 0) {
    out.model_class = "AutoModelForImageTextToText";
    out.reader_class = "AutoProcessor";
    out.inputs = fmt::format(
        "reader.apply_chat_template(\n        [{{\"role\": \"user\", \"content\": [{{\"type\": "
        "\"image\", \"path\": \"image.png\"}}] * {} + [{{\"type\": \"text\", \"text\": "
        "\"Hello\"}}]}}],\n        add_generation_prompt=True, tokenize=True, return_dict=True, "
        "return_tensors=\"pt\",\n    )",
        s.images.count);
  }
  if (point.adapters != nullptr)
    out.setup += fmt::format(
        "    for i in range(1, {} + 1):  # PEFT's folders\n        "
        "model.load_adapter(f\"adapter-{{i}}\", adapter_name=f\"adapter-{{i}}\")\n",
        point.adapters->count);
  if (const auto* format = s.runtime->cache.format(*model::cache_precision(s).keys);
      s.kv_cache && !format->word.empty())
    out.generate = fmt::format(
        ",\n        cache_implementation=\"quantized\",\n        cache_config={{\"backend\": "
        "\"hqq\", \"nbits\": {}, \"q_group_size\": 64, \"axis_key\": 1, \"axis_value\": 1}}",
        format->word);
  if (s.draft != nullptr && s.draft->proposer == model::Proposer::modules)
    out.generate += ", use_mtp=True";
  else if (s.draft != nullptr && s.draft->proposer == model::Proposer::lookup)
    out.generate += fmt::format(", prompt_lookup_num_tokens={}", s.draft->tokens);
  else if (s.draft != nullptr) {
    const model::QuantisedModel& draft = *s.draft->weights;
    if (draft.scheme->family != SchemeFamily::plain &&
        draft.scheme->name != draft.model->checkpoint_scheme)
      throw std::invalid_argument(
          fmt::format("the script loads a draft model as its checkpoint has it or in 16 bit, not "
                      "in {}",
                      draft.scheme->name));
    if (s.images.count > 0) out.imports = ", AutoModelForCausalLM";
    out.setup += fmt::format(
        "    draft = AutoModelForCausalLM.from_pretrained({}, dtype={}, device_map={{\"\": "
        "model.device}})\n    draft.generation_config.num_assistant_tokens = {}\n    "
        "draft.generation_config.num_assistant_tokens_schedule = \"constant\"\n",
        python_quoted(draft.model->name), torch_type_of(*draft.scheme), s.draft->tokens);
    out.generate += ", assistant_model=draft";
    if (draft.model->shape.vocabulary != point.model().shape.vocabulary) {
      out.imports += ", AutoTokenizer";
      if (s.images.count == 0) out.imports.clear();
      out.generate +=
          fmt::format(", tokenizer=reader, assistant_tokenizer=AutoTokenizer.from_pretrained({})",
                      python_quoted(draft.model->name));
    }
  }
  return out;
}

/// `extra`: further arguments of from_pretrained, as complete lines.
/// An empty one: transformers loads the weights as their checkpoint has them.
std::string script(const LaunchPoint& point, std::string_view imports, std::string_view extra) {
  const model::Estimate& e = point.estimate();
  const Passed passed = passed_on(point);
  const ServedCode served = served_code(point);
  return fmt::format(
      R"({0}# Expected: ready after {1}, first token after {2}, {3}.
{11}import os

# Fewer fragments: allocations may grow in place.
os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import torch
from transformers import {13}, {14}{4}{15}

MODEL = {5}
OFFLOAD = "./offload"
{6}

def load():
    os.makedirs(OFFLOAD, exist_ok=True)
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return {13}.from_pretrained(
        MODEL,
        dtype={7},
{12}        offload_folder=OFFLOAD,
        offload_state_dict=True,
{8}    )


if __name__ == "__main__":
    model = load()
{16}    reader = {14}.from_pretrained(MODEL)
    inputs = {17}.to(model.device)
    print(reader.decode(model.generate(**inputs, max_new_tokens={9}{10}{18})[0]))
    print(getattr(model, "hf_device_map", model.device))  # none where all is on one device
)",
      comment(fmt::format("{} on {}: {}.", point.model().name, point.scenario.machine->name,
                          verdict_text(point.scenario, e))),
      duration(e.load.value()), duration(e.ttft.value()), point.rate_words(), imports,
      Checkpoint(point, !extra.empty()).in_python(), passed.definition,
      torch_type_of(point.scheme()), extra, point.scenario.output_tokens,
      point.scenario.kv_cache ? "" : ", use_cache=False", placement_of(point), passed.arguments,
      served.model_class, served.reader_class, served.imports, served.setup, served.inputs,
      served.generate);
}

/// A checkpoint that is quantised stays so unless its own configuration unpacks it. transformers
/// unpacks it by itself for a card without kernels. Another quantiser does not take it.
/// Source: transformers 5.23 utils/quantization_config.py, `dequantize` of Mxfp4Config and
/// FineGrainedFP8Config.
std::string unpacking_config(const LaunchPoint& point) {
  const model::Scheme& held = model::scheme(point.model().checkpoint_scheme);
  if (held.family == SchemeFamily::plain || held.family == point.scheme().family) return {};
  const bool plain = point.scheme().family == SchemeFamily::plain;
  if (plain && model::loading_of(point.model(), held, *point.scenario.runtime,
                                 *point.scenario.machine) == model::Loading::unpacked)
    return {};
  if (plain && held.name.starts_with("mxfp4")) return "Mxfp4Config";
  if (plain && held.family == SchemeFamily::fp8) return "FineGrainedFP8Config";
  throw std::invalid_argument(fmt::format(
      "the checkpoint is in {}, which transformers does not load as {}: --precision {}, "
      "or a checkpoint in 16 bit",
      held.name, point.scheme().name, held.name));
}

/// The quantiser's configuration that makes FP8 of a 16-bit checkpoint; empty: none does.
/// Source: transformers 5.24 utils/quantization_config.py, FineGrainedFP8Config.
std::string_view made_config(const LaunchPoint& point) {
  if (model::is_quantised(point.model())) return {};
  if (point.scheme().name == "fp8") return "FineGrainedFP8Config(weight_block_size=None)";
  return point.scheme().name == "fp8-block" ? "FineGrainedFP8Config()" : std::string_view();
}

}  // namespace

std::string transformers_script(const LaunchPoint& point) {
  if (is_gguf(point.scheme().family))
    throw std::invalid_argument(
        "transformers unpacks GGUF files to 16 bit: choose another precision");
  const std::string unpacking = unpacking_config(point);
  if (!unpacking.empty())
    return script(point, ", " + unpacking,
                  fmt::format("        quantization_config={}(dequantize=True),\n", unpacking));
  if (point.scheme().name == "int8") return transformers_8bit_script(point);
  if (const auto made = made_config(point); !made.empty())
    return script(point, ", FineGrainedFP8Config",
                  fmt::format("        quantization_config={},\n", made));
  if (point.scheme().family == SchemeFamily::bitsandbytes)
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
  unpacking_config(point);
  return script(point, ", BitsAndBytesConfig",
                "        quantization_config=BitsAndBytesConfig(load_in_8bit=True),\n");
}

}  // namespace headroom::sweep
