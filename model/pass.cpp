#include "model/pass.hpp"

#include <algorithm>
#include <cmath>

#include "model/layer_split.hpp"

namespace headroom::model {
namespace {

double at(const std::vector<double>& before, Range range) {
  return before[static_cast<std::size_t>(range.last)] -
         before[static_cast<std::size_t>(range.first)];
}

}  // namespace

Pass decode_pass(const Scenario& s, CachedTokens tokens) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = pass.logit_rows = static_cast<double>(s.batch);
  pass.layers = {profile.first_decoding, static_cast<Size>(profile.layers.size())};
  pass.cached = tokens;
  return pass;
}

Pass prefill_pass(const Scenario& s, Size prompt) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = static_cast<double>(s.batch) * static_cast<double>(prompt);
  pass.logit_rows = static_cast<double>(s.batch);
  const Size chunk = s.runtime->prefill_chunk;
  if (chunk > 0) pass.weight_reads = std::ceil(pass.tokens / static_cast<double>(chunk));
  const auto layers = static_cast<Size>(profile.layers.size());
  // A text prompt runs the decoder; an encoder's layers run instead where the prompt goes there.
  pass.layers = s.weights->model->encoder_decoder && profile.first_decoding > 0
                    ? Range{0, profile.first_decoding}
                    : Range{profile.first_decoding, layers};
  if (!profile.generative) pass.layers = {0, layers};
  pass.prompt = prompt;
  return pass;
}

Pass step_pass(const Scenario& s) {
  if (!s.weights->model->profile.generative) return prefill_pass(s, s.prompt_tokens);
  return s.kv_cache ? decode_pass(s, mean_tokens(s)) : prefill_pass(s, mean_tokens(s).self);
}

Range intersect(Range a, Range b) {
  const Size first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

Work work_of(const Scenario& s, const Pass& pass, const Piece& piece) {
  const Weights& w = *s.weights;
  const Profile& profile = w.model->profile;
  const Range run = intersect(piece.layers, pass.layers);
  double dense = at(w.read_dense, run), routed = at(w.read_routed, run);
  double multiplied = at(profile.multiplied_before, run);
  if (piece.content == Content::dense) {
    routed = 0;
    multiplied -= at(profile.routed_before, run);
  } else if (piece.content == Content::experts) {
    dense = 0;
    multiplied = at(profile.routed_before, run);
  }
  Work work;
  work.weight_bytes = pass.weight_reads *
                      (dense + routed * experts_touched(profile, pass.tokens / pass.weight_reads));
  work.flops = 2.0 * multiplied * pass.tokens;
  if (piece.content == Content::experts) return work;
  if (pass.prompt > 0) {
    work.flops += prefill_score_flops(s, pass.prompt, run.first, run.last);
  } else {
    work.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
    work.flops += decode_score_flops(s, pass.cached, run.first, run.last);
  }
  return work;
}

Work head_work(const Scenario& s, const Pass& pass) {
  const Weights& w = *s.weights;
  return {.weight_bytes = w.head_read,
          .flops = 2.0 * static_cast<double>(w.model->profile.head_elements) * pass.logit_rows};
}

Work host_work(const Scenario& s, const Pass& pass, Range range) {
  Work work;
  if (s.layer_split == nullptr || s.layer_split->on_host.bytes_before.empty()) return work;
  const HostTensors& host = s.layer_split->on_host;
  const Range run = intersect(range, pass.layers);
  work.weight_bytes = pass.weight_reads * (at(host.read_dense_before, run) +
                                           at(host.read_routed_before, run) *
                                               experts_touched(s.weights->model->profile,
                                                               pass.tokens / pass.weight_reads));
  work.flops = 2.0 * at(host.multiplied_before, run) * pass.tokens;
  return work;
}

double streamed_bytes(const Scenario& s, const Pass& pass, const Piece& piece) {
  return piece_bytes(*s.weights, {intersect(piece.layers, pass.layers), piece.content})
      .real()
      .value();
}

double launches(const Scenario& s, const Pass& pass) {
  return static_cast<double>(pass.layers.size()) * s.runtime->layer_overhead_s.value *
         pass.weight_reads;
}

double Rate::seconds(const Work& work) const {
  return std::max((work.weight_bytes + work.cache_bytes) / bytes_s, work.flops / flops_s);
}

Rate card_rate(const Scenario& s, const Device& device) {
  return {device.bandwidth.value() * s.runtime->decode_bandwidth.value,
          device.peak(s.weights->arithmetic).value() * s.runtime->prefill_compute.value};
}
Rate cpu_rate(const Scenario& s) {
  const Host& host = s.machine->host;
  return {host.ram_bandwidth.value() * s.runtime->cpu_bandwidth.value,
          host.cpu_peak.value() * s.runtime->cpu_compute.value};
}
double bus_rate(const Scenario& s) {
  return s.machine->host_bus(0).value() * s.runtime->stream_bandwidth.value;
}
double disk_rate(const Scenario& s) {
  return s.machine->host.disk_read.value() * s.runtime->disk_bandwidth.value;
}

}  // namespace headroom::model
