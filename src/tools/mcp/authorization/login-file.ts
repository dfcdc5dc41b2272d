import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { chmod, link, mkdir, open, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import type { AccessToken } from "./token-requests.ts";

/** What a login of the operator at an MCP server left. Times are milliseconds of the epoch. */
export interface Login {
  /** The MCP server. A login is never used for another address. */
  readonly url: string;
  /** The authorization server. Its refresh token is sent to no other. */
  readonly issuer: string;
  readonly resource: string;
  readonly scope: string | null;
  readonly client: { readonly client_id: string; readonly client_secret?: string };
  readonly access: AccessToken;
  /** Null if there is none, or if it is worthless. */
  readonly refreshToken: string | null;
  /** Whether the authorization server has ended the login. */
  readonly isOver: boolean;
}

const OWNER_ONLY_FILE = 0o600;
const OWNER_ONLY_FOLDER = 0o700;
/** Nobody holds the lock for so long: a process that crashed left it. */
const LOCK_STALE_MS = 60_000;
const LOCK_RETRY_MS = 25;

/** The login at one server, in a file that only the user of this server reads. Several processes share it. */
export class LoginFile {
  readonly #folder: string;
  readonly #file: string;
  readonly #lock: string;

  constructor(folder: string, label: string) {
    this.#folder = folder;
    this.#file = join(folder, `${label}.json`);
    this.#lock = join(folder, `${label}.lock`);
  }

  /** Null if there is no login, or none that can be read. */
  async read(): Promise<Login | null> {
    const text = await readFile(this.#file, "utf8").catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return "";
      throw error;
    });
    return readLogin(jsonOrUndefined(text));
  }

  /** Replaces the file at once: a reader sees the old login or the new one. */
  async write(login: Login): Promise<void> {
    await this.#makeFolder();
    const draft = join(this.#folder, `${randomUUID()}.draft`);
    try {
      const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, OWNER_ONLY_FILE);
      try {
        await file.writeFile(JSON.stringify(login, null, 2));
        await file.sync(); // A rotated refresh token is lost with an empty file.
      } finally {
        await file.close();
      }
      await rename(draft, this.#file);
    } finally {
      await rm(draft, { force: true });
    }
  }

  async remove(): Promise<void> {
    await rm(this.#file, { force: true });
  }

  /** Does work that no other process does for this server at the same time. Rejects with the signal's reason. */
  async alone<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#makeFolder();
    while (!(await this.#take())) {
      await this.#breakStale();
      await sleep(LOCK_RETRY_MS, undefined, { signal });
    }
    try {
      return await work();
    } finally {
      await rm(this.#lock, { force: true });
    }
  }

  async #take(): Promise<boolean> {
    try {
      await (await open(this.#lock, "wx", OWNER_ONLY_FILE)).close();
      return true;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    }
  }

  /** Takes a stale lock away. If it was another's new one by then, puts it back. */
  async #breakStale(): Promise<void> {
    if (!(await isStale(this.#lock))) return;
    const stalePath = join(this.#folder, `${randomUUID()}.stale`);
    await rename(this.#lock, stalePath).catch(() => {});
    if (!(await isStale(stalePath))) await link(stalePath, this.#lock).catch(() => {});
    await unlink(stalePath).catch(() => {});
  }

  async #makeFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
    await chmod(this.#folder, OWNER_ONLY_FOLDER);
  }
}

async function isStale(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => null);
  return stats !== null && Date.now() - stats.mtimeMs > LOCK_STALE_MS;
}

function readLogin(value: unknown): Login | null {
  if (!isRecord(value)) return null;
  const { url, issuer, resource, scope, client, access, refreshToken, isOver } = value;
  if (typeof url !== "string" || typeof issuer !== "string" || typeof resource !== "string") return null;
  if (!isRecord(client) || !isRecord(access)) return null;
  const { client_id: id, client_secret: secret } = client;
  const { value: token, obtainedAt, expiresAt } = access;
  if (typeof id !== "string" || typeof token !== "string" || typeof obtainedAt !== "number") return null;
  return {
    url,
    issuer,
    resource,
    scope: typeof scope === "string" ? scope : null,
    client: { client_id: id, ...(typeof secret === "string" ? { client_secret: secret } : {}) },
    access: { value: token, obtainedAt, expiresAt: typeof expiresAt === "number" ? expiresAt : null },
    refreshToken: typeof refreshToken === "string" ? refreshToken : null,
    isOver: isOver === true,
  };
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
