import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkIllFormedCreate, type IllFormedCreate } from "./refusal.fixture.ts";

const { regex } = MatchersV3;
const input = "Hi";
const MESSAGE = { role: "user", content: input };

type Cases = Readonly<Record<string, IllFormedCreate>>;

const MEMBERS: Cases = {
  "with an unknown member": {
    asked: { input, colour: "blue" },
    refusal: { code: "unknown_parameter", param: "colour", message: "Unknown parameter: 'colour'." },
  },
  "with an unknown nested member": {
    asked: { input, text: { zzz: 1 } },
    refusal: { code: "unknown_parameter", param: "text.zzz", message: "Unknown parameter: 'text.zzz'." },
  },
  "with a misspelled member": {
    asked: { input, sto: true },
    refusal: {
      code: "unknown_parameter",
      param: "sto",
      message: "Unknown parameter: 'sto'. Did you mean 'store'?",
    },
  },
  "with the messages of chat completions": {
    asked: { input, messages: [MESSAGE] },
    refusal: {
      code: "unsupported_parameter",
      param: null,
      message: regex(
        "^Unsupported parameter: 'messages'\\. In the Responses API, this parameter has moved to 'input'\\..*$",
        "Unsupported parameter: 'messages'. In the Responses API, this parameter has moved to 'input'.",
      ),
    },
  },
  "with the number of choices of chat completions": {
    asked: { input, n: 2 },
    refusal: {
      code: "unknown_parameter",
      param: "n",
      message: regex("^Unknown parameter: 'n'\\..*$", "Unknown parameter: 'n'."),
    },
  },
  "with a tool that has no name": {
    asked: { input, tools: [{ type: "function", parameters: {}, strict: false }] },
    refusal: {
      code: "missing_required_parameter",
      param: "tools[0].name",
      message: "Missing required parameter: 'tools[0].name'.",
    },
  },
  "with a message that has no content": {
    asked: { input: [{ role: "user" }] },
    refusal: {
      code: "missing_required_parameter",
      param: "input[0].content",
      message: "Missing required parameter: 'input[0].content'.",
    },
  },
};

const TYPES: Cases = {
  "with a number as input": {
    asked: { input: 7 },
    refusal: {
      code: "invalid_type",
      param: "input",
      message:
        "Invalid type for 'input': expected one of a string or array of input items, but got an integer instead.",
    },
  },
  "with a word where a yes or no belongs": {
    asked: { input, store: "yes" },
    refusal: {
      code: "invalid_type",
      param: "store",
      message: "Invalid type for 'store': expected a boolean, but got a string instead.",
    },
  },
  "with a word where a number belongs": {
    asked: { input, max_output_tokens: "many" },
    refusal: {
      code: "invalid_type",
      param: "max_output_tokens",
      message: "Invalid type for 'max_output_tokens': expected an integer, but got a string instead.",
    },
  },
  "with an unknown verbosity": {
    asked: { input, text: { verbosity: "loud" } },
    refusal: {
      code: "invalid_value",
      param: "text.verbosity",
      message: "Invalid value: 'loud'. Supported values are: 'low', 'medium', and 'high'.",
    },
  },
  "with an unknown format": {
    asked: { input, text: { format: { type: "xml" } } },
    refusal: {
      code: "invalid_value",
      param: "text.format.type",
      message: "Invalid value: 'xml'. Supported values are: 'json_object', 'text', and 'json_schema'.",
    },
  },
  "with a part of an unknown kind": {
    asked: { input: [{ role: "user", content: [{ type: "poem", text: input }] }] },
    refusal: {
      code: "invalid_value",
      param: "input[0].content[0].type",
      message: regex(
        "^Invalid value: 'poem'\\. Supported values are: 'input_text', .+\\.$",
        "Invalid value: 'poem'. Supported values are: 'input_text', and 'input_image'.",
      ),
    },
  },
};

describe("a client whose request is ill-formed learns what is wrong", () => {
  describe("with its members:", () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.unknown-parameter");
    verifies("errors.catalogue.spelling-hint", "errors.catalogue.no-nested-spelling-hint");
    verifies("errors.catalogue.chat-messages-moved", "errors.catalogue.chat-only-members");
    verifies("errors.catalogue.missing-nested-member");
    test.each(Object.entries(MEMBERS))("a request %s", checkIllFormedCreate);
  });

  describe("with its values:", () => {
    verifies("errors.catalogue.wrong-type", "errors.catalogue.value-outside-enum");
    test.each(Object.entries(TYPES))("a request %s", checkIllFormedCreate);
  });
});
