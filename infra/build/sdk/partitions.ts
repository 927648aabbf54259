/** Asked by the SDK's endpoint rules only, in whose place endpoints.ts stands. */
export const partitionsInfo = { version: '', partitions: [] };
