#include "sweep/plan/sequences_words.hpp"

#include <fmt/format.h>

#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

std::string replicas_words(Size replicas, Size each) {
  return fmt::format(" ({} replicas of the attention with {} each)", replicas, grouped(each));
}

}  // namespace

std::string sequences_words(const Candidate& c) {
  const Size copies = serving_copies(c), each = c.serving.users_each;
  std::string text = grouped(fleet_users(c), each == c.serving.batch ? "sequence" : "user");
  if (c.serving.attention > 1)
    text += replicas_words(copies, each);
  else if (copies > 1)
    text += fmt::format(" ({} copies of {})", copies, grouped(each));
  return text;
}

std::string batch_words(const Candidate& c) {
  const model::Serving& s = c.serving;
  std::string text = grouped(s.batch_of_copy(), "sequence");
  if (s.attention > 1) text += replicas_words(s.attention, s.batch);
  if (const Size copies = serving_copies(c) / s.attention; copies > 1)
    text += fmt::format(" in each of {} copies", copies);
  return text;
}

}  // namespace headroom::sweep
