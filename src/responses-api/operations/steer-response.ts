import { newId } from "@antiphon/base/ids.ts";
import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import { PENDING_STEERS_MAX, type SteerStore } from "@antiphon/domain/steering/steers.ts";
import type { Caller } from "../access/caller.ts";
import {
  responseAlreadyCompleted,
  responseNotActive,
  responseNotFound,
  steeringNotSupported,
  tooManySteers,
} from "../errors/state-errors.ts";
import { takesSteers } from "../input/steer-input.ts";
import type { Sealer } from "../seal.ts";
import { shownSteer } from "../show/shown-steer.ts";
import { isOver, type WatchContext } from "../show/watch-response.ts";
import { openSettings, settingsIn } from "../task/steer-settings.ts";

/** What input is added to responses with. */
export interface SteerContext {
  readonly watching: WatchContext;
  readonly steers: SteerStore;
  readonly sealer: Sealer;
}

/** `POST /v1/responses/{response_id}/steer`: adds input to a background response that has not ended. */
export function steerResponse(context: SteerContext): ResponsesApiHandlers<Caller>["steerResponse"] {
  const { watching, steers } = context;
  return async ({ path: { response_id: responseId }, body: { input } }, { principal: { owner, keyId } }) => {
    const response = await watching.store.findResponse(owner, responseId);
    if (response === null) throw responseNotFound(responseId);
    const task = isOver(response) ? null : await steers.findTask(owner, responseId);
    if (task === null) throw await whyNotSteered(watching, owner, responseId);
    const settings = settingsIn(task);
    const request = settings === null ? null : openSettings(context.sealer, { owner, responseId }, settings);
    if (settings === null || request === null || !takesSteers(request)) throw steeringNotSupported();
    const id = newId("steer", Math.floor(Date.now() / 1000));
    const steer = await steers.add({ id, owner, responseId, keyId, input, settings });
    if (steer === "full") throw tooManySteers(responseId, PENDING_STEERS_MAX);
    if (steer === null) throw await whyNotSteered(watching, owner, responseId);
    await watching.runs.requests.tell(responseId);
    watching.neighbours?.tellStop(responseId); // Its worker also looks by itself, each second.
    return { status: 202, body: shownSteer(steer, response) };
  };
}

/** The error for a response that has ended, or is made in the foreground. */
async function whyNotSteered(
  { store }: Pick<WatchContext, "store">,
  owner: Caller["principal"]["owner"],
  responseId: string,
): Promise<Error> {
  const response = await store.findResponse(owner, responseId);
  if (response === null) return responseNotFound(responseId);
  if (!isOver(response)) return steeringNotSupported();
  return response.status === "completed" ? responseAlreadyCompleted(responseId) : responseNotActive(responseId);
}
