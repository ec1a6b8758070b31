#!/usr/bin/env python3
"""Makes data/gguf_loaded.tar.gz: headers with the tensors that llama.cpp's loader wants of each architecture.

usage: make_loaded.py LLAMA_CPP BUILD OUT_FOLDER     then pack.py OUT_FOLDER data/gguf_loaded.tar.gz

LLAMA_CPP is a source tree of llama.cpp, BUILD where libllama was built of it as shared libraries. The files here
were made with the tree inside the source distribution of llama-cpp-python 0.3.36. The sizes and keys are those of
llama.cpp's own test (tests/test-llama-archs.cpp, get_gguf_ctx), whose text is read at run time. The loader creates
every tensor of such a model, also the optional ones: those that published files lack are left out here.
"""
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

INCLUDES = ["ggml-backend.h", "ggml.h", "gguf.h", "ggml-cpp.h", "llama.h", "llama-cpp.h", "llama-arch.h", "llama-model-saver.h"]
HEAD = """#include <cinttypes>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>
const std::vector<std::pair<std::string, ggml_tensor *>> & llama_internal_get_tensor_map(const llama_model *);
"""
MAIN = """
static void make(llm_arch arch, bool moe, const std::string & folder) {
    gguf_context_ptr keys = get_gguf_ctx(arch, moe);
    gguf_set_val_u32(keys.get(), "tokenizer.ggml.token_type_count", 2);
    llama_model_params params = llama_model_default_params();
    ggml_backend_dev_t none = nullptr;
    params.devices = &none;
    llama_model * model = llama_model_init_from_user(keys.get(), [](ggml_tensor *, void *) {}, nullptr, params);
    if (!model) _exit(1);
    gguf_context_ptr out(gguf_init_empty());
    if (llama_model_saver_supports_arch(arch)) {
        llama_model_saver saver(model);
        saver.add_kv_from_model();
        gguf_set_kv(out.get(), saver.gguf_ctx);
    } else {
        gguf_set_kv(out.get(), keys.get());
    }
    for (auto & [name, tensor] : llama_internal_get_tensor_map(model))
        if (gguf_find_tensor(out.get(), name.c_str()) < 0) gguf_add_tensor(out.get(), tensor);
    const std::string path = folder + "/" + llm_arch_name(arch) + (moe ? "-moe.gguf" : "-dense.gguf");
    gguf_write_to_file(out.get(), path.c_str(), true);
    _exit(0);
}
int main(int, char ** argv) {
    llama_log_set([](ggml_log_level, const char *, void *) {}, nullptr);
    for (const llm_arch & arch : llm_arch_all()) {
        if (arch == LLM_ARCH_UNKNOWN) continue;
        for (bool moe : {false, true}) {
            const bool mixture = arch == LLM_ARCH_DEEPSEEK2OCR;
            if (moe ? !moe_implemented(arch) && !mixture : moe_mandatory(arch) || mixture) continue;
            if (const pid_t child = fork(); child == 0) make(arch, moe, argv[1]);
            else waitpid(child, nullptr, 0);
        }
    }
}
"""
# Architectures whose files have biases of attention and feed-forward. All others lack these optional tensors.
BIASED = set("""bert bloom codeshell dream falcon gpt-oss gpt2 gptneox jais jais2 jina-bert-v3 mpt pangu-embedded phi2 phimoe qwen qwen2
             qwen2moe qwen2vl seed_oss starcoder starcoder2""".split())
BIAS = re.compile(r"\.(attn_(q|k|v|qkv|output)|ffn_(gate|up|down))\.bias$")
# Scales of other formats, tables that the loader makes, classifiers and embedding heads, biases for images.
NEVER = re.compile(r"\.input_scale$|(?<!ffn_gate_inp)\.scale$|^rope_f|\.rope_f|^cls\.|^dense_2\.|exp_probs_b_vl|"
                   r"expert_shared_feed_forward")
