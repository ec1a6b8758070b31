#include "sweep/sources/custom_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "hardware/text.hpp"
#include "sweep/options/flags.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

bool describes_a_model(const Flag& flag) {
  static const auto flags = words(HEADROOM_CUSTOM_FLAGS);
  return std::ranges::find(flags, flag.name) != flags.end();
}

std::string key_of(std::string_view flag) {
  std::string key(flag);
  std::ranges::replace(key, '-', '_');
  return key;
}

template <class T>
struct Named {
  std::string_view name;
  T value;
};

class Reader {
 public:
  explicit Reader(const CustomKeys& keys) : keys_(keys) {}

  CustomDescription read() {
    CustomDecoder& d = all_.decoder;
    d.hidden_size = needed("hidden-size");
    d.layers = needed("layers");
    if (d.layers > most_layers)
      fail("layers", fmt::format("found {}, at most {} are supported", d.layers, most_layers));
    heads(d);
    d.vocabulary = whole("vocab-size");
    // Source: openai-community/gpt2, config.json.
    if (d.vocabulary == 0) d.vocabulary = assume("vocab-size", 50257, "GPT-2's");
    positions(d);
    windows(d);
    d.feed_forward = choice<FeedForward>(
        "feed-forward", {{"plain", FeedForward::plain}, {"gated", FeedForward::gated}});
    feed_forward(d);
    norms(d);
    biases(d);
    d.tied_head = choice<bool>("tied-head", {{"true", true}, {"false", false}});
    return std::move(all_);
  }

 private:
  const CustomValue* find(std::string_view flag) const {
    const auto found = keys_.find(flag);
    return found == keys_.end() ? nullptr : &found->second;
  }
  /// Name in errors of a key that may not have been given.
  std::string named(std::string_view flag) const {
    const CustomValue* given = find(flag);
    return given ? given->where : "--" + std::string(flag);
  }
  [[noreturn]] void fail(std::string_view flag, const std::string& what) const {
    throw std::invalid_argument(fmt::format("{}: {}", named(flag), what));
  }
  void no_effect(std::string_view flag, std::string_view why) const {
    if (find(flag)) fail(flag, fmt::format("has no effect {}", why));
  }

