#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hardware/quantity_text.hpp"
#include "model/engine/engine_fields.hpp"

namespace headroom::model {
namespace {

struct FieldText {
  Engine& engine;

  std::string operator()(Member<bool> m) const { return m(engine) ? "yes" : "no"; }
  std::string operator()(Member<Size> m) const { return fmt::format("{}", m(engine)); }
  std::string operator()(Member<double> m) const { return fmt::format("{:.4g}", m(engine)); }
  std::string operator()(const Choice& c) const { return std::string(c.words[c.get(engine)]); }
  std::string operator()(Member<std::string_view> m) const { return std::string(m(engine)); }
  std::string operator()(Member<Texts> m) const { return joined(m(engine)); }
  std::string operator()(Member<std::optional<Texts>> m) const {
    const std::optional<Texts>& classes = m(engine);
    return !classes ? "any" : classes->empty() ? "none" : joined(*classes);
  }
  std::string operator()(Member<std::vector<Size>> m) const {
    return m(engine).empty() ? "any" : joined(m(engine));
  }
  std::string operator()(Member<std::vector<SchemeFamily>> m) const {
    Texts words;
    for (const SchemeFamily each : m(engine))
      words.push_back(scheme_family_words()[static_cast<std::size_t>(each)]);
    return joined(words);
  }
  std::string operator()(Member<std::vector<CacheFormat>> m) const {
    std::vector<std::string> words;
    for (const CacheFormat& each : m(engine)) {
      words.push_back(each.word.empty() || each.word == each.precision
                          ? std::string(each.precision)
                          : fmt::format("{} ({})", each.precision, each.word));
      if (!each.cards.empty()) words.back() += fmt::format(" on {}", text_of(each.cards));
    }
    return joined(words);
  }
  std::string operator()(Member<std::vector<CardsFrom>> m) const { return text_of(m(engine)); }
  std::string operator()(Member<std::vector<CheckpointSupport>> m) const {
    if (m(engine).empty()) return "any";
    std::vector<std::string> words;
    for (const CheckpointSupport& each : m(engine)) words.push_back(text_of(each));
    return fmt::format("{}", fmt::join(words, " | "));
  }
  std::string operator()(Member<std::vector<ExpertTiles>> m) const {
    std::vector<std::string> words;
    for (const ExpertTiles& each : m(engine))
      words.push_back(fmt::format("{} x {} from {:g} to before {:g}{}", each.inner_multiple,
                                  each.hidden_multiple, each.from, each.before,
                                  each.scales_twice ? ", scales twice" : ""));
    return joined(words);
  }
  std::string operator()(Member<std::vector<DefaultContext>> m) const {
    std::vector<std::string> words;
    for (const DefaultContext& each : m(engine))
      words.push_back(each.from == Bytes(0)
                          ? fmt::format("{}", each.tokens)
                          : fmt::format("{} from {}", each.tokens, to_text(each.from)));
    return joined(words);
  }
  std::string operator()(Member<std::vector<CardReserve>> m) const {
    std::vector<std::string> words;
    for (const CardReserve& each : m(engine)) {
      std::string& text = words.emplace_back(
          each.from == Bytes(0) ? std::string() : fmt::format("from {}: ", to_text(each.from)));
      text += fmt::format("chunks of {}, graphs of {} or {}", each.chunk, each.graph_batch,
                          each.graph_batch_of_four);
      text += each.shares.empty() ? fmt::format(", {} + {} a card free", to_text(each.bytes),
                                                to_text(each.each_card))
                                  : fmt::format(", share {:g}", fmt::join(each.shares, " "));
      if (each.at_least > Bytes(0)) text += fmt::format(", at least {}", to_text(each.at_least));
    }
    return fmt::format("{}", fmt::join(words, " | "));
  }

  template <class List>
  static std::string joined(const List& list) {
    return fmt::format("{}", fmt::join(list, ", "));
  }
};

}  // namespace

std::string text_of(const EngineField& field, const Engine& engine) {
  return std::visit(FieldText{const_cast<Engine&>(engine)}, field.type);
}

}  // namespace headroom::model
