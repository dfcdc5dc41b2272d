import { fieldLedger, type LedgerEntry } from "@antiphon/contracts/responses-api/field-ledger.ts";
import { createResponseFields } from "@antiphon/contracts/responses-api/field-names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { says, serveBehind } from "./behind-upstream.ts";
import { checkReply, MODEL } from "./check-refusal.ts";

const ENGINES = ["built-in", "chat-completions"] as const;
type Engine = (typeof ENGINES)[number];

const element = (members: object): object => ({ input: [{ role: "user", content: "Hi" }, members] });

/** A request that uses each path that may be refused. Tools and choices of tools are made from their type. */
const USES: Readonly<Record<string, object>> = {
  prompt: { prompt: { id: "pmpt_x" } },
  background: { background: true },
  "moderation.policy.block": { moderation: { model: "omni", policy: { output: { mode: "block" } } } },
  "image.context_compression.enabled": { image: { context_compression: "enabled" } },
  "content.encrypted_content": element({
    type: "agent_message",
    author: "a",
    recipient: "b",
    content: [{ type: "encrypted_content", encrypted_content: "x" }],
  }),
};

const TOOL_MEMBERS: Readonly<Record<string, object>> = {
  file_search: { vector_store_ids: ["vs_x"] },
  computer_use_preview: { display_height: 600, display_width: 800, environment: "linux" },
  code_interpreter: { container: { type: "auto" } },
  mcp: { server_label: "s", server_url: "https://example.com/mcp" },
};
const CHOICE_MEMBERS: Readonly<Record<string, object>> = { mcp: { server_label: "s" } };

/** The members with an effect, each with a value that uses it. */
const ACCEPTED: Readonly<Record<string, unknown>> = {
  model: MODEL,
  input: "Hi",
  conversation: [{ role: "user", content: "Hi" }],
  instructions: "Be brief.",
  truncation: "auto",
  context_management: [{ type: "compaction", compact_threshold: 100_000 }],
  moderation: { model: "omni", policy: { input: { mode: "score" }, output: null } },
  image: { context_compression: "auto" },
  interruption: "restart",
  background_options: { completion_window: "soonest", continuation_id: "a" },
  stream: true,
  stream_options: { include_obfuscation: false },
  store: false,
  metadata: { a: "1" },
  include: ["reasoning.encrypted_content", "web_search_call.results", "message.input_image.image_url"],
  output_audio: { format: "wav", sample_rate_hz: 16_000, voice: "x" },
  client_metadata: { a: "1" },
  access_programs: { cyber: "standard" },
  text: { format: { type: "text" }, verbosity: "high" },
  max_output_tokens: 64,
  temperature: 0.5,
  top_p: 0.5,
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  top_logprobs: 2,
  reasoning: { effort: "low", summary: "auto", mode: "pro", context: "auto" },
  user: "u",
  safety_identifier: "s",
  prompt_cache_key: "k",
  prompt_cache_retention: "24h",
  prompt_cache_options: { mode: "implicit", ttl: "30m", prewarm: true },
  service_tier: "flex",
  parallel_tool_calls: false,
  max_tool_calls: 3,
  tool_choice: "none",
  tools: [
    { type: "function", name: "f", strict: false, parameters: {} },
    { type: "custom", name: "c" },
    { type: "namespace", name: "n", description: "N", tools: [{ type: "function", name: "g", parameters: {} }] },
  ],
};

/** Values of refused members that have no effect. */
const WITHOUT_EFFECT = {
  background: false,
  context_management: null,
  conversation: null,
  prompt: null,
  moderation: null,
};

function isRefused(entry: LedgerEntry, engine: Engine): boolean {
  return entry.server === "refused" || entry[engine] === "refused";
}

function useOf(path: string): object {
  const use = USES[path];
  if (use !== undefined) return use;
  const [family, type = ""] = path.split(".");
  if (family === "tools") return { tools: [{ type, ...TOOL_MEMBERS[type] }] };
  if (family === "tool_choice") return { tool_choice: { type, ...CHOICE_MEMBERS[type] } };
  throw new Error(`no example of a request that uses ${path}`);
}

describe.each(ENGINES)("with the %s engine", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    const env = { MODEL_BASE_URL: "http://127.0.0.1:1/v1" };
    server = await startTestServer(engine === "built-in" ? {} : { env });
  });
  afterAll(() => server.close());

  const refused = Object.entries(fieldLedger).flatMap(([path, entry]) => (isRefused(entry, engine) ? [path] : []));

  verifies("create.ledger.nothing-dropped-in-silence");
  test.each(refused)("a request that uses %s is refused by its name, before the model is called", async (path) => {
    const reply = await server.post("/v1/responses", { model: MODEL, input: "Hi", ...useOf(path) });
    const { error }: { error: { param: string } } = await reply.clone().json();
    const message = /^Unsupported parameter: '([^']+)'\. This server does not act on it: .+\.$/;
    await checkReply(reply, { code: "unsupported_parameter", param: error.param, message });
    const [family = ""] = path.split(".");
    expect(error.param.split(/[.[]/)[0]).toBe(family === "content" ? "input" : family);
  });
});

test("every engine accepts every member that is not refused", async () => {
  const env = { VOICE_BASE_URL: "http://127.0.0.1:1/v1" }; // Nothing listens there.
  const { server: chat, create } = await serveBehind(says("Hi"), env);
  const builtIn = await startTestServer({ env });
  for (const [name, value] of Object.entries({ ...ACCEPTED, ...WITHOUT_EFFECT })) {
    const members = { [name]: value };
    const plain = await builtIn.post("/v1/responses", { model: MODEL, input: "Hi", ...members });
    expect(plain.status, `${name}: ${await plain.text()}`).toBe(200);
    const behind = await create(members);
    expect(behind.status, `${name}: ${await behind.text()}`).toBe(200);
  }
  const all = await builtIn.post("/v1/responses", { ...ACCEPTED, ...WITHOUT_EFFECT });
  expect(all.status, await all.text()).toBe(200);
  expect(chat.url).not.toBe(builtIn.url);
  await builtIn.close();
});

test("the examples above include every member", () => {
  const known = new Set([...Object.keys(ACCEPTED), ...Object.keys(USES), "previous_response_id"]);
  expect(createResponseFields.filter((name) => !known.has(name))).toEqual([]);
});
