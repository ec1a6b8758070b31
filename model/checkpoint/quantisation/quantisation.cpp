// Applies a scheme to a model tensor by tensor.
#include "model/checkpoint/quantisation/quantisation.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/gguf_conversion.hpp"
#include "model/checkpoint/quantisation/layer_index.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/stored.hpp"

namespace headroom::model {
namespace {

/// A tensor of a type that no scheme converts.
QuantisedTensor unconverted(const Tensor& tensor) {
  switch (tensor.element) {
    case Element::float32:
      return {&precision("fp32"), tensor.elements() * Bytes(4)};
    case Element::int64:
      return {nullptr, tensor.elements() * Bytes(8)};
    case Element::int32:
      return {nullptr, tensor.elements() * Bytes(4)};
    default:
      return {nullptr, Bytes(tensor.elements())};
  }
}

/// True for computed buffers (rotary tables) and routers' correction biases (transformers 5.23:
/// _keep_in_fp32_modules_strict). Other buffers are stored like weights.
bool stays_fp32(const Tensor& buffer) {
  return !buffer.persistent || buffer.name.ends_with("correction_bias");
}

/// Rows never share a quantisation block.
Bytes in_rows(const Matrix& m, const Precision& format) {
  return m.count * (m.out * format.stored(m.in));
}

QuantisedTensor packed(const Matrix& m, const Scheme& scheme) {
  const Precision& format = precision(scheme.format);
  return {&format, scheme.packed != nullptr ? scheme.packed(m, scheme) : in_rows(m, format)};
}

/// Weights of the heads in sparse attention's indexer. No method converts them (vLLM 0.33
/// deepseek_v2.py, Indexer: quant_config=None; published counts of DeepSeek-V3.2 and GLM-5-FP8).
bool is_indexer_weight(const Tensor& tensor) {
  return tensor.module().ends_with("indexer.weights_proj");
}

/// Linear layers, experts, embeddings and the head with rows of whole groups (mlx-lm 0.32.2
/// utils.py quantize_model: wrapped_predicate).
bool is_whole_groups(const MatrixReader& reader, const Scheme& scheme, const Tensor& tensor) {
  const bool vocabulary = tensor.role == Role::embedding || tensor.role == Role::head;
  if (!vocabulary && !reader.is_linear(tensor)) return false;
  const auto matrix = reader.matrix(tensor);
  return matrix && matrix->in % scheme.group == 0;
}

bool reaches(const Model& model, const Scheme& scheme, const MatrixReader& reader,
             const LayerIndex& layers, const Tensor& tensor) {
  if (is_indexer_weight(tensor)) return false;
  switch (scheme.reach) {
    case Reach::linears:
      return reader.is_linear(tensor);
    case Reach::experts:
      return model.profile.routing.experts > 0 ? reader.is_expert(tensor)
                                               : reader.is_linear(tensor);
    case Reach::decoder_blocks: {
      const Layer* layer = layers.of(tensor.name);
      return layer != nullptr && layer->decodes && reader.is_linear(tensor);
    }
    case Reach::matrices:
      return is_whole_groups(reader, scheme, tensor);
    default:
      return false;
  }
}

QuantisedTensor hold_tensor(const Model& model, const Scheme& scheme, const MatrixReader& reader,
                            const LayerIndex& layers, const Exceptions& exceptions,
                            const Tensor& tensor) {
  if (tensor.element != Element::floating) return unconverted(tensor);
  if (!tensor.is_parameter() && stays_fp32(tensor))
    return {&precision("fp32"), tensor.elements() * Bytes(4)};
  if (scheme.reach == Reach::everything) {
    const Precision& format = precision(scheme.format);
    return {&format, format.stored(tensor.elements())};
  }
  const bool reached = reaches(model, scheme, reader, layers, tensor);
  if (const Scheme* own = exceptions.of(tensor, reached ? &scheme : nullptr);
      own != nullptr && tensor.role != Role::bias)
    if (auto m = reader.matrix(tensor)) {
      if (holds_gate_and_up(tensor) && m->out % 2 == 0) m->count *= 2, m->out /= 2;
      return packed(*m, *own);
    }
  const Precision& rest = precision("bf16");
  return {&rest, rest.stored(tensor.elements())};
}

std::vector<QuantisedTensor> held_by_rule(const Model& model, const Scheme& scheme) {
  if (scheme.reach == Reach::llama_cpp) return quantised_gguf(model, scheme);
  const MatrixReader reader(model);
  const LayerIndex layers(model.profile.layers);
  const Exceptions exceptions(model, scheme);
  std::vector<QuantisedTensor> result;
  result.reserve(model.part.tensors.size());
  for (const Tensor& tensor : model.part.tensors) {
    result.push_back(hold_tensor(model, scheme, reader, layers, exceptions, tensor));
    if (!tensor.tied_to.empty()) result.back().bytes = Bytes(0);
  }
  return result;
}

}  // namespace

std::string refusal(const Model& model, const Scheme& scheme) {
  if (keeps_checkpoint_formats(model, scheme)) return "";
  if (scheme.reach == Reach::everything) return "";
  if (scheme.reach == Reach::llama_cpp) return gguf_refusal(model);
  const MatrixReader reader(model);
  const LayerIndex layers(model.profile.layers);
  for (const Tensor& tensor : model.part.tensors)
    if (reaches(model, scheme, reader, layers, tensor)) return "";
  return fmt::format("{} finds nothing to convert in {}", scheme.name, model.architecture);
}

std::vector<QuantisedTensor> quantised_tensors(const Model& model, const Scheme& scheme) {
  if (const std::string reason = refusal(model, scheme); !reason.empty())
    throw std::invalid_argument(fmt::format("{}: {}: {}", model.name, scheme.name, reason));
  if (!keeps_checkpoint_formats(model, scheme)) return held_by_rule(model, scheme);
  // A GGUF file contains the whole model. Other formats omit computed tensors.
  std::vector<QuantisedTensor> result =
      scheme.family == SchemeFamily::gguf ? std::vector<QuantisedTensor>(model.part.tensors.size())
                                          : held_by_rule(model, scheme);
  apply_checkpoint_formats(model, result);
  return result;
}

std::vector<Bytes> quantised_bytes(const Model& model, const Scheme& scheme) {
  std::vector<Bytes> bytes;
  for (const QuantisedTensor& tensor : quantised_tensors(model, scheme))
    bytes.push_back(tensor.bytes);
  return bytes;
}

}  // namespace headroom::model
