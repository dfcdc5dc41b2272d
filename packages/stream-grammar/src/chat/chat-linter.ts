import { isRecord } from "@antiphon/base/json/records.ts";
import { FaultList, type StreamReport } from "../fault-list.ts";
import { quoteValue } from "../items/texts.ts";
import { ChatChoice } from "./chat-choice.ts";

const CHUNK = "chat.completion.chunk";
/** All chunks of a stream have the same ones. */
const HEAD = ["id", "created", "model"] as const;

/** Whether the first data of a stream is that of a stream of chat completions. */
export function isChatData(data: unknown): boolean {
  return isRecord(data) && (data["object"] === CHUNK || Array.isArray(data["choices"]));
}

/** Checks one stream of chat completion chunks. */
export class ChatLinter {
  readonly #faults = new FaultList();
  readonly #choices = new Map<number, ChatChoice>();
  #head: Readonly<Record<string, unknown>> | null = null;
  /** Whether chunks have a member `usage`; null before the first chunk. */
  #hasUsage: boolean | null = null;
  #usageCame = false;
  #isDone = false;
  #hasFailed = false;

  readonly report = this.#faults.report;

  /** Takes the name and the parsed data of one frame. */
  take(name: string | null, data: unknown): void {
    if (name !== null) this.report("chat-chunk", `there is an event line '${name.slice(0, 40)}'`);
    if (this.#isDone || this.#hasFailed) this.report("chat-done", "data follows the end of the stream");
    if (isRecord(data) && Object.hasOwn(data, "error")) this.#hasFailed = true;
    else if (isRecord(data) && Array.isArray(data["choices"]) && data["object"] === CHUNK) this.#takeChunk(data);
    else this.report("chat-chunk", `${quoteValue(data)} is no chunk`);
    this.#faults.endEvent();
  }

  /** Takes the data line `[DONE]`. */
  takeDone(): void {
    if (this.#isDone || this.#hasFailed) this.report("chat-done", "[DONE] follows the end of the stream");
    this.#isDone = true;
  }

  /** Call this once, after the last frame. */
  end(): StreamReport {
    if (!this.#hasFailed) {
      if (!this.#isDone) this.report("chat-done", "the stream ends without [DONE]");
      for (const choice of this.#choices.values()) choice.end();
      if (this.#hasUsage === true && !this.#usageCame) this.report("chat-usage", "no chunk has the usage");
    }
    return this.#faults.streamReport(null);
  }

  #takeChunk(chunk: Readonly<Record<string, unknown>>): void {
    this.#checkHead(chunk);
    const choices = Array.isArray(chunk["choices"]) ? chunk["choices"] : [];
    this.#checkUsage(chunk, choices.length === 0);
    for (const choice of choices) {
      const index = isRecord(choice) ? choice["index"] : null;
      if (!isRecord(choice) || typeof index !== "number") this.report("chat-chunk", "a choice has no index");
      else this.#choiceAt(index).take(choice);
    }
  }

  #checkHead(chunk: Readonly<Record<string, unknown>>): void {
    this.#head ??= chunk;
    for (const name of HEAD)
      if (chunk[name] === undefined || chunk[name] !== this.#head[name])
        this.report("chat-head", `'${name}' is ${quoteValue(chunk[name])}, but was ${quoteValue(this.#head[name])}`);
  }

  #checkUsage(chunk: Readonly<Record<string, unknown>>, isWithoutChoices: boolean): void {
    const hasMember = Object.hasOwn(chunk, "usage");
    if (isWithoutChoices) {
      const { usage } = chunk;
      if (!isRecord(usage)) this.report("chat-usage", "a chunk without choices has no usage");
      else if (this.#usageCame) this.report("chat-usage", "the usage comes twice");
      else if (![...this.#choices.values()].every(({ hasFinished }) => hasFinished))
        this.report("chat-usage", "the usage comes before the end of a choice");
      this.#usageCame = true;
    } else if (this.#hasUsage !== null && this.#hasUsage !== hasMember)
      this.report("chat-usage", "some chunks have the member usage and others do not");
    else if (hasMember && chunk["usage"] !== null) this.report("chat-usage", "a chunk with choices has a usage");
    if (!isWithoutChoices) this.#hasUsage ??= hasMember;
  }

  #choiceAt(index: number): ChatChoice {
    const known = this.#choices.get(index);
    if (known !== undefined) return known;
    const choice = new ChatChoice(index, this.report);
    this.#choices.set(index, choice);
    return choice;
  }
}
