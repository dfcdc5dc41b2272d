import type { Container } from "../../../../generated/responses-api/types.ts";
import type { Owner } from "../../../runs/ports/owner.ts";
import { containerExpired, containerNotFound } from "../../errors/container-errors.ts";
import type { ResponseServices } from "../../services.ts";

/** Returns the container and marks it as used. Throws an `ApiError` if it is unknown or expired. */
export async function useContainer(
  { containers }: Pick<ResponseServices, "containers">,
  owner: Owner,
  containerId: string,
): Promise<Container> {
  const container = await containers.touchContainer(owner, containerId);
  if (container === null) throw containerNotFound(containerId);
  if (container.status === "expired") throw containerExpired();
  return container;
}
