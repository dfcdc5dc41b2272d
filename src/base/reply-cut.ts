/**
 * This server cut the reply: its reader took nothing for too long, too little while others needed the memory, or could
 * be shown no more. A stored run continues.
 */
export class ReplyCut extends Error {
  override readonly name = "ReplyCut";
}
