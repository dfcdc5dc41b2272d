// Lets a model call functions of this program until it has its answer. OPENAI_BASE_URL and OPENAI_API_KEY name the server.
import OpenAI from "openai";
import type { ResponseInputItem } from "openai/resources/responses/responses";

const TURNS_MAX = 5;
const WEATHER = new Map([
  ["Paris", "18 degrees and sunny"],
  ["Oslo", "4 degrees and rain"],
]);

const client = new OpenAI();
const model = process.env["MODEL"] ?? "antiphon-built-in";
const tools: OpenAI.Responses.FunctionTool[] = [
  {
    type: "function",
    name: "get_weather",
    description: "Tells the weather in a city.",
    parameters: {
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
    strict: true,
  },
];

let response = await client.responses.create({
  model,
  tools,
  input: process.argv[2] ?? "What is the weather in Paris?",
});
for (let turn = 0; turn < TURNS_MAX; turn++) {
  const outputs: ResponseInputItem[] = [];
  for (const item of response.output) {
    if (item.type !== "function_call") continue;
    const { city }: { city?: string } = JSON.parse(item.arguments);
    console.log(`${item.name}(${city})`);
    const output = WEATHER.get(city ?? "") ?? "unknown";
    outputs.push({ type: "function_call_output", call_id: item.call_id, output });
  }
  if (outputs.length === 0) break;
  response = await client.responses.create({ model, tools, previous_response_id: response.id, input: outputs });
}
console.log(response.output_text);
