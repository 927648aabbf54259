import { type Check, expect, ok } from '../check.ts';

export const sealedVariable: Check = {
  name: 'sealed variable',
  proves: 'A sensitive variable is sealed with KMS, is not shown again, and a run opens it',
  documented: 'the API shows null; the run has the value',
  async perform(platform) {
    const { log, hash, secret, shown } = await platform.probed();
    expect(shown === null, 'the API shows its value');
    expect(log.includes(`opened = "${hash}"`), 'the run had another value');
    expect(!log.includes(secret), 'the log shows its value');
    return ok('opened in the run only');
  },
};
