import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { checkStreamLaws } from "../responses/check-stream-laws.ts";
import { readResponse, readStream } from "../responses/read-stream.ts";
import { pollUntil } from "../runs/poll.ts";
import { verifies } from "../verifies.ts";
import { type Fault, LAST_TEXT, LASTING_FAULTS, SEEN_FAULTS, TEXT_FAULTS, UNSEEN_FAULTS } from "./faults.ts";
import { type FaultyCase, type FaultyWorld, faultyWorld } from "./faulty-world.ts";

const TEST_TIMEOUT_MS = 60_000;

type Post = (input: object) => Promise<ResponseBody>;
type Mode = "background" | "background stream" | "stream" | "plain";
const MODES: readonly Mode[] = ["background", "background stream", "stream", "plain"];

function faultOf(name: string): Fault {
  const fault = UNSEEN_FAULTS.find((each) => each.name === name);
  if (fault === undefined) throw new Error(`${name} is one of the faults`);
  return fault;
}

function casesOf(faults: readonly Fault[]): readonly FaultyCase[] {
  return faults.flatMap((fault) => fault.turns.map((turn) => ({ fault, turn, times: 1 })));
}

interface Faulty {
  readonly server: TestServer;
  readonly world: FaultyWorld;
  /** Makes the response of each case, all at the same time. */
  readonly run: (mode: Mode, members?: object) => Promise<readonly ResponseBody[]>;
}

async function serveFaulty(cases: readonly FaultyCase[], env: Readonly<Record<string, string>> = {}): Promise<Faulty> {
  const world = await faultyWorld(cases);
  const settings = { MODEL_BASE_URL: world.modelUrl, EGRESS_ALLOW: "127.0.0.1" };
  const server = await startTestServer({ env: { ...settings, ...env } });
  const tools = [{ type: "mcp", server_label: "bank", server_url: world.mcpUrl, require_approval: "never" }];
  return {
    server,
    world,
    run: (mode, members = {}) =>
      Promise.all(
        cases.map((_case, number) => post(server, mode)({ model: "m", input: `number ${number}`, tools, ...members })),
      ),
  };
}

function post(server: TestServer, mode: Mode): Post {
  return async (body) => {
    const isBackground = mode === "background" || mode === "background stream";
    const isStream = mode === "stream" || mode === "background stream";
    const reply = await server.post("/v1/responses", { ...body, background: isBackground, stream: isStream });
    if (mode === "background") {
      const { id } = await readResponse(reply);
      return await pollUntil(server, id, "completed", "failed", "incomplete");
    }
    if (!isStream) return await readResponse(reply);
    const stream = await readStream(reply);
    if (!isBackground) checkStreamLaws(stream);
    return stream.final;
  };
}

/** The texts of the messages with their statuses. */
function messagesOf({ output }: ResponseBody): readonly (readonly [string, string])[] {
  return output.flatMap((item) =>
    item.type === "message"
      ? [[item.content.map((part) => (part.type === "output_text" ? part.text : "")).join(""), item.status] as const]
      : [],
  );
}

const ONE_MESSAGE = [[LAST_TEXT, "completed"]];
/** A short wait for a silent model server. On a busy machine it also ends turns that are well. */
const IMPATIENT = { MODEL_IDLE_TIMEOUT_MS: "1500" };
const SILENCE = faultOf("silence");
const nameOf = ({ fault, turn }: FaultyCase): string => `${fault.name} at turn ${turn}`;

test.each(MODES)(
  "a turn that fails for a reason that may pass is asked for again, %s",
  async (mode) => {
    verifies("models.retries.passing-faults");
    const isBackground = mode.startsWith("background");
    // Before a tool has acted, clients in the foreground retry themselves.
    const faults = [...UNSEEN_FAULTS, ...SEEN_FAULTS].filter((fault) => fault !== SILENCE);
    const cases = casesOf(faults).filter(({ turn }) => isBackground || turn > 0);
    const { run, world } = await serveFaulty(cases);

    const made = await run(mode);

    for (const [number, response] of made.entries()) {
      const failing = cases[number];
      if (failing === undefined) throw new Error("each response is made for a case");
      const name = nameOf(failing);
      expect([response.status, response.error], name).toEqual(["completed", null]);
      expect(messagesOf(response), name).toEqual(ONE_MESSAGE);
      expect(world.done(number), name).toEqual(["look", "pay"]);
      expect(world.asked(number), name).toEqual([0, 1, 2, failing.turn].toSorted((one, other) => one - other));
    }
  },
  TEST_TIMEOUT_MS,
);

