#include "model/checkpoint/quantisation/exl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <string>

#include "model/checkpoint/quantisation/layout.hpp"

namespace headroom::model {
namespace {

constexpr double usual_head = 6;  // conversion/convert_model.py: head_bits

constexpr std::string_view meaning =
    "linear layers of decoding blocks in these bits on average, the head in 6 unless h says "
    "otherwise; embeddings, norms, routers and towers stay in 16 bit";

struct Bits {
  int edition;
  double layers, head;
};

Size thousandths(double bits) { return std::llround(1000 * bits); }

/// The format whose numbers are the nearest.
std::string_view nearest_format(double bits) {
  return bits < 2.5 ? "int2" : bits < 3.5 ? "int3" : bits < 6.5 ? "int4" : "int8";
}

Scheme row_of(std::string_view name, const Bits& bits) {
  const bool second = bits.edition == 2;
  return {.name = name,
          .aliases = {},
          .family = second ? SchemeFamily::exl2 : SchemeFamily::exl3,
          .meaning = meaning,
          .source = second ? "turboderp/exllamav2 conversion/optimize.py, qparams.py"
                           : "exllamav3 1.6.5 conversion/allocation.py, modules/quant/exl3.py",
          .reach = Reach::decoder_blocks_and_head,
          .format = nearest_format(bits.layers),
          .packed = second ? layout::exl2 : layout::exl3,
          .group = 0,
          .bits = thousandths(bits.layers),
          .method = second ? "exl2" : "exl3",
          .head_bits = thousandths(bits.head)};
}

std::optional<Bits> bits_of(std::string_view name) {
  static const std::regex form(
      R"(exl([23])[- _]?(\d+(?:\.\d+)?) ?(?:bpw|b)?(?:[-_]?h(\d+(?:\.\d+)?))?)");
  std::match_results<std::string_view::const_iterator> found;
  if (!std::regex_match(name.begin(), name.end(), found, form)) return std::nullopt;
  const Bits bits{std::stoi(found[1]), std::stod(found[2]),
                  found[3].matched ? std::stod(found[3]) : usual_head};
  const auto known = [](double n) { return n >= 1 && n <= 8; };
  return known(bits.layers) && known(bits.head) ? std::optional(bits) : std::nullopt;
}

}  // namespace

std::string exl_name(int edition, double bits, double head_bits) {
  const std::string name = fmt::format("exl{}-{:.6g}bpw", edition, std::round(1000 * bits) / 1000);
  return head_bits == usual_head ? name : fmt::format("{}-h{:.6g}", name, head_bits);
}

std::vector<Scheme> exl_schemes() {
  static std::list<std::string> names;
  std::vector<Scheme> rows;
  for (const int edition : {2, 3})
    for (const double bits : {2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 8.0}) {
      names.push_back(exl_name(edition, bits, usual_head));
      rows.push_back(row_of(names.back(), {edition, bits, usual_head}));
    }
  return rows;
}

const Scheme* exl_scheme(std::string_view name) {
  static std::mutex guard;
  static std::map<std::string, Scheme> rows;
  const auto bits = bits_of(name);
  if (!bits) return nullptr;
  const std::string full = exl_name(bits->edition, bits->layers, bits->head);
  const auto usual = std::ranges::find(schemes(), std::string_view(full), &Scheme::name);
  if (usual != schemes().end()) return &*usual;
  const std::scoped_lock lock(guard);
  auto found = rows.find(full);
  if (found == rows.end()) {
    found = rows.emplace(full, Scheme{}).first;
    found->second = row_of(found->first, *bits);
  }
  return &found->second;
}

}  // namespace headroom::model
