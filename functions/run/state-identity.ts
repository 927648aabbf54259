/** The identity of a state, against which a new state version is checked. */

export interface StateIdentity {
  serial: number;
  lineage: string;
  /** Hex MD5 of the raw state. */
  md5: string;
}

/** A state of an apply that could not be saved as a state version. */
export interface UnsavedState {
  runId: string;
  /** For a lost state: the lowest serial that it can have. */
  serial: number;
  /** Empty for a lost state of a workspace that had no state. */
  lineage: string;
  /** Hex; absent if the runner stopped before its report. */
  md5?: string;
  /** Its content is unknown: the runner or Terraform was ended during the apply. */
  lost?: true;
}

/** The state after the workspace's current one, with unknown content. */
export const lostState = (runId: string, current: StateIdentity | undefined): UnsavedState & { lost: true } => ({
  runId,
  serial: current ? current.serial + 1 : 0,
  lineage: current?.lineage ?? '',
  lost: true,
});

/** True if the workspace's state is the unsaved one, or a later one, which is assumed to contain the apply's changes. */
export const covers = (current: StateIdentity | undefined, unsaved: UnsavedState): boolean => {
  const { serial, lineage, md5, lost } = unsaved;
  if (lost && lineage === '') return current !== undefined;
  if (current?.lineage !== lineage) return false;
  return current.serial > serial || (current.serial === serial && (md5 === undefined || current.md5 === md5));
};

/** True if it is identical to the current version. */
export const isSameState = (current: StateIdentity | undefined, next: StateIdentity): boolean =>
  current?.serial === next.serial && current.md5 === next.md5 && current.lineage === next.lineage;

/** Terraform 1.11 leaves `force` at false with `terraform state push -force`. */
const byForce = 'Only if you mean to replace it: stepform state push --force.';

/** Reason for users why the state cannot replace the current one; undefined if it can. */
export const stateConflict = (current: StateIdentity | undefined, next: StateIdentity): string | undefined => {
  if (!current || isSameState(current, next)) return undefined;
  if (current.lineage !== next.lineage) {
    return `The state has lineage ${next.lineage}, the workspace's current state ${current.lineage}: they describe different infrastructure. ${byForce}`;
  }
  if (current.serial < next.serial) return undefined;
  return current.serial === next.serial
    ? `The workspace already has another state with serial ${next.serial}. Pull the current state and repeat the change. ${byForce}`
    : `The state has serial ${next.serial}, the workspace's current state the newer serial ${current.serial}. Pull the current state and repeat the change. ${byForce}`;
};
