import { expect, test } from "vitest";
import { verifies } from "../../../../tests/verifies.ts";
import type { ServerReply } from "../ask-server.ts";
import { ApiPath } from "./api-path.ts";

verifies("chat-engine.base-url.finds-v1");

const LIST = { status: 200, body: { data: [{ id: "m" }] } };
const replyWith = (status: number): ServerReply => ({ status, body: undefined });
const REFUSED = replyWith(401);
const ABSENT = replyWith(404);
const BROKEN = replyWith(502);
const PAGE = replyWith(200);

/** Where the API is looked for each time, and where it is found. `replies` are those under each path, in order. */
async function search(
  configured: string,
  replies: Readonly<Record<string, readonly (ServerReply | null)[]>>,
  times = 1,
): Promise<{ readonly asked: readonly string[]; readonly path: string; readonly found: readonly string[] }> {
  const [asked, found]: [string[], string[]] = [[], []];
  const path = new ApiPath({
    basePath: configured,
    listModels: async (apiPath) => {
      const nth = asked.filter((each) => each === apiPath).length;
      asked.push(apiPath);
      return replies[apiPath]?.[nth] ?? null;
    },
    onFound: (apiPath) => void found.push(apiPath),
  });
  for (let time = 0; time < times; time += 1) await path.find();
  return { asked, path: path.current, found };
}

test.each([
  { what: "that ends in /v1 is not looked for", configured: "/v1", replies: {}, path: "/v1" },
  { what: "with a list of models stays", configured: "/openai", replies: { "/openai": [LIST] }, path: "/openai" },
  { what: "with a list of names stays", configured: "", replies: { "": [{ status: 200, body: ["m"] }] }, path: "" },
  { what: "where a key is refused stays", configured: "", replies: { "": [REFUSED] }, path: "" },
  { what: "without a list gets /v1", configured: "", replies: { "": [ABSENT], "/v1": [LIST] }, path: "/v1" },
  { what: "of a page gets /v1", configured: "/llm", replies: { "/llm": [PAGE], "/llm/v1": [LIST] }, path: "/llm/v1" },
  { what: "with a key below gets /v1", configured: "", replies: { "": [ABSENT], "/v1": [REFUSED] }, path: "/v1" },
  { what: "without any list stays", configured: "/x", replies: { "/x": [ABSENT], "/x/v1": [ABSENT] }, path: "/x" },
])("a path $what", async ({ configured, replies, path }) => {
  const outcome = await search(configured, replies, 2);
  expect(outcome).toEqual({ asked: Object.keys(replies), path, found: path === configured ? [] : [path] });
});

test("the path is looked for again until the server answers", async () => {
  const replies = { "": [null, BROKEN, ABSENT, ABSENT], "/v1": [null, LIST] };
  expect(await search("", replies, 5)).toEqual({ asked: ["", "", "", "/v1", "", "/v1"], path: "/v1", found: ["/v1"] });
});
