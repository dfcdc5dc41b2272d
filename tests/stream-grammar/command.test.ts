import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { SAMPLE_STREAMS, type SampleEvent } from "@antiphon/stream-grammar/sample-streams.fixture.ts";
import { streamOfLists, THREE_LISTS } from "@antiphon/stream-grammar/several-lists.fixture.ts";
import { expect, test } from "vitest";
import { runLintStream } from "../../src/commands/lint-stream-command.ts";
import { sends, serveHttp } from "../kit/http-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";

const MAIN = join(import.meta.dirname, "../../src/main.ts");
const SSE = { "content-type": "text/event-stream; charset=utf-8" };

const EVENTS = SAMPLE_STREAMS["a text"] ?? [];
const lines = (events: readonly SampleEvent[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join("");
const frames = (events: readonly SampleEvent[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
const BROKEN = EVENTS.toSpliced(5, 1).map((event, index) => ({ ...event, sequence_number: index }));

interface Outcome {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A folder with a valid stream and a broken one. */
async function makeFolder(): Promise<string> {
  const folder = temporaryFolder();
  await writeFile(join(folder, "whole.txt"), lines(EVENTS));
  await writeFile(join(folder, "broken.txt"), lines(BROKEN));
  await writeFile(join(folder, "frames.txt"), frames(EVENTS));
  return folder;
}

/** Runs the real command in its own process. */
async function lintInProcess(words: readonly string[], stdin = ""): Promise<Outcome> {
  const cwd = await makeFolder();
  return await new Promise((resolve) => {
    const options = { cwd, env: { PATH: process.env["PATH"] }, timeout: 30_000 };
    const child = execFile(process.execPath, [MAIN, "lint-stream", ...words], options, (_error, out, err) =>
      resolve({ code: child.exitCode, out, err }),
    );
    child.stdin?.end(stdin);
  });
}

/** Runs the command in this process; starting a process takes a second. */
async function lint(words: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const said = { out: "", err: "" };
  const code = await runLintStream(words, env, {
    print: (text) => (said.out += text),
    note: (text) => (said.err += text),
    stdin: Readable.from([]),
  });
  return { code, ...said };
}

test("a stream in a file is checked, valid or broken", async () => {
  verifies("contract.parity.stream-grammar");
  const whole = await lintInProcess(["whole.txt"]);
  expect(whole).toEqual({ code: 0, out: "whole.txt: 10 events of resp_1, no rule broken\n", err: "" });
  expect(await lint([join(await makeFolder(), "frames.txt")])).toMatchObject({ code: 0, err: "" });
  const { code, out } = await lintInProcess(["broken.txt"]);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^event 5 response\.output_text\.done: deltas-add-up: 'text' is "Hello", and the deltas are "Hel"\n/,
  );
  expect(out).toMatch(/broken\.txt: 9 events of resp_1, a rule broken once\n$/);
});

test("the events of a stored response are checked at their own address, in either dialect", async () => {
  const scenario = "scenarios: [{ when: {}, events: [{ call: { name: find, arguments: { a: 1 } } }] }]";
  const server = await startTestServer({ scenario });
  const tools = [{ type: "function", name: "find" }];
  const made = await (await server.post("/v1/responses", { model: "antiphon-built-in", input: "Hi", tools })).json();
  const events = `${server.url}/v1/responses/${made.id}/events`;
  for (const address of [events, `${events}?dialect=reference`])
    expect(await lint([address], { ANTIPHON_API_KEY: server.apiKey })).toMatchObject({
      code: 0,
      out: expect.stringContaining("no rule broken"),
    });
});

test("a stream on standard input is checked, with the result as JSON", async () => {
  const { code, out } = await lintInProcess(["-", "--json"], frames(BROKEN));
  expect(code).toBe(1);
  expect(JSON.parse(out)).toEqual({
    source: "-",
    ok: false,
    streams: [
      {
        response_id: "resp_1",
        events: 9,
        faults: [{ rule: "deltas-add-up", event: 5, type: "response.output_text.done", says: expect.any(String) }],
        faults_left_out: 0,
        notes: [],
      },
    ],
  });
});

test("a note is printed, and is not a fault", async () => {
  verifies("contract.parity.stream-grammar");
  const { begun, completed, done } = THREE_LISTS;
  const noted = lines(streamOfLists([...begun, ...completed, ...done.slice(0, 1)], 3));
  const { code, out, err } = await lintInProcess(["-"], noted);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^event 12 response\.completed: note lists-done-once: one of 3 lists is done\n {4}One response/);
  expect(out).toMatch(/-: 13 events of resp_1, no rule broken, notes: 1\n$/);

  const file = join(await makeFolder(), "noted.txt");
  await writeFile(file, noted);
  const told = await lint([file, "--json"]);
  expect(told.code).toBe(0);
  const note = { note: "lists-done-once", event: 12, type: "response.completed", says: expect.any(String) };
  expect(JSON.parse(told.out)).toMatchObject({ ok: true, streams: [{ faults: [], notes: [note] }] });
});

test("a live stream is requested and checked, with the key from the environment or a file", async () => {
  const server = await startTestServer();
  const body = ["--body", '{"model":"antiphon-built-in","input":"Say hello"}'];
  const env = { ANTIPHON_API_KEY: server.apiKey };
  for (const url of [server.url, `${server.url}/v1`, `${server.url}/v1/responses`]) {
    const { code, out, err } = await lint([url, ...body], env);
    expect([code, err]).toEqual([0, ""]);
    expect(out).toMatch(/no rule broken/);
  }
  const stored = await server.post("/v1/responses", {
    model: "antiphon-built-in",
    input: "x",
    background: true,
    stream: true,
  });
  const id = /"id":"(resp_\w+)"/.exec(await stored.text())?.[1];
  const again = await lint([
    `${server.url}/v1/responses/${id}?stream=true`,
    "--key-file",
    join(server.dataDir, "api-key"),
  ]);
  expect(again).toMatchObject({ code: 0, err: "" });

  const refused = await lint([server.url, ...body]);
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused.err).toMatch(/answers 401 without a stream/);
});

test("a live stream with another content type, or one that breaks off, is reported", async () => {
  const html = await serveHttp(sends(frames(EVENTS), { "content-type": "text/event-stream" }));
  const typed = await lint([html.url]);
  expect([typed.code, typed.out.split("\n")[0]]).toEqual([
    1,
    "event 0: content-type: the answer is 200 with 'text/event-stream'",
  ]);

  const torn = await serveHttp((_request, response) => {
    response.writeHead(200, SSE);
    response.write(frames(EVENTS.slice(0, 4)), () => response.destroy());
  });
  const broken = await lint([torn.url, "--json"]);
  expect(broken.code).toBe(1);
  expect(broken.out).toContain('"one-ending"');

  const silent = await serveHttp((_request, response) => {
    response.writeHead(200, SSE);
    response.write(frames(EVENTS.slice(0, 4)));
  });
  const late = await lint([silent.url, "--timeout", "1"]);
  expect([late.code, late.out]).toEqual([1, expect.stringContaining("the stream broke off")]);
});

test("a stream cannot send control sequences to the terminal", async () => {
  const red = { type: "response.\u001b[31m", sequence_number: 0 };
  const server = await serveHttp(sends(frames([red]), SSE));
  const { out } = await lint([server.url]);
  expect(out).toContain("response.\uFFFD[31m");
  expect(out).not.toContain("\u001b");
});

test.each([
  ["no source", []],
  ["two sources", ["whole.txt", "broken.txt"]],
  ["a file that is not there", ["nowhere.txt"]],
  ["nothing piped in", ["-"]],
  ["an unknown option", ["whole.txt", "--strict"]],
  ["a body that is not JSON", ["http://127.0.0.1:9/v1", "--body", "{"]],
  ["a body for a file", ["whole.txt", "--body", "{}"]],
  ["an unknown dialect", ["whole.txt", "--dialect", "latin"]],
  ["a timeout of nothing", ["http://127.0.0.1:9/v1", "--timeout", "0"]],
  ["a header without a value", ["http://127.0.0.1:9/v1", "--header", "x"]],
])("without a stream to judge it ends with 2: %s", async (_, words) => {
  const { code, out, err } = await lint(words);
  expect([code, out]).toEqual([2, ""]);
  expect(err).not.toBe("");
  expect(err).not.toMatch(/^ {4}at /m);
});

test("it prints its rules, its grammar and its usage", async () => {
  expect((await lint(["--rules"])).out).toMatch(/^deltas-add-up +The deltas/m);
  expect((await lint(["--grammar"])).out).toMatch(/^mcp_call +=/m);
  expect((await lint(["--help"])).out).toMatch(/^Usage: antiphon lint-stream/);
});
