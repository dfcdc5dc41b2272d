/** A login or logout that failed for a reason that the operator can fix. The message is printed without a stack. */
export class McpCommandError extends Error {
  override readonly name = "McpCommandError";
}
