import { JsonStrings } from "@antiphon/base/json/json-strings.ts";
import type { CallWriter, ToolCall } from "@antiphon/domain/hosted-tool.ts";
import type { HostedItem, HostedItemEvent } from "@antiphon/domain/models/hosted.ts";
import type { LinePlace } from "./call-line.ts";

/** Shows a call's arguments in its item while they arrive, and knows whether the item has begun. */
export class ShownArguments {
  readonly #place: LinePlace;
  readonly #writer: CallWriter | null;
  /** Whether the writer reports when the text is complete. */
  readonly #endsTexts: boolean;
  #item: HostedItem | null;
  #text = "";

  /** `call`: null if nothing is shown. */
  constructor(call: ToolCall | null, place: LinePlace) {
    this.#place = place;
    this.#item = call?.item ?? null;
    this.#writer = writerOf(call);
    this.#endsTexts = call?.streams !== null && typeof call?.streams === "object" && "add" in call.streams;
  }

  /** The first form of the item; null if it has not begun. */
  get item(): HostedItem | null {
    return this.#item;
  }

  /** Shows the beginning of the item, if that is already possible. */
  begin(): void {
    if (this.#item !== null) this.#place.add({ type: "item_started", item: this.#item });
  }

  add(piece: string): void {
    this.#text += piece;
    const events = this.#writer?.add(piece) ?? [];
    for (const event of events) if (event.type === "item_started") this.#item = event.item;
    if (events.length > 0) this.#place.add(...events);
  }

  /** Resolves once a reader has read everything added, but at once if other calls are in front. */
  read(): Promise<void> {
    return this.#place.read();
  }

  /** The arguments are complete. Models often write none for a function without parameters. Returns them. */
  end(): string {
    if (this.#text.trim() === "") {
      this.#text = "";
      this.add("{}");
    }
    if (this.#writer !== null && !this.#endsTexts) this.#place.add({ type: "item_written" });
    return this.#text;
  }
}

function writerOf(call: ToolCall | null): CallWriter | null {
  if (call === null || call.streams === null) return null;
  const { streams } = call;
  if (streams === "arguments") return { add: deltaOf };
  return "add" in streams ? streams : memberWriter(streams.member);
}

/** Shows the string of one member, decoded. */
function memberWriter(member: string): CallWriter {
  const strings = new JsonStrings(1);
  let isWhole = false;
  return {
    add: (piece) =>
      strings.add(piece).flatMap((addition) => {
        if (isWhole || addition.path[0] !== member) return [];
        isWhole = addition.isWhole;
        return deltaOf(addition.text);
      }),
  };
}

function deltaOf(text: string): readonly HostedItemEvent[] {
  return text === "" ? [] : [{ type: "item_delta", text }];
}
