/** The one place where a reply gets its type: the server is trusted to keep its contract, and may add to it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names what its contract promises.
export function trustReply<Reply>(reply: unknown): Reply;
export function trustReply(reply: unknown): unknown {
  return reply;
}
