/**
 * State versions. The content lies in the bucket; the record says what it is. A version becomes the
 * workspace's current one by a single conditional write of the workspace, after its content was checked.
 */
export interface StateVersion {
  id: string;
  organization: string;
  workspaceId: string;
  serial: number;
  lineage: string;
  md5: string;
  /** Hex SHA-256 of the content, which lies under it; before the version is finalized only where its writer said it. */
  sha256?: string;
  /** Where an upload is awaited that may have any content; what counts is copied from there. */
  uploadKey?: string;
  /** Hex SHA-256 of the object that {@link readSummary} reads. */
  outputsSha256?: string;
  /** Discarded: its content never fitted, see `refusal`. */
  status: 'pending' | 'finalized' | 'discarded' | 'backing_data_soft_deleted' | 'backing_data_permanently_deleted';
  /** When it was deleted so that it can be restored, or for good. */
  deletedAt?: string;
  /** A snapshot taken while Terraform still applied. */
  intermediate: boolean;
  createdAt: string;
  /** The run that writes it, if one does. */
  runId?: string;
  /** Who holds the workspace's lock, or made the run that does. */
  userId?: string;
  /** Set when serial and lineage are not to be checked: the version it replaces, null for none. */
  replaces?: string | null;
  rollbackOf?: string;
  /** Of the version that was current when this one was announced. */
  previousId?: string;
  /** The run that a user's client says this state comes from. */
  ofRunId?: string;
  /** Bytes. */
  size?: number;
  terraformVersion?: string | null;
  outputCount?: number;
  /** It is known as JSON too (json.ts). */
  hasJson?: boolean;
  /** Which object that is, and its SHA-256; absent in versions of before. */
  json?: { copy: string; sha256: string };
  /**
   * Resources, modules and providers as JSON text (their names are Terraform's, not ours), while that is small; always in
   * the object that {@link readSummary} reads.
   */
  summary?: string;
  /** It is counted with the write that makes it current, or when it is discarded; absent where it was counted at once. */
  uncounted?: true;
  /** For people, when it was discarded. */
  refusal?: string;
}
