#!/usr/bin/env node
import { resolve } from "node:path";
import { UnusableFolder } from "@antiphon/base/files/make-folder.ts";
import { ScenarioError } from "@antiphon/built-in-model/scenario-error.ts";
import { CodeSetupError } from "./commands/code/code-setup-error.ts";
import { fitText } from "./commands/fitted-text.ts";
import { KeysCommandError } from "./commands/keys-command-error.ts";
import { McpCommandError } from "./commands/mcp/mcp-command-error.ts";
import { MisusedCommand } from "./commands/misused-command.ts";
import { readCommandLine } from "./config/command-line.ts";
import { commandHelp } from "./config/commands.ts";
import { ConfigError } from "./config/config-error.ts";
import { helpText } from "./config/describe-settings.ts";
import { readEnvironment } from "./config/environment/read-environment.ts";
import { type Environment, loadConfig } from "./config/load-config.ts";
import { isForked } from "./processes/joined-process.ts";
import { makeDataFolders } from "./servers/data-folders.ts";
import { DatabaseError } from "./servers/database-error.ts";
import { BackupError } from "./store/backup/backup-error.ts";

const FAILURE_EXIT_CODE = 1;
const USAGE_EXIT_CODE = 2;
const DATABASE_EXIT_CODE = 3;

/** The failed system call if an address cannot be used. Each of several processes calls bind. */
const LISTEN_CALLS: ReadonlySet<unknown> = new Set(["listen", "bind"]);

const VERSION_WORDS: ReadonlySet<string> = new Set(["--version", "-v", "-V", "version"]);

/** The beginning of file errors that an operator can fix, as Node writes them, and the path at the end. */
const FILE_FAULT = /^(?:EACCES|EPERM|EROFS|ENOTDIR|ENOENT|EISDIR|ENOSPC): ([^,]+), \w+ '(.+)'$/;

const OTHER_PLACES = "DATA_DIR (--data-dir) and DATABASE_FILE select other places.";

const ROTATED_IN_SETTING =
  "SEAL_KEYS holds the keys, so add a new key there: first at the end on all servers, so that they can open data sealed with it, then move it to the front.";

/** Keys and lists go to stdout, so that scripts can read them; notes go to stderr. */
const OUTPUTS = { print: console.log, note: console.error };

const [first = "", ...others] = process.argv.slice(2);
await run().catch(exitWithError);

/** Each command imports only its own modules, because loading a server takes a second. */
async function run(): Promise<void> {
  if (await explains()) return;
  if (first === "keys") {
    const { runKeysCommand } = await import("./commands/keys-command.ts");
    return runKeysCommand(others, readEnvironment(), OUTPUTS);
  }
  if (first === "migrate") {
    const { runMigrate } = await import("./commands/migrate-command.ts");
    return console.log(await runMigrate(readEnvironment(), others));
  }
  if (first === "backup") {
    const { runBackup } = await import("./commands/backup-command.ts");
    return runBackup(others, readEnvironment(), OUTPUTS, endingSignal("Interrupted: no backup was made."));
  }
  if (first === "restore") {
    const { runRestore } = await import("./commands/backup-command.ts");
    return runRestore(others, readEnvironment(), OUTPUTS);
  }
  if (first === "lint-stream") {
    const { runLintStream } = await import("./commands/lint-stream-command.ts");
    process.exitCode = await runLintStream(others, readEnvironment(), { ...OUTPUTS, stdin: process.stdin });
    return;
  }
  if (first === "doctor") {
    const { runDoctor } = await import("./commands/doctor-command.ts");
    process.exitCode = await runDoctor(others, readEnvironment(), { ...OUTPUTS, isTerminal: process.stdout.isTTY });
    return;
  }
  if (first === "code") {
    const { runCodeCommand } = await import("./commands/code/code-command.ts");
    const outputs = { ...OUTPUTS, progress: process.stderr };
    return runCodeCommand(others, readEnvironment(), outputs, endingSignal("Interrupted. Run it again to go on."));
  }
  if (first === "pull") return runPull();
  if (first === "models") {
    const { runModelsCommand } = await import("./commands/models-command.ts");
    return runModelsCommand(others, readEnvironment(), OUTPUTS);
  }
  if (first === "mcp") return runMcp();
  if (first === "search") {
    const { runSearchCommand } = await import("./commands/search/search-command.ts");
    const outputs = { ...OUTPUTS, progress: process.stderr };
    const signal = others[0] === "add" ? interruptSignal() : endingSignal("Interrupted. Run it again to go on.");
    process.exitCode = await runSearchCommand(others, readEnvironment(), outputs, signal);
    return;
  }
  if (first === "runs") {
    const { runRunsCommand } = await import("./commands/runs-command.ts");
    const outputs = { ...OUTPUTS, columns: process.stdout.isTTY ? process.stdout.columns : null };
    process.exitCode = await runRunsCommand(others, readEnvironment(), outputs, interruptSignal());
    return;
  }
  if (first === "rotate-seal-key") return rotate();
  if (first === "stt-cloud") {
    const { serveCloud } = await import("./commands/serve.ts");
    return serveCloud(readEnvironment(), others);
  }
  return serve(readEnvironment(), first === "serve" ? others : process.argv.slice(2));
}

