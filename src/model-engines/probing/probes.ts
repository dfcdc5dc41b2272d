import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { ModelRequest } from "@antiphon/domain/models/model-request.ts";
import { callsNamePlaces, type HeardAnswer, member } from "./heard-answer.ts";

/** One request to a model server, and the judgement of its answer. */
export interface Probe {
  readonly name: string;
  /** The fields of the field ledger that it tests. */
  readonly fields: readonly string[];
  readonly asks: Partial<ModelRequest>;
  /** Null if the server did as requested, otherwise a clause about what it did. */
  readonly judge: (answer: HeardAnswer) => string | null;
}

const PLACE = {
  type: "object",
  properties: { place: { type: "string" } },
  required: ["place"],
  additionalProperties: false,
} as const;
const LOOK = {
  type: "function",
  name: "look_up_weather",
  description: "Tells the weather of one place.",
  output_schema: null,
  parameters: PLACE,
  strict: true,
} as const;
const CALL = { type: "function_call", call_id: "call_probe", name: LOOK.name, arguments: '{"place":"Oslo"}' } as const;
const OUTPUT = { type: "function_call_output", call_id: "call_probe", output: "Rain, 4 degrees." } as const;
const TIDE = {
  type: "object",
  properties: { sea: { type: "string", enum: ["north", "south"] }, metres: { type: "integer" } },
  required: ["sea", "metres"],
  additionalProperties: false,
} as const;
/** 64 by 64 pixels of red. */
const RED_PICTURE =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAT0lEQVR42u3PQQkAAAgEsItw/XMZyAi+hcEKLNO+FgEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQGBywIA1kDiMSZdXAAAAABJRU5ErkJggg==";
const FEW_TOKENS = 16;

const says = (content: string): Pick<ModelRequest, "items"> => ({
  items: [{ type: "message", role: "user", content }],
});
const wantsCall = (answer: HeardAnswer): string | null => {
  if (answer.calls.length === 0) return "it called no tool";
  return callsNamePlaces(answer) ? null : "the arguments of its call are not what the tool wants";
};
const wantsText = ({ text }: HeardAnswer): string | null => (text.trim() === "" ? "it said nothing" : null);

/** In order. Without the first, the others are useless. */
export const PROBES: readonly Probe[] = [
  {
    name: "an answer",
    fields: ["model", "input", "instructions", "input.message"],
    asks: { ...says("Say hello in one sentence."), instructions: "Answer briefly." },
    judge: wantsText,
  },
  {
    name: "a stream",
    fields: [],
    asks: says("Count from one to twenty in words."),
    judge: ({ textArrivals }) =>
      textArrivals > 1 ? null : "its text arrived at once, so clients see nothing until it ends",
  },
  {
    name: "usage in streams",
    fields: [],
    asks: says("Say yes."),
    judge: ({ hasUsage }) => (hasUsage ? null : "it sends no token counts, so they are estimated"),
  },
  {
    name: "tools",
    fields: ["tools", "tools.function", "tool_choice", "tool_choice.auto"],
    asks: { ...says("What is the weather in Oslo? Use the tool."), tools: [LOOK] },
    judge: wantsCall,
  },
  {
    name: "results of tools",
    fields: ["input.function_call", "input.function_call_output"],
    asks: {
      items: [{ type: "message", role: "user", content: "What is the weather in Oslo?" }, CALL, OUTPUT],
      tools: [LOOK],
    },
    judge: wantsText,
  },
  {
    name: "parallel tools",
    fields: ["parallel_tool_calls"],
    asks: { ...says("What is the weather in Oslo and in Rome? Call the tool for both at once."), tools: [LOOK] },
    judge: (answer) => (answer.calls.length > 1 ? wantsCall(answer) : "it called one tool at most"),
  },
  {
    name: "required tools",
    fields: ["tool_choice.required"],
    asks: { ...says("Say hello."), tools: [LOOK], toolChoice: "required" },
    judge: wantsCall,
  },
  {
    name: "a chosen tool",
    fields: ["tool_choice.function"],
    asks: { ...says("Say hello."), tools: [LOOK], toolChoice: { type: "function", name: LOOK.name } },
    judge: wantsCall,
  },
  {
    name: "JSON",
    fields: ["text.format.json_object"],
    asks: {
      ...says("Name a colour, as a JSON object."),
      text: { format: { type: "json_object" }, verbosity: "medium" },
    },
    judge: ({ text }) => (isRecord(jsonOrUndefined(text)) ? null : "its answer is no JSON object"),
  },
  {
    name: "strict JSON schema",
    fields: ["text.format.json_schema"],
    asks: {
      ...says("Describe a tide."),
      text: {
        format: { type: "json_schema", name: "tide", description: null, schema: TIDE, strict: true },
        verbosity: "medium",
      },
    },
    judge: ({ text }) => {
      const fits = ["north", "south"].includes(String(member(text, "sea"))) && Number.isInteger(member(text, "metres"));
      return fits ? null : "its answer does not fit the schema";
    },
  },
  {
    name: "images",
    fields: ["content.input_image"],
    asks: {
      items: [
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "Which colour is this picture? Answer with one word." },
            { type: "input_image", image_url: RED_PICTURE, detail: "auto" },
          ],
        },
      ],
    },
    judge: ({ text }) => (/\bred\b/i.test(text) ? null : "it did not see that the picture is red"),
  },
  {
    name: "reasoning",
    fields: ["reasoning", "reasoning.effort"],
    asks: { ...says("Is 91 a prime number?"), reasoning: { effort: "low", summary: null } },
    judge: ({ reasoning }) => (reasoning === "" ? "it shows no reasoning" : null),
  },
  {
    name: "log probabilities",
    fields: ["top_logprobs", "include.message.output_text.logprobs"],
    asks: { ...says("Say yes."), topLogprobs: 2 },
    judge: ({ hasLogprobs }) => (hasLogprobs ? null : "it sends none"),
  },
  {
    name: "a limit on the answer",
    fields: ["max_output_tokens"],
    asks: { ...says("Count from one to two hundred in words."), maxOutputTokens: FEW_TOKENS },
    judge: ({ end }) => (end === "length" ? null : "its answer did not end at the limit"),
  },
  {
    name: "sampling",
    fields: ["temperature", "top_p", "presence_penalty", "frequency_penalty"],
    asks: { ...says("Say yes."), temperature: 0.2, topP: 0.9, presencePenalty: 0.1, frequencyPenalty: 0.1 },
    judge: wantsText,
  },
];
