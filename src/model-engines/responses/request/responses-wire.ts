import type { MessagePhase } from "@antiphon/contracts/responses-api/types.ts";

/** The request body of `POST /responses`, with the members that this adapter writes. */
export interface ResponsesRequest {
  readonly model: string;
  readonly input: readonly WireItem[];
  readonly stream: true;
  readonly store: false;
  readonly include?: readonly string[];
  readonly instructions?: string;
  readonly tools?: readonly WireTool[];
  readonly tool_choice?: WireToolChoice;
  readonly parallel_tool_calls?: boolean;
  readonly text?: { readonly format?: object; readonly verbosity?: string };
  readonly reasoning?: { readonly effort?: string; readonly summary?: string };
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  readonly top_p?: number;
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly top_logprobs?: number;
  readonly user?: string;
  readonly service_tier?: string;
  readonly prompt_cache_key?: string;
}

/** Items have no ids, because the server stores none. Reasoning keeps the id that its encryption may be bound to. */
export type WireItem =
  | {
      readonly role: "user" | "system" | "developer" | "assistant";
      readonly content: string | readonly WirePart[];
      readonly phase?: MessagePhase;
    }
  | {
      readonly type: "reasoning";
      readonly id: string;
      readonly summary: readonly object[];
      readonly content?: readonly object[];
      readonly encrypted_content?: string;
    }
  | {
      readonly type: "function_call";
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    }
  | {
      readonly type: "custom_tool_call";
      readonly call_id: string;
      readonly name: string;
      readonly input: string;
    }
  | {
      readonly type: "function_call_output" | "custom_tool_call_output";
      readonly call_id: string;
      readonly output: string | readonly WirePart[];
    };

export type WirePart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "input_image"; readonly image_url: string; readonly detail: string }
  | { readonly type: "input_file"; readonly filename: string; readonly file_data: string }
  | { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: string } }
  | { readonly type: "output_text"; readonly text: string; readonly annotations: readonly [] }
  | { readonly type: "refusal"; readonly refusal: string };

export type WireTool =
  | {
      readonly type: "function";
      readonly name: string;
      readonly description?: string;
      readonly parameters: unknown;
      /** Always sent: the reference's default is true. */
      readonly strict: boolean;
    }
  | { readonly type: "custom"; readonly name: string; readonly description?: string; readonly format?: object };

export type WireToolChoice =
  | "none"
  | "auto"
  | "required"
  | { readonly type: "function" | "custom"; readonly name: string }
  | {
      readonly type: "allowed_tools";
      readonly mode: "auto" | "required";
      readonly tools: readonly { readonly type: "function" | "custom"; readonly name: string }[];
    };
