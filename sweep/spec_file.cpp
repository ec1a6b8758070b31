// Specs as files, and what the rest of the program asks of a parsed one.
#include <fmt/format.h>

#include <fstream>

#include "sweep/number_axes.hpp"
#include "sweep/training/axes.hpp"

namespace headroom::sweep {

const std::vector<std::string>& axes_of(model::Task task) {
  static const std::vector<std::string> inference = {"models",
                                                     "precisions",
                                                     "kv_precisions",
                                                     "batches",
                                                     "concurrencies",
                                                     "prompt_tokens",
                                                     "output_tokens",
                                                     "prompt_tokens_p95",
                                                     "output_tokens_p95",
                                                     "contexts",
                                                     "runtimes",
                                                     "adapters",
                                                     "drafts",
                                                     "images",
                                                     "tp",
                                                     "pp",
                                                     "ep",
                                                     "dp",
                                                     "machines",
                                                     "gpu_budgets"};
  static const std::vector<std::string> training = [] {
    std::vector<std::string> keys;
    for (const TrainingAxis& axis : training_axes()) keys.emplace_back(axis.key);
    return keys;
  }();
  return task == model::Task::training ? training : inference;
}

std::size_t GridSpec::length(std::string_view axis) const {
  if (task == model::Task::training) return training.find(axis)->second.size();
  if (axis == "models") return models.size();
  if (axis == "machines") return machines.size();
  if (axis == "precisions") return precisions.size();
  if (axis == "kv_precisions") return kv_precisions.size();
  if (axis == "runtimes") return runtimes.size();
  if (const NumberAxis* numbers = find_number_axis(axis)) return (this->*numbers->values).size();
  for (const ExtraAxis& companion : extra_axes)
    if (companion.key == axis) return (this->*companion.values).size();
  for (const auto& range : gpu_budgets)
    if (range.step != Bytes(0) || range.to_max)
      throw std::invalid_argument("linked gpu_budgets must be single sizes, without ranges");
  return gpu_budgets.size();
}

SpecError Spec::error(const GridSpec& grid, std::string_view key, const std::string& what) const {
  const auto line = grid.lines.find(std::string(key));
  return SpecError(fmt::format("{}:{}: key '{}': {}", file,
                               line == grid.lines.end() ? grid.line : line->second, key, what));
}

Spec read_spec(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw SpecError(fmt::format("{}: is a folder; expected a spec in TOML", file.string()));
  std::ifstream in(file, std::ios::binary);
  if (!in)
    throw SpecError(fmt::format("{}: cannot be read; expected a spec in TOML", file.string()));
  constexpr std::size_t most = std::size_t{16} << 20;
  std::string text(most + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > most)
    throw SpecError(fmt::format("{}: larger than 16 MiB, which no spec is", file.string()));
  return parse_spec(text, file.string());
}

}  // namespace headroom::sweep
