import { spawnSync } from "node:child_process";
import { isRecord } from "../records.fixture.ts";

/** Findings about notation only: oasdiff matches branches of unions by name or position. */
const ABOUT_WRITING = /one-of|any-of|all-of|became-nullable|list-of-types|type-changed|const-added|default-value-added/;
const NOT_ALWAYS_SENT = "response-optional-property-removed";
const MEMBER_LOST = "response-required-property-removed";

/** The other findings of oasdiff, with the reason for each. */
export const OASDIFF_EXCEPTIONS: Readonly<Record<string, string>> = {
  "request-body-became-required": "without a body a required member is missing",
  "request-parameter-max-set query limit 100.00": "the reference says so in words",
  "request-parameter-max-set query limit 10000.00": "the reference says so in words",
  "request-parameter-min-set query limit 1.00": "the reference says so in words",
  "request-parameter-min-set query starting_after 0.00": "events are numbered from 0",
  "request-property-enum-value-removed created_at expires_after/anchor": "written as a const",
  "request-property-enum-value-removed auto truncation": "written as a union with null here",
  "request-property-enum-value-removed disabled truncation": "written as a union with null here",
  "request-property-max-length-set prompt_cache_key 64": "written as a union with null there",
  "request-property-max-length-set personality 64": "the reference says so in words",
  "request-property-min-items-increased items 1": "no items are nothing to add",
  "request-property-property-names-added metadata/anyOf[#/components/schemas/Metadata]/":
    "the reference says so in words",
  "response-media-type-removed application/json 200": "a file is sent as what it is",
  "response-property-enum-value-added evals data/items/purpose 200": "newer, in the official SDK",
  "response-property-enum-value-added evals purpose 200": "newer, in the official SDK",
  [`${MEMBER_LOST} code 404`]: "the reference sends its error object inside of error",
  [`${MEMBER_LOST} message 404`]: "the reference sends its error object inside of error",
  [`${MEMBER_LOST} param 404`]: "the reference sends its error object inside of error",
  [`${MEMBER_LOST} type 404`]: "the reference sends its error object inside of error",
};

/**
 * Runs oasdiff on two contracts and returns its breaking changes in these operations (such as `POST /responses`): the
 * rule and the names in its message.
 */
export function findBreakingChanges(
  program: string,
  { reference, ours, prefix, operations }: { reference: string; ours: string; prefix: string; operations: string[] },
): string[] {
  const { stdout, stderr, status } = spawnSync(
    program,
    ["breaking", "--prefix-base", prefix, "--format", "json", reference, ours],
    { encoding: "utf8", maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
  );
  if (status !== 0) throw new Error(`${program} exited with ${status}: ${stderr}`);
  const changes: unknown = JSON.parse(stdout);
  if (!Array.isArray(changes)) throw new Error(`${program} did not print a list`);
  const found = changes.filter(isRecord).flatMap(({ id, text, operation, path }) => {
    const place = `${operation} ${String(path).slice(prefix.length)}`;
    const isNoFault = ABOUT_WRITING.test(String(id)) || id === NOT_ALWAYS_SENT;
    return isNoFault || !operations.includes(place) ? [] : [`${id} ${namesIn(String(text))}`.trim()];
  });
  return [...new Set(found)];
}

/** Returns the text between backticks. */
function namesIn(text: string): string {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name]) => name).join(" ");
}
