/** Errors that end a phase, by what the runner does about them. */

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

/** The control plane no longer accepts this runner: nothing may be written any more. */
export class TokenDeadError extends Error {
  override name = 'TokenDeadError';
}
