import { join } from "node:path";
import { readOwnJson } from "@antiphon/base/json/read-json.ts";
import { cleanUp } from "../../bench/clean-up.ts";
import { startProgram } from "../../bench/processes.ts";
import type { AskedTurn, ToolCall } from "./script.ts";

/** What a world saw. */
export interface History {
  readonly turns: readonly AskedTurn[];
  readonly calls: readonly ToolCall[];
}

/** A model server and a tool server, each in a process of its own. Nothing that is tried ends them. */
export interface World {
  /** The base URL of the model server for a node, which names it in what the model server notes. */
  modelUrl(node: string): string;
  readonly mcpUrl: string;
  history(): Promise<History>;
  stop(): void;
}

export async function startWorld(options: { readonly hasSameWords: boolean }): Promise<World> {
  const model = await startServer("model-server.ts", options.hasSameWords ? { SAME_WORDS: "1" } : {});
  const tools = await startServer("tool-server.ts", {});
  return {
    modelUrl: (node) => `${model.url}/${node}/v1`,
    mcpUrl: `${tools.url}/mcp`,
    history: async () => ({
      turns: await read<readonly AskedTurn[]>(`${model.url}/turns`),
      calls: await read<readonly ToolCall[]>(`${tools.url}/calls`),
    }),
    stop: () => {
      model.stop();
      tools.stop();
    },
  };
}

async function startServer(file: string, env: Readonly<Record<string, string>>) {
  const { child, match } = await startProgram(join(import.meta.dirname, file), env, /listening (\d+)/);
  return { url: `http://127.0.0.1:${match[1]}`, stop: cleanUp(() => child.kill("SIGKILL")) };
}

async function read<Written>(url: string): Promise<Written> {
  return readOwnJson<Written>(await (await fetch(url)).text());
}
