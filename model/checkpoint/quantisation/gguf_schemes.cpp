#include "model/checkpoint/quantisation/gguf_schemes.hpp"

#include <utility>

#include "model/checkpoint/quantisation/ik_mix.hpp"

namespace headroom::model {
namespace {

constexpr std::string_view gguf_note =
    "llama.cpp's tensor types; norms, biases, routers and positions are fp32, towers fp16";
constexpr std::string_view gguf_source = "llama.cpp 007dbbf3 src/llama-quant.cpp";

constexpr std::string_view ik_note =
    "ik_llama.cpp's tensor types, which llama.cpp does not read; the rest as in llama.cpp's files";
constexpr std::string_view ik_source =
    "ik_llama.cpp src/llama-quantize.cpp (PyPI ik-llama-cpp-python 0.1.5)";

Scheme gguf_row(std::string_view name, std::vector<std::string_view> aliases,
                std::string_view format, std::string_view mix) {
  return {name,
          std::move(aliases),
          SchemeFamily::gguf,
          gguf_note,
          gguf_source,
          Reach::llama_cpp,
          format,
          nullptr,
          0,
          0,
          mix};
}

/// Mixes that an importance matrix changes.
constexpr std::pair<std::string_view, std::string_view> ik_with_importance[] = {
    {"iq3_kt-imatrix", "iq3_kt"},       {"iq3_xxs_r4-imatrix", "iq3_xxs_r4"},
    {"iq4_ks-imatrix", "iq4_ks"},       {"iq4_kss-imatrix", "iq4_kss"},
    {"iq4_ks_r4-imatrix", "iq4_ks_r4"}, {"iq4_nl_r4-imatrix", "iq4_nl_r4"},
    {"iq4_xs_r8-imatrix", "iq4_xs_r8"}, {"q4_0_r8-imatrix", "q4_0_r8"}};

Scheme ik_row(std::string_view name, const IkMix& mix) {
  Scheme row = gguf_row(name, {}, mix.format, mix.name);
  row.family = SchemeFamily::gguf_ik;
  row.meaning = ik_note;
  row.source = ik_source;
  return row;
}

}  // namespace

std::vector<Scheme> gguf_schemes() {
  std::vector<Scheme> rows = {
      gguf_row("gguf-f32", {}, "fp32", ""),
      gguf_row("gguf-f16", {}, "fp16", ""),
      gguf_row("gguf-bf16", {}, "bf16", ""),
      gguf_row("q4_0", {}, "q4_0", "q4_0"),
      gguf_row("q4_1", {}, "q4_1", "q4_1"),
      gguf_row("q5_0", {}, "q5_0", "q5_0"),
      gguf_row("q5_1", {}, "q5_1", "q5_1"),
      gguf_row("q8_0", {}, "q8_0", "q8_0"),
      gguf_row("q2_K", {}, "q2_K", "q2_K"),
      gguf_row("q2_K_S", {}, "q2_K", "q2_K_S"),
      gguf_row("q3_K_S", {}, "q3_K", "q3_K_S"),
      gguf_row("q3_K_M", {"q3_K"}, "q3_K", "q3_K_M"),
      gguf_row("q3_K_L", {}, "q3_K", "q3_K_L"),
      gguf_row("q4_K_S", {}, "q4_K", "q4_K_S"),
      gguf_row("q4_K_M", {"q4_K"}, "q4_K", "q4_K_M"),
      gguf_row("q5_K_S", {}, "q5_K", "q5_K_S"),
      gguf_row("q5_K_M", {"q5_K"}, "q5_K", "q5_K_M"),
      gguf_row("q6_K", {}, "q6_K", "q6_K"),
      gguf_row("q2_K_L", {}, "q2_K", "q2_K_L"),
      gguf_row("q3_K_XL", {}, "q3_K", "q3_K_XL"),
      gguf_row("q4_K_L", {}, "q4_K", "q4_K_L"),
      gguf_row("q5_K_L", {}, "q5_K", "q5_K_L"),
      gguf_row("q6_K_L", {}, "q6_K", "q6_K_L"),
      gguf_row("iq1_s", {}, "iq1_s", "iq1_s"),
      gguf_row("iq1_m", {}, "iq1_m", "iq1_m"),
      gguf_row("iq2_xxs", {}, "iq2_xxs", "iq2_xxs"),
      gguf_row("iq2_xs", {}, "iq2_xs", "iq2_xs"),
      gguf_row("iq2_s", {}, "iq2_xs", "iq2_s"),
      gguf_row("iq2_m", {}, "iq2_s", "iq2_m"),
      gguf_row("iq3_xxs", {}, "iq3_xxs", "iq3_xxs"),
      gguf_row("iq3_xs", {}, "iq3_s", "iq3_xs"),
      gguf_row("iq3_s", {}, "iq3_s", "iq3_s"),
      gguf_row("iq3_m", {}, "iq3_s", "iq3_m"),
      gguf_row("iq4_nl", {}, "iq4_nl", "iq4_nl"),
      gguf_row("iq4_xs", {}, "iq4_xs", "iq4_xs"),
      gguf_row("tq1_0", {}, "tq1_0", "tq1_0"),
      gguf_row("tq2_0", {}, "tq2_0", "tq2_0"),
      gguf_row("mxfp4-moe", {"gguf-mxfp4"}, "mxfp4", "mxfp4-moe"),
      gguf_row("q4_0-imatrix", {}, "q4_0", "q4_0"),
      gguf_row("q5_0-imatrix", {}, "q5_0", "q5_0"),
      gguf_row("iq4_nl-imatrix", {}, "iq4_nl", "iq4_nl"),
      gguf_row("iq4_xs-imatrix", {}, "iq4_xs", "iq4_xs"),
  };
  for (const IkMix& mix : ik_mixes()) rows.push_back(ik_row(mix.name, mix));
  for (const auto& [name, mix] : ik_with_importance) rows.push_back(ik_row(name, *ik_mix(mix)));
  for (Scheme& row : rows) row.importance = row.name.ends_with("-imatrix");
  return rows;
}

}  // namespace headroom::model
