// Applies a scheme to a model tensor by tensor, and sums the bytes by location.
#include "model/checkpoint/quantisation/quantisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

#include "model/checkpoint/divider.hpp"
#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/gguf.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/stored.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {
namespace {

/// Index of a tensor's layer, or -1. A layer is a path; its tensors lie below it.
class Blocks {
 public:
  explicit Blocks(const std::vector<Layer>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) index_.emplace(layers[i].path, i);
  }
  std::ptrdiff_t of(std::string_view name) const {
    for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1))
      if (const auto it = index_.find(name.substr(0, dot)); it != index_.end())
        return static_cast<std::ptrdiff_t>(it->second);
    return -1;
  }

 private:
  std::unordered_map<std::string_view, std::size_t> index_;
};

Bytes integer_bytes(const Tensor& tensor) {
  switch (tensor.element) {
    case Element::int64:
      return tensor.elements() * Bytes(8);
    case Element::int32:
      return tensor.elements() * Bytes(4);
    default:
      return Bytes(tensor.elements());
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

bool reaches(const Model& model, const Scheme& scheme, const MatrixReader& reader,
             const Blocks& blocks, const Tensor& tensor) {
  switch (scheme.reach) {
    case Reach::linears:
      return reader.is_linear(tensor);
    case Reach::experts:
      return model.profile.routing.experts > 0 ? reader.is_expert(tensor)
                                               : reader.is_linear(tensor);
    case Reach::decoder_blocks: {
      const auto block = blocks.of(tensor.name);
      return block >= 0 && model.profile.layers[static_cast<std::size_t>(block)].decodes &&
             reader.is_linear(tensor);
    }
    default:
      return false;
  }
}

QuantisedTensor hold_tensor(const Model& model, const Scheme& scheme, const MatrixReader& reader,
                            const Blocks& blocks, const Exceptions& exceptions,
                            const Tensor& tensor) {
  if (tensor.element != Element::floating) return {nullptr, integer_bytes(tensor)};
  if (!tensor.is_parameter() && stays_fp32(tensor))
    return {&precision("fp32"), tensor.elements() * Bytes(4)};
  if (scheme.reach == Reach::everything) {
    const Precision& format = precision(scheme.format);
    return {&format, format.stored(tensor.elements())};
  }
  const bool reached = reaches(model, scheme, reader, blocks, tensor);
  if (const Scheme* own = exceptions.of(tensor, reached ? &scheme : nullptr);
      own != nullptr && tensor.role != Role::bias)
    if (const auto m = reader.matrix(tensor)) return packed(*m, *own);
  const Precision& rest = precision("bf16");
  return {&rest, rest.stored(tensor.elements())};
}

std::vector<QuantisedTensor> held_by_rule(const Model& model, const Scheme& scheme) {
  if (scheme.reach == Reach::llama_cpp) return held_gguf(model, scheme);
  const MatrixReader reader(model);
  const Blocks blocks(model.profile.layers);
  const Exceptions exceptions(model, scheme);
  std::vector<QuantisedTensor> result;
  result.reserve(model.part.tensors.size());
  for (const Tensor& tensor : model.part.tensors) {
    result.push_back(hold_tensor(model, scheme, reader, blocks, exceptions, tensor));
    if (!tensor.tied_to.empty()) result.back().bytes = Bytes(0);
  }
  return result;
}

}  // namespace

std::string refusal(const Model& model, const Scheme& scheme) {
  if (held_as_stored(model, scheme)) return "";
  if (scheme.reach == Reach::everything) return "";
  if (scheme.reach == Reach::llama_cpp) return gguf_refusal(model);
  const MatrixReader reader(model);
  const Blocks blocks(model.profile.layers);
  for (const Tensor& tensor : model.part.tensors)
    if (reaches(model, scheme, reader, blocks, tensor)) return "";
  return fmt::format("{} finds nothing to convert in {}", scheme.name, model.architecture);
}

std::vector<QuantisedTensor> held(const Model& model, const Scheme& scheme) {
  if (const std::string reason = refusal(model, scheme); !reason.empty())
    throw std::invalid_argument(fmt::format("{}: {}: {}", model.name, scheme.name, reason));
  if (!held_as_stored(model, scheme)) return held_by_rule(model, scheme);
  // A GGUF file contains the whole model. Other formats omit computed tensors.
  std::vector<QuantisedTensor> result =
      scheme.family == SchemeFamily::gguf ? std::vector<QuantisedTensor>(model.part.tensors.size())
                                          : held_by_rule(model, scheme);
  hold_as_stored(model, result);
  return result;
}

std::vector<Bytes> held_bytes(const Model& model, const Scheme& scheme) {
  std::vector<Bytes> bytes;
  for (const QuantisedTensor& tensor : held(model, scheme)) bytes.push_back(tensor.bytes);
  return bytes;
}

namespace {

/// True for q, k or v as a separate matrix, which some engines fuse.
bool is_separate(const Tensor& tensor) {
  return tensor.role == Role::matmul && is_fused_by_engines(tensor.module());
}

/// Checkpoints store experts one by one, with gate and up separate.
BlockRestCounter::Held in_memory(const Tensor& tensor, const QuantisedTensor& held,
                                 const Divided& divided) {
  const Size bytes = held.bytes.count();
  const Size elements = held.format == nullptr
                            ? bytes
                            : std::min(bytes, held.format->stored(tensor.elements()).count());
  const bool gate_up = tensor.name.find("gate_up") != std::string::npos;
  return {.name = tensor.name,
          .elements_bytes = elements,
          .overhead_bytes = bytes - elements,
          .pieces = tensor.of > 1 && tensor.shape.size() > 2 ? tensor.of * (gate_up ? 2 : 1) : 1,
          .divided = divided};
}

/// Prefix sums over the layers, and the largest of the layers that follow.
void sum_layers(QuantisedModel& weights, const std::vector<double>& dense,
                const std::vector<Divided>& divided) {
  weights.layers_before = {Bytes(0)};
  weights.shards.before = {Divided{}};
  weights.read_dense = {0};
  for (std::size_t i = 0; i < weights.layer.size(); ++i) {
    weights.layers_before.push_back(weights.layers_before.back() + weights.layer[i]);
    weights.shards.before.push_back(weights.shards.before.back() + divided[i]);
    weights.read_dense.push_back(weights.read_dense.back() + dense[i]);
  }
  weights.largest_from.assign(weights.layer.size() + 1, Bytes(0));
  for (std::size_t i = weights.layer.size(); i-- > 0;)
    weights.largest_from[i] = std::max(weights.layer[i], weights.largest_from[i + 1]);
}

}  // namespace

QuantisedModel with_additions(QuantisedModel weights, const std::vector<Addition>& additions) {
  std::vector<double> dense;
  std::vector<Divided> divided;
  for (std::size_t i = 0; i < additions.size(); ++i) {
    const auto at = static_cast<Size>(i);
    divided.push_back(weights.shards.layers(at, at + 1) + additions[i].divided);
    dense.push_back(weights.read_dense[i + 1] - weights.read_dense[i] + additions[i].read);
    weights.layer[i] += additions[i].bytes;
    weights.total += additions[i].bytes;
    weights.adapters += additions[i].bytes;
  }
  sum_layers(weights, dense, divided);
  return weights;
}

namespace {

/// Compares the format and bytes of the files with those of `weights`.
void add_files(QuantisedModel& weights) {
  const Model& model = *weights.model;
  const SchemeFamily family = weights.scheme->family;
  const bool made_here = family == SchemeFamily::plain || family == SchemeFamily::bitsandbytes;
  if (!made_here || weights.scheme->name == model.checkpoint_scheme) return;
  const Scheme& published = scheme(model.checkpoint_scheme);
  weights.from_files = family == SchemeFamily::bitsandbytes ? FromFiles::packed : FromFiles::cast;
  if (weights.total == Bytes(0) || !refusal(model, published).empty()) return;
  Bytes files;
  for (const Bytes bytes : held_bytes(model, published)) files += bytes;
  weights.of_files = files.real() / weights.total.real();
}

}  // namespace

QuantisedModel quantise(const Model& model, const Scheme& scheme) {
  std::string reason = refusal(model, scheme);
  const std::vector<QuantisedTensor> tensors =
      reason.empty() ? held(model, scheme)
                     : std::vector<QuantisedTensor>(model.part.tensors.size());
  const std::vector<Layer>& layers = model.profile.layers;
  QuantisedModel weights;
  weights.model = &model;
  weights.scheme = &scheme;
  weights.refusal = std::move(reason);
  weights.layer.resize(layers.size());
  std::vector<Bytes> routed(layers.size()), separate(layers.size());
  std::array<Size, 7> multiplied{};  // elements by Arithmetic
  std::unordered_map<std::string_view, Bytes> owner;
  Divider divider(model, scheme, weights.shards);
  std::vector<Divided> divided(layers.size());
  BlockRestCounter rests(layers.size(), weights.shards.kv_heads);
  const std::vector<Size> block_of = blocks_of(model.part, model.profile);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    const Bytes bytes = tensors[i].bytes;
    const Size block = block_of[i];
    const Layer* layer = block < 0 ? nullptr : &layers[static_cast<std::size_t>(block)];
    const Divided parts = divider.divide(tensor, tensors[i], layer);
    rests.add(in_memory(tensor, tensors[i], parts), block);
    weights.total += bytes;
    owner.emplace(tensor.name, bytes);
    if (tensor.role == Role::matmul && tensors[i].format != nullptr)
      multiplied[static_cast<std::size_t>(tensors[i].format->arithmetic)] += tensor.elements();
    if (block >= 0) {
      const auto at = static_cast<std::size_t>(block);
      weights.layer[at] += bytes;
      if (is_separate(tensor)) separate[at] += bytes;
      if (tensor.of > 1)
        routed[at] += bytes;
      else if (tensor.role == Role::matmul)
        weights.largest_matrix = std::max(weights.largest_matrix, tensor.elements());
      divided[at] = divided[at] + parts;
    } else if (block == before_blocks) {
      weights.embedding += bytes;
      weights.shards.embedding = weights.shards.embedding + parts;
    } else {
      weights.head += bytes;
      weights.shards.head = weights.shards.head + parts;
    }
    if (tensor.role == Role::head)
      weights.head_read += (tensor.tied_to.empty() ? bytes : owner[tensor.tied_to]).real().value();
  }
  std::vector<double> dense(layers.size()), experts(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double passes = static_cast<double>(layers[i].passes);
    dense[i] = passes * (weights.layer[i] - routed[i]).real().value();
    experts[i] = passes * routed[i].real().value();
  }
  weights.experts_before = weights.separate_before = {Bytes(0)};
  weights.read_routed = {0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    weights.experts_before.push_back(weights.experts_before.back() + routed[i]);
    weights.separate_before.push_back(weights.separate_before.back() + separate[i]);
    weights.read_routed.push_back(weights.read_routed.back() + experts[i]);
  }
  sum_layers(weights, dense, divided);
  const auto most = std::max_element(multiplied.begin(), multiplied.end());
  weights.arithmetic = scheme.reach == Reach::decoder_blocks  // GPTQ and AWQ quantise weights only
                           ? Arithmetic::dequantised
                           : static_cast<Arithmetic>(most - multiplied.begin());
  weights.rests = rests.rests();
  add_files(weights);
  return weights;
}

}  // namespace headroom::model
