import type { ContainerMemoryLimit, CreateContainerRequest } from "../../../generated/responses-api/types.ts";
import type { NewContainer } from "../containers.ts";
import { unsupportedParameter } from "../errors/parameter-errors.ts";

const GIBIBYTE = 1024 * 1024 * 1024;

const MEMORY_LIMIT_DEFAULT: ContainerMemoryLimit = "1g";

const BYTES_OF: Readonly<Record<ContainerMemoryLimit, number>> = {
  "1g": GIBIBYTE,
  "4g": 4 * GIBIBYTE,
  "16g": 16 * GIBIBYTE,
  "64g": 64 * GIBIBYTE,
};

/**
 * The container that a request asks for. `memoryMax` is how many bytes of memory a container can have here. Throws an
 * `ApiError` that names what cannot be had.
 */
export function containerToCreate(request: CreateContainerRequest, memoryMax: number): NewContainer {
  const { name, file_ids: fileIds, expires_after: expiry, memory_limit: limit, network_policy: network } = request;
  if ((request.skills ?? []).length > 0) throw unsupportedParameter("skills", "Containers have no skills here.");
  if (network?.type === "allowlist")
    throw unsupportedParameter("network_policy", "Containers have no network here. Use the type 'disabled'.");
  if (limit != null) requireMemory(limit, memoryMax);
  return {
    name,
    fileIds: fileIds ?? [],
    expiresAfterMinutes: expiry?.minutes ?? null,
    memoryLimit: limit ?? MEMORY_LIMIT_DEFAULT,
  };
}

/** Throws an `ApiError` if a container cannot have so much memory. `param` is the member that asks for it. */
export function requireMemory(limit: ContainerMemoryLimit, memoryMax: number, param = "memory_limit"): void {
  if (BYTES_OF[limit] <= memoryMax) return;
  throw unsupportedParameter(
    param,
    `A container has at most ${memoryMax} bytes of memory here, and '${limit}' is more. CODE_MEMORY_MAX sets that limit.`,
  );
}
