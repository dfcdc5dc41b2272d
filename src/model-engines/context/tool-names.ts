import { createHash } from "node:crypto";

/** Chat-completions servers accept tool names of up to 64 characters in `[A-Za-z0-9_-]`. */
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/** A tool as named by the client, or by the server that runs it. */
export interface CalledTool {
  readonly kind: "function" | "custom" | "tool_search" | "hosted";
  readonly name: string;
  /** For a hosted function: its server. */
  readonly namespace: string | null;
}

/** Translates between tools and the flat names that the model server gets. */
export class ToolNames {
  readonly #tools = new Map<string, CalledTool>();

  /** Registers a tool and returns its flat name. The first one keeps its plain name. */
  add(tool: CalledTool): string {
    const free = this.nameOf(tool);
    this.#tools.set(free, tool);
    return free;
  }

  /** The flat name that `add` would give a tool. */
  nameOf(tool: CalledTool): string {
    const flat = flatName(tool.namespace, tool.name);
    const holder = this.#tools.get(flat);
    return holder === undefined || sameTool(holder, tool) ? flat : shortName(distinctName(tool, flat), flat);
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** The tool of a flat name. The model invented an unknown name, which is passed to the client as a function. */
  resolve(name: string): CalledTool {
    return this.#tools.get(name) ?? { kind: "function", name, namespace: null };
  }
}

/**
 * Depends only on its arguments, so that calls in the history keep their names even if their tool is gone. The
 * namespace of a tool added by an input item, which equals its name, is left out.
 */
export function flatName(namespace: string | null | undefined, name: string): string {
  const isPlain = namespace === null || namespace === undefined || namespace === "" || namespace === name;
  const whole = isPlain ? name : `${namespace}__${name}`;
  const plain = whole.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return plain.length <= NAME_CHARS_MAX ? plain : shortName(whole, plain);
}

function shortName(whole: string, plain: string): string {
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, HASH_CHARS);
  return `${plain.slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)}_${hash}`;
}

function sameTool(one: CalledTool, other: CalledTool): boolean {
  return one.kind === other.kind && one.name === other.name && one.namespace === other.namespace;
}

/** A text that is unique among tools with the same flat name. */
function distinctName({ kind, name, namespace }: CalledTool, flat: string): string {
  return kind === "hosted" ? `hosted ${namespace ?? ""} ${name}` : `${flat}_${namespace ?? ""}`;
}
