import { invalidInput } from "../model-server/errors/model-errors.ts";
import { textOrNull } from "../model-server/json-values.ts";
import type { ToolNames } from "./tool-names.ts";

/** Index from the names in a tool choice to flat names. Avoids quadratic time, because both lists can be long. */
export class NamedTools {
  readonly #byName = new Map<string, string[]>();
  readonly #results = new Set<readonly string[]>();

  constructor(flats: readonly string[], names: ToolNames) {
    for (const flat of flats) {
      const { kind, name, namespace } = names.resolve(flat);
      if (kind === "hosted") {
        this.#add(hostedKey(namespace, name), flat);
        continue;
      }
      this.#add(`${kind} ${name}`, flat);
      if (namespace !== null) this.#add(`namespace ${namespace}`, flat);
    }
  }

  /**
   * The flat names for an entry: one tool, or all tools of a namespace. Empty if the entry was looked up before. Throws
   * `ModelError` if no tool matches.
   */
  find(entry: Readonly<Record<string, unknown>>): readonly string[] {
    const label = textOrNull(entry["name"]) ?? textOrNull(entry["server_label"]) ?? String(entry["type"]);
    const type = String(entry["type"]);
    const key = type === "hosted_function" ? hostedKey(textOrNull(entry["server"]), label) : `${type} ${label}`;
    const matches = this.#byName.get(key);
    if (matches === undefined)
      throw invalidInput(`Tool choice '${label}' not found in 'tools' parameter.`, "tool_choice");
    if (this.#results.has(matches)) return [];
    this.#results.add(matches);
    return matches;
  }

  #add(key: string, flat: string): void {
    const flats = this.#byName.get(key);
    if (flats === undefined) this.#byName.set(key, [flat]);
    else flats.push(flat);
  }
}

function hostedKey(server: string | null, name: string): string {
  return `hosted_function ${JSON.stringify([server, name])}`;
}
