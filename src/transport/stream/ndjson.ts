import { jsonOf } from "../../base/json/json-text.ts";
import type { Faults } from "../faults.ts";
import type { LinesReply } from "../handler.ts";
import type { OutgoingStream } from "./write-stream.ts";

const NDJSON_HEADERS = {
  "content-type": "application/x-ndjson",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

function ndjsonLine(value: object): string {
  return `${jsonOf(value)}\n`;
}

/** One JSON text per line, both ways at once where the client wants it. */
export function ndjsonStream(reply: LinesReply, faults: Pick<Faults, "streamError">): OutgoingStream<object> {
  return {
    status: reply.status,
    headers: { ...NDJSON_HEADERS, ...reply.headers },
    values: reply.lines,
    frameOf: ndjsonLine,
    keepAlive: null,
    onError: (error, last) => faults.streamError(error, last),
  };
}
