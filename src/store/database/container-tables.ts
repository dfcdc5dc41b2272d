import type { ContainerFile, ContainerMemoryLimit } from "@antiphon/contracts/responses-api/types.ts";
import type { Generated } from "kysely";

/** Containers. Times are Unix seconds. */
export interface ContainersTable {
  /** Increases with each container. */
  readonly number: Generated<number>;
  /** Also the name of the folder of its files. */
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  readonly name: string;
  readonly memory_limit: ContainerMemoryLimit;
  readonly created_at: number;
  readonly last_active_at: number;
  readonly expires_after_minutes: number;
  /** From then on, a running container counts as expired. */
  readonly expires_at: number;
  /** A deleted container is invisible. Its row is removed once its files are gone. */
  readonly state: Generated<"running" | "expired" | "deleted">;
  /** Whether its files are permanently gone: 0 or 1. */
  readonly is_emptied: Generated<number>;
  /** The session of the most recent call; null if there was none. */
  readonly session_id: Generated<string | null>;
  /** The previous value of the column above, before the latest call. */
  readonly previous_session_id: Generated<string | null>;
}

/** Files of containers. New contents at a path are a new row. */
export interface ContainerFilesTable {
  /** Increases with each file. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly container_id: string;
  readonly organization: string;
  readonly project: string;
  readonly path: string;
  readonly bytes: number;
  readonly created_at: number;
  readonly source: ContainerFile["source"];
  /** The uploaded file that was first copied to this path; null if none was. */
  readonly upload_id: string | null;
  /** As in `files`: the worker that is writing or removing the contents. */
  readonly holder: number | null;
}

/** Skills. Each has at least one version. */
export interface SkillsTable {
  /** Increases with each skill. */
  readonly number: Generated<number>;
  readonly id: string;
  readonly organization: string;
  readonly project: string;
  /** In Unix seconds. */
  readonly created_at: number;
  readonly default_version: number;
  /** The highest of its versions. */
  readonly latest_version: number;
  /** The highest number that a version ever had. */
  readonly last_number: number;
}

/** Versions of skills. They never change. */
export interface SkillVersionsTable {
  readonly id: string;
  readonly skill_id: string;
  readonly organization: string;
  readonly project: string;
  /** In Unix seconds. */
  readonly created_at: number;
  /** Counts from 1 in each skill. */
  readonly version: number;
  readonly name: string;
  readonly description: string;
  /** The bytes of the archive, counted for its owner. */
  readonly bytes: number;
  /** The files as a zip archive. */
  readonly archive: Uint8Array;
}
