#include "model/answer/breakdown.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/infer/placement/at_once.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/draft_times.hpp"
#include "model/infer/timeline/record.hpp"
#include "model/infer/timeline/speed.hpp"

namespace headroom::model {
namespace {

/// Items of one stretch that are alike, and the layers that they are of.
struct Group {
  Item one;
  std::vector<Size> layers;
};

bool alike(const Item& a, const Item& b) {
  const auto near = [](double x, double y) {
    return std::abs(x - y) <= 1e-6 * std::max(std::abs(x), std::abs(y));
  };
  return a.kind == b.kind && a.piece.content == b.piece.content &&
         near(a.work.weight_bytes, b.work.weight_bytes) &&
         near(a.work.expert_bytes, b.work.expert_bytes) &&
         near(a.work.cache_bytes, b.work.cache_bytes) && near(a.work.flops, b.work.flops) &&
         near(a.state, b.state) && near(a.moved, b.moved);
}

std::vector<Group> groups_of(const std::vector<Item>& items) {
  std::vector<Group> groups;
  for (const Item& item : items) {
    auto at = std::ranges::find_if(groups, [&](const Group& g) { return alike(g.one, item); });
    if (at == groups.end()) at = groups.insert(at, {item, {}});
    at->layers.push_back(item.piece.layers.first);
  }
  return groups;
}

/// "0-3, 5", at most a few runs.
std::string runs_of(const std::vector<Size>& layers) {
  constexpr int most = 3;
  std::string text;
  int runs = 0;
  for (std::size_t i = 0, end; i < layers.size(); i = end) {
    for (end = i + 1; end < layers.size() && layers[end] == layers[end - 1] + 1;) ++end;
    if (++runs > most) return text + ", …";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", layers[i]);
    if (end - i > 1) text += fmt::format("-{}", layers[end - 1]);
  }
  return text;
}

std::string words(const Group& group) {
  if (group.one.kind == Item::Kind::head) return "output";
  if (group.one.kind == Item::Kind::embedding) return "embedding";
  const Content content = group.one.piece.content;
  const std::string_view of = content == Content::dense     ? " without experts"
                              : content == Content::experts ? ", experts"
                                                            : "";
  return fmt::format("{} layer{}{}: {}", group.layers.size(), group.layers.size() == 1 ? "" : "s",
                     of, runs_of(group.layers));
}

std::string cards_words(const Stretch& stretch) {
  return stretch.last - stretch.first > 1
             ? fmt::format("gpu {}-{}", stretch.first, stretch.last - 1)
             : fmt::format("gpu {}", stretch.first);
}

/// The parts of one pass.
class Parts {
 public:
  Parts(const Scenario& s, std::string prefix, double times, std::vector<PassPart>& out)
      : s_(s), prefix_(std::move(prefix)), times_(times), out_(out) {}

  void add(const Record& record) {
    for (const Stretch& stretch : record) {
      if (stretch.over == Over::cards || stretch.over == Over::cpu)
        add_device(stretch);
      else
        add_wait(stretch);
    }
  }

 private:
  double reading(const Work& work, const Rate& rate) const {
    return weight_read(work, rate) / rate.bytes_s;
  }

  /// What `all` moves through memory beside what it multiplies, in words.
  std::string beside(const Work& all, const Device& card) const {
    const Engine& r = *s_.runtime;
    std::string text;
    if (all.packed_bytes > 0 && unpacks_into_memory(s_, card))
      text += fmt::format("; weights unpacked into memory at {:.2f} of the bandwidth",
                          rates_on(s_, card).unpack_bandwidth.value);
    if (all.scores > 0)
      text += fmt::format("; {:.3g} bytes moved for each attention score",
                          r.kernels.score_traffic.value);
    if (all.prefill_expert_bytes > 0)
      text += fmt::format("; experts are read {:.3g} times beside their products",
                          rates_on(s_, card).expert_reads.value);
    if (all.channels > 0)
      text += fmt::format("; {:.3g} bytes moved for each channel of activations",
                          r.kernels.activation_traffic.value);
    return text;
  }

