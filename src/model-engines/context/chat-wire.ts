/** The request body of `POST /chat/completions`, with the members that this adapter writes. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly stream: true;
  readonly stream_options: { readonly include_usage: true };
  readonly tools?: readonly ChatTool[];
  readonly tool_choice?: ChatToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly response_format?: ChatResponseFormat;
  readonly verbosity?: string;
  readonly reasoning_effort?: string;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly logprobs?: true;
  readonly top_logprobs?: number;
  readonly user?: string;
  readonly service_tier?: string;
  readonly prompt_cache_key?: string;
  /** For vLLM: the answer continues the last message. */
  readonly continue_final_message?: true;
  readonly add_generation_prompt?: false;
}

export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string | readonly ChatPart[] }
  | {
      readonly role: "assistant";
      readonly content: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly ChatToolCall[];
      /** The answer begins with this message, in the terms of some hosted servers. */
      readonly prefix?: true;
      /** The same, in the terms of others. */
      readonly partial?: true;
    }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string };

export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image_url";
      readonly image_url: { readonly url: string; readonly detail?: "low" | "high" | "auto" };
    }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: "file"; readonly file: { readonly filename: string; readonly file_data: string } };

export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

export interface ChatTool {
  readonly type: "function";
  readonly function: {
    readonly name: string;
    readonly description?: string;
    readonly parameters: unknown;
    readonly strict?: true;
  };
}

export type ChatToolChoice =
  | "none"
  | "auto"
  | "required"
  | { readonly type: "function"; readonly function: { readonly name: string } };

export type ChatResponseFormat =
  /** `schema` is a member of llama-cpp-python. */
  | { readonly type: "json_object"; readonly schema?: unknown }
  | {
      readonly type: "json_schema";
      readonly json_schema: {
        readonly name: string;
        readonly schema: unknown;
        readonly strict?: boolean;
        readonly description?: string;
      };
    };
