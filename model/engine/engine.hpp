// An engine: what it is, and seven policies that decide memory, placement and speed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/engine/cache_policy.hpp"
#include "model/engine/cards_from.hpp"
#include "model/engine/kernel_policy.hpp"
#include "model/engine/memory_policy.hpp"
#include "model/engine/offload_policy.hpp"
#include "model/engine/parallel_policy.hpp"
#include "model/engine/serving_policy.hpp"
#include "model/engine/weight_policy.hpp"

namespace headroom::model {

/// Devices that an engine's kernels support.
enum class Backend : std::uint8_t {
  own,     ///< the maker's own: CUDA, ROCm, SYCL, Metal
  vulkan,  ///< shaders for cards of every maker
};

/// One row of model/engine/engines/*.toml, or of a user's file. All texts live as long as the
/// program.
struct Engine {
  std::string_view name, version;
  std::string_view series;       ///< the newest row of the same engine and build; versions choose
  std::string_view from, to;     ///< versions that the row stands for; empty: no limit
  bool is_template = false;      ///< only there to be inherited from
  bool is_compared = false;      ///< compared when no engine is asked for; of the row alone
  std::string_view family;       ///< the first row of the same engine
  std::string_view generation;   ///< the row whose constants this one shares
  std::string_view libraries;    ///< engines of one word call the same kernel libraries; or empty
  std::string_view source;       ///< source of the policies
  std::vector<CardsFrom> cards;  ///< cards that it has kernels for
  Backend backend;
  std::string_view with_vulkan;  ///< the row of the same engine built for Vulkan; empty: none
  /// The row of the same engine when cards divide each matrix; empty: none.
  std::string_view with_divided_matrices;
  /// Precisions that people run it with, compared when none is asked for; "auto" is
  /// the checkpoint's own.
  std::vector<std::string_view> usual_precisions;
  /// Precisions that are compared too where the engine is asked for, and the cards on which.
  std::vector<std::string_view> asked_precisions;
  std::vector<CardsFrom> asked_precisions_cards;
  std::string_view registry;  ///< its word in engine_classes.tsv, the table of classes; or empty
  /// Classes that it runs, sorted; nothing: any.
  std::optional<std::vector<std::string_view>> classes;
  /// Classes of encoder-decoders that it runs, sorted; nothing: any.
  std::optional<std::vector<std::string_view>> encoder_decoders;

  MemoryPolicy memory;
  CachePolicy cache;
  WeightPolicy weights;
  OffloadPolicy offload;
  ParallelPolicy parallel;
  KernelPolicy kernels;
  ServingPolicy serving;

  const KernelEfficiency& efficiency_on(const Device& device,
                                        const QuantisedModel& quantised) const {
    return kernels.efficiency[static_cast<std::size_t>(card_class(device))]
                             [static_cast<std::size_t>(width_of(quantised))];
  }
};

/// The engines that ship with the program, and those of a user's files.
std::span<const Engine> engines();
/// Lays a user's rows over the shipped ones; `file` stands in errors. Call it before the first
/// engines(), whose rows never move after that. Throws as read_engines does
/// (model/engine/engine_rows.hpp).
void add_engines(std::string_view toml, std::string_view file);
/// A row by name, or by version: "vllm@0.11" is the row of `series` vllm that stands for 0.11.
/// Throws UnknownName with the nearest names, or with the versions that have rows.
const Engine& engine(std::string_view name);
/// The row of `series` for the version of a measurement. A missing version, or one newer than all
/// rows, has the newest row. Throws UnknownName where no row is called `series`.
const Engine& row_of_measured(std::string_view series, std::string_view version);

}  // namespace headroom::model
