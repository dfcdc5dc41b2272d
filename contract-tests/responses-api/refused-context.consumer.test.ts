import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkRefusedCreate, type RefusedCreates, UNKNOWN_ID } from "./refusal.fixture.ts";

const { regex, string } = MatchersV3;
const input = "Hi";
const USER = { role: "user", content: input } as const;
const CALL_ID = "call_0123456789abcdefghijklmn";
const CALL = { type: "function_call", call_id: CALL_ID, name: "f", arguments: "{}" } as const;
const REASONING_ID = "rs_0123456789abcdef00670000000123456789abcdef01234567";
const ITEM_ID = "msg_0123456789abcdef00670000000123456789abcdef01234567";
const CONVERSATION_ID = "conv_000000000000000000000000000000000000000000000000";

const APPROVAL_ID = "mcpr_0123456789abcdef00670000000123456789abcdef01234567";
const MCP_CALL = { name: "pay", server_label: "bank", arguments: "{}" } as const;

const REFERENCES: RefusedCreates = {
  "with nothing to answer": {
    asked: { input: [] },
    refusal: {
      code: "missing_required_parameter",
      param: null,
      message: string("One of 'input', 'previous_response_id', 'prompt' or 'conversation' must be provided."),
    },
  },
  "that continues what is no response": {
    asked: { input, previous_response_id: "msg_x" },
    refusal: {
      code: "invalid_value",
      param: "previous_response_id",
      message: string("Invalid 'previous_response_id': 'msg_x'. Expected an ID that begins with 'resp'."),
    },
  },
  "that continues a response and a conversation": {
    asked: { input, previous_response_id: UNKNOWN_ID, conversation: CONVERSATION_ID },
    refusal: {
      code: "mutually_exclusive_parameters",
      param: null,
      message: string("Ensure you are only providing one of: 'previous_response_id' or 'conversation'."),
    },
  },
  "in an unknown conversation": {
    asked: { input, conversation: CONVERSATION_ID },
    refusal: { status: 404, param: null, message: `Conversation with id '${CONVERSATION_ID}' not found.` },
  },
  "that refers to an item that is not stored": {
    asked: { input: [{ type: "item_reference", id: ITEM_ID }] },
    refusal: {
      status: 404,
      param: "input",
      message: regex(`^Item with id '${ITEM_ID}' not found\\..*$`, `Item with id '${ITEM_ID}' not found.`),
    },
  },
};

const ITEMS: RefusedCreates = {
  "with a call that has no output": {
    asked: { input: [USER, CALL] },
    refusal: { param: "input", message: `No tool output found for function call ${CALL_ID}.` },
  },
  "with an output that has no call": {
    asked: { input: [USER, { type: "function_call_output", call_id: CALL_ID, output: "1" }] },
    refusal: { param: "input", message: `No tool call found for function call output with call_id ${CALL_ID}.` },
  },
  "with reasoning that led to nothing": {
    given: ["our own server"],
    asked: { input: [USER, { type: "reasoning", id: REASONING_ID, summary: [] }] },
    refusal: {
      param: "input",
      message: string(`Item '${REASONING_ID}' of type 'reasoning' was provided without its required following item.`),
    },
  },
  "with two items of one id": {
    asked: {
      input: [
        { ...USER, id: ITEM_ID },
        { ...USER, id: ITEM_ID },
      ],
    },
    refusal: {
      param: "input",
      message: regex(`^Duplicate item found with id ${ITEM_ID}\\..*$`, `Duplicate item found with id ${ITEM_ID}.`),
    },
  },
  "with an approval that a call has used": {
    given: ["our own server"],
    asked: {
      input: [
        USER,
        { type: "mcp_approval_request", id: APPROVAL_ID, ...MCP_CALL },
        { type: "mcp_call", id: "mcp_1", approval_request_id: APPROVAL_ID, ...MCP_CALL, output: "paid" },
        { type: "mcp_approval_response", approval_request_id: APPROVAL_ID, approve: true },
      ],
      tools: [{ type: "mcp", server_label: "bank", server_url: "https://mcp.example.com/mcp" }],
    },
    refusal: {
      code: "approval_spent",
      param: "input",
      message: string(`Approval request '${APPROVAL_ID}' was used already.`),
    },
  },
  "with reasoning that others sealed": {
    asked: {
      input: [
        { type: "reasoning", id: REASONING_ID, summary: [], encrypted_content: "gAAAAABo" },
        { role: "assistant", content: "Hi" },
        USER,
      ],
    },
    refusal: {
      code: "invalid_encrypted_content",
      param: null,
      message: string("The encrypted content could not be verified."),
    },
  },
};

const WINDOW: RefusedCreates = {
  "with more than the model can take in": {
    given: ["a model with a small window"],
    asked: { input: "Please play: too long" },
    refusal: {
      code: "context_length_exceeded",
      param: "input",
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
    },
  },
  "to be answered later and kept nowhere": {
    given: ["our own server"],
    asked: { input, background: true, store: false },
    refusal: {
      code: "unsupported_parameter",
      param: "background",
      message: string("Unsupported parameter: 'background'."),
    },
  },
  "with a prompt template, which is not there yet": {
    given: ["our own server"],
    asked: { input, prompt: { id: "pmpt_0123456789abcdef" } },
    refusal: { code: "unsupported_parameter", param: "prompt", message: string("Unsupported parameter: 'prompt'.") },
  },
};

describe("a client whose context makes no sense is told", () => {
  describe("what it refers to in vain:", () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.nothing-to-answer");
    verifies("errors.catalogue.ill-formed-id", "errors.catalogue.chain-and-conversation");
    verifies("errors.catalogue.unknown-conversation-is-404", "errors.catalogue.item-reference-not-stored");
    test.each(Object.entries(REFERENCES))("a request %s", checkRefusedCreate);
  });

  describe("which item is out of place:", () => {
    verifies("errors.catalogue.call-without-output", "errors.catalogue.output-without-call");
    verifies("errors.catalogue.reasoning-without-follower", "errors.catalogue.duplicate-item-id");
    verifies("errors.catalogue.bad-encrypted-content");
    test.each(Object.entries(ITEMS))("a request %s", checkRefusedCreate);
  });

  describe("what cannot be done with it:", () => {
    verifies("errors.catalogue.context-length");
    test.each(Object.entries(WINDOW))("a request %s", checkRefusedCreate);
  });
});
