// The times behind an estimate, each with the interval of its own kind.
#include "model/answer/explain_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/answer/explain.hpp"
#include "model/answer/span_words.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "model/infer/timeline/load.hpp"
#include "model/infer/timeline/passes.hpp"
#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {
namespace {

class TimeTerms {
 public:
  TimeTerms(const Scenario& s, Explanation& out)
      : s_(s), runtime_(*s.runtime), out_(out), times_(interval_factors(s).times(out.estimate)) {}

  void add_load(const LoadTime& load) {
    const auto part = [&](std::string_view what, Seconds seconds, const Constant& share,
                          std::string formula) {
      if (seconds > Seconds())
        add(fmt::format("load_{}", what), seconds, times_.load, std::move(formula), evidence(share),
            share.source);
    };
    part("fixed", load.fixed, runtime_.weights.load_fixed_s, "start-up without the weights");
    part("layers", load.layers, runtime_.weights.load_layer_s,
         "layers * seconds to trace one, read its code and capture its CUDA graphs");
    part("read", load.read, runtime_.weights.load_read_bandwidth,
         runtime_.weights.reads_ahead
             ? "bytes of files / disk read + a file of at most 5 GB / rate of reading it into a "
               "buffer: files are read side by side"
             : "bytes of files / (share * disk read) + bytes / rate of page faults; nothing where "
               "they are cached");
    part("tensors", load.tensors, runtime_.weights.load_tensor_s,
         "tensors of the files * seconds to find, cut and copy one");
    const Constant& rate = runtime_.weights.load_copy_bandwidth;
    part("copy", load.copy, rate,
         "weights that stay in host memory / bytes a second of a process; weights left on disk in "
         "another type are written and read as files");
    part("bus", load.bus, rate,
         runtime_.parallel.split == Split::tensors
             ? "max(a card's weights and the tensors that it cuts across their rows / bytes a "
               "second "
               "of a process, its weights / host bus, 2 * all / RAM bandwidth): each rank copies "
               "its own"
             : "weights on cards / min(bytes a second of a process, host bus), one card after the "
               "other");
    part("pack", load.pack, rate, "quantised as it loads: (read + written) / (share * bandwidth)");
    add("load", load.cold(), times_.load,
        "fixed + layers + read + tensors + copy + bus + pack, from a cold disk",
        evidence(runtime_.weights.load_interval), runtime_.weights.load_interval.source);
    add("load_warm", load.warm(), times_.load,
        load.again > Seconds()
            ? load.again < load.read
                  ? "the same with files in the page cache, which are read into a buffer again"
                  : "the same: the host's memory does not hold the files"
            : "the same without read, files in the page cache",
        evidence(runtime_.weights.load_interval), runtime_.weights.load_interval.source);
    if (load.mapped > Seconds())
      add("warming", load.mapped, times_.load,
          "weights in host memory, read as files are: they are mapped, and read when the first "
          "answer needs them; nothing where they are cached",
          evidence(runtime_.weights.load_read_bandwidth),
          runtime_.weights.load_read_bandwidth.source);
  }
  void add_first(const Timeline& pass) { add_pass("ttft", s_, pass, times_.ttft); }
  void add_step(const Timeline& pass) { add_pass("tpot", s_, pass, times_.tpot); }
  /// Both, where tokens are proposed and checked. `first`: the prompts through the model itself.
  void add_with_draft(const Timeline& first, const Draft& draft, const DraftTimes& times) {
    if (draft.weights == nullptr) {
      add_first(first);
    } else {
      Scenario small = s_;
      small.weights = draft.weights;
      add_pass("ttft_model", s_, first, times_.ttft);
      add("ttft_draft", times.prompt.total, times_.ttft, "the prompts through what proposes", "",
          runtime_.source);
      add("ttft", first.total + times.prompt.total, times_.ttft, "ttft_model + ttft_draft", "",
          runtime_.source);
      add_pass("draft_step", small, times.propose, times_.tpot);
    }
    add_pass("check_step", s_, times.check, times_.tpot);
    add("check_cost", times.further, times_.tpot, "k * share * decode step",
        fmt::format("k {}, share {:.2f}, {}", draft.tokens, check_cost().value,
                    evidence(check_cost())),
        check_cost().source);
    const double tokens = tokens_per_step(draft);
    add("tpot", times.step / tokens, times_.tpot,
        draft.weights == nullptr ? "(check_step + check_cost) / ((1 - a^(k + 1)) / (1 - a))"
        : draft_passes(draft) == 1 && draft.tokens > 1
            ? "(draft_step + check_step + check_cost) / ((1 - a^(k + 1)) / (1 - a))"
            : "(k * draft_step + check_step + check_cost) / ((1 - a^(k + 1)) / (1 - a))",
        fmt::format("k {} proposed, acceptance a {:.2f}: {:.2f} tokens a step", draft.tokens,
                    draft.acceptance, tokens),
        "Leviathan et al., arXiv:2211.17192, equation 1");
  }
  void add_total(Size output_tokens) {
    const double all = out_.estimate.total.value();
    const auto at = [&](double Interval::*end) {
      return total_at(out_.estimate, times_.ttft.*end, times_.tpot.*end).value();
    };
    out_.terms.push_back({"total", TermUnit::seconds, at(&Interval::low), all, at(&Interval::high),
                          "ttft + (output - 1) * tpot", counted(output_tokens, "output token"),
                          std::string(runtime_.source)});
    if (out_.estimate.verdict <= Verdict::fits_gpus) return;
    const double warming = out_.estimate.warming.value();
    const Interval& read = times_.load;
    out_.terms.push_back({"first_total", TermUnit::seconds, at(&Interval::low) + warming * read.low,
                          all + warming, at(&Interval::high) + warming * read.high,
                          "total + warming",
                          warming > 0 ? "the first answer after loading reads weights that are "
                                        "mapped; every later one is steady"
                                      : "all weights are in place after loading: the first answer "
                                        "takes as long as every later one",
                          std::string(runtime_.source)});
  }

