import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { containerRefused } from "../../errors/container-errors.ts";
import { useContainer } from "./use-container.ts";

/** `POST /v1/containers/{container_id}/files`: stores a file that was sent, or a copy of an uploaded file. */
export function createContainerFile(containers: Containers): ResponsesApiHandlers<Caller>["createContainerFile"] {
  return async ({ path: { container_id: id }, body }, { principal: { owner }, signal }) => {
    await useContainer(containers, owner, id);
    const file = "file" in body ? body.file : undefined;
    const addition =
      file === undefined
        ? await containers.copyUpload(owner, id, body.file_id ?? "", signal)
        : await containers.addFile(owner, id, { filename: file.filename, content: file.read() }, signal);
    if (addition.type === "refused")
      throw containerRefused(addition.refusal, id, file === undefined ? "file_id" : "file");
    return { status: 200, body: addition.result };
  };
}
