// The table of methods, and the short ones: fp8, fbgemm_fp8, mxfp4, bitsandbytes.
#include "model/checkpoint/checkpoint_methods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "model/checkpoint/quantisation/exl.hpp"

namespace headroom::model {
namespace {

/// transformers calls the list modules_to_not_convert, AutoFP8 and vLLM ignored_layers.
void listed_exceptions(const Config& q, const Config&, CheckpointDetails& details) {
  for (const char* key : {"modules_to_not_convert", "ignored_layers", "ignore"})
    stay(details, q.texts({key}));
}

std::string fbgemm_scheme(const Config&) { return "fp8-channel-fp32"; }
std::string mxfp4_scheme(const Config&) { return "mxfp4"; }

/// "bits": 4.25, "head_bits": 6. Source: exllamav3 1.6.5 conversion/quant_config.py, exllamav2
/// conversion/compile.py.
template <int edition>
std::string exl_scheme_of(const Config& q) {
  const double bits = q.number({"bits"}, 0), head = q.number({"head_bits", "lm_head_bits"}, 6);
  if (bits < 1 || bits > 8) q.fail("bits", fmt::format("found {}, expected 1 to 8", bits));
  if (head < 1 || head > 8)
    q.fail("head_bits", fmt::format("found {}, expected 1 to 8; others are not described", head));
  return exl_name(edition, bits, head);
}

void no_exceptions(const Config&, const Config&, CheckpointDetails&) {}

/// The transformers version that wrote the file: {4, 57}. {0, 0} if not stated.
std::pair<int, int> version_of(const Config& file) {
  const std::string text = file.text({"transformers_version"}, "");
  int major = 0, minor = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, major);
  if (read.ptr < end && *read.ptr == '.') std::from_chars(read.ptr + 1, end, minor);
  return {major, minor};
}

/// An entry of llm_int8_skip_modules, matched as in the transformers version that wrote the file.
/// Sources: integrations/bitsandbytes.py of 4.57 (_replace_with_bnb_linear: the whole path, a part
/// of it that ends at a dot, or a module's own name); quantizers/quantizers_utils.py of 5.0 and
/// 5.10 (should_convert_module: an expression at the path's beginning, or its end) and of 5.23 (the
/// same, but the beginning must end at a dot).
void add_skipped(std::vector<std::string>& patterns, const std::string& entry,
                 std::pair<int, int> version) {
  if (version.first >= 5) {
    add_not_converted(patterns, entry, version >= std::pair{5, 23});
    return;
  }
  patterns.push_back(fmt::format("part:{}.", entry));
  patterns.push_back("is:" + entry);
  if (entry.find('.') == std::string::npos) patterns.push_back("end:." + entry);
}

/// A scheme that the section alone decides.
template <std::string (*scheme)(const Config&)>
std::string by_section(const Config& q, const Config&) {
  return scheme(q);
}

constexpr CheckpointMethod table[] = {
    {"auto-round", by_section<auto_round_scheme>, auto_round_exceptions},
    {"awq", by_section<awq_scheme>, awq_exceptions},
    {"bitsandbytes", by_section<bitsandbytes_scheme>, bitsandbytes_exceptions},
    {"compressed-tensors", by_section<compressed_scheme>, compressed_exceptions},
    {deepseek_v4_fp8, deepseek_v4_scheme, deepseek_v4_exceptions},
    {"exl2", by_section<exl_scheme_of<2>>, no_exceptions},
    {"exl3", by_section<exl_scheme_of<3>>, no_exceptions},
    {"fbgemm_fp8", by_section<fbgemm_scheme>, listed_exceptions},
    {"fp8", by_section<fp8_scheme>, listed_exceptions},
    {"gptq", by_section<gptq_scheme>, gptq_exceptions},
    {"intel/auto-round", by_section<auto_round_scheme>, auto_round_exceptions},
    {"mlx", by_section<mlx_scheme>, mlx_exceptions},
    {"modelopt", by_section<modelopt_scheme>, modelopt_exceptions},
    {"modelopt_fp4", by_section<modelopt_scheme>, modelopt_exceptions},
    {"mxfp4", by_section<mxfp4_scheme>, listed_exceptions},
    {"quark", quark_scheme, quark_exceptions},
    {quark_int4, quark_scheme, quark_exceptions},
    {"torchao", by_section<torchao_scheme>, torchao_exceptions},
};

}  // namespace

