#include "sweep/screen/asked_note.hpp"

#include <fmt/format.h>

#include "model/infer/placement/asked_sequences.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {

std::optional<std::string> asked_note(const model::Scenario& s) {
  const auto fewer = model::fewer_sequences(s);
  if (!fewer) return std::nullopt;
  const std::string then = fewer->usual_admits == 0 ? "do not fit"
                           : fewer->usual_admits < s.batch
                               ? fmt::format("leave room for {}", fewer->usual_admits)
                               : "may not fit";
  return fmt::format("--max-num-seqs {}: {}'s usual {} sequences at once need {} GiB more and {}",
                     fewer->asked, s.runtime->name, grouped(fewer->usual), in_gib(fewer->freed),
                     then);
}

}  // namespace headroom::sweep
