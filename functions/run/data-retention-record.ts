/** How long the data of a workspace, or of an organization's, is kept (HCP API: data retention policies). */
export interface DataRetention {
  id: string;
  /** Nothing is deleted, whatever the organization says. */
  keeps?: true;
  /** Days after which what is deleted; absent for what stays. */
  stateDays?: number;
  configurationDays?: number;
  runDays?: number;
}
