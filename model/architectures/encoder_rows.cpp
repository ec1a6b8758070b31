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
    {"DebertaV2Model", "deberta-v2", deberta_v2},
    {"DebertaV2ForMaskedLM", "deberta-v2", deberta_v2},
    {"DebertaV2ForSequenceClassification", "deberta-v2", deberta_v2},
    {"DebertaV2ForTokenClassification", "deberta-v2", deberta_v2},
    {"DebertaV2ForQuestionAnswering", "deberta-v2", deberta_v2},
};

}  // namespace

std::span<const Architecture> encoder_rows() { return rows; }

}  // namespace headroom::model::families
