import { ModelError } from "@antiphon/domain/models/model-error.ts";
import { LRUCache } from "lru-cache";
import type { ChatMessage, ChatRequest } from "../../context/chat-wire.ts";

/**
 * How to request JSON of a schema: by the reference's format, by `json_object` with a schema as in llama-cpp-python, or
 * by an instruction alone. The last two include the schema in an instruction.
 */
export type SchemaForm = "json_schema" | "json_object" | "words";

const NEXT: Readonly<Record<SchemaForm, SchemaForm | null>> = {
  json_schema: "json_object",
  json_object: "words",
  words: null,
};

const MODELS_MAX = 100;
/** A server may be upgraded. */
const FRESH_MS = 60 * 60_000;

/** Texts of a refusal that identify its subject. */
const OF_FORMAT = /response_format|json_schema|json_object|structured output/i;
/** Only these mean that the kind of format is unknown. Others may reject one schema. */
const UNKNOWN_KIND =
  /literal_error|input should be|unavailable|not (?:yet |currently )?(?:supported|available|allowed|permitted)|(?:does not|doesn't) support|unsupported|unknown|unrecognized|must be (?:one of|either)|extra_forbidden/i;

/** Remembers for each model the form for JSON of a schema. */
export class SchemaForms {
  readonly #byModel = new LRUCache<string, SchemaForm>({ max: MODELS_MAX, ttl: FRESH_MS });

  /** The form to try first. */
  formFor(model: string): SchemaForm {
    return this.#byModel.get(model) ?? "json_schema";
  }

  remember(model: string, form: SchemaForm): void {
    if (form !== "json_schema") this.#byModel.set(model, form);
  }
}

/** The form to try after a refusal; null if the refusal is about something else, or there is none left. */
export function nextSchemaForm(form: SchemaForm, refusal: unknown): SchemaForm | null {
  if (!(refusal instanceof ModelError) || refusal.type !== "invalid_request_error") return null;
  const isUnknown = OF_FORMAT.test(refusal.message) && UNKNOWN_KIND.test(refusal.message);
  return isUnknown ? NEXT[form] : null;
}

/** The request with its schema in this form. A request without a schema is unchanged. */
export function inSchemaForm(chat: ChatRequest, form: SchemaForm): ChatRequest {
  const { response_format: format, ...others } = chat;
  if (format?.type !== "json_schema" || form === "json_schema") return chat;
  const { schema } = format.json_schema;
  const messages = withInstruction(
    chat.messages,
    `Answer with JSON alone, without a code fence. It must match this JSON schema:\n${JSON.stringify(schema)}`,
  );
  if (form === "words") return { ...others, messages };
  return { ...others, messages, response_format: { type: "json_object", schema } };
}

/** Adds to the system message, because many chat templates allow only one, first. */
export function withInstruction(messages: readonly ChatMessage[], text: string): readonly ChatMessage[] {
  const [first, ...rest] = messages;
  if (first?.role !== "system") return [{ role: "system", content: text }, ...messages];
  return [{ role: "system", content: `${first.content}\n\n${text}` }, ...rest];
}
