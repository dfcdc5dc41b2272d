import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { startToolServers } from "../clients/tool-servers.ts";
import { startTestServer } from "../kit/test-server.ts";
import { namedFile, uploadFile } from "../kit/upload.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { openSocket } from "../websocket/socket.ts";
import { type BehindScript, calls, MCP, saysText, serveScript } from "./behind-script.ts";
import { CODE_ENGINE, HAS_BUBBLEWRAP, HAS_MATPLOTLIB } from "./code-engines.ts";

const AUTO = { type: "code_interpreter", container: { type: "auto" } };
const INCLUDE = { include: ["code_interpreter_call.outputs"] };
const TWO_OWNERS = "sk-ours-0123456789abcdef=acme/ours,sk-theirs-0123456789abcdef=acme/theirs";
const WRITES = "open('/mnt/data/table.csv', 'w').write('a,b\\n')";

function runs(code: string) {
  return calls(["code_interpreter", JSON.stringify({ code })]);
}

async function serve(turns: Parameters<typeof serveScript>[0], env: Readonly<Record<string, string>> = {}) {
  return await serveScript(turns, { ...CODE_ENGINE, ...env });
}

/** The messages of a request that hold what tools told. */
function told({ asked }: BehindScript, at = -1): string {
  return JSON.stringify(asked.at(at)?.messages.filter(({ role }) => role === "tool"));
}

function codeCalls({ output }: ResponseBody) {
  return output.flatMap((item) => (item.type === "code_interpreter_call" ? [item] : []));
}

async function ended({ server }: BehindScript, { id }: ResponseBody): Promise<ResponseBody> {
  for (;;) {
    const body = await readResponse(await server.fetch(`/v1/responses/${id}?include=${INCLUDE.include[0]}`));
    if (body.status !== "queued" && body.status !== "in_progress") return body;
  }
}

test("code streams in the order of the reference, and its outputs come if they are included", async () => {
  verifies(
    "responses.stream.code-interpreter-order",
    "create.include.search-results",
    "tools.types.four-builtins-and-mcp",
  );
  const script = await serve([runs("print('hi')\n6 * 7"), saysText("It is 42.")]);
  const plain = await readResponse(await script.create({ tools: [AUTO] }));
  expect(plain.output[0]).toMatchObject({ type: "code_interpreter_call", status: "completed", outputs: null });
  const again = await serve([runs("print('hi')\n6 * 7"), saysText("It is 42.")]);
  const stream = await readStream(await again.create({ tools: [AUTO], ...INCLUDE, stream: true }));
  checkStreamLaws(stream);
  const types = stream.events.map(({ type }) => type.replace(/^response\./, "").replace("code_interpreter_call", "ci"));
  expect(types.filter((type, at) => type !== types[at - 1]).slice(2, 9)).toEqual([
    "output_item.added",
    "ci.in_progress",
    "ci_code.delta",
    "ci_code.done",
    "ci.interpreting",
    "ci.completed",
    "output_item.done",
  ]);
  const added = stream.events.find((event) => event.type === "response.output_item.added");
  expect(added).toMatchObject({ item: { code: "", outputs: [], container_id: expect.stringMatching(/^cntr_/) } });
  const [call] = codeCalls(stream.final);
  expect(call).toMatchObject({ code: "print('hi')\n6 * 7", status: "completed" });
  expect(call?.outputs?.map((output) => (output.type === "logs" ? output.logs : "")).join("")).toBe("hi\n42");
  expect(told(again)).toContain("42");
});

test("variables and files are kept over the calls of a response and of a chain", async () => {
  verifies("tools.code-interpreter.keeps-state");
  const script = await serve([
    runs(`a = 20\n${WRITES}`),
    runs("a += 1"),
    saysText("Done."),
    runs("print(a * 2, open('/mnt/data/table.csv').read())"),
    saysText("[Here](sandbox:/mnt/data/table.csv)."),
  ]);
  const first = await readResponse(await script.create({ tools: [AUTO] }));
  const next = { tools: [AUTO], ...INCLUDE, previous_response_id: first.id, input: "Go on" };
  const second = await readResponse(await script.create(next));
  const containers = [...codeCalls(first), ...codeCalls(second)].map(({ container_id: id }) => id);
  expect([containers.length, new Set(containers).size]).toEqual([3, 1]);
  expect(JSON.stringify(codeCalls(second)[0]?.outputs)).toContain("42 a,b");
  // A file of an earlier response can be cited.
  expect(second.output.at(-1)).toMatchObject({
    content: [{ annotations: [{ type: "container_file_citation", container_id: containers[0] }] }],
  });
});

