// The functions behind the rows of encoders and encoder-decoders: one per family, in one file each.
//
// A family has several classes (with and without its heads): the function reads the one that is
// meant from Config::class_name(). Names, shapes and order are those of transformers 5.23.
#pragma once

#include "model/config.hpp"
#include "model/part.hpp"

namespace headroom::model::families {

// bert.cpp, bert_relatives.cpp
Part bert(const Config& c);
Part roberta(const Config& c);
Part electra(const Config& c);
Part albert(const Config& c);
Part mpnet(const Config& c);
Part nomic_bert(const Config& c);

// bert_variants.cpp
Part layoutlm(const Config& c);
Part megatron_bert(const Config& c);
Part roberta_prelayernorm(const Config& c);
Part roc_bert(const Config& c);
Part xlm_roberta_xl(const Config& c);
Part xmod(const Config& c);
Part mra_or_tapas(const Config& c);
Part bert_generation(const Config& c);
Part longformer(const Config& c);
Part fnet(const Config& c);

// rotary_encoders.cpp
Part jina_embeddings_v3(const Config& c);
Part gte(const Config& c);
Part eurobert(const Config& c);

// esmc.cpp
Part esmc(const Config& c);
Part ultrabert(const Config& c);
// esm.cpp
Part esm(const Config& c);
// efficient_encoders.cpp
Part big_bird(const Config& c);
Part nystromformer_or_yoso(const Config& c);
Part squeezebert(const Config& c);
Part convbert(const Config& c);
// luke.cpp
Part luke(const Config& c);
// mobilebert.cpp
Part mobilebert(const Config& c);
// xlm.cpp
Part xlm(const Config& c);
// xlnet.cpp
Part xlnet(const Config& c);
// fsmt.cpp
Part fsmt(const Config& c);
// prophetnet.cpp
Part prophetnet(const Config& c);
// distilbert.cpp
Part distilbert(const Config& c);
// modernbert.cpp
Part modernbert(const Config& c);
Part modernbert_decoder(const Config& c);
// roformer.cpp
Part roformer(const Config& c);
Part rembert(const Config& c);
// long_seq2seq.cpp
Part long_seq2seq(const Config& c);
// nllb_moe.cpp
Part nllb_moe(const Config& c);
// switch_transformers.cpp
Part switch_transformers(const Config& c);
// deberta.cpp
Part deberta(const Config& c);

// t5.cpp
Part t5(const Config& c);
Part udop(const Config& c);
// bart.cpp
Part bart(const Config& c);
// t5gemma2.cpp
Part t5gemma2(const Config& c);
// t5gemma.cpp
Part t5gemma(const Config& c);
// encoder_decoder.cpp
Part encoder_decoder(const Config& c);
// whisper.cpp
Part whisper(const Config& c);
// parakeet.cpp
Part parakeet_ctc(const Config& c);
Part canary(const Config& c);
Part cohere_asr(const Config& c);
// speech_seq2seq.cpp
Part speech_to_text(const Config& c);
Part moonshine(const Config& c);
// trocr.cpp
Part trocr(const Config& c);
Part musicgen_decoder(const Config& c);

}  // namespace headroom::model::families
