import type { Response } from "@antiphon/contracts/responses-api/types.ts";
import type { Caller } from "../access/caller.ts";
import { pauseNotSupported, responseNotActive, responseNotFound } from "../errors/state-errors.ts";
import { pausableBody } from "./plain-body.ts";
import { isOver, type WatchContext } from "./watch-response.ts";

/** `change` resolves to false if the run cannot be paused, or has ended. */
export async function changePause(
  { store, runs, neighbours }: WatchContext,
  { principal: { owner } }: Pick<Caller, "principal">,
  id: string,
  change: () => Promise<boolean>,
): Promise<Response> {
  const before = await store.findStored(owner, id);
  if (before === null) throw responseNotFound(id);
  if (before.response.background !== true) throw pauseNotSupported();
  if (isOver(before.response) || !(await change())) throw responseNotActive(id);
  await runs.requests.tell(id);
  neighbours?.tellStop(id); // Its worker also looks by itself, each second.
  const after = await store.findStored(owner, id);
  if (after === null) throw responseNotFound(id);
  return pausableBody(after);
}
