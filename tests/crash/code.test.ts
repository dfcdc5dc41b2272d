import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { lastChunk, serveChat, sse, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { toolDelta } from "../responses/behind-upstream.ts";
import { readStream } from "../responses/read-stream.ts";
import { CODE_ENGINE } from "../tools/code-engines.ts";
import { verifies } from "../verifies.ts";
import { checkClientView, nothingSeen } from "./check-client-view.ts";
import { type ClientView, readEvents } from "./client.ts";
import { STORED_STEP, until } from "./lives.ts";

const BREAKER = fileURLToPath(new URL("break-at-step.fixture.ts", import.meta.url));
const TEST_TIMEOUT_MS = 120_000;
const AUTO = { type: "code_interpreter", container: { type: "auto" } };

/** What the model runs, call by call. The second call is the one that is cut, and writes the file `m`. */
const CODES = [
  "a = 1\nopen('/mnt/data/n', 'a').write('x')",
  "open('/mnt/data/m', 'a').write('y')",
  "import os\nprint(sorted(os.listdir('/mnt/data')), open('/mnt/data/n').read(), 'a' in globals())",
];

/** Where the process dies in the second call, and the text in what is stored next; null if the test kills it. */
const PLACES = {
  "before begin": STORED_STEP.begin,
  "begin to finish": null,
  "effect to file": STORED_STEP.file,
  "file to finish": STORED_STEP.finish,
  "finish to event": "code_interpreter_call.completed",
} as const;
type Place = keyof typeof PLACES;
const NAMES = [
  "before begin",
  "begin to finish",
  "effect to file",
  "file to finish",
  "finish to event",
] as const satisfies readonly Place[];

/** A model that runs one code after the other. It makes its second call when it is released. */
async function codingModel(sleeps: boolean) {
  const gate = Promise.withResolvers<void>();
  const model = await serveChat(async (response, { body }) => {
    const results = body.split('"role":"tool"').length - 1;
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (results === 1) await gate.promise;
    const slow = sleeps && results === 1 ? "\nimport time\ntime.sleep(600)" : "";
    response.end(sse(...turn(results, slow), "[DONE]"));
  });
  return { url: `${model.origin}/v1`, asked: () => model.calls.map(({ body }) => body), release: gate.resolve };
}

function turn(results: number, slow: string): readonly unknown[] {
  const code = CODES[results];
  if (code === undefined) return [textChunk("All done."), lastChunk("stop")];
  const called = { id: `call_${results}`, type: "function", function: { name: "code_interpreter", arguments: "" } };
  const args = JSON.stringify({ code: code + slow });
  return [toolDelta(0, called), toolDelta(0, { function: { arguments: args } }), lastChunk("tool_calls")];
}

function start(folder: string, modelUrl: string, killAt: string): Promise<ChildServer> {
  const env = { NODE_ENV: "production", DATA_DIR: folder, MODEL_BASE_URL: modelUrl, KILL_AT: killAt, ...CODE_ENGINE };
  return startChildServer({ env, flags: ["--import", BREAKER] });
}

async function ask(server: ChildServer): Promise<ClientView> {
  const view: ClientView = { kind: "background stream", id: null, events: [] };
  const body = { model: "m", input: "Hi", tools: [AUTO], background: true, stream: true };
  const whole = { ...body, stream_options: { include_obfuscation: false }, include: ["code_interpreter_call.outputs"] };
  await server
    .post("/v1/responses", whole)
    .then((reply) => readEvents(reply, view))
    .catch(() => null);
  return view;
}

interface ExpectedEnd {
  readonly ends: readonly string[];
  /** What the next call finds. */
  readonly files: string;
  /** What the model learns of them before it, if the cut call is not repeated. */
  readonly listed: string | null;
}

/** How the calls end that had begun, and what is in the container after that. */
const EXPECTED: Readonly<Record<Place, ExpectedEnd>> = {
  "before begin": { ends: ["completed", "completed", "completed"], files: "['m', 'n']", listed: null },
  "begin to finish": {
    ends: ["completed", "incomplete", "completed"],
    files: "['n']",
    listed: "/mnt/data/n (1 bytes)",
  },
  "effect to file": { ends: ["completed", "incomplete", "completed"], files: "['n']", listed: "/mnt/data/n (1 bytes)" },
  "file to finish": {
    ends: ["completed", "incomplete", "completed"],
    files: "['m', 'n']",
    listed: "/mnt/data/n (1 bytes), /mnt/data/m (1 bytes)",
  },
  "finish to event": { ends: ["completed", "completed", "completed"], files: "['m', 'n']", listed: null },
};

test.each(NAMES)(
  "a background response goes on after its process was killed %s of code",
  async (place) => {
    verifies("tools.code-interpreter.survives-crashes");
    const [folder, model] = [temporaryFolder(), await codingModel(PLACES[place] === null)];
    let server = await start(folder, model.url, PLACES[place] ?? "");
    const asking = ask(server);
    await expect.poll(() => model.asked().length, { timeout: 30_000 }).toBe(2);
    process.kill(server.pid, "SIGUSR2");
    model.release();
    if (PLACES[place] === null) {
      const inLedger = async () =>
        (await query(folder, "select item_id from tool_exchanges where output is null")).length;
      await expect.poll(inLedger, { timeout: 30_000 }).toBe(1);
      await server.kill();
    }
    const view = await asking;
    await server.kill();
    server = await start(folder, model.url, "");
    const response = await until(server, view.id ?? "", "completed", "failed");
    expect(response.output.at(-1)).toMatchObject({ type: "message", content: [{ text: "All done." }] });
    const calls = response.output.flatMap((item) => (item.type === "code_interpreter_call" ? [item] : []));
    const begun = place === "before begin" ? calls.filter(({ status }) => status !== "incomplete") : calls;
    expect(begun.map(({ status }) => status)).toEqual(EXPECTED[place].ends);
    expect(new Set(calls.map(({ container_id: id }) => id)).size).toBe(1);
    const said = model.asked().at(-1) ?? "";
    expect(said).toContain(`${EXPECTED[place].files} x False`);
    expect(said).toContain("started anew");
    if (EXPECTED[place].ends.includes("incomplete"))
      expect(said).toContain(
        `all variables are lost. Run again what you need. These files are in /mnt/data now: ${EXPECTED[place].listed}.`,
      );
    await checkClientView(server, view, nothingSeen());
    await readStream(await server.fetch(`/v1/responses/${response.id}/events?dialect=reference`));
  },
  TEST_TIMEOUT_MS,
);
