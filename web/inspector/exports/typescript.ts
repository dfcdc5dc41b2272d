import type { Members } from "../base/members.ts";

/** A program with the openai package of npm that sends the request. */
export function typescriptCode(request: Members, baseUrl: string): string {
  return `import OpenAI from "openai";

const client = new OpenAI({ baseURL: "${baseUrl}/v1", apiKey: process.env.ANTIPHON_API_KEY });

const stream = await client.responses.create(${literal({ ...request, stream: true })});
for await (const event of stream) {
  if (event.type === "response.output_text.delta" || event.type === "response.refusal.delta")
    process.stdout.write(event.delta);
  if (event.type === "response.output_item.done" && event.item.type === "function_call")
    console.log(event.item.name, event.item.arguments);
}
`;
}

/** JSON with names as people write them. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");
}
