import { type JsonPath, JsonStrings, type StringPiece } from "@antiphon/base/json/json-strings.ts";
import type { CallWriter } from "@antiphon/domain/hosted-tool.ts";
import type { HostedItem, HostedItemEvent } from "@antiphon/domain/models/hosted.ts";

/** The role of an argument string in the item shown while arguments arrive. */
export type SketchPart =
  /** Part of the item's first form, under this name. */
  | { readonly head: string }
  /** Shown while it is written. The first one begins the item. */
  | "text"
  /** Not shown, but begins the item. */
  | "sign"
  | null;

/** How the item of a call is shown while the model writes its arguments. */
export interface CallSketch<Item extends HostedItem> {
  partOf(path: JsonPath): SketchPart;
  /** The first form of the item, as soon as it is known. Texts wait for it. */
  firstOf(heads: ReadonlyMap<string, string>): Item | null;
}

/** The depth of shown values in the arguments. */
const LEVELS = 2;

/** Follows the arguments of one call. */
export class SketchWriter<Item extends HostedItem> implements CallWriter {
  readonly #sketch: CallSketch<Item>;
  readonly #strings = new JsonStrings(LEVELS);
  readonly #heads = new Map<string, string>();
  /** The unfinished string. */
  #head = "";
  #text = "";
  readonly #texts: string[] = [];
  /** Events that wait for the first form. */
  #waiting: HostedItemEvent[] = [];
  #first: Item | null = null;
  #isDue = false;

  constructor(sketch: CallSketch<Item>) {
    this.#sketch = sketch;
  }

  /** The first form of the item; null if it has not begun. */
  get first(): Item | null {
    return this.#first;
  }

  /** The texts that were shown completely. */
  get texts(): readonly string[] {
    return this.#texts;
  }

  add(piece: string): readonly HostedItemEvent[] {
    for (const addition of this.#strings.add(piece)) {
      this.#take(addition);
      if (this.#isDue && this.#first === null) this.#begin();
    }
    if (this.#first === null) return [];
    const events = this.#waiting;
    this.#waiting = [];
    return events;
  }

  #begin(): void {
    this.#first = this.#sketch.firstOf(this.#heads);
    if (this.#first !== null) this.#waiting.unshift({ type: "item_started", item: this.#first });
  }

  #take(addition: StringPiece): void {
    const part = this.#sketch.partOf(addition.path);
    if (part === null) return;
    if (part === "text") this.#show(addition);
    else if (part !== "sign") return this.#takeHead(part.head, addition);
    this.#isDue = true;
  }

  #takeHead(name: string, { text, isWhole }: StringPiece): void {
    this.#head += text;
    if (!isWhole) return;
    this.#heads.set(name, this.#head);
    this.#head = "";
  }

  #show({ text, isWhole }: StringPiece): void {
    this.#text += text;
    this.#waiting.push({ type: "item_delta", text });
    if (!isWhole) return;
    this.#waiting.push({ type: "item_written" });
    this.#texts.push(this.#text);
    this.#text = "";
  }
}
