import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import type { ChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { type ReadStream, readStream } from "../responses/read-stream.ts";
import { someCases, trialSize } from "../trials.ts";
import { verifies } from "../verifies.ts";
import type { Tool } from "./bank.ts";
import { checkClientView, nothingSeen } from "./check-client-view.ts";
import { type ClientView, readEvents } from "./client.ts";
import { until } from "./lives.ts";
import { INPUT_TOKENS, type PayingWorld, PLACES, type Place, payingWorld, startAimed } from "./paying-world.ts";

/** CI sets a lower number to save time. */
const KILLS = Math.ceil((trialSize("CRASH_KILLS", { all: 50, short: 5 }) * 4) / 5);
/** Places by tools. */
const CASES = PLACES.flatMap((place) => (["pay", "look"] as const).map((tool) => ({ place, tool })));
const ROUNDS = Math.max(1, Math.round(KILLS / CASES.length));
const TEST_TIMEOUT_MS = 900_000;

/** How often each tool has acted when the response is whole. */
const ACTED: Readonly<Record<Tool, Readonly<Record<Place, number>>>> = {
  pay: { "before begin": 1, "begin to effect": 0, "effect to finish": 1, "finish to event": 1 },
  look: { "before begin": 1, "begin to effect": 1, "effect to finish": 2, "finish to event": 1 },
};

function bank(world: PayingWorld, members: object = { require_approval: "never" }): readonly object[] {
  return [{ type: "mcp", server_label: "bank", server_url: world.mcpUrl, ...members }];
}

/** Makes the server die at this place, unless it is the store that sees it: then it is told to look out. */
function aimAt(world: PayingWorld, server: ChildServer, { place, tool }: { place: Place; tool: Tool }): void {
  world.aim({ place, tool, kill: () => server.kill() });
  process.kill(server.pid, "SIGUSR2");
}

async function ask(server: ChildServer, body: object): Promise<ClientView> {
  const view: ClientView = { kind: "background stream", id: null, events: [] };
  const whole = { model: "m", background: true, stream: true, stream_options: { include_obfuscation: false }, ...body };
  await server
    .post("/v1/responses", whole)
    .then((reply) => readEvents(reply, view))
    .catch(() => null);
  return view;
}

/** Reads the whole stream of a response as one that comes later does. */
async function replay(server: ChildServer, id: string): Promise<ReadStream> {
  return await readStream(await server.fetch(`/v1/responses/${id}/events?dialect=reference`));
}

test.each(someCases(CASES, 2))(
  `a background response goes on after its process was killed $place of $tool (${ROUNDS} kills each)`,
  async ({ place, tool }) => {
    verifies("state.crash.tools-go-on");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    let server = await startAimed(folder, world, place);
    for (let number = 1; number <= ROUNDS; number++) {
      aimAt(world, server, { place, tool });
      const view = await ask(server, { input: `number ${number}`, tools: bank(world) });
      await server.kill();
      expect(view.events.length).toBeGreaterThan(0);
      expect(view.events.join("")).not.toContain('"response.completed"');
      server = await startAimed(folder, world, place);
      world.aim(null);
      const response = await until(server, view.id ?? "", "completed", "failed");
      checkWhole(response, { place, tool });
      checkUsage(response, { place, tool });
      expect(await outcomesOf(folder, response.id)).toEqual(outcomesAfter({ place, tool }));
      const acted = (name: Tool) => world.done.filter((one) => one === `${name} ${number}`).length;
      expect([acted(tool), acted(tool === "pay" ? "look" : "pay")]).toEqual([ACTED[tool][place], 1]);
      await checkClientView(server, view, nothingSeen());
      await replay(server, response.id);
    }
    expect(await query(folder, "select id from responses where status in ('queued', 'in_progress')")).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);

/** The model has said its last word, and was told of each call once. */
function checkWhole({ status, output }: ResponseBody, { place, tool }: { place: Place; tool: Tool }): void {
  expect(status).toBe("completed");
  expect(output.at(-1)).toMatchObject({ type: "message", content: [{ text: "All done." }] });
  const calls = output.filter((item) => item.type === "mcp_call");
  const told = calls.filter((call) => call.status !== "incomplete");
  expect(told.map(({ name }) => name)).toEqual(["look", "pay"]);
  if (place !== "before begin") expect(calls).toHaveLength(2);
  const isUnsure = isUnknown({ place, tool });
  expect(told.map(({ status: end }) => end)).toEqual(["completed", isUnsure ? "failed" : "completed"]);
  if (isUnsure)
    expect(told[1]?.error).toMatchObject({
      type: "mcp_protocol_error",
      message: "interrupted; whether it took effect is unknown",
    });
}

/** How the ledger says that the calls came out, by their names. */
async function outcomesOf(folder: string, responseId: string): Promise<readonly unknown[]> {
  const rows = await query(
    folder,
    "select outcome from tool_exchanges where response_id = ? and output is not null order by name",
    responseId,
  );
  return rows.map(({ outcome }) => outcome);
}

function outcomesAfter({ place, tool }: { place: Place; tool: Tool }): readonly string[] {
  return ["finished", isUnknown({ place, tool }) ? "unknown" : "finished"];
}

function isUnknown({ place, tool }: { place: Place; tool: Tool }): boolean {
  return tool === "pay" && (place === "begin to effect" || place === "effect to finish");
}

/** The sums of what the model server told. A turn that ends while the process dies is estimated, or not known. */
function checkUsage({ usage, output }: ResponseBody, { place, tool }: { place: Place; tool: Tool }): void {
  if (tool === "look" || place === "before begin") expect(usage?.input_tokens).toBeGreaterThanOrEqual(INPUT_TOKENS * 2);
  else expect(usage).toMatchObject({ input_tokens: INPUT_TOKENS * turnsIn(output), output_tokens: turnsIn(output) });
}

/** Each call is a turn of its own, also the one that was cut off and made again. */
function turnsIn(output: ResponseBody["output"]): number {
  return output.filter(({ type }) => type === "mcp_call").length + 1;
}

test.each(someCases(CASES, 2, 1))(
  "an approval is spent once, although the process was killed $place of $tool",
  async ({ place, tool }) => {
    verifies("state.crash.tools-go-on");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    let server = await startAimed(folder, world, place);
    const free = tool === "pay" ? "look" : "pay";
    const tools = bank(world, { require_approval: { always: { tool_names: [tool] }, never: { tool_names: [free] } } });
    const asked = await ask(server, { input: "number 7", tools });
    const asking = await until(server, asked.id ?? "", "completed", "failed");
    const request = asking.output.find(({ type }) => type === "mcp_approval_request");
    const approval = { type: "mcp_approval_response", approval_request_id: request?.id, approve: true };
    const approved = { input: [approval], tools, previous_response_id: asking.id };
    aimAt(world, server, { place, tool });
    const view = await ask(server, approved);
    await server.kill();
    // The call is the first thing that happens, so its client may not have read the id of the response.
    const [stored] = await query(folder, "select id from responses where previous_response_id = ?", asking.id);
    view.id ??= String(stored?.["id"]);
    server = await startAimed(folder, world, place);
    world.aim(null);
    const response = await until(server, view.id ?? "", "completed", "failed");
    expect(response.output.at(-1)).toMatchObject({ type: "message", content: [{ text: "All done." }] });
    await checkClientView(server, view, nothingSeen());
    await replay(server, response.id);
    const again = await server.post("/v1/responses", { model: "m", ...approved });
    expect([again.status, await again.text()]).toEqual([400, expect.stringContaining("approval_spent")]);
    expect(world.done.filter((one) => one === `${tool} 7`)).toHaveLength(ACTED[tool][place]);
    expect(world.done.filter((one) => one === `${free} 7`)).toHaveLength(1);
  },
  TEST_TIMEOUT_MS,
);

test(
  "an approval is spent once by three responses at once, after the process that asked for it was killed",
  async () => {
    verifies("tools.mcp.approval-is-spent-once");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    const first = await startAimed(folder, world, null);
    const tools = bank(world, { require_approval: { never: { tool_names: ["look"] } } });
    const asked = await ask(first, { input: "number 8", tools });
    const asking = await until(first, asked.id ?? "", "completed", "failed");
    const request = asking.output.find(({ type }) => type === "mcp_approval_request");
    await first.kill();
    const second = await startAimed(folder, world, null);
    const approval = { type: "mcp_approval_response", approval_request_id: request?.id, approve: true };
    const approved = { model: "m", input: [approval], tools, previous_response_id: asking.id };
    const replies = await Promise.all([1, 2, 3].map(() => second.post("/v1/responses", approved)));
    const bodies = await Promise.all(replies.map(async (reply) => `${reply.status} ${await reply.text()}`));
    expect(bodies.filter((body) => /^200 .*"status":\s*"completed"/s.test(body))).toHaveLength(1);
    expect(bodies.filter((body) => /^400 .*"code":\s*"approval_spent"/s.test(body))).toHaveLength(2);
    expect(world.done).toEqual(["look 8", "pay 8"]);
  },
  TEST_TIMEOUT_MS,
);

test(
  "a plain response is stored before a call that may have effects, and a crash ends it as failed",
  async () => {
    verifies("state.crash.tools-go-on");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    const first = await startAimed(folder, world, null);
    aimAt(world, first, { place: "effect to finish", tool: "pay" });
    const reply = await first
      .post("/v1/responses", { model: "m", input: "number 9", tools: bank(world) })
      .catch(() => null);
    expect(reply).toBeNull();
    const rows = await query(folder, "select id from responses");
    expect(rows).toHaveLength(1);
    const second = await startAimed(folder, world, null);
    const response = await until(second, String(rows[0]?.["id"]), "completed", "failed");
    expect(response.status).toBe("failed");
    expect(response.output.map(({ type }) => type)).toEqual(expect.arrayContaining(["mcp_list_tools", "mcp_call"]));
    expect(world.done).toEqual(["look 9", "pay 9"]);
  },
  TEST_TIMEOUT_MS,
);
