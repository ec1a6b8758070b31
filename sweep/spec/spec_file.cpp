// Specs as files, and what the rest of the program asks of a parsed one.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "sweep/grid/inference_axes.hpp"
#include "sweep/training/axes.hpp"

namespace headroom::sweep {

namespace {

template <class Draft>
std::vector<AxisForm> forms_of(std::span<const Axis<Draft>> axes) {
  std::vector<AxisForm> forms;
  for (const Axis<Draft>& axis : axes) forms.push_back(axis.form);
  return forms;
}

std::vector<std::string> keys_of(const std::vector<AxisForm>& forms) {
  std::vector<std::string> keys;
  for (const AxisForm& form : forms) keys.emplace_back(form.key);
  return keys;
}

}  // namespace

const std::vector<AxisForm>& axis_forms(model::Task task) {
  static const std::vector<AxisForm> inference = forms_of(inference_axes()),
                                     training = forms_of(training_axes());
  return task == model::Task::training ? training : inference;
}

const std::vector<std::string>& axes_of(model::Task task) {
  static const auto inference = keys_of(axis_forms(model::Task::inference)),
                    training = keys_of(axis_forms(model::Task::training));
  return task == model::Task::training ? training : inference;
}

const std::vector<std::string>& GridSpec::values(std::string_view axis) const {
  static const std::vector<std::string> none;
  const auto found = all_values.find(axis);
  return found == all_values.end() ? none : found->second;
}

std::vector<Size> GridSpec::numbers(std::string_view axis) const {
  std::vector<Size> all;
  for (const std::string& text : values(axis)) all.push_back(std::stoll(text));
  return all;
}

const std::vector<std::string>* GridSpec::link_of(std::string_view axis) const {
  for (const auto& axes : link)
    if (std::ranges::find(axes, axis) != axes.end()) return &axes;
  return nullptr;
}

std::vector<BudgetRange> GridSpec::gpu_budgets() const {
  std::vector<BudgetRange> all;
  for (const std::string& text : values("gpu_budgets")) all.push_back(parse_budgets(text));
  return all;
}

SpecError Spec::error(const GridSpec& grid, std::string_view key, const std::string& what) const {
  const auto line = grid.lines.find(std::string(key));
  return SpecError(fmt::format("{}:{}: key '{}': {}", file,
                               line == grid.lines.end() ? grid.line : line->second, key, what));
}

report::CsvFile csv_file_named(std::string_view text) {
  return static_cast<report::CsvFile>(one_of(std::string(text), report::csv_file_words));
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
