/** A way to sign in: a folder here with the routes that verify a person, listed in ways.ts. */
export interface Way {
  /** The route that begins it, with the client's request in its query (authorization-request.ts). */
  path: `/${string}`;
  /** Label of its button: "Sign in with …"; undefined while it is not configured. */
  name(): Promise<string | undefined>;
}
