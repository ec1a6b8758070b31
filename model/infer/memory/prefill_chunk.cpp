// Tokens of a prefill pass at most.
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/scenario/attention_replicas.hpp"

namespace headroom::model {

ChunkRule::ChunkRule(const Scenario& s) {
  const ServingPolicy& serving = s.runtime->serving;
  const CardReserve* sizes = s.chunk_tokens > 0 ? nullptr : card_reserve(s);
  const Size stated = s.chunk_tokens > 0 ? s.chunk_tokens
                      : sizes != nullptr ? sizes->chunk
                                         : stated_tokens(s);
  usual = stated > 0 ? stated : serving.prefill_chunk;
  // The engine's chunk is of all replicas together (SGLang 0.5.23 server_args.py).
  if (s.chunk_tokens == 0 && s.data_parallel > 1 && s.runtime->parallel.attention_replicas)
    usual = std::max<Size>(1, usual / sharing_replicas(s));
  const bool differ = s.chunk_tokens == 0 && sizes == nullptr && serving.long_prefill_chunk > 0;
  longer = differ ? serving.long_prefill_chunk : usual;
}

Size prefill_chunk(const Scenario& s) { return ChunkRule(s).of(s); }

}  // namespace headroom::model
