// Sums the bytes of a quantised model by layer, card and kind.
#include <algorithm>
#include <array>
#include <utility>

#include "model/checkpoint/divider.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
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

/// Tensors of the files that hold `described`. Matrices with scales have two, but bitsandbytes
/// makes scales of 16-bit files. GGUF files and those of MLX stack the experts of a layer
/// (llama.cpp convert_hf_to_gguf.py; mlx-lm switch_layers.py).
Size in_files(const Tensor& described, const BlockRestCounter::TensorBytes& tensor,
              SchemeFamily family) {
  if (!described.persistent || tensor.elements_bytes + tensor.overhead_bytes == 0) return 0;
  if (is_gguf(family)) return 1;
  const bool made = family == SchemeFamily::bitsandbytes;
  const Size scales = tensor.overhead_bytes > 0 && !made ? 1 : 0;
  return (family == SchemeFamily::mlx ? 1 : tensor.pieces) * (1 + scales);
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
void add_files(QuantisedModel& weights, const TensorIndex& index) {
  const Model& model = *weights.model;
  const SchemeFamily family = weights.scheme->family;
  const bool made_here = family == SchemeFamily::plain || family == SchemeFamily::bitsandbytes;
  if (!made_here || weights.scheme->name == model.checkpoint_scheme) return;
  const Scheme& published = scheme(model.checkpoint_scheme);
  weights.from_files = family == SchemeFamily::bitsandbytes ? FromFiles::packed : FromFiles::cast;
  if (weights.total == Bytes(0) || !refusal(index, published).empty()) return;
  Bytes files;
  for (const QuantisedTensor& tensor : quantised_tensors(index, published)) files += tensor.bytes;
  weights.of_files = files.real() / weights.total.real();
}

/// Sums over the tensors of a layer, or of what stands before or after all layers.
struct PlaceSums {
  Bytes total;
  Bytes routed;    ///< experts
  Bytes rows;      ///< tables of which a token reads a few rows
  Bytes separate;  ///< tensors with a buffer of their own
  Divided divided;
  Size file_tensors = 0;             ///< as QuantisedModel::file_tensors
  Size largest_matrix = 0;           ///< elements, without experts
  std::array<Size, 7> multiplied{};  ///< elements of matrices, by Arithmetic
  BlockRests rests;                  ///< for one layer, or for the tensors outside

  void add(const Tensor& tensor, const QuantisedTensor& stored, const Divided& parts);
};

void PlaceSums::add(const Tensor& tensor, const QuantisedTensor& stored, const Divided& parts) {
  total += stored.bytes;
  divided = divided + parts;
  if (tensor.role == Role::matmul && stored.format != nullptr)
    multiplied[static_cast<std::size_t>(stored.format->arithmetic)] += tensor.elements();
  if (is_separate(tensor)) separate += stored.bytes;
  if (tensor.of > 1)
    routed += stored.bytes;
  else if (tensor.role == Role::embedding)
    rows += stored.bytes;
  else if (tensor.role == Role::matmul)
    largest_matrix = std::max(largest_matrix, tensor.elements());
}

/// Sums by place. Layers with equal tensors in equal formats are summed once.
class Places {
 public:
  Places(const TensorIndex& index, const std::vector<QuantisedTensor>& stored,
         QuantisedModel& weights)
      : index_(index),
        stored_(stored),
        divider_(index, *weights.scheme, weights.shards),
        family_(weights.scheme->family),
        kv_heads_(weights.shards.kv_heads) {
    const std::size_t layers = index.model.profile.layers.size();
    std::vector<std::vector<std::pair<Size, std::size_t>>> made(layers);
    for (std::size_t layer = 0; layer < layers; ++layer)
      layers_.push_back(
          number_of(static_cast<Size>(layer), made[index.repeats.first_layer(layer)]));
    before_ = add(before_blocks);
    after_ = add(after_blocks);
  }
  const PlaceSums& layer(std::size_t i) const { return sums_[layers_[i]]; }
  const PlaceSums& before() const { return sums_[before_]; }
  const PlaceSums& after() const { return sums_[after_]; }

 private:
  /// The number of the layer's sums, which are those of an equal layer if there is one. `made`:
  /// the kinds of its layer, each as one layer and the number of its sums.
  std::size_t number_of(Size layer, std::vector<std::pair<Size, std::size_t>>& made) {
    const Repeats& repeats = index_.repeats;
    const auto same_format = [&](std::size_t a, std::size_t b) {
      return stored_[a].format == stored_[b].format && stored_[a].bytes == stored_[b].bytes;
    };
    constexpr std::size_t most_compared = 8;
    for (std::size_t i = made.size(); i-- > 0 && made.size() - i <= most_compared;)
      if (std::ranges::equal(repeats.members(layer), repeats.members(made[i].first), same_format))
        return made[i].second;
    return made.emplace_back(layer, add(layer)).second;
  }

  std::size_t add(Size block) {
    PlaceSums& sums = sums_.emplace_back();
    BlockRestCounter rests(block >= 0 ? 1 : 0, kv_heads_);
    for (const std::size_t i : index_.repeats.members(block)) {
      const Tensor& tensor = index_.model.part.tensors[index_.repeats.first_tensor(i)];
      const Divided parts = divider_.divide(tensor, stored_[i], index_.layer(i));
      const BlockRestCounter::TensorBytes held = in_memory(tensor, stored_[i], parts);
      rests.add(held, std::min<Size>(block, 0));
      sums.file_tensors += in_files(tensor, held, family_);
      sums.add(tensor, stored_[i], parts);
    }
    sums.rests = rests.rests();
    return sums_.size() - 1;
  }

  const TensorIndex& index_;
  const std::vector<QuantisedTensor>& stored_;
  Divider divider_;
  SchemeFamily family_;
  Size kv_heads_;
  std::vector<PlaceSums> sums_;      ///< each different one
  std::vector<std::size_t> layers_;  ///< the number of each layer's
  std::size_t before_ = 0, after_ = 0;
};

/// Sums over the layers before each layer, and bytes that a pass reads.
void sum_layers(QuantisedModel& weights, const Places& places) {
  const std::vector<Layer>& layers = weights.model->profile.layers;
  std::vector<double> dense(layers.size());
  std::vector<Divided> divided(layers.size());
  weights.experts_before = weights.separate_before = {Bytes(0)};
  weights.read_routed = {0};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const PlaceSums& sums = places.layer(i);
    const double passes = static_cast<double>(layers[i].passes);
    weights.layer.push_back(sums.total);
    weights.file_tensors += sums.file_tensors;
    divided[i] = sums.divided;
    dense[i] = passes * (sums.total - sums.routed - sums.rows).real().value();
    weights.experts_before.push_back(weights.experts_before.back() + sums.routed);
    weights.separate_before.push_back(weights.separate_before.back() + sums.separate);
    weights.read_routed.push_back(weights.read_routed.back() + passes * sums.routed.real().value());
    weights.largest_matrix = std::max(weights.largest_matrix, sums.largest_matrix);
  }
  sum_layers(weights, dense, divided);
}

