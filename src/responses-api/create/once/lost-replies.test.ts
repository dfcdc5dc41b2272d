import { silentLogger } from "@antiphon/base/logger.ts";
import type { CreateResponseRequest } from "@antiphon/contracts/responses-api/types.ts";
import { assert, expect } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import { openTestStore, testStores } from "../../../store/store.fixture.ts";
import { OURS } from "../../../store/stored-shapes.fixture.ts";
import { takeRetry } from "./lost-replies.ts";

const BACKGROUND: CreateResponseRequest = { model: "m", input: "Hi", background: true };
const WITH_TOOL: CreateResponseRequest = { model: "m", input: "Hi", tools: [{ type: "web_search" }] };

function sender(count: string | undefined, signal = new AbortController().signal, keyId = "key_1") {
  const headers = count === undefined ? {} : { "x-stainless-retry-count": count };
  return {
    principal: { owner: OURS, keyId },
    signal,
    log: silentLogger,
    peer: { remoteAddress: "127.0.0.1", headers },
  };
}

testStores("a retry finds a background response whose client left, once, with the same body and key", async () => {
  verifies("responses.lost-replies.found-by-retry");
  const { createKeys } = await openTestStore();
  const client = new AbortController();
  const { hold } = await takeRetry(createKeys, BACKGROUND, sender("0", client.signal));
  assert(hold !== null);
  await hold.name("resp_1");
  client.abort();
  const lostId = async (request: CreateResponseRequest, count: string, keyId?: string): Promise<string | null> =>
    (await takeRetry(createKeys, request, sender(count, undefined, keyId))).lostId;
  expect(await lostId({ ...BACKGROUND, input: "Ho" }, "1")).toBeNull();
  expect(await lostId(BACKGROUND, "1", "key_2")).toBeNull();
  expect(await lostId(BACKGROUND, "0")).toBeNull();
  await expect.poll(() => lostId(BACKGROUND, "1")).toBe("resp_1");
  expect(await lostId(BACKGROUND, "2")).toBeNull();
});

testStores("a run that has changed nothing is stopped with its client, and is not found", async () => {
  verifies("responses.lost-replies.found-by-retry");
  const { createKeys } = await openTestStore();
  const client = new AbortController();
  const { hold } = await takeRetry(createKeys, WITH_TOOL, sender("0", client.signal));
  assert(hold !== null);
  await hold.name("resp_1");
  client.abort();
  expect(hold.signal.aborted).toBe(true);
  expect((await takeRetry(createKeys, WITH_TOOL, sender("1"))).lostId).toBeNull();
});

testStores("requests that can do nothing twice are not watched", async () => {
  verifies("responses.lost-replies.found-by-retry");
  const { createKeys } = await openTestStore();
  const unwatched = { lostId: null, hold: null };
  expect(await takeRetry(createKeys, { model: "m", input: "Hi" }, sender("0"))).toEqual(unwatched);
  expect(await takeRetry(createKeys, { ...WITH_TOOL, store: false }, sender("0"))).toEqual(unwatched);
  expect(await takeRetry(createKeys, WITH_TOOL, sender(undefined))).toEqual(unwatched);
});
