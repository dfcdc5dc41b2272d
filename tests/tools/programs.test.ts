import { toResponseInputItems } from "openai/lib/responses/ResponseInputItems";
import type { FunctionTool, Response, ResponseInputItem } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { type BehindScript, calls, MCP, saysText, serveScript } from "./behind-script.ts";
import { startModern } from "./mcp/mcp-servers.ts";

const PROGRAMS = { type: "programmatic_tool_calling" } as const;
const STOCK = functionOf("get_stock");
const DEMAND = functionOf("get_demand");
const DONE = saysText("Done.");

function functionOf(name: string, caller: "direct" | "programmatic" = "programmatic"): FunctionTool {
  const parameters = { type: "object", properties: { sku: { type: "string" } }, required: ["sku"] };
  return { type: "function", name, description: `Says ${name}.`, parameters, strict: false, allowed_callers: [caller] };
}

type Made = Awaited<ReturnType<typeof readResponse>>;

function program(code: string): readonly [string, string] {
  return ["program", JSON.stringify({ code })];
}

const COMPARE = `
  const [stock, demand] = await Promise.all([tools.get_stock({ sku: "a" }), tools.get_demand({ sku: "a" })]);
  if (stock.units < demand.units) text(await tools.get_stock({ sku: "b" }));
  text({ missing: demand.units - stock.units });
`;

const VALUES: Readonly<Record<string, unknown>> = {
  'get_stock {"sku":"a"}': { units: 2 },
  'get_demand {"sku":"a"}': { units: 5 },
  'get_stock {"sku":"b"}': "plenty",
};

/** What an application answers to the calls of a response. */
function answersTo(response: Response): ResponseInputItem[] {
  return response.output.flatMap((item): ResponseInputItem[] => {
    if (item.type !== "function_call") return [];
    const value = VALUES[`${item.name} ${item.arguments}`];
    const output = typeof value === "string" ? value : JSON.stringify(value);
    return [{ type: "function_call_output", call_id: item.call_id, output, caller: item.caller ?? null }];
  });
}

function typesOf({ output }: Response): readonly string[] {
  return output.map(({ type }) => type);
}

/** The names of the functions that the model was offered in its turns. */
function offered({ asked }: Pick<BehindScript, "asked">): readonly (readonly string[])[] {
  return asked.map(({ tools = [] }) => tools.map((tool) => tool.function.name));
}

test.each([true, false])(
  "a program calls the client's functions over several responses (stored: %j)",
  async (store) => {
    verifies("tools.programs.calls-of-the-client", "tools.programs.model-sees-the-output");
    const script = await serveScript([calls(program(COMPARE)), DONE]);
    const { client, asked } = script;
    const tools = [STOCK, DEMAND, PROGRAMS];
    const input: ResponseInputItem[] = [{ role: "user", content: "Compare." }];
    const responses: Response[] = [];
    for (let next: Response | null = null; next === null || !typesOf(next).includes("message"); ) {
      const members: object =
        store && next !== null ? { input: answersTo(next), previous_response_id: next.id } : { input };
      next = await client.responses.create({ model: "m", store, tools, ...members, stream: false });
      responses.push(next);
      input.push(...toResponseInputItems(next.output), ...answersTo(next));
    }
    expect(responses.map(typesOf)).toEqual([
      ["program", "function_call", "function_call"],
      ["function_call"],
      ["program_output", "message"],
    ]);
    const [first, second, third] = responses.map(({ output }) => output);
    const callId = first?.[0]?.type === "program" ? first[0].call_id : "";
    expect(first?.[0]).toMatchObject({ code: COMPARE.trim(), fingerprint: expect.stringMatching(/./) });
    for (const item of [...(first?.slice(1) ?? []), ...(second ?? [])])
      expect(item).toMatchObject({ status: "in_progress", caller: { type: "program", caller_id: callId } });
    const result = 'plenty\n{"missing":3}';
    expect(third?.[0]).toMatchObject({ type: "program_output", call_id: callId, status: "completed", result });
    expect(asked).toHaveLength(2);
    expect(offered(script)).toEqual([["program"], ["program"]]);
    const shown = (asked[1]?.messages ?? []).map(({ role, content }) => [role, content]);
    expect(shown).toEqual([
      ["user", "Compare."],
      ["assistant", ""],
      ["tool", result],
    ]);
  },
);

