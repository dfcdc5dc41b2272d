import { type News, type NewsItem, writeMessage } from "../bus-message.ts";

/** What a message takes beside its items, in bytes, at most. */
const HEAD_BYTES_MAX = 200;
/** What an item takes beside its lines and its id, in bytes, at most. */
const ITEM_BYTES_MAX = 64;

/** An item, and how many bytes it takes in a message at most. Items for several receivers are measured once. */
export interface MeasuredItem {
  readonly item: NewsItem;
  readonly bytes: number;
}

/** An item that fits a message. Events that do not fit are left to the log. */
export function measured(item: NewsItem, textBytesMax: number): MeasuredItem {
  const bytes = ITEM_BYTES_MAX + item.id.length + (item.type === "events" ? Buffer.byteLength(item.lines) : 0);
  if (item.type !== "events" || bytes <= textBytesMax - HEAD_BYTES_MAX) return { item, bytes };
  return measured({ type: "logged", id: item.id, last: item.last }, textBytesMax);
}

/** Gathers the news for one receiver and counts its messages. */
export class NewsBox {
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

  /** The next message answers a question that was asked at this time. */
  answer(sentAt: number): void {
    this.#echo = sentAt;
  }

  /** The messages of all that waits: one at least, which may be empty and then only shows that nothing is missing. */
  take(worker: number): readonly string[] {
    const messages: string[] = [];
    let items: NewsItem[] = [];
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

  #next(worker: number, items: readonly NewsItem[]): News {
    const echo = this.#echo;
    const number = this.#number;
    this.#echo = null;
    this.#number += 1;
    return { type: "news", worker, series: this.#series, number, echo, items };
  }
}
