import type { ResponseSteer, ResponseSteerList } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { verifies } from "../verifies.ts";
import { begin, change, type Door, ended, heldWorld, list, paused, steer, steers } from "./held-world.ts";

test("input that is added to a response ends it after its calls, and its successor is asked with it", async () => {
  verifies("responses.steer.successor", "responses.steer.names-the-turn", "responses.steer.readers-find-it");
  const world = await heldWorld();
  const server = await startChildServer({ env: world.env });
  const id = await begin(server, world.ask(2, { instructions: "Be short.", temperature: 0.5, metadata: { a: "b" } }));
  await expect.poll(world.begun).toBe(1);
  const input = [{ role: "user", content: [{ type: "input_text", text: "And in verse." }] }];
  const [first, second] = [await steer(server, id, "Only names."), await steer(server, id, input)];
  expect(first).toEqual({
    id: expect.stringMatching(/^steer_/),
    object: "response.steer",
    created_at: expect.any(Number),
    error: null,
    input: "Only names.",
    previous_response_id: id,
    required_input: [],
    status: "accepted",
    successor_id: null,
    turn: null,
  });
  world.release();
  const steered = await ended(server, id);
  expect([steered.status, steered.incomplete_details]).toEqual(["incomplete", { reason: "steered" }]);
  expect(steered.output).toContainEqual(expect.objectContaining({ type: "mcp_call", output: "Book 1." }));
  const [one, other] = await steers(server, id, "applied");
  const successor = one?.successor_id ?? "";
  expect(one).toMatchObject({ id: first.id, turn: 2 });
  expect(other).toMatchObject({ id: second.id, turn: 2, input, successor_id: successor });
  const reply = await server.fetch(`/v1/responses/${id}`);
  expect(reply.headers.get("x-antiphon-successor")).toBe(successor);
  const response = await ended(server, successor);
  expect(response).toMatchObject({ status: "completed", previous_response_id: id, background: true, temperature: 0.5 });
  expect(response.metadata).toEqual({ a: "b" });
  expect(world.turns[1]).toEqual([
    ["system", expect.stringContaining("Be short.")],
    ["user", "Read 2 times"],
    ["assistant", expect.anything()],
    ["tool", expect.stringContaining("Book 1.")],
    ["user", "Only names."],
    ["user", expect.anything()],
  ]);
  expect(world.begun()).toBe(2);
});

test("a response that ends before it is steered hands the input to a successor all the same", async () => {
  verifies("responses.steer.successor");
  const world = await heldWorld();
  const server = await startChildServer({ env: world.env });
  const id = await begin(server, world.ask(1));
  await expect.poll(world.begun).toBe(1);
  await change(server, id, "pause");
  const { successor_id: none } = await steer(server, id, "Hello");
  expect(none).toBeNull();
  world.release();
  await paused(server, id);
  expect((await list(server, id)).map(({ status }) => status)).toEqual(["accepted"]);
  await change(server, id, "resume");
  await ended(server, id);
  const [applied] = await steers(server, id, "applied");
  expect((await ended(server, applied?.successor_id ?? "")).status).toBe("completed");
  expect(world.turns.at(-1)?.at(-1)).toEqual(["user", "Hello"]);
});

test("input waits for what the client owes, and goes before the results that it sends", async () => {
  verifies("responses.steer.waits-for-client");
  const world = await heldWorld();
  const server = await startChildServer({ env: world.env });
  world.think();
  const asked = world.ask(1, { tools: world.approvedTools });
  const id = await begin(server, asked);
  await expect.poll(() => world.turns.length).toBe(1);
  await steer(server, id, "Only names.");
  world.speak();
  expect((await ended(server, id)).status).toBe("completed");
  const [pending] = await steers(server, id, "pending");
  const [owed] = pending?.required_input ?? [];
  expect(owed).toEqual({ type: "mcp_approval_response", approval_request_id: expect.stringMatching(/^mcpr_/) });
  world.release();
  const input = [{ ...owed, approve: true }];
  const next = await begin(server, { ...asked, input, previous_response_id: id });
  expect((await list(server, id))[0]).toMatchObject({ status: "applied", successor_id: next, turn: 2 });
  expect((await ended(server, next)).status).toBe("completed");
  expect(world.turns.at(-1)).toContainEqual(["user", "Only names."]);
  const again = await begin(server, { ...asked, input: "More", previous_response_id: next });
  await ended(server, again);
  expect((await list(server, id))[0]?.successor_id).toBe(next);
});

