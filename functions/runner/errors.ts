/** What ends a phase, by what the runner does about it. */

/** The phase has failed for a reason the run's owner can read and act on. */
export class PhaseError extends Error {
  override name = 'PhaseError';
}

/** Terraform has failed, and has said so in the log itself. */
export class TerraformError extends PhaseError {
  override name = 'TerraformError';
}

/** Terraform was not started, or stopped, because the control plane or the container's host said so. */
export class InterruptedError extends Error {
  override name = 'InterruptedError';
}

/** The control plane no longer knows this runner: nothing may be written any more. */
export class TokenDeadError extends Error {
  override name = 'TokenDeadError';
}
