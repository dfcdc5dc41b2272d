import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { verifies } from "../verifies.ts";
import { type IdOperation, readIdOperations } from "./contract-ids.ts";
import {
  makeThings,
  type Party,
  seen,
  skillForm,
  startWithTwoOwners,
  type Things,
  type TwoOwners,
  unknownLike,
} from "./two-owners.ts";

const OPERATIONS = readIdOperations();

/** The smallest valid body of an operation. */
const BODIES: Readonly<Record<string, unknown>> = {
  updateConversation: { metadata: {} },
  createConversationItems: { items: [{ role: "user", content: "Hi" }] },
  modifyVectorStore: {},
  steerResponse: { input: "Hi" },
  updateVectorStoreFileAttributes: { attributes: {} },
  createContainerFile: { file_id: "file-0" },
  createVectorStoreFile: { file_id: "file-0" },
  createVectorStoreFileBatch: { file_ids: ["file-0"] },
  searchVectorStore: { query: "Hi" },
  settleResponseEffect: { state: "done" },
  updateSkill: { default_version: "2" },
  createSkillVersion: skillForm(),
  updateWebhookEndpoint: { name: "More" },
  rotateWebhookSecret: {},
  testWebhookEndpoint: { event_type: "response.completed" },
};

/** The path with ids filled in. */
function pathOf({ path }: IdOperation, ids: Readonly<Record<string, string>>): string {
  const batch = path.startsWith("/v1/batches/") ? { batch_id: ids["request_batch_id"] ?? "" } : {};
  const parts = { version: "2", ...ids, ...batch };
  return path.replaceAll(
    /\{(\w+)\}/g,
    (_name, parameter: string) => new Map(Object.entries(parts)).get(parameter) ?? "",
  );
}

describe("another owner's things", () => {
  let two: TwoOwners;
  beforeAll(async () => {
    two = await startWithTwoOwners();
  });
  afterAll(() => two.server.close());

  const ask = (party: Party, operation: IdOperation, ids: Readonly<Record<string, string>>): Promise<Response> =>
    party.ask(operation.method, pathOf(operation, ids), BODIES[operation.operationId]);

  /** Uses the caller's own id for the first id of the path, and those of `asked` for the others. */
  const mixed = (
    operation: IdOperation,
    own: Things,
    asked: Things,
    count: number,
  ): Readonly<Record<string, string>> => {
    const kept = new Set(operation.pathIds.slice(0, count));
    return { ...asked, ...Object.fromEntries(Object.entries(own).filter(([name]) => kept.has(name))) };
  };

  const inPath = OPERATIONS.filter(({ pathIds }) => pathIds.length > 0);
  test("are requested by every operation that has an id in its path", () => {
    expect(inPath.length).toBeGreaterThanOrEqual(20);
  });

  test.each(inPath.map((operation) => [operation.operationId, operation] as const))(
    "get the same answer from %s as things that never existed",
    async (_id, operation) => {
      verifies("state.owner.other-key-gets-404");
      const [ours, own] = [await makeThings(two.ours), await makeThings(two.theirs)];
      const unknown = unknownLike(ours);
      for (let count = 0; count < operation.pathIds.length; count++) {
        const foreign = await seen(await ask(two.theirs, operation, mixed(operation, own, ours, count)), ours);
        const nothing = await seen(await ask(two.theirs, operation, mixed(operation, own, unknown, count)), unknown);
        expect(foreign).toEqual(nothing);
        expect(foreign.status).toBe(404);
      }
      const mine = await seen(await ask(two.ours, operation, { ...ours }), ours);
      const none = await seen(await ask(two.ours, operation, { ...unknown }), unknown);
      expect([mine.status, mine.body]).not.toEqual([none.status, none.body]);
    },
  );

  const paged = OPERATIONS.filter((operation) => operation.cursors.length > 0);
  test.each(
    paged.flatMap((operation) =>
      operation.cursors.map((cursor) => [cursor, operation.operationId, operation] as const),
    ),
  )("as `%s` of %s get the same answer as things that never existed", async (cursor, _id, operation) => {
    verifies("state.owner.other-key-gets-404");
    const [ours, own] = [await makeThings(two.ours), await makeThings(two.theirs)];
    const unknown = unknownLike(ours);
    const page = async (asked: Things): Promise<unknown> => {
      const { item_id, input_item_id, output_item_id, file_id, container_id, container_file_id } = asked;
      const ids = [item_id, input_item_id, output_item_id, file_id, container_id, container_file_id];
      const replies = ids.map((id) => two.theirs.ask("GET", `${pathOf(operation, { ...own })}?${cursor}=${id}`));
      return await Promise.all(replies.map(async (reply) => seen(await reply, asked)));
    };
    expect(await page(ours)).toEqual(await page(unknown));
  });

  test("are in no list", async () => {
    const ours = await makeThings(two.ours);
    await makeThings(two.theirs);
    const listed = await (await two.theirs.ask("GET", "/v1/files")).text();
    expect(listed).not.toContain(ours.file_id);
    expect(await (await two.ours.ask("GET", "/v1/files")).text()).toContain(ours.file_id);
  });
});
