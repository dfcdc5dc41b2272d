import { readdir, readFile } from "node:fs/promises";
import { expect } from "vitest";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { toneModelFile } from "../speech/whisper-for-tests.ts";
import { program } from "./tone-server.ts";

/** The whole program in its own process, with the real engine and the model of tone words. */
export interface ChildToneServer {
  /** The URL of the speech-to-text server. */
  readonly url: string;
  readonly pid: number;
  /** Everything printed on stderr so far. */
  complaints(): string;
  metric(name: string): Promise<number>;
  /** Calls the Responses API with its key. */
  readonly post: ChildServer["post"];
}

export async function startChildToneServer(env: Readonly<Record<string, string>> = {}): Promise<ChildToneServer> {
  const server = await startChildServer({
    flags: ["--max-old-space-size=192"], // A heap too small for a leak to stay unnoticed.
    env: {
      SPEECH_ENGINE: "whisper",
      WHISPER_SERVER_PATH: program ?? "",
      WHISPER_MODEL_PATH: await toneModelFile(),
      WHISPER_THREADS: "1",
      ...env,
    },
  });
  const find = (): string | undefined => /Speech to text\s+(http:\S+)/.exec(server.said())?.[1];
  await expect.poll(find, { timeout: 30_000 }).toBeDefined();
  const url = find() ?? "";
  const isReady = async (): Promise<boolean> => (await (await fetch(`${url}/healthz`)).text()).includes('"ok":true');
  await expect.poll(isReady, { timeout: 60_000, interval: 100 }).toBe(true);
  return {
    url,
    pid: server.pid,
    complaints: () => server.complaints(),
    post: server.post,
    metric: async (name) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
    },
  };
}

/** The names of running programs that a process has started, as Linux reports. */
export async function programsOf(pid: number): Promise<string[]> {
  const stats = await Promise.all(
    (await readdir("/proc"))
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readFile(`/proc/${name}/stat`, "utf8").catch(() => "")),
  );
  return stats.flatMap((stat) => {
    const [, name = "", state = "", parent = ""] = /^\d+ \((.*)\) (\w) (\d+) /s.exec(stat) ?? [];
    return Number(parent) === pid && state !== "Z" ? [name] : [];
  });
}
