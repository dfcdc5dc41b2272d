import type { ServerResponse } from "node:http";
import {
  lastChunk,
  type ReceivedCall,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { usageChunk } from "../responses/behind-upstream.ts";

interface Message {
  readonly role: string;
  readonly content: string | null | readonly { readonly type: string; readonly text?: string }[];
}

interface Call {
  readonly messages?: readonly Message[];
  readonly content?: string;
  readonly model?: string;
}

/** The largest prompt of a server, and its reply to a larger one. */
interface Window {
  readonly window: number;
  readonly tooLong: (size: number, window: number) => object;
}

const NO_WINDOW: Window = { window: Infinity, tooLong: () => ({}) };

type Answer = (response: ServerResponse, call: ReceivedCall) => void;

/** The prompt as a chat template writes it. */
export function templated(messages: readonly Message[]): string {
  return `${messages.map(({ role, content }) => `<|${role}|> ${textOf(content)} <|end|>`).join(" ")} <|assistant|>`;
}

export function tokensOf(text: string): readonly string[] {
  return text.split(" ");
}

/** Like llama.cpp's server: a slot of `window` tokens; a template and a tokenizer for texts beside the API. */
export function llamaCpp(window: number, answer = "Fine."): Answer {
  return (response, { path, body }) => {
    const call = read(body);
    const [name] = path.split("?");
    if (name === "/v1/chat/completions") return chat(response, call, answer, { window, tooLong: LLAMA_TOO_LONG });
    if (name === "/apply-template") return json(response, 200, { prompt: templated(call.messages ?? []) });
    if (name === "/tokenize")
      return json(response, 200, {
        tokens: call.content === undefined ? [] : tokensOf(call.content).map((_, id) => id),
      });
    if (name === "/props")
      return json(response, 200, { default_generation_settings: { id: 0, n_ctx: window, params: {} }, total_slots: 1 });
    if (name === "/v1/models")
      return json(response, 200, {
        object: "list",
        data: [{ id: "m", object: "model", created: 1, owned_by: "llamacpp", meta: { n_ctx_train: 131_072 } }],
      });
    return json(response, 404, { error: { code: 404, message: "File Not Found", type: "not_found_error" } });
  };
}

/** Like vLLM: `/tokenize` applies the template itself, and the list of models includes the window. */
export function vllm(window: number, answer = "Fine."): Answer {
  return (response, { path, body }) => {
    const call = read(body);
    if (path === "/v1/chat/completions") return chat(response, call, answer, { window, tooLong: VLLM_TOO_LONG });
    if (path === "/tokenize") {
      if (call.messages === undefined)
        return json(response, 400, { error: { message: "Field required", type: "BadRequestError", code: 400 } });
      const tokens = tokensOf(templated(call.messages)).map((_, id) => id);
      return json(response, 200, { count: tokens.length, max_model_len: window, tokens, token_strs: null });
    }
    if (path === "/v1/models")
      return json(response, 200, {
        object: "list",
        data: [{ id: "m", object: "model", created: 1, owned_by: "vllm", root: "m", max_model_len: window }],
      });
    if (path === "/v1/responses/input_tokens") return json(response, 405, { detail: "Method Not Allowed" });
    return json(response, 404, { detail: "Not Found" });
  };
}

/** Like Ollama: no tokenizer; reports the window of loaded models, and cuts longer prompts silently. */
export function ollama(window: number, answer = "Fine."): Answer {
  return (response, { path, body }) => {
    if (path === "/v1/chat/completions") return chat(response, read(body), answer, NO_WINDOW);
    if (path === "/v1/models")
      return json(response, 200, {
        object: "list",
        data: [{ id: "m", object: "model", created: 1, owned_by: "library" }],
      });
    if (path === "/api/show")
      return json(response, 200, {
        parameters: 'stop "<|end|>"',
        model_info: { "general.architecture": "llama", "llama.context_length": 131_072 },
      });
    if (path === "/api/ps")
      return json(response, 200, { models: [{ name: "m:latest", model: "m:latest", context_length: window }] });
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("404 page not found");
  };
}

function chat(response: ServerResponse, call: Call, answer: string, { window, tooLong }: Window): void {
  const size = tokensOf(templated(call.messages ?? [])).length;
  if (size >= window) return json(response, 400, tooLong(size, window));
  response.writeHead(200, { "content-type": "text/event-stream" });
  const usage = {
    prompt_tokens: size,
    completion_tokens: tokensOf(answer).length,
    total_tokens: size + tokensOf(answer).length,
  };
  response.end(sse(textChunk(answer), lastChunk("stop"), usageChunk(usage), "[DONE]"));
}

const LLAMA_TOO_LONG = (size: number, window: number): object => ({
  error: {
    code: 400,
    message: "the request exceeds the available context size, try increasing it",
    type: "exceed_context_size_error",
    n_prompt_tokens: size,
    n_ctx: window,
  },
});

const VLLM_TOO_LONG = (size: number, window: number): object => ({
  error: {
    message: `This model's maximum context length is ${window} tokens. However, your request has ${size} input tokens. Please reduce the length of the input messages.`,
    type: "BadRequestError",
    param: "input_tokens",
    code: 400,
  },
});

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

function read(body: string): Call {
  return body === "" ? {} : JSON.parse(body);
}

function textOf(content: Message["content"]): string {
  if (content === null || typeof content === "string") return content ?? "";
  return content.map(({ type, text }) => text ?? `<${type}>`).join(" ");
}