test("links to files are cited behind the last delta, and can be downloaded; bare paths are not cited", async () => {
  verifies("tools.code-interpreter.cites-files");
  const text = "Löse 😀: [the table](sandbox:/mnt/data/table.csv), or /mnt/data/table.csv. [x](sandbox:/mnt/data/x)";
  const script = await serve([runs(WRITES), saysText(text)]);
  const stream = await readStream(await script.create({ tools: [AUTO], stream: true }));
  checkStreamLaws(stream);
  const types = stream.events.map(({ type }) => type);
  const at = types.indexOf("response.output_text.annotation.added");
  expect([types[at - 1], types[at + 1]]).toEqual(["response.output_text.delta", "response.output_text.done"]);
  const message = stream.final.output.at(-1);
  const part = message?.type === "message" ? message.content[0] : undefined;
  const [cited, ...others] = part?.type === "output_text" ? part.annotations : [];
  if (cited?.type !== "container_file_citation") throw new Error("nothing is cited");
  expect(others).toEqual([]);
  expect([...text].slice(cited.start_index, cited.end_index).join("")).toBe("sandbox:/mnt/data/table.csv");
  expect(cited.filename).toBe("table.csv");
  const content = `/v1/containers/${cited.container_id}/files/${cited.file_id}/content`;
  expect(await (await script.server.fetch(content)).text()).toBe("a,b\n");
});

test.skipIf(!HAS_MATPLOTLIB)("a picture is shown to the client and the model, and cited as a whole", async () => {
  verifies("tools.code-interpreter.cites-files");
  const code = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()";
  const script = await serve([runs(code), saysText("So.")], { MODEL_INPUT: "image" });
  const { output } = await readResponse(await script.create({ tools: [AUTO], ...INCLUDE }));
  expect(output[0]).toMatchObject({
    outputs: [{ type: "image", url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) }],
  });
  expect(output.at(-1)).toMatchObject({
    content: [{ annotations: [{ type: "container_file_citation", start_index: 0, end_index: 0 }] }],
  });
  expect(JSON.stringify(script.asked.at(-1)?.messages)).toContain("data:image/png;base64,iVBOR");
});

test("containers that are unknown or another owner's are refused before the model is asked", async () => {
  verifies("tools.code-interpreter.named-container");
  const script = await serve([saysText("Never.")], { API_KEYS: TWO_OWNERS });
  const { id } = await (await script.server.post("/v1/containers", { name: "ours" })).json();
  const refusal = async (container: unknown, key = script.server.apiKey) => {
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
    const body = JSON.stringify({ model: "m", input: "Hi", tools: [{ type: "code_interpreter", container }] });
    const reply = await script.server.fetch("/v1/responses", { method: "POST", headers, body });
    const { error } = await reply.json();
    return [reply.status, error?.param, error?.message];
  };
  const missing = (name: string) => [404, "tools", `Container with id '${name}' not found.`];
  expect(await refusal("cntr_unknown")).toEqual(missing("cntr_unknown"));
  expect(await refusal(id, "sk-theirs-0123456789abcdef")).toEqual(missing(id));
  expect(await refusal({ type: "auto", file_ids: ["file-unknown"] })).toEqual([404, "tools", expect.any(String)]);
  expect(await refusal({ type: "auto", memory_limit: "64g" })).toEqual([
    400,
    "tools[0].container.memory_limit",
    expect.stringContaining("CODE_MEMORY_MAX"),
  ]);
  expect(script.asked).toEqual([]);
});

