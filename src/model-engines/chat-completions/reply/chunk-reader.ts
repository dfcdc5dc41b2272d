import { isRecord } from "@antiphon/base/json/records.ts";
import type { Annotation, LogProb } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent, ModelUsage } from "@antiphon/domain/models/model-events.ts";
import type { ToolNames } from "../../context/tool-names.ts";
import { countOrZero, isList, type JsonObject, textOrNull } from "../../model-server/json-values.ts";
import { readLogprobList } from "../../model-server/reply/read-logprobs.ts";
import type { ReasoningTags } from "../profile.ts";
import { CallSequencer } from "./call-sequencer.ts";
import { ContentReader } from "./content-reader.ts";
import { type ChatFinishReason, readFinishReason } from "./finish-reason.ts";
import { readUsage } from "./read-usage.ts";
import { ToolCallReader } from "./tool-call-reader.ts";

/** A longer piece of an answer is more than a token. */
const TOKEN_CHARACTERS_MAX = 16;
/** The estimated number of characters in a token. */
const CHARACTERS_PER_TOKEN = 4;

export interface ChunkReaderOptions {
  /** Called at the end with the server's token counts, if any. */
  readonly onUsage?: (usage: ModelUsage) => void;
  readonly toolNames: ToolNames;
  readonly reasoningTags: ReasoningTags;
  readonly wantsLogprobs: boolean;
  /** Called once if the server sends content after its finish reason. The content is dropped. */
  readonly onLateContent?: () => void;
}

/** Turns the parsed chunks of a streamed turn, or the single object of an unstreamed one, into model events. */
export class ChunkReader {
  readonly #sequencer: CallSequencer;
  readonly #calls: ToolCallReader;
  readonly #content: ContentReader;
  readonly #wantsLogprobs: boolean;
  readonly #onLateContent: () => void;
  #hasLateContent = false;
  #model: string | null = null;
  readonly #onUsage: (usage: ModelUsage) => void;
  #usage: ModelUsage | null = null;
  #outputTokens = 0;
  /** Whether the answer came as one object. */
  #isWhole = false;
  #finishReason: ChatFinishReason | null = null;
  #hasText = false;
  #earlyAnnotations: Annotation[] = [];

  constructor(options: ChunkReaderOptions) {
    const sequencer = new CallSequencer(options.toolNames);
    this.#sequencer = sequencer;
    this.#calls = new ToolCallReader(sequencer);
    this.#content = new ContentReader(options.reasoningTags, (event) => this.#addContent(event));
    this.#wantsLogprobs = options.wantsLogprobs;
    this.#onUsage = options.onUsage ?? (() => {});
    this.#onLateContent = options.onLateContent ?? (() => {});
  }

  /** True after the finish reason. Token counts and citations may still follow. */
  get hasFinishReason(): boolean {
    return this.#finishReason !== null;
  }

  /** Whether the server reported the tokens of the turn. */
  get hasUsage(): boolean {
    return this.#usage !== null;
  }

  /** The estimated tokens of the answer: servers without counts send one token per chunk. */
  get outputTokens(): number {
    return this.#outputTokens;
  }

  /** Reads one chunk that is not an error. */
  read(chunk: JsonObject): void {
    if (this.#model === null) this.#readModel(chunk["model"], textOrNull(chunk["id"]));
    const choices = chunk["choices"];
    if (isList(choices))
      for (const choice of choices) if (isRecord(choice) && !isAlternative(choice)) this.#readChoice(choice);
    this.#readUsage(chunk["usage"]);
    if (isRecord(chunk["x_groq"])) this.#readUsage(chunk["x_groq"]["usage"]);
  }

  /** Ends the turn. No chunk may be read afterwards. */
  finish(): void {
    const reason = this.#finishReason ?? "stop";
    this.#content.end();
    this.#sequencer.finish(reason !== "stop");
    if (this.#usage !== null) {
      this.#onUsage(this.#usage);
      this.#sequencer.add({ type: "usage", usage: this.#usage });
    }
    this.#sequencer.add({ type: "finished", reason });
  }

  /** The events since the last call, in order. The caller owns the array. */
  take(): ModelEvent[] {
    const events = this.#sequencer.events;
    if (events.length > 0) this.#sequencer.events = [];
    return events;
  }

  #readModel(model: unknown, answerId: string | null): void {
    this.#model = textOrNull(model);
    if (this.#model === null) return;
    const idField = answerId === null ? {} : { answerId };
    this.#sequencer.add({ type: "model_resolved", model: this.#model, ...idField });
  }

  #readChoice(choice: JsonObject): void {
    const delta = choice["delta"] ?? choice["message"];
    this.#isWhole = delta !== undefined && delta === choice["message"];
    if (this.#finishReason !== null) this.#readLate(isRecord(delta) ? delta : choice);
    else if (isRecord(delta)) this.#readDelta(delta, choice["logprobs"]);
    else if (typeof choice["text"] === "string") this.#readText(choice["text"], undefined);
    const reason = choice["finish_reason"];
    if (typeof reason === "string" && reason !== "") this.#finishReason = readFinishReason(reason);
    this.#readUsage(choice["usage"]);
  }

  /** Reads a delta after the finish reason: only citations are kept. */
  #readLate(delta: JsonObject): void {
    if (isList(delta["annotations"])) this.#readAnnotations(delta["annotations"]);
    if (this.#hasLateContent || !hasContent(delta)) return;
    this.#hasLateContent = true;
    this.#onLateContent();
  }

  #readDelta(delta: JsonObject, logprobs: unknown): void {
    this.#readReasoning(delta);
    const content = delta["content"];
    if (typeof content === "string") this.#readText(content, logprobs);
    else if (isList(content)) this.#readParts(content);
    const refusal = textOrNull(delta["refusal"]);
    if (refusal !== null) this.#addRefusal(refusal);
    if (isList(delta["annotations"])) this.#readAnnotations(delta["annotations"]);
    const calls = isList(delta["tool_calls"]) ? delta["tool_calls"] : [];
    if (calls.length > 0) this.#readCalls(calls);
    // Some servers send a call in both members.
    else if (isRecord(delta["function_call"])) this.#readLegacyCall(delta["function_call"]);
  }

