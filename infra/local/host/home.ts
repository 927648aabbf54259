export interface Home {
  accountId: string;
  region: string;
  /** `aws` by default. */
  partition?: string;
  /** `stepform` by default. */
  stackName?: string;
  /** Base URL of the HTTP API, without a trailing slash. */
  apiUrl: string;
  /** Base URL of the environments' API, likewise. */
  environmentsUrl?: string;
  /** URL of the WebSocket API for their logs. */
  socketUrl?: string;
}
