import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { MODEL } from "../responses/check-refusal.ts";
import { verifies } from "../verifies.ts";
import { type IdOperation, readIdOperations } from "./contract-ids.ts";
import {
  makeThings,
  type Party,
  seen,
  startWithTwoOwners,
  type Things,
  type TwoOwners,
  unknownLike,
} from "./two-owners.ts";

/** What a member of a body names, and how it is written. `item` is an item of the operation's list. */
type Naming = { readonly isSought: boolean } & (
  | { readonly members: (asked: Things) => object }
  | { readonly item: (asked: Things) => object }
);

const message = (part: object): object => ({ type: "message", role: "user", content: [part] });

/** Every member that names a stored thing. With `isSought: false` the id is only stored and never looked up. */
const NAMING: Readonly<Record<string, Naming>> = {
  "CreateResponseRequest.previous_response_id": chained(),
  "InputTokensRequest.previous_response_id": chained(),
  "CompactRequest.previous_response_id": chained(),
  "CreateResponseRequest.conversation": conversing((id) => id),
  "InputTokensRequest.conversation": conversing((id) => id),
  "ConversationRef.id": conversing((id) => ({ id })),
  "ItemReferenceInput.id": item(({ output_item_id: id }) => ({ type: "item_reference", id })),
  "InputFile.file_id": item(({ file_id }) => message({ type: "input_file", file_id })),
  "InputImage.file_id": item(({ image_file_id: file_id }) => message({ type: "input_image", file_id })),
  "TopLevelInputFile.file_id": item(({ file_id }) => ({ type: "input_file", file_id })),
  "TopLevelInputImage.file_id": item(({ image_file_id: file_id }) => ({ type: "input_image", file_id })),
  "MessageInput.id": { isSought: false, item: ({ item_id: id }) => ({ role: "user", content: "Hi", id }) },
  "ComputerScreenshot.file_id": {
    isSought: false,
    item: ({ image_file_id: file_id }) => ({
      type: "computer_call_output",
      call_id: "call_1",
      output: { type: "computer_screenshot", file_id },
    }),
  },
  "CreateBatchRequest.input_file_id": {
    isSought: true,
    members: ({ file_id }) => ({ input_file_id: file_id, endpoint: "/v1/responses", completion_window: "24h" }),
  },
  "PromptCacheOptionsInput.comparison_response_id": {
    isSought: false,
    members: ({ response_id }) => ({ input: "Hi", prompt_cache_options: { comparison_response_id: response_id } }),
  },
};

/** Why the other members name nothing stored; by member, or by schema and member. */
const UNRELATED_MEMBERS: Readonly<Record<string, string>> = {
  id: "an item's own id goes with the item, as MessageInput.id shows",
  call_id: "ties an output to its call within one context",
  caller_id: "ties a call to its program within one context",
  approval_request_id: "ties an answer to its question within one context",
  container_id: "belongs to a hosted tool",
  connector_id: "belongs to a hosted tool",
  tunnel_id: "belongs to a hosted tool",
  skill_id: "belongs to a hosted tool",
  vector_store_id: "belongs to a hosted tool",
  vector_store_ids: "belongs to a hosted tool",
  file_ids: "belongs to a hosted tool",
  "ImageMask.file_id": "belongs to a hosted tool",
  "CreateVectorStoreFileRequest.file_id": "belongs to a hosted tool",
  "ContainerFileUpload.file_id": "the tests of containers copy foreign files",
  "CreateContainerFileRequest.file_id": "the tests of containers copy foreign files",
  "BackgroundOptionsInput.continuation_id": "accepted for the reference's clients, and never looked up",
  "ContainerFileCitation.file_id": "sent back by a client, and never looked up",
  "FileCitation.file_id": "sent back by a client, and never looked up",
  "FilePath.file_id": "sent back by a client, and never looked up",
  "FileSearchResultInput.file_id": "a result sent back by a client, and never looked up",
};

function chained(): Naming {
  return { isSought: true, members: ({ response_id }) => ({ input: "Hi", previous_response_id: response_id }) };
}

