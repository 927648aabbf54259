/**
 * State versions. The bucket holds the content, the record its metadata. After its content was checked, a version
 * becomes the workspace's current one with a single conditional write of the workspace.
 */
export interface StateVersion {
  id: string;
  organization: string;
  workspaceId: string;
  serial: number;
  lineage: string;
  md5: string;
  /** Hex SHA-256 of the content and part of its key; before finalization, present only if the writer announced it. */
  sha256?: string;
  /** Key of an upload without announced checksum; accepted content is copied from there. */
  uploadKey?: string;
  /** Hex SHA-256 of the object that {@link readSummary} reads. */
  outputsSha256?: string;
  /** Discarded: the content was never accepted, see `refusal`. */
  status: 'pending' | 'finalized' | 'discarded' | 'backing_data_soft_deleted' | 'backing_data_permanently_deleted';
  /** Time of the soft or permanent deletion. */
  deletedAt?: string;
  /** A snapshot taken during the apply. */
  intermediate: boolean;
  createdAt: string;
  /** The run that writes the state, if any. */
  runId?: string;
  /** Holder of the workspace's lock, or creator of the run that holds it. */
  userId?: string;
  /** Set for a forced write, which skips the checks of serial and lineage: the version it replaces, null for none. */
  replaces?: string | null;
  rollbackOf?: string;
  /** Version that was current when this one was announced. */
  previousId?: string;
  /** Run named by a user's client as the origin of this state. */
  ofRunId?: string;
  /** Bytes. */
  size?: number;
  terraformVersion?: string | null;
  outputCount?: number;
  /** Key part and SHA-256 of the JSON form, once it is available too (json.ts). */
  json?: { copy: string; sha256: string };
  /**
   * Resources, modules and providers as JSON text (with Terraform's attribute names), if small; the object of {@link
   * readSummary} always contains them.
   */
  summary?: string;
  /**
   * Counted with the write that makes it current, or when it is discarded; absent when it was counted at its
   * creation.
   */
  uncounted?: true;
  /** Reason for discarding it, shown to users. */
  refusal?: string;
}
