// Classes that transformers does not have, against all tensors that the headers of a published
// checkpoint name.
//
// data/headers/NAME.csv has one row for tensors of one shape: in the name, "1-4,6" stands for the
// numbers 1, 2, 3, 4 and 6. Left out there: the scales of quantised weights, and modules that
// predict further tokens. data/engine_configs/NAME.json is the checkpoint's config without its
// quantisation.
#include <gtest/gtest.h>

#include <map>

#include "csv.hpp"
#include "hardware/text.hpp"
#include "hardware/text_file.hpp"
#include "model/checkpoint/model.hpp"
#include "model/describe/components.hpp"
#include "reference.hpp"

namespace headroom::oracle {
namespace {

using model::Shape;

/// Numbers of "1-4,6"; empty if `word` is something else.
std::vector<int> numbers_in_pattern(std::string_view word) {
  std::vector<int> all;
  for (const auto part : split(word, ',')) {
    if (part.empty() || part.find_first_not_of("0123456789-") != std::string_view::npos) return {};
    const auto ends = split(part, '-');
    for (int i = std::stoi(std::string(ends.front())); i <= std::stoi(std::string(ends.back()));
         ++i)
      all.push_back(i);
  }
  return all;
}

/// All names that `pattern` stands for.
std::vector<std::string> names_of_pattern(std::string_view pattern) {
  std::vector<std::string> names = {""};
  for (const auto word : split(pattern, '.')) {
    std::vector<std::string> longer;
    const auto numbers = numbers_in_pattern(word);
    for (const auto& name : names) {
      const std::string start = name.empty() ? "" : name + '.';
      if (numbers.empty()) longer.push_back(start + std::string(word));
      for (const int number : numbers) longer.push_back(start + std::to_string(number));
    }
    names = std::move(longer);
  }
  return names;
}

std::map<std::string, Shape> published_shapes(const std::string& name) {
  std::map<std::string, Shape> all;
  for (const Row& row : read_csv("headers/" + name + ".csv")) {
    Shape shape;
    for (const auto size : words(row.at("shape"))) shape.push_back(std::stoll(std::string(size)));
    for (auto& tensor : names_of_pattern(row.at("tensor"))) all.emplace(std::move(tensor), shape);
  }
  return all;
}

model::Model config_of_headers(const std::string& name) {
  const std::string text = read_text_file(data_path("engine_configs/" + name + ".json"));
  return model::make_model(name, model::parse_config(text, name), "test");
}

/// Shapes of the tensors in a file of the model.
std::map<std::string, Shape> saved_shapes(const model::Model& m) {
  std::map<std::string, Shape> all;
  for (const model::Tensor& t : m.part.tensors)
    if (t.is_parameter() ? t.tied_to.empty() : t.persistent) all.emplace(t.name, t.shape);
  return all;
}

Size sum_of_shapes(const std::map<std::string, Shape>& tensors) {
  Size sum = 0;
  for (const auto& [name, shape] : tensors) sum += model::times(shape);
  return sum;
}

/// Removes experts, of which descriptions have all of a layer in one tensor.
Size take_experts(std::map<std::string, Shape>& tensors) {
  std::map<std::string, Shape> experts;
  for (const auto& row : tensors)
    if (contains(row.first, ".experts.")) experts.insert(row);
  for (const auto& [name, shape] : experts) tensors.erase(name);
  return sum_of_shapes(experts);
}

/// mimo_v2_5: XiaomiMiMo/MiMo-V2.5, its config and the names and shapes of its 17 files, as a
/// report on github quotes them (read 2026-11-25).
TEST(PublishedHeaders, HaveTheTensorsOfTheDescription) {
  for (const std::string name : {"mimo_v2_5"}) {
    auto published = published_shapes(name), ours = saved_shapes(config_of_headers(name));
    EXPECT_EQ(take_experts(ours), take_experts(published)) << name;
    EXPECT_EQ(ours, published) << name;
  }
}

/// "729M-param Vision Transformer" with its merger, the card of XiaomiMiMo/MiMo-V2.5 (read
/// 2026-11-25). Audio: the sum of that checkpoint's rows.
TEST(PublishedHeaders, TheTowersOfMiMoHaveThePublishedSizes) {
  const model::Model m = config_of_headers("mimo_v2_5");
  const auto sums = model::components_of(m.part, m.profile);
  const auto sum = [&](model::Component c) { return sums[static_cast<std::size_t>(c)]; };
  EXPECT_NEAR(
      static_cast<double>(sum(model::Component::vision) + sum(model::Component::projector)) / 1e6,
      729, 0.5);
  EXPECT_EQ(sum(model::Component::audio), 234'912'768 + 26'214'400);
  EXPECT_EQ(sum(model::Component::other), 0);
}

}  // namespace
}  // namespace headroom::oracle
