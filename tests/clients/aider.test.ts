import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { lastChunk, sse, textChunk } from "../../src/model-engines/chat-completions/chat-chunks.fixture.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { COUNTS, serveBehind } from "../responses/behind-upstream.ts";
import { DEAD_PROXY } from "./dead-proxy.ts";

/** What `make clients` installs, in an environment of its own: aider names a version of each package that it needs. */
const PROGRAM = resolve(import.meta.dirname, "../../.cache/python-aider/bin/aider");
const REQUIREMENTS = readFileSync(join(import.meta.dirname, "python/aider-requirements.txt"), "utf8");
const VERSION = /^aider-chat==(.+)$/m.exec(REQUIREMENTS)?.[1] ?? "";
const TIMEOUT_MS = 60_000;
const MODEL = "my-model";

const SCENARIO = `
models: [${MODEL}]
fallback: error
scenarios:
  - when: { input_contains: "+good night" }
    events: [{ text: "feat: greet at night" }]
  - when: { input_contains: failed to match }
    events:
      - text: |
          Once more.

          greeting.txt
          \`\`\`
          <<<<<<< SEARCH
          hello
          =======
          good morning
          >>>>>>> REPLACE
          \`\`\`
  - when: { input_contains: Greet in the morning. }
    events:
      - reasoning: They want to greet.
      - text: |
          I change the greeting.

          greeting.txt
          \`\`\`
          <<<<<<< SEARCH
          good evening
          =======
          good morning
          >>>>>>> REPLACE
          \`\`\`
  - when: { input_contains: Greet at night. }
    events:
      - text: |
          I write the whole file.

          greeting.txt
          \`\`\`
          good night
          \`\`\`
      - usage: { input_tokens: 321, output_tokens: 45 }
`;

const server = await startTestServer({ scenario: SCENARIO });
afterAll(() => server.close());

/** A home without settings, and a folder with the file that aider is to change. */
class Workplace {
  readonly folder: string;
  readonly #home = temporaryFolder();

  constructor() {
    this.folder = join(this.#home, "work");
  }

  static async open(): Promise<Workplace> {
    const workplace = new Workplace();
    await mkdir(workplace.folder);
    await writeFile(join(workplace.folder, "greeting.txt"), "hello\n");
    return workplace;
  }

  greeting(): Promise<string> {
    return readFile(join(this.folder, "greeting.txt"), "utf8");
  }

  git(...parameters: readonly string[]): string {
    const options = { cwd: this.folder, env: this.#environment(), encoding: "utf8" } as const;
    return execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", ...parameters], options);
  }

  /** Does one task, and returns all that was printed. `hear` is told what was printed so far. */
  async run(
    at: Pick<TestServer, "url" | "apiKey">,
    parameters: readonly string[],
    hear: (printed: string) => void = () => {},
  ): Promise<string> {
    const quiet = ["pretty", "fancy-input", "check-update", "analytics", "show-release-notes", "show-model-warnings"];
    const child = spawn(
      PROGRAM,
      ["--model", `openai/${MODEL}`, "--yes-always", ...quiet.map((name) => `--no-${name}`), ...parameters],
      {
        cwd: this.folder,
        env: { ...this.#environment(), OPENAI_API_BASE: `${at.url}/v1`, OPENAI_API_KEY: at.apiKey },
        stdio: ["ignore", "pipe", "inherit"],
        timeout: TIMEOUT_MS,
      },
    );
    const closed = once(child, "close");
    let printed = "";
    for await (const piece of child.stdout.setEncoding("utf8")) hear((printed += String(piece)));
    await closed;
    return printed;
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      HOME: this.#home,
      LITELLM_LOCAL_MODEL_COST_MAP: "True",
      ...DEAD_PROXY,
    };
  }
}

describe.skipIf(!existsSync(PROGRAM))(`aider ${VERSION}`, { timeout: TIMEOUT_MS }, () => {
  test("edits a file by a streamed diff, after one that did not fit", async () => {
    const workplace = await Workplace.open();
    const task = ["--no-git", "--edit-format", "diff", "--message", "Greet in the morning.", "greeting.txt"];
    const printed = await workplace.run(server, task);
    expect(printed).toContain("Once more.");
    expect(printed).toMatch(/Tokens: \S+ sent, \S+ received/);
    expect(await workplace.greeting()).toBe("good morning\n");
  });

  test("shows words of a stream while others are still to come", async () => {
    const workplace = await Workplace.open();
    const shown = Promise.withResolvers<undefined>();
    const { server: behind } = await serveBehind(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(sse(textChunk("The first words.\n\n")));
      await shown.promise;
      const file = "greeting.txt\n```\ngood day\n```\n";
      response.end(sse(textChunk(file), lastChunk("stop"), COUNTS, "[DONE]"));
    });
    await workplace.run(behind, ["--no-git", "--message", "Greet by day.", "greeting.txt"], (printed) => {
      if (printed.includes("The first words.")) shown.resolve(undefined);
    });
    expect(await workplace.greeting()).toBe("good day\n");
  });

  test("without a stream, writes a whole file, prints the tokens that the server counted, and commits", async () => {
    const workplace = await Workplace.open();
    workplace.git("init", "--quiet");
    workplace.git("add", "greeting.txt");
    workplace.git("commit", "--quiet", "--message", "Begin");
    const printed = await workplace.run(server, ["--no-stream", "--message", "Greet at night.", "greeting.txt"]);
    expect(printed).toContain("Tokens: 321 sent, 45 received.");
    expect(await workplace.greeting()).toBe("good night\n");
    expect(workplace.git("log", "--format=%s")).toBe("feat: greet at night\nBegin\n");
  });
});
