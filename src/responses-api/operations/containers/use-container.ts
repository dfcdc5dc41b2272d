import type { Container } from "@antiphon/contracts/responses-api/types.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Owner } from "@antiphon/domain/owner.ts";
import { containerExpired, containerNotFound } from "../../errors/container-errors.ts";

/** The container, which is used by that. Throws an `ApiError` if it is unknown or expired. */
export async function useContainer(containers: Containers, owner: Owner, containerId: string): Promise<Container> {
  const container = await containers.touchContainer(owner, containerId);
  if (container === null) throw containerNotFound(containerId);
  if (container.status === "expired") throw containerExpired();
  return container;
}