  std::string rates(const Stretch& stretch, const Work& all) const {
    if (stretch.over == Over::cpu) {
      const Host& host = s_.machine->host;
      return fmt::format(
          "{:.2f} of {:.4g} GB/s of RAM; {:.2f} of {:.3g} TFLOPS of the CPU",
          stretch.rate.bytes_s / host.ram_bandwidth.value(), host.ram_bandwidth.value() / 1e9,
          stretch.rate.flops_s / host.cpu_peak.value(), host.cpu_peak.value() / 1e12);
    }
    const Device& card = s_.machine->devices[static_cast<std::size_t>(stretch.first)];
    const Rates& of = rates_on(s_, card);
    const double share = product_share(s_, card, of).value;
    std::string text =
        fmt::format("{:.2f} of {:.4g} GB/s; {:.2f} of {:.4g} TFLOPS ({})",
                    stretch.rate.bytes_s / card.bandwidth.value(), card.bandwidth.value() / 1e9,
                    share, stretch.rate.flops_s / share / 1e12, card.name);
    const auto counts = [&](std::string_view what, bool any, double cost) {
      if (any && cost != 1)
        text += fmt::format("; a byte of {} takes as long as {:.2f} of weights", what, cost);
    };
    const Profile& profile = s_.weights->model->profile;
    counts("caches", profile.generative, stretch.rate.cache_weight);
    counts("experts", profile.routing.experts > 0, stretch.rate.expert_weight);
    return text + beside(all, card);
  }

  /// Layers share the device's time by what it waits for.
  void add_device(const Stretch& stretch) {
    Work all;
    for (const Item& item : stretch.items) all = all + weighed(stretch, item.work);
    const double by_memory = reading(all, stretch.rate),
                 by_compute = compute_seconds(all, stretch.rate);
    const bool reads = by_memory >= by_compute;
    const bool multiplies = 2 * all.flops / stretch.rate.flops_s >= by_compute;
    const double sum = std::max(by_memory, by_compute) + between_products(all, stretch.rate);
    const std::string at = rates(stretch, all);
    for (const Group& group : groups_of(stretch.items)) {
      const Work work = weighed(stretch, group.one.work);
      const auto n = static_cast<double>(group.layers.size());
      PassPart part = part_of(group, stretch);
      part.memory_s =
          times_ * n * (reading(work, stretch.rate) + between_products(work, stretch.rate));
      part.compute_s = times_ * n * compute_seconds(work, stretch.rate);
      const double own =
          (reads ? reading(work, stretch.rate) : compute_seconds(work, stretch.rate)) +
          between_products(work, stretch.rate);
      part.seconds = sum > 0 ? times_ * stretch.seconds * n * own / sum : 0;
      part.bound = reads || !multiplies ? Bound::memory : Bound::compute;
      part.rates = at;
      out_.push_back(std::move(part));
    }
  }
  /// What experts cost on a card says nothing of the CPU.
  static Work weighed(const Stretch& stretch, Work work) {
    if (stretch.over == Over::cpu) work.expert_bytes = work.prefill_expert_bytes = 0;
    return work;
  }

  PassPart part_of(const Group& group, const Stretch& stretch) const {
    const Work& work = group.one.work;
    const double n = times_ * static_cast<double>(group.layers.size());
    PassPart part;
    part.what = prefix_ + words(group);
    part.where = stretch.over == Over::cpu    ? "cpu"
                 : stretch.over == Over::bus  ? "host bus"
                 : stretch.over == Over::disk ? "disk"
                                              : cards_words(stretch);
    if (stretch.over == Over::bus || stretch.over == Over::disk) {
      part.moved_bytes = n * group.one.moved;
      return part;
    }
    part.weight_bytes = n * work.weight_bytes;
    part.expert_bytes = n * work.expert_bytes;
    part.cache_bytes = n * (work.cache_bytes - group.one.state);
    part.state_bytes = n * group.one.state;
    part.repeated_bytes = n * work.repeated;
    part.flops = n * work.flops;
    return part;
  }

