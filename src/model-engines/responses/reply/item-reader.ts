import { isRecord } from "@antiphon/base/json/records.ts";
import type { Annotation, MessagePhase } from "@antiphon/contracts/responses-api/types.ts";
import type { ModelEvent } from "@antiphon/domain/models/model-events.ts";
import { countOrZero, isList, type JsonObject, textOrNull } from "../../model-server/json-values.ts";
import { readLogprobList } from "../../model-server/reply/read-logprobs.ts";
import { writeSealedText } from "../sealed-text.ts";

/** Turns the events about one output item into model events. */
export interface ItemReader {
  /** Reads a stream event about the item. */
  read(event: JsonObject): void;
  /** Ends the item. `item`: its last form; null if the answer ended before. `isCut`: it is then unfinished. */
  finish(item: JsonObject | null, isCut: boolean): void;
}

export type Emit = (event: ModelEvent) => void;

/** The number of characters that were passed on of each part of an item. */
class PassedTexts {
  readonly #lengths = new Map<unknown, number>();

  add(part: unknown, text: string): void {
    this.#lengths.set(part, this.#lengthOf(part) + text.length);
  }

  /** The rest of a part's whole text. Some servers send only the whole text. */
  restOf(part: unknown, whole: unknown): string {
    return typeof whole === "string" ? whole.slice(this.#lengthOf(part)) : "";
  }

  #lengthOf(part: unknown): number {
    return this.#lengths.get(part) ?? 0;
  }
}

export class MessageItemReader implements ItemReader {
  readonly #emit: Emit;
  readonly #passedTexts = new PassedTexts();
  readonly #annotationCounts = new Map<unknown, number>();

  constructor(item: JsonObject, emit: Emit) {
    this.#emit = emit;
    const phase = readPhase(item["phase"]);
    emit({ type: "message_started", ...(phase === null ? {} : { phase }) });
  }

  read(event: JsonObject): void {
    const part = event["content_index"];
    switch (event["type"]) {
      case "response.output_text.delta":
        return this.#addText(part, event["delta"], event["logprobs"]);
      case "response.output_text.done":
        return this.#addText(part, this.#passedTexts.restOf(part, event["text"]), event["logprobs"]);
      case "response.refusal.delta":
        return this.#addRefusal(part, event["delta"]);
      case "response.refusal.done":
        return this.#addRefusal(part, this.#passedTexts.restOf(part, event["refusal"]));
      case "response.output_text.annotation.added":
        return this.#addAnnotation(part, event["annotation"]);
      default:
    }
  }

  finish(item: JsonObject | null): void {
    const parts = isList(item?.["content"]) ? item["content"] : [];
    for (const [index, part] of parts.entries()) if (isRecord(part)) this.#readPart(index, part);
    // The end of the answer ends an incomplete message.
    if (item !== null && item["status"] !== "incomplete") this.#emit({ type: "message_finished" });
  }

  #readPart(index: number, part: JsonObject): void {
    this.#addText(index, this.#passedTexts.restOf(index, part["text"]), part["logprobs"]);
    this.#addRefusal(index, this.#passedTexts.restOf(index, part["refusal"]));
    const annotations = isList(part["annotations"]) ? part["annotations"] : [];
    for (const annotation of annotations.slice(this.#annotationCounts.get(index) ?? 0))
      this.#addAnnotation(index, annotation);
  }

  #addText(part: unknown, delta: unknown, logprobs: unknown): void {
    const text = textOrNull(delta);
    if (text === null) return;
    this.#passedTexts.add(part, text);
    const tokens = readLogprobList(logprobs);
    this.#emit({ type: "text_delta", text, ...(tokens === undefined ? {} : { logprobs: tokens }) });
  }

  #addRefusal(part: unknown, delta: unknown): void {
    const text = textOrNull(delta);
    if (text === null) return;
    this.#passedTexts.add(part, text);
    this.#emit({ type: "refusal_delta", text });
  }

  #addAnnotation(part: unknown, value: unknown): void {
    this.#annotationCounts.set(part, (this.#annotationCounts.get(part) ?? 0) + 1);
    const annotation = readAnnotation(value);
    if (annotation !== null) this.#emit({ type: "annotation", annotation });
  }
}