  #addRefusal(text: string): void {
    this.#countPiece(text.length);
    this.#sequencer.add({ type: "refusal_delta", text });
  }

  #readText(text: string, logprobs: unknown): void {
    if (text === "") return;
    this.#countPiece(text.length);
    this.#content.feed(text, this.#wantsLogprobs ? readLogprobs(logprobs) : undefined);
  }

  #addContent(event: ModelEvent): void {
    this.#sequencer.add(event);
    if (this.#hasText || event.type !== "text_delta") return;
    this.#hasText = true;
    for (const annotation of this.#earlyAnnotations) this.#sequencer.add({ type: "annotation", annotation });
    this.#earlyAnnotations = [];
  }

  /** Reads content that is a list of parts, which Mistral sends for reasoning models. */
  #readParts(parts: readonly unknown[]): void {
    for (const part of parts) {
      if (!isRecord(part)) continue;
      if (typeof part["text"] === "string") this.#readText(part["text"], undefined);
      else if (isList(part["thinking"]))
        for (const entry of part["thinking"]) this.#addReasoning(isRecord(entry) ? entry["text"] : entry);
      else this.#addReasoning(part["thinking"]);
    }
  }

  /** The same reasoning often comes in several members; the first one with text is used. */
  #readReasoning(delta: JsonObject): void {
    if (this.#addReasoning(delta["reasoning_content"]) || this.#addReasoning(delta["reasoning"])) return;
    const details = delta["reasoning_details"];
    if (!isList(details)) return;
    for (const detail of details) {
      if (!isRecord(detail)) continue;
      const summary = textOrNull(detail["summary"]);
      if (summary === null) this.#addReasoning(detail["text"]);
      else this.#addSummary(summary);
    }
  }

  #addReasoning(value: unknown): boolean {
    const text = textOrNull(value);
    if (text === null) return false;
    this.#countPiece(text.length);
    this.#sequencer.add({ type: "reasoning_delta", text });
    return true;
  }

  #addSummary(text: string): void {
    this.#countPiece(text.length);
    this.#sequencer.add({ type: "reasoning_summary_delta", text });
  }

  #readCalls(entries: readonly unknown[]): void {
    this.#content.beforeCall();
    for (const entry of entries) {
      this.#countPiece(charactersOfCall(entry));
      this.#calls.read(entry);
    }
  }

  #readLegacyCall(call: JsonObject): void {
    this.#content.beforeCall();
    this.#countPiece(charactersOfCall({ function: call }));
    this.#calls.readLegacy(call);
  }

  #readAnnotations(entries: readonly unknown[]): void {
    for (const entry of entries) {
      const citation = isRecord(entry) && isRecord(entry["url_citation"]) ? entry["url_citation"] : null;
      const url = textOrNull(citation?.["url"]);
      if (citation === null || url === null) continue;
      const annotation: Annotation = {
        type: "url_citation",
        start_index: countOrZero(citation["start_index"]),
        end_index: countOrZero(citation["end_index"]),
        title: textOrNull(citation["title"]) ?? "",
        url,
      };
      if (this.#hasText) this.#sequencer.add({ type: "annotation", annotation });
      else this.#earlyAnnotations.push(annotation); // A citation needs a text before it.
    }
  }

  /** Counts a piece of the answer of this length. */
  #countPiece(characters: number): void {
    const isToken = !this.#isWhole && characters <= TOKEN_CHARACTERS_MAX;
    this.#outputTokens += isToken ? 1 : Math.ceil(characters / CHARACTERS_PER_TOKEN);
  }

  #readUsage(usage: unknown): void {
    if (isRecord(usage)) this.#usage = readUsage(usage) ?? this.#usage;
  }
}

/** The length of the model's text in a piece of a call. */
function charactersOfCall(entry: unknown): number {
  const call = isRecord(entry) && isRecord(entry["function"]) ? entry["function"] : {};
  return (textOrNull(call["name"])?.length ?? 0) + (textOrNull(call["arguments"])?.length ?? 0);
}

/** Whether this is a second answer. Only one is requested, but some servers send more. */
function isAlternative(choice: JsonObject): boolean {
  return typeof choice["index"] === "number" && choice["index"] > 0;
}

const CONTENT_MEMBERS = [
  "content",
  "text",
  "reasoning_content",
  "reasoning",
  "refusal",
  "tool_calls",
  "function_call",
] as const;

function hasContent(delta: JsonObject): boolean {
  return CONTENT_MEMBERS.some((member) => {
    const value = delta[member];
    return isList(value) ? value.length > 0 : value !== null && value !== undefined && value !== "";
  });
}

/** The log probabilities of a delta; undefined if the server sent none. */
function readLogprobs(value: unknown): readonly LogProb[] | undefined {
  return readLogprobList(isRecord(value) ? value["content"] : undefined);
}
