export interface Home {
  accountId: string;
  region: string;
  /** Base URL of the HTTP API, without a slash at the end. */
  apiUrl: string;
  /** Of the environments' API, the same way. */
  environmentsUrl?: string;
  /** Of the WebSocket API that their logs are followed through. */
  socketUrl?: string;
}
