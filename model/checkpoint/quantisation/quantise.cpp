// Sums the bytes of a quantised model by layer, card and kind.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "model/checkpoint/divider.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {
namespace {

/// True for q, k or v as a separate matrix, which some engines fuse.
bool is_separate(const Tensor& tensor) {
  return tensor.role == Role::matmul && is_fused_by_engines(tensor.module());
}

/// Checkpoints store experts one by one, with gate and up separate.
BlockRestCounter::TensorBytes in_memory(const Tensor& tensor, const QuantisedTensor& quantised,
                                        const Divided& divided) {
  const Size bytes = quantised.bytes.count();
  const Size elements = quantised.format == nullptr
                            ? bytes
                            : std::min(bytes, quantised.format->stored(tensor.elements()).count());
  return {.name = tensor.name,
          .elements_bytes = elements,
          .overhead_bytes = bytes - elements,
          .pieces = tensor.of > 1 && tensor.shape.size() > 2
                        ? tensor.of * (holds_gate_and_up(tensor) ? 2 : 1)
                        : 1,
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
  for (const Bytes bytes : quantised_bytes(model, published)) files += bytes;
  weights.of_files = files.real() / weights.total.real();
}

/// Sums over the tensors of a model that `weights` does not hold as such.
struct LayerSums {
  explicit LayerSums(std::size_t layers)
      : routed(layers), rows(layers), separate(layers), divided(layers) {}
  std::vector<Bytes> routed;         ///< experts, by layer
  std::vector<Bytes> rows;           ///< tables of which a token reads a few rows, by layer
  std::vector<Bytes> separate;       ///< tensors with a buffer of their own, by layer
  std::vector<Divided> divided;      ///< by layer
  std::array<Size, 7> multiplied{};  ///< elements of matrices, by Arithmetic
  std::unordered_map<std::string_view, Bytes> owner;  ///< bytes by tensor name

  void add(QuantisedModel& weights, const Tensor& tensor, const QuantisedTensor& stored,
           const Divided& parts, Size block);
};

void LayerSums::add(QuantisedModel& weights, const Tensor& tensor, const QuantisedTensor& stored,
                    const Divided& parts, Size block) {
  const Bytes bytes = stored.bytes;
  weights.total += bytes;
  owner.emplace(tensor.name, bytes);
  if (tensor.role == Role::matmul && stored.format != nullptr)
    multiplied[static_cast<std::size_t>(stored.format->arithmetic)] += tensor.elements();
  if (block >= 0) {
    const auto at = static_cast<std::size_t>(block);
    weights.layer[at] += bytes;
    if (is_separate(tensor)) separate[at] += bytes;
    if (tensor.of > 1)
      routed[at] += bytes;
    else if (tensor.role == Role::embedding)
      rows[at] += bytes;
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

/// Sums over the layers before each layer, and bytes that a pass reads.
void sum_layers(QuantisedModel& weights, const LayerSums& sums) {
  const std::vector<Layer>& layers = weights.model->profile.layers;
  std::vector<double> dense(layers.size()), experts(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double passes = static_cast<double>(layers[i].passes);
    dense[i] = passes * (weights.layer[i] - sums.routed[i] - sums.rows[i]).real().value();
    experts[i] = passes * sums.routed[i].real().value();
  }
  weights.experts_before = weights.separate_before = {Bytes(0)};
  weights.read_routed = {0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    weights.experts_before.push_back(weights.experts_before.back() + sums.routed[i]);
    weights.separate_before.push_back(weights.separate_before.back() + sums.separate[i]);
    weights.read_routed.push_back(weights.read_routed.back() + experts[i]);
  }
  sum_layers(weights, dense, sums.divided);
}

}  // namespace

QuantisedModel quantise(const Model& model, const Scheme& scheme) {
  std::string reason = refusal(model, scheme);
  const std::vector<QuantisedTensor> tensors =
      reason.empty() ? quantised_tensors(model, scheme)
                     : std::vector<QuantisedTensor>(model.part.tensors.size());
  const std::vector<Layer>& layers = model.profile.layers;
  QuantisedModel weights;
  weights.model = &model;
  weights.scheme = &scheme;
  weights.refusal = std::move(reason);
  weights.layer.resize(layers.size());
  Divider divider(model, scheme, weights.shards);
  BlockRestCounter rests(layers.size(), weights.shards.kv_heads);
  const std::vector<Size> block_of = blocks_of(model.part, model.profile);
  LayerSums sums(layers.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = model.part.tensors[i];
    const Size block = block_of[i];
    const Layer* layer = block < 0 ? nullptr : &layers[static_cast<std::size_t>(block)];
    const Divided parts = divider.divide(tensor, tensors[i], layer);
    rests.add(in_memory(tensor, tensors[i], parts), block);
    sums.add(weights, tensor, tensors[i], parts, block);
  }
  sum_layers(weights, sums);
  const auto most = std::max_element(sums.multiplied.begin(), sums.multiplied.end());
  weights.arithmetic = scheme.reach == Reach::decoder_blocks  // GPTQ and AWQ quantise weights only
                           ? Arithmetic::dequantised
                           : static_cast<Arithmetic>(most - sums.multiplied.begin());
  weights.rests = rests.rests();
  add_files(weights);
  return weights;
}

}  // namespace headroom::model
