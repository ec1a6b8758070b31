#include "model/checkpoint/quantisation/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "model/checkpoint/quantisation/exceptions.hpp"
#include "model/checkpoint/quantisation/gguf_conversion.hpp"
#include "model/checkpoint/quantisation/matrix.hpp"
#include "model/checkpoint/quantisation/mix.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/describe/components.hpp"

namespace headroom::model {
namespace {

/// Llama's and Qwen2's types, whose 80 layers with grouped heads llama.cpp labels "70B".
constexpr auto labelled =
    std::to_array<std::string_view>({"llama", "mistral", "qwen2", "qwen2_vl", "qwen2_5_vl"});

bool is_value(TensorClass c) {
  return c == TensorClass::attention_v || c == TensorClass::attention_qkv;
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

/// True for tensors of another model than the one with the decoder and its towers: the converter
/// leaves them out.
bool is_left_out(const Model& model, const std::string& root, const std::string& own,
                 const Tensor& tensor) {
  return model.profile.generative && !own.empty() && !tensor.name.starts_with(own) &&
         !component_at(tensor.name.substr(0, tensor.name.find('.')), root);
}

/// How the format of a tensor is found.
enum class How { fixed, buffer, plain, mixed, split };

/// Facts that hold for a tensor and for all that repeat it.
struct TensorFacts {
  How how = How::fixed;
  QuantisedTensor fixed{};  ///< its format, or that of its plain type
  Matrix matrix{1, 1, 1};
  MixQuestion question{};  ///< without the layer
  bool expert = false, repacked = false;
  bool value = false;  ///< counts among the values of attention
};

class GgufHolder {
 public:
  GgufHolder(const TensorIndex& index, const Scheme& scheme)
      : index_(index),
        model_(index.model),
        scheme_(scheme),
        mix_(scheme.mix.empty() ? scheme.format : scheme.mix),
        mxfp4_(precision("mxfp4")),
        may_have_mxfp4_(may_store(model_, "mxfp4")),
        splits_qkv_(splits_qkv(model_)),
        architecture_(gguf_architecture_of(model_)) {
    const std::vector<Tensor>& tensors = model_.part.tensors;
    asked_.gqa = heads_in_group(model_);
    asked_.experts = model_.profile.routing.experts;
    asked_.falcon = model_.model_type == "falcon";
    asked_.importance = scheme.importance;
    asked_.tied = std::none_of(tensors.begin(), tensors.end(), [](const Tensor& t) {
      return t.role == Role::head && t.tied_to.empty();
    });
    text_layers_ = std::ranges::count_if(model_.profile.layers,
                                         [&](const Layer& layer) { return is_text_layer(layer); });
    asked_.seventy_b = text_layers_ == 80 && asked_.gqa > 1 &&
                       std::ranges::any_of(labelled, [&](std::string_view type) {
                         return is_of_type(model_, type);
                       });
    text_root_ = text_root(model_.profile);
    own_model_ = model_of_text(model_.part, text_root_);
    asked_.large_vocabulary = model_.profile.head_rows >= 127999 &&
                              (asked_.seventy_b || is_eight_b(model_, text_layers_));
    // Position and token type embeddings have fewer rows. A config may omit the vocabulary.
    vocabulary_ = model_.profile.head_rows;
    if (vocabulary_ == 0)
      for (const Tensor& tensor : tensors)
        if (tensor.role == Role::embedding && kept_format(architecture_, tensor.name).empty())
          vocabulary_ = std::max(vocabulary_, tensor.shape.front());
    facts_.resize(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::size_t first = index.repeats.first_tensor(i);
      if (first == i) facts_[i] = facts_of(i);
      if (facts_[first].value) ++attention_v_;
    }
  }

  QuantisedTensor quantise(std::size_t i) {
    const TensorFacts& facts = facts_[index_.repeats.first_tensor(i)];
    if (facts.how == How::fixed) return facts.fixed;
    const Tensor& tensor = model_.part.tensors[i];
    if (facts.how == How::buffer) return buffer(tensor);
    if (facts.how == How::split) return split(i, facts);
    const bool by_name = !index_.exceptions.empty();
    const bool repacked = by_name ? is_repacked(i, facts) : facts.repacked;
    if (facts.how == How::plain) return repacked ? packed(mxfp4_, facts.matrix) : facts.fixed;
    MixQuestion question = facts.question;
    locate(i, question);
    const QuantisedTensor made = packed(mix_.format(question), facts.matrix);
    if (!repacked) return made;
    const QuantisedTensor own = packed(mxfp4_, facts.matrix);
    return own.bytes <= made.bytes ? own : made;
  }

 private:
  /// Facts about tensor `i`, which repeats none.
  TensorFacts facts_of(std::size_t i) const {
    const Tensor& tensor = model_.part.tensors[i];
    TensorFacts facts = kind_of(i, tensor);
    facts.value = is_text(tensor) && index_.reader.is_linear(tensor) &&
                  is_value(class_in_llama_cpp(tensor.name));
    return facts;
  }
  TensorFacts kind_of(std::size_t i, const Tensor& tensor) const {
    const auto fixed = [](QuantisedTensor format) { return TensorFacts{.fixed = format}; };
    if (!tensor.tied_to.empty() || is_left_out(model_, text_root_, own_model_, tensor))
      return fixed({});
    if (tensor.element == Element::float32) return fixed(plain("fp32", tensor));
    if (tensor.element != Element::floating) return fixed({});
    if (!tensor.is_parameter()) return {.how = How::buffer};
    if (!model_.profile.generative && is_task_head(i)) return fixed({});
    const auto matrix = index_.reader.matrix(tensor);
    const std::string_view kept = kept_format(architecture_, tensor.name);
    if (tensor.role == Role::conv && kept == "fp16" && is_text(tensor))
      return fixed(plain(scheme_.mix.empty() ? scheme_.format : kept, tensor));
    // The converter turns a matrix of one row into a vector.
    if (!matrix || matrix->out == 1 || !is_wide(tensor)) return fixed(plain("fp32", tensor));
    if (kept == "fp32") return fixed(plain(kept, tensor));
    if (!is_text(tensor)) return fixed(plain("fp16", tensor));
    TensorFacts facts{.matrix = *matrix, .expert = index_.reader.is_expert(tensor)};
    facts.repacked = is_repacked(i, facts);
    if (scheme_.mix.empty()) {
      facts.how = How::plain;
      facts.fixed = plain(scheme_.format, tensor);
      return facts;
    }
    if (!kept.empty()) return fixed(packed(precision_of_rows(kept, matrix->in), *matrix));
    facts.question = question_of(tensor, facts);
    const bool fused = facts.question.tensor_class == TensorClass::attention_qkv;
    facts.how = fused && splits_qkv_ ? How::split : How::mixed;
    return facts;
  }
  static QuantisedTensor plain(std::string_view format, const Tensor& tensor) {
    return {&precision(format), precision(format).stored(tensor.elements())};
  }
  static QuantisedTensor packed(const Precision& format, const Matrix& matrix) {
    return {&format, matrix.count * (matrix.out * format.row(matrix.in))};
  }
  /// Rows that a block does not divide stay fp16.
  static const Precision& precision_of_rows(std::string_view format, Size row) {
    const Precision& wanted = precision(format);
    return row % wanted.block_elements == 0 ? wanted : precision("fp16");
  }
  MixQuestion question_of(const Tensor& tensor, const TensorFacts& facts) const {
    MixQuestion question = asked_;
    question.row = facts.matrix.in;
    question.tensor_class = tensor.role == Role::head        ? TensorClass::output
                            : tensor.role == Role::embedding ? TensorClass::token_embedding
                                                             : class_in_llama_cpp(tensor.name);
    question.stacked_experts = facts.expert;
    if (scheme_.family == SchemeFamily::gguf_ik) ask_of_ik(tensor.name, question);
    // Per-layer embeddings (per_layer_token_embd) are never the head.
    if (tensor.name.find("per_layer") != std::string::npos) question.tied = false;
    return question;
  }
  /// Queries, keys and values of one matrix, each in the format of its own class.
  QuantisedTensor split(std::size_t i, const TensorFacts& facts) {
    const Size out = facts.matrix.out, in = facts.matrix.in;
    MixQuestion question = facts.question;
    const Size shared = out / (asked_.gqa + 2);  // rows of the keys, and of the values
    QuantisedTensor all;
    using enum TensorClass;
    for (const TensorClass part : {attention_v, attention_k, attention_q}) {
      question.tensor_class = part;
      locate(i, question);
      all.format = &mix_.format(question);
      all.bytes += (part == attention_q ? out - 2 * shared : shared) * all.format->row(in);
    }
    return all;
  }
  /// True for experts that the checkpoint has in MXFP4. The converter repacks them whatever type it
  /// writes. llama-quantize then refuses to convert them without --allow-requantize, and published
  /// files keep them. Converting pays only where it makes them smaller, and is assumed there.
  /// Source: llama.cpp conversion/gpt_oss.py repack_mxfp4, kimi_k3.py, deepseek.py, mimo.py
  /// _write_mxfp4_experts; src/llama-quant.cpp "requantizing from type %s is disabled".
  bool is_repacked(std::size_t i, const TensorFacts& facts) const {
    if (!facts.expert || !may_have_mxfp4_) return false;
    const Scheme* stored = index_.exceptions.of(i, true);
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
  bool is_task_head(std::size_t i) const {
    const Tensor& tensor = model_.part.tensors[i];
    if (layer_at(i) != nullptr || tensor.role == Role::embedding) return false;
    const bool in_head = tensor.name.starts_with("cls.") || tensor.name.starts_with("lm_head.") ||
                         tensor.name.starts_with("head.") || tensor.name.starts_with("vocab_");
    return tensor.role != Role::norm || in_head;
  }
  bool is_text_layer(const Layer& l) const { return l.decodes || !model_.profile.generative; }
  const Layer* layer_at(std::size_t i) const {
    const Layer* layer = index_.layer(i);
    return layer != nullptr && is_text_layer(*layer) ? layer : nullptr;
  }
  bool is_text(const Tensor& t) const { return in_text(model_, text_root_, t); }
  /// Matrices and token embeddings. Positions and token types have fewer rows.
  bool is_wide(const Tensor& tensor) const {
    if (tensor.role == Role::embedding)
      return tensor.shape.front() >= vocabulary_ ||
             !kept_format(architecture_, tensor.name).empty();
    return tensor.role == Role::head || index_.reader.is_linear(tensor);
  }
  /// The layer's number in models with experts, a running number within the class in others.
  /// Source: llama.cpp src/llama-quant.cpp layer_info.
  void locate(std::size_t i, MixQuestion& question) {
    if (question.tensor_class == TensorClass::attention_v) {
      question.index = attention_v_seen_++;
      question.of = attention_v_;
      return;
    }
    question.of = text_layers_;
    const Layer* layer = layer_at(i);
    if (asked_.experts <= 1)
      question.index = seen_[static_cast<std::size_t>(question.tensor_class)]++;
    else
      question.index = layer == nullptr ? 0 : layer_of(layer->path);
  }

  const TensorIndex& index_;
  const Model& model_;
  const Scheme& scheme_;
  Mix mix_;
  const Precision& mxfp4_;
  std::vector<TensorFacts> facts_;  ///< for tensors that repeat none
  MixQuestion asked_;
  Size text_layers_ = 0;
  std::string text_root_, own_model_;
  Size vocabulary_ = 0;
  Size attention_v_ = 0, attention_v_seen_ = 0;
  /// tensors so far, by class, in dense models
  std::array<Size, static_cast<std::size_t>(TensorClass::other) + 1> seen_{};
  bool may_have_mxfp4_;  ///< in its checkpoint
  bool splits_qkv_;
  std::string_view architecture_;  ///< llama.cpp's
  bool rotary_seen_ = false;
};

}  // namespace

std::vector<const Tensor*> language_tensors(const Model& model) {
  const std::string root = text_root(model.profile);
  const std::string own = model_of_text(model.part, root);
  std::vector<const Tensor*> all;
  for (const Tensor& tensor : model.part.tensors)
    if (in_text(model, root, tensor) && !is_left_out(model, root, own, tensor))
      all.push_back(&tensor);
  return all;
}

std::vector<QuantisedTensor> quantised_gguf(const Model& model, const Scheme& scheme) {
  return quantised_gguf(TensorIndex(model), scheme);
}

std::vector<QuantisedTensor> quantised_gguf(const TensorIndex& index, const Scheme& scheme) {
  GgufHolder holder(index, scheme);
  std::vector<QuantisedTensor> result;
  result.reserve(index.model.part.tensors.size());
  for (std::size_t i = 0; i < index.model.part.tensors.size(); ++i)
    result.push_back(holder.quantise(i));
  return result;
}

}  // namespace headroom::model
