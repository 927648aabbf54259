import type { Aws } from './aws.ts';

/** Lets the calls to AWS of concurrent work through one by one, in an order drawn by chance. */
export const interleave = async (
  aws: Pick<Aws, 'gate'>,
  choices: Iterator<number>,
  work: () => Promise<unknown>[],
): Promise<void> => {
  const waiting: (() => void)[] = [];
  aws.gate = () => new Promise((resolve) => void waiting.push(resolve));
  let open = true;
  const all = Promise.allSettled(work()).finally(() => {
    open = false;
  });
  while (open) {
    // Time for whoever may call next to do so.
    await new Promise((resolve) => setTimeout(resolve, 1));
    waiting.splice(choices.next().value % Math.max(1, waiting.length), 1)[0]?.();
  }
  aws.gate = undefined;
  for (const done of await all) if (done.status === 'rejected') throw done.reason;
};
