/**
 * This server cut the reply: its reader read nothing for too long, read too little while others needed the memory, or
 * could not be shown more. A stored run continues.
 */
export class ReplyCut extends Error {
  override readonly name = "ReplyCut";
}
