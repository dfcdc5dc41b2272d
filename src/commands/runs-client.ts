import { readFile } from "node:fs/promises";
import { isLoopbackOrigin } from "@antiphon/base/web-origins.ts";
import { Antiphon } from "../../packages/client/src/index.ts";
import { type Environment, loadConfig } from "../config/load-config.ts";
import { readConfiguredKey } from "../secrets/key-owners.ts";
import { readFirstKey } from "../secrets/secrets-on-disk.ts";
import { RunsMisused } from "./runs-misused.ts";

/** The server as named on the command line. */
interface Named {
  readonly url?: string | undefined;
  readonly "key-file"?: string | undefined;
}

/** A client of the server that `findServer` finds. */
export async function runsClient(flags: Named, environment: Environment): Promise<Antiphon> {
  const { baseUrl, apiKey } = await findServer(flags, environment);
  return new Antiphon({ baseUrl, ...(apiKey === null ? {} : { apiKey }) });
}

/** The address of a server, without a path, and the key for it. */
export interface KnownServer {
  readonly baseUrl: string;
  readonly apiKey: string | null;
}

/**
 * The server named by the command line or the environment, otherwise the server on this machine. The key of the
 * configuration is used without being named, but is sent to this machine only.
 */
export async function findServer(flags: Named, environment: Environment): Promise<KnownServer> {
  const file = flags["key-file"];
  const key = file === undefined ? environment["ANTIPHON_API_KEY"]?.trim() : (await readKey(file)).trim();
  const url = (flags.url ?? environment["ANTIPHON_URL"])?.replace(/\/(v1\/?)?$/, "");
  if (url !== undefined && key !== undefined && key !== "") return { baseUrl: url, apiKey: key };
  const { apiKeys, dataDir, port } = loadConfig(environment, []);
  const baseUrl = url ?? `http://127.0.0.1:${port}`;
  const configuredKey = apiKeys[0] === undefined ? null : readConfiguredKey(apiKeys[0].reveal()).key;
  const own = isOnThisMachine(baseUrl) ? (configuredKey ?? (await readFirstKey(dataDir))) : null;
  return { baseUrl, apiKey: key === undefined || key === "" ? own : key };
}

function isOnThisMachine(baseUrl: string): boolean {
  return URL.canParse(baseUrl) && isLoopbackOrigin(new URL(baseUrl).origin);
}

async function readKey(file: string): Promise<string> {
  return await readFile(file, "utf8").catch((error: unknown) => {
    throw new RunsMisused(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
}
