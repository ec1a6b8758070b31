// How long an all-reduce takes to start, by the way between the cards.
#pragma once

#include "hardware/machine.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// Start of an all-reduce of two cards that meet on this path, seconds. Cards of one box that the
/// engine's own does not run on take a handoff between devices (ParallelPolicy::reduce_cards).
const Constant& reduce_latency(const Engine& engine, const Machine& machine, LinkPath path);
/// The way of an engine's all-reduce between `cards` that meet on `path`. A kernel that reads the
/// other cards' memory takes as long over the bus as over links of their own: 4.3 to 5.4 us of two
/// (all_reduce.csv, "custom"). Engines have it for NVIDIA's cards alone (vLLM 0.19 rocm.py:
/// use_custom_allreduce names gfx94 and gfx95, which have links). llama.cpp's goes through the
/// host's memory on NVIDIA's cards, also where they have links (ggml-cuda/allreduce.cu).
LinkPath reduce_path(const Engine& engine, const Machine& machine, LinkPath path, Size cards);
/// Start of an all-reduce of so many cards. Over links of their own, a kernel of each card reads
/// all others at the same time: 4.4, 4.6 and 4.6 us of 2, 4 and 8 H100. NCCL's ring passes the data
/// on: 6.2, 9.5 and 15.6 us of these, 10, 14.5 and 22.6 us of A100, a quarter of the first more for
/// each further card. Over the host's bus the ring takes 7, 13.2 and 24.6 us, 5/12 more for each.
/// By way of the host's memory these are 11, 20 and 39 us, 1.6 times as long. Source:
/// us_of_1_kib_at_most in hardware/catalogue/all_reduce.csv, medians over hosts.
Seconds reduce_start(const Engine& engine, const Constant& of_two, LinkPath path, Size cards);

}  // namespace headroom::model
