import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { lastChunk, serveChat, sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { streamedData } from "../kit/event-stream.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { toolDelta, usageChunk } from "../responses/behind-upstream.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import type { ChatRequest } from "./behind-script.ts";

const SHELL = { type: "shell", environment: { type: "local" } };
const PATCH = { type: "apply_patch" };
const LOCAL_SHELL = { type: "local_shell" };
const USAGE = usageChunk({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });

type Finish = "tool_calls" | "length" | "stop";

/** A model whose calls the test writes. */
interface WrittenModel {
  readonly server: TestServer;
  readonly asked: readonly ChatRequest[];
  create(members: object): Promise<Response>;
  /** The turn that the model is asked for next. */
  turn(): Promise<WrittenTurn>;
}

interface WrittenTurn {
  begin(name: string, callId?: string): void;
  write(args: string): void;
  end(finish?: Finish): void;
}

async function serve(env: Readonly<Record<string, string>> = {}): Promise<WrittenModel> {
  const asked: ChatRequest[] = [];
  const turns: WrittenTurn[] = [];
  const waiting: ((turn: WrittenTurn) => void)[] = [];
  const upstream = await serveChat((response, { body }) => {
    asked.push(JSON.parse(body));
    const turn = turnOn(response);
    const first = waiting.shift();
    if (first === undefined) turns.push(turn);
    else first(turn);
  });
  const settings = { MODEL_BASE_URL: `${upstream.origin}/v1`, WEB_SEARCH_PROVIDER: "none", ...env };
  const server = await startTestServer({ env: settings });
  const turn = async (): Promise<WrittenTurn> =>
    turns.shift() ?? (await new Promise<WrittenTurn>((resolve) => waiting.push(resolve)));
  const create = (members: object) => server.post("/v1/responses", { model: "m", input: "Hi", ...members });
  return { server, asked, create, turn };
}

function turnOn(response: ServerResponse): WrittenTurn {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  let index = -1;
  const say = (...chunks: readonly unknown[]): void => void response.write(sse(...chunks));
  return {
    begin(name, callId) {
      index += 1;
      say(toolDelta(index, { id: callId ?? `call_${index}`, type: "function", function: { name, arguments: "" } }));
    },
    write: (args) => say(toolDelta(index, { function: { arguments: args } })),
    end: (finish = "tool_calls") => void response.end(sse(lastChunk(finish), USAGE, "[DONE]")),
  };
}

/** Reads a stream event by event, while the model still writes. */
async function* eventsOf(reply: Response): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const data of streamedData(reply)) yield JSON.parse(data);
}

/** Reads on until an event of this type. */
async function until(events: AsyncGenerator<Readonly<Record<string, unknown>>>, type: string) {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error(`the stream ended before ${type}`);
    if (value["type"] === type) return value;
  }
}

test("a diff is shown while the model writes it", async () => {
  verifies("tools.client-run.shown-as-written");
  const model = await serve();
  const reply = model.create({ tools: [PATCH], stream: true });
  const turn = await model.turn();
  turn.begin("apply_patch");
  turn.write('{"operation":{"type":"update_file","path":"src/a.ts","di');
  turn.write('ff":"@@\\n-o');
  const events = eventsOf(await reply);
  expect(await until(events, "response.output_item.added")).toMatchObject({
    item: { status: "in_progress", operation: { type: "update_file", path: "src/a.ts", diff: "" } },
  });
  const delta = "response.apply_patch_call_operation_diff.delta";
  expect(await until(events, delta)).toMatchObject({ delta: "@@\n-o" });
  turn.write("ld\\n+n");
  expect(await until(events, delta)).toMatchObject({ delta: "ld\n+n" });
  turn.write('ew"}}');
  expect(await until(events, "response.apply_patch_call_operation_diff.done")).toMatchObject({
    diff: "@@\n-old\n+new",
  });
  turn.end();
  const { response } = await until(events, "response.completed");
  const operation = { type: "update_file", path: "src/a.ts", diff: "@@\n-old\n+new" };
  expect(response).toMatchObject({ output: [{ type: "apply_patch_call", status: "completed", operation }] });
});

test("commands are shown one after the other while the model writes them", async () => {
  const model = await serve();
  const reply = model.create({ tools: [SHELL], stream: true });
  const turn = await model.turn();
  turn.begin("shell");
  turn.write('{"commands": ["ls');
  const events = eventsOf(await reply);
  expect(await until(events, "response.output_item.added")).toMatchObject({
    item: { action: { commands: [], max_output_length: null, timeout_ms: null } },
  });
  expect(await until(events, "response.shell_call_command.added")).toMatchObject({ command_index: 0, command: "" });
  expect(await until(events, "response.shell_call_command.delta")).toMatchObject({ command_index: 0, delta: "ls" });
  turn.write(' -a", "pw');
  expect(await until(events, "response.shell_call_command.done")).toMatchObject({ command_index: 0, command: "ls -a" });
  expect(await until(events, "response.shell_call_command.delta")).toMatchObject({ command_index: 1, delta: "pw" });
  turn.write('d"], "timeout_ms": 500}');
  turn.end();
  const { response } = await until(events, "response.completed");
  expect(response).toMatchObject({ output: [{ action: { commands: ["ls -a", "pwd"], timeout_ms: 500 } }] });
});