/// Likewise the overhead of PyTorch's allocator.
BlockRests rests_of(const Places& places, std::size_t layers) {
  BlockRests all;
  const auto sum_up = [&](BlockRests::Sums& sums, auto of) {
    sums.before = {0};
    for (std::size_t i = 0; i < layers; ++i)
      sums.before.push_back(sums.before.back() + of(places.layer(i).rests).before.at(1));
    sums.embedding = of(places.before().rests).embedding;
    sums.head = of(places.after().rests).head;
  };
  sum_up(all.per_tensor, [](const BlockRests& rests) -> auto& { return rests.per_tensor; });
  for (std::size_t n = 0; n < BlockRests::cards.size(); ++n)
    sum_up(all.fused[n], [n](const BlockRests& rests) -> auto& { return rests.fused[n]; });
  return all;
}

/// Bytes that logits read. A tied head without a copy reads its owner, if that stands before it.
double read_by_heads(const std::vector<Tensor>& tensors,
                     const std::vector<QuantisedTensor>& stored) {
  double read = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].role != Role::head) continue;
    std::size_t owner = i;
    if (!tensors[i].tied_to.empty() && stored[i].bytes == Bytes(0))
      owner = static_cast<std::size_t>(
          std::ranges::find(tensors, tensors[i].tied_to, &Tensor::name) - tensors.begin());
    if (owner <= i) read += stored[owner].bytes.real().value();
  }
  return read;
}

/// The units that multiply most elements. GPTQ and AWQ quantise weights only.
Arithmetic arithmetic_of(const Scheme& scheme, const Places& places, std::size_t layers) {
  if (scheme.reach == Reach::decoder_blocks || scheme.reach == Reach::decoder_blocks_and_head)
    return Arithmetic::dequantised;
  std::array<Size, 7> multiplied{};
  const auto add = [&](const PlaceSums& sums) {
    for (std::size_t i = 0; i < multiplied.size(); ++i) multiplied[i] += sums.multiplied[i];
  };
  for (std::size_t i = 0; i < layers; ++i) add(places.layer(i));
  add(places.before());
  add(places.after());
  return static_cast<Arithmetic>(std::ranges::max_element(multiplied) - multiplied.begin());
}

}  // namespace

QuantisedModel quantise(const Model& model, const Scheme& scheme) {
  return quantise(TensorIndex(model), scheme);
}

QuantisedModel quantise(const TensorIndex& index, const Scheme& scheme) {
  QuantisedModel weights = quantise_alone(index, scheme);
  add_files(weights, index);
  return weights;
}

QuantisedModel quantise_alone(const TensorIndex& index, const Scheme& scheme) {
  const Model& model = index.model;
  QuantisedModel weights;
  weights.model = &model;
  weights.scheme = &scheme;
  weights.refusal = refusal(index, scheme);
  const std::vector<QuantisedTensor> stored =
      weights.refusal.empty() ? quantised_tensors(index, scheme)
                              : std::vector<QuantisedTensor>(model.part.tensors.size());
  const Places places(index, stored, weights);
  sum_layers(weights, places);
  weights.embedding = places.before().total;
  weights.shards.embedding = places.before().divided;
  weights.head = places.after().total;
  weights.shards.head = places.after().divided;
  weights.file_tensors += places.before().file_tensors + places.after().file_tensors;
  weights.total = weights.embedding + weights.layers_before.back() + weights.head;
  weights.head_read = read_by_heads(model.part.tensors, stored);
  const std::size_t layers = model.profile.layers.size();
  weights.arithmetic = arithmetic_of(scheme, places, layers);
  weights.rests = rests_of(places, layers);
  return weights;
}

}  // namespace headroom::model
