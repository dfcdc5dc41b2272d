import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { isRecord } from "../../src/base/json/records.ts";
import { longConversation } from "./state.ts";
import { type Bench, withServer } from "./with-server.ts";

/** Work that keeps the server busy while `/healthz` is polled. */
interface Burden {
  readonly name: string;
  /** The body of the call. */
  readonly members: () => object;
  /** Calls made before the measured one. Resolves to further members of its body, or to the path of a GET instead. */
  readonly prepare?: (bench: Bench) => Promise<object | string>;
  /** The path; default: the create operation. */
  readonly path?: string;
  /** The expected status; default: 200. */
  readonly status?: number;
  /** The deltas of the model server; default: one word. */
  readonly says?: () => Iterable<object>;
}

const MEBIBYTE = 1024 * 1024;
const QUIET_MS = 1_000;
const ASKED_EVERY_MS = 2;

const words = (count: number): string =>
  Array.from({ length: count }, (_, index) => `w${index.toString(36)}`).join(" ");
const numbered = <Made>(count: number, make: (index: number) => Made): Made[] =>
  Array.from({ length: count }, (_, index) => make(index));
const functionTool = (name: string, parameters: object = { type: "object", properties: {} }): object => ({
  type: "function",
  name,
  parameters,
});

/** The first 24 bytes of a PNG image of 640 × 480 pixels. */
const PNG_START = Buffer.from("89504e470d0a1a0a0000000d4948445200000280000001e0", "hex");

/** A message with PNG images of these sizes, in characters of base64. */
const picturesOf = (...characters: readonly number[]): object => ({
  role: "user",
  content: characters.map((count) => ({
    type: "input_image",
    image_url: `data:image/png;base64,${PNG_START.toString("base64")}${"A".repeat(count - (count % 4))}`,
  })),
});

const BURDENS: readonly Burden[] = [
  { name: "10,000 messages", members: () => ({ input: numbered(10_000, () => ({ role: "user", content: "Hi" })) }) },
  {
    name: "5,000 calls, their outputs in reverse",
    members: () => ({
      input: [
        ...numbered(5_000, (index) => ({ type: "function_call", call_id: `c${index}`, name: "f", arguments: "{}" })),
        ...numbered(5_000, (index) => ({ type: "function_call_output", call_id: `c${4_999 - index}`, output: "1" })),
      ],
    }),
  },
  {
    name: "2,000 tools, all of them allowed",
    members: () => ({
      tools: numbered(2_000, (index) => functionTool(`f${index}`)),
      tool_choice: {
        type: "allowed_tools",
        mode: "auto",
        tools: numbered(2_000, (index) => ({ type: "function", name: `f${index}` })),
      },
    }),
  },
  {
    name: "a schema of 5,000 properties",
    members: () => ({
      tools: [
        functionTool("f", {
          type: "object",
          properties: Object.fromEntries(numbered(5_000, (index) => [`p${index}`, { type: "string" }])),
        }),
      ],
    }),
  },
  {
    name: "a MiB of distinct words, counted",
    path: "/responses/input_tokens",
    members: () => ({ input: words(180_000) }),
  },
  { name: "8 MiB of text", members: () => ({ input: "x".repeat(8 * MEBIBYTE) }) },
  {
    name: "60 MB of text in messages of 10 MB",
    members: () => ({ input: numbered(6, () => ({ role: "user", content: "x".repeat(10_000_000) })) }),
  },
  {
    name: "100,000 items, which are too many",
    members: () => ({ input: numbered(100_000, () => ({ role: "user", content: "Hi" })) }),
    status: 400,
  },
  {
    name: "a turn of a conversation of 5,000 items",
    members: () => ({}),
    prepare: async (bench) => ({ conversation: await longConversation(bench) }),
  },
  {
    name: "a replay of 100,000 events",
    members: () => ({}),
    says: () => numbered(100_000, () => ({ content: "token" })),
    prepare: async (bench) => {
      const { id } = await bench.create({});
      return `/responses/${String(id)}/events`;
    },
  },
  { name: "a picture of 20 MB", members: () => ({ input: [picturesOf(20_000_000)] }) },
  { name: "three pictures of 15 MB", members: () => ({ input: [picturesOf(15_000_000, 15_000_000, 15_000_000)] }) },
  { name: "a delta of 12 MiB", members: () => ({}), says: () => [{ content: "y".repeat(12 * MEBIBYTE) }] },
  {
    name: "800 kB of arguments in pieces of 20 characters",
    members: () => ({ tools: [functionTool("f")] }),
    says: function* () {
      yield { tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "f", arguments: '{"a":"' } }] };
      for (let piece = 0; piece < 40_000; piece += 1)
        yield { tool_calls: [{ index: 0, function: { arguments: "z".repeat(20) } }] };
      yield { tool_calls: [{ index: 0, function: { arguments: '"}' } }] };
    },
  },
  {
    name: "2 million characters in tokens",
    members: () => ({}),
    says: () => numbered(400_000, () => ({ content: "token" })),
  },
];

