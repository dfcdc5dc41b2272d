import { UNKNOWN_EFFECT } from "@antiphon/domain/hosted-tool.ts";
import { expect, test } from "vitest";
import { runRunsCommand } from "../../../src/commands/runs-command.ts";
import { payingWorld } from "../../crash/paying-world.ts";
import { startTestServer } from "../../kit/test-server.ts";
import { query } from "../../kit/tested-store.ts";
import { checkStreamLaws } from "../../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../../responses/read-stream.ts";
import { startTcpProxy } from "../../services/proxy-of-test.ts";
import type { TcpProxy } from "../../services/tcp-proxy.ts";
import { verifies } from "../../verifies.ts";

/** What happens once the tool has paid. */
const FAULTS: readonly (readonly [string, (proxy: TcpProxy) => Promise<void>])[] = [
  ["its connection broke", (proxy) => proxy.cut()],
  ["its answer did not come in time", () => new Promise(() => {})],
];

test.each(FAULTS)("a payment is shown, told and kept as unknown, as after a crash, if %s", async (_what, fault) => {
  verifies("tools.mcp.unknown-outcome");
  const world = await payingWorld();
  const proxy = await startTcpProxy(world.mcpUrl);
  const env = { MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1", MCP_CALL_TIMEOUT_MS: "1000" };
  const server = await startTestServer({ env });
  const url = proxy.through(world.mcpUrl);
  const tools = [{ type: "mcp", server_label: "bank", server_url: url, require_approval: "never" }];
  world.aim({ place: "effect to finish", tool: "pay", kill: () => fault(proxy) });

  const stream = await readStream(
    await server.post("/v1/responses", { model: "m", input: "number 3", tools, stream: true }),
  );
  checkStreamLaws(stream);
  expect(stream.events.map(({ type }) => type)).toContain("response.mcp_call.failed");
  const [look, pay] = stream.final.output.filter(({ type }) => type === "mcp_call");
  expect(look).toMatchObject({ name: "look", status: "completed" });
  expect(pay).toMatchObject({
    name: "pay",
    status: "failed",
    arguments: '{"number":3}',
    output: null,
    error: { type: "mcp_protocol_error", code: -32_603, message: "interrupted; whether it took effect is unknown" },
  });
  expect(stream.final.status).toBe("completed");
  expect(world.done).toEqual(["look 3", "pay 3"]);
  expect(world.asked().at(-1)).toContain(`"content":${JSON.stringify(UNKNOWN_EFFECT)}`);

  const rows = await query(server.dataDir, "select name, outcome from tool_exchanges order by name");
  expect(rows).toEqual([
    { name: "look", outcome: "finished" },
    { name: "pay", outcome: "unknown" },
  ]);
  const metrics = await (await server.fetch("/metrics")).text();
  expect(metrics).toMatch(/antiphon_tool_calls_total\{[^}]*outcome="unknown"[^}]*\} 1\n/);

  const printed: string[] = [];
  const environment = { ANTIPHON_URL: server.url, ANTIPHON_API_KEY: server.apiKey };
  const outputs = { print: (text: string) => void printed.push(text), note: () => {}, columns: null };
  await runRunsCommand(["show", stream.final.id], environment, outputs, new AbortController().signal);
  expect(printed.join("\n")).toContain('mcp_call pay({"number":3}) interrupted; whether it took effect is unknown');

  const later = { model: "m", input: "And now?", previous_response_id: stream.final.id };
  expect((await readResponse(await server.post("/v1/responses", later))).status).toBe("completed");
  expect(world.asked().at(-1)).toContain(UNKNOWN_EFFECT);
});
