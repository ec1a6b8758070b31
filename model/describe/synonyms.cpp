#include "model/describe/synonyms.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::model {
namespace {

namespace json = boost::json;

// Names of one size. Source: fields and attribute_maps of the config classes of transformers 5.24
// (catalogue/config_fields.tsv, catalogue/class_defaults.tsv).
constexpr std::string_view experts[] = {"n_routed_experts", "num_experts", "num_local_experts",
                                        "num_routed_experts", "moe_num_experts"};
constexpr std::string_view experts_of_a_token[] = {"num_experts_per_tok",
                                                   "num_experts_per_token",
                                                   "experts_per_token",
                                                   "top_k_experts",
                                                   "moe_topk",
                                                   "moe_top_k",
                                                   "moe_k"};
constexpr std::string_view shared_experts[] = {"n_shared_experts", "num_shared_experts",
                                               "num_shared_expert", "moe_num_shared_experts"};
constexpr std::string_view expert_widths[] = {"moe_intermediate_size", "moe_ffn_hidden_size",
                                              "expert_ffn_hidden_size"};
constexpr std::string_view dense_layers[] = {"first_k_dense_replace", "num_dense_layers"};
constexpr std::string_view hidden_sizes[] = {"hidden_size", "n_embd", "d_model"};
constexpr std::string_view layers[] = {"num_hidden_layers", "n_layer", "n_layers", "num_layers"};
constexpr std::string_view heads[] = {"num_attention_heads", "n_head", "n_heads", "num_heads"};
constexpr std::string_view windows[] = {"sliding_window", "sliding_window_size"};

constexpr std::span<const std::string_view> sizes[] = {
    experts,      experts_of_a_token, shared_experts, expert_widths,
    dense_layers, hidden_sizes,       layers,         heads,
    windows};

bool states(const json::object& section, std::string_view key) {
  const json::value* value = section.if_contains(key);
  return value != nullptr && value->is_int64() && value->get_int64() > 0;
}

struct Reader {
  const Config& file;
  std::set<std::string> read;

  bool reads(const std::string& section, std::string_view key) const {
    return read.contains(section + std::string(key));
  }

  void check(const json::object& object, const std::string& section,
             std::span<const std::string_view> names) const {
    std::string wanted, stated;
    for (const std::string_view name : names) {
      const bool is_read = reads(section, name);
      if (is_read && object.contains(name)) return;
      if (is_read && wanted.empty()) wanted = name;
      if (!is_read && stated.empty() && states(object, name)) stated = name;
    }
    if (wanted.empty() || stated.empty()) return;
    file.fail(section + stated,
              fmt::format("is a name of other classes, and without '{}' a default would count "
                          "instead; {} reads this size as '{}'",
                          wanted, file.class_name(), wanted));
  }

  void walk(const json::object& object, const std::string& section) const {
    for (const auto& names : sizes) check(object, section, names);
    for (const auto& [key, value] : object) {
      const std::string below = section + std::string(key) + '.';
      const auto at = read.lower_bound(below);
      if (value.is_object() && at != read.end() && at->starts_with(below))
        walk(value.get_object(), below);
    }
  }
};

}  // namespace

void refuse_unread_synonyms(const Config& file) {
  Reader{file, file.keys_read()}.walk(file.object(), "");
}

}  // namespace headroom::model
