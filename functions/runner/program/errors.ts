/** Errors that end a phase, by how the runner handles them. */

/** The phase has failed for a reason the run's owner can read and act on. */
export class PhaseError extends Error {
  override name = 'PhaseError';
}

/** Terraform has failed and printed the reason in the log. */
export class TerraformError extends PhaseError {
  override name = 'TerraformError';
}

/** Terraform was stopped, or never started, at the request of the control plane or the container's host. */
export class InterruptedError extends Error {
  override name = 'InterruptedError';
}

/** The control plane no longer accepts this runner's token: the runner must not write anything. */
export class TokenDeadError extends Error {
  override name = 'TokenDeadError';
}
