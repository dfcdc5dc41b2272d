import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { EventLog } from "../../runs/ports/event-log.ts";
import type { Caller } from "../access/caller.ts";
import { responseHasNoSound, responseNotFound, responseStillRuns } from "../errors/state-errors.ts";
import { SOUND_START_BYTES, soundTypeOf } from "../show/sound-type.ts";
import { isOver, type WatchContext } from "../show/watch-response.ts";

/** `GET /v1/responses/{response_id}/audio`: the sound of a spoken answer as one file. */
export function getResponseAudio({ store, eventLog }: WatchContext): ResponsesApiHandlers<Caller>["getResponseAudio"] {
  return async ({ path: { response_id: id } }, { principal: { owner } }) => {
    const response = await store.findResponse(owner, id);
    if (response === null) throw responseNotFound(id);
    if (!isOver(response)) throw responseStillRuns(id);
    const { size, contentType } = await measureSound(soundOf(eventLog, id));
    if (size === 0) throw responseHasNoSound(id);
    return { status: 200, contentType, bytes: { size, chunks: soundOf(eventLog, id) } };
  };
}

/** The path of the sound of a response. */
export function audioPathOf(responseId: string): string {
  return `/v1/responses/${responseId}/audio`;
}

/** The decoded audio deltas. Only one batch of the log is in memory at a time. */
async function* soundOf(eventLog: EventLog, responseId: string): AsyncGenerator<Uint8Array, void> {
  for await (const batch of eventLog.read(responseId, -1))
    for (const { event } of batch) if (event.type === "response.audio.delta") yield Buffer.from(event.delta, "base64");
}

async function measureSound(sound: AsyncIterable<Uint8Array>): Promise<{ size: number; contentType: string }> {
  let size = 0;
  let start = Buffer.alloc(0);
  for await (const bytes of sound) {
    size += bytes.byteLength;
    if (start.length < SOUND_START_BYTES) start = Buffer.concat([start, bytes.subarray(0, SOUND_START_BYTES)]);
  }
  return { size, contentType: soundTypeOf(start) };
}
