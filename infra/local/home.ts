export interface Home {
  accountId: string;
  region: string;
  /** Base URL of the HTTP API, without a slash at the end. */
  apiUrl: string;
}
