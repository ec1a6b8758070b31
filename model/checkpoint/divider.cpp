#include "model/checkpoint/divider.hpp"

#include <algorithm>
#include <numeric>

#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {
namespace {

std::string_view scope_of(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
}

void include(Size& divisor, Size n) { divisor = std::gcd(divisor, n); }

/// Notes the first width of its kind.
void note_width(DividedWidth& of, const QuantisedTensor& quantised, Size width) {
  if (of.width > 0) return;
  of = {width, quantised.format == nullptr ? 1 : quantised.format->block_elements};
}

/// True for scales of two-dimensional blocks.
bool is_block(const Scheme& scheme) {
  return scheme.family == SchemeFamily::fp8 && scheme.group > 0;
}

}  // namespace

Divider::Divider(const Model& model, const Scheme& scheme, Shards& shards)
    : model_(model), scheme_(scheme), reader_(own_reader_.emplace(model)), shards_(shards) {
  for (const Tensor& tensor : model.part.tensors) add_name(tensor);
  add_sizes();
}

Divider::Divider(const TensorIndex& index, const Scheme& scheme, Shards& shards)
    : model_(index.model), scheme_(scheme), reader_(index.reader), shards_(shards) {
  for (std::size_t i = 0; i < model_.part.tensors.size(); ++i)
    if (index.repeats.first_tensor(i) == i) add_name(model_.part.tensors[i]);
  add_sizes();
}

void Divider::add_name(const Tensor& tensor) {
  // The last linear layer of a module projects back to the residual stream.
  if (tensor.of == 1 && reader_.is_linear(tensor))
    last_[scope_of(tensor.module())] = tensor.module();
  if (tensor.role == Role::head) heads_.push_back(tensor.module());
}

void Divider::add_sizes() {
  Size max_rows = 0;
  for (const Tensor& tensor : model_.part.tensors)
    if (tensor.role == Role::embedding) max_rows = std::max(max_rows, tensor.shape.front());
  shards_.vocabulary = model_.profile.head_rows > 0 ? model_.profile.head_rows : max_rows;
  for (const CacheClass& c : model_.profile.caches)
    if (c.kv_heads > 0)
      shards_.kv_heads =
          shards_.kv_heads == 0 ? c.kv_heads : std::min(shards_.kv_heads, c.kv_heads);
  shards_.experts = model_.profile.routing.experts;
}

Divided Divider::divide(const Tensor& tensor, const QuantisedTensor& quantised,
                        const Layer* layer) {
  if (!tensor.is_parameter()) return {.everywhere = quantised.bytes};
  if (tensor.of > 1) {
    constrain(tensor, quantised, false);
    const auto matrix = reader_.matrix(tensor);
    const bool strided = matrix && is_strided(matrix->out == model_.shape.hidden_size);
    return {.experts = quantised.bytes, .strided_experts = strided ? quantised.bytes : Bytes(0)};
  }
  switch (tensor.role) {
    case Role::embedding:
      if (tensor.shape.front() < shards_.vocabulary) return {.everywhere = quantised.bytes};
      return layer != nullptr ? Divided{.rows = quantised.bytes}
                              : Divided{.vocabulary = quantised.bytes};
    case Role::head:
      return {.vocabulary = quantised.bytes};
    case Role::conv:
      return layer != nullptr && layer->decodes ? Divided{.split = quantised.bytes}
                                                : Divided{.everywhere = quantised.bytes};
    case Role::matmul:
      return linear(tensor, quantised, layer);
    case Role::bias:
      return bias(tensor, quantised, layer);
    default:
      return {.everywhere = quantised.bytes};
  }
}

Divided Divider::divide_factors(const Tensor& tensor, Bytes inner, Bytes outer,
                                const Layer* layer) const {
  const auto matrix = reader_.matrix(tensor);
  const bool expert = tensor.of > 1;
  if (!matrix || (!expert && (!reader_.is_linear(tensor) || is_replicated(tensor.module()) ||
                              matrix->out == 1)))
    return {.everywhere = inner + outer};
  const bool row = expert ? matrix->out == model_.shape.hidden_size : is_last(tensor.module());
  if (row) return {.everywhere = outer, .split = inner};
  Divided divided = expert ? Divided{.split = outer} : by_class(tensor.module(), outer, layer);
  divided.everywhere += inner;
  return divided;
}

Divided Divider::linear(const Tensor& tensor, const QuantisedTensor& quantised,
                        const Layer* layer) {
  const auto matrix = reader_.matrix(tensor);
  // Routers, and gates with one output, are not parallel layers.
  if (!reader_.is_linear(tensor) || is_replicated(tensor.module()) || !matrix || matrix->out == 1)
    return {.everywhere = quantised.bytes};
  const bool row = is_last(tensor.module());
  if (layer != nullptr && layer->decodes) constrain(tensor, quantised, row);
  Divided divided = by_class(tensor.module(), quantised.bytes, layer);
  if (is_strided(row)) divided.strided = quantised.bytes;
  if (expands_latent(tensor.module())) {
    const Bytes in_16_bit(2 * tensor.elements());
    (quantised.bytes < in_16_bit ? divided.expands_packed : divided.expands_plain) = in_16_bit;
  }
  return divided;
}

