import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { BegunResponse } from "../../responses-api/create/begin-response.ts";
import { isOver } from "../../responses-api/show/watch-response.ts";
import { responseFailure } from "../response-failure.ts";

export interface HeardAnswer {
  readonly response: Response;
  /** In base64. The voice ends it after 15 minutes. */
  readonly sound: string;
}

/** Waits for the end of a spoken answer. Throws its `ApiError` if it failed. */
export async function hearAnswer({ events }: Pick<BegunResponse, "events">): Promise<HeardAnswer> {
  const sound: Buffer[] = [];
  let ended: Response | null = null;
  for await (const batch of events) {
    for (const { event } of batch) {
      if (event.type === "response.audio.delta") sound.push(Buffer.from(event.delta, "base64"));
      if ("response" in event && isOver(event.response)) ended = event.response;
    }
  }
  if (ended === null) throw new TypeError("the events of a run end with its last one");
  if (ended.status === "failed" || ended.status === "cancelled") throw responseFailure(ended);
  return { response: ended, sound: Buffer.concat(sound).toString("base64") };
}