test("a program calls tools of an MCP server in the middle of a response", async () => {
  verifies("tools.programs.calls-of-hosted-tools");
  const code = `
    const texts = [];
    for (const word of ["a", "b"]) texts.push(await tools.echo({ text: word }));
    try { await tools.fail({}); } catch (error) { texts.push("failed"); }
    text(texts.join(","));`;
  const script = await serveScript([calls(program(code)), DONE]);
  const lab = { ...MCP, allowed_callers: ["programmatic"] };
  const stream = await readStream(
    await script.create({ stream: true, tools: [lab, PROGRAMS, functionOf("f", "direct")] }),
  );
  checkStreamLaws(stream);
  const { output } = stream.final;
  expect(output.map(({ type }) => type)).toEqual([
    "mcp_list_tools",
    "program",
    "mcp_call",
    "mcp_call",
    "mcp_call",
    "program_output",
    "message",
  ]);
  expect(output.find(({ type }) => type === "program_output")).toMatchObject({
    result: 'echo got {"text":"a"},echo got {"text":"b"},failed',
  });
  expect(offered(script)).toEqual([
    ["f", "program"],
    ["f", "program"],
  ]);
  const programTool = script.asked[0]?.tools?.find((tool) => tool.function.name === "program");
  expect(JSON.stringify(programTool)).toContain("tools.echo(");
  expect(stream.final.usage).toMatchObject({ input_tokens: 20, output_tokens: 10 });
});

test("a program that waits for an approval goes on with it", async () => {
  verifies("tools.programs.calls-of-hosted-tools");
  const bank = await startModern();
  const turns = [calls(program("text(await tools.pay({ amount: 5 })); text(await tools.pay({ amount: 6 }));")), DONE];
  const script = await serveScript(turns, { EGRESS_ALLOW: "127.0.0.1" }, []);
  const allowed_callers = ["direct", "programmatic"];
  const tool = { type: "mcp", server_label: "bank", server_url: bank.url, require_approval: "always", allowed_callers };
  const tools = [tool, PROGRAMS];
  const first = await readResponse(await script.create({ tools }));
  expect(first.output.map(({ type }) => type)).toEqual(["mcp_list_tools", "program", "mcp_approval_request"]);
  const answer = async ({ id, output }: Made, approve: boolean): Promise<Made> => {
    const request = output.find(({ type }) => type === "mcp_approval_request");
    const approval = { type: "mcp_approval_response", approval_request_id: request?.id, approve };
    return await readResponse(await script.create({ tools, previous_response_id: id, input: [approval] }));
  };
  const second = await answer(first, true);
  expect(second.output).toMatchObject([{ type: "mcp_call", output: "paid 5" }, { type: "mcp_approval_request" }]);
  expect((await answer(second, false)).output).toMatchObject([
    { type: "program_output", status: "incomplete", result: expect.stringContaining("denied this call") },
    { type: "message" },
  ]);
  expect((await answer(second, true)).output).toMatchObject([
    { type: "mcp_call", output: "paid 6" },
    { type: "program_output", status: "completed", result: "paid 5\npaid 6" },
    { type: "message" },
  ]);
  expect(bank.ran).toEqual(["pay 5", "pay 6"]);
});

test.each<[string, string, string]>([
  ["throws", 'text("so far");\nnothing.here();', "so far\nReferenceError: nothing is not defined (line 2)"],
  ["never ends", "for (;;);", "The program ran for too long."],
  ["waits for nothing", "await new Promise(() => {});", "The program waits for something that never comes."],
  ["reaches for the machine", 'await import("node:fs");', "Error"],
  [
    "makes too many calls",
    "for (;;) await tools.echo({ text: 'a' });",
    "more calls of tools than this response may make",
  ],
])("a program that %s ends, and the model is told", async (_name, code, told) => {
  verifies("tools.programs.faults-end-the-program");
  const script = await serveScript([calls(program(code)), DONE]);
  const lab = { ...MCP, allowed_callers: ["programmatic"] };
  const { output } = await readResponse(await script.create({ tools: [lab, PROGRAMS], max_tool_calls: 3 }));
  const ended = output.find(({ type }) => type === "program_output");
  expect(ended).toMatchObject({ status: "incomplete", result: expect.stringContaining(told) });
  expect(JSON.stringify(script.asked[1]?.messages.at(-1))).toContain(JSON.stringify(told).slice(1, -1));
});

test("calls after a program in its turn are not made, and a program of another server does not go on", async () => {
  verifies("tools.programs.faults-end-the-program");
  const script = await serveScript([calls(program('text("one")'), ["echo", '{"text":"x"}'], program("text(2)")), DONE]);
  const lab = { ...MCP, allowed_callers: ["direct", "programmatic"] };
  const { output } = await readResponse(await script.create({ tools: [lab, PROGRAMS] }));
  expect(output.map(({ type }) => type)).toEqual(["mcp_list_tools", "program", "program_output", "message"]);
  expect(script.asked[1]?.messages.filter(({ role }) => role === "tool")).toHaveLength(3);
  const input = [
    { type: "message", role: "user", content: "Go on." },
    { type: "program", id: "cm_1", call_id: "call_p", code: "text(1)", fingerprint: "theirs" },
  ];
  const next = await readResponse(await script.create({ tools: [lab, PROGRAMS], input, store: false }));
  expect(next.output.slice(1)).toMatchObject([
    { type: "program_output", status: "incomplete", result: expect.stringContaining("another server") },
    { type: "message" },
  ]);
});