Divided Divider::bias(const Tensor& tensor, const QuantisedTensor& quantised,
                      const Layer* layer) const {
  const std::string_view module = tensor.module();
  if (std::find(heads_.begin(), heads_.end(), module) != heads_.end())
    return {.vocabulary = quantised.bytes};
  const std::string_view of = reader_.class_of(module);
  const bool linear = of.ends_with("Linear") || of.ends_with("Conv1D");
  // With a divided input, each card has a partial sum of the whole output, so the bias is not
  // divided.
  if (!linear || is_last(module) || is_replicated(module)) return {.everywhere = quantised.bytes};
  return by_class(module, quantised.bytes, layer);
}

/// Files have the rows of a matrix one after the other, each with all inputs. Those of GPTQ and AWQ
/// have the inputs one after the other (vLLM 0.19 quantization/gptq.py, awq.py: input_dim = 0).
bool Divider::is_strided(bool by_inputs) const {
  const bool inputs_first =
      scheme_.family == SchemeFamily::gptq || scheme_.family == SchemeFamily::awq;
  return by_inputs != inputs_first;
}

Divided Divider::by_class(std::string_view module, Bytes bytes, const Layer* layer) const {
  if (layer == nullptr || !layer->decodes) return {.split = bytes};
  const TensorClass kind = tensor_class(module);
  if (is_feed_forward(kind))
    return {.split = bytes,
            .feed_forward = bytes,
            .shared = is_of_shared_expert(module) ? bytes : Bytes(0)};
  if (shards_.kv_heads == 0 || is_linear_attention(module)) return {.split = bytes};
  switch (kind) {
    case TensorClass::attention_k:
    case TensorClass::attention_v:
      return {.heads = bytes};
    case TensorClass::attention_qkv: {
      const Size kv = 2 * shards_.kv_heads, all = model_.shape.query_heads + kv;
      const Bytes heads(bytes.count() / all * kv);
      return {.split = bytes - heads, .heads = heads, .attention = bytes - heads};
    }
    case TensorClass::attention_q:
      return {.split = bytes, .attention = bytes};
    default:
      return {.split = bytes};
  }
}

bool Divider::is_last(std::string_view module) const {
  const auto it = last_.find(scope_of(module));
  return it != last_.end() && it->second == module;
}

/// vLLM 0.19: linear.py divide(); quantization/fp8.py validate_fp8_block_shape; gptq.py and awq.py
/// ("not aligned with the quantized weight shape"). Attention is checked by its heads instead.
void Divider::constrain(const Tensor& tensor, const QuantisedTensor& quantised, bool row) {
  const auto matrix = reader_.matrix(tensor);
  if (!matrix || tensor.role != Role::matmul) return;
  const bool is_quantised = quantised.format != nullptr && scheme_.family != SchemeFamily::plain &&
                            quantised.format->name == scheme_.format;
  if (tensor.of > 1) {
    if (matrix->out == model_.shape.hidden_size)
      note_width(shards_.expert_width, quantised, matrix->in);
    return constrain_expert(*matrix, is_quantised);
  }
  const TensorClass kind = tensor_class(tensor.module());
  if (kind == TensorClass::attention_k || kind == TensorClass::attention_v ||
      kind == TensorClass::attention_qkv || kind == TensorClass::other)
    return;
  Size width = row ? matrix->in : matrix->out;
  if (!row && is_gate_and_up(tensor.module())) width /= 2;
  const bool down = row && kind == TensorClass::feed_forward_down;
  if (down && !is_of_shared_expert(tensor.module()))
    note_width(shards_.feed_forward_width, quantised, width);
  include(shards_.divisors.widths, width);
  if (is_quantised && (row || is_block(scheme_))) include_groups(shards_.divisors.groups, width);
}

/// The second matrix of an expert has the inner width as its input. Experts in MXFP4 are padded
/// (vLLM 0.19 quantization/mxfp4.py). GPTQ and AWQ halve the groups if needed (moe_wna16.py). FP8
/// blocks must divide (fp8.py, Fp8MoEMethod).
void Divider::constrain_expert(const Matrix& matrix, bool is_quantised) {
  if (matrix.out != model_.shape.hidden_size) return;
  if (is_quantised && scheme_.format == "mxfp4") {
    shards_.mxfp4_inner = matrix.in;
    shards_.mxfp4_hidden = matrix.out;
  }
  if (is_quantised && scheme_.family == SchemeFamily::fp4) return;
  include(shards_.divisors.expert_widths, matrix.in);
  if (is_quantised && is_block(scheme_)) include_groups(shards_.divisors.expert_groups, matrix.in);
}

void Divider::include_groups(Size& divisor, Size width) const {
  if (scheme_.group == 0) return;
  include(divisor, width % scheme_.group == 0 ? width / scheme_.group : 1);
}

}  // namespace headroom::model
