/** The commands of `antiphon`, each with a clause of help. */
export const COMMANDS = {
  serve: "start the Responses API and the speech-to-text server of this machine (default)",
  keys: "create, list and revoke API keys",
  runs: "list, show and follow stored responses",
  search: "fetch the model for search by meaning; put a folder into a vector store and keep it in step",
  pull: "fetch a small language model, or another one, that this server runs itself",
  models: "list model servers, model names and what they lead to, and fetched models",
  mcp: "list MCP servers of MCP_SERVERS_FILE; log in at those that need OAuth",
  code: "make a Python with packages for code_interpreter",
  doctor: "look at this machine, and test what model and MCP servers can do",
  backup: "copy the database, files and keys while servers run",
  restore: "restore a backup",
  migrate: "update the tables of the database",
  "rotate-seal-key": "add a new first key to DATA_DIR/seal-key",
  "lint-stream": "check a stream of any Responses API",
  "stt-cloud": "start only the cloud stream of speech to text, with the same keys",
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
