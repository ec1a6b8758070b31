// Devices, processors and hosts as people list them: GB as sold, GB/s, TFLOPS, year.
#pragma once

#include <string>
#include <vector>

#include "hardware/catalogue.hpp"
#include "sweep/screen/listing.hpp"

namespace headroom::sweep {

/// GB of memory as the maker sells it. Drivers report less of some cards: then the name's figure,
/// or the next size of the catalogue.
Size sold_gigabytes(const Device& device, const Catalogue& catalogue);

/// Rows whose name or title has each of `words` in it, in any case. "devices", "processors" and
/// "hosts" limit the list to these kinds. Throws UsageError with the nearest names where none has.
Catalogue listed_hardware(const Catalogue& all, std::vector<std::string> words);

/// The list of `some` rows of `all`. `asked`: the words that it was asked for by.
std::string hardware_lines(const Catalogue& some, const Catalogue& all, ListLength shown,
                           std::string_view asked);
/// Numbers of cards by maker, and how to search.
std::string hardware_overview(const Catalogue& catalogue);

}  // namespace headroom::sweep
