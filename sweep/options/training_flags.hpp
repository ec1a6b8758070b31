// The flags of training, a part of the one table of flags (flag_table.cpp).
#pragma once

#include "sweep/options/flags.hpp"

namespace headroom::sweep {

inline constexpr Flag training_flags[] = {
    {"grad-accum", "--gradient-accumulation-steps", Takes::one, "N",
     "training: passes before a step (default: 1)"},
    {"zero", "--zero-stage -z", Takes::one, "0..3",
     "training: state sharded across data parallel cards: 1 states, 2 gradients, 3 weights "
     "(default: 0)"},
    {"checkpointing",
     "--gradient-checkpointing=full --grad-checkpointing=full --grad-checkpoint=full -ca=full",
     Takes::one, "HOW",
     "training: activations that backward recomputes: none, selective, full, or offloaded (all, "
     "with the layers' inputs in host memory) (default: the engine's, mostly none)"},
    {"recipe", "", Takes::one, "NAME",
     "training: pure-16bit, autocast, fp32-master, fp32-gradients, sharded-fp32 or fp32; over a "
     "quantised base also raised, raised-fp32 or raised-norms (default: the engine's)"},
    {"mixed-precision", "", Takes::nothing, "", "training: short for --recipe autocast"},
    {"optimizer", "", Takes::one, "NAME",
     "training: adamw (default), adamw-8bit, adafactor, lion, sgd, …"},
    {"compile", "", Takes::nothing, "",
     "training: torch.compile: norms, gating and rotation keep no intermediate results, and "
     "selective recomputation keeps only what is needed"},
    {"fused-loss", "", Takes::nothing, "", "training: compute logits in chunks, never whole"},
    {"liger", "", Takes::nothing, "",
     "training: Liger kernels: fused norms, gating, rotation and loss"},
    {"offload-optimizer", "--cpu-offload-optimizer=cpu", Takes::one, "WHERE",
     "training: keep optimizer states and master weights in host memory (cpu) or on disk "
     "(nvme)"},
    {"offload-params", "", Takes::one, "WHERE",
     "training: keep shards of weights in host memory (cpu) or on disk (nvme); needs --zero 3"},
    {"no-zero3-init", "", Takes::nothing, "",
     "training: each card loads the whole model before ZeRO 3 divides it (accelerate's "
     "zero3_init_flag: false)"},
    {"attention", "--flash-attention=flash/eager --flashattn=flash/eager -fa=flash/eager",
     Takes::one, "KERNEL",
     "training: sdpa, with masks for sliding windows; flash_attention_2 or _3, with none; "
     "eager, which keeps the scores; flash (default): the engine's fused kernel"},
    {"cp", "--context-parallel-size -cp", Takes::one, "N",
     "training: context parallel: cards that divide a sequence's tokens (default: 1)"},
    {"virtual-stages", "--virtual-pipeline-stages", Takes::one, "N",
     "training: chunks of layers on each stage of the interleaved schedule (default: 1)"},
    {"sequence-parallel", "", Takes::one, "BOOL",
     "training: with --tp: sequence parallel, which divides operations between matrices by tokens "
     "(default: the engine's)"},
    {"expert-imbalance", "", Takes::one, "X",
     "training: rows of the busiest card's experts over an even share (default: 1)"},
    {"packing", "", Takes::one, "TOKENS",
     "training: pack sequences from documents of TOKENS on average, each attending only to itself"},
    {"freeze-vision-tower", "", Takes::nothing, "",
     "training: do not train the vision tower's weights"},
    {"token-budget", "", Takes::one, "N",
     "training: days for N tokens: a number, 300B, 15T (needs --machine)"},
    {"qlora", "", Takes::nothing, "", "training: adapters over frozen weights in nf4"},
    {"base-precision", "--load-in-8bit=int8 --load-in-4bit=nf4", Takes::one, "NAME",
     "training: adapters over weights frozen in nf4, nf4-double, fp4, fp4-double or int8 of "
     "bitsandbytes (default: 16 bit)"},
    {"grad-ckpt-reduction", "", Takes::one, "X",
     "rule of thumb: share of activations that checkpointing leaves"},
    {"attn-act-factor-fa", "", Takes::one, "X",
     "rule of thumb: attention with flash: tokens x hidden x layers x X elements"},
    {"attn-act-factor-no-fa", "", Takes::one, "X",
     "rule of thumb: attention that stores scores, without the scores: tokens x hidden x layers x "
     "X elements"},
    {"mlp-act-factor", "", Takes::one, "X",
     "rule of thumb: feed-forward: tokens x hidden x layers x X elements"},
    {"logits-factor", "", Takes::one, "X",
     "rule of thumb: logits and loss: tokens x vocabulary x X bytes"},
    {"fragmentation-gib", "", Takes::one, "X", "rule of thumb: GiB of fragmentation"},
    {"misc-overhead-gib", "", Takes::one, "X", "rule of thumb: GiB of other overhead"},
    {"probe", "", Takes::nothing, "",
     "training: also print the command that measures the step on a GPU (examples/probe.py)"},
    {"warmup-steps", "", Takes::one, "N", "with --probe: steps before it measures (default: 3)"},
    {"probe-steps", "", Takes::one, "N", "with --probe: steps that it measures (default: 6)"},
    {"estimate-only", "", Takes::nothing, "",
     "accepted: print no command to measure with, even with --probe"},
};

}  // namespace headroom::sweep
