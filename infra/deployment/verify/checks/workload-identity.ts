import { type Check, expect, ok } from '../check.ts';
import { verifyIdentity } from '../identity.ts';
import { identityAudience, identityIn } from '../probes.ts';

export const workloadIdentity: Check = {
  name: 'workload identity',
  proves: "A run's token is valid by the keys that the platform publishes, as a cloud checks it",
  documented: 'RS256, issuer is the public URL, subject names organization, project, workspace and phase',
  async perform(platform) {
    const { log } = await platform.probed();
    const issuer = platform.target.apiUrl;
    const claims = await verifyIdentity(identityIn(log), { issuer, audience: identityAudience });
    const subject = String(claims.sub);
    const isOwn = subject.startsWith(`organization:${platform.organization}:`) && subject.endsWith(':run_phase:apply');
    expect(isOwn, `the subject is ${subject}`);
    return ok(`issuer ${issuer}`);
  },
};
