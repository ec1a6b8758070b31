// The rows of encoders, one block per file of this folder.
#include "model/architectures/encoder_families.hpp"
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // bert.cpp
    {"BertModel", "bert", bert},
    {"BertForMaskedLM", "bert", bert},
    {"BertLMHeadModel", "bert", bert},
    {"BertForPreTraining", "bert", bert},
    {"BertForSequenceClassification", "bert", bert},
    {"BertForTokenClassification", "bert", bert},
    {"BertForQuestionAnswering", "bert", bert},
    {"BertForMultipleChoice", "bert", bert},
    {"ErnieModel", "ernie", bert},
    {"ErnieForMaskedLM", "ernie", bert},
    {"ErnieForCausalLM", "ernie", bert},
    {"ErnieForPreTraining", "ernie", bert},
    {"ErnieForSequenceClassification", "ernie", bert},
    {"ErnieForTokenClassification", "ernie", bert},
    {"ErnieForQuestionAnswering", "ernie", bert},
    {"RobertaModel", "roberta", roberta},
    {"RobertaForMaskedLM", "roberta", roberta},
    {"RobertaForCausalLM", "roberta", roberta},
    {"RobertaForSequenceClassification", "roberta", roberta},
    {"RobertaForTokenClassification", "roberta", roberta},
    {"RobertaForQuestionAnswering", "roberta", roberta},
    {"RobertaForMultipleChoice", "roberta", roberta},
    {"XLMRobertaModel", "xlm-roberta", roberta},
    {"XLMRobertaForMaskedLM", "xlm-roberta", roberta},
    {"XLMRobertaForCausalLM", "xlm-roberta", roberta},
    {"XLMRobertaForSequenceClassification", "xlm-roberta", roberta},
    {"XLMRobertaForTokenClassification", "xlm-roberta", roberta},
    {"XLMRobertaForQuestionAnswering", "xlm-roberta", roberta},
    {"CamembertModel", "camembert", roberta},
    {"CamembertForMaskedLM", "camembert", roberta},
    {"CamembertForCausalLM", "camembert", roberta},
    {"CamembertForSequenceClassification", "camembert", roberta},
    {"CamembertForTokenClassification", "camembert", roberta},
    {"CamembertForQuestionAnswering", "camembert", roberta},
    {"Data2VecTextModel", "data2vec-text", roberta},
    {"Data2VecTextForMaskedLM", "data2vec-text", roberta},
    // bert_relatives.cpp
    {"ElectraModel", "electra", electra},
    {"ElectraForMaskedLM", "electra", electra},
    {"ElectraForCausalLM", "electra", electra},
    {"ElectraForPreTraining", "electra", electra},
    {"ElectraForSequenceClassification", "electra", electra},
    {"ElectraForTokenClassification", "electra", electra},
    {"ElectraForQuestionAnswering", "electra", electra},
    {"AlbertModel", "albert", albert},
    {"AlbertForMaskedLM", "albert", albert},
    {"AlbertForSequenceClassification", "albert", albert},
    {"AlbertForTokenClassification", "albert", albert},
    {"AlbertForQuestionAnswering", "albert", albert},
    {"MPNetModel", "mpnet", mpnet},
    {"MPNetForMaskedLM", "mpnet", mpnet},
    {"MPNetForSequenceClassification", "mpnet", mpnet},
    {"MPNetForTokenClassification", "mpnet", mpnet},
    {"MPNetForQuestionAnswering", "mpnet", mpnet},
    {"NomicBertModel", "nomic_bert", nomic_bert},
    {"NomicBertForMaskedLM", "nomic_bert", nomic_bert},
    // distilbert.cpp
    {"DistilBertModel", "distilbert", distilbert},
    {"DistilBertForMaskedLM", "distilbert", distilbert},
    {"DistilBertForSequenceClassification", "distilbert", distilbert},
    {"DistilBertForTokenClassification", "distilbert", distilbert},
    {"DistilBertForQuestionAnswering", "distilbert", distilbert},
    // modernbert.cpp
    {"ModernBertModel", "modernbert", modernbert},
    {"ModernBertForMaskedLM", "modernbert", modernbert},
    {"ModernBertForSequenceClassification", "modernbert", modernbert},
    {"ModernBertForTokenClassification", "modernbert", modernbert},
    {"ModernBertForQuestionAnswering", "modernbert", modernbert},
    // deberta.cpp
    {"DebertaV2Model", "deberta-v2", deberta},
    {"DebertaV2ForMaskedLM", "deberta-v2", deberta},
    {"DebertaV2ForSequenceClassification", "deberta-v2", deberta},
    {"DebertaV2ForTokenClassification", "deberta-v2", deberta},
    {"DebertaV2ForQuestionAnswering", "deberta-v2", deberta},
    // bert_variants.cpp
    {"LayoutLMModel", "layoutlm", layoutlm},
    {"LayoutLMForMaskedLM", "layoutlm", layoutlm},
    {"MegatronBertModel", "megatron-bert", megatron_bert},
    {"MegatronBertForMaskedLM", "megatron-bert", megatron_bert},
    {"MegatronBertForCausalLM", "megatron-bert", megatron_bert},
    {"RobertaPreLayerNormModel", "roberta-prelayernorm", roberta_prelayernorm},
    {"RobertaPreLayerNormForMaskedLM", "roberta-prelayernorm", roberta_prelayernorm},
    {"RobertaPreLayerNormForCausalLM", "roberta-prelayernorm", roberta_prelayernorm},
    {"XLMRobertaXLModel", "xlm-roberta-xl", xlm_roberta_xl},
    {"XLMRobertaXLForMaskedLM", "xlm-roberta-xl", xlm_roberta_xl},
    {"XmodModel", "xmod", xmod},
    {"XmodForMaskedLM", "xmod", xmod},
    {"XmodForCausalLM", "xmod", xmod},
    {"MraForMaskedLM", "mra", mra_or_tapas},
    {"TapasForMaskedLM", "tapas", mra_or_tapas},
    {"BertGenerationEncoder", "bert-generation", bert_generation},
    {"BertGenerationDecoder", "bert-generation", bert_generation},
    {"LongformerModel", "longformer", longformer},
    {"LongformerForMaskedLM", "longformer", longformer},
    {"LongformerForSequenceClassification", "longformer", longformer},
    {"FNetModel", "fnet", fnet},
    {"FNetForMaskedLM", "fnet", fnet},
    // rotary_encoders.cpp
    {"JinaEmbeddingsV3Model", "jina_embeddings_v3", jina_embeddings_v3},
    {"JinaEmbeddingsV3ForMaskedLM", "jina_embeddings_v3", jina_embeddings_v3},
    {"GteModel", "gte", gte},
    {"GteForMaskedLM", "gte", gte},
    {"EuroBertModel", "eurobert", eurobert},
    {"EuroBertForMaskedLM", "eurobert", eurobert},
    // esmc.cpp
    {"EsmcForMaskedLM", "esmc", esmc},
    {"UltrabertForMaskedLM", "ultrabert", ultrabert},
    // mobilebert.cpp
    {"MobileBertForMaskedLM", "mobilebert", mobilebert},
    // xlnet.cpp
    {"XLNetLMHeadModel", "xlnet", xlnet},
};

}  // namespace

std::span<const Architecture> encoder_rows() { return rows; }

}  // namespace headroom::model::families