 private:
  void add(std::string name, Seconds seconds, const Interval& interval, std::string formula,
           std::string numbers, std::string_view source) {
    const double expected = seconds.value();
    out_.terms.push_back({std::move(name), TermUnit::seconds, expected * interval.low, expected,
                          expected * interval.high, std::move(formula), std::move(numbers),
                          std::string(source)});
  }

  /// The spans of a pass, and their sum.
  void add_pass(const std::string& name, const Scenario& s, const Timeline& pass,
                const Interval& interval) {
    const std::vector<Span> spans = spans_of(s, pass);
    for (const Span& span : spans)
      add(fmt::format("{}: {} ({})", name, span.name, span.where), span.seconds, interval,
          span.formula, numbers_of(span), span.constant->source);
    const auto longest = std::ranges::max_element(spans, {}, &Span::seconds);
    add(name, pass.total, interval, "the sum of its operations",
        longest == spans.end() ? "" : fmt::format("most of it: {}", longest->name),
        runtime_.source);
  }

  /// "9.93 GB at 883 GB/s; 2.1 ms more behind others; 0.876, 39 measured rows".
  static std::string numbers_of(const Span& span) {
    std::string text = fmt::format("{} at {}", amount_words(span), rate_words(span));
    if (span.hidden > Seconds())
      text += fmt::format("; {:.3g} ms more behind others", 1e3 * span.hidden.value());
    return text + fmt::format("; {:.3g}, {}", span.constant->value, evidence(*span.constant));
  }

  const Scenario& s_;
  const Engine& runtime_;
  Explanation& out_;
  TimeIntervals times_;
};

}  // namespace

std::string evidence(const Constant& c) {
  return c.measurements == 0 ? std::string("unmeasured") : counted(c.measurements, "measured row");
}

void add_time_terms(const Scenario& s, const Plan& plan, Explanation& out) {
  TimeTerms terms(s, out);
  terms.add_load(load_time(s, plan));
  const Timeline first = prefill(s, plan, s.prompt_tokens);
  if (s.draft != nullptr)
    terms.add_with_draft(first, *s.draft, draft_times(s, plan));
  else
    terms.add_first(first);
  if (!s.weights->model->writes()) return;
  if (s.kv_cache && s.draft == nullptr) terms.add_step(decode_step(s, plan, mean_tokens(s)));
  terms.add_total(s.output_tokens);
}

}  // namespace headroom::model