test("input for a response that takes none is refused with the reason", async () => {
  verifies("responses.steer.refused");
  const world = await heldWorld();
  const server = await startChildServer({ env: world.env });
  const over = await begin(server, world.ask(0));
  await ended(server, over);
  expect(await refusal(server, over, "Hi")).toEqual([400, "response_already_completed"]);
  expect(await refusal(server, "resp_unknown", "Hi")).toEqual([404, "invalid_request_error"]);
  const id = await begin(server, world.ask(1));
  await expect.poll(world.begun).toBe(1);
  expect(await refusal(server, id, [])).toEqual([400, "array_below_min_length"]);
  expect(await refusal(server, id, [{ role: "system", content: "Obey" }])).toEqual([400, "invalid_value"]);
  for (let number = 0; number < 16; number++) await steer(server, id, `${number}`);
  expect(await refusal(server, id, "16")).toEqual([400, "too_many_pending_steers"]);
  await change(server, id, "cancel");
  expect(await refusal(server, id, "Hi")).toEqual([400, "response_not_active"]);
  const failed = await steers(server, id, "failed");
  expect(failed.map(({ input, error }) => [input, error?.code])).toEqual(
    Array.from({ length: 16 }, (_, number) => [`${number}`, "response_not_active"]),
  );
  const conversation: { id: string } = JSON.parse(await (await server.post("/v1/conversations", {})).text());
  const kept = await begin(server, world.ask(1, { conversation: conversation.id }));
  expect(await refusal(server, kept, "Hi")).toEqual([400, "steering_not_supported"]);
});

test("a request that is repeated with its key adds its input once", async () => {
  verifies("responses.steer.once");
  const world = await heldWorld();
  const server = await startChildServer({ env: world.env });
  const id = await begin(server, world.ask(1));
  await expect.poll(world.begun).toBe(1);
  const ask = async (): Promise<ResponseSteer> =>
    JSON.parse(
      await (await server.post(`/v1/responses/${id}/steer`, { input: "Hi" }, { "idempotency-key": "one" })).text(),
    );
  expect((await ask()).id).toBe((await ask()).id);
  expect(await list(server, id)).toHaveLength(1);
});

test("input and pauses survive kill -9: either the accepted input is there, or one successor", async () => {
  verifies("responses.steer.survives-crashes");
  const world = await heldWorld();
  const folder = temporaryFolder();
  const env = { ...world.env, DATA_DIR: folder };
  const first = await startChildServer({ env });
  const id = await begin(first, world.ask(1));
  await expect.poll(world.begun).toBe(1);
  await steer(first, id, "Hello");
  await first.kill();
  world.release();
  const second = await startChildServer({ env });
  expect((await ended(second, id)).incomplete_details).toEqual({ reason: "steered" });
  const [applied] = await steers(second, id, "applied");
  expect((await ended(second, applied?.successor_id ?? "")).status).toBe("completed");
  const all: ResponseSteerList = JSON.parse(await (await second.fetch(`/v1/responses/${id}/steer`)).text());
  expect(all.data).toHaveLength(1);
});

async function refusal(server: Door, id: string, input: unknown): Promise<unknown> {
  const reply = await server.post(`/v1/responses/${id}/steer`, { input });
  const { error }: { error?: { code: string | null } } = JSON.parse(await reply.text());
  return [reply.status, error?.code];
}
