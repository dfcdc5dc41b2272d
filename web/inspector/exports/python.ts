import { isMembers, type Members } from "../base/members.ts";

/** Members that the method of the package has no argument for. */
const UNKNOWN_TO_PACKAGE: ReadonlySet<string> = new Set(["presence_penalty", "frequency_penalty"]);

/** A program with the openai package of PyPI that sends the request, and reads a stream if that was asked for. */
export function pythonCode(request: Members, { baseUrl, isStreamed }: { baseUrl: string; isStreamed: boolean }) {
  const isKnown = ([name]: readonly [string, unknown]): boolean => !UNKNOWN_TO_PACKAGE.has(name);
  const members = Object.entries(request);
  const more = members.filter((member) => !isKnown(member));
  const given = [
    ...members.filter(isKnown),
    ...(more.length === 0 ? [] : [["extra_body", Object.fromEntries(more)] as const]),
  ];
  const settings = given.map(([name, value]) => `    ${name}=${literal(value, "    ")},\n`);
  return `import os

from openai import OpenAI

client = OpenAI(base_url="${baseUrl}/v1", api_key=os.environ["ANTIPHON_API_KEY"])

${isStreamed ? streamedCall(settings.join("")) : plainCall(settings.join(""))}`;
}

function streamedCall(settings: string): string {
  return `stream = client.responses.create(
${settings}    stream=True,
)
for event in stream:
    if event.type in ("response.output_text.delta", "response.refusal.delta"):
        print(event.delta, end="", flush=True)
    if event.type == "response.output_item.done" and event.item.type == "function_call":
        print(event.item.name, event.item.arguments)
`;
}

function plainCall(settings: string): string {
  return `response = client.responses.create(
${settings})
for item in response.output:
    if item.type == "message":
        for part in item.content:
            print(part.text if part.type == "output_text" else part.refusal, end="")
    if item.type == "function_call":
        print(item.name, item.arguments)
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
