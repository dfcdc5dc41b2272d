import { writeFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { isRecord } from "@antiphon/base/json/records.ts";
import { expect, test } from "vitest";
import { runDoctor } from "../../src/commands/doctor-command.ts";
import { serveChat } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { embeds, embedsInNumbers, ranksTexts } from "../model-servers/retrieval-servers.ts";
import { verifies } from "../verifies.ts";

/** What a scripted model server can do. */
interface Abilities {
  readonly tools: "several" | "one" | "refused";
  readonly schema: boolean | "fails";
  readonly images: boolean;
  readonly usage: boolean;
  readonly logprobs: boolean;
  readonly reasoning: boolean;
  readonly streams: boolean;
}

const ABLE: Abilities = {
  tools: "several",
  schema: true,
  images: true,
  usage: true,
  logprobs: true,
  reasoning: true,
  streams: true,
};
const POOR: Abilities = {
  tools: "refused",
  schema: false,
  images: false,
  usage: false,
  logprobs: false,
  reasoning: false,
  streams: false,
};

type Asked = Readonly<Record<string, unknown>>;

/** The deltas by which the server answers what it was asked; a text is a refusal. */
function deltasFor(asked: Asked, able: Abilities): readonly object[] | string {
  const written = JSON.stringify(asked["messages"]);
  if (asked["tools"] !== undefined && able.tools === "refused") return "this model does not support tools";
  if (written.includes("image_url")) return able.images ? [{ content: "Red." }] : "image input is not supported";
  if (asked["tools"] !== undefined && !written.includes('"role":"tool"')) {
    const count = able.tools === "several" && written.includes("Rome") ? 2 : 1;
    return Array.from({ length: count }, (_, index) => ({
      tool_calls: [
        {
          index,
          id: `call_${index}`,
          type: "function",
          function: { name: "look_up_weather", arguments: '{"place":"Oslo"}' },
        },
      ],
    }));
  }
  const format = asked["response_format"];
  if (isRecord(format) && able.schema !== false)
    return [{ content: format["type"] === "json_schema" ? '{"sea":"north","metres":2}' : '{"colour":"red"}' }];
  const thought = able.reasoning && asked["reasoning_effort"] !== undefined ? [{ reasoning_content: "Seven." }] : [];
  return [...thought, { content: "Hello" }, { content: " there." }];
}

function modelServer(able: Abilities): RequestListener {
  return (request, response) => {
    if (request.url !== "/v1/chat/completions") {
      response.writeHead(request.url === "/v1/models" ? 200 : 404, { "content-type": "application/json" });
      response.end(JSON.stringify({ data: [{ id: "scripted-model" }] }));
      return;
    }
    void json(request).then((asked) => answer(isRecord(asked) ? asked : {}, able, response));
  };
}

async function answer(asked: Asked, able: Abilities, response: Parameters<RequestListener>[1]): Promise<void> {
  if (able.schema === "fails" && JSON.stringify(asked["response_format"] ?? "").includes("json_schema")) {
    response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"no such type"}}');
    return;
  }
  const deltas = deltasFor(asked, able);
  if (typeof deltas === "string") {
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: deltas, type: "invalid_request_error" } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const logprobs =
    able.logprobs && asked["logprobs"] === true
      ? { content: [{ token: "Hello", logprob: -0.1, top_logprobs: [] }] }
      : null;
  const limit = asked["max_tokens"] === undefined ? "stop" : "length";
  const reason = deltas.some((delta) => "tool_calls" in delta) ? "tool_calls" : limit;
  const chunks = [
    ...deltas.map((delta) => ({ id: "c", choices: [{ index: 0, delta, logprobs, finish_reason: null }] })),
    { id: "c", choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    ...(able.usage
      ? [{ id: "c", choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }]
      : []),
  ].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  for (const chunk of able.streams ? chunks : [chunks.join("")]) {
    response.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, able.streams ? 20 : 0));
  }
  response.end("data: [DONE]\n\n");
}

interface Report {
  readonly code: number;
  readonly printed: string;
  readonly noted: string;
}

function doctor(...argv: readonly string[]): Promise<Report> {
  return doctorIn({}, ...argv);
}

async function doctorIn(more: Readonly<Record<string, string>>, ...argv: readonly string[]): Promise<Report> {
  const [printed, noted]: [string[], string[]] = [[], []];
  const output = {
    print: (text: string) => void printed.push(text),
    note: (text: string) => void noted.push(text),
    isTerminal: false,
  };
  const settings = { DATA_DIR: "unused", FIND_LOCAL_DAEMON: "false", CODE_ENGINE: "off" };
  const environment = { ...settings, PORT: "0", STT_PORT: "0", ...more };
  return { code: await runDoctor(argv, environment, output), printed: printed.join("\n"), noted: noted.join("\n") };
}

