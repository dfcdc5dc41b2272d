import { parse } from "yaml";

/** One entry of specs/requirements.yaml. */
export interface Requirement {
  readonly id: string;
  readonly source: string;
  readonly text: string;
  /** The part of the server that it waits for; null if that is built. */
  readonly awaits: string | null;
  /** The environment variables and programs without which its tests are skipped. */
  readonly needs: readonly string[];
}

const ID = /^[a-z0-9-]+(\.[a-z0-9-]+){2}$/;
const PART = /^[a-z0-9-]+$/;
const NEEDS = /^(?:[A-Z0-9_]+|[a-z0-9-]+)(?: (?:[A-Z0-9_]+|[a-z0-9-]+))*$/;

/** Parses the list. Throws on an invalid or repeated entry. */
export function parseRequirements(yaml: string): Requirement[] {
  const entries: unknown = parse(yaml);
  if (!Array.isArray(entries)) throw new Error("The requirements are not a list.");
  const seen = new Set<string>();
  return entries.map((entry: unknown, index) => {
    const requirement = parseRequirement(entry, index);
    if (seen.has(requirement.id)) throw new Error(`Two requirements have the id ${requirement.id}.`);
    seen.add(requirement.id);
    return requirement;
  });
}

function parseRequirement(entry: unknown, index: number): Requirement {
  const place = `Requirement ${index + 1}`;
  if (typeof entry !== "object" || entry === null) throw new Error(`${place} is not an object.`);
  const members = new Map<string, unknown>(Object.entries(entry));
  const [id, source, text] = ["id", "source", "text"].map((name) => members.get(name));
  if (typeof id !== "string" || !ID.test(id)) throw new Error(`${place} has no id of the form area.topic.behaviour.`);
  if (typeof source !== "string" || typeof text !== "string") throw new Error(`${id} lacks its source or its text.`);
  const word = (name: string, form: RegExp): string | null => {
    const value = members.get(name) ?? null;
    if (value === null || (typeof value === "string" && form.test(value))) return value;
    throw new Error(`${id} has a broken ${name}.`);
  };
  return { id, source, text, awaits: word("awaits", PART), needs: word("needs", NEEDS)?.split(" ") ?? [] };
}
