import { assert } from "@antiphon/base/assert.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { LRUCache } from "lru-cache";
import type { ChatMessage, ChatRequest } from "../../context/chat-wire.ts";
import { askServer, type ServerAddress } from "../../model-server/ask-server.ts";
import { isList, textOrNull } from "../../model-server/json-values.ts";
import type { BackendProfile, ContinuationForm } from "../profile.ts";

/** In the order of trial: servers that do not know a member may ignore it. */
const FORMS: readonly ContinuationForm[] = ["continue_final_message", "prefix", "partial", "last_message"];

/** A model that continues the last message first writes the rest of a word. */
const QUESTION =
  "Name the days of the week in English, from Monday to Sunday, separated by commas. Write nothing else.";
const BEGINNING = "Monday, Tuesday, Wednesday, Thurs";
const REST = /^day\b/;

const PROBE_MS_MAX = 15_000;
const PROBE_TOKENS = 8;
const REPLY_BYTES_MAX = 64 * 1024;
const MODELS_MAX = 100;

/** Finds out how a model can continue the beginning of an answer, and makes it do so. */
export class Continuations {
  readonly #server: ServerAddress;
  readonly #setting: BackendProfile["continuation"];
  readonly #forms = new LRUCache<string, { readonly form: ContinuationForm | null }>({ max: MODELS_MAX });

  constructor(server: ServerAddress, setting: BackendProfile["continuation"]) {
    this.#server = server;
    this.#setting = setting;
  }

  /** The form for this model; null if there is none. Calls the model server once per model. Never rejects. */
  async formFor(model: string, signal: AbortSignal): Promise<ContinuationForm | null> {
    if (this.#setting !== "probe") return this.#setting === "none" ? null : this.#setting;
    const entry = this.#forms.get(model);
    if (entry !== undefined) return entry.form;
    for (const form of FORMS) {
      const outcome = await this.#try(form, model, signal);
      if (outcome === "no answer") return null; // A later call retries.
      if (outcome === "refused") continue;
      this.#forms.set(model, { form });
      return form;
    }
    this.#forms.set(model, { form: null });
    return null;
  }

  /** The request with the beginning of its answer. */
  async begin(request: ChatRequest, beginning: string, signal: AbortSignal): Promise<ChatRequest> {
    const form = await this.formFor(request.model, signal);
    assert(form !== null, "only a model that goes on with answers is given the beginning of one");
    return withBeginning(request, beginning, form);
  }

  async #try(form: ContinuationForm, model: string, signal: AbortSignal): Promise<"goes on" | "refused" | "no answer"> {
    const messages: readonly ChatMessage[] = [{ role: "user", content: QUESTION }];
    const body = withBeginning({ model, messages, max_tokens: PROBE_TOKENS, temperature: 0 }, BEGINNING, form);
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS_MAX)]);
    const path = `${this.#server.apiPath}/chat/completions`;
    const reply = await askServer(this.#server, { path, body, replyBytesMax: REPLY_BYTES_MAX }, deadline);
    if (reply === null || reply.status === 429 || reply.status >= 500) return "no answer";
    return reply.status === 200 && REST.test(firstChoiceText(reply.body)) ? "goes on" : "refused";
  }
}

function withBeginning<Request extends Pick<ChatRequest, "messages">>(
  request: Request,
  content: string,
  form: ContinuationForm,
): Request {
  const mark = form === "prefix" || form === "partial" ? { [form]: true as const } : {};
  const messages: readonly ChatMessage[] = [...request.messages, { role: "assistant", content, ...mark }];
  const members =
    form === "continue_final_message" ? { continue_final_message: true, add_generation_prompt: false } : {};
  return { ...request, ...members, messages };
}

/** The text of the first choice; empty if the model thinks first. */
function firstChoiceText(body: unknown): string {
  const choices = isRecord(body) ? body["choices"] : null;
  const [choice] = isList(choices) ? choices : [];
  const message = isRecord(choice) ? choice["message"] : null;
  if (!isRecord(message) || textOrNull(message["reasoning_content"]) !== null) return "";
  return textOrNull(message["content"]) ?? "";
}