test("a program is announced when the model begins to write it, and shown when it is whole", async () => {
  const model = await serve();
  const reply = model.create({ tools: [LOCAL_SHELL], stream: true });
  const turn = await model.turn();
  turn.begin("local_shell");
  turn.write('{"command":["b');
  const events = eventsOf(await reply);
  expect(await until(events, "response.output_item.added")).toMatchObject({ item: { action: { command: [] } } });
  turn.write('ash","-c","ls"]}');
  turn.end();
  expect(await until(events, "response.output_item.done")).toMatchObject({
    item: { status: "completed", action: { command: ["bash", "-c", "ls"] } },
  });
});

test("the events are those of a call that is written at once", async () => {
  const model = await serve();
  const reply = model.create({ tools: [SHELL, PATCH], stream: true });
  const turn = await model.turn();
  turn.begin("shell");
  for (const sign of '{"commands":["ls","pwd"]}') turn.write(sign);
  turn.begin("apply_patch");
  turn.write('{"operation":{"type":"delete_file","path":"a"}}');
  turn.begin("apply_patch");
  turn.write('{"diff":"+a","path":"b","type":"create_file"}');
  turn.end();
  const stream = await readStream(await reply);
  checkStreamLaws(stream);
  const names = stream.events.map(({ type }) => type.replace("response.", "")).slice(2, -1);
  const once = names.filter((name, index) => !(name.endsWith(".delta") && names[index - 1] === name));
  const command = ["shell_call_command.added", "shell_call_command.delta", "shell_call_command.done"];
  const diff = ["apply_patch_call_operation_diff.delta", "apply_patch_call_operation_diff.done"];
  const item = (inside: readonly string[]): readonly string[] => ["output_item.added", ...inside, "output_item.done"];
  expect(once).toEqual([...item([...command, ...command]), ...item([]), ...item(diff)]);
  expect(stream.final.output).toMatchObject([
    { action: { commands: ["ls", "pwd"] } },
    { operation: { type: "delete_file", path: "a" } },
    { operation: { type: "create_file", path: "b", diff: "+a" } },
  ]);
});

const NO_COMMANDS = { status: "incomplete", action: { commands: [] } };
const NO_DIFF = { status: "in_progress", operation: { type: "create_file", path: "a", diff: "" } };

test.each([
  { what: "a list with a number", tool: SHELL, args: '{"commands":["make",5]}', last: NO_COMMANDS },
  { what: "JSON that breaks off", tool: SHELL, args: '{"commands":["make', last: NO_COMMANDS },
  { what: "a member that comes twice", tool: SHELL, args: '{"commands":["a"],"commands":["b"]}', last: NO_COMMANDS },
  {
    what: "a diff that breaks off",
    tool: PATCH,
    args: '{"type":"create_file","path":"a","diff":"+half',
    last: NO_DIFF,
  },
  {
    what: "a program with a number",
    tool: LOCAL_SHELL,
    args: '{"command":["kill",5]}',
    last: { status: "incomplete", action: { command: [] } },
  },
])("of $what nothing is left to run, and the model is told", async ({ tool, args, last }) => {
  verifies("tools.client-run.unfinished-holds-nothing");
  const model = await serve();
  const reply = model.create({ tools: [tool], stream: true });
  const wrong = await model.turn();
  wrong.begin(tool.type);
  wrong.write(args.slice(0, -2));
  wrong.write(args.slice(-2));
  wrong.end();
  const second = await model.turn();
  expect(JSON.stringify(model.asked[1]?.messages.at(-1))).toContain("Nothing was done.");
  second.end("stop");
  const stream = await readStream(await reply);
  expect(stream.final).toMatchObject({ status: "completed", output: [last] });
  // The next request of the conversation shows the model what it saw.
  const next = model.create({ previous_response_id: stream.final.id, tools: [tool] });
  (await model.turn()).end("stop");
  expect((await readResponse(await next)).status).toBe("completed");
  expect(model.asked[2]?.messages.slice(0, -1)).toEqual(model.asked[1]?.messages);
});

test("of a call that was cut off nothing is left to run, and the conversation goes on", async () => {
  verifies("tools.client-run.unfinished-holds-nothing");
  const model = await serve();
  const reply = model.create({ tools: [SHELL], stream: true, store: false });
  const turn = await model.turn();
  turn.begin("shell");
  turn.write('{"commands":["rm -r build","rm -r /');
  turn.end("length");
  const { final } = await readStream(await reply);
  expect(final).toMatchObject({ status: "incomplete", output: [{ status: "incomplete", action: { commands: [] } }] });
  const input = [{ role: "user", content: "Hi" }, ...final.output, { role: "user", content: "Go on" }];
  const next = model.create({ input, tools: [SHELL], store: false });
  (await model.turn()).end("stop");
  expect((await readResponse(await next)).status).toBe("completed");
  expect(JSON.stringify(model.asked[1]?.messages)).toContain("nothing was run");
});

test("limits that are no numbers are left out", async () => {
  const model = await serve();
  const reply = model.create({ tools: [SHELL] });
  const turn = await model.turn();
  turn.begin("shell");
  turn.write('{"commands":["ls"],"timeout_ms":"5s","max_output_length":"100"}');
  turn.end();
  expect((await readResponse(await reply)).output).toMatchObject([
    { status: "completed", action: { commands: ["ls"], timeout_ms: null, max_output_length: null } },
  ]);
});
