import { type Check, differs, expect, ok } from '../check.ts';

export const isolation: Check = {
  name: 'isolation',
  proves:
    'Code in a run reaches no credentials, neither the runner program nor its memory and files, no machine metadata',
  documented: 'nothing is reached (security)',
  async perform(platform) {
    const { log } = await platform.probed();
    expect(log.includes('looked everywhere'), 'the probe did not finish');
    const found = [...new Set([...log.matchAll(/reached: (.+)/g)].map(([, what]) => what?.trim()))];
    if (!found.length) return ok('the run reached nothing of the platform');
    const text = `the run reached: ${found.join(', ')}`;
    // A platform on one machine without root says at its start that it cannot separate runs.
    expect(platform.target.kind === 'local', text);
    return differs(text);
  },
};
