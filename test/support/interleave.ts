import type { Aws } from './aws.ts';

/** Work that makes no further call in this many turns of the event loop is waiting for a held call, or has ended. */
const idleTurns = 3;

/** Lets concurrent work's calls to AWS through one by one, in a random order. */
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
    for (let turn = 0; turn < idleTurns; turn++) await new Promise((resolve) => setImmediate(resolve));
    waiting.splice(choices.next().value % Math.max(1, waiting.length), 1)[0]?.();
  }
  aws.gate = undefined;
  for (const done of await all) if (done.status === 'rejected') throw done.reason;
};
