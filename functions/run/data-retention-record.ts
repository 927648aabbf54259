/**
 * Retention of a workspace's data, or of the data of an organization's workspaces (HCP API: data retention policies).
 */
export interface DataRetention {
  id: string;
  /** Nothing is deleted, regardless of the organization's policy. */
  keeps?: true;
  /** Days after which data is deleted; absent if it is kept. */
  stateDays?: number;
  configurationDays?: number;
  runDays?: number;
}
