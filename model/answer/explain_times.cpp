// The times behind an estimate, each with the interval of its own kind.
#include "model/answer/explain_times.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "model/infer/timeline/load.hpp"
#include "model/infer/timeline/rates.hpp"
#include "model/infer/timeline/speed.hpp"
#include "model/infer/timeline/stretches.hpp"

namespace headroom::model {
namespace {

class TimeTerms {
 public:
  TimeTerms(const Scenario& s, const Plan& plan, Explanation& out)
      : s_(s),
        runtime_(*s.runtime),
        rates_(rates_for(*s.weights)),
        rows_(by_rows(s, plan)),
        reduce_(reduce_latency(s, rows_ || s.runtime->parallel.tensor_parallel_layers
                                      ? plan.cards
                                      : plan.shards * plan.replicas)),
        out_(out),
        times_(interval_factors(s).times(out.estimate)) {}

  void add_load(const LoadTime& load) {
    const auto part = [&](std::string_view what, double seconds, const Constant& share,
                          std::string formula) {
      if (seconds > 0)
        add(fmt::format("load_{}", what), seconds, times_.load, std::move(formula), evidence(share),
            share.source);
    };
    part("fixed", load.fixed, runtime_.weights.load_fixed_s, "start-up beside the weights");
    part("read", load.read, runtime_.weights.load_read_bandwidth,
         "bytes of files / disk read + bytes / rate of page faults; nothing where they are cached");
    const Constant& rate = runtime_.weights.load_copy_bandwidth;
    part("copy", load.copy, rate,
         "weights that stay in host memory / bytes a second of a process, and what is left on disk "
         "in another type, written and read as files are");
    part("bus", load.bus, rate,
         runtime_.parallel.split == Split::tensors
             ? "max(a card's weights / min(bytes a second of a process, host bus), 2 * all / RAM "
               "bandwidth): each rank copies its own"
             : "weights on cards / min(bytes a second of a process, host bus), one card after the "
               "other");
    part("pack", load.pack, rate, "quantised as it loads: (read + written) / (share * bandwidth)");
    add("load", load.cold(), times_.load, "fixed + read + copy + bus + pack, from a cold disk",
        evidence(runtime_.weights.load_interval), runtime_.weights.load_interval.source);
    add("load_warm", load.warm(), times_.load,
        load.again > 0
            ? "fixed + read + copy + bus + pack: the host's memory does not hold the files"
            : "fixed + copy + bus + pack, files in the page cache",
        evidence(runtime_.weights.load_interval), runtime_.weights.load_interval.source);
    if (load.mapped > 0)
      add("warming", load.mapped, times_.load,
          "weights in host memory, read as files are: they are mapped, and read when the first "
          "answer needs them; nothing where they are cached",
          evidence(runtime_.weights.load_read_bandwidth),
          runtime_.weights.load_read_bandwidth.source);
  }
  void add_first(const PassTime& pass) { add_pass("ttft", pass, times_.ttft, rates_, products()); }
  void add_step(const PassTime& pass) {
    add_pass("tpot", pass, times_.tpot, rates_, rates_.decode_bandwidth);
  }
  /// Both, where a smaller model proposes tokens. `first`: the prompts through the model itself.
  void add_with_draft(const PassTime& first, const Draft& draft, const DraftTimes& times) {
    add_pass("ttft_model", first, times_.ttft, rates_, products());
    add("ttft_draft", times.prompt, times_.ttft, "the prompts through the draft model", "",
        runtime_.source);
    add("ttft", first.total + times.prompt, times_.ttft, "ttft_model + ttft_draft", "",
        runtime_.source);
    const Rates& small = rates_for(*draft.weights);
    add_pass("draft_step", times.propose, times_.tpot, small, small.decode_bandwidth);
    add_pass("check_step", times.check, times_.tpot, rates_, rates_.decode_bandwidth);
    const double tokens = tokens_per_step(draft);
    add("tpot", times.step / tokens, times_.tpot,
        "(k * draft_step + check_step) / ((1 - a^(k + 1)) / (1 - a))",
        fmt::format("k {} proposed tokens, acceptance a {:.2f}: {:.2f} tokens a step", draft.tokens,
                    draft.acceptance, tokens),
        "Leviathan et al., arXiv:2211.17192, equation 1");
  }
  void add_total(Size output_tokens) {
    const double all = out_.estimate.total.value();
    const auto at = [&](double Interval::*end) {
      return total_at(out_.estimate, times_.ttft.*end, times_.tpot.*end).value();
    };
    out_.terms.push_back({"total", "seconds", at(&Interval::low), all, at(&Interval::high),
                          "ttft + (output - 1) * tpot",
                          fmt::format("{} output tokens", output_tokens),
                          std::string(runtime_.source)});
    if (out_.estimate.verdict <= Verdict::fits_gpus) return;
    const double warming = out_.estimate.warming.value();
    const Interval& read = times_.load;
    out_.terms.push_back({"first_total", "seconds", at(&Interval::low) + warming * read.low,
                          all + warming, at(&Interval::high) + warming * read.high,
                          "total + warming",
                          warming > 0 ? "the first answer after loading reads weights that are "
                                        "mapped; every later one is steady"
                                      : "all weights are where they stay when it is ready: the "
                                        "first answer is like every later one",
                          std::string(runtime_.source)});
  }

