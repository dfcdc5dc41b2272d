import { JsonStrings } from "../../base/json/json-strings.ts";
import type { CallWriter } from "../../responses-api/hosted-tool.ts";
import type { HostedItemEvent } from "../../runs/ports.ts";

/** Levels of the arguments that hold the commands. */
const LEVELS = 2;

/** Shows the commands of a call whose item has begun, while the model writes them. */
export class CommandsWriter implements CallWriter {
  readonly #strings = new JsonStrings(LEVELS);
  readonly #commands: string[] = [];
  #command = "";

  /** The commands that were shown whole. */
  get commands(): readonly string[] {
    return this.#commands;
  }

  add(piece: string): readonly HostedItemEvent[] {
    return this.#strings.add(piece).flatMap(({ path, text, isWhole }): HostedItemEvent[] => {
      if (path.length !== LEVELS || path[0] !== "commands") return [];
      this.#command += text;
      const delta: HostedItemEvent = { type: "item_delta", text };
      if (!isWhole) return [delta];
      this.#commands.push(this.#command);
      this.#command = "";
      return [delta, { type: "item_written" }];
    });
  }
}
