import OpenAI, { toFile } from "openai";
import type { Response, ResponseInputItem, Tool } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readStream } from "../responses/read-stream.ts";
import { HAS_BUBBLEWRAP, HAS_MATPLOTLIB } from "../tools/code-engines.ts";
import { CODE_SCENARIOS, SALES, SUMS, TURNS } from "./code-scenarios.ts";
import { installedVersion } from "./installed-version.ts";
import { collect } from "./openai-client.ts";

const ENGINES = HAS_BUBBLEWRAP ? ["bubblewrap", "pyodide"] : ["pyodide"];
/** The first start of Pyodide makes a snapshot. */
const START_MS_MAX = 120_000;

let server: TestServer;
let client: OpenAI;

const model = "gpt-5-mini";
const AUTO: Tool = { type: "code_interpreter", container: { type: "auto" } };
const PNG = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

interface Asked {
  readonly input: string | ResponseInputItem[];
  readonly tools: readonly Tool[];
  readonly previous?: Response | null;
  readonly store?: boolean;
}

type Ask = (asked: Asked) => Promise<Response>;

function bodyOf({ input, tools, previous, store = true }: Asked) {
  const chain = previous ? { previous_response_id: previous.id } : {};
  return { model, input, store, tools: [...tools], include: ["code_interpreter_call.outputs" as const], ...chain };
}

const plain: Ask = (asked) => client.responses.create(bodyOf(asked));

/** What came of one stream, which must have shown all of its code while that was written. */
const streamed: Ask = async (asked) => {
  const stream = client.responses.stream(bodyOf(asked));
  const events = await collect(stream);
  const final = await stream.finalResponse();
  const deltas = events.map((event) => (event.type === "response.code_interpreter_call_code.delta" ? event.delta : ""));
  expect(deltas.join("")).toBe(callOf(final)?.code);
  return final;
};

function callOf({ output }: Response) {
  return output.find((item) => item.type === "code_interpreter_call");
}

function logsOf(response: Response): string {
  return (callOf(response)?.outputs ?? []).map((output) => (output.type === "logs" ? output.logs : "")).join("");
}

function citationOf({ output }: Response) {
  const annotations = output.flatMap((item) =>
    item.type === "message"
      ? item.content.flatMap((part) => (part.type === "output_text" ? part.annotations : []))
      : [],
  );
  const cited = annotations.find((one) => one.type === "container_file_citation" && one.filename === "chart.png");
  if (cited?.type !== "container_file_citation") throw new Error("the chart is not cited");
  return cited;
}

async function download(containerId: string, fileId: string): Promise<Buffer> {
  const content = await client.containers.files.content.retrieve(fileId, { container_id: containerId });
  return Buffer.from(await content.arrayBuffer());
}

