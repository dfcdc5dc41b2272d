import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataLines } from "../../tests/kit/event-stream.ts";
import { startTestServer, type TestServer } from "../../tests/kit/test-server.ts";
import { CODE_ENGINE } from "../../tests/tools/code-engines.ts";
import { verifies } from "../../tests/verifies.ts";
import { isRecord } from "../records.fixture.ts";
import {
  type Difference,
  differencesOf,
  differencesOfForm,
  differencesOfStreams,
  essenceOf,
  withoutSilence,
} from "./differences.fixture.ts";
import { EXCEPTIONS, exceptionFor, NOT_YET_COMPARABLE } from "./exceptions.fixture.ts";
import { type Play, playOfBody, playOfStream, scenarioOf } from "./plays.fixture.ts";
import { RECORDED_STORE, RECORDED_TOOLS, type RecordedTools, startRecordedTools } from "./recorded-tools.fixture.ts";
import { RECORDINGS, readBodies, readStreams } from "./recordings.fixture.ts";

const streams = (RECORDINGS === undefined ? [] : readStreams(RECORDINGS)).map((stream) => {
  const play = playOfStream(stream);
  const find = hasHostedTools(play)
    ? (text: string) => differencesOfForm(differencesOfStreams(essenceOf(stream.events), essenceOf(readEvents(text))))
    : (text: string) => differencesOfStreams(stream.events, readEvents(text));
  return { ...play, find };
});
const bodies = (RECORDINGS === undefined ? [] : readBodies(RECORDINGS)).map((recorded) => {
  const play = playOfBody(recorded);
  const place = isError(recorded.body) ? "" : "response";
  const find = hasHostedTools(play)
    ? (text: string) =>
        differencesOfForm(differencesOf(withoutSilence(recorded.body), withoutSilence(JSON.parse(text)), place))
    : (text: string) => differencesOf(recorded.body, JSON.parse(text), place);
  return { ...play, find };
});
const all = [...streams, ...bodies];
const comparable = all.filter(isComparable);
const waiting = all.filter((play) => !isComparable(play));

/** For the same model output, our server must send the same stream and the same body as the reference. */
describe.skipIf(RECORDINGS === undefined)(
  "our replies and the reference's to the same model output (REFERENCE_RECORDINGS)",
  () => {
    let server: TestServer;
    let servers: RecordedTools;
    let storeId: string;
    const compared = (play: Comparison) =>
      compare(server, { [RECORDED_TOOLS]: servers.url, [RECORDED_STORE]: storeId }, play);
    beforeAll(async () => {
      servers = await startRecordedTools(comparable.flatMap(({ output }) => output));
      const scenario = scenarioOf(comparable).replaceAll(RECORDED_TOOLS, servers.url);
      server = await startTestServer({
        scenario,
        env: { ...servers.env, ...CODE_ENGINE, TOOLS_UNAVAILABLE: "refuse" },
      });
      storeId = await makeStore(server);
    });
    afterAll(async () => {
      await server.close();
      servers.close();
      console.log(reportOf(comparable, waiting));
    });

    test.each(comparable)("$name: the events, members and values are the same", async (play) => {
      verifies("contract.parity.recorded-output-same-reply");
      const unexcused = (await compared(play)).filter((difference) => !exceptionFor(play.name, difference));
      expect(unexcused).toEqual([]);
    });

    test("enough recordings are compared", () => {
      expect(comparable.length).toBeGreaterThanOrEqual(9);
    });

    test("each exception is needed", async () => {
      const used = new Set<unknown>();
      for (const play of comparable)
        for (const difference of await compared(play)) used.add(exceptionFor(play.name, difference));
      expect(EXCEPTIONS.filter((exception) => !used.has(exception))).toEqual([]);
    });

    test.each(waiting)("$name: not compared, because the server still lacks its tools", async ({ request }) => {
      const refused = await server.post("/v1/responses", { ...request, model: "antiphon-built-in" });
      expect(refused.status, "this server has its tools now: play them in the scenario").toBe(400);
      expect(await refused.json()).toMatchObject({ error: { param: expect.stringMatching(/^tools/) } });
    });

    test("each tool that is not compared has a recording", () => {
      const recorded = new Set(all.flatMap(({ tools }) => tools));
      expect(Object.keys(NOT_YET_COMPARABLE).filter((tool) => !recorded.has(tool))).toEqual([]);
    });
  },
);

describe("two streams", () => {
  const created = { type: "response.created", sequence_number: 0, response: { id: "resp_1", tools: [{ name: "a" }] } };
  const delta = { type: "response.output_text.delta", sequence_number: 1, delta: "Hi" };
  const cases: [string, object[], string[]][] = [
    ["that are the same", [created, delta], []],
    ["of which one lacks an event", [created], ["value events.length"]],
    ["of which one has an event twice", [created, delta, delta], ["value events.length"]],
    ["in another order", [delta, created], ["value events[]", "value events[]"]],
    [
      "of which one is numbered anew",
      [created, { ...delta, sequence_number: 2 }],
      ["value response.output_text.delta:sequence_number"],
    ],
    [
      "of which one lacks a member",
      [{ type: created.type, sequence_number: 0, response: { id: "resp_1", tools: [{}] } }, delta],
      ["only-recorded response.created:response.tools[].name"],
    ],
    ["of which one has more", [created, { ...delta, logprobs: [] }], ["only-ours response.output_text.delta:logprobs"]],
    [
      "of which one has null for a list",
      [{ ...created, response: { id: "resp_1", tools: null } }, delta],
      ["value response.created:response.tools"],
    ],
  ];
  test.each(cases)("%s", (_, ours, expected) => {
    const found = differencesOfStreams([created, delta], ours);
    expect(found.map(({ kind, path }) => `${kind} ${path}`)).toEqual(expected);
    expect(found.some((difference) => exceptionFor("any", difference))).toBe(false);
  });
});

type Comparison = Play & { readonly find: (text: string) => Difference[] };

/** `names` stand in the request for what only a running server has. */
async function compare(
  server: TestServer,
  names: Readonly<Record<string, string>>,
  { request, find }: Comparison,
): Promise<Difference[]> {
  const asked = Object.entries(names).reduce(
    (text, [name, ours]) => text.replaceAll(name, ours),
    JSON.stringify(request),
  );
  const reply = await server.post("/v1/responses", JSON.parse(asked));
  return find(await reply.text());
}

/** A vector store of our server, for searches that find what they find: only their form is compared. */
async function makeStore(server: TestServer): Promise<string> {
  const made: unknown = await (await server.post("/v1/vector_stores", { name: "recorded" })).json();
  return isRecord(made) ? String(made["id"]) : "";
}

function reportOf(compared: readonly Play[], left: readonly Play[]): string {
  const why = ({ name, tools }: Play): string =>
    `  ${name}: ${tools.map((tool) => `${tool} ${NOT_YET_COMPARABLE[tool]}`)}`;
  return [`Recorded replies: ${compared.length} compared, ${left.length} not yet`, ...left.map(why)].join("\n");
}

function isComparable({ tools }: Play): boolean {
  return !tools.some((tool) => Object.hasOwn(NOT_YET_COMPARABLE, tool));
}

/** What such tools say is theirs, so only the form is compared. */
function hasHostedTools({ tools }: Play): boolean {
  return tools.some((tool) => ["web_search", "file_search", "code_interpreter", "mcp", "shell"].includes(tool));
}

function isError(body: unknown): boolean {
  return isRecord(body) && isRecord(body["error"]) && !("object" in body);
}

function readEvents(text: string): object[] {
  return dataLines(text).map((data): object => JSON.parse(data));
}
