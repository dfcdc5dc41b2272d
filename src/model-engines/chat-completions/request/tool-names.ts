import { createHash } from "node:crypto";

/** Chat-completions servers accept tool names of `[A-Za-z0-9_-]` up to this length. */
const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/** The tool a client knows, behind the name a model server was given for it. */
export interface CalledTool {
  readonly kind: "function" | "custom" | "tool_search";
  readonly name: string;
  readonly namespace: string | null;
}

/** The reversible map between tools and the flat names under which a model server sees them. */
export class ToolNames {
  readonly #tools = new Map<string, CalledTool>();

  /** Registers a tool and gives its flat name back. */
  add(tool: CalledTool): string {
    const flat = flatName(tool.namespace, tool.name);
    const taken = this.#tools.get(flat);
    const free =
      taken === undefined || sameTool(taken, tool) ? flat : shortened(`${flat}_${tool.namespace ?? ""}`, flat);
    this.#tools.set(free, tool);
    return free;
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** A name nobody registered is a function that the model made up; the client decides what to say to that. */
  resolve(name: string): CalledTool {
    return this.#tools.get(name) ?? { kind: "function", name, namespace: null };
  }
}

/**
 * Depends on nothing but its arguments, so that calls in history keep their names even when their tool is gone.
 * A tool that joined in has a namespace of its own name, which tells the model nothing.
 */
export function flatName(namespace: string | null | undefined, name: string): string {
  const isPlain = namespace === null || namespace === undefined || namespace === "" || namespace === name;
  const whole = isPlain ? name : `${namespace}__${name}`;
  const plain = whole.replaceAll(/[^A-Za-z0-9_-]/g, "_");
  return plain.length <= NAME_CHARS_MAX ? plain : shortened(whole, plain);
}

function shortened(whole: string, plain: string): string {
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, HASH_CHARS);
  return `${plain.slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)}_${hash}`;
}

function sameTool(one: CalledTool, other: CalledTool): boolean {
  return one.name === other.name && one.namespace === other.namespace;
}
