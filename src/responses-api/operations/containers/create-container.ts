import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { CreateContainerRequest } from "@antiphon/contracts/responses-api/types.ts";
import { type Containers, defaultMemoryLimit, type NewContainer, refusedMember } from "@antiphon/domain/containers.ts";
import { findSkills, type SkillSource } from "@antiphon/domain/skills/mounted-skills.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { Caller } from "../../access/caller.ts";
import { containerRefused } from "../../errors/container-errors.ts";
import { unsupportedParameter } from "../../errors/parameter-errors.ts";
import { refusingInvalid, skillNotMounted } from "../../errors/skill-errors.ts";

export interface ContainerContext {
  readonly containers: Containers;
  readonly skills: SkillSource;
  readonly quota: StorageQuota;
  /** How much memory a container can have, in bytes. */
  readonly memoryMax: number;
}

/** `POST /v1/containers`: creates a container with copies of uploaded files and of skills. */
export function createContainer({
  containers,
  skills: source,
  quota,
  memoryMax,
}: ContainerContext): ResponsesApiHandlers<Caller>["createContainer"] {
  return async ({ body }, { principal: { owner }, signal }) => {
    const container = containerToCreate(body, memoryMax);
    const skills = await findSkills(source, owner, body.skills ?? []);
    if (skills.type === "refused") throw skillNotMounted(skills.refusal, `skills[${skills.index}]`);
    await quota.requireRoom(owner);
    const creation = await containers.createContainer(owner, container, signal);
    if (creation.type === "refused") throw containerRefused(creation.refusal, "", "file_ids");
    const { id } = creation.result;
    try {
      const mounting = await refusingInvalid("skills", () => containers.mountSkills(owner, id, skills.skills, signal));
      if (mounting.type === "refused") throw containerRefused(mounting.refusal, id, "skills");
      return { status: 200, body: mounting.result };
    } catch (error) {
      await containers.deleteContainer(owner, id);
      throw error;
    }
  };
}

/**
 * Throws an `ApiError` that names what is unavailable. `memoryMax`: the maximum bytes of memory of a container here.
 */
function containerToCreate(request: CreateContainerRequest, memoryMax: number): NewContainer {
  const refusal = refusedMember(request, memoryMax);
  if (refusal !== null) throw unsupportedParameter(refusal.member, refusal.reason);
  const { name, file_ids: fileIds, expires_after: expiry, memory_limit: limit } = request;
  return {
    name,
    fileIds: fileIds ?? [],
    expiresAfterMinutes: expiry?.minutes ?? null,
    memoryLimit: limit ?? defaultMemoryLimit(memoryMax),
  };
}