test("uploaded files are in the container of a request, in a named one, and in that of a message that names them", async () => {
  const reads = runs("print(open('/mnt/data/in.txt').read())");
  const said = saysText("Done.");
  const script = await serve([reads, said, reads, said, reads, said]);
  const { id: fileId } = await (await uploadFile(script.server, namedFile("herons", "in.txt"))).json();
  const made = await (await script.server.post("/v1/containers", { name: "own", file_ids: [fileId] })).json();
  const auto = { type: "code_interpreter", container: { type: "auto", file_ids: [fileId], memory_limit: "1g" } };
  const named = { type: "code_interpreter", container: made.id };
  const content = [{ type: "input_file", file_id: fileId }];
  for (const members of [
    { tools: [auto] },
    { tools: [named] },
    { tools: [AUTO], input: [{ role: "user", content }] },
  ]) {
    const [call] = codeCalls(await readResponse(await script.create({ ...INCLUDE, ...members })));
    expect(JSON.stringify(call?.outputs)).toContain("herons");
  }
});

test("an exception is completed, and the model reads the traceback", async () => {
  verifies("tools.code-interpreter.exceptions-complete");
  const script = await serve([runs("print('before')\n1 / 0"), saysText("Oh.")]);
  const response = await readResponse(await script.create({ tools: [AUTO], ...INCLUDE }));
  expect(codeCalls(response)).toMatchObject([{ status: "completed", outputs: [{ logs: "before\n" }] }]);
  expect(told(script)).toContain("ZeroDivisionError");
});

test("a session that runs for too long is stopped; its files are kept and the model is told", async () => {
  verifies("tools.code-interpreter.stopped-sessions");
  const look = "import os\nprint(os.listdir('/mnt/data'), 'a' in globals())";
  const script = await serve([runs(`a = 1\n${WRITES}`), runs("while True: pass"), runs(look), saysText("Done.")], {
    CODE_TIMEOUT_MS: "1500",
  });
  const response = await readResponse(await script.create({ tools: [AUTO], ...INCLUDE }));
  expect(codeCalls(response).map(({ status }) => status)).toEqual(["completed", "failed", "completed"]);
  expect(JSON.stringify(codeCalls(response)[2]?.outputs)).toContain("['table.csv'] False");
  expect(told(script)).toContain("ran for longer than 1.5 s, the limit of a call");
  expect(told(script)).toContain("started anew");
});

const USES_SHARED_MEMORY =
  "import mmap, time\nkept = mmap.mmap(-1, 400 << 20)\nfor at in range(0, len(kept), 4096): kept[at] = 1\ntime.sleep(60)";

test.skipIf(!HAS_BUBBLEWRAP).for([
  ["that Python cannot have", "kept = bytearray(300 << 20)", "completed", "MemoryError"],
  [
    "that a library cannot have",
    "import os\nprint('before', flush=True)\nos.abort()",
    "failed",
    "It was stopped: Python crashed",
  ],
  ["beyond the limit", USES_SHARED_MEMORY, "failed", "It was stopped: it used more memory than there is"],
] as const)("a call that dies of memory %s says so, and names the limit", async ([, code, status, why]) => {
  verifies("tools.code-interpreter.stopped-sessions");
  const script = await serve([runs(code), saysText("Oh.")], { CODE_MEMORY_MAX: String(256 * 1024 ** 2) });
  const [call] = codeCalls(await readResponse(await script.create({ tools: [AUTO], ...INCLUDE })));
  expect(call?.status).toBe(status);
  expect(told(script)).toContain(why);
  expect(told(script)).toContain("256 MiB");
  if (status === "failed") expect(JSON.stringify(call?.outputs?.at(-1))).toContain(why);
});

test.skipIf(!HAS_BUBBLEWRAP)("memory is for data: libraries that are only mapped do not count", async () => {
  const script = await serve(
    [
      runs("import mmap\nkept = [mmap.mmap(-1, 1 << 20, prot=mmap.PROT_READ) for _ in range(300)]\nlen(kept)"),
      saysText("So."),
    ],
    { CODE_MEMORY_MAX: String(256 * 1024 ** 2) },
  );
  const [call] = codeCalls(await readResponse(await script.create({ tools: [AUTO], ...INCLUDE })));
  expect(call?.outputs).toEqual([{ type: "logs", logs: "300" }]);
});