# Tensors of one kind of layer that the loader allows in all of them.
OWN = {
    "apertus": r"_norm\.bias$",
    "dream": r"^output\.bias$",
    "gemma-embedding": r"^output\.weight$",
    "hy_v3": r"^blk\.0\.(ffn_gate_inp|exp_probs_b|ffn_.*(exps|shexp))|^blk\.1\.ffn_(gate|up|down)\.weight$",
    "mimo2": r"ffn_(gate|up|down)\.weight$|^blk\.0\.attn_sinks",
    "mistral4": r"exp_probs_b",
    "modern-bert": r"^blk\.0\.attn_norm\.weight$",
    "mpt": r"\.bias$|^position_embd|attn_[qk]_norm|ffn.act",
    "phimoe": r"^output\.bias$",
    "qwen2": r"^output\.bias$",
    "qwen2vl": r"^output\.bias$",
    "qwen3next": r"ssm_in\.weight$",
    "rwkv6": r"time_mix_lerp_[wkvrg]\.weight$",
    "rwkv6qwen2": r"time_mix_first|^output_norm\.bias$",
    "step35": r"ffn_(gate|up|down)\.weight$",
    "t5encoder": r"^output\.weight$|^enc\.blk\.[1-9]\d*\.attn_rel_b",
}
# Sizes that no published model has: experts in one layer of two, or a width without a key in the class. Some have tensors
# of two variants at once.
UNREAL = set("""ernie4_5-moe-moe granite-moe granitemoe-dense jamba-dense jina-bert-v2-dense mamba-dense minicpm3-dense
             plamo2-dense plm-dense refact-moe stablelm-dense""".split())
BYTES = {0: 4, 1: 2, 26: 4, 30: 2}  # bytes of an element, by type
WIDTH = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def build(tree, where, folder):
    text = Path(tree, "tests/test-llama-archs.cpp").read_text()
    part = lambda first, last: text[text.index(first) : text.index(last)]
    # Shared experts as wide as routed ones, which most published models have.
    keys = part("static gguf_context_ptr get_gguf_ctx", "static bool silent_model_load").replace("n_ff / 2);", "n_ff);")
    # Two whose feed-forward always has four times the width.
    wide = "n_layer = 2;\n    if (arch == LLM_ARCH_BLOOM || arch == LLM_ARCH_MPT) n_ff = 4 * n_embd;"
    keys = keys.replace("n_layer = 2;", wide, 1)
    source = "".join(f'#include "{name}"\n' for name in INCLUDES) + HEAD + keys
    source += part("static bool moe_mandatory", "static bool arch_supported") + MAIN
    Path(folder, "make.cpp").write_text(source)
    lib = str(Path(where, "bin"))
    paths = [f"-I{tree}/{each}" for each in ("include", "src", "ggml/include")]
    libraries = [f"-L{lib}", "-lllama", "-lggml", "-lggml-base", "-lggml-cpu", f"-Wl,-rpath,{lib}"]
    subprocess.run(["g++", "-std=c++17", *paths, f"{folder}/make.cpp", "-o", f"{folder}/make", *libraries], check=True)


class Header:
    def __init__(self, data):
        self.data, self.at = data, 24
        tensors, keys = struct.unpack_from("<QQ", data, 8)
        self.keys, self.architecture = [], ""
        for _ in range(keys):
            begin, name = self.at, self.text()
            value = self.value(self.number("<I"))
            if name == b"general.architecture":
                self.architecture = value.decode()
            if not name.startswith(b"tokenizer."):
                self.keys.append(data[begin : self.at])
        self.tensors = [self.tensor() for _ in range(tensors)]

    def number(self, form):
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return value

    def text(self):
        length = self.number("<Q")
        self.at += length
        return self.data[self.at - length : self.at]

    def value(self, kind):
        if kind == 8:
            return self.text()
        if kind == 9:
            inner, length = self.number("<I"), self.number("<Q")
            for _ in range(length):
                self.value(inner)
            return None
        self.at += WIDTH[kind]

    def tensor(self):
        name = self.text().decode()
        shape = [self.number("<Q") for _ in range(self.number("<I"))]
        kind, _ = self.number("<I"), self.number("<Q")
        return name, shape, kind

    def dropped(self, name):
        own = OWN.get(self.architecture)
        return bool(NEVER.search(name) or (own and re.search(own, name)) or
                    (self.architecture not in BIASED and BIAS.search(name)))

    def written(self):
        kept = [each for each in self.tensors if not self.dropped(each[0])]
        out, offset = b"GGUF" + struct.pack("<IQQ", 3, len(kept), len(self.keys)) + b"".join(self.keys), 0
        for name, shape, kind in kept:
            size = BYTES[kind]
            for each in shape:
                size *= each
            out += struct.pack("<Q", len(name)) + name.encode() + struct.pack(f"<I{len(shape)}Q", len(shape), *shape)
            out += struct.pack("<IQ", kind, offset)
            offset += (size + 31) // 32 * 32
        return out + bytes(-len(out) % 32)


def main(tree, where, out):
    with tempfile.TemporaryDirectory() as folder:
        build(tree, where, folder)
        quiet = {"GGML_NO_BACKTRACE": "1"}
        subprocess.run([f"{folder}/make", folder], check=True, stderr=subprocess.DEVNULL, env=quiet)
        for path in sorted(Path(folder).glob("*.gguf")):
            if path.stem in UNREAL:
                continue
            Path(out, path.name).write_bytes(Header(path.read_bytes()).written())


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
