// Applies a scheme to a model tensor by tensor.
#include "model/checkpoint/quantisation/quantisation.hpp"

#include <fmt/format.h>

#include <optional>
#include <stdexcept>

#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/gguf_conversion.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"

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
  return m.count * (m.out * format.row(m.in));
}

QuantisedTensor packed(const Matrix& m, const Scheme& scheme, Role role) {
  if (role == Role::head && scheme.head_bits > 0) {
    Scheme of_head = scheme;
    of_head.bits = scheme.head_bits;
    return {&precision(scheme.format), scheme.packed(m, of_head)};
  }
  const Precision& format = precision(scheme.format);
  const Bytes packed = scheme.packed != nullptr ? scheme.packed(m, scheme) : in_rows(m, format);
  return {&format, packed + m.count * Bytes(scheme.single_bytes)};
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

bool reaches(const TensorIndex& index, const Scheme& scheme, std::size_t i) {
  const Tensor& tensor = index.model.part.tensors[i];
  if (is_indexer_weight(tensor)) return false;
  if (index.model.modules_alone && scheme.family == SchemeFamily::bitsandbytes &&
      scheme.name != index.model.checkpoint_scheme)
    return index.reader.is_module(tensor);
  switch (scheme.reach) {
    case Reach::linears:
      return index.reader.is_linear(tensor);
    case Reach::experts:
      return index.model.profile.routing.experts > 0 ? index.reader.is_expert(tensor)
                                                     : index.reader.is_linear(tensor);
    case Reach::decoder_blocks: {
      const Layer* layer = index.layer(i);
      return layer != nullptr && layer->decodes && index.reader.is_linear(tensor);
    }
    case Reach::decoder_blocks_and_head: {
      const Layer* layer = index.layer(i);
      return tensor.role == Role::head ||
             (layer != nullptr && layer->decodes && index.reader.is_linear(tensor));
    }
    case Reach::matrices:
      return is_whole_groups(index.reader, scheme, tensor);
    default:
      return false;
  }
}

/// The tensor `i`, whose names and those of exceptions say what it is. Its matrix is read off
/// the tensor that it repeats.
QuantisedTensor hold_tensor(const TensorIndex& index, const Scheme& scheme, bool has_exceptions,
                            std::size_t i) {
  const Tensor& tensor = index.model.part.tensors[i];
  if (tensor.element != Element::floating) return unconverted(tensor);
  if (!tensor.is_parameter() && stays_fp32(tensor))
    return {&precision("fp32"), tensor.elements() * Bytes(4)};
  if (scheme.reach == Reach::everything) {
    const Precision& format = precision(scheme.format);
    return {&format, format.stored(tensor.elements())};
  }
  const std::size_t first = index.repeats.first_tensor(i);
  const bool reached = reaches(index, scheme, first);
  const Scheme* without = reached ? &scheme : nullptr;
  if (const Scheme* own = has_exceptions ? index.exceptions.of(i, reached) : without;
      own != nullptr && tensor.role != Role::bias)
    if (auto m = index.reader.matrix(index.model.part.tensors[first])) {
      if (holds_gate_and_up(tensor) && m->out % 2 == 0) m->count *= 2, m->out /= 2;
      return packed(*m, *own, tensor.role);
    }
  const Precision& rest = precision(scheme.rest);
  return {&rest, rest.stored(tensor.elements())};
}

std::vector<QuantisedTensor> held_by_rule(const TensorIndex& index, const Scheme& scheme) {
  if (scheme.reach == Reach::llama_cpp) return quantised_gguf(index, scheme);
  const bool has_exceptions =
      scheme.name == index.model.checkpoint_scheme && !index.exceptions.empty();
  const std::vector<Tensor>& tensors = index.model.part.tensors;
  std::vector<QuantisedTensor> result;
  result.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const std::size_t first = index.repeats.first_tensor(i);
    result.push_back(first != i && !has_exceptions ? result[first]
                                                   : hold_tensor(index, scheme, has_exceptions, i));
    const bool copied = scheme.head_bits > 0 && tensors[i].role == Role::head;
    if (!tensors[i].tied_to.empty() && !copied) result.back().bytes = Bytes(0);
  }
  return result;
}

/// The answer where no tensor needs to be asked.
std::optional<std::string> quick_refusal(const Model& model, const Scheme& scheme) {
  if (keeps_checkpoint_formats(model, scheme)) return "";
  if (scheme.reach == Reach::everything) return "";
  if (scheme.reach == Reach::llama_cpp) return gguf_refusal(model);
  return std::nullopt;
}

}  // namespace

std::string refusal(const Model& model, const Scheme& scheme) {
  if (auto quick = quick_refusal(model, scheme)) return *std::move(quick);
  return refusal(TensorIndex(model), scheme);
}

std::string refusal(const TensorIndex& index, const Scheme& scheme) {
  const Model& model = index.model;
  if (auto quick = quick_refusal(model, scheme)) return *std::move(quick);
  for (std::size_t i = 0; i < model.part.tensors.size(); ++i)
    if (index.repeats.first_tensor(i) == i && reaches(index, scheme, i)) return "";
  return fmt::format("{} finds nothing to convert in {}", scheme.name, model.architecture);
}

std::vector<QuantisedTensor> quantised_tensors(const Model& model, const Scheme& scheme) {
  const TensorIndex index(model);
  if (const std::string reason = refusal(index, scheme); !reason.empty())
    throw std::invalid_argument(fmt::format("{}: {}: {}", model.name, scheme.name, reason));
  return quantised_tensors(index, scheme);
}

std::vector<QuantisedTensor> quantised_tensors(const TensorIndex& index, const Scheme& scheme) {
  const Model& model = index.model;
  if (!keeps_checkpoint_formats(model, scheme)) return held_by_rule(index, scheme);
  // A GGUF file contains the whole model. Other formats omit computed tensors.
  std::vector<QuantisedTensor> result =
      is_gguf(scheme.family) ? std::vector<QuantisedTensor>(model.part.tensors.size())
                             : held_by_rule(index, scheme);
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
