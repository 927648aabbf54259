import { applying } from '../applying.ts';
import { type Check, expect, ok, seconds } from '../check.ts';

export const containerStopped: Check = {
  name: 'container stopped',
  proves: 'A run whose container is stopped from outside (ecs:StopTask) ends with the reason and its state',
  documented: 'the run ends as errored; its reason says that the runner stopped',
  async perform(platform) {
    const { run, inState } = await applying(platform, 'container');
    const [container] = await platform.containers(run.id);
    expect(container, `ECS lists no container of ${run.id}`);
    const began = Date.now();
    await platform.stopContainer(container);
    const { attributes } = await platform.ended(run, 'errored');
    expect(attributes['end-reason'], `${run.id} ended without a reason`);
    await inState();
    return ok(`errored after ${seconds((Date.now() - began) / 1000)}, with its state`);
  },
};
