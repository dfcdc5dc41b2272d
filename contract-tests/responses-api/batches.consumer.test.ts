import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { shapeOf } from "../shape.fixture.ts";
import { checkAnswer } from "./answer.fixture.ts";
import { checkRefusal } from "./refusal.fixture.ts";

const { boolean, fromProviderState, integer, regex, string } = MatchersV3;

const BATCH_ID = "batch_670000001234567890abcdef1234567890abcdef12345678";
const FILE_ID = "file-0123456789abcdef0123456789abcdef0123456789abcdef";
const UNKNOWN_BATCH = "batch_67000000ffffffffffffffffffffffffffffffffffffffff";

const batches = "/v1/batches";
const batchPath = pathOf("");

function pathOf(rest: string) {
  const path = `${batches}/\${batch_id}${rest}`;
  return fromProviderState(path, path.replace("${batch_id}", BATCH_ID));
}

const PARAMS = { input_file_id: FILE_ID, endpoint: "/v1/responses", completion_window: "24h" } as const;
const BATCH = {
  id: BATCH_ID,
  object: "batch",
  completion_window: "24h",
  created_at: 1_795_000_000,
  endpoint: "/v1/responses",
  expires_at: 1_795_086_400,
  input_file_id: FILE_ID,
  metadata: null,
  request_counts: { completed: 0, failed: 0, total: 0 },
  status: "validating",
  usage: {
    input_tokens: 0,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 0,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 0,
  },
} as const;

/** It may have gone on by now. */
function batchShape(status = "validating|in_progress|finalizing|completed") {
  return {
    ...Object(shapeOf(BATCH)),
    request_counts: { completed: integer(0), failed: integer(0), total: integer(0) },
    status: regex(`^(?:${status})$`, status.split("|")[0] ?? ""),
  };
}

const given = ["a batch"] as const;

describe("a client that keeps batches", () => {
  test("makes one of a file", async () => {
    verifies("batches.operations.object-of-the-reference");
    await checkAnswer(
      {
        given: ["a file for a batch"],
        request: "to make a batch",
        method: "POST",
        path: batches,
        body: { ...PARAMS, input_file_id: fromProviderState("${file_id}", FILE_ID) },
        reply: { json: batchShape() },
      },
      BATCH,
      { official: (client) => client.batches.create(PARAMS), own: (client) => client.createBatch(PARAMS) },
    );
  });

  test("lists them", async () => {
    verifies("batches.operations.object-of-the-reference");
    const shape = {
      object: "list",
      data: [batchShape()],
      first_id: string(BATCH_ID),
      has_more: boolean(true),
      last_id: string(BATCH_ID),
    };
    await checkAnswer(
      {
        given: [...given, ...given],
        request: "for batches",
        method: "GET",
        path: batches,
        query: { limit: "1" },
        reply: { json: shape },
      },
      { data: [BATCH] },
      {
        official: (client) => client.batches.list({ limit: 1 }),
        own: (client) => client.listBatches({ limit: 1 }),
      },
    );
  });

  test("reads one", async () => {
    verifies("batches.operations.object-of-the-reference");
    await checkAnswer(
      { given, request: "for a batch", method: "GET", path: batchPath, reply: { json: batchShape() } },
      BATCH,
      {
        official: (client) => client.batches.retrieve(BATCH_ID),
        own: (client) => client.getBatch(BATCH_ID),
      },
    );
  });

  test("cancels one", async () => {
    verifies("batches.ends.cancelled");
    const cancelled = { ...BATCH, status: "cancelling" } as const;
    await checkAnswer(
      {
        given,
        request: "to cancel a batch",
        method: "POST",
        path: pathOf("/cancel"),
        // It may be over by now.
        reply: { json: batchShape("cancelling|cancelled|finalizing|completed") },
      },
      cancelled,
      {
        official: (client) => client.batches.cancel(BATCH_ID),
        own: (client) => client.cancelBatch(BATCH_ID),
      },
    );
  });
});

test("a client that looks for an unknown batch gets 404", async () => {
  verifies("batches.create.refused");
  await checkRefusal(
    { request: "for an unknown batch", method: "GET", path: `${batches}/${UNKNOWN_BATCH}` },
    { status: 404, param: null, message: string(`No batch found with id '${UNKNOWN_BATCH}'.`) },
    {
      official: (client) => client.batches.retrieve(UNKNOWN_BATCH),
      own: (client) => client.getBatch(UNKNOWN_BATCH),
    },
  );
});
