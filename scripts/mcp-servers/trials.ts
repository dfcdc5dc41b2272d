import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CHROMIUM } from "../../tests/chromium.ts";
import type { GuardedEntry } from "./guarded-server.ts";
import { npmFile, olderPythonProgram, pythonProgram } from "./installed-servers.ts";

/** A call of a tool, and what its output must have. */
export interface TrialStep {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly output: RegExp;
}

/** A program of others, and calls of it within one response. */
export interface Trial {
  readonly label: string;
  /** Throws with the reason if it cannot be had here. */
  readonly entry: () => ProgramEntry | GuardedEntry;
  readonly steps: readonly TrialStep[];
}

/** An entry of MCP_SERVERS_FILE. */
export interface ProgramEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * `folder`: a new folder for their files. `page`: the address of a page that says `Herons wait.` `guarded`: a server
 * that needs OAuth.
 */
export function trialsIn(folder: string, page: string, guarded: GuardedEntry): readonly Trial[] {
  return [
    ...nodeTrials(folder),
    ...pythonTrials(folder, page),
    browserTrial(folder, page),
    {
      label: "oauth",
      entry: () => guarded,
      steps: [step("count", {}, /^1 with 1 tokens/), step("count", {}, /^2 with 2 tokens/)],
    },
  ];
}

function nodeTrials(folder: string): readonly Trial[] {
  const files = join(folder, "files");
  mkdirSync(files);
  return [
    {
      label: "filesystem",
      entry: () => nodeProgram("@modelcontextprotocol/server-filesystem/dist/index.js", files),
      steps: [
        step("write_file", { path: join(files, "a.txt"), content: "Herons wait." }, /Successfully wrote/),
        step("list_directory", { path: files }, /\[FILE\] a\.txt/),
        step("read_text_file", { path: join(files, "a.txt") }, /^Herons wait\.$/m),
      ],
    },
    {
      label: "memory",
      entry: () => ({
        ...nodeProgram("@modelcontextprotocol/server-memory/dist/index.js"),
        environment: { MEMORY_FILE_PATH: join(folder, "memory.json") },
      }),
      steps: [
        step(
          "create_entities",
          { entities: [{ name: "Heron", entityType: "bird", observations: ["waits"] }] },
          /Heron/,
        ),
        step("search_nodes", { query: "waits" }, /"name": "Heron"/),
      ],
    },
    {
      label: "sequential-thinking",
      entry: () => nodeProgram("@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
      steps: [1, 2].map((number) =>
        step(
          "sequentialthinking",
          { thought: "Herons wait.", thoughtNumber: number, totalThoughts: 2, nextThoughtNeeded: number < 2 },
          new RegExp(`"thoughtHistoryLength": ${number}`),
        ),
      ),
    },
    {
      label: "everything",
      entry: () => nodeProgram("@modelcontextprotocol/server-everything/dist/index.js", "stdio"),
      steps: [
        step("echo", { message: "Herons wait." }, /Echo: Herons wait\./),
        step("get-tiny-image", {}, /\[image\/png, \d+ (?:bytes|kB)\]/),
        step("get-resource-links", { count: 1 }, /demo:\/\/resource\/dynamic\//),
        step("read_resource", { uri: "demo://resource/dynamic/text/1" }, /plaintext resource/),
      ],
    },
  ];
}

function pythonTrials(folder: string, page: string): readonly Trial[] {
  const repository = join(folder, "repository");
  mkdirSync(repository);
  return [
    {
      label: "git",
      entry: () => {
        makeRepository(repository);
        return { command: pythonProgram("mcp-server-git"), args: ["--repository", repository] };
      },
      steps: [
        step("git_log", { repo_path: repository, max_count: 1 }, /Watch herons/),
        step("git_status", { repo_path: repository }, /b\.txt/),
      ],
    },
    {
      label: "time",
      entry: () => ({ command: pythonProgram("mcp-server-time"), args: ["--local-timezone", "UTC"] }),
      steps: [
        step(
          "convert_time",
          { source_timezone: "UTC", time: "12:00", target_timezone: "Asia/Tokyo" },
          /T21:00:00\+09:00/,
        ),
      ],
    },
    {
      label: "fetch",
      entry: () => {
        const command = pythonProgram("mcp-server-fetch");
        // With Node in its path it installs packages of npm within its first call.
        return { command, args: ["--allow-private-ips"], environment: { PATH: dirname(command) } };
      },
      steps: [step("fetch", { url: page }, /Herons wait\./)],
    },
    {
      label: "sqlite",
      entry: () => ({
        command: olderPythonProgram("mcp-server-sqlite"),
        args: ["--db-path", join(folder, "birds.db")],
      }),
      steps: [
        step("create_table", { query: "CREATE TABLE birds (name TEXT)" }, /success/i),
        step("write_query", { query: "INSERT INTO birds VALUES ('heron')" }, /affected_rows.*1/),
        step("read_query", { query: "SELECT name FROM birds" }, /heron/),
      ],
    },
  ];
}

function browserTrial(folder: string, page: string): Trial {
  return {
    label: "playwright",
    entry: () => {
      if (CHROMIUM === null) throw new Error("there is no Chromium; CHROMIUM_PATH names one");
      const flags = ["--headless", "--isolated", "--no-sandbox", "--executable-path", CHROMIUM];
      return nodeProgram("@playwright/mcp/cli.js", ...flags, "--output-dir", folder);
    },
    steps: [
      step("browser_navigate", { url: page }, /Page Title: Herons/),
      step("browser_snapshot", {}, /Herons wait\./),
    ],
  };
}

function step(tool: string, args: TrialStep["arguments"], output: RegExp): TrialStep {
  return { tool, arguments: args, output };
}

function nodeProgram(path: string, ...args: readonly string[]): ProgramEntry {
  return { command: process.execPath, args: [npmFile(path), ...args] };
}

/** A commit, and a file that is not in it. */
function makeRepository(folder: string): void {
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  writeFileSync(join(folder, "a.txt"), "Herons wait.\n");
  git("init", "--quiet");
  git("add", ".");
  git("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message", "Watch herons");
  writeFileSync(join(folder, "b.txt"), "Herons fly.\n");
}