async function runPull(): Promise<void> {
  const { runPullCommand } = await import("./commands/pull/pull-command.ts");
  const outputs = { ...OUTPUTS, progress: process.stderr, input: process.stdin };
  const signal = endingSignal("Interrupted. Run it again to go on.");
  process.exitCode = await runPullCommand(others, readEnvironment(), outputs, signal);
}

async function runMcp(): Promise<void> {
  const { runMcpCommand } = await import("./commands/mcp/mcp-command.ts");
  return runMcpCommand(others, readEnvironment(), OUTPUTS, endingSignal("Interrupted: nothing has changed."));
}

/** Prints the version or the help if requested. Commands with arguments of their own print their own help. */
async function explains(): Promise<boolean> {
  if (VERSION_WORDS.has(first)) {
    const { programVersion } = await import("./version/program-version.ts");
    console.log(programVersion());
    return true;
  }
  const ofCommand = commandHelp(first);
  const isServing = first === "" || first === "serve" || first.startsWith("-");
  if (first !== "help" && ofCommand === null && !isServing) return false;
  if (first !== "help" && !readCommandLine(isServing ? process.argv.slice(2) : others).wantsHelp) return false;
  console.log(fitText(ofCommand ?? helpText(), process.stdout));
  return true;
}

/** Serves both interfaces. With several processes, the first starts the others and loads no server. */
async function serve(environment: Environment, argv: readonly string[]): Promise<void> {
  const config = loadConfig(environment, argv);
  makeDataFolders(config); // Before the server is loaded, which takes a second.
  if (config.processes > 1 && !isForked()) {
    const { serveProcesses } = await import("./commands/serve-processes.ts");
    return serveProcesses(environment, config);
  }
  const { serveBoth } = await import("./commands/serve.ts");
  return serveBoth(environment, argv);
}

/** Aborts when the user interrupts a command, which then ends by itself. */
function interruptSignal(): AbortSignal {
  const interruption = new AbortController();
  process.once("SIGINT", () => interruption.abort());
  return interruption.signal;
}

/** Aborts when this process is told to end; the process then ends. */
function endingSignal(message: string): AbortSignal {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      ending.abort();
      console.error(message);
      process.exit(FAILURE_EXIT_CODE);
    });
  return ending.signal;
}

async function rotate(): Promise<void> {
  const { rotateSealKey } = await import("./secrets/seal-keys.ts");
  const { dataDir, sealKeys } = loadConfig(readEnvironment(), others);
  if (sealKeys.length > 0) throw new ConfigError([ROTATED_IN_SETTING]);
  const count = rotateSealKey(dataDir);
  console.log(
    `Added a key to ${count - 1} older. It seals from the next start on; older keys still open what they sealed. Running servers read the new key by themselves.`,
  );
}

/** Prints one sentence for an error that an operator can fix, and the stack of any other error. */
function exitWithError(error: unknown): never {
  if (error instanceof ConfigError || error instanceof MisusedCommand) {
    console.error(error.message);
    process.exit(USAGE_EXIT_CODE);
  }
  if (error instanceof DatabaseError) {
    console.error(error.message);
    process.exit(DATABASE_EXIT_CODE);
  }
  if (error instanceof UnusableFolder) {
    console.error(`${error.message} ${OTHER_PLACES}`);
    process.exit(FAILURE_EXIT_CODE);
  }
  const isPlain = [ScenarioError, KeysCommandError, BackupError, CodeSetupError, McpCommandError].some(
    (plain) => error instanceof plain,
  );
  console.error(isPlain && error instanceof Error ? error.message : (listenFault(error) ?? fileFault(error) ?? error));
  process.exit(FAILURE_EXIT_CODE);
}

function listenFault(error: unknown): string | null {
  if (!(error instanceof Error && "syscall" in error && LISTEN_CALLS.has(error.syscall))) return null;
  return `Cannot serve: ${error.message}. ${first === "stt-cloud" ? "STT_CLOUD_HOST and STT_CLOUD_PORT" : "HOST, PORT and STT_PORT"} select other addresses.`;
}

function fileFault(error: unknown): string | null {
  const [, fault, path] = FILE_FAULT.exec(error instanceof Error ? error.message : "") ?? [];
  if (fault === undefined || path === undefined) return null;
  return `Cannot use ${resolve(path)}: ${fault}. ${OTHER_PLACES}`;
}
