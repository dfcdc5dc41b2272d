import type { Response as ResponseBody, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { Name } from "./world.ts";

/** What one client was shown of one response. */
export class View {
  readonly kind: string;
  /** What it asked. */
  readonly name: Name;
  readonly isBackground: boolean;
  /** Null until the server named it. */
  id: string | null = null;
  /** The events as JSON. Their places are their numbers. */
  readonly events: string[] = [];
  /** How many streams the client needed beside the first one. */
  resumed = 0;
  /** The response as its last event shows it. */
  final: ResponseBody | null = null;
  /** What must never be. */
  readonly faults: string[] = [];

  constructor(kind: string, name: Name, isBackground: boolean) {
    this.kind = kind;
    this.name = name;
    this.isBackground = isBackground;
  }

  get isOver(): boolean {
    return this.final !== null;
  }

  take(event: ResponseStreamEvent): void {
    const { sequence_number: number } = event;
    if (this.isOver) this.faults.push(`event ${number} came after the end`);
    if (number < this.events.length) this.faults.push(`event ${number} came twice`);
    else if (number > this.events.length) this.faults.push(`event ${number} came after ${this.events.length - 1}`);
    this.events[number] = JSON.stringify(event);
    if (!("response" in event)) return;
    this.id ??= event.response.id;
    if (ENDS.has(event.type)) this.final = event.response;
  }
}

/** The events that end a response. One that was cancelled ends as incomplete or failed. */
export const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"]);
