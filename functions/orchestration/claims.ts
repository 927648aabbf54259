import type { PhaseName } from '../run/run.ts';
import { hashSecret, newSecret } from '../store/id.ts';

/** A new claim, and what to write of it: the secret itself is kept nowhere but with the runner. */
export const newClaim = (phase: PhaseName): { secret: string; set: Record<string, string> } => {
  const secret = newSecret();
  return { secret, set: { [`${phase}.claimHash`]: hashSecret(secret) } };
};
