import { applying } from '../applying.ts';
import { type Check, ok, seconds } from '../check.ts';

export const cancel: Check = {
  name: 'cancel',
  proves: 'A cancel interrupts Terraform during an apply and keeps the state',
  documented: 'the run ends as canceled, with the resources created so far',
  async perform(platform) {
    const { run, inState } = await applying(platform, 'canceled');
    const began = Date.now();
    await platform.client.act(run.id, 'cancel');
    await platform.ended(run, 'canceled');
    await inState();
    return ok(`canceled after ${seconds((Date.now() - began) / 1000)}, with its state`);
  },
};