std::span<const CheckpointMethod> checkpoint_methods() { return table; }

std::string bitsandbytes_scheme(const Config& q) {
  if (q.flag({"llm_int8_has_fp16_weight"}, false))
    q.fail("llm_int8_has_fp16_weight", "true: weights that stay in 16 bit are not described");
  if (q.flag({"load_in_8bit", "_load_in_8bit"}, false)) return "int8";
  if (!q.flag({"load_in_4bit", "_load_in_4bit"}, false))
    q.fail("load_in_4bit", "neither load_in_4bit nor load_in_8bit is true");
  const std::string type = q.text({"bnb_4bit_quant_type"}, "fp4");
  if (type != "nf4" && type != "fp4")
    q.fail("bnb_4bit_quant_type", fmt::format("found '{}', expected nf4 or fp4", type));
  return q.flag({"bnb_4bit_use_double_quant"}, false) ? type + "-double" : type;
}

void bitsandbytes_exceptions(const Config& q, const Config& file, CheckpointDetails& details) {
  if (!q.has("llm_int8_skip_modules")) return;
  std::vector<std::string> patterns;
  for (const std::string& entry : q.texts({"llm_int8_skip_modules"}))
    add_skipped(patterns, entry, version_of(file));
  stay(details, std::move(patterns));
  // quantizers/base.py, get_modules_to_not_convert: a list replaces the default head.
  details.groups.push_back({bitsandbytes_scheme(q), {std::string(output_head)}});
}

void add_not_converted(std::vector<std::string>& patterns, const std::string& entry, bool bounded) {
  patterns.push_back(fmt::format("re:(?:{}){}", entry, bounded ? "(?:(?<=\\.).*)?" : ".*"));
  patterns.push_back("end:" + entry);  // and nothing below it
}

std::string with_group(const std::string& base, const Config& q, double group,
                       std::string_view key) {
  constexpr double usual[] = {16, 32, 64, 128, 256, 512, 1024};
  if (group == 128) return base;
  if (group == -1) return base + "-nogroup";
  if (std::ranges::find(usual, group) == std::end(usual))
    q.fail(key, fmt::format("found a group of {}, expected 16, 32, 64, 128, 256, 512, 1024 or -1",
                            group));
  return fmt::format("{}-{}g", base, group);
}

std::string fp8_scheme(const Config& q) {
  if (!q.has("weight_block_size"))
    return q.text({"activation_scheme"}, "dynamic") == "static" ? "fp8-static" : "fp8";
  const std::vector<Size> block = q.dims({"weight_block_size"});
  if (block != std::vector<Size>{128, 128})
    q.fail("weight_block_size", "expected [128, 128]; other blocks are not known");
  return "fp8-block";
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (std::string_view("\\.()[]{}|+*?^$").find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}

bool SchemesByRule::same(const boost::json::value& a, const boost::json::value& b) {
  return a == b;
}

void add_rule(CheckpointDetails& details, std::string_view scheme, std::string pattern) {
  const bool more = !details.groups.empty() && details.groups.back().scheme == scheme &&
                    !details.groups.back().embeddings;
  if (!more) details.groups.push_back({std::string(scheme), {}});
  details.groups.back().targets.push_back(std::move(pattern));
}

void stay(CheckpointDetails& details, std::vector<std::string> patterns) {
  if (!patterns.empty()) details.groups.push_back({"bf16", std::move(patterns)});
}

}  // namespace headroom::model
