// What a config class says where a section leaves keys out: configs inside configs are saved
// without the keys that equal their class's defaults. Only keys that bear on shapes. Source:
// transformers 5.23, configuration_<type>.py.
#include "model/architectures/class_defaults.hpp"

#include <algorithm>
#include <boost/json.hpp>

namespace headroom::model::families {

namespace {

struct Row {
  std::string_view model_type, json;
};
constexpr Row rows[] = {
    {"llama", R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,)"
              R"("num_hidden_layers":32,"num_attention_heads":32,"hidden_act":"silu",)"
              R"("attention_bias":false,"mlp_bias":false,"tie_word_embeddings":false})"},
    {"mistral", R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,)"
                R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
                R"("hidden_act":"silu","sliding_window":4096,"tie_word_embeddings":false})"},
    {"ministral3", R"({"vocab_size":131072,"hidden_size":4096,"intermediate_size":14336,)"
                   R"("num_hidden_layers":34,"num_attention_heads":32,"num_key_value_heads":8,)"
                   R"("head_dim":128,"hidden_act":"silu","tie_word_embeddings":false})"},
    {"qwen2", R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,)"
              R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
              R"("hidden_act":"silu","use_sliding_window":false,"sliding_window":4096,)"
              R"("tie_word_embeddings":false})"},
    {"qwen3",
     R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,)"
     R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":false,"use_sliding_window":false,)"
     R"("sliding_window":4096,"tie_word_embeddings":false})"},
    {"qwen2_moe",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":5632,)"
     R"("num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,)"
     R"("hidden_act":"silu","use_sliding_window":false,"sliding_window":4096,)"
     R"("decoder_sparse_step":1,"moe_intermediate_size":1408,)"
     R"("shared_expert_intermediate_size":5632,"num_experts_per_tok":4,"num_experts":60,)"
     R"("qkv_bias":true,"tie_word_embeddings":false})"},
    {"qwen3_moe", R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":6144,)"
                  R"("num_hidden_layers":24,"num_attention_heads":32,"num_key_value_heads":4,)"
                  R"("hidden_act":"silu","attention_bias":false,"use_sliding_window":false,)"
                  R"("sliding_window":4096,"decoder_sparse_step":1,"moe_intermediate_size":768,)"
                  R"("num_experts_per_tok":8,"num_experts":128,"tie_word_embeddings":false})"},
    {"qwen3_next",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":5632,)"
     R"("num_hidden_layers":48,"num_attention_heads":16,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","attention_bias":false,"head_dim":256,"linear_conv_kernel_dim":4,)"
     R"("linear_key_head_dim":128,"linear_value_head_dim":128,"linear_num_key_heads":16,)"
     R"("linear_num_value_heads":32,"decoder_sparse_step":1,"moe_intermediate_size":512,)"
     R"("shared_expert_intermediate_size":512,"num_experts_per_tok":10,"num_experts":512,)"
     R"("tie_word_embeddings":false})"},
    {"gemma", R"({"vocab_size":256000,"hidden_size":3072,"intermediate_size":24576,)"
              R"("num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,)"
              R"("head_dim":256,"hidden_act":"gelu_pytorch_tanh","attention_bias":false,)"
              R"("tie_word_embeddings":true})"},
    {"gemma2",
     R"({"vocab_size":256000,"hidden_size":2304,"intermediate_size":9216,)"
     R"("num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,)"
     R"("hidden_activation":"gelu_pytorch_tanh","attention_bias":false,"sliding_window":4096,)"
     R"("tie_word_embeddings":true})"},
    {"gemma3_text",
     R"({"vocab_size":262208,"hidden_size":2304,"intermediate_size":9216,)"
     R"("num_hidden_layers":26,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,)"
     R"("hidden_activation":"gelu_pytorch_tanh","max_position_embeddings":131072,)"
     R"("attention_bias":false,"sliding_window":4096,"use_bidirectional_attention":false,)"
     R"("tie_word_embeddings":true})"},
    {"gemma4_text",
     R"({"vocab_size":262144,"hidden_size":2304,"intermediate_size":9216,)"
     R"("num_hidden_layers":30,"num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,)"
     R"("hidden_activation":"gelu_pytorch_tanh","max_position_embeddings":131072,)"
     R"("attention_bias":false,"sliding_window":512,"vocab_size_per_layer_input":262144,)"
     R"("hidden_size_per_layer_input":256,"attention_k_eq_v":false,"num_kv_shared_layers":0,)"
     R"("enable_moe_block":false,"use_double_wide_mlp":false,"tie_word_embeddings":true})"},
    {"gemma3n_text",
     R"({"vocab_size":262400,"hidden_size":2048,"intermediate_size":16384,)"
     R"("num_hidden_layers":35,"num_attention_heads":8,"num_key_value_heads":2,"head_dim":256,)"
     R"("hidden_activation":"gelu_pytorch_tanh","max_position_embeddings":32768,)"
     R"("attention_bias":false,"sliding_window":512,"vocab_size_per_layer_input":262144,)"
     R"("hidden_size_per_layer_input":256,"altup_active_idx":0,"altup_coef_clip":120.0,)"
     R"("altup_correct_scale":true,"altup_num_inputs":4,"num_kv_shared_layers":15,)"
     R"("laurel_rank":64,"tie_word_embeddings":true})"},
    {"mixtral", R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,)"
                R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
                R"("hidden_act":"silu","num_experts_per_tok":2,"num_local_experts":8,)"
                R"("tie_word_embeddings":false})"},
    {"phi", R"({"vocab_size":51200,"hidden_size":2048,"intermediate_size":8192,)"
            R"("num_hidden_layers":24,"num_attention_heads":32,"resid_pdrop":0.0,"embd_pdrop":0.0,)"
            R"("hidden_act":"gelu_new","qk_layernorm":false,"tie_word_embeddings":false})"},
    {"phi3",
     R"({"vocab_size":32064,"hidden_size":3072,"intermediate_size":8192,)"
     R"("num_hidden_layers":32,"num_attention_heads":32,"resid_pdrop":0.0,"embd_pdrop":0.0,)"
     R"("hidden_act":"silu","original_max_position_embeddings":4096,)"
     R"("tie_word_embeddings":false})"},
    {"cohere", R"({"vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,)"
               R"("num_hidden_layers":40,"num_attention_heads":64,"hidden_act":"silu",)"
               R"("attention_bias":false,"use_qk_norm":false,"tie_word_embeddings":true})"},
    {"cohere2", R"({"vocab_size":256000,"hidden_size":8192,"intermediate_size":22528,)"
                R"("num_hidden_layers":40,"num_attention_heads":64,"hidden_act":"silu",)"
                R"("attention_bias":false,"sliding_window":4096,"tie_word_embeddings":true})"},
    {"opt",
     R"({"vocab_size":50272,"hidden_size":768,"num_hidden_layers":12,"ffn_dim":3072,)"
     R"("max_position_embeddings":2048,"do_layer_norm_before":true,)"
     R"("_remove_final_layer_norm":false,"num_attention_heads":12,)"
     R"("activation_function":"relu","enable_bias":true,"layer_norm_elementwise_affine":true,)"
     R"("tie_word_embeddings":true})"},
    {"gpt2",
     R"({"vocab_size":50257,"n_positions":1024,"n_embd":768,"n_layer":12,"n_head":12,)"
     R"("activation_function":"gelu_new","resid_pdrop":0.1,"embd_pdrop":0.1,"attn_pdrop":0.1,)"
     R"("scale_attn_weights":true,"scale_attn_by_inverse_layer_idx":false,)"
     R"("reorder_and_upcast_attn":false,"add_cross_attention":false,)"
     R"("tie_word_embeddings":true})"},
    {"granite", R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,)"
                R"("num_hidden_layers":32,"num_attention_heads":32,"hidden_act":"silu",)"
                R"("attention_bias":false,"mlp_bias":false,"tie_word_embeddings":false})"},
    {"glm",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,)"
     R"("num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":true,"tie_word_embeddings":false})"},
    {"glm4",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,)"
     R"("num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,)"
     R"("head_dim":128,"hidden_act":"silu","attention_bias":true,"tie_word_embeddings":false})"},
    {"glm4_moe",
     R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":10944,)"
     R"("num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","attention_bias":false,"moe_intermediate_size":1408,)"
     R"("num_experts_per_tok":8,"n_shared_experts":1,"n_routed_experts":128,"n_group":1,)"
     R"("topk_group":1,"first_k_dense_replace":1,"use_qk_norm":false,"num_mtp_layers":1,)"
     R"("tie_word_embeddings":false})"},
    {"olmo2", R"({"vocab_size":50304,"hidden_size":4096,"intermediate_size":11008,)"
              R"("num_hidden_layers":32,"num_attention_heads":32,"hidden_act":"silu",)"
              R"("attention_bias":false,"tie_word_embeddings":false})"},
    {"stablelm", R"({"vocab_size":50304,"intermediate_size":6912,"hidden_size":2560,)"
                 R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
                 R"("hidden_act":"silu","use_qkv_bias":false,"qk_layernorm":false,)"
                 R"("use_parallel_residual":false,"tie_word_embeddings":false})"},
    {"falcon", R"({"vocab_size":65024,"hidden_size":4544,"num_hidden_layers":32,)"
               R"("num_attention_heads":71,"alibi":false,"new_decoder_architecture":false,)"
               R"("multi_query":true,"parallel_attn":true,"bias":false,"activation":"gelu",)"
               R"("tie_word_embeddings":true})"},
    {"lfm2", R"({"vocab_size":65536,"hidden_size":2560,"intermediate_size":12288,)"
             R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,)"
             R"("conv_bias":false,"conv_L_cache":3,"block_multiple_of":256,)"
             R"("block_auto_adjust_ff_dim":true,"tie_word_embeddings":true})"},
    {"smollm3", R"({"vocab_size":128256,"hidden_size":2048,"intermediate_size":11008,)"
                R"("num_hidden_layers":36,"num_attention_heads":16,"num_key_value_heads":4,)"
                R"("hidden_act":"silu","use_sliding_window":false,"no_rope_layer_interval":4,)"
                R"("attention_bias":false,"mlp_bias":false,"tie_word_embeddings":true})"},
    {"ernie4_5",
     R"({"vocab_size":103424,"hidden_size":1024,"intermediate_size":3072,)"
     R"("num_hidden_layers":18,"num_attention_heads":16,"num_key_value_heads":2,)"
     R"("hidden_act":"silu","use_bias":false,"head_dim":128,"tie_word_embeddings":true})"},
    {"exaone4", R"({"vocab_size":102400,"hidden_size":4096,"intermediate_size":16384,)"
                R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
                R"("hidden_act":"silu","sliding_window":4096,"sliding_window_pattern":4,)"
                R"("tie_word_embeddings":false})"},
    {"deepseek_v2",
     R"({"vocab_size":102400,"hidden_size":4096,"intermediate_size":11008,)"
     R"("num_hidden_layers":32,"num_attention_heads":32,"hidden_act":"silu",)"
     R"("attention_bias":false,"mlp_bias":false,"first_k_dense_replace":0,"kv_lora_rank":512,)"
     R"("q_lora_rank":1536,"n_routed_experts":64,"n_shared_experts":2,"qk_nope_head_dim":128,)"
     R"("qk_rope_head_dim":64,"topk_method":"greedy","v_head_dim":128,)"
     R"("moe_intermediate_size":1407,"tie_word_embeddings":false})"},
    {"deepseek_v3",
     R"({"vocab_size":129280,"hidden_size":7168,"intermediate_size":18432,)"
     R"("moe_intermediate_size":2048,"num_hidden_layers":61,"num_attention_heads":128,)"
     R"("num_key_value_heads":128,"n_shared_experts":1,"n_routed_experts":256,)"
     R"("kv_lora_rank":512,"q_lora_rank":1536,"qk_rope_head_dim":64,"v_head_dim":128,)"
     R"("qk_nope_head_dim":128,"n_group":8,"topk_group":4,"num_experts_per_tok":8,)"
     R"("first_k_dense_replace":3,"hidden_act":"silu","rope_interleave":true,)"
     R"("attention_bias":false,"num_mtp_layers":1,"tie_word_embeddings":false})"},
    {"t5",
     R"({"vocab_size":32128,"d_model":512,"d_kv":64,"d_ff":2048,"num_layers":6,"num_heads":8,)"
     R"("relative_attention_num_buckets":32,"relative_attention_max_distance":128,)"
     R"("feed_forward_proj":"relu","is_decoder":false})"},
    {"bert",
     R"({"vocab_size":30522,"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,)"
     R"("intermediate_size":3072,"hidden_act":"gelu","max_position_embeddings":512,)"
     R"("type_vocab_size":2,"is_decoder":false,"add_cross_attention":false,)"
     R"("tie_word_embeddings":true})"},
    {"bart", R"({"vocab_size":50265,"max_position_embeddings":1024,"encoder_layers":12,)"
             R"("encoder_ffn_dim":4096,"encoder_attention_heads":16,"decoder_layers":12,)"
             R"("decoder_ffn_dim":4096,"decoder_attention_heads":16,"activation_function":"gelu",)"
             R"("d_model":1024,"is_decoder":false,"tie_word_embeddings":true})"},
    {"qwen2_vl_text",
     R"({"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,)"
     R"("num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"use_sliding_window":false,)"
     R"("sliding_window":4096})"},
    {"qwen2_5_vl_text",
     R"({"vocab_size":152064,"hidden_size":8192,"intermediate_size":29568,)"
     R"("num_hidden_layers":80,"num_attention_heads":64,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"use_sliding_window":false,)"
     R"("sliding_window":4096})"},
    {"qwen3_vl_text", R"({"vocab_size":151936,"hidden_size":4096,"intermediate_size":22016,)"
                      R"("num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":32,)"
                      R"("head_dim":128,"hidden_act":"silu","max_position_embeddings":128000,)"
                      R"("attention_bias":false})"},
    {"qwen3_vl_moe_text",
     R"({"vocab_size":151936,"hidden_size":2048,"intermediate_size":5632,)"
     R"("num_hidden_layers":24,"num_attention_heads":16,"num_key_value_heads":16,)"
     R"("hidden_act":"silu","max_position_embeddings":128000,"attention_bias":false,)"
     R"("decoder_sparse_step":1,"moe_intermediate_size":1408,"num_experts_per_tok":4,)"
     R"("num_experts":60,"tie_word_embeddings":true})"},
    {"qwen3_5_text",
     R"({"vocab_size":248320,"hidden_size":4096,"intermediate_size":12288,)"
     R"("num_hidden_layers":32,"num_attention_heads":16,"num_key_value_heads":4,)"
     R"("hidden_act":"silu","max_position_embeddings":32768,"attention_bias":false,)"
     R"("head_dim":256,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,)"
     R"("linear_value_head_dim":128,"linear_num_key_heads":16,"linear_num_value_heads":32,)"
     R"("tie_word_embeddings":false})"},
    {"qwen3_5_moe_text",
     R"({"vocab_size":248320,"hidden_size":2048,"num_hidden_layers":40,)"
     R"("num_attention_heads":16,"num_key_value_heads":2,"hidden_act":"silu",)"
     R"("max_position_embeddings":32768,"attention_bias":false,"head_dim":256,)"
     R"("linear_conv_kernel_dim":4,"linear_key_head_dim":128,"linear_value_head_dim":128,)"
     R"("linear_num_key_heads":16,"linear_num_value_heads":32,"moe_intermediate_size":512,)"
     R"("shared_expert_intermediate_size":512,"num_experts_per_tok":8,"num_experts":256,)"
     R"("tie_word_embeddings":false})"},
    {"mllama_text_model",
     R"({"vocab_size":128256,"hidden_size":4096,"hidden_act":"silu","num_hidden_layers":40,)"
     R"("num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,)"
     R"("max_position_embeddings":131072,"tie_word_embeddings":false})"},
    {"llama4_text",
     R"({"vocab_size":202048,"hidden_size":5120,"intermediate_size":8192,)"
     R"("intermediate_size_mlp":16384,"num_hidden_layers":48,"num_attention_heads":40,)"
     R"("num_key_value_heads":8,"head_dim":128,"hidden_act":"silu",)"
     R"("max_position_embeddings":131072,"num_experts_per_tok":1,"num_local_experts":16,)"
     R"("interleave_moe_layer_step":1,"use_qk_norm":true,"no_rope_layer_interval":4,)"
     R"("attention_chunk_size":8192,"attention_bias":false,"tie_word_embeddings":false})"},
    {"glm4v_text", R"({"vocab_size":151552,"hidden_size":4096,"intermediate_size":13696,)"
                   R"("num_hidden_layers":40,"num_attention_heads":32,"num_key_value_heads":2,)"
                   R"("hidden_act":"silu","max_position_embeddings":32768})"},
    {"glm4v_moe_text",
     R"({"vocab_size":151424,"hidden_size":4096,"intermediate_size":10944,)"
     R"("num_hidden_layers":46,"num_attention_heads":96,"num_key_value_heads":8,)"
     R"("hidden_act":"silu","max_position_embeddings":65536,"attention_bias":true,)"
     R"("moe_intermediate_size":1408,"num_experts_per_tok":8,"n_shared_experts":1,)"
     R"("n_routed_experts":128,"n_group":1,"topk_group":1,"first_k_dense_replace":1,)"
     R"("tie_word_embeddings":false})"},
    {"glm_ocr_text", R"({"vocab_size":59392,"hidden_size":1024,"intermediate_size":4096,)"
                     R"("num_hidden_layers":16,"num_attention_heads":16,"num_key_value_heads":8,)"
                     R"("hidden_act":"silu","max_position_embeddings":131072})"},
    {"clip_text_model",
     R"({"vocab_size":49408,"hidden_size":512,"intermediate_size":2048,"projection_dim":512,)"
     R"("num_hidden_layers":12,"num_attention_heads":8,"max_position_embeddings":77,)"
     R"("hidden_act":"quick_gelu"})"},
    {"clip_vision_model",
     R"({"hidden_size":768,"intermediate_size":3072,"projection_dim":512,)"
     R"("num_hidden_layers":12,"num_attention_heads":12,"num_channels":3,"image_size":224,)"
     R"("patch_size":32,"hidden_act":"quick_gelu"})"},
    {"siglip_text_model",
     R"({"vocab_size":32000,"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,)"
     R"("num_attention_heads":12,"max_position_embeddings":64,)"
     R"("hidden_act":"gelu_pytorch_tanh"})"},
    {"siglip_vision_model",
     R"({"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,)"
     R"("num_attention_heads":12,"num_channels":3,"image_size":224,"patch_size":16,)"
     R"("hidden_act":"gelu_pytorch_tanh","vision_use_head":true})"},
    {"siglip2_text_model",
     R"({"vocab_size":32000,"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,)"
     R"("num_attention_heads":12,"max_position_embeddings":64,)"
     R"("hidden_act":"gelu_pytorch_tanh"})"},
    {"siglip2_vision_model",
     R"({"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":12,)"
     R"("num_attention_heads":12,"num_channels":3,"patch_size":16,)"
     R"("hidden_act":"gelu_pytorch_tanh","vision_use_head":true,"num_patches":256})"},
    {"pixtral", R"({"hidden_size":1024,"intermediate_size":4096,"num_hidden_layers":24,)"
                R"("num_attention_heads":16,"num_channels":3,"image_size":1024,"patch_size":16,)"
                R"("hidden_act":"gelu"})"},
    {"internvl_vision",
     R"({"hidden_size":1024,"num_hidden_layers":24,"num_attention_heads":16,)"
     R"("attention_bias":false,"use_qk_norm":false,"intermediate_size":4096,)"
     R"("hidden_act":"gelu","norm_type":"layer_norm","image_size":[448,448],"patch_size":[14,)"
     R"(14],"num_channels":3,"use_mask_token":false,"use_absolute_position_embeddings":true,)"
     R"("layer_scale_init_value":0.1,"use_mean_pooling":true})"},
    {"idefics3_vision",
     R"({"hidden_size":1152,"intermediate_size":3072,"num_hidden_layers":12,)"
     R"("num_attention_heads":16,"num_channels":3,"image_size":224,"patch_size":32,)"
     R"("hidden_act":"gelu_pytorch_tanh"})"},
    {"smolvlm_vision",
     R"({"hidden_size":1152,"intermediate_size":3072,"num_hidden_layers":12,)"
     R"("num_attention_heads":16,"num_channels":3,"image_size":224,"patch_size":32,)"
     R"("hidden_act":"gelu_pytorch_tanh"})"},
    {"mllama_vision_model",
     R"({"hidden_size":1280,"hidden_act":"gelu","num_hidden_layers":32,"num_global_layers":8,)"
     R"("attention_heads":16,"num_channels":3,"intermediate_size":5120,"image_size":448,)"
     R"("patch_size":14,"max_num_tiles":4})"},
    {"llama4_vision_model",
     R"({"hidden_size":768,"hidden_act":"gelu","num_hidden_layers":34,)"
     R"("num_attention_heads":16,"num_channels":3,"intermediate_size":5632,"image_size":448,)"
     R"("patch_size":14,"vision_feature_select_strategy":"default","pixel_shuffle_ratio":0.5,)"
     R"("projector_input_dim":4096,"multi_modal_projector_bias":false})"},
    {"gemma4_vision", R"({"hidden_size":768,"intermediate_size":3072,"num_hidden_layers":16,)"
                      R"("num_attention_heads":12,"num_key_value_heads":12,"head_dim":64,)"
                      R"("hidden_activation":"gelu_pytorch_tanh","attention_bias":false,)"
                      R"("pooling_kernel_size":3,"patch_size":16,"position_embedding_size":10240,)"
                      R"("use_clipped_linears":false,"standardize":false})"},
    {"gemma4_audio",
     R"({"hidden_size":1024,"num_hidden_layers":12,"num_attention_heads":8,)"
     R"("hidden_act":"silu","subsampling_conv_channels":[128,32],"conv_kernel_size":5,)"
     R"("residual_weight":0.5,"attention_chunk_size":12,"attention_context_left":13,)"
     R"("attention_context_right":0,"use_clipped_linears":true})"},
    {"gemma3n_vision",
     R"({"architecture":"mobilenetv5_300m_enc","do_pooling":false,"hidden_size":2048,)"
     R"("vocab_size":128,"vocab_offset":262144})"},
    {"qwen3_vl_vision",
     R"({"depth":27,"hidden_size":1152,"hidden_act":"gelu_pytorch_tanh",)"
     R"("intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,)"
     R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,)"
     R"("num_position_embeddings":2304})"},
    {"qwen3_vl_moe_vision",
     R"({"depth":27,"hidden_size":1152,"hidden_act":"gelu_pytorch_tanh",)"
     R"("intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,)"
     R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,)"
     R"("num_position_embeddings":2304})"},
    {"qwen3_5_vision", R"({"depth":27,"hidden_size":1152,"hidden_act":"gelu_pytorch_tanh",)"
                       R"("intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,)"
                       R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,)"
                       R"("num_position_embeddings":2304})"},
    {"qwen3_5_moe_vision",
     R"({"depth":27,"hidden_size":1152,"hidden_act":"gelu_pytorch_tanh",)"
     R"("intermediate_size":4304,"num_heads":16,"in_channels":3,"patch_size":16,)"
     R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":3584,)"
     R"("num_position_embeddings":2304})"},
    {"glm4v_vision", R"({"depth":24,"hidden_size":1536,"hidden_act":"silu","attention_bias":false,)"
                     R"("num_heads":12,"in_channels":3,"image_size":336,"patch_size":14,)"
                     R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":4096,)"
                     R"("intermediate_size":13696})"},
    {"glm4v_moe_vision",
     R"({"depth":24,"hidden_size":1536,"hidden_act":"silu","attention_bias":false,)"
     R"("num_heads":12,"in_channels":3,"image_size":336,"patch_size":14,)"
     R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":4096,)"
     R"("intermediate_size":13696})"},
    {"glm_ocr_vision",
     R"({"depth":24,"hidden_size":1024,"hidden_act":"silu","attention_bias":true,)"
     R"("num_heads":16,"in_channels":3,"image_size":336,"patch_size":14,)"
     R"("spatial_merge_size":2,"temporal_patch_size":2,"out_hidden_size":1536,)"
     R"("intermediate_size":4096})"},
    {"blip_2_vision_model",
     R"({"hidden_size":1408,"intermediate_size":6144,"num_hidden_layers":39,)"
     R"("num_attention_heads":16,"image_size":224,"patch_size":14,"hidden_act":"gelu",)"
     R"("qkv_bias":true})"},
    {"blip_2_qformer",
     R"({"vocab_size":30522,"hidden_size":768,"num_hidden_layers":12,"num_attention_heads":12,)"
     R"("intermediate_size":3072,"hidden_act":"gelu","cross_attention_frequency":2,)"
     R"("encoder_hidden_size":1408,"use_qformer_text_input":false})"},
    {"aimv2_vision_model",
     R"({"hidden_size":1024,"intermediate_size":2816,"num_hidden_layers":24,)"
     R"("num_attention_heads":8,"num_channels":3,"image_size":224,"patch_size":14,)"
     R"("hidden_act":"silu","qkv_bias":false,"mlp_bias":false,"use_head":true,)"
     R"("is_native":false})"},
    {"ovis2_vision",
     R"({"hidden_size":1024,"intermediate_size":2816,"num_hidden_layers":24,)"
     R"("num_attention_heads":8,"num_channels":3,"image_size":224,"patch_size":14,)"
     R"("qkv_bias":false,"mlp_bias":false,"hidden_act":"silu","vocab_size":16384,)"
     R"("hidden_stride":1,"num_visual_indicator_tokens":5,"tokenize_function":"softmax"})"},
    {"qwen2_vl_vision",
     R"({"depth":32,"embed_dim":1280,"hidden_size":3584,"hidden_act":"quick_gelu",)"
     R"("mlp_ratio":4,"num_heads":16,"in_channels":3,"patch_size":14,"spatial_merge_size":2,)"
     R"("temporal_patch_size":2})"},
    {"qwen2_5_vl_vision",
     R"({"depth":32,"hidden_size":3584,"hidden_act":"silu","intermediate_size":3420,)"
     R"("num_heads":16,"in_channels":3,"patch_size":14,"spatial_merge_size":2,)"
     R"("temporal_patch_size":2,"tokens_per_second":4,"window_size":112,)"
     R"("out_hidden_size":3584,"fullatt_block_indexes":[7,15,23,31]})"},
};

}  // namespace

Config with_class_defaults(const Config& c, std::string_view model_type) {
  const auto* row = std::find_if(std::begin(rows), std::end(rows),
                                 [&](const Row& r) { return r.model_type == model_type; });
  if (row == std::end(rows)) return c;
  return c.with_defaults(boost::json::parse(row->json).as_object());
}

}  // namespace headroom::model::families
