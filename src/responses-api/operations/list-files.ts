import type { ResponsesApiHandlers } from "@antiphon/contracts/responses-api/operations.ts";
import type { FileStore } from "@antiphon/domain/files.ts";
import type { Caller } from "../access/caller.ts";
import { cursorNotFound } from "../errors/state-errors.ts";
import { showFile } from "../show/show-file.ts";

const PAGE_FILES_DEFAULT = 10_000;

/** `GET /v1/files`: the owner's files, newest first by default. */
export function listFiles(files: FileStore): ResponsesApiHandlers<Caller>["listFiles"] {
  return async ({ query }, { principal }) => {
    const { purpose = null, limit = PAGE_FILES_DEFAULT, order = "desc", after = null } = query;
    const page = await files.listFiles(principal.owner, { purpose, limit, order, after });
    if (page === null) throw cursorNotFound(after ?? "");
    return {
      status: 200,
      body: {
        object: "list",
        data: page.files.map(showFile),
        first_id: page.files[0]?.id ?? null,
        has_more: page.hasMore,
        last_id: page.files.at(-1)?.id ?? null,
      },
    };
  };
}
