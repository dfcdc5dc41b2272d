import { MatchersV3 } from "@pact-foundation/pact";
import { describe, test } from "vitest";
import { verifies } from "../../tests/verifies.ts";
import { checkRefusedCreate, type RefusedCreates } from "./refusal.fixture.ts";

const { string } = MatchersV3;
const input = "Hi";
const SEVENTEEN = Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`key${index}`, "value"]));
const FUNCTION = { type: "function", name: "f", strict: true } as const;
const DRAWING = { type: "image_generation" } as const;
const OPEN_OBJECT = { type: "object", properties: {}, required: [] };

const BOUNDS: RefusedCreates = {
  "with a limit that is too small": {
    asked: { input, max_output_tokens: 1 },
    refusal: {
      code: "integer_below_min_value",
      param: "max_output_tokens",
      message: "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 1 instead.",
    },
  },
  "for too many probabilities": {
    asked: { input, top_logprobs: 1000 },
    refusal: {
      code: "integer_above_max_value",
      param: "top_logprobs",
      message: "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 1000 instead.",
    },
  },
  "with a temperature that is too low": {
    asked: { input, temperature: -1 },
    refusal: {
      code: "decimal_below_min_value",
      param: "temperature",
      message: "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    },
  },
  "with a temperature that is too high": {
    asked: { input, temperature: 3 },
    refusal: {
      code: "decimal_above_max_value",
      param: "temperature",
      message: "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    },
  },
  "with too many metadata": {
    asked: { input, metadata: SEVENTEEN },
    refusal: {
      code: "object_above_max_properties",
      param: "metadata",
      message:
        "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with 17 properties instead.",
    },
  },
  "with metadata that are too long": {
    asked: { input, metadata: { topic: "x".repeat(513) } },
    refusal: {
      code: "string_above_max_length",
      param: "metadata.topic",
      message: string("Invalid 'metadata.topic': string too long."),
    },
  },
  "with a message without content": {
    given: ["our own server"],
    asked: { input: [{ role: "user", content: [] }] },
    refusal: {
      code: "empty_array",
      param: "input[0].content",
      message: string("Invalid 'input[0].content': empty array."),
    },
  },
  "with a tool whose name is empty": {
    given: ["our own server"],
    asked: { input, tools: [{ ...FUNCTION, name: "", parameters: OPEN_OBJECT }] },
    refusal: {
      code: "string_below_min_length",
      param: "tools[0].name",
      message: string("Invalid 'tools[0].name': string too short."),
    },
  },
};

const SCHEMAS: RefusedCreates = {
  "for JSON without the word": {
    asked: { input, text: { format: { type: "json_object" } } },
    refusal: {
      param: "input",
      message: string(
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
      ),
    },
  },
  "with a strict schema that leaves an object open": {
    asked: {
      input,
      text: { format: { type: "json_schema", name: "answer", strict: true, schema: OPEN_OBJECT } },
    },
    refusal: {
      code: "invalid_json_schema",
      param: "text.format.schema",
      message: string("Invalid schema for response_format 'answer': In context=(), 'additionalProperties' is missing."),
    },
  },
  "with a strict function that leaves an object open": {
    asked: { input, tools: [{ ...FUNCTION, parameters: OPEN_OBJECT }] },
    refusal: {
      code: "invalid_function_parameters",
      param: "tools[0].parameters",
      message: string("Invalid schema for function 'f': In context=(), 'additionalProperties' is missing."),
    },
  },
};

const TOOLS: RefusedCreates = {
  "that requires a tool and has none": {
    asked: { input, tool_choice: "required" },
    refusal: { param: "tool_choice", message: string("Tool choice 'required' must be specified with 'tools'.") },
  },
  "that forces a tool that it does not offer": {
    asked: {
      input,
      tools: [{ type: "function", name: "f", parameters: {}, strict: false }],
      tool_choice: { type: "function", name: "g" },
    },
    refusal: { param: "tool_choice", message: string("Tool choice 'g' not found in 'tools' parameter.") },
  },
  "for a tool that the server lacks and that nobody can do without": {
    given: ["a server without tools of its own"],
    asked: { input, tools: [DRAWING], tool_choice: { type: "allowed_tools", mode: "required", tools: [DRAWING] } },
    refusal: {
      code: "unsupported_parameter",
      param: "tools[0]",
      message: string("Unsupported parameter: 'tools[0]'."),
    },
  },
  "for an effort that the model lacks": {
    given: ["a model that lacks an effort"],
    asked: { input: "Please play: unfit", reasoning: { effort: "minimal" } },
    refusal: {
      code: "unsupported_value",
      param: "reasoning.effort",
      message: string("Unsupported value: 'minimal' is not supported with this model."),
    },
  },
};

describe("a client whose request cannot be met is told", () => {
  describe("the bound:", () => {
    verifies("contract.parity.same-checks-both-providers", "errors.catalogue.integer-bounds");
    verifies("errors.catalogue.decimal-bounds", "errors.catalogue.string-too-long");
    verifies("errors.catalogue.metadata-pairs", "errors.catalogue.metadata-lengths");
    test.each(Object.entries(BOUNDS))("a request %s", checkRefusedCreate);
  });

  describe("what is wrong with its format:", () => {
    verifies("errors.catalogue.json-object-needs-the-word", "errors.catalogue.strict-schema-refused");
    verifies("errors.catalogue.function-schema-refused");
    test.each(Object.entries(SCHEMAS))("a request %s", checkRefusedCreate);
  });

  describe("which tools it may have:", () => {
    verifies("errors.catalogue.tool-choice-without-tools", "errors.catalogue.tool-choice-not-offered");
    verifies("errors.catalogue.value-unfit-for-model", "errors.catalogue.parameter-unfit-for-model");
    test.each(Object.entries(TOOLS))("a request %s", checkRefusedCreate);
  });
});