test.skipIf(!HAS_BUBBLEWRAP)("a container has the memory that it names, or else all that there is", async () => {
  verifies("containers.memory.limits-hold");
  const takes = runs("len(bytearray(1536 << 20))");
  const script = await serve([takes, saysText("So."), takes, saysText("So."), takes, saysText("So.")], {
    CODE_MEMORY_MAX: String(4 * 1024 ** 3),
  });
  const run = async (container: object) => {
    const response = await readResponse(await script.create({ tools: [{ ...AUTO, container }], ...INCLUDE }));
    const [call] = codeCalls(response);
    const made = await (await script.server.fetch(`/v1/containers/${call?.container_id}`)).json();
    const description = script.asked.at(-1)?.tools?.[0]?.function.description;
    return [made.memory_limit, JSON.stringify(call?.outputs), /session (\d+ GiB)/.exec(description ?? "")?.[1]];
  };
  expect(await run({ type: "auto", memory_limit: "1g" })).toEqual(["1g", "[]", "1 GiB"]);
  expect(told(script)).toMatch(/MemoryError.*A session has 1 GiB of memory in all/);
  const whole = ["4g", expect.stringContaining("1610612736"), "4 GiB"];
  expect(await run({ type: "auto", memory_limit: "4g" })).toEqual(whole);
  expect(await run({ type: "auto" })).toEqual(whole);
});

test("wrong arguments fail the call, and the model is told", async () => {
  const script = await serve([calls(["code_interpreter", '{"kode":"1"}']), runs("1 + 1"), saysText("2")]);
  const stream = await readStream(await script.create({ tools: [AUTO], stream: true }));
  checkStreamLaws(stream);
  expect(codeCalls(stream.final).map(({ status }) => status)).toEqual(["failed", "completed"]);
  expect(told(script)).toContain("The arguments need `code`");
});

test("code goes beside a search, an MCP server and a function of the client", async () => {
  const others = await startToolServers((close) => onTestFinished(close));
  const weather = { type: "function", name: "get_weather", parameters: { type: "object", properties: {} } };
  const turn = calls(
    ["code_interpreter", '{"code":"1 + 1"}'],
    ["echo", '{"text":"x"}'],
    ["web_search", '{"queries":["heron"]}'],
    ["code_interpreter", '{"code":"2 + 2"}'],
    ["get_weather", "{}"],
  );
  const script = await serve([turn, saysText("Never.")], others.env);
  const tools = [AUTO, MCP, { type: "web_search" }, weather];
  const stream = await readStream(await script.create({ tools, ...INCLUDE, stream: true }));
  checkStreamLaws(stream);
  expect(stream.final.output.map(({ type }) => type)).toEqual([
    "mcp_list_tools",
    "code_interpreter_call",
    "mcp_call",
    "web_search_call",
    "code_interpreter_call",
    "function_call",
  ]);
  const outputs = codeCalls(stream.final).map((call) => JSON.stringify(call.outputs));
  expect(outputs).toEqual([expect.stringContaining("2"), expect.stringContaining("4")]);
});

describe.each([{ background: true }, { store: false }, {}])("with %j", (members) => {
  test("the next turn shows the model what it saw", async () => {
    const script = await serve([runs("print('heron')"), saysText("Seen.")]);
    let first = await readResponse(await script.create({ tools: [AUTO], ...INCLUDE, ...members }));
    if ("background" in members) first = await ended(script, first);
    expect(codeCalls(first)).toMatchObject([
      { status: "completed", outputs: [{ logs: expect.stringContaining("heron") }] },
    ]);
    const next =
      "store" in members
        ? { input: [{ role: "user", content: "Hi" }, ...first.output, { role: "user", content: "Why?" }] }
        : { input: "Why?", previous_response_id: first.id };
    const second = await readResponse(await script.create({ tools: [AUTO], ...next }));
    expect(second.status).toBe("completed");
    expect(told(script)).toContain("heron");
  });
});

test("code runs over a WebSocket", async () => {
  const scenario = `
scenarios:
  - when: { has_tool_output: true }
    events: [{ text: Done. }]
  - when: { input_contains: compute }
    events: [{ call: { name: code_interpreter, arguments: { code: "6 * 7" } } }]
`;
  const server = await startTestServer({ scenario, env: CODE_ENGINE });
  const socket = await openSocket(server);
  const turn = await socket.create({ model: "antiphon-built-in", input: "compute", tools: [AUTO], ...INCLUDE });
  expect(turn.response.output).toMatchObject([
    { type: "code_interpreter_call", outputs: [{ logs: expect.stringContaining("42") }] },
    { type: "message" },
  ]);
});

