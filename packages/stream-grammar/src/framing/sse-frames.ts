import type { RuleName } from "../rules.ts";
import { LineCutter } from "./line-cutter.ts";

/** The lines between two blank lines. */
export interface SseFrame {
  readonly name: string | null;
  /** Null if the frame has only comments. */
  readonly data: string | null;
  /** The text of its id line; null if it has none. */
  readonly id: string | null;
  readonly faults: readonly (readonly [RuleName, string])[];
}

/** Maximum lines of a frame. The reference's frames have three. */
const LINES_MAX = 10_000;
const BYTE_ORDER_MARK = "\uFEFF";

/** Splits server-sent events, and reports faults that usual parsers tolerate. */
export class SseFrames {
  readonly #cutter = new LineCutter();
  #lines: string[] = [];
  #isFirst = true;

  /** Returns the frames that are now complete. Throws a RangeError if a frame is too long. */
  take(piece: string): readonly SseFrame[] {
    const frames: SseFrame[] = [];
    for (const line of this.#cutter.take(piece)) {
      if (line !== "" && line !== "\r") this.#lines.push(line);
      else {
        if (this.#lines.length > 0 || line !== "")
          frames.push(this.#read([...this.#lines, ...(line === "" ? [] : [line])]));
        this.#lines = [];
      }
    }
    if (this.#lines.length > LINES_MAX) throw new RangeError(`A frame has more than ${LINES_MAX} lines.`);
    return frames;
  }

  /** The part of an unfinished frame. */
  get rest(): string {
    return [...this.#lines, this.#cutter.rest].join("\n");
  }

  #read(lines: readonly string[]): SseFrame {
    const faults: [RuleName, string][] = [];
    const fault = (says: string): unknown => faults.push(["frame-lines", says]);
    if (this.#isFirst && lines[0]?.startsWith(BYTE_ORDER_MARK) === true)
      fault("the stream begins with a byte order mark");
    this.#isFirst = false;
    if (lines.some((line) => line.endsWith("\r"))) fault("lines end with a carriage return");
    const { names, data, ids, others } = fieldsOf(lines);
    for (const field of others) fault(`there is a line '${field.slice(0, 40)}'`);
    const isEvent = data.length > 0 || names.length > 0;
    if (data.length > 1 || (data.length === 0 && isEvent)) fault(`there are ${data.length} data lines`);
    if (names.length > 1) fault(`there are ${names.length} event lines`);
    if (ids.length > 1) fault(`there are ${ids.length} id lines`);
    return { name: names[0] ?? null, data: isEvent ? data.join("\n") : null, id: ids[0] ?? null, faults };
  }
}

interface Fields {
  readonly names: string[];
  readonly data: string[];
  readonly ids: string[];
  /** The names of fields that frames do not have. */
  readonly others: string[];
}

function fieldsOf(lines: readonly string[]): Fields {
  const fields: Fields = { names: [], data: [], ids: [], others: [] };
  for (const line of lines) {
    const text = line.replace(/\r$/, "").replace(BYTE_ORDER_MARK, "");
    const [, field = text, value = ""] = /^([^:]*): ?(.*)$/s.exec(text) ?? [];
    if (field === "event") fields.names.push(value);
    else if (field === "data") fields.data.push(value);
    else if (field === "id") fields.ids.push(value);
    else if (field !== "") fields.others.push(field);
  }
  return fields;
}