/** The verdict on each of these fields, as `--json` tells it. */
function verdicts(report: Report, fields: readonly string[]): readonly unknown[] {
  const told: { readonly fields: readonly { readonly field: string; readonly verdict: string }[] } = JSON.parse(
    report.printed,
  );
  return fields.map((field) => told.fields.find((each) => each.field === field)?.verdict);
}

const FIELDS = [
  "input",
  "tools.function",
  "parallel_tool_calls",
  "text.format.json_schema",
  "content.input_image",
  "top_logprobs",
  "reasoning.effort",
  "tools.custom",
  "tool_choice.programmatic_tool_calling",
];

test("a server that can do everything is told so, field by field, and what is emulated all the same", async () => {
  verifies("doctor.fields.as-the-server-shows");
  const { url } = await serveHttp(modelServer(ABLE));
  const report = await doctor(`${url}/v1`, "--json");
  expect(report.code).toBe(0);
  const whatItDoes = ["honoured", "honoured", "honoured", "honoured", "honoured", "honoured", "honoured"];
  expect(verdicts(report, FIELDS)).toEqual([...whatItDoes, "emulated", "emulated"]);
  expect(JSON.parse(report.printed)).toMatchObject({ model: "scripted-model", models: ["scripted-model"] });
});

test("a server that can do little is told what it refuses in its own words, and what it ignores", async () => {
  verifies("doctor.fields.as-the-server-shows");
  const { url } = await serveHttp(modelServer(POOR));
  const whole = await doctor(`${url}/v1`, "--json");
  expect(whole.code).toBe(0);
  expect(verdicts(whole, FIELDS).slice(0, 7)).toEqual(
    "honoured refused refused ignored refused ignored ignored".split(" "),
  );
  const { printed } = await doctor(`${url}/v1`);
  expect(printed).toMatch(/✗ refused {3}tools.function .*this model does not support tools/);
  expect(printed).toMatch(/· ignored {3}usage in streams .*it sends no token counts, so they are estimated/);
  expect(printed).toMatch(/· ignored {3}a stream .*its text arrived at once/);
  expect(printed).toMatch(/· ignored {3}text.format.json_schema .*its answer does not fit the schema/);
  expect(printed).toContain("The server can be used");
  expect(printed).not.toContain("\u001B");
});

test("a server that calls one tool at a time is told apart from one that calls several", async () => {
  const { url } = await serveHttp(modelServer({ ...ABLE, tools: "one" }));
  const fields = ["tools.function", "parallel_tool_calls"];
  expect(verdicts(await doctor(`${url}/v1`, "--json"), fields)).toEqual(["honoured", "ignored"]);
});

test("a server that is not there, or is no model server, ends with code 1, and its fields are not judged", async () => {
  const report = await doctor("http://127.0.0.1:9/v1");
  expect(report.code).toBe(1);
  expect(report.printed).toContain("The server cannot be used");
  const { url } = await serveHttp((_request, response) => response.writeHead(500).end("no"));
  const named = await doctor(`${url}/v1`, "--model", "m");
  expect(named.code).toBe(1);
  expect(named.printed).toMatch(/Model: m .*it gave no answer/s);
  expect(named.printed).not.toContain("Fields of a request");
});

test("a field on which the server fails is shown with its fault", async () => {
  const { url } = await serveHttp(modelServer({ ...ABLE, schema: "fails" }));
  const { printed } = await doctor(`${url}/v1`);
  expect(printed).toMatch(/[?] unknown {3}text[.]format[.]json_schema .*status 500: no such type/);
});

test("what the server plainly refuses is refused, whatever its status says", async () => {
  verifies("doctor.fields.as-the-server-shows");
  const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
    json_schema: [500, "1 validation error: {'loc': ('body', 'response_format', 'type'), 'msg': 'Bad value'}"],
    image_url: [501, "Not implemented"],
    '"logprobs"': [403, "Not for this key"],
    reasoning_effort: [405, "Not here"],
    '"max_tokens"': [429, "You exceeded your current quota"],
  };
  const listener = modelServer(ABLE);
  const { url } = await serveHttp((request, response) => {
    if (request.url !== "/v1/chat/completions") return listener(request, response);
    void json(request).then((asked) => {
      const [, refusal] = Object.entries(refusals).find(([word]) => JSON.stringify(asked).includes(word)) ?? [];
      if (refusal === undefined) return answer(isRecord(asked) ? asked : {}, { ...ABLE, streams: false }, response);
      response.writeHead(refusal[0], { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: refusal[1] } }));
    });
  });
  const refused = ["text.format.json_schema", "content.input_image", "top_logprobs", "reasoning.effort"];
  const found = verdicts(await doctor(`${url}/v1`, "--json"), [...refused, "max_output_tokens"]);
  expect(found).toEqual([...refused.map(() => "refused"), "unknown"]);
});

