import type { CodeFinder, ContainerSessions, Containers } from "@antiphon/domain/containers.ts";
import { ModelError } from "@antiphon/domain/models/model-error.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import type { SkillSource } from "@antiphon/domain/skills/mounted-skills.ts";

/** What tools need to run code and commands. */
export interface CodeServices {
  readonly code: CodeFinder;
  readonly containers: Pick<
    Containers,
    "createContainer" | "findContainer" | "copyMissingUploads" | "listFiles" | "mountSkills" | "streamFile"
  >;
  readonly skills: SkillSource;
  /** The files uploaded by clients. */
  readonly uploads: { findFile(owner: Owner, fileId: string): Promise<object | null> };
  /** Most memory of a session, in bytes. */
  readonly memoryBytesMax: number;
}

/** Rejects with `ModelError` if code cannot run here, which may have been unknown when the request was accepted. */
export async function sessionsOf({ code }: CodeServices): Promise<ContainerSessions> {
  const { sessions, reason } = await code.find();
  if (sessions === null) throw unavailable(reason);
  return sessions;
}

export function unavailable(reason: string): ModelError {
  return new ModelError(reason, {
    status: 400,
    type: "invalid_request_error",
    code: "unsupported_parameter",
    param: "tools",
  });
}