test("cancelling a response ends its code at once", async () => {
  verifies("tools.code-interpreter.cancel-ends-code");
  const script = await serve([runs("import time\nprint('on')\ntime.sleep(600)")]);
  const { id } = await readResponse(await script.create({ tools: [AUTO], background: true }));
  const sessions = async () => {
    const metrics = await (await script.server.fetch("/metrics")).text();
    return metrics
      .split("\n")
      .find((line) => /^antiphon_code_sessions(\{|\s)/.test(line))
      ?.split(" ")
      .at(-1);
  };
  await expect.poll(sessions, { timeout: 10_000 }).toBe("1");
  await script.server.fetch(`/v1/responses/${id}/cancel`, { method: "POST" });
  await expect.poll(sessions, { timeout: 5_000 }).toBe("0");
  const response = await readResponse(await script.server.fetch(`/v1/responses/${id}`));
  expect(response.status).toBe("cancelled");
  expect(codeCalls(response)).toMatchObject([{ status: "incomplete" }]);
});

test("where no code runs the tool is left out, or refused with what would help", async () => {
  const script = await serveScript([saysText("Hello.")], { CODE_ENGINE: "off" });
  const left = await script.create({ tools: [AUTO] });
  expect([left.status, left.headers.get("x-antiphon-omitted-tools")]).toEqual([200, "code_interpreter"]);
  const refused = await script.create({ tools: [{ type: "code_interpreter", container: "cntr_1" }] });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("CODE_ENGINE")]);
});

test("code runs in Pyodide, which has no shell", { timeout: 60_000 }, async () => {
  const script = await serveScript([runs("import sys\nprint(sys.platform)"), saysText("So.")], {
    CODE_ENGINE: "pyodide",
  });
  const response = await readResponse(await script.create({ tools: [AUTO], ...INCLUDE }));
  expect(codeCalls(response)).toMatchObject([
    { status: "completed", outputs: [{ logs: expect.stringContaining("emscripten") }] },
  ]);
  const shell = { type: "shell", environment: { type: "container_auto" } };
  const reply = await script.create({ tools: [shell], tool_choice: { type: "shell" } });
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining("no shell")]);
});

test.for(["bubblewrap", "pyodide"])(
  "the model is told what code has in %s",
  { timeout: 180_000 },
  async (engine, context) => {
    verifies("tools.code-interpreter.tells-abilities");
    if (engine === "bubblewrap" && !HAS_BUBBLEWRAP) return context.skip("bubblewrap does not work here");
    const names = "sorted({d.metadata['Name'] for d in __import__('importlib.metadata').metadata.distributions()})";
    const script = await serveScript([runs(names), saysText("So.")], {
      CODE_ENGINE: engine,
      CODE_TIMEOUT_MS: "90500",
      CODE_MEMORY_MAX: String(700 * 1024 ** 2),
    });
    const response = await readResponse(await script.create({ tools: [AUTO], ...INCLUDE }));
    const description = script.asked[0]?.tools?.[0]?.function.description ?? "";
    expect(description).toContain("A call may take 90.5 s, and the session 700 MiB of memory.");
    const [, listed = ""] = /Packages beyond the standard library: (.*?)\. /.exec(description) ?? [];
    const [output] = codeCalls(response)[0]?.outputs ?? [];
    const importable: readonly string[] = JSON.parse(output?.type === "logs" ? output.logs.replaceAll("'", '"') : "");
    const more = /^(?:none|(.*?)(?: and (\d+) more)?)$/.exec(listed);
    const named = more?.[1]?.split(", ") ?? [];
    expect(named.filter((name) => !importable.includes(name))).toEqual([]);
    expect(named.length + Number(more?.[2] ?? 0)).toBe(importable.length);
  },
);

test("counting tokens makes no container", async () => {
  const script = await serve([saysText("Hi")]);
  const counted = await script.server.post("/v1/responses/input_tokens", { model: "m", input: "Hi", tools: [AUTO] });
  expect(counted.status).toBe(200);
  await readResponse(await script.create({ tools: [AUTO] }));
  expect(await (await script.server.fetch("/v1/containers")).json()).toMatchObject({ data: [] });
});
