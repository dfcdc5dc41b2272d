/** The only place where a reply gets its type. The server is trusted to keep the contract; it may add members. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller names the type of its contract.
export function trustReply<Reply>(reply: unknown): Reply;
export function trustReply(reply: unknown): unknown {
  return reply;
}
