// Finds rows by the names that people and drivers use. A name is a set of words: maker, order and
// separators do not matter. A memory size may be added if the row has that size.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "hardware/catalogue.hpp"
#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"

namespace headroom {
namespace {

using Words = std::vector<std::string>;

/// Makers and brands that drivers and people add to a product's name or leave out.
constexpr auto brands = std::to_array<std::string_view>(
    {"nvidia", "amd", "intel", "apple", "google", "aws", "geforce", "tesla", "quadro", "instinct",
     "radeon", "rtx", "gtx", "rx", "arc"});

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Removes a brand joined to a model number: "rtx4090" becomes "4090".
std::string without_brand(std::string word) {
  for (const std::string_view brand : brands)
    if (word.starts_with(brand) && word.find_first_of("0123456789") != std::string::npos)
      return word.substr(brand.size());
  return word;
}

/// Writes "80g", "80gb" and "80gib" as "80gb". Leaves other words unchanged.
std::string with_one_unit(std::string word) {
  const std::size_t digits = word.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string::npos) return word;
  const std::string_view unit = std::string_view(word).substr(digits);
  if (unit == "g" || unit == "gib") word.replace(digits, std::string::npos, "gb");
  return word;
}

/// Removes the name of the box that Apple sells a chip in: "Mac Studio M4 Max" is the chip's name.
std::string without_box(std::string name) {
  for (const std::string_view box :
       {"mac studio", "macbook pro", "macbook air", "mac mini", "mac pro", "imac"})
    if (const auto at = name.find(box); at != std::string::npos) name.erase(at, box.size());
  return name;
}

/// Appends a word, or two where a grade is joined to a model number: "4060ti" is {4060, ti}.
void append_word(std::string word, Words& all) {
  constexpr auto grades = std::to_array<std::string_view>({"ti", "super", "xt", "xtx", "gre"});
  const std::size_t digits = word.find_first_not_of("0123456789");
  if (digits != 0 && digits != std::string::npos &&
      std::ranges::find(grades, std::string_view(word).substr(digits)) != grades.end()) {
    all.push_back(word.substr(0, digits));
    word.erase(0, digits);
  }
  all.push_back(std::move(word));
}

/// Lower-case words of a name without the maker: "NVIDIA GeForce RTX 4090" is {4090}.
Words name_words(std::string_view name) {
  Words raw(1);
  for (const char c : without_box(lower(name))) {
    if (std::string_view(" -_+()").find(c) != std::string_view::npos)
      raw.emplace_back();
    else
      raw.back() += c;
  }
  Words result;
  for (std::string& each : raw) {
    if (each.empty() || std::ranges::find(brands, each) != brands.end()) continue;
    if ((each == "gb" || each == "gib") && !result.empty() && is_number(result.back()))
      result.back() += "gb";
    else
      append_word(with_one_unit(without_brand(std::move(each))), result);
  }
  return result;
}

std::string joined(const Words& all) { return fmt::format("{}", fmt::join(all, "")); }

/// The words of a processor's name as makers, people and Linux write it, without what only
/// describes it: "13th Gen Intel(R) Core(TM) i9-13900K" is {i9, 13900k}, "AMD EPYC 7742 64-Core
/// Processor" is {epyc, 7742}, and "AMD Ryzen 7 7840U w/ Radeon 780M Graphics" is {ryzen, 7,
/// 7840u}.
Words processor_words(std::string_view name) {
  std::string plain = lower(name);
  plain.resize(std::min({plain.size(), plain.find(" w/"), plain.find(" with "), plain.find('@')}));
  for (const std::string_view mark : {"(r)", "(tm)"})
    for (auto at = plain.find(mark); at != std::string::npos; at = plain.find(mark))
      plain.replace(at, mark.size(), " ");
  Words result;
  for (std::string& each : name_words(plain)) {
    const bool counts_cores = each == "core" || each == "cores";
    if (counts_cores && !result.empty() && is_number(result.back())) result.pop_back();
    const bool ordinal = each.ends_with("th") && is_number(each.substr(0, each.size() - 2));
    if (!counts_cores && !ordinal && each != "cpu" && each != "processor" && each != "gen")
      result.push_back(std::move(each));
  }
  return result;
}

bool same(const Words& asked, Words other) {
  if (joined(asked) == joined(other)) return true;
  Words sorted = asked;
  std::ranges::sort(sorted);
  std::ranges::sort(other);
  return sorted == other;
}

Bytes memory_of(const Device& device) { return device.memory; }
Bytes memory_of(const Host& host) { return host.ram; }

/// The row of this name. Otherwise all rows that have it as an alias.
template <class Fact>
std::vector<const Fact*> named(const std::vector<Fact>& facts, const Words& asked) {
  std::vector<const Fact*> result;
  if (asked.empty()) return result;
  for (const Fact& each : facts) {
    if (same(asked, name_words(each.name))) return {&each};
    const auto is_asked = [&](const std::string& alias) { return same(asked, name_words(alias)); };
    if (std::ranges::any_of(each.aliases, is_asked)) result.push_back(&each);
  }
  return result;
}

/// True if `held` has every word of `asked`, which is not empty.
bool has_all(const Words& held, const Words& asked) {
  return !asked.empty() && std::ranges::all_of(asked, [&](const std::string& word) {
    return std::ranges::find(held, word) != held.end();
  });
}

/// Rows whose names contain all words: the possible meanings of "a100-40gb". Slices and other rows
/// that only extend a matching row's name are left out.
template <class Fact>
std::vector<const Fact*> candidates(const std::vector<Fact>& facts, const Words& asked) {
  std::vector<const Fact*> fitting;
  for (const Fact& each : facts)
    if (has_all(name_words(each.name), asked)) fitting.push_back(&each);
  std::vector<const Fact*> result;
  for (const Fact* each : fitting)
    if (std::ranges::none_of(
            fitting, [&](const Fact* other) { return each->name.starts_with(other->name + "-"); }))
      result.push_back(each);
  return result;
}

/// Removes a size in GB from the words and returns it.
std::optional<int> take_size(Words& all) {
  for (auto word = all.begin(); word != all.end(); ++word) {
    if (!word->ends_with("gb")) continue;
    int size = 0;
    const auto [end, error] = std::from_chars(word->data(), word->data() + word->size() - 2, size);
    if (error != std::errc() || end != word->data() + word->size() - 2) continue;
    all.erase(word);
    return size;
  }
  return std::nullopt;
}

/// Drivers report up to a twelfth less than the size a product is sold with.
bool has_about(Bytes memory, int gigabytes) {
  const double gib = real_count(memory) / GiB;
  return std::abs(gib - gigabytes) <= gigabytes / 12.0;
}

/// Rows of the processors that `asked` names. Otherwise all rows that have its words.
std::vector<const Processor*> processors_named(const std::vector<Processor>& all,
                                               const Words& asked) {
  std::vector<const Processor*> named, holding;
  for (const Processor& each : all) {
    std::vector<Words> names = {processor_words(each.name), processor_words(each.title)};
    for (const std::string& alias : each.aliases) names.push_back(processor_words(alias));
    if (std::ranges::any_of(names, [&](const Words& one) { return same(asked, one); }))
      named.push_back(&each);
    if (std::ranges::any_of(names, [&](const Words& one) { return has_all(one, asked); }))
      holding.push_back(&each);
  }
  return named.empty() || asked.empty() ? holding : named;
}

/// The error for a name that fits several rows, `found`, or none.
template <class Fact>
UnknownName not_one(const std::vector<Fact>& facts, std::string_view kind, std::string_view name,
                    const std::vector<const Fact*>& found) {
  constexpr std::size_t most = 8;
  std::vector<std::string> names;
  for (const Fact* each : found) names.push_back(each->name);
  if (names.size() > 1) {
    const std::size_t more = names.size() - std::min(names.size(), most);
    names.resize(names.size() - more);
    return UnknownName(fmt::format("{} '{}' is ambiguous; it could be {}{}", kind, name,
                                   fmt::join(names, ", "),
                                   more > 0 ? fmt::format(" or {} more", more) : ""));
  }
  names.clear();
  for (const Fact& each : facts) names.push_back(each.name);
  return unknown_name(kind, name, names);
}

template <class Fact>
const Fact& look_up(const std::vector<Fact>& facts, std::string_view kind, std::string_view name) {
  const auto exact = std::ranges::find(facts, lower(name), &Fact::name);
  if (exact != facts.end()) return *exact;
  const Words asked = name_words(name);
  std::vector<const Fact*> found = named(facts, asked);
  if (found.empty()) {
    Words without = asked;
    if (const auto size = take_size(without)) {
      found = named(facts, without);
      if (found.size() == 1 && !has_about(memory_of(*found.front()), *size))
        throw UnknownName(fmt::format("unknown {} '{}': {} has {}", kind, name, found.front()->name,
                                      to_text(memory_of(*found.front()))));
    }
  }
  if (found.empty() && asked.size() > 1 && is_number(asked.back())) {
    Words with_unit = asked;  // "m3 ultra 512"
    with_unit.back() += "gb";
    found = named(facts, with_unit);
  }
  if (found.size() == 1) return *found.front();
  if (found.empty()) found = candidates(facts, asked);
  throw not_one(facts, kind, name, found);
}

}  // namespace

std::string spelling(std::string_view name) {
  Words all = name_words(name);
  std::ranges::sort(all);
  return joined(all);
}

const Device& Catalogue::device(std::string_view name) const {
  return look_up(devices, "device", name);
}

const Processor& Catalogue::processor(std::string_view name) const {
  const auto exact = std::ranges::find(processors, lower(name), &Processor::name);
  if (exact != processors.end()) return *exact;
  const auto found = processors_named(processors, processor_words(name));
  if (found.size() == 1) return *found.front();
  throw not_one(processors, "processor", name, found);
}

const Host& Catalogue::host(std::string_view name) const { return look_up(hosts, "host", name); }

}  // namespace headroom
