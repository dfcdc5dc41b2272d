import { type RunUpdates, type UpdateItem, writeMessage } from "../bus-message.ts";

/** The maximum size of a message without its items, in bytes. */
const HEAD_BYTES_MAX = 200;
/** The maximum size of an item without its lines and its id, in bytes. */
const ITEM_BYTES_MAX = 64;

/** An item and its maximum size in a message. Measured once for several receivers. */
export interface MeasuredItem {
  readonly item: UpdateItem;
  readonly bytes: number;
}

/** An item that fits into a message. Events that do not fit are left to the log. */
export function measureItem(item: UpdateItem, textBytesMax: number): MeasuredItem {
  const bytes = ITEM_BYTES_MAX + item.id.length + (item.type === "events" ? Buffer.byteLength(item.lines) : 0);
  if (item.type !== "events" || bytes <= textBytesMax - HEAD_BYTES_MAX) return { item, bytes };
  return measureItem({ type: "logged", id: item.id, last: item.last }, textBytesMax);
}

/** Collects the events for one receiver and counts its messages. */
export class Outbox {
  readonly #series: string;
  readonly #textBytesMax: number;
  #waiting: MeasuredItem[] = [];
  #echo: number | null = null;
  #number = 0;

  constructor(series: string, textBytesMax: number) {
    this.#series = series;
    this.#textBytesMax = textBytesMax;
  }

  add(item: MeasuredItem): void {
    this.#waiting.push(item);
  }

  /** The next message answers a request sent at this time. */
  answer(sentAt: number): void {
    this.#echo = sentAt;
  }

  /** The messages with all waiting items. Always at least one; an empty one only shows that nothing is missing. */
  take(worker: number): readonly string[] {
    const messages: string[] = [];
    let items: UpdateItem[] = [];
    let bytes = HEAD_BYTES_MAX;
    const end = (): void => {
      messages.push(writeMessage(this.#next(worker, items)));
      items = [];
      bytes = HEAD_BYTES_MAX;
    };
    for (const next of this.#waiting) {
      if (bytes + next.bytes > this.#textBytesMax && items.length > 0) end();
      items.push(next.item);
      bytes += next.bytes;
    }
    end();
    this.#waiting = [];
    return messages;
  }

  #next(worker: number, items: readonly UpdateItem[]): RunUpdates {
    const echo = this.#echo;
    const number = this.#number;
    this.#echo = null;
    this.#number += 1;
    return { type: "news", worker, series: this.#series, number, echo, items };
  }
}
