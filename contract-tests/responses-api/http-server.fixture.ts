import type { TestServerOptions } from "../../tests/kit/test-server.ts";

/** A key that belongs to one organization. */
export const ACME_KEY = "sk-of-acme";
/** A key whose tokens per minute `USE_UP` spends. */
export const SPENT_KEY = "sk-whose-minute-is-used-up";

/** A long task, so that a test can act while the model still answers. */
export const LONG_TASK = "Write 200 words about the sea. Please play: wait";
export const USE_UP = "Please play: use up";
/** The model calls the tool `pay` of the MCP server `bank`. */
export const PAY = "Please play: pay";

/** Less than `USE_UP` spends, and more than all other requests together. */
const TOKENS_PER_MINUTE = 1_000_000;

/** Scenarios for replies that no request alone can cause. */
const SCENARIO = `
scenarios:
  - when: { input_contains: "play: wait" }
    events: [{ text: The sea }, { delay_ms: 60000 }, { text: is wide. }]
  - when: { input_contains: "play: use up" }
    events: [{ text: Done. }, { usage: { input_tokens: 10, output_tokens: ${2 * TOKENS_PER_MINUTE} } }]
  - when: { input_contains: "play: pay", has_tool_output: false }
    events: [{ call: { name: pay, namespace: bank, arguments: {} } }]
  - when: { input_contains: "play: pay" }
    events: [{ text: Done. }]
  - when: { input_contains: "play: rate limit" }
    events: [{ refuse_turn: { status: 429, type: tokens, code: rate_limit_exceeded, message: "Rate limit reached. Please try again in 2s.", retry_after_seconds: 2 } }]
  - when: { input_contains: "play: no credit" }
    events: [{ refuse_turn: { status: 429, type: insufficient_quota, code: insufficient_quota, message: You exceeded your current quota. } }]
  - when: { input_contains: "play: too long" }
    events: [{ refuse_turn: { status: 400, type: invalid_request_error, code: context_length_exceeded, param: input, message: "Your input exceeds the context window of this model. Please adjust your input and try again." } }]
  - when: { input_contains: "play: unfit" }
    events: [{ refuse_turn: { status: 400, type: invalid_request_error, code: unsupported_value, param: reasoning.effort, message: "Unsupported value: 'minimal' is not supported with this model. Supported values are: 'low', 'medium', and 'high'." } }]
  - when: { input_contains: "play: fail" }
    events: [{ refuse_turn: { status: 500, type: server_error, code: server_error, message: The model failed. } }]
  - when: { input_contains: "play: unreachable" }
    events: [{ refuse_turn: { status: 502, type: server_error, code: server_error, message: The model cannot be reached. } }]
  - when: { input_contains: "play: overloaded" }
    events: [{ refuse_turn: { status: 503, type: server_error, code: server_error, message: The model is overloaded., retry_after_seconds: 3 } }]
  - when: { input_contains: "play: too slow" }
    events: [{ refuse_turn: { status: 504, type: server_error, code: server_error, message: The model was too slow. } }]
  - when: { input_contains: "play: break off" }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

/** Options of a server that can enter every state. Its limits are low, so that examples stay short. */
export const STAGED_SERVER: TestServerOptions = {
  scenario: SCENARIO,
  env: {
    API_KEYS: ["sk-of-the-contract-tests", `${ACME_KEY}=acme/books`, SPENT_KEY].join(","),
    RATE_LIMIT_TOKENS_PER_MINUTE: String(TOKENS_PER_MINUTE),
    BACKGROUND_RUNS_MAX: "2",
    RUN_QUEUE_MAX: "1",
    BODY_BYTES_MAX: "8192",
    UPLOAD_BYTES_MAX: "2048",
    INPUT_IMAGE_BYTES_MAX: "1024",
    INPUT_FILE_BYTES_MAX: "1024",
    EGRESS_ALLOW: "127.0.0.1",
  },
};
