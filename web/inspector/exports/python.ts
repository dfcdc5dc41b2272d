import { isMembers, type Members } from "../base/members.ts";

/** A program with the openai package of PyPI that sends the request. */
export function pythonCode(request: Members, baseUrl: string): string {
  const settings = Object.entries(request).map(([name, value]) => `    ${name}=${literal(value, "    ")},\n`);
  return `import os

from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["ANTIPHON_API_KEY"])

stream = client.responses.create(
${settings.join("")}    stream=True,
)
for event in stream:
    if event.type == "response.output_text.delta":
        print(event.delta, end="", flush=True)
`;
}

function literal(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((member) => `${inner}${literal(member, inner)},\n`).join("")}${indent}]`;
  }
  if (!isMembers(value)) return JSON.stringify(value);
  const members = Object.entries(value);
  if (members.length === 0) return "{}";
  return `{\n${members.map(([name, member]) => `${inner}${JSON.stringify(name)}: ${literal(member, inner)},\n`).join("")}${indent}}`;
}
