import type { ResponseFilter } from "@antiphon/domain/inspection.ts";

/** A filter that matches everything. */
export const ALL: ResponseFilter = {
  statuses: null,
  model: null,
  kind: null,
  isBackground: null,
  createdAfter: null,
  createdBefore: null,
  metadata: {},
  keyId: null,
  conversationId: null,
  previousId: null,
  words: [],
  askedForBy: null,
};
