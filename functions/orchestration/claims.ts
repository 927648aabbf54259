import type { PhaseName } from '../run/run.ts';
import { hashSecret, newSecret } from '../store/id.ts';

/** A new claim, and the attributes to write: only the runner has the secret itself. */
export const newClaim = (phase: PhaseName): { secret: string; set: Record<string, string> } => {
  const secret = newSecret();
  return { secret, set: { [`${phase}.claimHash`]: hashSecret(secret) } };
};
