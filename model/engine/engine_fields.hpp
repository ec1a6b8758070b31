// Every field of an engine's policies as a row: its key in TOML, its meaning and its type. Reading,
// printing and hashing of engines go through this table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/engine/engine.hpp"
#include "model/engine/number_limits.hpp"

namespace headroom::model {

template <class T>
using Member = T& (*)(Engine&);

/// An enumeration. `words[i]` is what TOML and pages call the enumerator i.
struct Choice {
  std::span<const std::string_view> words;
  std::size_t (*get)(Engine&);
  void (*set)(Engine&, std::size_t);
};

using Texts = std::vector<std::string_view>;
using FieldType =
    std::variant<Member<bool>, Member<Size>, Member<double>, Choice, Member<std::string_view>,
                 Member<Texts>, Member<std::optional<Texts>>, Member<std::vector<Size>>,
                 Member<std::vector<SchemeFamily>>, Member<std::vector<CacheFormat>>,
                 Member<std::vector<CardsFrom>>, Member<std::vector<ExpertTiles>>,
                 Member<std::vector<CheckpointSupport>>, Member<std::vector<DefaultContext>>,
                 Member<std::vector<CardReserve>>>;

struct EngineField {
  std::string_view policy;  ///< table of the key in TOML; empty: the engine's own
  std::string_view key;
  std::string_view meaning;  ///< shown by `headroom runtimes NAME`
  FieldType type;
  NumberLimits limits = {};  ///< for a number, or each of a list
};

/// All fields but constants (model/engine/measured_constants.hpp) and names, by policy.
std::span<const EngineField> engine_fields();

/// The policies in the order of pages.
inline constexpr std::string_view policies[] = {"memory",   "cache",   "weights", "offload",
                                                "parallel", "kernels", "serving"};

std::span<const std::string_view> scheme_family_words();

/// The value of a field as pages show it: "yes", "16", "hybrid_kv_pool", "fp8 (fp8_e4m3), bf16".
std::string text_of(const EngineField& field, const Engine& engine);

}  // namespace headroom::model