  /// 0 where it was not given.
  Size whole(std::string_view flag, Size least = 1) const {
    constexpr Size most = Size{1} << 30;
    const CustomValue* given = find(flag);
    if (!given) return 0;
    const std::string& text = given->value;
    Size number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most)
      fail(flag,
           fmt::format("found '{}', expected a whole number from {} to {}", text, least, most));
    return number;
  }
  Size needed(std::string_view flag) const {
    if (!find(flag))
      throw std::invalid_argument(
          fmt::format("a custom model needs --hidden-size and --layers at least; --{} is missing "
                      "(in TOML: {})",
                      flag, key_of(flag)));
    return whole(flag);
  }
  Size assume(std::string_view flag, Size value, std::string_view why) {
    all_.assumed.push_back(fmt::format("{} {} ({})", key_of(flag), value, why));
    return value;
  }
  /// One of `names`; the first where it was not given.
  template <class T>
  T choice(std::string_view flag, std::initializer_list<Named<T>> names) {
    const CustomValue* given = find(flag);
    if (!given) {
      all_.assumed.push_back(fmt::format("{} {}", key_of(flag), names.begin()->name));
      return names.begin()->value;
    }
    std::vector<std::string_view> known;
    for (const auto& row : names) {
      if (row.name == given->value) return row.value;
      known.push_back(row.name);
    }
    fail(flag, fmt::format("found '{}', expected {}", given->value, fmt::join(known, ", ")));
  }

  void heads(CustomDecoder& d) {
    Heads& h = d.heads;
    h = {whole("heads"), whole("kv-heads"), whole("head-dim")};
    if (h.query == 0) {
      const Size dim = h.dim > 0 ? h.dim : 64;
      if (d.hidden_size % dim != 0)
        fail("hidden-size",
             fmt::format("found {}, which is no multiple of {}: give --heads", d.hidden_size, dim));
      h.query = assume("heads", d.hidden_size / dim, fmt::format("hidden_size / {}", dim));
    }
    if (h.kv == 0) h.kv = assume("kv-heads", h.query, "one for each query head");
    if (h.query % h.kv != 0)
      fail("kv-heads",
           fmt::format("found {}, expected a divisor of {} ({})", h.kv, named("heads"), h.query));
    if (h.dim > 0) return;
    if (d.hidden_size % h.query != 0)
      fail("heads", fmt::format("found {}, expected a divisor of {} ({}), or --head-dim", h.query,
                                named("hidden-size"), d.hidden_size));
    h.dim = assume("head-dim", d.hidden_size / h.query, "hidden_size / heads");
  }

  void positions(CustomDecoder& d) {
    using enum PositionEmbedding;
    d.position_embedding = choice<PositionEmbedding>(
        "position-embedding", {{"learned", learned}, {"rotary", rotary}, {"none", none}});
    d.positions = whole("positions");
    if (d.positions == 0 && d.position_embedding == learned)
      d.positions = assume("positions", 512, "a table of 512 rows");
  }

  void windows(CustomDecoder& d) {
    d.window = whole("window");
    d.full_attention_every = whole("full-attention-every", 2);
    if (d.window == 0) no_effect("full-attention-every", "without --window");
    if (d.full_attention_every > d.layers)
      fail("full-attention-every",
           fmt::format("found {}, expected at most {} ({}): no layer would be full",
                       d.full_attention_every, named("layers"), d.layers));
  }

  void feed_forward(CustomDecoder& d) {
    d.intermediate_size = whole("intermediate-size");
    d.experts = {whole("experts"), whole("active-experts")};
    if (d.experts.experts > 0) return mixture(d);
    for (const auto* flag :
         {"active-experts", "expert-intermediate-size", "shared-experts", "dense-layers"})
      no_effect(flag, "without --experts");
    if (d.intermediate_size > 0) return;
    if (d.feed_forward == FeedForward::gated)
      fail("intermediate-size",
           "a gated feed-forward needs it: models differ in how they round it");
    d.intermediate_size = assume("intermediate-size", 4 * d.hidden_size, "4 * hidden_size");
  }

  void mixture(CustomDecoder& d) {
    if (d.experts.used == 0)
      fail("active-experts", "--experts needs it: the number that a token uses");
    if (d.experts.used > d.experts.experts)
      fail("active-experts", fmt::format("found {}, expected at most {} ({})", d.experts.used,
                                         named("experts"), d.experts.experts));
    d.shared_experts = whole("shared-experts", 0);
    d.dense_layers = whole("dense-layers", 0);
    if (d.dense_layers >= d.layers)
      fail("dense-layers", fmt::format("found {}, expected less than {} ({})", d.dense_layers,
                                       named("layers"), d.layers));
    d.expert_size = whole("expert-intermediate-size");
    if (d.expert_size == 0 && d.intermediate_size == 0)
      fail("expert-intermediate-size", "--experts needs it");
    if (d.dense_layers > 0 && d.intermediate_size == 0)
      fail("intermediate-size", "--dense-layers needs it: their feed-forward is not a mixture");
    if (d.dense_layers == 0 && d.expert_size > 0)
      no_effect("intermediate-size", "with --expert-intermediate-size and no --dense-layers");
    if (d.expert_size == 0)
      d.expert_size = assume("expert-intermediate-size", d.intermediate_size, "intermediate_size");
    if (d.dense_layers == 0) d.intermediate_size = 0;
  }

  void norms(CustomDecoder& d) {
    using enum NormPlacement;
    d.norm = choice<CustomNorm>("norm", {{"layer", CustomNorm::layer}, {"rms", CustomNorm::rms}});
    d.norm_placement = choice<NormPlacement>(
        "norm-placement", {{"pre", pre}, {"post", post}, {"both", both}, {"parallel", parallel}});
    using enum QueryKeyNorm;
    d.query_key_norm =
        choice<QueryKeyNorm>("qk-norm", {{"none", none}, {"head", head}, {"layer", layer}});
  }

  void biases(CustomDecoder& d) {
    Biases& b = d.biases;
    const CustomValue* given = find("biases");
    if (!given) {
      all_.assumed.emplace_back("biases none");
      return;
    }
    const Named<std::vector<Bias*>> names[] = {
        {"none", {}},
        {"qkv", {&b.qkv}},
        {"out", {&b.attention_output}},
        {"mlp", {&b.feed_forward}},
        {"norm", {&b.norm}},
        {"head", {&b.head}},
        {"all", {&b.qkv, &b.attention_output, &b.feed_forward, &b.norm}}};
    const auto parts = words(given->value, ",");
    for (const auto part : parts) {
      const auto row = std::ranges::find(names, part, &Named<std::vector<Bias*>>::name);
      if (row == std::end(names) || (part == "none" && parts.size() > 1))
        fail("biases", fmt::format("found '{}', expected none, all (but the head), or some of "
                                   "qkv, out, mlp, norm, head",
                                   given->value));
      for (Bias* bias : row->value) *bias = Bias::yes;
    }
    if (parts.empty()) fail("biases", "found nothing, expected none, all or some of them");
    if (d.norm != CustomNorm::rms) return;
    b.norm = Bias::no;
    if (std::ranges::find(parts, "norm") != parts.end())
      fail("biases", "found 'norm', but RMS norms have no bias");
  }

  const CustomKeys& keys_;
  CustomDescription all_;
};

}  // namespace

std::string custom_flag(std::string_view key) {
  std::string spelling = "--" + std::string(key);
  std::ranges::replace(spelling, '_', '-');
  const Flag* flag = find_spelling(spelling).flag;
  return flag && describes_a_model(*flag) ? std::string(flag->name) : std::string();
}

std::vector<std::string> custom_spellings() {
  std::vector<std::string> all;
  for (const std::string& spelling : spellings())
    if (const Flag* flag = find_spelling(spelling).flag; flag && describes_a_model(*flag))
      all.push_back(key_of(spelling.substr(2)));
  return all;
}

CustomDescription custom_decoder(const CustomKeys& keys) { return Reader(keys).read(); }

}  // namespace headroom::sweep
