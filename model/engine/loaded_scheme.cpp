#include "model/engine/loaded_scheme.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/checkpoint/quantisation/exceptions.hpp"

namespace headroom::model {
namespace {

/// Schemes of checkpoints and of the files that are made of them.
struct Converted {
  std::string_view checkpoint, gguf;
};
constexpr Converted conversions[] = {{"mxfp4", "mxfp4-moe"}};

/// 16 bit under an engine that reads GGUF files, of a checkpoint with experts in MXFP4: the files
/// keep these, as "auto" does. Null for all else.
const Scheme* converted_plain(const Model& model, const Scheme& asked, const Engine& engine) {
  const bool sixteen = asked.name == "bf16" || asked.name == "fp16";
  if (!sixteen || !engine.weights.holds(SchemeFamily::gguf) || !may_store(model, "mxfp4"))
    return nullptr;
  return &scheme(asked.name == "bf16" ? "gguf-bf16" : "gguf-f16");
}

/// The scheme of the weights that are loaded, as they are stored. Null is the checkpoint's own. A
/// checkpoint in 8-bit floats is loaded with its own scales, whichever shape was asked for: its
/// quantization_config wins. Source: vLLM 0.33 config/model.py _verify_quantization, SGLang 0.5.23
/// configs/model_config.py, transformers 5.24 quantizers/auto.py.
const Scheme& stored_scheme(const Model& model, const Scheme* asked, const Engine& engine) {
  const Scheme& own = scheme(model.checkpoint_scheme);
  if (asked != nullptr) {
    const bool one_wish =
        asked->method == "fp8" && asked->family == SchemeFamily::fp8 && own.family == asked->family;
    if (one_wish) return own;
    const Scheme* converted = converted_plain(model, *asked, engine);
    return converted == nullptr ? *asked : *converted;
  }
  if (!engine.weights.holds(SchemeFamily::gguf)) return own;
  const auto* row = std::ranges::find(conversions, own.name, &Converted::checkpoint);
  return row == std::end(conversions) ? own : scheme(row->gguf);
}

/// The `quant_method` of the files with these weights; empty: none is known.
std::string_view method_of(const Model& model, const Scheme& scheme) {
  return scheme.name == model.checkpoint_scheme ? std::string_view(model.checkpoint.method)
                                                : scheme.method;
}

bool runs_as_stored(const CheckpointSupport& support, const Machine& machine) {
  if (!support.cards) return true;
  if (machine.devices.empty()) return false;
  return holds(*support.cards, machine.devices.front());
}

/// True for NVIDIA's cards before compute capability 8.0 (vLLM 0.33 platforms/cuda.py
/// supported_dtypes).
bool lacks_bf16(const Machine& machine) {
  if (machine.devices.empty()) return false;
  const auto& capability = machine.devices.front().compute_capability;
  return capability && capability->major < 8;
}

/// True for models whose numbers leave the range of fp16.
bool never_fp16(const Model& model, const Engine& engine) {
  return std::ranges::find(engine.weights.never_fp16, model.model_type) !=
         engine.weights.never_fp16.end();
}

/// The type of plain weights on cards without bf16, where the engine chooses it.
std::string_view narrow_type(const Model& model, const Engine& engine) {
  return never_fp16(model, engine) ? "fp32" : "fp16";
}

/// True if the engine stops where these weights are asked for in bf16.
bool refuses_bf16(const Scheme& asked, const Engine& engine, const Machine& machine) {
  return engine.weights.without_bf16 == WithoutBf16::refused && asked.name == "bf16" &&
         lacks_bf16(machine);
}

/// The type in which plain weights are loaded for "auto".
const Scheme& cast_scheme(const Model& model, const Scheme& stored, const Engine& engine,
                          const Machine& machine) {
  const WeightPolicy& policy = engine.weights;
  if (stored.family != SchemeFamily::plain) return stored;
  if (lacks_bf16(machine) && never_fp16(model, engine)) return scheme("fp32");
  if (refuses_bf16(stored, engine, machine)) return scheme(narrow_type(model, engine));
  if (stored.name != "fp32" || policy.fp32_checkpoints == Fp32Checkpoints::fp32) return stored;
  const bool half = policy.fp32_checkpoints == Fp32Checkpoints::fp16 || lacks_bf16(machine) ||
                    !model.profile.generative;
  return scheme(half ? "fp16" : "bf16");
}

/// The row of a method; null: the engine does not load such checkpoints.
const CheckpointSupport* row_of(const Engine& engine, std::string_view method) {
  const std::vector<CheckpointSupport>& rows = engine.weights.checkpoints;
  const auto row = std::ranges::find_if(rows, [&](const CheckpointSupport& each) {
    return std::ranges::find(each.methods, method) != each.methods.end();
  });
  return row == rows.end() ? nullptr : &*row;
}

/// Words for the first card of a machine.
std::string first_card(const Machine& machine) {
  return machine.devices.empty() ? "a CPU" : machine.devices.front().name;
}

}  // namespace

Loading loading_of(const Model& model, const Scheme& scheme, const Engine& engine,
                   const Machine& machine) {
  if (refuses_bf16(scheme, engine, machine)) return Loading::refused;
  const std::string_view method = method_of(model, scheme);
  const bool needs_a_card = machine.devices.empty() && !engine.offload.cpu;
  if (engine.weights.checkpoints.empty() || method.empty() || needs_a_card)
    return Loading::as_stored;
  const CheckpointSupport* row = row_of(engine, method);
  if (row == nullptr) return Loading::refused;
  if (runs_as_stored(*row, machine)) return Loading::as_stored;
  return row->elsewhere == WithoutKernels::unpacked ? Loading::unpacked : Loading::refused;
}

std::string loading_refusal(const Model& model, const Scheme& scheme, const Engine& engine,
                            const Machine& machine) {
  if (loading_of(model, scheme, engine, machine) != Loading::refused) return {};
  if (refuses_bf16(scheme, engine, machine))
    return fmt::format("bf16 needs compute capability 8.0; it takes {} on {}",
                       narrow_type(model, engine), first_card(machine));
  const std::string_view method = method_of(model, scheme);
  const CheckpointSupport* row = row_of(engine, method);
  if (row == nullptr) return fmt::format("it loads no checkpoints of {}", method);
  return fmt::format("it has no kernels for {} checkpoints on {}, only on {}", method,
                     first_card(machine), cards_text(*row));
}

const Scheme& loaded_scheme(const Model& model, const Scheme* asked, const Engine& engine,
                            const Machine& machine) {
  const Scheme& stored = stored_scheme(model, asked, engine);
  if (loading_of(model, stored, engine, machine) == Loading::unpacked) return scheme("bf16");
  if (engine.weights.without_bf16 == WithoutBf16::fp16 && lacks_bf16(machine) &&
      stored.family == SchemeFamily::plain)
    return scheme("fp16");
  return asked != nullptr ? stored : cast_scheme(model, stored, engine, machine);
}

std::string loading_note(const Model& model, const Scheme* asked, const Engine& engine,
                         const Machine& machine) {
  const Scheme& stored = stored_scheme(model, asked, engine);
  const Scheme& loaded = loaded_scheme(model, asked, engine, machine);
  if (asked != nullptr && &stored == converted_plain(model, *asked, engine))
    return fmt::format("GGUF files keep experts in MXFP4, so {} means {}", asked->name,
                       stored.name);
  if (&loaded == &stored)
    return asked == nullptr || &stored == asked
               ? std::string()
               : fmt::format("{} means the checkpoint's own {}", asked->name, stored.name);
  if (stored.family != SchemeFamily::plain)
    return fmt::format("{} unpacks weights in {} to 16 bit on {}", engine.name, stored.name,
                       first_card(machine));
  return fmt::format("{} loads a checkpoint in {} in {}", engine.name, stored.name, loaded.name);
}

}  // namespace headroom::model
