import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { Caller } from "../../responses-api/access/caller.ts";
import { type ContainerContext, createContainer } from "../../responses-api/operations/containers/create-container.ts";
import { createContainerFile } from "../../responses-api/operations/containers/create-container-file.ts";
import { deleteContainer } from "../../responses-api/operations/containers/delete-container.ts";
import { deleteContainerFile } from "../../responses-api/operations/containers/delete-container-file.ts";
import { downloadContainerFile } from "../../responses-api/operations/containers/download-container-file.ts";
import { getContainer } from "../../responses-api/operations/containers/get-container.ts";
import { getContainerFile } from "../../responses-api/operations/containers/get-container-file.ts";
import { listContainerFiles } from "../../responses-api/operations/containers/list-container-files.ts";
import { listContainers } from "../../responses-api/operations/containers/list-containers.ts";

type ContainerOperation =
  | "createContainer"
  | "createContainerFile"
  | "deleteContainer"
  | "deleteContainerFile"
  | "downloadContainerFile"
  | "getContainer"
  | "getContainerFile"
  | "listContainerFiles"
  | "listContainers";

/** The operations on containers and their files. */
export function containerHandlers(context: ContainerContext): Pick<ResponsesApiHandlers<Caller>, ContainerOperation> {
  const { containers } = context;
  return {
    createContainer: createContainer(context),
    createContainerFile: createContainerFile(containers),
    deleteContainer: deleteContainer(containers),
    deleteContainerFile: deleteContainerFile(containers),
    downloadContainerFile: downloadContainerFile(containers),
    getContainer: getContainer(containers),
    getContainerFile: getContainerFile(containers),
    listContainerFiles: listContainerFiles(containers),
    listContainers: listContainers(containers),
  };
}
