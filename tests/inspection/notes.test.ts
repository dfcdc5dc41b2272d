import type { ResponseNote } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { Antiphon } from "../../packages/client/src/index.ts";
import { lastChunk, textChunk } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { COUNTS, chunks, serveBehind } from "../responses/behind-upstream.ts";
import { verifies } from "../verifies.ts";

const WAV = Buffer.from("UklGRiYAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQIAAAAAAA==", "base64");
const NUMBERS = {
  type: "custom",
  name: "numbers",
  format: { type: "grammar", syntax: "regex", definition: "[0-9]+" },
} as const;

/** What a request is noted with, by its list of exchanges, and by the header of its reply. */
async function check(
  members: object,
  notes: readonly Pick<ResponseNote, "kind" | "what">[],
  env: Readonly<Record<string, string>> = {},
): Promise<readonly ResponseNote[]> {
  const { server, create } = await serveBehind(SAYS_HELLO, { WEB_SEARCH_PROVIDER: "none", ...env }, SPEECH);
  const client = new Antiphon({ baseUrl: server.url, apiKey: server.apiKey });
  const emulated = notes.filter(({ kind }) => kind === "emulated").map(({ what }) => what);
  const header = emulated.length === 0 ? null : emulated.join(", ");
  const reply = await create(members);
  const { id }: { id: string } = JSON.parse(await reply.text());
  expect(reply.headers.get("x-antiphon-emulated")).toBe(header);
  const listed = (await client.listResponseExchanges(id)).notes;
  expect(listed.map(({ kind, what }) => ({ kind, what }))).toEqual(notes);
  for (const { why } of listed) expect(why).toMatch(/^[A-Z].*\.$/);
  const stream = await create({ ...members, stream: true });
  expect(stream.headers.get("x-antiphon-emulated")).toBe(header);
  await stream.text();
  return listed;
}

const SAYS_HELLO = chunks(textChunk("Hello"), lastChunk("stop"), COUNTS);
const SPEECH = { transcribeFile: async () => "Hello", warning: () => null };

test("an ordinary request has no notes", async () => {
  verifies("inspection.notes.emulated");
  await check({ temperature: 0.5, tools: [{ type: "function", name: "f", parameters: null, strict: false }] }, []);
});

test("members that this server acts on in place of the model server are noted with the reason", async () => {
  verifies("inspection.notes.emulated");
  const notes = await check(
    {
      reasoning: { effort: "low", summary: "auto" },
      tools: [NUMBERS, { type: "local_shell" }],
      prompt_cache_key: "k",
      service_tier: "flex",
    },
    [
      { kind: "omitted", what: "prompt_cache_key" },
      { kind: "omitted", what: "service_tier" },
      { kind: "emulated", what: "tools[1]" },
      { kind: "emulated", what: "reasoning.summary" },
      { kind: "emulated", what: "tools[0]" },
    ],
  );
  expect(notes.at(-1)?.why).toContain("a grammar is added to the description, not enforced");
});

test("pictures that are fetched and recordings that are written down are noted, each kind once", async () => {
  verifies("inspection.notes.emulated");
  const audio = { type: "input_audio", input_audio: { data: WAV.toString("base64"), format: "wav" } };
  const file = { type: "input_file", filename: "a.txt", file_data: `data:text/plain;base64,${btoa("Hi")}` };
  await check({ input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }, audio, audio, file] }] }, [
    { kind: "emulated", what: "input[0].content[1]" },
    { kind: "emulated", what: "input[0].content[3]" },
  ]);
  await check({ input: [{ role: "user", content: [audio] }] }, [], { MODEL_INPUT: "text,audio" });
});

test("items that a model's window has no room for are noted", async () => {
  verifies("inspection.notes.emulated");
  const turns = ["old", "older", "oldest"].map((word) => ({ role: "user", content: `${word} `.repeat(200) }));
  const notes = await check(
    { truncation: "auto", input: [...turns, { role: "user", content: "Hi" }] },
    [{ kind: "omitted", what: "input" }],
    { MODEL_CONTEXT_WINDOW: "400" },
  );
  expect(notes[0]?.why).toMatch(
    /oldest items? of the context (is|are) left out, so that it fits the model's window\.$/,
  );
});
