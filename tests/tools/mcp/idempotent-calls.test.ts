import { writeFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { UNKNOWN_EFFECT } from "@antiphon/domain/hosted-tool.ts";
import { expect, test } from "vitest";
import { Antiphon } from "../../../packages/client/src/index.ts";
import { payingWorld } from "../../crash/paying-world.ts";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../../kit/test-server.ts";
import { readResponse } from "../../responses/read-stream.ts";
import { startTcpProxy } from "../../services/proxy-of-test.ts";
import { verifies } from "../../verifies.ts";
import { type JsonRpc, plainTool, startScripted, toolList } from "./mcp-servers.ts";

const SCENARIO = `
scenarios:
  - when: { has_tool_output: false }
    events:
      - call: { name: pay, namespace: bank, arguments: { amount: 3 } }
  - when: { has_tool_output: true }
    events:
      - text: Done.
`;
const QUICK = { EGRESS_ALLOW: "127.0.0.1", TOOL_REPEAT_MS: "5" };
const IDEMPOTENT = { annotations: { idempotentHint: true } };

/** How a server answers a call of its tool `pay`. */
type Answer = (response: ServerResponse) => unknown;

const PAID: Answer = () => ({ result: { content: [{ type: "text", text: "paid" }] } });
const TOOL_FAULT: Answer = () => ({ result: { content: [{ type: "text", text: "no money" }], isError: true } });
const LOST: Answer = (response) => void response.destroy();
const status =
  (code: number): Answer =>
  (response) =>
    void response.writeHead(code).end();

interface Heard {
  readonly meta: unknown;
  readonly header: unknown;
}

/** A server with the tool `pay`, which answers its calls in this order, and the keys that it heard. */
async function payingServer(answers: readonly Answer[], tool: object = IDEMPOTENT) {
  const keys: Heard[] = [];
  const server = await startScripted({
    "tools/list": () => toolList([plainTool("pay", tool)]),
    "tools/call": (message: JsonRpc, response: ServerResponse) => {
      const meta = Object(message.params?.["_meta"])["antiphon/idempotency-key"];
      keys.push({ meta, header: server.heard.at(-1)?.["idempotency-key"] });
      return answers[keys.length - 1]?.(response);
    },
  });
  return { url: server.url, keys };
}

async function ask(server: TestServer, mcp: object): Promise<ResponseBody> {
  const tool = { type: "mcp", server_label: "bank", require_approval: "never", ...mcp };
  return await readResponse(
    await server.post("/v1/responses", { model: "antiphon-built-in", input: "Pay", tools: [tool] }),
  );
}

async function effectOf(server: TestServer, id: string) {
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const { data } = await client.listResponseEffects(id);
  expect(data).toHaveLength(1);
  return data[0];
}

function callIn({ output }: ResponseBody) {
  const call = output.find((item) => item.type === "mcp_call");
  return [call?.status, call?.output ?? call?.error];
}

test("an idempotent call whose connection breaks after it has acted is made again with its key, and acts once", async () => {
  verifies("tools.mcp.idempotent-calls-are-repeated");
  const world = await payingWorld({ isIdempotent: true });
  const proxy = await startTcpProxy(world.mcpUrl);
  const server = await startTestServer({ env: { ...QUICK, MODEL_BASE_URL: world.modelUrl } });
  const breakOnce = async (): Promise<void> => {
    await proxy.cut();
    await proxy.heal();
  };
  world.aim({ place: "effect to finish", tool: "pay", kill: breakOnce });
  const tools = [
    { type: "mcp", server_label: "bank", server_url: proxy.through(world.mcpUrl), require_approval: "never" },
  ];
  const response = await readResponse(await server.post("/v1/responses", { model: "m", input: "number 3", tools }));
  expect(response.output.flatMap((item) => (item.type === "mcp_call" ? [item.status] : []))).toEqual([
    "completed",
    "completed",
  ]);
  expect(world.done).toEqual(["look 3", "pay 3"]);
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const { data } = await client.listResponseEffects(response.id);
  const pay = data.find(({ name }) => name === "pay");
  expect(world.payKeys).toEqual([pay?.key, pay?.key].map((key) => ({ meta: key, header: key })));
  expect(pay).toMatchObject({ state: "done", attempts: [{ state: "unknown" }, { state: "done" }] });
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toContain('antiphon_effects_total{state="repeated"} 1\n');
  expect(metrics).toContain('antiphon_effects_total{state="done"} 1\n');
});

/** How an idempotent call comes out at a server that answers its attempts in this way. */
const CASES: readonly (readonly [string, readonly Answer[], string, readonly string[]])[] = [
  ["the second attempt succeeds after a 503", [status(503), PAID], "done", ["unknown", "done"]],
  ["its tool fails at the second attempt", [LOST, TOOL_FAULT], "failed", ["unknown", "failed"]],
  ["it is refused at once", [status(429)], "failed", ["failed"]],
  ["its tool fails at once", [TOOL_FAULT], "failed", ["failed"]],
  ["no attempt is answered", [LOST, LOST, status(500)], "unknown", ["unknown", "unknown", "unknown"]],
  [
    "an attempt is refused after a lost one",
    [LOST, status(403), status(403)],
    "unknown",
    ["unknown", "failed", "failed"],
  ],
];

test.each(CASES)("if %s, an idempotent call is told as it is", async (_when, answers, state, attempts) => {
  verifies("tools.mcp.idempotent-calls-are-repeated", "inspection.effects.list");
  const mcp = await payingServer(answers);
  const server = await startTestServer({ scenario: SCENARIO, env: { ...QUICK, TOOL_ATTEMPTS_MAX: "3" } });
  const response = await ask(server, { server_url: mcp.url });
  const effect = await effectOf(server, response.id);
  expect(effect).toMatchObject({ effect: "idempotent", state, attempts: attempts.map((one) => ({ state: one })) });
  const key = effect?.key;
  expect(key).toBe(`${response.id}.${effect?.id}`);
  expect(mcp.keys).toEqual(attempts.map(() => ({ meta: key, header: key })));
  const [shown, told] = callIn(response);
  expect(shown).toBe(state === "done" ? "completed" : "failed");
  if (state === "unknown") expect(told).toMatchObject({ message: "interrupted; whether it took effect is unknown" });
  if (state === "done") expect(told).toBe("paid");
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toContain(`antiphon_effects_total{state="${state}"} 1\n`);
  expect(metrics).toContain(`antiphon_effects_total{state="repeated"} ${attempts.length - 1}\n`);
});

test("a tool that nobody calls idempotent is called once, with its key, and stays unknown", async () => {
  verifies("tools.mcp.unknown-outcome");
  const mcp = await payingServer([LOST, PAID], {});
  const server = await startTestServer({ scenario: SCENARIO, env: QUICK });
  const response = await ask(server, { server_url: mcp.url });
  const effect = await effectOf(server, response.id);
  expect(effect).toMatchObject({ effect: "may_have", state: "unknown", attempts: [{ state: "unknown" }] });
  expect(mcp.keys).toEqual([{ meta: effect?.key, header: effect?.key }]);
});

test("a tool that only reads gets no key, and is not repeated", async () => {
  verifies("tools.mcp.idempotent-calls-are-repeated");
  const mcp = await payingServer([LOST, PAID], { annotations: { readOnlyHint: true, idempotentHint: true } });
  const server = await startTestServer({ scenario: SCENARIO, env: QUICK });
  const response = await ask(server, { server_url: mcp.url });
  expect(await effectOf(server, response.id)).toMatchObject({ effect: "none", state: "failed", key: null });
  expect(mcp.keys).toEqual([{ meta: undefined, header: undefined }]);
});

test("the operator can call a tool of his server idempotent", async () => {
  verifies("tools.mcp.operator-declares-idempotent");
  const mcp = await payingServer([LOST, PAID], {});
  const file = join(temporaryFolder(), "servers.yaml");
  await writeFile(file, `servers:\n  bank:\n    url: ${mcp.url}\n    idempotent: [pay]\n`);
  const server = await startTestServer({ scenario: SCENARIO, env: { ...QUICK, MCP_SERVERS_FILE: file } });
  const response = await ask(server, {});
  expect(callIn(response)).toEqual(["completed", "paid"]);
  expect(await effectOf(server, response.id)).toMatchObject({
    effect: "idempotent",
    attempts: [{ state: "unknown" }, { state: "done" }],
  });
});

test("a model is told of an unknown call that it must ask before it repeats it", async () => {
  verifies("tools.mcp.unknown-outcome");
  const world = await payingWorld({ isIdempotent: true });
  const proxy = await startTcpProxy(world.mcpUrl);
  const env = { ...QUICK, MODEL_BASE_URL: world.modelUrl, TOOL_ATTEMPTS_MAX: "2" };
  const server = await startTestServer({ env });
  world.aim({ place: "effect to finish", tool: "pay", kill: () => proxy.cut() });
  const tools = [
    { type: "mcp", server_label: "bank", server_url: proxy.through(world.mcpUrl), require_approval: "never" },
  ];
  await readResponse(await server.post("/v1/responses", { model: "m", input: "number 4", tools }));
  expect(world.asked().at(-1)).toContain(`"content":${JSON.stringify(UNKNOWN_EFFECT)}`);
});