 private:
  const Constant& products() const {
    const auto& cards = s_.machine->devices;
    return cards.empty() ? rates_.prefill_compute : product_share(s_, cards.front(), rates_);
  }

  const Rates& rates_for(const QuantisedModel& weights) const {
    return s_.machine->devices.empty() ? s_.runtime->kernels.rates.back().front()
                                       : s_.runtime->rates_on(s_.machine->devices.front(), weights);
  }

  void add(std::string name, double seconds, const Interval& interval, std::string formula,
           std::string numbers, std::string_view source) {
    out_.terms.push_back({std::move(name), "seconds", seconds * interval.low, seconds,
                          seconds * interval.high, std::move(formula), std::move(numbers),
                          std::string(source)});
  }

  /// The parts of a pass and which of them bounds it.
  void add_pass(const std::string& name, const PassTime& pass, const Interval& interval,
                const Rates& rates, const Constant& on_cards) {
    const auto part = [&](std::string_view what, double seconds, std::string formula,
                          const Constant& constant) {
      if (seconds > 0)
        add(fmt::format("{}_{}", name, what), seconds, interval, std::move(formula),
            fmt::format("{:.3g}, {}", constant.value, evidence(constant)), constant.source);
    };
    part("cards", pass.cards,
         (runtime_.kernels.repeats_kv || runtime_.cache.growth != Growth::reserved) &&
                 !name.starts_with("ttft")
             ? "max(bytes / (share * bandwidth), FLOPs / (share * peak)) + K and V copied with the "
               "new ones behind them and for each query head / copying, on each card"
         : name.starts_with("ttft")
             ? "max(bytes / (share * bandwidth), FLOPs / (share * peak) + scores, activations and "
               "unpacked weights through memory) on each card"
             : "max(bytes / (share * bandwidth), FLOPs / (share * peak)) on each card",
         on_cards);
    part("cpu", pass.cpu, "max(bytes / (share * RAM bandwidth), FLOPs / (share * CPU peak))",
         runtime_.offload.cpu_bandwidth);
    part("stream", pass.stream, "offloaded bytes / (share * host bus)",
         runtime_.offload.stream_bandwidth);
    part("disk", pass.disk, "bytes on disk / (share * disk read)", runtime_.offload.disk_bandwidth);
    part("reduce", pass.reduce,
         rows_ ? "matrices * latency + inputs to the other cards and results from them / (share * "
                 "link)"
               : "2 * layers * (latency + 2 (n - 1) / n * activations / (share * link))",
         reduce_);
    part("crossings", pass.crossings, "times it goes on from one device to another * seconds each",
         runtime_.offload.device_handoff_s);
    part("launches", pass.launches,
         "kernels * overhead + a pass's own + sequences * overhead of each", rates.kernel_s);
    part("eager", pass.eager, "kernels without CUDA graphs * seconds each, beyond all of these",
         runtime_.kernels.eager_kernel_s);
    const std::string_view run =
        runtime_.kernels.launch == Launch::overlapped ? "max(cards, launches)" : "cards + launches";
    std::string sum = runtime_.offload.prefetches ? fmt::format("max(stream, {})", run)
                                                  : fmt::format("stream + {}", run);
    sum += " + disk + reduce + crossings + cpu";
    if (pass.eager > 0) sum += " + eager";
    add(name, pass.total, interval, std::move(sum), fmt::format("bound by {}", bound(pass)),
        runtime_.source);
  }

  static std::string_view bound(const PassTime& pass) {
    const std::pair<double, std::string_view> parts[] = {
        {pass.cards, "the cards"},
        {pass.cpu, "the CPU"},
        {pass.stream, "the host bus"},
        {pass.disk, "the disk"},
        {pass.reduce, "the link"},
        {pass.launches, "launches"},
        {pass.eager, "kernels without CUDA graphs"},
        {pass.crossings, "going from device to device"}};
    return std::max_element(std::begin(parts), std::end(parts))->second;
  }

  const Scenario& s_;
  const Engine& runtime_;
  const Rates& rates_;
  bool rows_;
  const Constant& reduce_;
  Explanation& out_;
  TimeIntervals times_;
};

}  // namespace

std::string evidence(const Constant& c) {
  return c.measurements == 0 ? std::string("unmeasured (n = 0)")
                             : fmt::format("n = {} measured", c.measurements);
}

void add_time_terms(const Scenario& s, const Plan& plan, Explanation& out) {
  TimeTerms terms(s, plan, out);
  terms.add_load(load_time(s, plan));
  const PassTime first = prefill(s, plan, s.prompt_tokens);
  if (s.draft != nullptr)
    terms.add_with_draft(first, *s.draft, draft_times(s, plan));
  else
    terms.add_first(first);
  if (!s.weights->model->profile.generative) return;
  if (s.kv_cache && s.draft == nullptr) terms.add_step(decode_step(s, plan, mean_tokens(s)));
  terms.add_total(s.output_tokens);
}

}  // namespace headroom::model
