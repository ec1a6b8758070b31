// Stacks of layers that are described once.
#include "model/describe/part.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "model/describe/blocks/decoder.hpp"

namespace headroom::model {
namespace {

Part layer_of(Size heads) {
  Part attention = linear("q_proj", 64, 16 * heads, Bias::yes) +
                   rms_norm("a_norm_with_a_long_name_for_its_module", "RMSNorm", 64);
  attention.caches = {kv_cache({heads, heads, 16})};
  Part layer =
      in("self_attn", "Attention", std::move(attention)) + tensor("scale", {64}, Role::other);
  layer.no_split = {"Attention"};
  return layer;
}

std::vector<std::string> rows_of(const Part& part) {
  std::vector<std::string> rows;
  for (const Module& m : part.modules) rows.push_back(m.path + " " + m.class_name);
  for (const Tensor& t : part.tensors) rows.push_back(t.name + " " + std::to_string(t.elements()));
  for (const Cache& c : part.caches) rows.push_back(c.path + " " + std::to_string(c.per_token));
  rows.insert(rows.end(), part.blocks.begin(), part.blocks.end());
  rows.insert(rows.end(), part.no_split.begin(), part.no_split.end());
  return rows;
}

TEST(Stack, OfALayerWithoutNumberHasTheRowsOfLayersByNumber) {
  const Part once = stack("layers", "Layer", 12, [] { return layer_of(4); });
  const Part each = stack("layers", "Layer", 12, [](Size) { return layer_of(4); });
  EXPECT_EQ(rows_of(once), rows_of(each));
  EXPECT_EQ(rows_of(in("model", "Model", once)), rows_of(in("model", "Model", each)));
  EXPECT_EQ(once.tensors.size(), 12u * 4u);
  EXPECT_EQ(once.blocks.back(), "layers.11");
}

TEST(Stack, OfNoLayerDescribesNone) {
  const Part none = stack("layers", "Layer", 0, []() -> Part { throw std::logic_error("asked"); });
  EXPECT_EQ(none.modules.size(), 1u);
}

TEST(ByKind, DescribesEachKindOnceAndKeepsTheOrder) {
  std::vector<Size> asked;
  const auto layer = [&](Size i) {
    asked.push_back(i);
    return layer_of(i == 0 ? 2 : 4);
  };
  const Part part = stack("layers", "Layer", 6, by_kind([](Size i) { return i % 3 == 0; }, layer));
  EXPECT_EQ(asked, (std::vector<Size>{0, 1}));
  const Part plain =
      stack("layers", "Layer", 6, [](Size i) { return layer_of(i % 3 == 0 ? 2 : 4); });
  EXPECT_EQ(rows_of(part), rows_of(plain));
}

}  // namespace
}  // namespace headroom::model
