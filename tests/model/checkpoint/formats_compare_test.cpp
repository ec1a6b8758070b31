// Descriptions compared with checkpoints: different names, separate experts, packed weights, and
// differences that must be reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/checkpoint/formats/compare.hpp"
#include "model/checkpoint/formats/logical.hpp"
#include "model/describe/blocks/blocks.hpp"

namespace headroom::model {
namespace {

/// Two layers with a projection and four experts, and a tied head.
Part described() {
  return in("model", "Model",
            embedding("embed_tokens", 100, 8) +
                stack("layers", "Layer", 2,
                      [](Size) {
                        return in("self_attn", "Attention", linear("q_proj", 8, 16)) +
                               in("mlp", "Moe",
                                  in("gate", "Router", tensor("weight", {4, 8}, Role::matmul)) +
                                      in("experts", "Experts",
                                         routed(tensor("gate_up_proj", {4, 12, 8}, Role::matmul) +
                                                    tensor("down_proj", {4, 8, 6}, Role::matmul),
                                                {4, 2})));
                      })) +
         lm_head("model.embed_tokens.weight", 100, 8, true);
}

void add(TensorList& list, std::string name, std::string_view dtype, Shape shape, Size bits) {
  const Bytes bytes = checked_bytes(shape, bits, "x", name);
  list.tensors.push_back({std::move(name), dtype, std::move(shape), bytes, ""});
  list.total += bytes;
}

/// The checkpoint of an older class, with other module names and separate experts.
TensorList checkpoint() {
  TensorList list{"x", {}, Bytes(0), {}};
  add(list, "model.embed_tokens.weight", "BF16", {100, 8}, 16);
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    add(list, layer + "self_attn.q_proj.weight", "BF16", {16, 8}, 16);
    add(list, layer + "block_sparse_moe.gate.weight", "BF16", {4, 8}, 16);
    for (const std::string expert : {"0", "1", "2", "3"}) {
      const std::string at = layer + "block_sparse_moe.experts." + expert + '.';
      add(list, at + "w1.weight", "BF16", {6, 8}, 16);
      add(list, at + "w2.weight", "BF16", {8, 6}, 16);
      add(list, at + "w3.weight", "BF16", {6, 8}, 16);
    }
  }
  return list;
}

TEST(Compare, StacksExpertsAndFollowsRenamedModules) {
  const Comparison c = compare(described(), checkpoint());
  EXPECT_EQ(c.described, 9);
  EXPECT_EQ(c.matched, 9);
  EXPECT_EQ(c.renamed, 6);
  EXPECT_TRUE(c.differences.empty()) << c.differences.front().name;
}

TEST(Compare, PrefixesMayDiffer) {
  TensorList list = checkpoint();
  for (TensorHeader& tensor : list.tensors) tensor.name = tensor.name.substr(6);  // "model."
  const Comparison c = compare(described(), list);
  EXPECT_EQ(c.matched, 9);
  EXPECT_TRUE(c.differences.empty());
}

TEST(Compare, ReportsTensorByTensor) {
  TensorList list = checkpoint();
  list.tensors[0].shape = {101, 8};                          // a larger vocabulary
  list.tensors[1].name = "model.layers.0.self_attn.q_norm";  // one missing, one unexpected
  std::erase_if(list.tensors, [](const TensorHeader& t) {
    return t.name == "model.layers.1.block_sparse_moe.experts.3.w2.weight";
  });
  const Comparison c = compare(described(), list);
  std::vector<std::string> seen;
  for (const Difference& d : c.differences)
    seen.push_back(std::string(name_of(d.kind)) + ' ' + d.name);
  std::sort(seen.begin(), seen.end());
  const std::vector<std::string> expected = {
      "missing model.layers.0.self_attn.q_proj.weight",
      "missing model.layers.1.mlp.experts.down_proj", "shape model.embed_tokens.weight",
      "unexpected model.layers.0.self_attn.q_norm",
      "unexpected model.layers.1.block_sparse_moe.experts.down_proj"};
  EXPECT_EQ(seen, expected);
}

TEST(Logical, PackedWeightsCountTheirElements) {
  TensorList list{"x", {}, Bytes(0), {}};
  add(list, "a.qweight", "I32", {16, 256}, 32);  // GPTQ, 4 bits: 128 x 256
  add(list, "a.qzeros", "I32", {1, 32}, 32);
  add(list, "a.scales", "F16", {1, 256}, 16);
  add(list, "a.g_idx", "I32", {128}, 32);
  add(list, "b.qweight", "I32", {128, 32}, 32);  // AWQ: 128 x 256
  add(list, "b.scales", "F16", {1, 256}, 16);
  add(list, "c.weight", "U8", {64, 1}, 8);  // bitsandbytes: 128
  add(list, "c.weight.absmax", "F32", {2}, 32);
  add(list, "c.weight.quant_state.bitsandbytes__nf4", "U8", {170}, 8);
  add(list, "d.weight", "U8", {4, 8}, 8);  // NVFP4: 4 x 16
  add(list, "d.weight_scale", "F8_E4M3", {4, 1}, 8);
  add(list, "e.gate_up_proj_blocks", "U8", {2, 6, 1, 16}, 8);  // MXFP4: 2 x 6 x 32
  add(list, "e.gate_up_proj_scales", "U8", {2, 6, 1}, 8);
  add(list, "f.weight", "F8_E4M3", {3, 5}, 8);
  add(list, "f.weight_scale_inv", "F32", {1, 1}, 32);
  add(list, "g.rotary_emb.inv_freq", "F32", {64}, 32);
  add(list, "h.norm.weight", "BF16", {7}, 16);
  const HeaderTotals totals = totals_of(list);
  EXPECT_EQ(totals.parameters, 2 * 128 * 256 + 128 + 64 + 384 + 15 + 7);
  EXPECT_EQ(totals.bytes, list.total);
  EXPECT_EQ(totals.by_type.at("U8").parameters, 128 + 64 + 384);
}

}  // namespace
}  // namespace headroom::model
