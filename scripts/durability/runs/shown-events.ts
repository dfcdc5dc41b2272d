import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { STEPS, WORDS } from "../world/script.ts";

/** An event as a reader was shown it. */
export interface ShownEvent {
  readonly number: number;
  readonly type: string;
  readonly json: string;
  readonly at: number;
  /** When the connection was opened that showed it. */
  readonly connectedAt: number;
}

/** Where a run stands, as its reader sees it. */
export type Phase = "step" | "text" | "between";

const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);

/** What one reader was shown of one run, over all its connections. */
export class ShownEvents {
  /** In the order of their numbers. An event whose number was shown before is not among them. */
  readonly events: ShownEvent[] = [];
  /** Events whose number was shown before, as JSON. */
  readonly repeated: string[] = [];
  /** Numbers that were left out. */
  missing = 0;
  /** Events after the one that ends the run, as JSON. */
  readonly late: string[] = [];
  #steps = 0;
  #words = 0;
  #phase: Phase = "between";
  #end: ShownEvent | null = null;

  get last(): ShownEvent | null {
    return this.events.at(-1) ?? null;
  }

  /** The event that ended the run; null until it is shown. */
  get end(): ShownEvent | null {
    return this.#end;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** From 0 to 1: the steps count as much as the text, as they take about as long. */
  get progress(): number {
    if (this.#end !== null) return 1;
    return Math.min(this.#steps / STEPS, 1) / 2 + Math.min(this.#words / WORDS, 1) / 2;
  }

  /** Takes the JSON of an event and when it was shown. Returns the id of its response if it tells one. */
  take(json: string, times: Pick<ShownEvent, "at" | "connectedAt">): string | null {
    const event = jsonOrUndefined(json);
    if (!isRecord(event)) return null;
    const { type, sequence_number: number, response, item } = event;
    if (typeof type !== "string" || typeof number !== "number") return null;
    this.#note({ number, type, json, ...times });
    if (isRecord(item)) this.#noteItem(type, item["type"]);
    if (type === "response.output_text.delta") this.#words += 1;
    return isRecord(response) && typeof response["id"] === "string" ? response["id"] : null;
  }

  #note(event: ShownEvent): void {
    const next = (this.last?.number ?? -1) + 1;
    if (event.number < next) return void this.repeated.push(event.json);
    if (this.#end !== null) return void this.late.push(event.json);
    this.missing += event.number - next;
    this.events.push(event);
    if (ENDS.has(event.type)) this.#end = event;
  }

  #noteItem(type: string, itemType: unknown): void {
    if (type === "response.output_item.added") this.#phase = phaseIn(itemType);
    if (type !== "response.output_item.done") return;
    this.#phase = "between";
    if (itemType === "mcp_call") this.#steps += 1;
  }
}

function phaseIn(itemType: unknown): Phase {
  if (itemType === "mcp_call") return "step";
  return itemType === "message" ? "text" : "between";
}
