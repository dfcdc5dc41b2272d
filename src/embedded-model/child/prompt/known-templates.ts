/** Templates of the families, written in their form for files that bring none: settings of `MODEL_TEMPLATE`. */
export const KNOWN_TEMPLATES = {
  chatml:
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
  gemma:
    "{{ bos_token }}{% for message in messages %}" +
    "{% if message['role'] == 'system' %}{{ raise_exception('there is no system role') }}{% endif %}" +
    "{{ '<start_of_turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' + message['content'] | trim + '<end_of_turn>\\n' }}" +
    "{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}",
  llama3:
    "{{ bos_token }}{% for message in messages %}" +
    "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' + message['content'] | trim + '<|eot_id|>' }}" +
    "{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{% endif %}",
  plain:
    "{% for message in messages %}{{ message['role'] | capitalize + ': ' + message['content'] + '\\n\\n' }}{% endfor %}" +
    "{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}",
} as const;

export type TemplateName = keyof typeof KNOWN_TEMPLATES;
