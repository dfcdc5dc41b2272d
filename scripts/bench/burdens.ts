import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { longConversation } from "./state.ts";
import type { Bench } from "./with-server.ts";

/** Work that keeps the server busy while `/healthz` is polled. */
export interface Burden {
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

export const BURDENS: readonly Burden[] = [
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
    name: "a turn of a chain of 90,000 items",
    members: () => ({}),
    prepare: async (bench) => {
      const input = numbered(10_000, () => ({ role: "user", content: "Hi" }));
      let previous: unknown = null;
      for (let turn = 0; turn < 9; turn += 1)
        previous = (await bench.create({ input, previous_response_id: previous }))["id"];
      return { previous_response_id: previous };
    },
  },
  {
    name: "a response of 45 MB is read",
    members: () => ({}),
    prepare: async (bench) => {
      const { id } = await bench.create({ instructions: "x".repeat(45_000_000) });
      return `/responses/${String(id)}`;
    },
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

export interface Model {
  readonly url: string;
  close(): void;
}

/** Starts a model server that sends the deltas of this burden, then stops. */
export async function startModel({ says = () => [{ content: "Hi" }] }: Burden): Promise<Model> {
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
