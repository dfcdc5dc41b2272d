import { afterAll, beforeAll, describe, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkCreate, codeless, type Members, missing, type Refusal, unknown, wrongType } from "./check-refusal.ts";

/** Members of a create request, each broken differently, in the reference's order of checks. */
const BROKEN: Readonly<Record<string, unknown>> = {
  input: 5,
  previous_response_id: 5,
  moderation: 5,
  include: 5,
  tools: 5,
  metadata: 5,
  text: 5,
  temperature: "x",
  top_p: "x",
  presence_penalty: "x",
  parallel_tool_calls: 5,
  stream: 5,
  stream_options: 5,
  background: 5,
  max_output_tokens: "x",
  max_tool_calls: "x",
  reasoning: 5,
  user: 5,
  safety_identifier: 5,
  prompt_cache_options: 5,
  prompt_cache_key: 5,
  prompt_cache_retention: 5,
  truncation: 5,
  instructions: 5,
  store: 5,
  service_tier: 5,
  top_logprobs: "x",
  context_management: 5,
};
const NAMES = Object.keys(BROKEN);

/** Two faults each. The error is that of the first stage. */
const STAGES: Readonly<Record<string, readonly [Members, Refusal]>> = {
  "a missing model comes before a missing input": [{ model: undefined, input: undefined }, missing("model")],
  "a missing input comes before unknown members": [{ input: undefined, bogus: 1 }, missing("input")],
  "an unknown member comes before a wrong type": [{ bogus: 1, stream: "x" }, unknown("bogus")],
  "a wrong type comes before mutual exclusion": [
    { previous_response_id: "resp_x", conversation: "conv_x", store: 5 },
    wrongType("store", "a boolean", "an integer"),
  ],
  "mutual exclusion comes before state": [
    { previous_response_id: "resp_x", conversation: "conv_x" },
    { code: "mutually_exclusive_parameters", param: null, message: /^Mutually exclusive parameters/ },
  ],
  "an unknown previous response comes before an unknown model": [
    { previous_response_id: "resp_x", model: "gpt-none" },
    { code: "previous_response_not_found", param: "previous_response_id", message: /not found\.$/ },
  ],
  "empty input comes before an unknown model": [
    { input: [], model: "gpt-none" },
    { code: "missing_required_parameter", param: null, message: /must be provided\.$/ },
  ],
  "a context without sense comes before an unknown model": [
    { input: [{ type: "function_call_output", call_id: "call_x", output: "" }], model: "gpt-none" },
    codeless("input", /^No tool call found/),
  ],
  "an unknown type of item comes before a faulty second item": [
    { input: [{ type: "x" }, { role: "x", content: "Hi" }] },
    { code: "invalid_value", param: "input[0]", message: /^Invalid value: 'x'/ },
  ],
  "the first of two faulty items is reported": [
    {
      input: [
        { role: "x", content: "Hi" },
        { role: "user", content: [{ type: "input_text" }] },
      ],
    },
    { code: "invalid_value", param: "input[0].role", message: /^Invalid value: 'x'/ },
  ],
};

describe("of two faults in a create request", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer();
  });
  afterAll(() => server.close());

  verifies(
    "validation.order.json-then-model-then-input",
    "validation.order.state-after-schema",
    "validation.order.model-checked-last",
  );
  test.each(Object.entries(STAGES))("%s", (_title, [members, refusal]) => checkCreate(server, members, refusal));

  verifies("validation.order.fields-in-reference-order");
  test.each(NAMES)("%s is reported before all members that are checked later", async (name) => {
    const later = NAMES.slice(NAMES.indexOf(name)).toReversed();
    const members = Object.fromEntries(later.map((member) => [member, BROKEN[member]]));
    await checkCreate(server, members, { code: "invalid_type", param: name, message: /^Invalid type for/ });
  });
});