describe.each(ENGINES)(`openai ${installedVersion("openai")}, code in %s`, (engine) => {
  beforeAll(async () => {
    server = await startTestServer({ env: { CODE_ENGINE: engine }, scenario: CODE_SCENARIOS });
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: server.apiKey, maxRetries: 0 });
    await plain({ input: "Read the table.", tools: [AUTO] });
  }, START_MS_MAX);
  afterAll(() => server.close());

  test.each([
    ["plain", plain],
    ["streamed", streamed],
  ])("a table is uploaded, analysed over three turns of a chain, and its chart downloaded: %s", async (_, ask) => {
    const container = await client.containers.create({ name: "birds" });
    const sales = await toFile(Buffer.from(SALES), "sales.csv");
    const uploaded = await client.containers.files.create(container.id, { file: sales });
    expect(uploaded).toMatchObject({ path: "/mnt/data/sales.csv", bytes: SALES.length, source: "user" });
    const tools: Tool[] = [{ type: "code_interpreter", container: container.id }];
    const answers: Response[] = [];
    for (const { input } of TURNS) answers.push(await ask({ input, tools, previous: answers.at(-1) ?? null }));
    expect(answers.map(callOf)).toMatchObject(
      TURNS.map(({ code }) => ({ code, status: "completed", container_id: container.id })),
    );
    expect(answers.map(({ output_text: text }) => text)).toEqual(TURNS.map(({ text }) => text));
    expect(answers.map((answer) => logsOf(answer).trim())).toEqual(["4 rows", SUMS, ""]);
    const drawn = answers.at(-1);
    if (drawn === undefined) throw new Error("nobody drew");
    const shown = (callOf(drawn)?.outputs ?? []).map(({ type }) => type);
    expect(shown).toEqual(HAS_MATPLOTLIB && engine === "bubblewrap" ? ["image"] : []);

    const cited = citationOf(drawn);
    expect(cited.container_id).toBe(container.id);
    const chart = await download(cited.container_id, cited.file_id);
    expect(chart.subarray(0, PNG.length)).toEqual(PNG);
    const file = await client.containers.files.retrieve(cited.file_id, { container_id: container.id });
    expect(file).toMatchObject({ path: "/mnt/data/chart.png", bytes: chart.length, source: "assistant" });
    const stored = await client.responses.retrieve(drawn.id, { include: ["code_interpreter_call.outputs"] });
    expect(drawn.output).toMatchObject(stored.output);

    const files = await collect(client.containers.files.list(container.id, { limit: 1 }));
    expect(files.map(({ id }) => id)).toEqual(expect.arrayContaining([uploaded.id, cited.file_id]));
    await client.containers.files.delete(cited.file_id, { container_id: container.id });
    await expect(download(container.id, cited.file_id)).rejects.toMatchObject({ status: 404 });
    const containers = await collect(client.containers.list({ name: "birds" }));
    expect(containers.map(({ id }) => id)).toContain(container.id);
    await client.containers.delete(container.id);
    await expect(client.containers.retrieve(container.id)).rejects.toMatchObject({ status: 404 });
    await expect(ask({ input: "Read the table.", tools })).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    ["a chain", true],
    ["items that are sent back", false],
  ])("the container of an upload goes on over %s", async (_, store) => {
    const sales = await toFile(Buffer.from(SALES), "sales.csv");
    const { id } = await client.files.create({ file: sales, purpose: "user_data" });
    const tools: Tool[] = [{ type: "code_interpreter", container: { type: "auto", file_ids: [id] } }];
    const history: ResponseInputItem[] = [];
    const answers: Response[] = [];
    for (const { input } of TURNS) {
      history.push({ role: "user", content: input });
      const asked = store ? { input, previous: answers.at(-1) ?? null } : { input: history, store };
      const answer = await plain({ ...asked, tools });
      for (const item of answer.output)
        if (item.type === "code_interpreter_call" || item.type === "message") history.push(item);
      answers.push(answer);
    }
    expect(answers.map((answer) => callOf(answer)?.status)).toEqual(TURNS.map(() => "completed"));
    expect(new Set(answers.map((answer) => callOf(answer)?.container_id)).size).toBe(1);
    expect(answers.map((answer) => logsOf(answer).trim()).slice(0, 2)).toEqual(["4 rows", SUMS]);
  });

  test("an uploaded file that a message names is in the container", async () => {
    const sales = await toFile(Buffer.from(SALES), "sales.csv");
    const { id } = await client.files.create({ file: sales, purpose: "user_data" });
    const content = [
      { type: "input_file" as const, file_id: id },
      { type: "input_text" as const, text: "Read the table." },
    ];
    const answer = await plain({ input: [{ role: "user", content }], tools: [AUTO] });
    expect(logsOf(answer).trim()).toBe("4 rows");
  });

  test("the stream of a call keeps the laws of streams", async () => {
    const body = { ...bodyOf({ input: "Read the table.", tools: [AUTO] }), stream: true };
    checkStreamLaws(await readStream(await server.post("/v1/responses", body)));
  });

  test.skipIf(engine !== "bubblewrap").each([
    ["plain", false],
    ["streamed", true],
  ])("commands run in a container that holds an upload: %s", async (_, isStreamed) => {
    const container = await client.containers.create({ name: "lines" });
    await client.containers.files.create(container.id, { file: await toFile(Buffer.from(SALES), "sales.csv") });
    const environment = { type: "container_reference" as const, container_id: container.id };
    const request = { model, input: "Count the lines.", tools: [{ type: "shell" as const, environment }] };
    const answer = isStreamed
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    expect(answer.output).toMatchObject([
      { type: "shell_call", action: { commands: ["wc -l < sales.csv", "exit 3"] } },
      {
        type: "shell_call_output",
        output: [
          { stdout: "5\n", outcome: { type: "exit", exit_code: 0 } },
          { stdout: "", outcome: { type: "exit", exit_code: 3 } },
        ],
      },
      { type: "message" },
    ]);
  });
});
