import { jsonOf } from "../../base/json/json-text.ts";
import type { Faults } from "../faults.ts";
import type { EventsReply, StreamEvent } from "../handler.ts";
import type { OutgoingStream } from "./write-stream.ts";

const SSE_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  "x-accel-buffering": "no", // Reverse proxies would else hold events back.
};

function sseFrame(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${jsonOf(event)}\n\n`;
}

/** Server-sent events. There is no `[DONE]`: the last event is the end. */
export function sseStream(
  reply: EventsReply,
  keepAliveMs: number,
  faults: Pick<Faults, "streamError">,
): OutgoingStream<StreamEvent> {
  return {
    status: reply.status,
    headers: { ...SSE_HEADERS, ...reply.headers },
    values: reply.events,
    frameOf: sseFrame,
    keepAlive: { frame: ": keepalive\n\n", everyMs: keepAliveMs },
    onError: (error, last) => faults.streamError(error, last),
  };
}
