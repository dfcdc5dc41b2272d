import type { KeptFile, NewContainer } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";

/**
 * The stored containers, from the sessions' side. Stored files are immutable: new contents at a path are a new file
 * with a new id that replaces the old one.
 */
export interface StoredContainers {
  /** Null if the container is gone or expired, or belongs to another owner. Does not count as use. */
  find(owner: Owner, containerId: string): Promise<UsedContainer | null>;
  /**
   * Records that a call of this session begins. Resolves to the previous state of the container, or null like `find`.
   */
  begin(owner: Owner, containerId: string, sessionId: string): Promise<UsedContainer | null>;
  /** Records a use of the container. False if it is gone. */
  touch(owner: Owner, containerId: string): Promise<boolean>;
  /** The contents; null if the file is gone. */
  read(owner: Owner, containerId: string, fileId: string): Promise<AsyncIterable<Uint8Array> | null>;
  /** Stores a file created by code. Resolves once it is durable. If `content` fails, nothing is stored. */
  keep(owner: Owner, containerId: string, file: MadeFile, signal: AbortSignal): Promise<Keeping>;
  /** Does nothing if there is no such file. */
  remove(owner: Owner, containerId: string, fileId: string): Promise<void>;
}

export interface UsedContainer {
  readonly files: readonly KeptFile[];
  /** The session of the most recent call; null if there was none. */
  readonly sessionId: string | null;
  readonly memoryLimit: NewContainer["memoryLimit"];
}

/** A file created by code. */
export interface MadeFile {
  /** Absolute, such as `/mnt/data/chart.png`; null for `/mnt/data/<id>.png`. */
  readonly path: string | null;
  readonly content: AsyncIterable<Uint8Array>;
  /** `content` may end early by rejecting, but never yields more than this. */
  readonly bytesMax: number;
}

export type Keeping =
  | { readonly type: "kept"; readonly file: KeptFile }
  /** The container or its owner would exceed its limit of bytes or files. */
  | { readonly type: "full"; readonly of: "container" | "owner" }
  /** A container cannot have a file at this path. */
  | { readonly type: "bad_path" }
  | { readonly type: "gone" };
