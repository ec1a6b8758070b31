#include "model/describe/profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "model/describe/block_finder.hpp"
#include "model/describe/cache_classes.hpp"
#include "model/describe/components.hpp"
#include "model/describe/graph_width.hpp"
#include "model/describe/layer_numbers.hpp"

namespace headroom::model {
namespace {

void add(Sums& sums, const Tensor& tensor) {
  const Size n = tensor.elements();
  if (tensor.role == Role::buffer) {
    sums.buffers += n;
    return;
  }
  if (!tensor.tied_to.empty()) {
    // Shared blocks multiply in every layer that uses them.
    if (tensor.role == Role::matmul) sums.matmul += n;
    return;
  }
  sums.parameters += n;
  if (tensor.of > 1) {
    sums.routed += n;
    sums.routed_active +=
        static_cast<double>(n) * static_cast<double>(tensor.used) / static_cast<double>(tensor.of);
  } else if (tensor.role == Role::matmul || tensor.role == Role::conv) {
    sums.matmul += n;
  } else if (tensor.role == Role::embedding) {
    sums.embedding += n;
  }
}

/// Elements per token that a submodule's matrices read or write besides the residual stream. A
/// matrix of n elements with one side `hidden` has n / hidden on the other. A gated feed-forward
/// has gate, up and their product; attention has q, k, v and the output of the heads.
double activation_width(const Tensor& tensor, Size hidden) {
  if (tensor.role != Role::matmul) return 0;
  return static_cast<double>(tensor.elements()) * static_cast<double>(tensor.used) /
         static_cast<double>(tensor.of) / static_cast<double>(hidden);
}

void add_caches(Profile& profile, const Part& part, BlockFinder& blocks) {
  std::vector<Size> layer_of;
  for (const Cache& cache : part.caches) {
    layer_of.push_back(blocks.find(cache.path));
    if (layer_of.back() >= 0)
      profile.layers[static_cast<std::size_t>(layer_of.back())].kernels += kernels_of(cache.kind);
    if (cache.entry_tokens == 1) continue;
    profile.pooled = true;
    profile.compressed = profile.compressed || cache.kind != CacheKind::indexer;
  }
  profile.caches = cache_classes(part, layer_of, profile.layers.size());
}

/// A module that a token runs through several times multiplies the passes of the layers at or below
/// it.
void add_passes(Profile& profile, const Part& part) {
  for (const Module& module : part.modules) {
    if (module.passes == 1) continue;
    for (Layer& layer : profile.layers)
      if (layer.path.starts_with(module.path) &&
          (layer.path.size() == module.path.size() || layer.path[module.path.size()] == '.'))
        layer.passes *= module.passes;
  }
}

void add_prefix_sums(Profile& profile) {
  profile.multiplied_before.assign(1, 0);
  profile.routed_before.assign(1, 0);
  profile.decoding_before.assign(1, 0);
  profile.passes_before.assign(1, 0);
  profile.kernels_before.assign(1, 0);
  profile.matrices_before.assign(1, 0);
  profile.mixtures_before.assign(1, 0);
  for (const Layer& layer : profile.layers) {
    const double passes = static_cast<double>(layer.passes);
    const double routed = passes * layer.sums.routed_active;
    const double n = passes * static_cast<double>(layer.sums.matmul) + routed;
    profile.multiplied_before.push_back(profile.multiplied_before.back() + n);
    profile.routed_before.push_back(profile.routed_before.back() + routed);
    profile.passes_before.push_back(profile.passes_before.back() + layer.passes);
    profile.kernels_before.push_back(profile.kernels_before.back() + layer.passes * layer.kernels);
    profile.matrices_before.push_back(profile.matrices_before.back() +
                                      layer.passes * layer.matrices);
    profile.mixtures_before.push_back(profile.mixtures_before.back() +
                                      (layer.routing.experts > 0 ? layer.passes : 0));
    profile.decoding_before.push_back(profile.decoding_before.back() + (layer.decodes ? 1 : 0));
    profile.widest = std::max(profile.widest, layer.widest);
  }
  const auto count = static_cast<Size>(profile.layers.size());
  const Size decoding = profile.decoding_before.back();
  const auto before = [&](Size layer) {
    return profile.decoding_before[static_cast<std::size_t>(layer)];
  };
  Size first = 0;  // first layer that decodes; behind all if none does
  while (first < count && before(first + 1) == 0) ++first;
  const bool together = before(first + decoding) == decoding;
  profile.first_decoding = together ? first : 0;
  profile.end_decoding = together ? first + decoding : count;
}

/// The layer of each tensor, or where it stands outside of all.
std::vector<Size> blocks_of(const Part& part, const Profile& profile) {
  BlockFinder finder(part.blocks);
  std::vector<Size> blocks;
  blocks.reserve(part.tensors.size());
  bool decoding = false;  // a decoding block has been seen: what follows runs after it
  for (const Tensor& tensor : part.tensors) {
    Size block = finder.find(tensor.module());
    if (block >= 0)
      decoding = decoding || profile.layers[static_cast<std::size_t>(block)].decodes ||
                 !profile.generative;
    else
      block = tensor.role == Role::embedding || !decoding ? before_blocks : after_blocks;
    blocks.push_back(block);
  }
  return blocks;
}

}  // namespace

Repeats repeats_of(const Part& part, const Profile& profile) {
  return Repeats(part, profile.layers, blocks_of(part, profile));
}

Size kernels_of(CacheKind kind) {
  switch (kind) {
    case CacheKind::latent:
      return 7;
    case CacheKind::indexer:
      return 4;
    case CacheKind::waiting:
      return 0;
    default:
      return 3;
  }
}

namespace {

/// The layers of a model. Those of a stack with a cache decode.
void add_layers(Profile& profile, const Part& part, BlockFinder& blocks) {
  std::set<std::string_view> decoding;
  for (const Cache& cache : part.caches)
    if (const Size i = blocks.find(cache.path); i >= 0)
      decoding.insert(stack_of(part.blocks[static_cast<std::size_t>(i)]));
  for (const std::string& block : part.blocks)
    profile.layers.push_back(
        {.path = block, .decodes = decoding.contains(stack_of(block)), .sums = {}});
  number_layers(profile);
}

/// Elements that one token of text reads.
double read_by_token(const Tensor& tensor) {
  const auto n = static_cast<double>(tensor.elements());
  if (tensor.rows_read > 0)
    return n * static_cast<double>(tensor.rows_read) / static_cast<double>(tensor.shape.at(0));
  return n * static_cast<double>(tensor.used) / static_cast<double>(tensor.of);
}

/// Adds the sizes of head and parameters.
void add_parameters(Profile& profile, const Tensor& tensor) {
  if (tensor.role == Role::head) {
    profile.head_elements += tensor.elements();
    profile.head_rows = std::max(profile.head_rows, tensor.shape.at(0));
    profile.tied_head = profile.tied_head || !tensor.tied_to.empty();
  }
  if (tensor.is_parameter()) profile.parameters_untied += tensor.elements();
}

/// Parameters that one token of text uses. No tower runs for it.
Size active_of(const Part& part, const Profile& profile) {
  const bool decodes = std::ranges::any_of(profile.layers, &Layer::decodes);
  const std::string root = text_root(profile);
  std::vector<bool> beside;  // by tensor
  double active = 0;
  for (std::size_t i = 0; i < part.tensors.size(); ++i) {
    const Tensor& t = part.tensors[i];
    const std::size_t first = profile.repeats.first_tensor(i);
    beside.push_back(first < i ? beside[first]
                               : decodes && t.role != Role::head &&
                                     is_beside_language(component_at(t.name, root)));
    if (t.is_parameter() && t.tied_to.empty() && !beside[i]) active += read_by_token(t);
  }
  return std::llround(active);
}

/// Adds routing and kernels of a tensor to its layer.
void add_kernels(Layer& layer, const Tensor& tensor) {
  if (tensor.of > 1 && layer.routing.experts == 0) layer.routing = {tensor.of, tensor.used};
  const bool norm = tensor.role == Role::norm && tensor.name.ends_with("weight");  // not its bias
  const bool matrix = tensor.role == Role::matmul;
  if (tensor.of <= 1 && (matrix || norm)) ++layer.kernels;
  if (tensor.of <= 1 && matrix) ++layer.matrices;
}

/// Gives layers that repeat an earlier one what its tensors add up to.
void add_repeated_layers(Profile& profile) {
  for (std::size_t i = 0; i < profile.layers.size(); ++i) {
    const Layer& first = profile.layers[profile.repeats.first_layer(i)];
    Layer& layer = profile.layers[i];
    layer.sums = first.sums;
    layer.routing = first.routing;
    layer.widest = first.widest;
    layer.kernels = first.kernels;
    layer.matrices = first.matrices;
  }
}

/// Adds all tensors. Layers have a width only if `hidden` is known.
void add_tensors(Profile& profile, const Part& part, Size hidden) {
  // A head registered before its tied embedding owns the rows that are looked up.
  std::set<std::string_view> heads;
  for (const Tensor& tensor : part.tensors)
    if (tensor.role == Role::head) heads.insert(tensor.name);
  std::map<std::pair<Size, std::string_view>, double> widths;  // (layer, submodule) → elements
  auto last = widths.end();  // tensors of a submodule follow each other
  std::map<Size, GraphWidth> graphs;
  for (std::size_t number = 0; number < part.tensors.size(); ++number) {
    const Tensor& tensor = part.tensors[number];
    add_parameters(profile, tensor);
    if (profile.repeats.first_tensor(number) < number) continue;
    const Size i = profile.repeats.blocks()[number];
    Sums& sums = i < 0 ? profile.outside : profile.layers[static_cast<std::size_t>(i)].sums;
    add(sums, tensor);
    if (tensor.role == Role::embedding && heads.contains(tensor.tied_to))
      sums.embedding += tensor.elements();
    if (i < 0) continue;
    Layer& layer = profile.layers[static_cast<std::size_t>(i)];
    add_kernels(layer, tensor);
    if (hidden > 0) {
      const std::string_view rest = std::string_view(tensor.name).substr(layer.path.size() + 1);
      const std::string_view submodule = rest.substr(0, rest.find('.'));
      const double width = activation_width(tensor, hidden);
      if (last == widths.end() || last->first != std::pair{i, submodule})
        last = widths.try_emplace({i, submodule}).first;
      last->second += width;
      if (layer.decodes || part.caches.empty())
        graphs.try_emplace(i, hidden).first->second.add(tensor, submodule, width);
    }
  }
  for (const auto& [key, width] : widths) {
    Layer& layer = profile.layers[static_cast<std::size_t>(key.first)];
    layer.widest = std::max(layer.widest, width);
  }
  for (const auto& [i, graph] : graphs)
    profile.graph_width = std::max(profile.graph_width, graph.widest());
  add_repeated_layers(profile);
}

void add_totals(Profile& profile) {
  const auto add_sums = [&](const Sums& sums) {
    profile.parameters += sums.parameters;
    profile.embedding_parameters += sums.embedding;
    profile.buffers += sums.buffers;
  };
  add_sums(profile.outside);
  for (const Layer& layer : profile.layers) {
    add_sums(layer.sums);
    if (profile.routing.experts == 0) profile.routing = layer.routing;
  }
}

}  // namespace

Profile profile_of(const Part& part, Size hidden) {
  Profile profile;
  BlockFinder blocks(part.blocks);
  add_layers(profile, part, blocks);
  // A body without a head, or with a classification head, has a cache but writes no token.
  const auto writes = [](const Tensor& t) { return t.role == Role::head && t.elements() > 0; };
  profile.generative = !part.caches.empty() && std::ranges::any_of(part.tensors, writes);
  profile.repeats = repeats_of(part, profile);
  add_tensors(profile, part, hidden);
  profile.parameters_active = active_of(part, profile);
  add_totals(profile);
  add_caches(profile, part, blocks);
  add_passes(profile, part);
  add_prefix_sums(profile);
  return profile;
}

}  // namespace headroom::model
