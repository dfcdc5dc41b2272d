import { setTimeout as sleep } from "node:timers/promises";
import type { CreateKey, CreateKeyStore } from "@antiphon/domain/create-keys.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import type { Caller } from "../../access/caller.ts";
import { KeyHold } from "../../access/key-hold.ts";
import { idempotencyKeyReused, responseGone, responseNotKept } from "../../errors/state-errors.ts";

/** The interval of looking for a response that another request is creating, in milliseconds. */
const POLL_INTERVAL_MS = 100;

export interface KeyContext {
  readonly createKeys: CreateKeyStore;
  readonly store: Pick<ResponseStore, "findResponse">;
}

export type KeyTurn =
  | { readonly type: "first"; readonly hold: KeyHold }
  /** The response is stored. */
  | { readonly type: "repeated"; readonly responseId: string };

/**
 * Takes the key for this request, or finds the response of an earlier one; waits while that one is on its way into the
 * store, which takes as long as its model needs to accept. Throws an `ApiError` if there is no such response any more,
 * or the key stands for another body.
 */
export async function takeKey(context: KeyContext, key: CreateKey, caller: Caller): Promise<KeyTurn> {
  const { createKeys, store } = context;
  const { principal, signal, log } = caller;
  const { owner } = principal;
  const claim = await createKeys.claim(owner, key);
  if (claim.type === "first") return { type: "first", hold: new KeyHold(createKeys, claim.claimedKey, log) };
  if (claim.type === "other_content") throw idempotencyKeyReused();
  for (let subject = claim as Omit<typeof claim, "type">; ; ) {
    const { subjectId, isKept, isOver } = subject;
    if (!isKept) throw responseNotKept();
    const response = subjectId === null ? null : await store.findResponse(owner, subjectId);
    if (response !== null) return { type: "repeated", responseId: response.id };
    if (isOver) throw responseGone(subjectId ?? "");
    await sleep(POLL_INTERVAL_MS, null, { signal });
    const next = await createKeys.find(owner, key);
    if (next === null) return await takeKey(context, key, caller); // Refused, or its process has died.
    subject = next;
  }
}
