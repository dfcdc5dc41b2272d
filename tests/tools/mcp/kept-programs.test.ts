import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test, vi } from "vitest";
import { startChildServer } from "../../kit/child-server.ts";
import { isAlive } from "../../kit/processes.ts";
import { temporaryFolder } from "../../kit/temporary-folder.ts";
import { startTestServer } from "../../kit/test-server.ts";
import { readResponse } from "../../responses/read-stream.ts";
import { verifies } from "../../verifies.ts";

const PROGRAM = join(import.meta.dirname, "counting-program.ts");
const WAIT = { timeout: 20_000, interval: 20 };

const SCENARIO = `
scenarios:
${["count", "die", "hang", "nap"]
  .map(
    (name) => `
  - when: { input_contains: ${name}, has_tool_output: false }
    events: [{ call: { name: ${name}, namespace: counter, arguments: {} } }]`,
  )
  .join("")}
  - when: { has_tool_output: true }
    events: [{ text: Done. }]
`;

async function serversFile(): Promise<string> {
  const file = join(temporaryFolder(), "servers.yaml");
  const environment = "{ COUNTER_KEY: the-key-of-the-counter }";
  await writeFile(
    file,
    `servers: { counter: { command: ${process.execPath}, args: [${PROGRAM}], environment: ${environment} } }`,
  );
  return file;
}

interface Asking {
  readonly previous_response_id?: string;
  readonly conversation?: string;
}

type Post = (path: string, body: unknown) => Promise<Response>;

function asker(post: Post) {
  return async (input: string, more: Asking = {}): Promise<ResponseBody> => {
    const tools = [{ type: "mcp", server_label: "counter", require_approval: "never" }];
    return await readResponse(await post("/v1/responses", { model: "antiphon-built-in", input, tools, ...more }));
  };
}

async function serve(env: Readonly<Record<string, string>> = {}) {
  const lines: object[] = [];
  const log = { ...silentLogger, info: (fields: object, message: string) => void lines.push({ message, ...fields }) };
  const server = await startTestServer({
    scenario: SCENARIO,
    env: { MCP_SERVERS_FILE: await serversFile(), MCP_LIST_TIMEOUT_MS: "30s", ...env },
    log,
  });
  const post: Post = (path, body) => server.post(path, body);
  return { close: () => server.close(), post, lines, ask: asker(post) };
}

/** The count, and the process that counted, of the last call. */
function counted({ output }: ResponseBody): { readonly count: number; readonly pid: number } {
  const call = output.findLast((item) => item.type === "mcp_call");
  const [count, pid] = (call?.output ?? "").split(" in ").map(Number);
  expect(call).toMatchObject({ type: "mcp_call", status: "completed" });
  return { count: count ?? 0, pid: pid ?? 0 };
}

async function toBeGone(pid: number): Promise<void> {
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), WAIT);
}

test("a program keeps its state over a chain of responses, and each chain has its own", async () => {
  verifies("tools.mcp.program-serves-a-chain");
  const { ask } = await serve();
  const first = await ask("count");
  const second = await ask("count", { previous_response_id: first.id });
  const third = await ask("count", { previous_response_id: second.id });
  expect([first, second, third].map(counted)).toEqual([1, 2, 3].map((count) => ({ ...counted(first), count })));
  const other = await ask("count");
  expect(counted(other).count).toBe(1);
  expect(counted(other).pid).not.toBe(counted(first).pid);
  const branch = await ask("count", { previous_response_id: first.id });
  expect(counted(branch)).toEqual({ ...counted(first), count: 4 });
});

test("a program keeps its state over a conversation", async () => {
  verifies("tools.mcp.program-serves-a-chain");
  const { ask, post } = await serve();
  const { id: conversation }: { id: string } = await (await post("/v1/conversations", {})).json();
  const counts: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) counts.push(counted(await ask("count", { conversation })).count);
  expect(counts).toEqual([1, 2, 3]);
});

test("two responses that continue the same one at once never share a program", async () => {
  verifies("tools.mcp.program-serves-a-chain");
  const { ask } = await serve();
  const first = await ask("count");
  const branches = await Promise.all([1, 2].map(() => ask("count", { previous_response_id: first.id })));
  expect(new Set(branches.map((branch) => counted(branch).pid)).size).toBe(2);
  expect(new Set(branches.map((branch) => counted(branch).count))).toEqual(new Set([1, 2]));
});

test("a program that dies or hangs is replaced by a new one in the next response", async () => {
  verifies("tools.mcp.stderr-is-logged");
  const { ask, lines } = await serve({ MCP_CALL_TIMEOUT_MS: "1500ms" });
  const first = await ask("count");
  const dead = await ask("die", { previous_response_id: first.id });
  expect(dead.output.find(({ type }) => type === "mcp_call")).toMatchObject({ status: "failed" });
  const second = await ask("count", { previous_response_id: dead.id });
  expect(counted(second).count).toBe(1);
  const hung = await ask("hang", { previous_response_id: second.id });
  const silent = "The program of the MCP server did not answer in time and said: waiting for the tape";
  expect(hung.output.find(({ type }) => type === "mcp_call")).toMatchObject({
    error: { type: "http_error", code: 504, message: silent },
  });
  const third = await ask("count", { previous_response_id: hung.id });
  expect(counted(third)).not.toEqual({ ...counted(second), count: 2 });
  expect(counted(third).count).toBe(1);
  await toBeGone(counted(second).pid);
  expect(lines).toContainEqual(expect.objectContaining({ server: "counter", stderr: "waiting for the tape" }));
});

test("a program whose call timed out keeps its state if it still answers", async () => {
  const { ask } = await serve({ MCP_CALL_TIMEOUT_MS: "1500ms" });
  const first = await ask("count");
  const late = await ask("nap", { previous_response_id: first.id });
  const second = await ask("count", { previous_response_id: late.id });
  expect(counted(second)).toEqual({ ...counted(first), count: 2 });
});

test("beyond the maximum, the longest unused program makes room", async () => {
  verifies("tools.mcp.programs-are-bounded");
  const { ask } = await serve({ MCP_PROGRAMS_MAX: "1" });
  const first = await ask("count");
  const other = await ask("count");
  await toBeGone(counted(first).pid);
  const second = await ask("count", { previous_response_id: first.id });
  expect([other, second].map((response) => counted(response).count)).toEqual([1, 1]);
});

test("a program ends when nobody has used it for some time", async () => {
  verifies("tools.mcp.programs-are-bounded");
  const { ask } = await serve({ MCP_PROGRAM_IDLE_MS: "1ms" });
  await toBeGone(counted(await ask("count")).pid);
});

test("programs end with the server, and when it is killed", async () => {
  verifies("tools.mcp.programs-are-bounded");
  const server = await serve();
  const { pid } = counted(await server.ask("count"));
  expect(isAlive(pid)).toBe(true);
  await server.close();
  await toBeGone(pid);
  const child = await startChildServer({ scenario: SCENARIO, env: { MCP_SERVERS_FILE: await serversFile() } });
  const { pid: other } = counted(await asker(child.post)("count"));
  expect(isAlive(other)).toBe(true);
  await child.kill();
  await toBeGone(other);
});

test("what a program writes to stderr is in the log, without secrets", async () => {
  verifies("tools.mcp.stderr-is-logged");
  const { ask, lines } = await serve();
  await ask("count");
  await vi.waitFor(
    () =>
      expect(lines).toContainEqual({
        message: "program of an MCP server wrote",
        server: "counter",
        stderr: "counting with [redacted]",
      }),
    WAIT,
  );
});