test.each(MODES)(
  "a turn of which nothing comes is asked for again, %s",
  async (mode) => {
    verifies("models.retries.passing-faults");
    const cases = casesOf([SILENCE]).filter(({ turn }) => mode.startsWith("background") || turn > 0);
    const { run, world } = await serveFaulty(cases, IMPATIENT);

    const made = await run(mode);

    for (const [number, response] of made.entries()) {
      const asked = world.asked(number);
      expect([response.status, response.error]).toEqual(["completed", null]);
      expect(messagesOf(response)).toEqual(ONE_MESSAGE);
      expect(world.done(number)).toEqual(["look", "pay"]);
      expect([...new Set(asked)]).toEqual([0, 1, 2]);
      expect(asked.filter((turn) => turn === cases[number]?.turn).length).toBeGreaterThan(1);
    }
  },
  TEST_TIMEOUT_MS,
);

test.each(["stream", "plain"] as const)(
  "before a tool has acted, a failure is told to the client at once, %s",
  async (mode) => {
    verifies("models.retries.passing-faults");
    const cases = casesOf([...UNSEEN_FAULTS, ...LASTING_FAULTS]).filter(({ turn }) => turn === 0);
    const { server, world } = await serveFaulty(cases, IMPATIENT);
    const body = { model: "m", stream: mode === "stream" };

    const replies = await Promise.all(
      cases.map((_case, number) => server.post("/v1/responses", { ...body, input: `number ${number}` })),
    );

    for (const [number, reply] of replies.entries()) {
      const text = await reply.text();
      const isTold = reply.status >= 400 || /"status": ?"failed"/.test(text);
      expect([isTold, world.asked(number)], `${cases[number]?.fault.name}: ${text}`).toEqual([true, [0]]);
    }
  },
  TEST_TIMEOUT_MS,
);

test.each(MODES)(
  "a failure that does not pass ends the response, with what its tools have done, %s",
  async (mode) => {
    verifies("models.retries.passing-faults");
    const cases = casesOf(LASTING_FAULTS).filter(({ turn }) => turn > 0);
    const { run, world } = await serveFaulty(cases);

    const made = await run(mode);

    for (const [number, response] of made.entries()) {
      const turn = cases[number]?.turn ?? 0;
      expect(response.status).toBe("failed");
      expect(world.asked(number)).toEqual([0, 1, 2].slice(0, turn + 1));
      expect(world.done(number)).toEqual(["look", "pay"].slice(0, turn));
      expect(response.output.filter(({ type }) => type === "mcp_call")).toHaveLength(turn);
    }
  },
  TEST_TIMEOUT_MS,
);

const HALF = LAST_TEXT.slice(0, "All is done, and it is ".length);

test.each([
  ["background", "restart", {}],
  ["background stream", "restart", {}],
  ["stream", "restart", { interruption: "restart" }],
  ["plain", "restart", { interruption: "restart" }],
  ["background", "fail", { interruption: "fail" }],
  ["background stream", "fail", { interruption: "fail" }],
  ["stream", "fail", {}],
  ["plain", "fail", {}],
] as const)(
  "a text that breaks off, %s, %s: %j",
  async (mode, interruption, members) => {
    verifies("state.crash.open-items-go-on");
    const { run, world } = await serveFaulty(casesOf(TEXT_FAULTS), { MODEL_CONTINUATION: "none" });

    const made = await run(mode, members);

    for (const [number, response] of made.entries()) {
      const [begun, ...rest] = messagesOf(response);
      expect(world.done(number)).toEqual(["look", "pay"]);
      if (interruption === "restart") {
        // The same text again: the item goes on, and no reader can tell.
        expect([response.status, [begun, ...rest]]).toEqual(["completed", ONE_MESSAGE]);
        expect(world.asked(number)).toEqual([0, 1, 2, 2]);
      } else {
        expect(response).toMatchObject({ status: "failed", error: { code: "server_error" } });
        expect(begun?.[1]).toBe("incomplete");
        expect([HALF, LAST_TEXT]).toContain(begun?.[0]);
        expect([rest, world.asked(number)]).toEqual([[], [0, 1, 2]]);
      }
    }
  },
  TEST_TIMEOUT_MS,
);

test(
  "MODEL_RETRIES limits how often a turn is asked for, and 0 fails the response at once",
  async () => {
    verifies("models.retries.passing-faults");
    const cases = [1, 2, 3].map((times) => ({ fault: faultOf("500"), turn: 1, times }) as const);
    const two = await serveFaulty(cases, { MODEL_RETRIES: "2" });
    const none = await serveFaulty(cases, { MODEL_RETRIES: "0" });

    const [withTwo, withNone] = await Promise.all([two.run("background"), none.run("background")]);

    expect(withTwo.map(({ status }) => status)).toEqual(["completed", "completed", "failed"]);
    expect(cases.map((_case, number) => two.world.asked(number))).toEqual([
      [0, 1, 1, 2],
      [0, 1, 1, 1, 2],
      [0, 1, 1, 1],
    ]);
    expect(withNone.map(({ status }) => status)).toEqual(["failed", "failed", "failed"]);
    expect(cases.map((_case, number) => none.world.asked(number))).toEqual([
      [0, 1],
      [0, 1],
      [0, 1],
    ]);
    expect(withNone[0]?.error).toMatchObject({ code: "server_error" });
  },
  TEST_TIMEOUT_MS,
);
