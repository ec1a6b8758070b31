#include "model/checkpoint/quantisation/mix.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include "hardware/precision.hpp"
#include "model/checkpoint/quantisation/ik_mix.hpp"

namespace headroom::model {
namespace {

using enum TensorClass;

using When = Mix::When;

const Mix::Rule llama_cpp_rules[] = {
    {{"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs"}, token_embedding, When::always, "q2_K"},
    {{"iq2_s", "iq2_m", "iq3_xxs"}, token_embedding, When::always, "iq3_s"},
    {{"tq1_0", "tq2_0"}, token_embedding, When::always, "q4_K"},

    // Formats below three bits.
    {{"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m"},
     attention_v,
     When::grouped_heads_or_experts,
     "q4_K"},
    {{"iq2_s", "iq2_m"}, attention_v, When::always, "iq3_s"},
    {{"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs"}, attention_v, When::always, "q2_K"},
    {{"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m"},
     attention_k,
     When::eight_experts,
     "q4_K"},
    {{"iq2_s", "iq2_m"}, feed_forward_down, When::first_eighth, "iq3_s"},
    {{"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs"}, feed_forward_down, When::first_eighth, "q2_K"},
    {{"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m"},
     attention_output,
     When::eight_experts,
     "q5_K"},
    {{"iq1_s", "iq1_m"}, attention_output, When::always, "iq2_xxs"},
    {{"iq2_s", "iq2_m"}, attention_output, When::always, "iq3_s"},

    {{}, attention_v, When::eight_experts, "q8_0"},
    {{"q2_K", "q2_K_S", "iq3_xxs", "iq3_xs", "iq3_s"}, attention_v, When::grouped_heads, "q4_K"},
    {{"q2_K"}, attention_v, When::always, "q3_K"},
    {{"iq3_m"}, attention_v, When::always, "q4_K"},
    {{"q3_K_M"}, attention_v, When::first_two, "q5_K"},
    {{"q3_K_M"}, attention_v, When::always, "q4_K"},
    {{"q3_K_L"}, attention_v, When::always, "q5_K"},
    {{"iq4_nl", "iq4_xs"}, attention_v, When::grouped_heads, "q5_K"},
    {{"q4_K_M", "q5_K_M"}, attention_v, When::more, "q6_K"},
    {{"q4_K_S"}, attention_v, When::first_four, "q5_K"},

    {{}, attention_k, When::eight_experts, "q8_0"},
    {{"iq3_xs"}, attention_k, When::always, "iq3_xxs"},
    {{"iq3_xxs"}, attention_k, When::always, "iq2_s"},
    {{"iq3_xs"}, attention_q, When::always, "iq3_xxs"},
    {{"iq3_xxs"}, attention_q, When::always, "iq2_s"},

    {{"q2_K"}, feed_forward_down, When::always, "q3_K"},
    {{"q2_K_S"}, feed_forward_down, When::first_eighth, "q4_K"},
    {{"q3_K_M"}, feed_forward_down, When::first_sixteenth, "q5_K"},
    {{"q3_K_M"}, feed_forward_down, When::falcon_not_more, ""},
    {{"q3_K_M"}, feed_forward_down, When::always, "q4_K"},
    {{"iq3_m"}, feed_forward_down, When::first_eighth, "q4_K"},
    {{"iq3_m"}, feed_forward_down, When::eight_experts_more, "q4_K"},
    {{"q3_K_L"}, feed_forward_down, When::falcon, "q4_K"},
    {{"q3_K_L"}, feed_forward_down, When::always, "q5_K"},
    {{"q4_K_M"}, feed_forward_down, When::falcon_first_sixteenth, "q6_K"},
    {{"q4_K_M"}, feed_forward_down, When::falcon_more, "q5_K"},
    {{"q4_K_M"}, feed_forward_down, When::falcon, ""},
    {{"q4_K_M", "q5_K_M"}, feed_forward_down, When::more, "q6_K"},
    {{"iq4_nl", "iq4_xs"}, feed_forward_down, When::first_eighth_plain, "q5_K"},
    {{"q4_K_S"}, feed_forward_down, When::falcon, ""},
    {{"q4_K_S"}, feed_forward_down, When::first_eighth, "q5_K"},
    {{"q4_0"}, feed_forward_down, When::first_eighth_importance, "q4_1"},
    {{"q5_0"}, feed_forward_down, When::first_eighth_importance, "q5_1"},

    {{"q3_K_L"}, attention_output, When::falcon, "q4_K"},
    {{}, attention_output, When::falcon, ""},
    {{"q2_K", "iq3_xs", "iq3_xxs", "iq3_s", "iq3_m", "q3_K_S", "q3_K_M", "iq4_nl", "iq4_xs",
      "q4_K_S", "q4_K_M"},
     attention_output,
     When::eight_experts,
     "q5_K"},
    {{}, attention_output, When::eight_experts, ""},
    {{"q2_K"}, attention_output, When::always, "q3_K"},
    {{"iq3_xxs"}, attention_output, When::always, "iq3_s"},
    {{"q3_K_M", "iq3_m"}, attention_output, When::always, "q4_K"},
    {{"q3_K_L"}, attention_output, When::always, "q5_K"},

    {{"q3_K_M", "q3_K_L", "iq3_m"}, attention_qkv, When::always, "q4_K"},
    {{"q4_K_M"}, attention_qkv, When::always, "q5_K"},
    {{"q5_K_M"}, attention_qkv, When::always, "q6_K"},

    {{"iq3_xs"}, feed_forward_gate, When::middle, "iq3_xxs"},
    {{"iq3_xs"}, feed_forward_up, When::middle, "iq3_xxs"},
};

bool contains(std::initializer_list<std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A condition on the model or on an importance matrix.
bool holds_for_model(When when, const MixQuestion& q) {
  switch (when) {
    case When::always:
      return true;
    case When::eight_experts:
      return q.experts == 8;
    case When::four_experts:
      return q.experts >= 4;
    case When::many_experts:
      return q.experts >= 8;
    case When::shared_expert:
      return q.shared_expert;
    case When::paired_heads:
      return q.gqa >= 2;
    case When::paired_heads_or_experts:
      return q.gqa >= 2 || q.experts >= 2;
    case When::grouped_heads:
      return q.gqa >= 4;
    case When::grouped_heads_or_experts:
      return q.gqa >= 4 || q.experts >= 4;
    case When::falcon:
      return q.falcon;
    case When::seventy_b:
      return q.seventy_b;
    case When::large_vocabulary:
      return q.large_vocabulary;
    case When::plain:
      return !q.importance;
    default:
      return false;
  }
}

/// A condition on the layer, among others.
bool holds(When when, const MixQuestion& q) {
  const Size eighth = q.of / 8;
  const bool first_eighth = q.index < eighth, last_eighth = q.index >= 7 * q.of / 8;
  const bool more = first_eighth || last_eighth || (q.index - eighth) % 3 == 2;
  switch (when) {
    case When::first_of_many_experts:
      return q.experts >= 8 && q.index == 0;
    case When::first_two:
      return q.index < 2;
    case When::first_four:
      return q.index < 4;
    case When::first_sixteenth:
      return q.index < q.of / 16;
    case When::first_eighth:
      return first_eighth;
    case When::middle:
      return !first_eighth && !last_eighth;
    case When::more:
      return more;
    case When::eight_experts_more:
      return q.experts == 8 && more;
    case When::falcon_first_sixteenth:
      return q.falcon && q.index < q.of / 16;
    case When::falcon_more:
      return q.falcon && more;
    case When::falcon_not_more:
      return q.falcon && !more;
    case When::first_eighth_plain:
      return first_eighth && !q.importance;
    case When::first_eighth_importance:
      return first_eighth && q.importance;
    default:
      return holds_for_model(when, q);
  }
}

/// The format of most tensors of a mix, if it differs from the mix's name.
std::string_view default_format(std::string_view mix) {
  struct Row {
    std::string_view mix, format;
  };
  static constexpr auto rows = std::to_array<Row>({
      {"q2_K_S", "q2_K"},
      {"q3_K_S", "q3_K"},
      {"q3_K_M", "q3_K"},
      {"q3_K_L", "q3_K"},
      {"q4_K_S", "q4_K"},
      {"q4_K_M", "q4_K"},
      {"q5_K_S", "q5_K"},
      {"q5_K_M", "q5_K"},
      {"iq2_s", "iq2_xs"},
      {"iq2_m", "iq2_s"},
      {"iq3_xs", "iq3_s"},
      {"iq3_m", "iq3_s"},
      {"mxfp4-moe", "mxfp4"},
  });
  for (const Row& row : rows)
    if (row.mix == mix) return row.format;
  return mix;
}

/// Mixes whose embedding and output are q8_0, and the mixes that they are otherwise. They are made
/// with llama-quantize --token-embedding-type q8_0 --output-tensor-type q8_0; their publishers'
/// pages say so.
std::string_view narrower(std::string_view mix) {
  using Row = std::pair<std::string_view, std::string_view>;
  static constexpr auto rows = std::to_array<Row>({{"q2_K_L", "q2_K"},
                                                   {"q3_K_XL", "q3_K_L"},
                                                   {"q4_K_L", "q4_K_M"},
                                                   {"q5_K_L", "q5_K_M"},
                                                   {"q6_K_L", "q6_K"}});
  const auto found = std::ranges::find(rows, mix, &Row::first);
  return found == rows.end() ? std::string_view() : found->second;
}

/// Blocks of 32 for rows that blocks of 256 do not divide.
std::string_view llama_cpp_fallback(std::string_view format) {
  if (format.starts_with("iq")) return "iq4_nl";
  if (contains({"q2_K", "q3_K", "tq1_0", "tq2_0"}, format)) return "q4_0";
  if (format == "q4_K") return "q5_0";
  if (format == "q5_K") return "q5_1";
  return format == "q6_K" ? "q8_0" : "";
}

/// The fallback for rows that are no multiple of a block. Rows that 32 does not divide are fp16.
const Precision& divided(const Precision& format, Size row, bool of_ik) {
  if (row % format.block_elements == 0) return format;
  const std::string_view fallback =
      of_ik ? ik_fallback(format.name) : llama_cpp_fallback(format.name);
  const bool divides = !fallback.empty() && row % precision(fallback).block_elements == 0;
  return precision(divides ? fallback : "fp16");
}

}  // namespace

void Mix::take_rules(std::span<const Rule> rules, std::string_view name) {
  for (const Rule& rule : rules)
    if (rule.mixes.size() == 0 || contains(rule.mixes, name))
      rules_.push_back(
          {rule.tensor_class, rule.when, rule.format.empty() ? usual_ : &precision(rule.format)});
}

Mix::Mix(std::string_view name) : q8_0_(&precision("q8_0")) {
  if (const IkMix* own = ik_mix(name)) {
    of_ik_ = true;
    usual_ = &precision(own->format);
    output_ = &precision(own->output);
    tied_output_ = &precision(own->tied_output);
    take_rules(ik_mix_rules(), name);
    return;
  }
  if (const std::string_view base = narrower(name); !base.empty()) {
    *this = Mix(base);
    tables_ = q8_0_;
    return;
  }
  usual_ = &precision(default_format(name));
  take_rules(llama_cpp_rules, name);
  const bool low =
      contains({"iq1_s", "iq1_m", "iq2_xxs", "iq2_xs", "iq2_s", "iq2_m", "iq3_xxs"}, name);
  output_ = low ? &precision("q5_K") : usual_ == q8_0_ ? q8_0_ : &precision("q6_K");
  tied_output_ = output_;
  if (name == "mxfp4-moe") experts_ = usual_;
  if (!name.starts_with("iq1") && !name.starts_with("iq2")) lifted_ = &precision("q5_K");
}

const Precision& Mix::format(const MixQuestion& question) const {
  return divided(wanted(question), question.row, of_ik_);
}

const Precision& Mix::output_format(const MixQuestion& q) const {
  const Size block = of_ik_ ? 256 : usual_->block_elements;
  if (experts_ != nullptr || q.falcon || q.row % block != 0) return *q8_0_;
  return q.tied ? *tied_output_ : *output_;
}

const Precision& Mix::wanted(const MixQuestion& q) const {
  if (tables_ != nullptr && (q.tensor_class == output || q.tensor_class == token_embedding))
    return *tables_;
  if (q.tensor_class == output || (q.tied && q.tensor_class == token_embedding))
    return output_format(q);
  if (experts_ != nullptr) return q.stacked_experts ? *experts_ : *q8_0_;
  const auto rule = std::ranges::find_if(rules_, [&](const OwnRule& each) {
    return each.tensor_class == q.tensor_class && holds(each.when, q);
  });
  const Precision& format = rule == rules_.end() ? *usual_ : *rule->format;
  const bool lifted = q.seventy_b && q.tensor_class == attention_v && lifted_ != nullptr;
  return lifted && (format.name == "q3_K" || format.name == "q4_K") ? *lifted_ : format;
}

std::string_view mixed_format(std::string_view mix, const MixQuestion& question) {
  return Mix(mix).format(question).name;
}

}  // namespace headroom::model
