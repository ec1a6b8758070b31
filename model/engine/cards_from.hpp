// Cards that an engine has kernels for, as its row states them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/device.hpp"
#include "hardware/machine.hpp"

namespace headroom::model {

/// Cards of one maker: of NVIDIA those from a compute capability on, of AMD those of some
/// architectures.
struct CardsFrom {
  std::string_view vendor;        ///< as Device::vendor
  double compute_capability = 0;  ///< major.minor; 0: all
  double before = 0;              ///< cards of this compute capability are newer; 0: no limit
  std::vector<std::string_view> architectures{};  ///< how Device::architecture begins; none: all

  /// A card without a compute capability or architecture is taken to be one of its maker's.
  bool holds(const Device& card) const;
};

/// True if any of the rows has the card. A card by its figures alone has no maker: taken to be one.
bool holds(const std::vector<CardsFrom>& cards, const Device& card);
/// True if the rows have every card of the machine; one without cards has none that is missing.
bool holds(const std::vector<CardsFrom>& cards, const Machine& machine);

/// Reads "amd", "nvidia 8.9" (and later), "nvidia 10.x" (that generation) or "amd gfx90a gfx11".
/// Views into `text`. Throws std::invalid_argument saying what is expected.
CardsFrom read_cards(std::string_view text);
/// The text that read_cards() reads.
std::string text_of(const CardsFrom& cards);
/// Each of them, with commas.
std::string text_of(const std::vector<CardsFrom>& cards);

}  // namespace headroom::model
