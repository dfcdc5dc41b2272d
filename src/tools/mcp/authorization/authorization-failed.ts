/** No access token can be had. The message is a clause for clients, without secrets, addresses and a full stop. */
export class AuthorizationFailed extends Error {
  override readonly name = "AuthorizationFailed";
}

/** Neither the server nor its origin says which authorization server it trusts. */
export class AuthorizationServerUnknown extends AuthorizationFailed {}