  void add_wait(const Stretch& stretch) {
    const Engine& r = *s_.runtime;
    const auto link = [&](PassPart part, double seconds, std::string at) {
      part.link_s = part.seconds = times_ * seconds;
      part.bound = Bound::link;
      part.rates = std::move(at);
      out_.push_back(std::move(part));
    };
    const auto overhead = [&](std::string what, std::string at) {
      PassPart part;
      part.what = prefix_ + what;
      part.where = "host";
      part.seconds = times_ * stretch.seconds;
      part.overhead_s = times_ * (stretch.seconds + stretch.hidden);
      part.bound = Bound::overhead;
      part.rates = std::move(at);
      if (part.overhead_s > 0) out_.push_back(std::move(part));
    };
    switch (stretch.over) {
      case Over::bus:
      case Over::disk: {
        const bool disk = stretch.over == Over::disk;
        const std::string at =
            disk ? fmt::format("{:.2f} of {:.3g} GB/s of the disk", r.offload.disk_bandwidth.value,
                               s_.machine->host.disk_read.value() / 1e9)
                 : fmt::format("{:.2f} of {:.3g} GB/s of the bus", r.offload.stream_bandwidth.value,
                               s_.machine->host_bus(0).value() / 1e9);
        if (stretch.items.empty()) {
          PassPart part;
          part.what = prefix_ + "weights held back";
          part.where = "host bus";
          part.moved_bytes = times_ * stretch.moved;
          return link(std::move(part), stretch.seconds, at);
        }
        for (const Group& group : groups_of(stretch.items))
          if (group.one.moved > 0)
            link(part_of(group, stretch),
                 stretch.seconds * group.one.moved * static_cast<double>(group.layers.size()) /
                     stretch.moved,
                 at);
        return;
      }
      case Over::reduce: {
        PassPart part;
        const bool rows = r.parallel.split == Split::layers && !r.parallel.tensor_parallel_layers;
        part.what = prefix_ + (rows ? "inputs and results of rows" : "all-reduces");
        part.where = "link";
        part.moved_bytes = times_ * stretch.moved;
        const auto cards = stretch.last;
        return link(
            std::move(part), stretch.seconds,
            fmt::format("{:.3g} us to start each, {:.2f} of {:.4g} GB/s between {} cards",
                        reduce_latency(s_, cards).value * 1e6, r.parallel.link_bandwidth.value,
                        s_.machine->card_link(static_cast<std::size_t>(cards)).value() / 1e9,
                        cards));
      }
      case Over::launches:
        return overhead(
            stretch.hidden > 0 ? "launches beyond the kernels" : "launches",
            fmt::format("{:.0f} kernels at {:.3g} us, {:.3g} us a pass, {:.3g} us a sequence",
                        stretch.kernels, rates_of(s_).kernel_s.value * 1e6,
                        r.serving.step_s.value * 1e6, r.serving.sequence_s.value * 1e6));
      case Over::crossings:
        return overhead("from device to device",
                        fmt::format("{:.3g} us each time", r.offload.device_handoff_s.value * 1e6));
      case Over::eager:
        return overhead("kernels without CUDA graphs",
                        fmt::format("{:.0f} at {:.3g} us", stretch.kernels,
                                    r.kernels.eager_kernel_s.value * 1e6));
      default:
        return;
    }
  }

  const Scenario& s_;
  std::string prefix_;
  double times_;
  std::vector<PassPart>& out_;
};

}  // namespace

std::string_view name_of(Bound bound) {
  constexpr std::string_view names[] = {"memory", "compute", "link", "overhead"};
  return names[static_cast<std::size_t>(bound)];
}

double PassBreakdown::of(Bound bound) const {
  double sum = 0;
  for (const PassPart& part : parts)
    if (part.bound == bound) sum += part.seconds;
  return sum;
}

std::vector<PassBreakdown> breakdown(const Scenario& asked) {
  if (evaluate(asked).verdict >= Verdict::does_not_fit) return {};
  const Scenario s = at_once(asked);
  const Plan plan = place(s, 1.0);
  std::vector<PassBreakdown> all{{"ttft", 0, {}}};
  Record record;
  all[0].seconds = prefill(s, plan, s.prompt_tokens, &record).total;
  Parts(s, "", 1, all[0].parts).add(record);
  const bool generates = s.weights->model->profile.generative;
  if (generates) all.push_back({"tpot", 0, {}});
  if (s.draft != nullptr) {
    DraftRecords records;
    const DraftTimes times = draft_times(s, plan, &records);
    Scenario small = s;
    small.weights = s.draft->weights;
    all[0].seconds += times.prompt;
    Parts(small, "draft: ", 1, all[0].parts).add(records.prompt);
    const double tokens = tokens_per_step(*s.draft);
    all[1].seconds = times.step / tokens;
    Parts(small, "draft: ", static_cast<double>(s.draft->tokens) / tokens, all[1].parts)
        .add(records.propose);
    Parts(s, "check: ", 1 / tokens, all[1].parts).add(records.check);
  } else if (generates) {
    record.clear();
    all[1].seconds = step(s, plan, &record).total;
    Parts(s, "", 1, all[1].parts).add(record);
  }
  return all;
}

}  // namespace headroom::model
