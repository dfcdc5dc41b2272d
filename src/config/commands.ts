/** What can be typed after `antiphon`, and a clause that says what it does. */
export const COMMANDS = {
  serve: "serves the Responses API, and speech to text for this machine; what happens without a command, too",
  keys: "makes, lists and revokes API keys",
  runs: "lists, shows and follows stored responses",
  doctor: "asks a model server what it can do",
  backup: "copies the database, files and keys while servers run",
  restore: "brings a backup back",
  migrate: "brings the tables of the database up to date",
  "rotate-seal-key": "puts a new key before those in DATA_DIR/seal-key",
  "lint-stream": "judges a stream of any Responses API",
  "stt-cloud": "serves the cloud stream of speech to text alone, for the same keys",
} as const;

export type CommandName = keyof typeof COMMANDS;

/** Commands whose arguments are settings only. The others print a help of their own. */
const OF_SETTINGS = ["migrate", "rotate-seal-key", "stt-cloud"] as const satisfies readonly CommandName[];

/** The text of `antiphon COMMAND --help`; null for commands that print their own. */
export function commandHelp(name: string): string | null {
  const command = OF_SETTINGS.find((one) => one === name);
  if (command === undefined) return null;
  const what = COMMANDS[command];
  const sentence = `${what.charAt(0).toUpperCase()}${what.slice(1)}.`;
  return `Usage: antiphon ${command} [--setting value]...\n\n${sentence}\n\nSettings are flags, environment variables or lines of .env. antiphon --help lists them.`;
}