/** Measures how long `/healthz` waits while the server does long work, beside an idle server in the same run. */
export async function measureResponsiveness(): Promise<void> {
  console.log(
    "\nlongest wait for /healthz, and the median: for the first such request, which finds much code cold, and for the second",
  );
  for (const burden of BURDENS) {
    const model = await startModel(burden);
    await withServer(
      { tokens: 1 },
      async (bench) => {
        const { serverUrl, server } = bench;
        const { headers } = server;
        const healthUrl = new URL("/healthz", serverUrl).href;
        await call(`${serverUrl}/responses`, headers, {});
        const idle = await waitsDuring(healthUrl, () => new Promise((resolve) => setTimeout(resolve, QUIET_MS)));
        const prepared = (await burden.prepare?.(bench)) ?? {};
        const isGet = typeof prepared === "string";
        const body = isGet ? null : { ...burden.members(), ...prepared };
        const url = `${serverUrl}${isGet ? prepared : (burden.path ?? "/responses")}`;
        const ask = (): Promise<void> => call(url, headers, body, burden.status);
        const first = await waitsDuring(healthUrl, ask);
        const again = await waitsDuring(healthUrl, ask);
        console.log(`  ${burden.name}: ${shown(first)}, again ${shown(again)}; idle ${shown(idle)}`);
      },
      { MODEL_BASE_URL: model.url, MODEL_CONTEXT_WINDOW: "100000000" },
    );
    model.close();
  }
}

function shown({ longest, median }: { readonly longest: number; readonly median: number }): string {
  return `${longest.toFixed(0)} ms (${median.toFixed(1)} ms)`;
}

/** `members` is null for a GET. */
async function call(
  url: string,
  headers: Readonly<Record<string, string>>,
  members: object | null,
  status = 200,
): Promise<void> {
  const post = { method: "POST", body: JSON.stringify({ model: "bench", input: "Hi", ...members }) };
  const reply = await fetch(url, { headers, ...(members === null ? {} : post) });
  const text = await reply.text();
  if (reply.status !== status) console.log(`  (answered ${reply.status}: ${text.slice(0, 200)})`);
}

/** Polls from a separate thread, so that only the server's delays are measured. */
async function waitsDuring(url: string, work: () => Promise<unknown>): Promise<{ longest: number; median: number }> {
  const asking = new Worker(ASKING, { eval: true, workerData: { url, everyMs: ASKED_EVERY_MS } });
  await new Promise((resolve) => asking.once("message", resolve));
  await work();
  const told = new Promise<unknown>((resolve) => asking.once("message", resolve));
  asking.postMessage("stop");
  const waits = await told;
  if (!isRecord(waits)) throw new Error("the asking thread told nothing");
  return { longest: Number(waits["longest"]), median: Number(waits["median"]) };
}

const ASKING = `
const { parentPort, workerData } = require("node:worker_threads");
const http = require("node:http");
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
let isOver = false;
parentPort.once("message", () => { isOver = true; });
const ask = () => new Promise((resolve, reject) => {
  http.get(workerData.url, { agent }, (reply) => reply.resume().once("end", resolve)).once("error", reject);
});
(async () => {
  await ask();
  parentPort.postMessage("ready");
  const waits = [];
  while (!isOver) {
    const before = performance.now();
    await ask();
    waits.push(performance.now() - before);
    await new Promise((resolve) => setTimeout(resolve, workerData.everyMs));
  }
  waits.sort((a, b) => a - b);
  parentPort.postMessage({ longest: waits.at(-1), median: waits[waits.length >> 1] });
  agent.destroy();
})();
`;

interface Model {
  readonly url: string;
  close(): void;
}

/** A model server that sends the given deltas, then stops. */
async function startModel({ says = () => [{ content: "Hi" }] }: Burden): Promise<Model> {
  const server = createServer((request, response) => {
    request.resume();
    if (request.url?.endsWith("/models") === true)
      return void response.end(JSON.stringify({ object: "list", data: [{ id: "bench", object: "model" }] }));
    request.once("end", () => void answer(response, says()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address: AddressInfo | string | null = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => void server.close() };
}

async function answer(response: ServerResponse, deltas: Iterable<object>): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const delta of deltas)
    if (!response.write(chunk(delta, null))) await new Promise((resolve) => response.once("drain", resolve));
  response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
}

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const body = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_800_000_000, model: "bench", choices };
  return `data: ${JSON.stringify(body)}\n\n`;
}
