import { setTimeout as sleep } from "node:timers/promises";
import { assert } from "@antiphon/base/assert.ts";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import type { CreateKey, CreateKeyStore, KeyedSubject } from "@antiphon/domain/create-keys.ts";
import type { Caller } from "../../access/caller.ts";
import { KeyHold } from "../../access/key-hold.ts";
import { idempotencyKeyReused } from "../../errors/state-errors.ts";
import { fingerprintOf, readKey } from "./create-key.ts";

/** The interval of looking for the answer to another request, in milliseconds. */
const POLL_INTERVAL_MS = 100;

interface KeyedCall {
  readonly path: unknown;
  readonly headers: { readonly "idempotency-key"?: string };
  readonly body?: unknown;
}

interface JsonReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
}

type Answering<Call, Reply> = (call: Call, caller: Caller) => Promise<Reply>;

/** Makes operations with an `Idempotency-Key` answer once. */
export type AnswerOnce = <Call extends KeyedCall, Reply extends JsonReply>(
  operation: string,
  answer: Answering<Call, Reply>,
) => Answering<Call, Reply>;

/**
 * Keeps the answer to a request that has a key, and gives it to whoever repeats the request. A repetition that comes
 * before the answer waits for it. Refusals are not kept. If the server dies after it has made something and before the
 * answer is stored, the key is free.
 */
export function answersOnce(createKeys: CreateKeyStore): AnswerOnce {
  return (operation, answer) => async (call, caller) => {
    const header = call.headers["idempotency-key"];
    if (header === undefined) return await answer(call, caller);
    const fingerprint = await fingerprintOf({ path: call.path, body: call.body });
    const key: CreateKey = { operation, key: readKey(header), fingerprint, isKept: true };
    const { hold, text } = await holdOrAnswer(createKeys, key, caller);
    if (hold === null) return { ...readOwnJson<typeof reply>(text), headers: { "idempotent-replayed": "true" } };
    const reply = await hold.during(() => answer(call, { ...caller, signal: hold.signalFor(caller.signal) }));
    await hold.answer(JSON.stringify({ status: reply.status, body: reply.body }));
    return reply;
  };
}

type HoldOrAnswer = { readonly hold: KeyHold; readonly text: null } | { readonly hold: null; readonly text: string };

async function holdOrAnswer(createKeys: CreateKeyStore, key: CreateKey, caller: Caller): Promise<HoldOrAnswer> {
  const { owner } = caller.principal;
  for (;;) {
    const claim = await createKeys.claim(owner, key);
    if (claim.type === "first") return { hold: new KeyHold(createKeys, claim.claimedKey, caller.log), text: null };
    if (claim.type === "other_content") throw idempotencyKeyReused();
    for (let subject: KeyedSubject | null = claim; subject !== null; subject = await createKeys.find(owner, key)) {
      if (subject.answer !== null) return { hold: null, text: subject.answer };
      assert(!subject.isOver, "the answer is kept with its key");
      await sleep(POLL_INTERVAL_MS, null, { signal: caller.signal });
    }
  }
}
