import { dataFrame } from "@antiphon/base/event-frames.ts";
import type { CompletionChoice, TextCompletion } from "@antiphon/contracts/chat-completions/types.ts";
import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { RecordedEvent } from "../../runs/recorded-event.ts";
import { AnswerText } from "../chat-completions/answer-text.ts";
import { chatUsage } from "../chat-completions/completion.ts";
import type { ChoiceWriter } from "../chat-completions/stream-chunks.ts";

type Responses = readonly [Response, ...Response[]];

/** Responses that have ended, as the texts of one completion. `prefixes` stand before their texts. */
export function textCompletion(responses: Responses, prefixes: readonly string[]): TextCompletion {
  return {
    ...completionHead(responses[0]),
    choices: responses.map((response, index) => {
      const text = `${prefixes[index] ?? ""}${textOf(response)}`;
      return { text, index, logprobs: null, finish_reason: finishReason(response) };
    }),
    usage: chatUsage(responses),
  };
}

function completionHead({ id, created_at: created, model }: Response) {
  return { id: id.replace(/^resp_/, "cmpl-"), object: "text_completion", created, model } as const;
}

function textOf(response: Response): string {
  const { content, refusal } = AnswerText.of(response.output);
  return content ?? refusal ?? "";
}

function finishReason({ incomplete_details: incomplete }: Response): CompletionChoice["finish_reason"] {
  if (incomplete === null) return "stop";
  return incomplete.reason === "content_filter" ? "content_filter" : "length";
}

/** Writes the events of a run as the pieces of one text. */
export class TextWriter implements ChoiceWriter {
  readonly #index: number;
  readonly #includeUsage: boolean;
  readonly #prefix: string;
  #head: Omit<TextCompletion, "choices"> | null = null;
  ended: Response | null = null;

  /** `prefix` is shown before the text. */
  constructor(index: number, includeUsage: boolean, prefix: string) {
    this.#index = index;
    this.#includeUsage = includeUsage;
    this.#prefix = prefix;
  }

  begin(response: Response): void {
    this.#head = completionHead(response);
  }

  framesOf(event: RecordedEvent): string {
    if (event.template !== null) return TEXTS.has(event.type) ? this.#piece(event.text) : "";
    const whole = event.event;
    if (whole.type === "response.created") return this.#prefix === "" ? "" : this.#piece(this.#prefix);
    if (whole.type === "response.output_text.delta" || whole.type === "response.refusal.delta")
      return this.#piece(whole.delta);
    if (whole.type === "response.failed") this.ended = whole.response;
    if (whole.type !== "response.completed" && whole.type !== "response.incomplete") return "";
    this.ended = whole.response;
    return this.#piece("", finishReason(whole.response));
  }

  #piece(text: string, finish: CompletionChoice["finish_reason"] = null): string {
    const choices = [{ text, index: this.#index, logprobs: null, finish_reason: finish }];
    return this.#frame({ choices, ...(this.#includeUsage ? { usage: null } : {}) });
  }

  usageFrame(responses: readonly Response[]): string {
    return this.#frame({ choices: [], usage: chatUsage(responses) });
  }

  #frame(members: Pick<TextCompletion, "choices" | "usage">): string {
    if (this.#head === null) throw new TypeError("the writer has begun");
    return dataFrame(JSON.stringify({ ...this.#head, ...members }));
  }
}

const TEXTS: ReadonlySet<string> = new Set(["response.output_text.delta", "response.refusal.delta"]);
