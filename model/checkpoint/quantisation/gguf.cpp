#include "model/checkpoint/quantisation/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <map>

#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/gguf_conversion.hpp"
#include "model/checkpoint/quantisation/layer_index.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/mix.hpp"
#include "model/describe/components.hpp"

namespace headroom::model {
namespace {

using Words = std::initializer_list<std::string_view>;

bool one_of(Words words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Last number in the path of the tensor's layer.
Size layer_of(std::string_view block) {
  Size n = 0;
  for (const char c : block.substr(block.rfind('.') + 1)) {
    if (c < '0' || c > '9') return 0;
    n = 10 * n + (c - '0');
  }
  return n;
}

/// False for towers of images and sound, and their projectors. `root` is the decoder's module.
bool in_text(const Model& model, const std::string& root, const Tensor& tensor) {
  return !model.profile.generative || tensor.role == Role::head ||
         !is_beside_language(component_at(tensor.name, root));
}

class GgufHolder {
 public:
  GgufHolder(const Model& model, const Scheme& scheme)
      : model_(model),
        scheme_(scheme),
        reader_(model),
        own_(headroom::model::scheme(model.checkpoint_scheme)),
        own_exceptions_(model, own_),
        layers_(model.profile.layers),
        splits_qkv_(splits_qkv(model)) {
    const Size kv_heads = std::max<Size>(model.shape.kv_heads, 1);
    asked_.gqa = std::max<Size>(model.shape.query_heads / kv_heads, 1);
    asked_.experts = model.profile.routing.experts;
    asked_.falcon = model.model_type == "falcon";
    asked_.importance = scheme.importance;
    asked_.tied =
        std::none_of(model.part.tensors.begin(), model.part.tensors.end(),
                     [](const Tensor& t) { return t.role == Role::head && t.tied_to.empty(); });
    text_layers_ = std::ranges::count_if(model.profile.layers,
                                         [&](const Layer& layer) { return is_text_layer(layer); });
    // llama.cpp's own label for 80 layers with grouped heads in the Llama and Qwen2 classes.
    asked_.seventy_b =
        text_layers_ == 80 && asked_.gqa > 1 &&
        one_of({"llama", "mistral", "qwen2", "qwen2_vl", "qwen2_5_vl"}, model.model_type);
    text_root_ = text_root(model.profile);
    // Position and token type embeddings have fewer rows. A config may omit the vocabulary.
    vocabulary_ = model.profile.head_rows;
    if (vocabulary_ == 0)
      for (const Tensor& tensor : model.part.tensors)
        if (tensor.role == Role::embedding && kept_format(tensor.name).empty())
          vocabulary_ = std::max(vocabulary_, tensor.shape.front());
    for (const Tensor& tensor : model.part.tensors)
      if (is_text(tensor) && reader_.is_linear(tensor) && is_value(tensor_class(tensor.name)))
        ++attention_v_;
  }

  QuantisedTensor quantise(const Tensor& tensor) {
    if (!tensor.tied_to.empty()) return {};
    if (tensor.element == Element::float32) return plain("fp32", tensor);
    if (tensor.element != Element::floating) return {};
    if (!tensor.is_parameter()) return buffer(tensor);
    if (!model_.profile.generative && is_task_head(tensor)) return {};
    const auto matrix = reader_.matrix(tensor);
    // The converter turns a matrix of one row into a vector.
    if (!matrix || matrix->out == 1 || !is_wide(tensor)) return plain("fp32", tensor);
    const std::string_view kept = kept_format(tensor.name);
    if (kept == "fp32") return plain(kept, tensor);
    if (!is_text(tensor)) return plain("fp16", tensor);
    const bool repacked = is_repacked(tensor);
    if (scheme_.mix.empty())
      return repacked ? packed(precision("mxfp4"), *matrix) : plain(scheme_.format, tensor);
    if (!kept.empty()) return plain(kept, tensor);
    MixQuestion question = question_of(tensor, *matrix);
    if (question.tensor_class == TensorClass::attention_qkv && splits_qkv_)
      return split(tensor, question, *matrix);
    locate(tensor, question);
    const QuantisedTensor made = packed(precision(mixed_format(scheme_.mix, question)), *matrix);
    const QuantisedTensor own = packed(precision("mxfp4"), *matrix);
    return repacked && own.bytes <= made.bytes ? own : made;
  }

 private:
  static bool is_value(TensorClass c) {
    return c == TensorClass::attention_v || c == TensorClass::attention_qkv;
  }
  static QuantisedTensor plain(std::string_view format, const Tensor& tensor) {
    return {&precision(format), precision(format).stored(tensor.elements())};
  }
  static QuantisedTensor packed(const Precision& format, const Matrix& matrix) {
    return {&format, matrix.count * (matrix.out * format.stored(matrix.in))};
  }
  MixQuestion question_of(const Tensor& tensor, const Matrix& matrix) const {
    MixQuestion question = asked_;
    question.row = matrix.in;
    question.tensor_class = tensor.role == Role::head        ? TensorClass::output
                            : tensor.role == Role::embedding ? TensorClass::token_embedding
                                                             : tensor_class(tensor.name);
    question.stacked_experts = reader_.is_expert(tensor);
    // Per-layer embeddings (per_layer_token_embd) are never the head.
    if (tensor.name.find("per_layer") != std::string::npos) question.tied = false;
    return question;
  }
  /// Queries, keys and values of one matrix, each in the format of its own class.
  QuantisedTensor split(const Tensor& tensor, MixQuestion question, const Matrix& matrix) {
    const Size shared = matrix.out / (asked_.gqa + 2);  // rows of the keys, and of the values
    QuantisedTensor all;
    using enum TensorClass;
    for (const TensorClass part : {attention_v, attention_k, attention_q}) {
      question.tensor_class = part;
      locate(tensor, question);
      all.format = &precision(mixed_format(scheme_.mix, question));
      all.bytes +=
          (part == attention_q ? matrix.out - 2 * shared : shared) * all.format->stored(matrix.in);
    }
    return all;
  }
  /// True for experts that the checkpoint has in MXFP4. The converter repacks them whatever type it
  /// writes. llama-quantize then refuses to convert them without --allow-requantize, and published
  /// files keep them. Converting pays only where it makes them smaller, and is assumed there.
  /// Source: llama.cpp conversion/gpt_oss.py repack_mxfp4, kimi_k3.py, deepseek.py, mimo.py
  /// _write_mxfp4_experts; src/llama-quant.cpp "requantizing from type %s is disabled".
  bool is_repacked(const Tensor& tensor) const {
    if (!reader_.is_expert(tensor)) return false;
    const Scheme* stored = own_exceptions_.of(tensor, &own_);
    return stored != nullptr && stored->format == "mxfp4";
  }
  /// Stored buffers (router biases) are fp32 tensors. Scaled rotary frequencies replace the table
  /// that they scale.
  QuantisedTensor buffer(const Tensor& tensor) {
    if (tensor.persistent) return plain("fp32", tensor);
    if (rotary_seen_ || !tensor.name.ends_with("inv_freq")) return {};
    rotary_seen_ = true;
    return {&precision("fp32"), model_.rope_factors * Bytes(4)};
  }
  /// Task modules after an encoder's layers (pooler, masked-word head) are not converted.
  bool is_task_head(const Tensor& tensor) const {
    if (in_layer(tensor) || tensor.role == Role::embedding) return false;
    const bool in_head = tensor.name.starts_with("cls.") || tensor.name.starts_with("lm_head.") ||
                         tensor.name.starts_with("head.") || tensor.name.starts_with("vocab_");
    return tensor.role != Role::norm || in_head;
  }
  bool is_text_layer(const Layer& layer) const {
    return layer.decodes || !model_.profile.generative;
  }
  bool in_layer(const Tensor& tensor) const { return layer_at(tensor) != nullptr; }
  const Layer* layer_at(const Tensor& tensor) const {
    const Layer* layer = layers_.of(tensor.name);
    return layer != nullptr && is_text_layer(*layer) ? layer : nullptr;
  }
  bool is_text(const Tensor& tensor) const { return in_text(model_, text_root_, tensor); }
  /// Matrices and token embeddings. Positions and token types have fewer rows.
  bool is_wide(const Tensor& tensor) const {
    if (tensor.role == Role::embedding)
      return tensor.shape.front() >= vocabulary_ || !kept_format(tensor.name).empty();
    return tensor.role == Role::head || reader_.is_linear(tensor);
  }
  /// The layer's number in models with experts, a running number within the class in others.
  /// Source: llama.cpp src/llama-quant.cpp layer_info.
  void locate(const Tensor& tensor, MixQuestion& question) {
    if (question.tensor_class == TensorClass::attention_v) {
      question.index = attention_v_seen_++;
      question.of = attention_v_;
      return;
    }
    question.of = text_layers_;
    const Layer* layer = layer_at(tensor);
    if (asked_.experts <= 1)
      question.index = seen_[question.tensor_class]++;
    else
      question.index = layer == nullptr ? 0 : layer_of(layer->path);
  }

  const Model& model_;
  const Scheme& scheme_;
  MatrixReader reader_;
  const Scheme& own_;  ///< the checkpoint's
  Exceptions own_exceptions_;
  LayerIndex layers_;
  MixQuestion asked_;
  Size text_layers_ = 0;
  std::string text_root_;
  Size vocabulary_ = 0;
  Size attention_v_ = 0, attention_v_seen_ = 0;
  std::map<TensorClass, Size> seen_;  ///< tensors so far, in dense models
  bool splits_qkv_;
  bool rotary_seen_ = false;
};

}  // namespace

std::vector<const Tensor*> language_tensors(const Model& model) {
  const std::string root = text_root(model.profile);
  std::vector<const Tensor*> all;
  for (const Tensor& tensor : model.part.tensors)
    if (in_text(model, root, tensor)) all.push_back(&tensor);
  return all;
}

Size rope_factors(const Config& config, Size head_dim) {
  for (const Config& c : {config, config.section_or_empty("text_config")}) {
    for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
      const boost::json::value* value = c.object().if_contains(key);
      if (value == nullptr || !value->is_object()) continue;
      const boost::json::object& scaling = value->get_object();
      const auto is = [&](std::string_view type) {
        for (const std::string_view name : {"rope_type", "type"})
          if (const auto* found = scaling.if_contains(name))
            if (found->is_string() && std::string_view(found->get_string()) == type) return true;
        return false;
      };
      if (is("llama3")) return head_dim / 2;
      Size factors = 0;
      if (is("longrope"))
        for (const std::string_view name : {"long_factor", "short_factor"})
          if (const auto* list = scaling.if_contains(name); list != nullptr && list->is_array())
            factors += static_cast<Size>(list->get_array().size());
      if (factors > 0) return factors;
    }
  }
  return 0;
}

std::vector<QuantisedTensor> quantised_gguf(const Model& model, const Scheme& scheme) {
  GgufHolder holder(model, scheme);
  std::vector<QuantisedTensor> result;
  result.reserve(model.part.tensors.size());
  for (const Tensor& tensor : model.part.tensors) result.push_back(holder.quantise(tensor));
  return result;
}

}  // namespace headroom::model
