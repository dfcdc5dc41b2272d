import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Containers } from "@antiphon/domain/containers.ts";
import type { Caller } from "../../access/caller.ts";
import { containerFileNotFound } from "../../errors/container-errors.ts";
import { attachment } from "../../show/attachment.ts";
import { useContainer } from "./use-container.ts";

/** `GET /v1/containers/{container_id}/files/{file_id}/content`: the bytes, as an attachment. */
export function downloadContainerFile(containers: Containers): ResponsesApiHandlers<Caller>["downloadContainerFile"] {
  return async ({ path: { container_id: id, file_id: fileId } }, { principal: { owner } }) => {
    await useContainer(containers, owner, id);
    const stream = await containers.streamFile(owner, id, fileId);
    if (stream === null) throw containerFileNotFound(id, fileId);
    const { path, bytes } = stream.file;
    return {
      status: 200,
      headers: { "content-disposition": attachment(path.slice(path.lastIndexOf("/") + 1)) },
      contentType: "application/octet-stream",
      bytes: { size: bytes, chunks: stream.content },
    };
  };
}