function conversing(written: (id: string) => unknown): Naming {
  return { isSought: true, members: ({ conversation_id: id }) => ({ input: "Hi", conversation: written(id) }) };
}

function item(written: (asked: Things) => object): Naming {
  return { isSought: true, item: written };
}

const OPERATIONS = readIdOperations().filter(({ operationId }) => !/VectorStore|Container/.test(operationId));
const CASES = OPERATIONS.flatMap((operation) =>
  operation.bodyMembers.flatMap((member) => {
    const naming = NAMING[member];
    return naming === undefined ? [] : [[member, operation.operationId, operation, naming] as const];
  }),
);

test("every member of a body that looks like an id is tested, or listed as naming nothing", () => {
  const members = new Set(readIdOperations().flatMap(({ bodyMembers }) => bodyMembers));
  const unexplained = [...members].filter(
    (member) =>
      !(member in NAMING) && !(member in UNRELATED_MEMBERS) && !((member.split(".")[1] ?? "") in UNRELATED_MEMBERS),
  );
  expect(unexplained).toEqual([]);
  expect(Object.keys(NAMING).filter((member) => !members.has(member))).toEqual([]);
});

describe("another owner's things", () => {
  let two: TwoOwners;
  beforeAll(async () => {
    two = await startWithTwoOwners();
  });
  afterAll(() => two.server.close());

  test.each(CASES)(
    "get the same answer as %s of %s as things that never existed",
    async (_member, _id, operation, naming) => {
      verifies("state.owner.chaining-is-checked");
      const [ours, own] = [await makeThings(two.ours), await makeThings(two.theirs)];
      const unknown = unknownLike(ours);
      const ask = async (party: "ours" | "theirs", asked: Things) => {
        const things = party === "ours" ? ours : own;
        const path = operation.path
          .replace("{conversation_id}", things.conversation_id)
          .replace("{response_id}", things.response_id);
        return await seen(await two[party].ask(operation.method, path, bodyOf(operation, naming, asked)), asked);
      };
      const nothing = await ask("theirs", unknown);
      expect(await ask("theirs", ours)).toEqual(nothing);
      if (!seeks(operation, naming)) return;
      expect([400, 404]).toContain(nothing.status);
      expect((await ask("ours", ours)).body).not.toEqual((await ask("ours", unknown)).body);
    },
  );
});

test("things named in a conversation's items are looked up for the conversation's owner", async () => {
  verifies("state.owner.chaining-is-checked");
  const two = await startWithTwoOwners();
  onTestFinished(() => two.server.close());
  const ours = await makeThings(two.ours);
  const unknown = unknownLike(ours);
  const answer = async (party: Party, asked: Things) => {
    const items = [message({ type: "input_file", file_id: asked.file_id })];
    const { id } = JSON.parse(await (await party.ask("POST", "/v1/conversations", { items })).text());
    const body = { model: MODEL, input: "Hi", conversation: id };
    return await seen(await party.ask("POST", "/v1/responses", body), { ...asked, conversation_id: id });
  };
  const nothing = await answer(two.theirs, unknown);
  expect(await answer(two.theirs, ours)).toEqual(nothing);
  expect(nothing.status).toBeGreaterThanOrEqual(400);
  expect((await answer(two.ours, ours)).status).toBe(200);
});

/**
 * A conversation stores names in its items unchecked, and so does a response that is steered. They are looked up when a
 * response uses them.
 */
function seeks({ operationId }: IdOperation, naming: Naming): boolean {
  if (operationId === "steerResponse") return false;
  const keeps = operationId.includes("Conversation") && "item" in naming && naming !== NAMING["ItemReferenceInput.id"];
  return naming.isSought && !keeps;
}

function bodyOf({ operationId }: IdOperation, naming: Naming, asked: Things): object {
  const members = "members" in naming ? naming.members(asked) : null;
  if (operationId.includes("Conversation")) return { items: "item" in naming ? [naming.item(asked)] : [], ...members };
  if (operationId === "createBatch") return { ...members };
  if (operationId === "steerResponse") return { input: "item" in naming ? [naming.item(asked)] : "Hi" };
  return { model: MODEL, ...("item" in naming ? { input: [naming.item(asked)] } : members) };
}