export class ReasoningReader implements ItemReader {
  readonly #emit: Emit;
  /** See `serverKey`. */
  readonly #server: string;
  readonly #passedTexts = new PassedTexts();
  #summaryIndex: unknown = null;
  #hasBegun = false;

  constructor(server: string, emit: Emit) {
    this.#server = server;
    this.#emit = emit;
  }

  read(event: JsonObject): void {
    const { summary_index: summaryIndex, content_index: contentIndex } = event;
    switch (event["type"]) {
      case "response.reasoning_summary_text.delta":
        return this.#addSummary(summaryIndex, event["delta"]);
      case "response.reasoning_summary_text.done":
        return this.#addSummary(summaryIndex, this.#passedTexts.restOf(summaryKey(summaryIndex), event["text"]));
      case "response.reasoning_text.delta":
      case "response.reasoning.delta":
        return this.#addText(contentIndex, event["delta"]);
      case "response.reasoning_text.done":
      case "response.reasoning.done":
        return this.#addText(contentIndex, this.#passedTexts.restOf(contentIndex, event["text"]));
      default:
    }
  }

  finish(item: JsonObject | null): void {
    const summary = isList(item?.["summary"]) ? item["summary"] : [];
    for (const [index, part] of summary.entries())
      if (isRecord(part)) this.#addSummary(index, this.#passedTexts.restOf(summaryKey(index), part["text"]));
    const content = isList(item?.["content"]) ? item["content"] : [];
    for (const [index, part] of content.entries())
      if (isRecord(part)) this.#addText(index, this.#passedTexts.restOf(index, part["text"]));
    const encryptedContent = textOrNull(item?.["encrypted_content"]);
    if (encryptedContent !== null) {
      const sealedText = writeSealedText(this.#server, { id: textOrNull(item?.["id"]) ?? "", encryptedContent });
      this.#begin({ type: "reasoning_sealed", sealedText });
    }
    if (this.#hasBegun) this.#emit({ type: "message_finished" });
  }

  #addSummary(index: unknown, delta: unknown): void {
    const text = textOrNull(delta);
    if (text === null) return;
    if (this.#summaryIndex !== null && this.#summaryIndex !== index) this.#emit({ type: "reasoning_summary_break" });
    this.#summaryIndex = index;
    this.#passedTexts.add(summaryKey(index), text);
    this.#begin({ type: "reasoning_summary_delta", text });
  }

  #addText(index: unknown, delta: unknown): void {
    const text = textOrNull(delta);
    if (text === null) return;
    this.#passedTexts.add(index, text);
    this.#begin({ type: "reasoning_delta", text });
  }

  #begin(event: ModelEvent): void {
    this.#hasBegun = true;
    this.#emit(event);
  }
}

/** Differs from the keys of content parts. */
function summaryKey(index: unknown): string {
  return `summary ${String(index)}`;
}

function readPhase(value: unknown): MessagePhase | null {
  return value === "commentary" || value === "final_answer" ? value : null;
}

/** The annotation of a text; null if it is of an unknown kind, or points nowhere. */
function readAnnotation(value: unknown): Annotation | null {
  if (!isRecord(value)) return null;
  const { type } = value;
  if (type === "url_citation") {
    const url = textOrNull(value["url"]);
    const title = textOrNull(value["title"]) ?? "";
    return url === null ? null : { type, ...readRange(value), title, url };
  }
  const fileId = textOrNull(value["file_id"]);
  if (fileId === null) return null;
  const filename = textOrNull(value["filename"]) ?? "";
  const index = countOrZero(value["index"]);
  if (type === "file_citation") return { type, file_id: fileId, filename, index };
  if (type === "file_path") return { type, file_id: fileId, index };
  if (type !== "container_file_citation") return null;
  const container = textOrNull(value["container_id"]) ?? "";
  return { type, container_id: container, ...readRange(value), file_id: fileId, filename };
}

function readRange(value: Readonly<Record<string, unknown>>): { start_index: number; end_index: number } {
  return { start_index: countOrZero(value["start_index"]), end_index: countOrZero(value["end_index"]) };
}
