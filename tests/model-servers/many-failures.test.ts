import { expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { startToolServers } from "../clients/tool-servers.ts";
import { type Answer, chunks, delta } from "../responses/behind-upstream.ts";
import { readResponse } from "../responses/read-stream.ts";
import { trialSize } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { breaksAfter, refuses, resets, serveSeveral } from "./several-servers.ts";

const REQUESTS = trialSize("ROUTED_REQUESTS", { all: 10_000, short: 400 });
const AT_ONCE = 20;
/** One request of so many uses a tool. */
const TOOL_EVERY = 10;
const TEST_TIMEOUT_MS = 900_000;

const WAYS: readonly Answer[] = [
  resets,
  refuses(401),
  refuses(408),
  refuses(429),
  refuses(500),
  refuses(503),
  breaksAfter(),
];

function failing(): Answer {
  let calls = 0;
  return (response, call) => {
    calls += 1;
    return WAYS[calls % WAYS.length]?.(response, call);
  };
}

/** Answers each request with its number, after a search if it asks for one, and counts the answers. */
function answering(answers: Map<string, number>): Answer {
  return (response, call) => {
    const number = /request (\d+)/.exec(call.body)?.[1] ?? "";
    if (call.body.includes('"web_search"') && !call.body.includes('"role":"tool"')) {
      const json = `{"queries":["request ${number}"]}`;
      const search = {
        index: 0,
        id: `call_${number}`,
        type: "function",
        function: { name: "web_search", arguments: json },
      };
      return chunks(delta({ tool_calls: [search] }), lastChunk("tool_calls"))(response, call);
    }
    answers.set(number, (answers.get(number) ?? 0) + 1);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(textChunk(`answer ${number}`), lastChunk("stop"), "[DONE]"));
  };
}

test.each([false, true])(
  `${REQUESTS} requests lose nothing to a server that always fails (spread: %s)`,
  async (spread) => {
    verifies("models.fallback.no-request-lost");
    const tools = await startToolServers();
    const answers = new Map<string, number>();
    const { server, turnsOf } = await serveSeveral(
      { bad: failing(), one: answering(answers), two: answering(answers) },
      `  chat: { spread: ${spread}, route: [bad/a, one/a, two/a] }`,
      { env: tools.env },
    );
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < REQUESTS) {
        const number = next++;
        const search = number % TOOL_EVERY === 0 ? { tools: [{ type: "web_search" }] } : {};
        const reply = await server.post("/v1/responses", {
          model: "chat",
          input: `request ${number}`,
          store: false,
          ...search,
        });
        expect(reply.status).toBe(200);
        expect(JSON.stringify((await readResponse(reply)).output)).toContain(`answer ${number}"`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    expect(answers.size).toBe(REQUESTS);
    expect([...answers.values()].every((count) => count === 1)).toBe(true);
    expect(tools.searched.toSorted()).toEqual([...new Set(tools.searched)].toSorted());
    expect(tools.searched).toHaveLength(Math.ceil(REQUESTS / TOOL_EVERY));
    expect(turnsOf("bad")).toBeGreaterThan(2);
  },
  TEST_TIMEOUT_MS,
);
