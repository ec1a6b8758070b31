#include "part_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace headroom::oracle {

using model::Element;
using model::Part;
using model::Tensor;

namespace {

std::string_view dtype(Element e) {
  switch (e) {
    case Element::int64:
      return "int64";
    case Element::int32:
      return "int32";
    case Element::boolean:
      return "bool";
    case Element::complex64:
      return "complex64";
    case Element::floating:
    case Element::float32:
      break;
  }
  return "float32";
}

std::string line_of(const Tensor& t) {
  return fmt::format("{} [{}] {}", t.name, fmt::join(t.shape, ","), dtype(t.element));
}

}  // namespace

Lines parameter_lines(const Part& part) {
  Lines all;
  for (const auto& t : part.tensors)
    if (t.is_parameter() && t.tied_to.empty()) all.push_back(line_of(t));
  return all;
}

Lines buffer_lines(const Part& part) {
  Lines all;
  for (const auto& t : part.tensors)
    if (!t.is_parameter() && t.tied_to.empty())
      all.push_back(line_of(t) + (t.persistent ? " persistent" : " non_persistent"));
  return all;
}

Lines module_lines(const Part& part) {
  Lines all;
  for (const auto& m : part.modules) all.push_back(m.path + ' ' + m.class_name);
  return all;
}

Lines tie_lines(const Part& part) {
  std::map<std::string, Lines> groups;
  for (const auto& t : part.tensors)
    if (t.is_parameter() && !t.tied_to.empty()) groups[t.tied_to].push_back(t.name);
  Lines all;
  for (auto& [owner, members] : groups) {
    members.push_back(owner);
    std::sort(members.begin(), members.end());
    all.push_back(fmt::format("{}", fmt::join(members, " = ")));
  }
  std::sort(all.begin(), all.end());
  return all;
}

Lines no_split_lines(const Part& part) {
  Lines all = part.no_split;
  std::sort(all.begin(), all.end());
  return all;
}

Size total_of(const Part& part) {
  Size sum = 0;
  for (const auto& t : part.tensors)
    if (t.is_parameter() && t.tied_to.empty()) sum += t.elements();
  return sum;
}

Size active_of(const Part& part) {
  // Experts that are tensors of their own hold no multiple of their number: together they do.
  std::map<std::pair<Size, Size>, Size> elements;
  for (const auto& t : part.tensors)
    if (t.is_parameter() && t.tied_to.empty()) elements[{t.used, t.of}] += t.elements();
  Size sum = 0;
  for (const auto& [share, all] : elements) sum += all / share.second * share.first;
  return sum;
}

Kept kept_by(const Part& part) {
  Kept sums;
  for (const auto& c : part.caches) {
    if (c.kind == model::CacheKind::cross_attention) continue;
    const bool expanded = c.kind != model::CacheKind::latent && c.expanded_per_token > 0;
    const Size kept = expanded ? c.expanded_per_token : c.per_token;
    sums.per_token += kept;
    sums.per_sequence += c.per_sequence;
    if (kept > 0 && c.kind != model::CacheKind::indexer) sums.by_window[c.window] += kept;
  }
  return sums;
}

}  // namespace headroom::oracle