test("each finding is printed as soon as it is known", async () => {
  const held = Promise.withResolvers<void>();
  const listener = modelServer(ABLE);
  const { url } = await serveHttp((request, response) => {
    void (request.url === "/v1/models" ? Promise.resolve() : held.promise).then(() => listener(request, response));
  });
  const printed: string[] = [];
  const output = { print: (text: string) => void printed.push(text), note: () => {}, isTerminal: false };
  const whole = runDoctor([`${url}/v1`], { DATA_DIR: "unused", FIND_LOCAL_DAEMON: "false" }, output);
  await expect.poll(() => printed.join("\n")).toMatch(/Model: scripted-model .*✓ honoured {2}list of models/s);
  held.resolve();
  expect(await whole).toBe(0);
});

test("without a URL, every server of MODELS_FILE is examined", async () => {
  verifies("models.file.command");
  const [able, poor] = [await serveHttp(modelServer(ABLE)), await serveHttp(modelServer(POOR))];
  const file = join(temporaryFolder(), "models.yaml");
  writeFileSync(
    file,
    `servers:
  able: { url: "${able.url}/v1" }
  poor: { url: "${poor.url}/v1" }
models: { chat: [able/m, poor/m] }`,
  );
  const { printed, code } = await doctorIn({ MODELS_FILE: file });
  expect(printed).toMatch(/Server able.*honoured.*Server poor.*✗ refused {3}tools.function/s);
  expect(code).toBe(0);
  const { servers: reports }: { servers: { server: string }[] } = JSON.parse(
    (await doctorIn({ MODELS_FILE: file }, "--json")).printed,
  );
  expect(reports.map(({ server }) => server)).toEqual(["able", "poor"]);
});

test("models for embeddings and ranks are examined as such", async () => {
  verifies("models.file.command");
  const [vectors, ranker, poor] = [
    await serveChat(embedsInNumbers),
    await serveChat(ranksTexts),
    await serveChat(embeds),
  ];
  const file = join(temporaryFolder(), "models.yaml");
  const write = (more: string): void =>
    writeFileSync(
      file,
      `servers:
  vectors: { url: "${vectors.origin}/v1" }
  ranker: { url: "${ranker.origin}/v1" }
  poor: { url: "${poor.origin}/v1" }
models:
  meaning: { route: vectors/bge, for: embeddings }
  order: { route: ranker/bge-reranker, for: ranks }
${more}`,
    );
  write("");
  const { printed } = await doctorIn({ MODELS_FILE: file });
  expect(printed).toMatch(/Server vectors\n {2}✓ honoured {2}embeddings of bge +3 numbers, without base64 and counts/);
  expect(printed).toMatch(/Server ranker\n {2}✓ honoured {2}ranks of bge-reranker/);
  write("  wrong: { route: poor/m, for: ranks }\n  good: { route: poor/e, for: embeddings }");
  const failed = await doctorIn({ MODELS_FILE: file }, "--json");
  expect(failed.code).toBe(1);
  const { servers: reports }: { servers: { server: string; findings: unknown[] }[] } = JSON.parse(failed.printed);
  expect(reports.filter(({ server }) => server === "poor").map(({ findings }) => findings[0])).toMatchObject([
    { name: "ranks of m", verdict: "unknown" },
    { name: "embeddings of e", verdict: "honoured", why: "3 numbers" },
  ]);
});

test("a model that gives no answer is tried for embeddings", async () => {
  const { origin } = await serveChat((response, call) =>
    call.path.endsWith("/embeddings") ? embeds(response, call) : response.writeHead(404).end("Not Found"),
  );
  const { printed, code } = await doctor(`${origin}/v1`, "--model", "bge");
  expect(printed).toMatch(/✓ honoured {2}embeddings of bge/);
  expect(printed).toContain("The server can be used for embeddings or ranks");
  expect(code).toBe(0);
});

test("wrong arguments are named, with code 2", async () => {
  expect(await doctor("localhost")).toMatchObject({
    code: 2,
    noted: expect.stringContaining("'localhost' is not an http"),
  });
  expect((await doctor("--colour")).code).toBe(2);
  expect((await doctor("--help")).printed).toContain("Usage: antiphon doctor");
});
