import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@antiphon/base/logger.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { startResponsesApi } from "../../src/servers/responses-api.ts";
import { serveDemoMcp } from "./demo-mcp.ts";

/** A server whose built-in engine plays the demo's scenarios. */
export interface DemoServer {
  /** Has no trailing slash and no `/v1`. */
  readonly url: string;
  readonly apiKey: string;
  readonly mcpUrl: string;
  readonly dataDir: string;
  close(): Promise<void>;
}

const PRICES = `
currency: USD
models:
  atlas-large: { input: 2.5, cached_input: 0.25, output: 10 }
  atlas-mini: { input: 0.25, cached_input: 0.025, output: 2 }
`;

/** Starts a server on a free port, with a data folder of its own that is removed at the end. */
export async function startDemoServer(env: Readonly<Record<string, string>> = {}): Promise<DemoServer> {
  const folder = await mkdtemp(join(tmpdir(), "antiphon-demo-"));
  await writeFile(join(folder, "prices.yaml"), PRICES);
  const mcp = await serveDemoMcp();
  const dataDir = join(folder, "data");
  const settings = {
    DATA_DIR: dataDir,
    PORT: "0",
    CODE_ENGINE: "off",
    FIND_LOCAL_DAEMON: "false",
    DRAIN_MS: "1000",
    EGRESS_ALLOW: "127.0.0.1",
    SCENARIO_FILE: join(import.meta.dirname, "demo-scenario.yaml"),
    KEEP_EXCHANGES: "stored",
    PRICES_FILE: join(folder, "prices.yaml"),
    ...env,
  };
  const server = await startResponsesApi(loadConfig(settings, []), silentLogger);
  if (server.keys.firstKey === null) throw new Error("A new data folder has no key yet.");
  return {
    url: server.url,
    apiKey: server.keys.firstKey,
    mcpUrl: mcp.url,
    dataDir,
    close: async () => {
      await server.close();
      mcp.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
