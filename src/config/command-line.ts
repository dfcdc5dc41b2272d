import { parseArgs } from "node:util";
import { nearestWord } from "@antiphon/base/nearest-word.ts";
import { COMMANDS, type CommandName } from "./commands.ts";
import type { Setting } from "./setting.ts";
import { SETTINGS } from "./settings.ts";

export interface CommandLine {
  readonly wantsHelp: boolean;
  /** Values as written, keyed by the names of their environment variables. */
  readonly flags: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/**
 * The flag of a setting: `--model-base-url` for `MODEL_BASE_URL`. Null for secrets, because other users of the machine
 * can read command lines.
 */
export function flagOf(setting: Setting): string | null {
  if (setting.kind === "secret" || setting.kind === "secrets") return null;
  return setting.name.toLowerCase().replaceAll("_", "-");
}

/** Commands of other programs, and their names here. */
const OTHER_WORDS: ReadonlyMap<string, CommandName> = new Map([
  ["dev", "serve"],
  ["run", "serve"],
  ["start", "serve"],
  ["up", "serve"],
]);

/** Parses `--flag value`, `--flag=value`, and a bare `--flag` for booleans. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const settings = Object.values<Setting>(SETTINGS);
  const byFlag = new Map(settings.map((setting) => [flagOf(setting), setting]));
  const { tokens } = parseArgs({ args: [...argv], options: optionsOf(settings), strict: false, tokens: true });
  const flags = new Map<string, string>();
  const problems: string[] = [];
  let wantsHelp = false;
  let bare: Setting | "unknown" | null = null; // The previous token, if it was a flag that may still get a value.
  for (const token of tokens) {
    const before: Setting | "unknown" | null = bare;
    bare = null;
    if (token.kind === "option-terminator") continue;
    const setting = token.kind === "option" ? byFlag.get(token.name) : undefined;
    if (token.kind === "positional") {
      if (before === "unknown") continue; // Most likely the value of the unknown flag.
      if (before === null) problems.push(strayArgument(token.index, token.value));
      else flags.set(before.name, token.value);
    } else if (token.name === "help" || token.name === "h") wantsHelp = true;
    else if (setting === undefined) {
      problems.push(unknownFlag(token.name, token.rawName, byFlag));
      if (token.value === undefined) bare = "unknown";
    } else if (token.value !== undefined && !token.value.startsWith("--")) flags.set(setting.name, token.value);
    else if (setting.kind === "boolean") {
      flags.set(setting.name, "true");
      bare = setting;
    } else problems.push(`${token.rawName} has no value.`);
  }
  return { wantsHelp, flags, problems };
}

/** Does not repeat the argument, which may be a secret whose flag is missing. */
function strayArgument(index: number, argument: string): string {
  const command = index === 0 ? (OTHER_WORDS.get(argument) ?? nearestWord(argument, Object.keys(COMMANDS))) : null;
  return `Argument ${index + 1} is not a flag${index === 0 ? " or a command" : ""}.${command === null ? "" : ` Did you mean ${command}?`}`;
}

function unknownFlag(name: string, argument: string, byFlag: ReadonlyMap<string | null, Setting>): string {
  const variable = name.toUpperCase().replaceAll("-", "_");
  const setting = Object.values<Setting>(SETTINGS).find((each) => each.name === variable);
  if (setting !== undefined && flagOf(setting) === null)
    return `${argument} is not a flag: ${variable} is a secret, and other users can read command lines. Set it in the environment or in .env.`;
  const flag = nearestWord(
    name,
    [...byFlag.keys()].filter((each) => each !== null),
  );
  return `${argument} is not a setting.${flag === null ? " --help lists them." : ` Did you mean --${flag}?`}`;
}

function optionsOf(settings: readonly Setting[]): Record<string, { type: "string" | "boolean" }> {
  const options: Record<string, { type: "string" | "boolean" }> = { help: { type: "boolean" }, h: { type: "boolean" } };
  for (const setting of settings) {
    const flag = flagOf(setting);
    if (flag !== null) options[flag] = { type: setting.kind === "boolean" ? "boolean" : "string" };
  }
  return options;
}
