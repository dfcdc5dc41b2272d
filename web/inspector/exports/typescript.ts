import type { Members } from "../base/members.ts";

/** A program with the openai package of npm that sends the request, and reads a stream if that was asked for. */
export function typescriptCode(request: Members, { baseUrl, isStreamed }: { baseUrl: string; isStreamed: boolean }) {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${baseUrl}/v1", apiKey: process.env.ANTIPHON_API_KEY });

${isStreamed ? streamedCall(request) : plainCall(request)}`;
}

function streamedCall(request: Members): string {
  return `const stream = await client.responses.create(${literal({ ...request, stream: true })});
for await (const event of stream) {
  if (event.type === "response.output_text.delta" || event.type === "response.refusal.delta")
    process.stdout.write(event.delta);
  if (event.type === "response.output_item.done" && event.item.type === "function_call")
    console.log(event.item.name, event.item.arguments);
}
`;
}

function plainCall(request: Members): string {
  return `const response = await client.responses.create(${literal(request)});
for (const item of response.output) {
  if (item.type === "message")
    for (const part of item.content) process.stdout.write(part.type === "output_text" ? part.text : part.refusal);
  if (item.type === "function_call") console.log(item.name, item.arguments);
}
`;
}

/** JSON with names as people write them. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");
}
